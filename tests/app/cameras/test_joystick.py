"""Joysticks: records of the kernel become speeds and buttons, and these become orders by the rules of the page."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cameras.joystick import AXES, Axis, Capabilities, Device, Joystick, JoystickError, axis, request_code
from app.cli.joystick import DRIVE_S, JoystickOperator
from app.library.client import ClientError

#: A gamepad as the kernel's driver xpad describes it: sticks of 16 bits, triggers of 8, eleven buttons, a cross.
PAD = Capabilities(
    "Pad",
    {**dict.fromkeys((0, 1, 3, 4), (-32768, 32767)), 2: (0, 255), 5: (0, 255), 16: (-1, 1), 17: (-1, 1)},
    (0x130, 0x131, 0x133, 0x134, 0x136, 0x137, 0x13A, 0x13B, 0x13C, 0x13D, 0x13E),
)
#: A joystick with a twist.
STICK = Capabilities("Stick", {0: (0, 1023), 1: (0, 1023), 5: (0, 255), 6: (0, 255)}, tuple(range(0x120, 0x12C)))
KEY, ABS = 1, 3


def record(kind: int, code: int, value: int) -> bytes:
    """Return the bytes of ``struct input_event`` on a 64-bit machine."""
    return struct.pack("<qqHHi", 1_764_000_000, 250_000, kind, code, value)


def test_a_gamepad_turns_by_its_first_stick_and_zooms_by_its_second() -> None:
    pad = Joystick(PAD)
    assert pad.speeds().is_zero(), "the kernel tells changes only, and a stick rests until it says otherwise"
    pad.take(record(ABS, 0, 32767) + record(ABS, 1, -32768) + record(ABS, 4, -16384) + record(0, 0, 0))
    speeds = pad.speeds()
    assert (speeds.pan, speeds.tilt) == pytest.approx((1.0, 1.0), abs=1e-3), "right, and up"
    assert speeds.zoom == pytest.approx(0.25, abs=1e-3)
    pad.take(record(ABS, 0, 3000) + record(ABS, 1, 0) + record(ABS, 4, 0))
    assert pad.speeds().is_zero(), "a stick rests near its middle"


def test_a_joystick_zooms_by_its_twist_and_axes_may_be_chosen_and_reversed() -> None:
    stick = Joystick(STICK)
    stick.take(record(ABS, 0, 0) + record(ABS, 5, 255))
    assert (stick.speeds().pan, stick.speeds().zoom) == pytest.approx((-1.0, 1.0))
    other = Joystick(STICK, pan=axis("-x"), zoom=axis("-throttle"))
    other.take(record(ABS, 0, 0) + record(ABS, 6, 255))
    assert (other.speeds().pan, other.speeds().zoom) == pytest.approx((1.0, -1.0))
    with pytest.raises(JoystickError, match="no axis 3, which is to zoom"):
        Joystick(STICK, zoom=axis("rx"))
    with pytest.raises(JoystickError, match="axis up: there are x, y"):
        axis("up")


def test_buttons_mean_what_they_mean_on_the_page() -> None:
    pad = Joystick(PAD)
    for code in (0x130, 0x131, 0x136, 0x137, 0x13C):
        pad.take(record(KEY, code, 1) + record(KEY, code, 0))
    pad.take(b"".join(record(ABS, *side) for side in ((17, -1), (17, 0), (17, 1), (16, -1), (16, 1))))
    crosses = [f"preset {number}" for number in range(4)]
    assert pad.pressed() == ["hold", "release", "before", "next", *crosses]
    assert pad.pressed() == []


@given(st.lists(st.tuples(st.sampled_from((0, 1, 4)), st.integers(-32768, 32767))), st.integers(0, 2**32))
def test_records_in_any_pieces_say_the_same(moves: list[tuple[int, int]], seed: int) -> None:
    data = b"".join(record(ABS, code, value) for code, value in moves)
    whole, torn, chance = Joystick(PAD), Joystick(PAD), random.Random(seed)
    whole.take(data)
    while data:
        size = chance.randint(1, 40)
        torn.take(data[:size])
        data = data[size:]
    assert torn.speeds() == whole.speeds()
    assert max(abs(value) for value in (torn.speeds().pan, torn.speeds().tilt, torn.speeds().zoom)) <= 1.0


def test_a_stick_whose_records_were_lost_counts_as_let_go() -> None:
    pad = Joystick(PAD)
    pad.take(record(ABS, 0, 32767) + record(0, 3, 0))
    assert pad.speeds().is_zero()


def test_the_calls_of_the_kernel_are_those_of_its_header() -> None:
    """EVIOCGNAME(256), EVIOCGBIT(EV_KEY, 96), EVIOCGBIT(EV_ABS, 8) and EVIOCGABS(0), printed by a C program."""
    asked = [request_code(*call) for call in ((0x06, 256), (0x21, 96), (0x23, 8), (0x40 + AXES["x"], 24))]
    assert asked == [0x81004506, 0x80604521, 0x80084523, 0x80184540]


def test_what_is_no_joystick_is_named(tmp_path: Path) -> None:
    (tmp_path / "event0").write_text("no device")
    for path, why in ((tmp_path / "event0", "is no input device"), (tmp_path / "event9", "cannot be opened")):
        with pytest.raises(JoystickError, match=f"{path.name}: {why}"):
            Device(path)


def test_a_device_that_is_pulled_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cameras.joystick._capabilities", lambda file: PAD)
    os.mkfifo(tmp_path / "event0")
    device = Device(tmp_path / "event0")
    writer = os.open(tmp_path / "event0", os.O_WRONLY)
    os.write(writer, record(ABS, 0, 5))
    assert device.read(1.0) == record(ABS, 0, 5)
    assert device.read(0.0) == b""
    os.close(writer)
    with pytest.raises(JoystickError, match="event0: is gone"):
        device.read(1.0)
    device.close()


class Orders:
    """Cameras that remember their orders, and refuse them while ``refuses`` is set."""

    def __init__(self) -> None:
        self.given: list[tuple[object, ...]] = []
        self.refuses = ""

    def _take(self, *order: object) -> None:
        self.given.append(order)
        if self.refuses:
            raise ClientError(self.refuses)

    def drive(self, camera: str, pan: float, tilt: float, zoom: float) -> None:
        self._take(camera, "drive", pan, tilt, zoom)

    def hold(self, camera: str) -> None:
        self._take(camera, "hold")

    def release(self, camera: str) -> None:
        self._take(camera, "release")

    def preset(self, camera: str, preset: str) -> None:
        self._take(camera, "preset", preset)


class Rig:
    """An operator with two cameras, whose clock goes on by a tick of the device at each step."""

    def __init__(self) -> None:
        self.orders, self.sentences = Orders(), list[str]()
        self.operator = JoystickOperator(self.orders, {"main": ["wide"], "tight": []}, "main", self.sentences.append)
        self.now_s = 0.0

    def step(self, pan: float, *pressed: str, after_s: float = DRIVE_S) -> list[tuple[object, ...]]:
        """Return the orders of a step with a stick at a place, and some buttons pressed."""
        before = len(self.orders.given)
        self.now_s += after_s
        stick = Joystick(PAD, pan=Axis(0))
        stick.take(record(ABS, 0, round(32767 * pan)))
        self.operator.step(stick.speeds(), pressed, self.now_s)
        return self.orders.given[before:]


def test_a_held_stick_drives_ten_times_a_second_and_stops_the_camera_once_it_is_let_go() -> None:
    rig = Rig()
    assert rig.step(0.0) == []
    sent = [order for _ in range(20) for order in rig.step(1.0, after_s=0.3 * DRIVE_S)]
    assert [order[:2] for order in sent] == [("main", "drive")] * 5, "at each fourth step"
    assert rig.step(0.0, after_s=0.001) == [("main", "drive", 0.0, 0.0, 0.0)], "at once"
    assert rig.step(0.0) == []


@pytest.mark.parametrize("button", ["hold", "release", "preset 0"])
def test_another_order_ends_the_drive_until_the_stick_was_let_go(button: str) -> None:
    rig = Rig()
    rig.step(1.0)
    assert [order[:2] for order in rig.step(1.0, button)] == [("main", button.split()[0])]
    assert rig.step(1.0) == []
    assert rig.step(0.0) == [], "no drive of speed zero takes the camera back"
    assert [order[:2] for order in rig.step(1.0)] == [("main", "drive")]


def test_a_held_stick_does_not_drive_the_camera_that_is_chosen_meanwhile() -> None:
    rig = Rig()
    rig.step(1.0)
    assert rig.step(1.0, "next") == [("main", "drive", 0.0, 0.0, 0.0)]
    assert rig.sentences == ["camera tight"]
    assert rig.step(1.0) == []
    rig.step(0.0)
    assert [order[0] for order in rig.step(1.0)] == ["tight"]
    assert rig.step(0.0, "preset 3", "before")[-1] == ("tight", "drive", 0.0, 0.0, 0.0), "it has no such preset"


def test_a_refusal_is_said_once_and_a_camera_in_motion_is_stopped_at_the_end() -> None:
    rig = Rig()
    rig.orders.refuses = "409: it is not steered"
    rig.step(1.0)
    rig.step(1.0)
    assert rig.sentences == ["409: it is not steered"]
    rig.operator.stop()
    assert rig.orders.given[-1] == ("main", "drive", 0.0, 0.0, 0.0)

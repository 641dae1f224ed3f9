"""Speed modes of Sony's heads: they are set on each connection, before the head is steered; in virtual time."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from camera.head_connection import State
from camera.installation import InstallationError, load_installation
from camera.profile import Profile, ProfileError, load_profile
from camera.protocols import visca_codec as codec
from camera.protocols.messages import Absolute, Drive, MaxSpeedInquiry, MaxSteps, SpeedMode
from tests.camera.virtual_head import VirtualHead

SLOW = load_profile("srg-300h-slow")


def turned(head: VirtualHead, seconds: float) -> float:
    """Return the speed at which a head turns, in degrees a second."""
    before_deg = head.pose.pan_deg
    head.run(seconds)
    return (head.pose.pan_deg - before_deg) / seconds


def test_the_steps_of_the_slow_mode_have_their_own_numbers_on_the_wire() -> None:
    for step, number in ((1, "19"), (-103, "7f")):
        drive = Drive(step, 0)
        packed = codec.encode(drive, SLOW)
        assert packed.hex(" ")[12:14] == number
        assert codec.decode(packed, SLOW) == drive
    for speed in ("18", "01"):
        with pytest.raises(codec.ViscaError, match=r"19\.\.7f"):
            codec.decode(bytes.fromhex(f"81 01 06 01 {speed} 19 02 03 ff"), SLOW)
    move = Absolute(100, -50, 3, 7)
    assert codec.decode(codec.encode(move, SLOW), SLOW) == move
    answer = codec.encode_report(MaxSteps(103, 103), SLOW)
    assert answer == b"\x7f\x7f"
    assert codec.decode_report(MaxSpeedInquiry(), answer, SLOW) == MaxSteps(103, 103)


@pytest.mark.parametrize("name", ["visca", "visca-tcp"])
@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_a_head_is_steered_in_the_mode_of_its_profile_also_after_it_was_switched_off(name: str, loss: float) -> None:
    head = VirtualHead(SLOW, name, loss=loss)
    for _ in range(2):
        head.run(8.0)
        assert head.connection.online, head.connection.problem
        assert head.body.speed_mode == "slow-on"
        head.connection.drive(Drive(11, 0), head.now_us)
        head.run(1.5)
        assert turned(head, 2.0) == pytest.approx(SLOW.pan.speed_deg_s(11), rel=0.05), f"{name}, loss {loss}"
        head.up = head.down = False
        head.run(2.0)
        head.reboot()
        head.up = head.down = True


@pytest.mark.parametrize("name", ["ilme-fr7", "brc-am7"])
def test_a_head_of_two_sets_of_steps_is_steered_in_the_finer_one(name: str) -> None:
    profile = load_profile(name)
    head = VirtualHead(profile, "visca")
    head.run(4.0)
    assert (head.connection.online, head.body.speed_mode) == (True, "steps-extended")
    head.connection.drive(Drive(16, 0), head.now_us)
    head.run(1.5)
    assert turned(head, 2.0) == pytest.approx(3.1, rel=0.05)


def test_a_head_that_refuses_the_mode_is_not_steered_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codec._ENCODERS, SpeedMode, lambda *_: b"\x01\x06\x45\x02")
    head = VirtualHead(SLOW, "visca")
    head.run(4.0)
    assert head.connection.state is State.SETTLING
    assert head.connection.problem == "its head refuses the speed mode slow-on of its profile"


def test_a_head_whose_profile_has_no_mode_keeps_the_one_that_it_has() -> None:
    head = VirtualHead(load_profile("brc-x400"), "visca")
    head.body.speed_mode = "slow-on"
    head.run(3.0)
    assert (head.connection.online, head.body.speed_mode) == (True, "slow-on")


def written(profile: Profile, file: Path) -> Path:
    tables = {name: value for name, value in msgspec.to_builtins(profile).items() if isinstance(value, dict)}
    lines = [f"name = {profile.name!r}"]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {value!r}" for key, value in table.items())]
    file.write_text("\n".join(lines).replace("(", "[").replace(")", "]"))
    return file


def test_numbers_beyond_a_byte_of_visca_and_modes_of_other_protocols_are_refused(tmp_path: Path) -> None:
    pan = msgspec.structs.replace(SLOW.pan, first_step=26)
    with pytest.raises(ProfileError, match=r"pan\.first_step"):
        load_profile(written(msgspec.structs.replace(SLOW, pan=pan), tmp_path / "own.toml"))
    file = tmp_path / "cameras.toml"
    file.write_text('[[camera]]\nname = "main"\nprotocol = "onvif"\nprofile = "srg-300h-slow"\n')
    with pytest.raises(InstallationError, match="speed mode slow-on, which only VISCA can set"):
        load_installation(file)

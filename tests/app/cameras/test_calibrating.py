"""Calibrating as an operator does it: keys at a simulated head, a file of marks, and the command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cameras.calibrating import MarkRow, centre_marks, read_marks, split_marks, write_marks
from app.cameras.keys import Keys
from app.cli.cameras import app
from camera.calibration import CalibrationError, calibrated
from camera.installation import load_installation
from camera.mount import Mount
from camera.pitch_marks import pitch_marks
from camera.profile import load_profile
from camera.protocols.messages import Absolute
from tests.camera.virtual_head import VirtualHead

MARKS = pitch_marks()
NAMES = ["corner-left-up", "corner-right-up", "corner-right-down", "corner-left-down", "centre-spot"]
TRUTH = Mount(4.0, -71.0, 17.0, 93.0, -1.0, 0.7)
FILE = """# venue of the test
[[camera]]
name = "main"           # on the roof
mount = { y_m = -74 }   # by the plan
style = "calm"

[[camera]]
name = "other"
"""


def rows(wrong: str = "") -> list[MarkRow]:
    aims = {name: TRUTH.aim(*MARKS[name]) for name in NAMES}
    return [MarkRow(name, pan + 3.0 * (name == wrong), tilt) for name, (pan, tilt) in aims.items()]


class Operator:
    """Somebody else moves the head to each mark; then enter is pressed. The script may have other keys in between."""

    def __init__(self, head: VirtualHead, script: list[str]) -> None:
        self.head, self.script, self.ended = head, script, False
        self.wait = 0

    def pressed(self) -> list[str]:
        self.wait -= 1
        if self.wait > 0 or self.head.moving:
            return []
        if not self.script:
            self.ended = True
            return []
        key = self.script.pop(0)
        if key in MARKS:
            pan_deg, tilt_deg = TRUTH.aim(*MARKS[key])
            profile = self.head.body.profile
            self.head.body.order(Absolute(profile.pan.units(pan_deg), profile.tilt.units(tilt_deg), 20, 20))
            return []
        self.wait = 40
        return [key]


def test_marks_that_an_operator_centres_give_the_mount() -> None:
    head = VirtualHead(load_profile())
    script = [key for name in NAMES for key in (name, "enter")]
    lines: list[str] = []
    found = centre_marks(head.connection, NAMES, Operator(head, script), lines.append, head.clock, head.pause)
    assert [row.name for row in found] == NAMES
    assert lines[0] == "centre corner-left-up"
    mount = calibrated(split_marks(found, MARKS)[0], Mount()).mount
    assert mount.heading_deg == pytest.approx(TRUTH.heading_deg, abs=0.15)
    assert mount.z_m == pytest.approx(TRUTH.z_m, abs=0.3)


def test_keys_turn_zoom_skip_take_back_and_end() -> None:
    head = VirtualHead(load_profile())
    keys = Operator(head, ["3", "right", "up", "+", "enter", "u", "s", "]", "q", "enter"])
    found = centre_marks(head.connection, NAMES, keys, lambda _: None, head.clock, head.pause)
    (edge,) = found
    assert (edge.name, edge.edge) == (NAMES[2], "right")
    assert edge.zoom_units == pytest.approx(0.05 * 16384, abs=2)
    assert edge.pan_deg > 0.3, "the head has turned"
    assert not head.moving, "and stopped without a key"


def test_keys_of_a_terminal_and_of_a_pipe() -> None:
    for raw, text, names in (
        (True, b"\x1b[A\x1b[C\nS+", ["up", "right", "enter", "s", "+"]),
        (False, b"up\n\nS\nhal", ["up", "enter", "s"]),
    ):
        reader, writer = os.pipe()
        keys = Keys(reader, raw)
        assert keys.pressed() == []
        os.write(writer, text)
        assert keys.pressed() == names
        assert not keys.ended
        os.close(writer)
        keys.pressed()
        assert keys.ended
        os.close(reader)


def test_a_head_whose_network_is_lost_while_a_mark_is_recorded_is_named() -> None:
    head = VirtualHead(load_profile())
    head.run(1.0)
    head.up = head.down = False

    class Enter:
        ended = False

        def pressed(self) -> list[str]:
            return ["enter"]

    with pytest.raises(CalibrationError, match="does not answer"):
        centre_marks(head.connection, NAMES, Enter(), lambda _: None, head.clock, head.pause)


def test_the_command_writes_the_mount_and_leaves_the_rest_of_the_file(tmp_path: Path) -> None:
    file, marks = tmp_path / "venue.toml", tmp_path / "marks.toml"
    file.write_text(FILE)
    write_marks(marks, rows())
    assert read_marks(marks) == tuple(rows())
    arguments = ["calibrate", str(file), "--camera", "main", "--marks", str(marks)]
    done = CliRunner().invoke(app, [*arguments, "--dry-run"])
    assert done.exit_code == 0, done.output
    assert file.read_text() == FILE
    done = CliRunner().invoke(app, arguments)
    assert "residuals 0.0" in done.output
    text = file.read_text()
    assert "# venue of the test" in text
    assert "# on the roof" in text
    (main, other) = load_installation(file)
    assert main.setup.mount.x_m == pytest.approx(TRUTH.x_m, abs=0.05)
    assert main.setup.style == "calm"
    assert other.setup.mount == Mount()


def test_the_command_names_an_outlier_and_writes_a_measured_lens(tmp_path: Path) -> None:
    file, marks = tmp_path / "venue.toml", tmp_path / "marks.toml"
    file.write_text(FILE)
    names = [*NAMES, "halfway-up", "penalty-spot-left"]
    aims = {name: TRUTH.aim(*MARKS[name]) for name in names}
    centred = [MarkRow(name, pan + 3.0 * (name == "centre-spot"), tilt) for name, (pan, tilt) in aims.items()]
    pan, tilt = aims["penalty-spot-right"] if "penalty-spot-right" in aims else TRUTH.aim(*MARKS["penalty-spot-right"])
    edges = [MarkRow("penalty-spot-right", pan + side * 30.0, tilt, "left", 0) for side in (-1, 1)]
    write_marks(marks, [*centred, *edges])
    done = CliRunner().invoke(app, ["calibrate", str(file), "--camera", "main", "--marks", str(marks)])
    assert done.exit_code == 0, done.output
    assert next(line for line in done.output.splitlines() if "outlier" in line).startswith("centre-spot")
    main = load_installation(file)[0]
    assert main.setup.profile == "main-profile.toml"
    assert main.profile.zoom.wide_width_deg == pytest.approx(58.0, abs=3.0), "30 degrees of pan, seen from above"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[mark]]\nname = 3", "name"),
        ('[[mark]]\nname = "x"\npan_deg = 1\ntilt_deg = 1', "mark x: none of the pitch"),
        ('[[mark]]\nname = "centre-spot"\npan_deg = 1\ntilt_deg = 1\nroll = 1', "roll"),
        ("", "0 marks, 4 are needed"),
    ],
)
def test_a_wrong_file_of_marks_is_named(tmp_path: Path, text: str, reason: str) -> None:
    file, marks = tmp_path / "venue.toml", tmp_path / "marks.toml"
    file.write_text(FILE)
    marks.write_text(text)
    done = CliRunner().invoke(app, ["calibrate", str(file), "--camera", "main", "--marks", str(marks)])
    assert isinstance(done.exception, CalibrationError)
    assert reason in str(done.exception)

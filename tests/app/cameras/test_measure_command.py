"""``touchline cameras measure`` against a head on the network whose table it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from app.cli import camera_setup
from app.cli.camera_setup import SetupError
from app.cli.cameras import app
from camera.head_connection import HeadConnection
from camera.installation import Camera, load_installation
from camera.profile import load_profile
from camera.simulated.server import Quirks
from tests.camera.virtual_head import VirtualHead

TABLE = (4.0, 9.0, 20.0)


def test_a_profile_with_the_heads_own_table_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x400 = load_profile()
    axes = [msgspec.structs.replace(axis, speeds_deg_s=TABLE) for axis in (x400.pan, x400.tilt)]
    actual = msgspec.structs.replace(x400, pan=axes[0], tilt=axes[1])
    file = tmp_path / "venue.toml"
    file.write_text('[[camera]]\nname = "main"\naddress = "127.0.0.1"  # roof\n')
    heads: list[VirtualHead] = []

    @contextmanager
    def virtual(one: Camera) -> Iterator[HeadConnection]:
        heads.append(VirtualHead(one.profile, actual=actual, quirks=Quirks(dead_ms=100, accel_deg_s2=150)))
        heads[-1].run(2.0)
        yield heads[-1].connection

    monkeypatch.setattr(camera_setup, "connected", virtual)
    monkeypatch.setattr(camera_setup, "monotonic_us", lambda: heads[-1].clock())
    monkeypatch.setattr(camera_setup, "pause", lambda seconds: heads[-1].pause(seconds))
    done = CliRunner().invoke(app, ["measure", str(file), "--camera", "main"])
    assert done.exit_code == 0, done.output
    (main,) = load_installation(file)
    assert main.setup.profile == "main-profile.toml"
    assert main.profile.pan.speeds_deg_s == pytest.approx(TABLE, rel=0.05)
    assert main.profile.tilt.speeds_deg_s == pytest.approx(TABLE, rel=0.05)
    assert main.profile.motion.dead_time_ms == pytest.approx(100, abs=25)
    assert "# roof" in file.read_text()
    assert "pan step 3: " in done.output


def test_a_camera_without_an_address_is_named(tmp_path: Path) -> None:
    file = tmp_path / "venue.toml"
    file.write_text('[[camera]]\nname = "main"\n')
    for name, reason in (("main", "has no address"), ("other", "no camera other; there are main")):
        done = CliRunner().invoke(app, ["measure", str(file), "--camera", name])
        assert isinstance(done.exception, SetupError)
        assert reason in str(done.exception)

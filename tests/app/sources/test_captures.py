"""From the name of a source to a capture: made once, the same again, and anew when anything changed."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pandas as pd
import pytest

from app.sources.captures import first_seconds, prepare_capture
from football.errors import TrackingError
from replay.capture import Capture
from simulator.radio.channels import CHANNELS, ChannelError, transmit
from simulator.records import FOUR_LIMBS
from simulator.settings import SimulatorError
from simulator.simulate import Simulation, simulate

SHORT = Simulation(duration_s=6)


def table(folder: Path, frames: int = 50) -> Path:
    objects = (("ball", "ball", 0.0), ("home_7", "home", 1.0))
    rows = [(40 * i, name, team, 0.1 * i, y, 0.2) for i in range(frames) for name, team, y in objects]
    path = folder / "clip.parquet"
    pd.DataFrame(rows, columns=["t_ms", "object_id", "team", "x", "y", "z"]).to_parquet(path)
    return path


def test_the_simulator_goes_through_the_radio_channel_by_default(tmp_path: Path) -> None:
    path = prepare_capture("sim", "", 7, tmp_path / "m.capture", simulation=SHORT)
    capture = Capture.open(path)
    assert (capture.channel, capture.seed, capture.sheet.match_id) == ("rtls", 7, f"sim-{SHORT.seed}")
    expected = transmit(simulate(SHORT)[0], CHANNELS["rtls"], 7)
    found = [msgspec.structs.replace(p, quality=1.0) for b in capture.blocks(0, capture.end_us) for p in b.packets]
    assert found == [p for b in expected.blocks() for p in b.packets]
    assert capture.notes["sent"] == str(expected.sent)


def test_a_file_is_taken_as_it_is_by_default(tmp_path: Path) -> None:
    capture = Capture.open(prepare_capture(str(table(tmp_path)), "", 0, tmp_path / "m.capture"))
    assert capture.channel == "none"
    blocks = list(capture.blocks(0, capture.end_us))
    assert [b.arrival_us for b in blocks] == [40_000 * i for i in range(50)]
    assert capture.rejected == ()


def test_an_identical_capture_is_not_made_again(tmp_path: Path) -> None:
    out = prepare_capture("sim", "rtls", 1, tmp_path / "m.capture", simulation=SHORT)
    segment = out / "0000000.arrow"
    os.utime(segment, (1, 1))
    content = segment.read_bytes()
    assert prepare_capture("sim", "rtls", 1, out, simulation=SHORT) == out
    assert segment.stat().st_mtime == 1
    shutil.rmtree(out)
    prepare_capture("sim", "rtls", 1, out, simulation=SHORT)
    assert segment.read_bytes() == content


@pytest.mark.parametrize(
    ("channel", "seed", "options"),
    [
        ("wifi", 1, {"simulation": SHORT}),
        ("rtls", 2, {"simulation": SHORT}),
        ("rtls", 1, {"simulation": replace(SHORT, noise_m=0.01)}),
        ("rtls", 1, {"simulation": SHORT, "duration_s": 4.0}),
    ],
)
def test_whatever_changes_makes_it_anew(tmp_path: Path, channel: str, seed: int, options: dict[str, object]) -> None:
    out = prepare_capture("sim", "rtls", 1, tmp_path / "m.capture", simulation=SHORT)
    before = Capture.open(out).fingerprint
    prepare_capture("sim", channel, seed, out, **options)  # type: ignore[arg-type]
    assert Capture.open(out).fingerprint != before


def test_a_file_or_sheet_that_changed_makes_it_anew(tmp_path: Path) -> None:
    source, out = str(table(tmp_path)), tmp_path / "m.capture"
    prints = [Capture.open(prepare_capture(source, "none", 0, out)).fingerprint]
    (tmp_path / "metadata.json").write_text('{"teams": {"home": "Reds"}}')
    prints.append(Capture.open(prepare_capture(source, "none", 0, out)).fingerprint)
    table(tmp_path, 51)
    prints.append(Capture.open(prepare_capture(source, "none", 0, out)).fingerprint)
    assert len(set(prints)) == 3
    assert Capture.open(out).sheet.home == "Reds"


def test_a_damaged_capture_is_made_again(tmp_path: Path) -> None:
    out = tmp_path / "m.capture"
    out.write_bytes(b"half a file")
    prepare_capture("sim", "rtls", 1, out, simulation=SHORT)
    assert len(Capture.open(out))


def test_a_duration_takes_the_first_seconds_only(tmp_path: Path) -> None:
    capture = Capture.open(prepare_capture(str(table(tmp_path)), "none", 0, tmp_path / "m", duration_s=1.0))
    assert (capture.begin_us, capture.end_us) == (0, 960_001)


def test_nothing_is_left_of_a_recording_of_no_duration() -> None:
    recording, _ = simulate(SHORT)
    assert first_seconds(recording, 0.0).tracks == ()


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    reported: list[float] = []
    prepare_capture(str(table(tmp_path, 60_000)), "none", 0, tmp_path / "m", progress=reported.append)
    assert reported == [50_000 / 120_000, 100_000 / 120_000, 1.0]


def test_what_cannot_be_used_leaves_no_file(tmp_path: Path) -> None:
    out = tmp_path / "m.capture"
    with pytest.raises(TrackingError):
        prepare_capture(str(tmp_path / "absent.parquet"), "none", 0, out)
    with pytest.raises(ChannelError):
        prepare_capture("sim", "carrier pigeon", 0, out)
    with pytest.raises(SimulatorError):
        prepare_capture("sim", "rtls", 0, out, duration_s=-1.0)
    assert not list(tmp_path.iterdir())


def test_a_tracked_match_can_come_through_a_locating_system(tmp_path: Path) -> None:
    """From real to RTLS: limbs for persons, the rates asked for, noise and radio, and still the same ways."""
    source = str(table(tmp_path, 300))
    capture = Capture.open(prepare_capture(source, "", 3, tmp_path / "m", rate="200/100", duration_s=10.0))
    assert (capture.channel, capture.sheet.quality.kind, capture.sheet.quality.body_hz) == ("rtls", "rtls", 100.0)
    assert capture.notes["zero_us"] == "0"
    found: dict[str, list[tuple[int, float]]] = {}
    for block in capture.blocks(0, capture.end_us):
        for packet in block.packets:
            found.setdefault(packet.transmitter, []).extend(zip(packet.ts_us, packet.x_m, strict=True))
    assert set(found) == {"ball", *(f"home_7/{limb}" for limb in FOUR_LIMBS)}
    for name, rate_hz in (("ball", 200), ("home_7/left_foot", 100)):
        assert len(found[name]) == pytest.approx(10 * rate_hz, rel=0.03)
    late = [(ts, x) for ts, x in found["ball"] if 2_000_000 < ts < 9_000_000]
    assert max(abs(x - 2.5e-6 * ts) for ts, x in late) < 0.6
    again = prepare_capture(source, "", 3, tmp_path / "m", rate="200/100", duration_s=10.0)
    other = prepare_capture(source, "", 3, tmp_path / "o", rate="200/50", duration_s=10.0)
    assert Capture.open(again).fingerprint == capture.fingerprint != Capture.open(other).fingerprint


def test_the_real_match_becomes_a_capture(shared_data: Path, tmp_path: Path) -> None:
    source = str(shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet")
    capture = Capture.open(prepare_capture(source, "none", 0, tmp_path / "m.capture", duration_s=60.0))
    assert capture.sheet.home == "Portugal"
    assert (capture.begin_us, len(capture)) == (40_000, 1500)
    assert all(len(b.packets) == 23 for b in capture.blocks(0, capture.end_us))

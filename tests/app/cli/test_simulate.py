"""``touchline simulate``: what is in the folder, the same bytes again, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from app.cli.main import main
from app.cli.simulate import run_simulate
from app.library.simulation import SimulateError, SimulateOptions, prepare, settings_of
from football.match_sheet import MatchSheet
from football.tables import EVENTS
from replay.capture import Capture
from replay.formats.tracking import read_tracking
from simulator.scenario import read_scenario
from simulator.settings import DEFAULT_SEED
from simulator.simulate import Simulation
from simulator.truth.match_truth import FRAMES
from tests.app.cli.test_main import write_track

SHORT = {"minutes": 0.1, "rate": "live"}


def simulate(out: Path, capsys: pytest.CaptureFixture[str], **options: object) -> dict:
    """Simulates a few seconds; the report."""
    code = run_simulate(SimulateOptions(out, **{**SHORT, **options}), as_json_text=True)  # type: ignore[arg-type]
    report = json.loads(capsys.readouterr().out)
    assert code == (1 if report["unmet"] else 0)
    return report


def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Runs the command as a person does; exit code and what it said on stderr."""
    monkeypatch.setattr("sys.argv", ["touchline", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return int(code or 0), capsys.readouterr().err  # type: ignore[arg-type]


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("simulated") / "one"
    run_simulate(SimulateOptions(out, seed=7, **SHORT), as_json_text=True)  # type: ignore[arg-type]
    return out


def test_the_folder_holds_capture_truth_frames_and_sheet(made: Path) -> None:
    assert sorted(p.name for p in made.iterdir()) == [
        "capture", "frames.parquet", "sheet.json", "simulation.json", "truth.parquet",
    ]  # fmt: skip
    assert pq.read_schema(made / "truth.parquet").equals(EVENTS)
    assert pq.read_schema(made / "frames.parquet").equals(FRAMES)
    assert pq.read_table(made / "frames.parquet").num_rows == 150
    sheet = msgspec.json.decode((made / "sheet.json").read_bytes(), type=MatchSheet)
    capture = Capture.open(made / "capture")
    assert capture.is_finished
    assert capture.sheet == sheet
    assert len(sheet.players) == 32
    blocks = list(capture.blocks(0, capture.end_us))
    known = {p.object_id for p in sheet.players} | {"ball"}
    assert {p.transmitter.partition("/")[0] for b in blocks for p in b.packets} <= known


def test_the_same_wish_gives_the_same_bytes_and_another_seed_others(made: Path, tmp_path: Path, capsys) -> None:
    simulate(tmp_path / "again", capsys, seed=7)
    assert content(tmp_path / "again") == content(made)
    simulate(tmp_path / "other", capsys, seed=8)
    other = content(tmp_path / "other")
    assert all(other[name] != data for name, data in content(made).items() if name != "capture/writer.lock")


def test_a_simulation_replaces_a_simulation_and_nothing_of_it_stays(made: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    simulate(out, capsys, minutes=0.3, seed=1)
    (out / "capture" / "left over").write_text("from before")
    simulate(out, capsys, seed=7)
    assert content(out) == content(made)


def test_what_no_simulation_wrote_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    for name in ("mine.txt", ""):
        with pytest.raises(SimulateError, match=r"mine\.txt"):
            prepare(tmp_path / name if name else tmp_path, Simulation(), "none")
    assert content(tmp_path) == {"mine.txt": b"precious"}
    other = tmp_path / "store"
    other.mkdir()
    (other / "sheet.json").write_text("{}")
    with pytest.raises(SimulateError, match=r"holds sheet\.json"):
        prepare(other, Simulation(), "none")
    (other / "simulation.json").write_text("{}")
    prepare(other, Simulation(), "none")
    assert [p.name for p in other.iterdir()] == ["simulation.json"]


def test_the_report_adds_up(tmp_path: Path, capsys) -> None:
    report = simulate(tmp_path / "out", capsys, seed=2)
    assert report["seconds"] == 6.0
    assert report["transmitters"] == {"balls": 1, "others": 68}
    assert report["positions_per_s"] == pytest.approx(report["positions"] / 6.0, abs=1)
    capture = sum(len(data) for name, data in content(tmp_path / "out").items() if name.startswith("capture/"))
    assert report["bytes"]["capture"] == capture
    assert report["truths"] == pq.read_table(tmp_path / "out" / "truth.parquet").num_rows
    assert report["score"] == [0, 0]


def test_realism_is_measured_with_verdicts(tmp_path: Path, capsys) -> None:
    report = simulate(tmp_path / "out", capsys, minutes=0.5, realism=True)
    figures = report["realism"]["matches"][f"seed {DEFAULT_SEED}"]
    assert {"in_play_share", "true_passes_90", "speed_m_s_p50", "team_length_m_p50"} <= set(figures)
    assert {f["verdict"] for f in figures.values()} <= {"ok", "low", "high", "?", ""}


def test_a_scenario_says_what_did_not_come_true(tmp_path: Path, monkeypatch, capsys) -> None:
    path = tmp_path / "quiet.yaml"
    path.write_text("name: Quiet\nseconds: 2\nexpect:\n  - {kind: goal.scored, team: away, times: 3}\n")
    code, _ = command(monkeypatch, capsys, "simulate", "--out", tmp_path / "out", "--rate", "live", "--scenario", path)
    assert code == 1
    report = simulate(tmp_path / "out", capsys, scenario=str(path), minutes=None)
    assert report["seconds"] == 2.0
    assert report["unmet"] == ["goal.scored away 3 times"]


def test_a_tracked_match_is_measured_anew_and_its_touches_are_true(tmp_path: Path, capsys) -> None:
    track = write_track(tmp_path / "track.parquet", 8.0)
    report = simulate(tmp_path / "out", capsys, tracked=str(track), minutes=None)
    assert report["seconds"] == pytest.approx(8.0, abs=0.1)
    assert report["score"] is None
    assert not (tmp_path / "out" / "frames.parquet").exists()
    truth = pq.read_table(tmp_path / "out" / "truth.parquet").to_pylist()
    touches = [(r["player"], round(r["ts_us"] / 1e6)) for r in truth if r["kind"] in ("hit", "touch")]
    assert {p for p, _ in touches} <= {"home_1", "home_2"}
    assert {p for p, _ in touches}
    assert "ball.crossed" in {r["kind"] for r in truth}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--rate", "fast"], "rate 'fast'"),
        (["--channel", "pigeon"], "no channel 'pigeon'"),
        (["--minutes", "-1"], "--minutes -1"),
        (["--minutes", "nan"], "--minutes nan"),
        (["--seed", "-3"], "--seed -3"),
        (["--half-length", "0"], "--half-length 0"),
        (["--noise", "-1"], "noise_m -1"),
        (["--scenario", "no such thing"], "no such file"),
        (["--from", "nothing.parquet"], "nothing.parquet: no such file"),
        (["--from", "x.parquet", "--half-length", "3"], "--from has its own match"),
    ],
)
def test_what_cannot_be_is_one_line_with_its_reason(
    tmp_path: Path, monkeypatch, capsys, arguments, reason: str
) -> None:
    code, message = command(monkeypatch, capsys, "simulate", "--out", tmp_path / "out", *arguments)
    assert code == 2
    assert message.startswith("touchline: ")
    assert reason in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out" / "truth.parquet").exists()


def test_a_scenario_keeps_its_seed_unless_another_is_given(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\nseed: 5\n")
    scenario = read_scenario(path)
    assert settings_of(SimulateOptions(tmp_path), scenario).seed == 5
    assert settings_of(SimulateOptions(tmp_path, seed=0), scenario).seed == 0
    assert settings_of(SimulateOptions(tmp_path), None).seed == DEFAULT_SEED


def test_lengths_are_those_of_the_match_the_scenario_or_the_wish(tmp_path: Path) -> None:
    assert settings_of(SimulateOptions(tmp_path), None).duration_s == 300.0
    assert settings_of(SimulateOptions(tmp_path, minutes=0), None).duration_s is None
    assert settings_of(SimulateOptions(tmp_path, minutes=2.5, half_minutes=1.0), None).match.half_s == 60.0
    assert settings_of(SimulateOptions(tmp_path, tracked="x"), None).duration_s is None


def test_a_tracking_profile_writes_a_file_that_live_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = simulate(tmp_path / "out", capsys, seed=7, tracking="ragged")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "frames.parquet", "metadata.json", "sheet.json", "simulation.json", "tracking.parquet", "truth.parquet",
    ]  # fmt: skip
    recording = read_tracking(str(tmp_path / "out" / "tracking.parquet"))
    assert (len(recording.tracks), recording.tracks[-1].transmitter) == (24, "alive_flag")
    assert report["frames"] == pytest.approx(150, abs=10)
    first = content(tmp_path / "out")
    simulate(tmp_path / "out", capsys, seed=7, tracking="ragged")
    assert content(tmp_path / "out") == first
    simulate(tmp_path / "out", capsys, seed=7)
    assert not (tmp_path / "out" / "tracking.parquet").exists()


def test_a_profile_needs_a_match_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("simulate", "--out", tmp_path / "out", "--tracking")
    code, message = command(monkeypatch, capsys, *given, "perfect")
    assert (code, "none of the tracking profiles" in message) == (2, True)
    code, message = command(monkeypatch, capsys, *given, "ragged", "--realism")
    assert (code, "leave out --from and --realism" in message) == (2, True)

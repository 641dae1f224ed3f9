"""Wrong inputs: `live` and `inspect` say what is wrong and how to mend it, and the exit code says it too."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from app.cli.main import app
from tests.app.recordings import optical_table

WRONG = 3


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Six seconds of a simulated match as a long table, frame by frame."""
    table = pq.read_table(optical_table(tmp_path_factory.mktemp("clip") / "clip.parquet", seed=7, seconds=6.0))
    return table.sort_by("t_ms")


def column(table: pa.Table, name: str, values: object) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def moved(table: pa.Table, scale: float = 1.0, **shifts: float) -> pa.Table:
    for name in ("x", "y", "z"):
        table = column(table, name, np.asarray(table[name]) * scale + shifts.get(name, 0.0))
    return table


def without_ball(table: pa.Table) -> pa.Table:
    is_ball = np.asarray(table["object_id"].to_pylist()) == "ball"
    for name in ("x", "y", "z"):
        table = column(table, name, np.where(is_ball, np.nan, np.asarray(table[name])))
    return table


def renamed(table: pa.Table, old: str, new: str) -> pa.Table:
    return column(table, "object_id", [new if name == old else name for name in table["object_id"].to_pylist()])


def two_balls(table: pa.Table) -> pa.Table:
    is_ball = np.asarray(table["object_id"].to_pylist()) == "ball"
    return pa.concat_tables([table, moved(table.filter(pa.array(is_ball)), x=15.0)]).sort_by("t_ms")


def axes_exchanged(table: pa.Table) -> pa.Table:
    return column(column(table, "x", table["y"].to_numpy()), "y", table["x"].to_numpy())


def times(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: column(table, "t_ms", change(table["t_ms"].to_numpy()))


def shuffled(table: pa.Table) -> pa.Table:
    return table.take(np.random.default_rng(5).permutation(len(table)))


#: Name -> what is done to the clip, the exit code, and words that the finding must have.
CASES: dict[str, tuple[Callable[[pa.Table], pa.Table], int, tuple[str, ...]]] = {
    "right": (lambda table: table, 0, ()),
    "centimetres": (lambda table: moved(table, 100.0), WRONG, ("centimetres", "Divide x, y and z by 100")),
    "millimetres": (lambda table: moved(table, 1000.0), WRONG, ("millimetres", "by 1000")),
    "corner": (lambda table: moved(table, x=52.5, y=34.0), WRONG, ("corner", "Subtract 52.5 from x and 34 from y")),
    "axes": (axes_exchanged, WRONG, ("x and y changed places",)),
    "shuffled": (shuffled, 0, ("not in order of time; the file was sorted",)),
    "no ball": (without_ball, WRONG, ("ball has a usable position in 0%", "give its positions")),
    "seconds": (times(lambda t_ms: t_ms / 1000.0), 2, ("t_ms is likely in seconds", "multiply it by 1000")),
    "whole seconds": (times(lambda t_ms: t_ms // 1000), 2, ("seconds",)),
    "microseconds": (times(lambda t_ms: t_ms * 1000), 2, ("microseconds", "divide it by 1000")),
    "two balls": (two_balls, WRONG, ("positions of ball repeat a time", "ball_2")),
    "double id": (
        lambda table: renamed(table, "home_8", "home_7"),
        WRONG,
        ("home_7 repeat a time", "an id of its own"),
    ),
    "negative": (times(lambda t_ms: t_ms - 3_600_000), 0, ("Times begin at -3,600.0 s",)),
    "no heights": (lambda table: table.drop_columns("z"), 0, ()),
}

#: What is played in the default suite, too: both verdicts, both exit codes of a refusal, and each sort of change.
PLAYED = ("right", "corner", "no ball", "seconds", "double id", "negative")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict, str]:
    """Runs the command in this process; returns exit code, its JSON, and what a refusal says."""
    try:
        code = app(list(arguments), standalone_mode=False)
    except Exception as error:  # `main` prints these in one line, and ends with 2
        return 2, {}, str(error)
    out = capsys.readouterr().out
    return code, json.loads(out) if out else {}, ""


def live(capsys: pytest.CaptureFixture[str], source: Path, *more: str) -> tuple[int, dict, str]:
    options = (
        "--engine",
        "inprocess",
        "--speed",
        "max",
        "--alpha",
        "0",
        "--no-dashboard",
        "--json",
        "--metrics-port",
        "0",
    )
    store = source.parent / f"store-{len(list(source.parent.iterdir()))}"
    return run(capsys, "live", "--source", str(source), "--store", str(store), *options, *more)


def written(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "clip.parquet")
    return folder / "clip.parquet"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(("inspect", name) for name in CASES),
        *(pytest.param("live", name, marks=() if name in PLAYED else pytest.mark.slow) for name in CASES),
    ],
)
def test_the_verdict_names_cause_and_mend_and_the_exit_code_says_it(command, name, clip, tmp_path, capsys):
    change, expected, words = CASES[name]
    source = written(change(clip), tmp_path)
    code, report, refusal = live(capsys, source) if command == "live" else run(capsys, "inspect", str(source), "--json")
    texts = refusal or " ".join(finding["text"] for finding in report["findings"])
    assert code == expected, texts
    for word in words:
        assert word in texts
    if code != 2:
        assert report["verdict"] == ("wrong" if expected == WRONG else "right")
        severe = [finding for finding in report["findings"] if finding["severity"] == "wrong"]
        assert len(severe) == (expected == WRONG), "one cause is one finding"
        assert all(finding["mend"] for finding in severe)


@pytest.fixture(scope="module")
def stretch(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Twenty seconds with passes through the air."""
    return pq.read_table(optical_table(tmp_path_factory.mktemp("stretch") / "clip.parquet", seed=7, seconds=20.0))


@pytest.mark.parametrize(
    ("scale", "share", "expected", "words"),
    [
        (1.0, 1.0, 0, ""),
        (100.0, 1.0, WRONG, "centimetres instead of metres. Divide z by 100."),
        (1000.0, 1.0, WRONG, "millimetres instead of metres. Divide z by 1000."),
        (100.0, 0.02, 0, "heights of another unit, or noise"),
    ],
    ids=["metres", "centimetres", "millimetres", "a few"],
)
def test_heights_in_another_unit_are_wrong_by_themselves(scale, share, expected, words, stretch, tmp_path, capsys):
    z_m = stretch["z"].to_numpy()
    changed = np.random.default_rng(3).random(len(z_m)) < share
    source = written(column(stretch, "z", np.where(changed, z_m * scale, z_m)), tmp_path)
    code, report, _ = run(capsys, "inspect", str(source), "--json")
    assert (code, report["verdict"]) == (expected, "wrong" if expected else "right")
    assert words in " ".join(finding["text"] for finding in report["findings"] if finding["code"] != "no sheet")
    if scale == 100.0 and expected:
        assert live(capsys, source)[0] == WRONG


@pytest.mark.slow
def test_times_before_zero_change_no_event_and_no_latency(clip, tmp_path, capsys):
    reports = []
    for name in ("right", "negative"):
        (tmp_path / name).mkdir()
        reports.append(live(capsys, written(CASES[name][0](clip), tmp_path / name))[1])
    assert reports[0]["events"] == reports[1]["events"]
    assert reports[0]["detection_latency_ms"] == reports[1]["detection_latency_ms"]


def test_a_shuffled_file_is_the_same_match(clip, tmp_path, capsys):
    reports = []
    for name in ("right", "shuffled"):
        (tmp_path / name).mkdir()
        reports.append(live(capsys, written(CASES[name][0](clip), tmp_path / name))[1])
    assert reports[0]["events"] == reports[1]["events"]
    assert reports[1]["positions"] == len(clip)


def test_a_file_without_a_sheet_says_what_is_taken_for_granted(clip, tmp_path, capsys):
    _, report, _ = run(capsys, "inspect", str(written(clip, tmp_path)), "--json")
    (finding,) = report["findings"]
    assert "105 x 68 m" in finding["text"]
    assert "--sheet" in finding["text"]


@pytest.mark.parametrize("form", ["simulator", "foreign"])
def test_a_sheet_of_another_form_is_read_or_refused(form, clip, tmp_path, capsys):
    source, sheet = written(clip, tmp_path), tmp_path / "sheet-of-another.json"
    players = [{"object_id": f"{team}_{n}", "team": team} for team in ("home", "away") for n in range(1, 12)]
    simulated = {"match_id": "m", "home": "Reds", "away": "Blues", "attacks_positive_x": "away", "players": players}
    text = json.dumps(simulated if form == "simulator" else {"equipe": "Rouges", "joueurs": []})
    sheet.write_text(text, encoding="utf-8-sig")  # as editors of Windows write it
    code, report, refusal = run(capsys, "inspect", str(source), "--sheet", str(sheet), "--json")
    if form == "foreign":
        assert code == 2
        assert "none of its fields (equipe, joueurs) is known" in refusal
        return
    assert code == 0
    assert report["sheet"]["players"] == 22
    (finding,) = report["findings"]
    assert "The match sheet has away attack towards +x; by their positions home does" in finding["text"]


def test_a_pitch_with_length_and_width_exchanged_is_wrong(clip, tmp_path, capsys):
    (tmp_path / "metadata.json").write_text(json.dumps({"pitch": {"length_m": 68, "width_m": 105}}))
    code, report, _ = live(capsys, written(clip, tmp_path))
    assert code == WRONG
    assert "Give 105 x 68" in report["findings"][0]["text"]


def test_ids_that_the_sheet_does_not_have_are_said(clip, tmp_path, capsys):
    sheet = {"players": [{"object_id": f"{team}-{n}", "team": team} for team in ("home", "away") for n in range(1, 12)]}
    (tmp_path / "metadata.json").write_text(json.dumps(sheet))
    code, report, _ = run(capsys, "inspect", str(written(clip, tmp_path)), "--json")
    assert code == WRONG
    assert "objects that the match sheet does not have" in report["findings"][0]["text"]


@pytest.mark.parametrize("packed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_csv_is_the_same_match_as_its_table_and_bad_lines_are_named(packed, clip, tmp_path, capsys):
    _, expected, _ = live(capsys, written(clip, tmp_path))
    pa.csv.write_csv(clip, tmp_path / "plain.csv")
    lines = (tmp_path / "plain.csv").read_bytes().splitlines(keepends=True)
    lines[10:10] = [b"400,ball,ball,1\n", b"\n", b"400,home_3,home,far,1,0\n"]
    name = "clip.csv.gz" if packed else "clip.csv"
    (tmp_path / name).write_bytes(gzip.compress(b"".join(lines)) if packed else b"".join(lines))
    code, report, _ = live(capsys, tmp_path / name)
    assert code == 0
    assert report["events"] == expected["events"]
    assert report["quarantined"] == {"another number of cells than the header": 1, "x is not a number": 1}
    stores = sorted(tmp_path.glob("store-*/quarantine/*.parquet"))
    records = [row["record"] for store in stores for row in pq.read_table(store).to_pylist()]
    assert records == [f"{name} line 11", f"{name} line 13"]
    _, report, _ = run(capsys, "inspect", str(tmp_path / name), "--json")
    assert report["quality"]["refused"] == 2


def test_a_simulated_source_is_measured_and_nothing_is_stored(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, report, refusal = run(capsys, "inspect", "sim", "--duration", "6", "--json")
    assert not refusal
    assert (code, report["verdict"], report["findings"]) == (0, "right", [])
    quality = report["quality"]
    assert quality["home_players"] == quality["away_players"] == 11
    assert quality["ball_hz"] == pytest.approx(200, rel=0.05)
    assert not list(tmp_path.iterdir())

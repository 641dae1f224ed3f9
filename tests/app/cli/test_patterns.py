"""``touchline patterns``: the file of the paper, rows that cannot be used, errors with their place and mend."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from app.cli import main as command_line
from tests.app.cli.test_main import touchline
from tests.app.tables.small_match import small_store
from tests.quick_java import quick_java

PAPER = "PATTERN SEQ(a x, b+ y[], c z)\nWITHIN 10 ms\n"
ARRIVAL = "b1 b2 b11 a3 c10 a4 a6 c20 a5 a18 a7 b8 a17 a9 a13 b14 b16 a15 c19 b12"


def main(arguments: list[str]) -> int:
    """Exit code of a command."""
    before, sys.argv = sys.argv, ["touchline", *arguments]
    try:
        command_line.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def written(folder: Path, query: str, rows: str) -> list[str]:
    """Arguments of ``patterns run`` for a query and the rows of a CSV."""
    (folder / "q.touchline").write_text(query)
    (folder / "events.csv").write_text(rows)
    return ["patterns", "run", str(folder / "q.touchline"), "--events", str(folder / "events.csv"), "--json"]


def rows_of(names: str) -> str:
    """A CSV of events such as ``a3``."""
    return "id,type,ts_ms\n" + "".join(f"{name},{name[0]},{name[1:]}\n" for name in names.split())


def ran(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, str]:
    """Exit code, JSON and stderr of a command."""
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


def test_the_query_of_the_paper_runs_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, found, _ = ran(written(tmp_path, PAPER, rows_of(f"{ARRIVAL} c19 c20 a3")), capsys)
    assert code == 0
    assert ["a9", "b11", "b12", "b14", "b16", "c19"] in found["matches"]
    assert len(found["matches"]) == 8
    assert found["duplicates"] == 3
    assert found["log"][-2:] == [
        {"row": 20, "diff": -1, "match": ["a9", "b11", "b14", "b16", "c19"]},
        {"row": 20, "diff": 1, "match": ["a9", "b11", "b12", "b14", "b16", "c19"]},
    ]
    live: list[list[str]] = []
    for entry in found["log"]:
        (live.append if entry["diff"] > 0 else live.remove)(entry["match"])
    assert sorted(live) == sorted(found["matches"])


@pytest.mark.parametrize(("strategy", "count"), [("stnm", 8), ("stam", 10), ("stam-all", 28), ("stnm-all", 12)])
def test_each_strategy_has_its_matches(strategy: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    arguments = written(tmp_path, PAPER, rows_of(ARRIVAL))
    _, found, _ = ran([*arguments, "--strategy", strategy], capsys)
    assert len(found["matches"]) == count


def test_a_row_that_cannot_be_used_is_named_and_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    bad = ["b4,b", '"b5,b,5', ",b,6", "b7,b,soon", "b8,,8", "b9,b,nan", "b3,b,4", "z1,z,1,9", "b10,b,1e30"]
    rows = "\n".join(["id,type,ts_ms", "a1,a,1", "b3,b,3", *bad, "", "c9,c,9", ""])
    arguments = written(tmp_path, PAPER, rows)
    code, found, err = ran(arguments, capsys)
    assert code == 0
    assert found["matches"] == [["a1", "b3", "c9"]]
    assert [entry["row"] for entry in found["rejected"]] == [*range(3, 12)]
    assert f"{arguments[4]} row 3: 2 cells, and the header has 3" in err
    assert "b3 stands with other content: withdraw it first (diff -1)" in err


def test_withdrawn_and_amended_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rows = "id,type,ts_ms,v,diff\na1,a,1,1,1\nb2,b,2,5,\nc3,c,3,1,1\nb2,,,,-1\nb2,b,2,7,1\nb9,,,,-1\n"
    query = "PATTERN SEQ(a x, b y, c z) WHERE y.v > 4 WITHIN 1 s RETURN v = y.v, n = count(y)"
    _, found, _ = ran(written(tmp_path, query, rows), capsys)
    assert [entry["diff"] for entry in found["log"]] == [1, -1, 1]
    assert found["values"] == [{"v": 7, "n": 1}]
    assert found["rejected"][0]["reason"] == "withdraws b9, which does not stand"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("PATTERN SEQ(a x b y) WITHIN 1 s", "line 1, column 17: b cannot stand here. Here may stand:"),
        ("PATTERN SEQ(a x,\n  b y", "line 2, column 6: the query ends too early"),
        ("PATTERN a x", "the pattern has no window. Add WITHIN, such as WITHIN 10 s"),
        ("PATTERN a x\nWITHIN 3 parsecs", "line 2, column 10: parsecs cannot stand here"),
        ("PATTERN a x\nWHERE y.v > 1 WITHIN 1 s", "line 2, column 7: no step is named y. Names are: x"),
        ("PATTERN a x WHERE fast(x) WITHIN 1 s", "no function fast. There are count,"),
        ("PATTERN SEQ(a x, b x) WITHIN 1 s", "x names two steps. Choose another name"),
        ("PATTERN SEQ(a* x) WITHIN 1 s", "a pattern needs a step that takes an event"),
        ("PATTERN AND(a x, NOT b y) WITHIN 1 s", "NOT b stands outside SEQ"),
        ("PATTERN SEQ(a x, NOT c, b* y) WITHIN 1 s", "NOT c stands between a step that may be empty"),
        ("PATTERN SEQ(a{3,2} x) WITHIN 1 s", "{3,2} counts nothing"),
        ("PATTERN a x WITHIN 1 s WITHIN 2 s", "a second WITHIN"),
        ("PATTERN a x WITHIN 1 s, 2 s", "WITHIN has two bounds of one sort. Keep the smaller"),
        ("PATTERN a x WITHIN 1.5 passes", "1.5 passes are none. Write a whole number"),
        ("PATTERN a x WITHIN 3 shots", "shots cannot stand here. Here may stand: a unit (ms, s, min, h), passes"),
        ("PATTERN SEQ(a+ x) WITHIN 1 s RETURN v = x.v", "x may have several events. Write first(x...), say"),
        ("PATTERN a x WHERE sum(x) > 1 WITHIN 1 s", "sum takes a value of a binding"),
        ("PATTERN AND(a, b, c, d, e, f) WITHIN 1 s", "AND and OR make more than 120 sequences"),
    ],
)
def test_a_wrong_query_names_place_and_mend(query: str, message: str, tmp_path: Path, capsys: Any):
    (tmp_path / "q.touchline").write_text(query)
    assert main(["patterns", "check", str(tmp_path / "q.touchline")]) == 2
    assert message in capsys.readouterr().out
    assert main(["patterns", "explain", str(tmp_path / "q.touchline")]) == 2
    assert message in capsys.readouterr().err


def test_other_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    arguments = written(tmp_path, PAPER, rows_of(ARRIVAL))
    own, binary = tmp_path / "of_a_store.csv", tmp_path / "events.parquet"
    own.write_text("id,kind,variant,level,ts_us,team\n")
    binary.write_bytes(b"PAR1\x15\x04\x15,\xff\n")
    for wrong, message in (
        ([*arguments, "--strategy", "any"], "--strategy any: must be one of stnm"),
        ([*arguments, "--most", "0"], "--most 0: must be at least 1"),
        ([*arguments, "--strategy", "stam-all", "--most", "3"], "and 3 is the bound. Choose --strategy stam"),
        ([*arguments[:4], str(tmp_path / "none.csv")], "none.csv: no such file"),
        ([*arguments[:4], arguments[2]], "column id, type, ts_ms is missing"),
        ([*arguments[:4], str(own)], "column type, ts_ms is missing"),
        ([*arguments[:4], str(own)], "give the store instead"),
        ([*arguments[:4], str(binary)], "not text: events are CSV or .jsonl"),
        ([*arguments[:2], str(tmp_path / "none"), *arguments[3:]], "none: no such file"),
    ):
        assert main(wrong) == 2
        assert message in capsys.readouterr().err


def test_explain_names_steps_conditions_and_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    query = "PATTERN SEQ(a x, NOT d n, b{2,4} y, c z) WHERE y.v > x.v AND NOT (n.v = 1 OR n.w = 'k') WITHIN 2 s PER g"
    (tmp_path / "q.touchline").write_text(query)
    assert main(["patterns", "explain", str(tmp_path / "q.touchline"), "--strategy", "stam"]) == 0
    text = capsys.readouterr().out
    for line in (
        "within 2000 ms", "partition by g", "a x, then b y (2 to 4), then c z", "no d n between a x and b y (2 to 4)",
        "where y.v > x.v", "NOT ((n.v = 1) OR (n.w = \"k\"))",
        "every pick is tried, up to the bound",
    ):  # fmt: skip
        assert line in text, text


def test_a_pattern_runs_over_stored_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One store in process; a folder of them as a job of Spark, which a damaged one does not disturb."""
    stores = [str(small_store(tmp_path / "all" / name, positions=False)) for name in ("one", "three", "two")]
    next(Path(stores[1]).glob("updates/*.parquet")).write_bytes(b"PAR1")
    query, out = tmp_path / "q.touchline", tmp_path / "found.parquet"
    query.write_text(
        "PATTERN SEQ(aerial.won a, shot.attempt s, shot.saved k) WHERE same_player(a, s) AND k.shooter = s.player "
        "WITHIN 5 s RETURN by = k.player"
    )
    assert main(["patterns", "run", str(query), stores[0]]) == 0
    assert f"{stores[0]} 4021.00 s to 4023.00 s: " in capsys.readouterr().out
    assert main(["patterns", "run", str(query), stores[0], "--out", str(tmp_path / "none" / "found.parquet")]) == 2
    assert "--out" in capsys.readouterr().err
    with quick_java():
        done = touchline(
            "patterns", "run", str(query), str(tmp_path / "all"), "--jobs", "1", "--json", "--out", str(out)
        )
    assert done.returncode == 1
    assert f"{stores[1]}: " in done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["store"] for one in found] == [stores[0], stores[2]]
    assert [one["values"] for one in found] == [[{"by": "away_1"}]] * 2
    assert found[0]["times_us"] == [[4_021_000_000, 4_023_000_000]]
    assert [row["events"] for row in pq.read_table(out).to_pylist()] == [one["matches"][0] for one in found]


def test_stores_and_options_that_do_not_fit_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    query = tmp_path / "q.touchline"
    query.write_text(PAPER)
    for arguments, reason in (
        ([], "either folders of match stores, or a file with --events"),
        ([str(query)], "holds no match store; only a store has events"),
        (["--events", "e.csv", "--jobs", "2"], "--out, --master and --jobs are of stored matches"),
    ):
        assert main(["patterns", "run", str(query), *arguments]) == 2
        assert reason in capsys.readouterr().err


MAPPING = """id = "event.id"
type = "event.name"
time = "when"
unit = "s"
withdrawn = "deleted"
types = { Turnover = "loss" }
values = { team = "team.name", x_m = "location.0" }
"""


def test_events_of_other_programs_have_a_mapping(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "q.touchline").write_text(
        "PATTERN SEQ(loss l, shot s) WHERE l.team != s.team AND s.x_m > 30 WITHIN 2 s RETURN team = s.team"
    )
    (tmp_path / "m.toml").write_text(MAPPING)
    lines = [
        {"event": {"id": 9, "name": "shot"}, "when": 2.5, "team": {"name": "home"}, "location": [40.5, 3]},
        {"event": {"id": 3, "name": "Turnover"}, "when": 1, "team": {"name": "away"}},
        {"event": {"id": 4, "name": "Turnover"}, "when": 2, "team": {"name": "away"}},
        {"event": {"id": 4}, "deleted": True},
        {"event": {"id": 5, "name": "shot"}, "when": "soon"},
        {"event": {"name": "shot"}, "when": 3},
        [1, 2],
    ]
    (tmp_path / "e.jsonl").write_text("\n".join([*map(json.dumps, lines), "", "{"]))
    arguments = ["patterns", "run", str(tmp_path / "q.touchline"), "--events", str(tmp_path / "e.jsonl"), "--json"]
    code, found, _ = ran([*arguments, "--mapping", str(tmp_path / "m.toml")], capsys)
    assert code == 0
    assert found["matches"] == [["3", "9"]]
    assert found["values"] == [{"team": "home"}]
    assert [entry["diff"] for entry in found["log"]] == [1, 1, -1]
    assert [(entry["row"], entry["reason"][:24]) for entry in found["rejected"]] == [
        (5, "when is no time in s: so"), (6, "no event.id"), (7, "no JSON object: Expected"),
        (9, "no JSON object: not JSON"),
    ]  # fmt: skip
    (tmp_path / "m.toml").write_text('ident = "x"')
    assert main([*arguments, "--mapping", str(tmp_path / "m.toml")]) == 2
    assert "no mapping of events: Object contains unknown field `ident`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("unit", "time", "ts_us"),
    [("us", 7, 7), ("ms", 1.5, 1_500), ("min", 2, 120_000_000), ("iso", "1970-01-01T01:00:02+01:00", 2_000_000)],
)
def test_times_of_other_programs(unit: Any, time: Any, ts_us: int):
    from replay.formats.pattern_json import EventMapping, json_events

    record = json.dumps({"id": "x", "type": "a", "ts_ms": time, "v": 1, "w": "", "list": [1]}).encode()
    (row,) = json_events([record], EventMapping(unit=unit))
    assert row.event == (ts_us, ("a",), "x", "a", {"v": 1})  # type: ignore[union-attr]


def test_the_profile_of_the_paper_names_what_it_drops(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    arguments = written(tmp_path, PAPER, rows_of(ARRIVAL))
    _, found, _ = ran([*arguments, "--profile", "limecep"], capsys)
    assert len(found["matches"]) == 8
    assert found["dropped"] == []
    _, found, err = ran([*arguments, "--profile", "limecep", "--lateness-factor", "0.5"], capsys)
    assert found["dropped"][0].keys() == {"row", "id", "score", "threshold"}
    assert found["dropped"][0]["id"] == "a4"
    assert "row 6: a4 is dropped, its score" in err
    assert main([*arguments, "--slack-share", "0.1"]) == 2
    assert "are of --profile limecep" in capsys.readouterr().err

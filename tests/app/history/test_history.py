"""Questions to many matches: two engines, one answer, which is what the store itself and a count by hand say."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from app.base.java import find_java
from app.cli.query import examples
from app.history.engines import Ask, ask_duckdb, ask_spark, same_answer
from app.history.layout import HistoryError, open_archive
from app.history.views import VIEWS
from app.tables.build import flat_tables
from football.tables import UPDATES
from replay.event_list import consolidated_events
from replay.match_store import (
    MatchStore,
    StoreError,
    read_table,
)
from tests.app.cli.test_main import refusal, touchline
from tests.app.recordings import optical_table, record
from tests.quick_java import quick_java

#: Each match with its seed and its length; one folder has letters that paths and URLs take for something else.
MATCHES = {"one": (1, 12.0), "t+w%o {2}": (4, 40.0)}
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> Path:
    """Two small matches."""
    folder = tmp_path_factory.mktemp("archive")
    for name, (seed, seconds) in MATCHES.items():
        table = optical_table(folder / f"t{seed}" / "track.parquet", seed, seconds)
        record(table, folder / "stores" / name)
    return folder / "stores"


@pytest.fixture(scope="module")
def duck(stores: Path) -> Ask:
    return ask_duckdb(open_archive([stores]))


@pytest.fixture(scope="module")
def spark(stores: Path, tmp_path_factory):
    from app.spark.session import start_session, stop_session

    log = tmp_path_factory.mktemp("spark") / "spark.log"
    java = find_java(os.environ)
    with quick_java():
        session = start_session(java, log, slots=2)
    yield ask_spark(open_archive([stores]), session)
    stop_session(session)


def names(stores: Path) -> list[str]:
    return sorted(path.name for path in stores.iterdir())


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(examples()))
def test_both_engines_answer_an_example_alike(name: str, duck: Ask, spark: Ask):
    one, other = duck(examples()[name]), spark(examples()[name])
    assert same_answer(one, other), f"{one.to_pandas()}\n{other.to_pandas()}"
    if name != "shots":  # in so short a time there may be none
        assert len(one), "an example that answers nothing compares nothing"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("view", [*VIEWS, "matches", "players", "updates", "positions"])
def test_both_engines_see_the_same_rows(view: str, duck: Ask, spark: Ask):
    query = f"SELECT count(*) AS rows, count(DISTINCT match) AS matches FROM {view}"
    assert same_answer(duck(query), spark(query))


def test_the_view_of_events_is_the_consolidated_list_of_each_match(stores: Path, duck: Ask):
    for name in names(stores):
        expected = consolidated_events(stores / name)
        query = f"SELECT {', '.join(expected.column_names)} FROM events WHERE match = '{name}'"
        assert duck(f"{query} ORDER BY ts_us, level, kind, id").to_pylist() == expected.to_pylist()


def test_passes_are_those_that_a_count_by_hand_finds(stores: Path, duck: Ask):
    answer = duck(examples()["passes"]).to_pylist()
    for name in names(stores):
        events = consolidated_events(stores / name).to_pylist()
        tried = Counter(event["player"] for event in events if event["kind"] == "pass.attempt")
        done = Counter(event["player"] for event in events if event["kind"] == "pass.complete")
        mine = {row["player"]: row for row in answer if row["match"] == name}
        assert {player: row["passes"] for player, row in mine.items()} == tried
        assert {player: row["completed"] for player, row in mine.items() if row["completed"]} == done


def test_possession_shares_are_those_of_the_spells(stores: Path, duck: Ask):
    answer = duck(examples()["possession"]).to_pylist()
    for name in names(stores):
        spells = [e for e in consolidated_events(stores / name).to_pylist() if e["kind"] == "team.possession"]
        ends = [*(spell["ts_us"] for spell in spells[1:]), round(MATCHES[name][1] * 1e6) + 1]
        seconds: Counter[str] = Counter()
        for spell, end_us in zip(spells, ends, strict=True):
            seconds[spell["variant"]] += (end_us - spell["ts_us"]) / 1e6
        mine = {row["team"]: row["seconds"] for row in answer if row["match"] == name}
        assert mine == pytest.approx({team: seconds[team] for team in mine}, abs=0.1)
        assert sum(row["percent"] for row in answer if row["match"] == name) == pytest.approx(100, abs=0.11)


def log_of(*updates: tuple[int, str, float, int]) -> pa.Table:
    """(diff, id, x, emitted) as an update log."""
    rows = [
        {"seq": seq, "diff": diff, "id": name, "x_m": x, "emitted_us": at, "ts_us": 5, "kind": "k", "variant": "",
         "level": 1, "team": "", "player": "", "confidence": 1.0, "causes": [], "detail": "{}", "epoch": 0, "lag_us": 0}
        for seq, (diff, name, x, at) in enumerate(updates)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=UPDATES)


@pytest.mark.parametrize(
    "updates",
    [
        [(1, "a", 1.0, 10)],
        [(1, "a", 1.0, 10), (-1, "a", 1.0, 20)],
        [(1, "a", 1.0, 10), (-1, "a", 1.0, 20), (1, "a", 2.0, 20)],
        [(1, "a", 1.0, 10), (-1, "a", 1.0, 20), (1, "a", 2.0, 30)],
        [(1, "a", 1.0, 10), (-1, "a", 1.0, 20), (1, "a", 2.0, 30), (-1, "a", 2.0, 40), (1, "a", 3.0, 40)],
        [(1, "a", 1.0, 10), (1, "b", 1.0, 11), (-1, "a", 1.0, 20), (1, "a", 1.0, 25), (-1, "b", 1.0, 30)],
    ],
    ids=["stands", "withdrawn", "amended", "gone between", "gone between, then amended", "two"],
)
def test_the_view_tells_amended_and_withdrawn_events_as_the_store_does(tmp_path: Path, updates: list):
    from football.match_sheet import MatchSheet

    store = MatchStore.create(tmp_path / "m", MatchSheet(), {"settings": {}})
    store.commit(0, {"updates": log_of(*updates)}, {"frontier_us": 3})
    expected = consolidated_events(tmp_path / "m")
    ask = ask_duckdb(open_archive([tmp_path / "m"]))
    got = ask(f"SELECT {', '.join(expected.column_names)} FROM events ORDER BY ts_us, level, kind, id")
    assert got.to_pylist() == expected.to_pylist()


def test_parts_that_no_commit_names_are_not_asked(stores: Path, tmp_path: Path):
    import shutil

    copy = tmp_path / "m"
    shutil.copytree(stores / "one", copy, symlinks=True)
    part = next((copy / "updates").glob("*.parquet"))
    shutil.copy(part, part.with_name("part-00009999.parquet"))
    ask = ask_duckdb(open_archive([copy]))
    assert ask("SELECT count(*) AS n FROM updates").to_pylist() == [{"n": len(read_table(stores / "one", "updates"))}]


def test_matches_of_one_name_are_told_apart(stores: Path, tmp_path: Path):
    import shutil

    shutil.copytree(stores / "one", tmp_path / "one", symlinks=True)
    ask = ask_duckdb(open_archive([stores / "one", tmp_path / "one"]))
    assert ask("SELECT match FROM matches ORDER BY match").to_pylist() == [{"match": "one"}, {"match": "one-2"}]


def test_a_damaged_store_is_named(stores: Path, tmp_path: Path):
    import shutil

    shutil.copytree(stores / "one", tmp_path / "bad", symlinks=True)
    (tmp_path / "bad" / "commits" / "00000000.json").write_text("{")
    with pytest.raises(StoreError, match=r"00000000\.json"):
        open_archive([tmp_path])


def test_a_wrong_query_is_told_in_one_line(duck: Ask):
    with pytest.raises(HistoryError, match=r"DuckDB: .*nonsense"):
        duck("SELECT nonsense FROM events")


@pytest.mark.slow
def test_the_command_answers_and_refuses(stores: Path, tmp_path: Path):
    done = touchline("query", stores, "--example", "restarts", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["match"] for row in rows} == set(names(stores))
    listed = touchline("query", stores, "--example", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == sorted(examples())
    assert "--sql" in refusal("query", stores)
    assert "possession" in refusal("query", stores, "--example", "possess")


def test_the_page_shows_the_examples_as_they_are():
    page = (ROOT / "docs" / "history.md").read_text(encoding="utf-8")
    shown = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    queries = examples()
    assert any(text == queries["ppda"] for text in shown)
    for name in queries:
        assert f"`{name}`" in page, f"docs/history.md does not name {name}"


def test_the_analysts_tables_are_built_when_a_query_reads_them(stores: Path, duck: Ask):
    found = {
        row["match"]: row["n"] for row in duck("SELECT match, count(*) AS n FROM passes p GROUP BY ALL").to_pylist()
    }
    assert found == {name: flat_tables(stores / name, ["passes"])["passes"].num_rows for name in names(stores)}
    own = duck("WITH shots AS (SELECT 7 AS n) SELECT n FROM shots, possessions LIMIT 1")
    assert own.to_pylist() == [{"n": 7}], "a query may have a table of the same name of its own"


@pytest.mark.spark
@pytest.mark.slow
def test_both_engines_read_the_analysts_tables_alike(duck: Ask, spark: Ask):
    query = "SELECT match, team, count(*) AS n, sum(seconds) AS s FROM possessions GROUP BY match, team ORDER BY 1, 2"
    assert same_answer(duck(query), spark(query))

"""Event data of others beside ours: alignment, disagreements, and the command, judged on our own StatsBomb export."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli.compare import app as command
from app.compare.alignment import Row, align
from app.compare.comparison import compare
from app.export.formats import export_match
from football.errors import TrackingError
from replay.comparisons import FILE, Comparison, ComparisonError, read_comparison
from tests.app.tables.small_match import small_store


def rows(*seconds: float, kind: str = "pass home", player: str = "p") -> list[Row]:
    return [Row(at_s, kind, player, 0.0, 0.0) for at_s in seconds]


def test_a_clock_that_is_ahead_is_found_and_taken_off():
    aligned = align(rows(1, 4, 9, 20, 30), rows(8.2, 11.2, 16.2, 37.2))
    assert aligned.shift_s == pytest.approx(7.2)
    assert aligned.pairs == [(0, 0), (1, 1), (2, 2), (4, 3)]


def test_only_one_kind_and_team_pairs_and_the_order_is_kept():
    ours = [*rows(1), *rows(2, kind="shot home"), *rows(3)]
    theirs = [*rows(1, kind="pass away"), *rows(2.1, kind="shot home"), *rows(2.9)]
    assert align(ours, theirs).pairs == [(1, 1), (2, 2)]
    assert align(ours, []).pairs == align([], theirs).pairs == []


def test_of_two_at_a_time_the_player_and_the_place_decide():
    ours = [Row(5.0, "pass home", "a", 0.0, 0.0), Row(5.4, "pass home", "b", 30.0, 0.0)]
    assert align(ours, [Row(5.2, "pass home", "b", 28.0, 0.0)]).pairs == [(1, 0)]
    assert align(ours, [Row(5.2, "pass home", "", 29.0, 0.0)]).pairs == [(1, 0)]
    assert align(ours, [Row(5.1, "pass home", "a", math.nan, math.nan)]).pairs == [(0, 0)]


@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_list_with_gaps_is_aligned(seed: int):
    chance = np.random.default_rng(seed)
    at_s = np.cumsum(chance.uniform(1.0, 6.0, 300))
    ours = [Row(float(t), "pass home", f"p{chance.integers(11)}", *chance.uniform(-40, 40, 2)) for t in at_s]
    kept = sorted(chance.choice(300, 240, replace=False).tolist())
    shift_s = chance.uniform(-4, 4)
    theirs = [
        Row(one.seconds + shift_s + chance.normal(0, 0.4), one.kind, one.player, one.x_m + chance.normal(0, 2), one.y_m)
        for one in (ours[i] for i in kept)
    ]
    theirs.sort(key=lambda one: one.seconds)
    aligned = align(ours, theirs)
    right = sum(ours[i].player == theirs[j].player and abs(ours[i].x_m - theirs[j].x_m) < 10 for i, j in aligned.pairs)
    assert right >= 225, f"seed {seed}: {right} of 240 right, {len(aligned.pairs)} pairs"
    assert aligned.shift_s == pytest.approx(shift_s, abs=0.3)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_store(tmp_path_factory.mktemp("compare") / "store")


@pytest.fixture(scope="module")
def exported(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("files") / "statsbomb"
    export_match(store, "statsbomb", out)
    return out


Edit = Callable[[list[dict[str, Any]]], object]


def edited(exported: Path, folder: Path, edit: Edit) -> list[Path]:
    """The exported files with other events."""
    events = json.loads((exported / "events.json").read_text())
    edit(events)
    (folder / "events.json").write_text(json.dumps(events))
    return [folder / "events.json", exported / "lineups.json"]


def test_our_own_export_agrees_with_us(store: Path, exported: Path):
    found = compare(store, "statsbomb", [exported / "events.json", exported / "lineups.json"])
    assert found.disagreements == []
    assert found.agreeing == sum(row.paired for row in found.kinds.values()) > 5
    assert all(row.ours == row.theirs == row.paired for row in found.kinds.values())
    assert found.shifts_s == {1: 0.0, 2: 0.0}


def first(events: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(one for one in events if one["type"]["name"] == name)


def test_each_disagreement_is_named(store: Path, exported: Path, tmp_path: Path):
    def another_player(events: list[dict[str, Any]]) -> None:
        passes = [one for one in events if one["type"]["name"] == "Pass" and one["team"]["id"] == 1]
        other = next(one["player"] for one in passes if one["player"] != passes[0]["player"])
        passes[0]["player"] = other

    found = compare(store, "statsbomb", edited(exported, tmp_path, another_player))
    (row,) = found.disagreements
    assert (row.about, row.kind) == (("player",), "pass")
    assert row.ours
    assert row.theirs

    def another_place(events: list[dict[str, Any]]) -> None:
        x, y = first(events, "Shot")["location"]
        first(events, "Shot")["location"] = [x - 20, y]

    found = compare(store, "statsbomb", edited(exported, tmp_path, another_place))
    (row,) = found.disagreements
    assert row.about == ("place",)
    assert row.metres is not None
    assert row.metres > 15


def test_what_one_side_lacks_is_listed_with_its_moment(store: Path, exported: Path, tmp_path: Path):
    whole = compare(store, "statsbomb", [exported / "events.json", exported / "lineups.json"])
    found = compare(store, "statsbomb", edited(exported, tmp_path, lambda events: events.remove(first(events, "Shot"))))
    (row,) = found.disagreements
    assert (row.about, row.kind, row.theirs) == (("ours only",), "shot", "")
    assert found.agreeing == whole.agreeing - 1

    def doubled(events: list[dict[str, Any]]) -> None:
        events.append({**first(events, "Shot"), "id": "00000000-0000-0000-0000-000000000001"})

    found = compare(store, "statsbomb", edited(exported, tmp_path, doubled))
    (extra,) = found.disagreements
    assert (extra.about, extra.ours) == (("theirs only",), "")
    assert extra.event_us == pytest.approx(row.event_us, abs=50_000)


def test_files_that_cannot_be_read_are_refused_by_name(store: Path, exported: Path, tmp_path: Path):
    events, lineups = exported / "events.json", exported / "lineups.json"
    for provider, files, reason in (
        ("hudl", [events], "no provider hudl"),
        ("statsbomb", [events], "give 2 files: event_data, lineup_data"),
        ("statsbomb", [tmp_path / "none.json", lineups], "no such file"),
        ("opta", [events, lineups], "kloppy cannot read it"),
    ):
        with pytest.raises(TrackingError, match=reason):
            compare(store, provider, files)


def test_the_command_prints_the_same(store: Path, exported: Path):
    given = [str(store), str(exported / "events.json"), str(exported / "lineups.json")]
    printed = CliRunner().invoke(command, [*given, "--json"])
    assert printed.exit_code == 0, printed.output
    found = msgspec.convert(json.loads(printed.stdout), Comparison, strict=False)
    assert found.disagreements == []
    assert f"{found.agreeing} pairs agree, 0 disagreements" in CliRunner().invoke(command, given).stdout


def test_a_comparison_is_kept_where_that_is_asked_for(exported: Path, tmp_path: Path):
    store = small_store(tmp_path / "store")
    given = [str(store), str(exported / "events.json"), str(exported / "lineups.json")]
    assert read_comparison(store) is None
    assert CliRunner().invoke(command, [*given, "--keep"]).exit_code == 0
    kept = read_comparison(store)
    assert kept == compare(store, "statsbomb", [exported / "events.json", exported / "lineups.json"])
    (store / FILE).write_text("{}")
    with pytest.raises(ComparisonError, match=r"comparison\.json"):
        read_comparison(store)

"""Exports read back by others' code: kloppy here, socceraction in an environment of its own (it needs an older NumPy).

``TOUCHLINE_SOCCERACTION`` names a Python that has socceraction; without it that test is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pyarrow.parquet as pq
import pytest
from kloppy import metrica, sportscode, statsbomb, tracab
from kloppy.domain import BallState, Orientation

from app.export.actions import ExportError, read_match
from app.export.formats import FORMATS, export_match
from app.export.kloppy_events import kloppy_events
from app.export.spadl import BODY_PARTS, RESULTS, TYPES
from app.tables.build import flat_tables
from app.tables.columns import TABLES
from detectors.chains.formations import SHAPES
from football.match_sheet import MatchSheet, Player
from replay.formats.tracking import read_tracking
from replay.match_store import MatchStore
from tests.app.cli.test_main import here, refusal
from tests.app.tables.small_match import S, event, small_store

#: Judges what it finds in a folder, as ``export`` has written it.
JUDGE = """
import sys, pandas as pd
from socceraction.spadl.schema import SPADLSchema
from socceraction.atomic.spadl.schema import AtomicSPADLSchema
import socceraction.spadl.config as c, socceraction.atomic.spadl.config as a
import socceraction.vaep.features as features, socceraction.xthreat as xthreat
actions, atomic = (pd.read_csv(sys.argv[1] + name) for name in ("/spadl.csv", "/atomic.csv"))
SPADLSchema.validate(actions), AtomicSPADLSchema.validate(atomic)
assert (actions.type_name == actions.type_id.map(dict(enumerate(c.actiontypes)))).all()
assert (actions.result_name == actions.result_id.map(dict(enumerate(c.results)))).all()
assert (actions.bodypart_name == actions.bodypart_id.map(dict(enumerate(c.bodyparts)))).all()
assert (atomic.type_name == atomic.type_id.map(dict(enumerate(a.actiontypes)))).all()
assert len(features.actiontype_onehot([actions])) == len(actions)
print("accepted")
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    odd = [event("pass.attempt", 30, "ball:30", "home_9", (60.0, -40.0), kick_us=30 * S)]  # from outside of the pitch
    odd += [event("clearance", 4_030, "ball:4030", "home_7", (-40.0, 3.0), to="", end_x_m=-10.0, end_y_m=34.0)]
    odd += [event("pass.attempt", 4_030, "ball:4030", "home_7", (-40.0, 3.0), kick_us=4_030 * S)]
    return small_store(tmp_path_factory.mktemp("export") / "store", odd)


@pytest.fixture(scope="module")
def exported(store, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("exported")
    for form in ("csv", "parquet", "statsbomb", "epts", "tracab"):
        export_match(store, form, out / form)
    names = {"spadl": "spadl.csv", "atomic-spadl": "atomic.csv", "kloppy": "kloppy.csv", "sportscode": "s.xml"}
    for form, name in names.items():
        assert export_match(store, form, out / name) == [out / name]
    return out


def test_every_format_is_tried_here(exported):
    assert len(list(exported.iterdir())) == len(FORMATS)


def test_spadl_plays_home_to_the_right_in_both_halves(exported):
    actions = pd.read_csv(exported / "spadl.csv").set_index("original_event_id")
    goal, saved = actions.loc["shot.attempt#ball:21"], actions.loc["shot.attempt#ball:4022"]
    assert (goal.start_x, goal.start_y) == (97.5, 36.0)
    assert (goal.type_name, goal.result_name, goal.bodypart_name) == ("shot", "success", "foot")
    assert saved.start_x == pytest.approx(92.5), "home attacks to the left in the second half, and is turned"
    kick_off, cross = actions.loc["pass.attempt#ball:10"], actions.loc["pass.attempt#ball:20"]
    assert (kick_off.type_name, kick_off.bodypart_name, kick_off.time_seconds) == ("pass", "foot_right", 0.0)
    assert (cross.type_name, cross.result_name, cross.period_id) == ("cross", "success", 1)
    own = actions[actions.result_name == "owngoal"].iloc[0]
    assert (own.type_name, own.team_id, own.start_x) == ("bad_touch", "away", pytest.approx(105.0))
    assert actions.loc["pass.attempt#ball:30"].start_x == 105.0, "a place outside of the pitch lies on its line"
    assert "pass.attempt#ball:4030" not in actions.index, "a clearance is no pass as well"
    assert list(actions.time_seconds[actions.period_id == 1]) == sorted(actions.time_seconds[actions.period_id == 1])


def test_atomic_spadl_says_what_became_of_passes_and_shots(exported):
    atomic = pd.read_csv(exported / "atomic.csv")
    kinds = Counter(atomic.type_name)
    assert (kinds["receival"], kinds["goal"], kinds["owngoal"], kinds["cross"]) == (2, 1, 1, 1)
    received = atomic[atomic.type_name == "receival"].iloc[0]
    assert (received.player_id, received.time_seconds, received.dx) == ("home_7", 1.0, 0.0)


@pytest.mark.skipif("TOUCHLINE_SOCCERACTION" not in os.environ, reason="TOUCHLINE_SOCCERACTION names no Python")
def test_socceraction_accepts_both(exported):
    command = [os.environ["TOUCHLINE_SOCCERACTION"], "-c", JUDGE, str(exported)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip().endswith("accepted"), done.stderr


def test_the_numbers_of_spadl_are_those_of_socceraction():
    """Copied from ``socceraction.spadl.config`` 1.5.3, so that a slip shows where it is not installed."""
    assert (TYPES.index("shot"), TYPES.index("dribble"), TYPES.index("goalkick"), len(TYPES)) == (11, 21, 22, 23)
    assert (RESULTS.index("owngoal"), BODY_PARTS.index("foot_right"), BODY_PARTS.index("head/other")) == (3, 5, 3)


def test_kloppy_reads_statsbombs_form(exported, store):
    folder = exported / "statsbomb"
    read = statsbomb.load(
        event_data=str(folder / "events.json"), lineup_data=str(folder / "lineups.json"), coordinates="secondspectrum"
    )
    ours = read_match(store).actions
    frame = read.to_df()
    kinds = Counter(action.kind for action in ours)
    found = Counter(frame.event_type)
    assert (found["PASS"], found["CARRY"], found["TAKE_ON"]) == (kinds["pass"], kinds["carry"], kinds["take_on"])
    assert found["SHOT"] == kinds["shot"] + kinds["own_goal"]
    assert [team.name for team in read.metadata.teams] == ["Reds", "Blues"]
    assert [period.id for period in read.metadata.periods] == [1, 2]
    goal = next(one for one in read.events if one.event_name == "shot" and one.result and one.result.name == "GOAL")
    assert goal.coordinates.x == pytest.approx(45.0, abs=0.15)
    assert goal.coordinates.y == pytest.approx(2.0, abs=0.15)
    assert goal.player.name == "Home Player 9"
    assert goal.statistics[0].value == 0.3


def test_statsbombs_form_has_possessions_and_the_formation_that_was_found(exported, store, tmp_path):
    events = json.loads((exported / "statsbomb" / "events.json").read_text(encoding="utf-8"))
    numbers = [(one["possession"], one["possession_team"]["name"]) for one in events]
    assert [number for number, _ in numbers] == sorted(number for number, _ in numbers)
    had = flat_tables(store, ("possessions",))["possessions"].to_pylist()
    assert {*numbers} <= {(row["possession"], row["team_name"]) for row in had} | {(1, "Blues")}
    assert len({*numbers}) > 2
    tackle = next(one for one in events if one["type"]["name"] == "Duel")
    assert tackle["possession_team"]["name"] == "Blues"
    assert {one["play_pattern"]["name"] for one in events} == {"From Kick Off", "Regular Play"}
    assert [one["tactics"]["formation"] for one in events if "tactics" in one] == [442, 442], "none was found"
    shaped = [
        event("formation", at_s, f"home:{at_s}", "home", variant=shape)
        for at_s, shape in ((10, "4-2-3-1"), (90, "3-5-2"))
    ]
    odd = event("formation", 11, "away:11", "away", variant="-9" * 40)
    export_match(small_store(tmp_path / "shaped", [*shaped, odd]), "statsbomb", tmp_path / "sb")
    events = json.loads((tmp_path / "sb" / "events.json").read_text(encoding="utf-8"))
    assert [one["tactics"]["formation"] for one in events if "tactics" in one] == [4231, 442]


@pytest.mark.parametrize("shape", SHAPES)
def test_kloppy_knows_every_formation_as_statsbomb_numbers_it(shape, tmp_path):
    found = [event("formation", 10, "home:10", "home", variant=shape)]
    export_match(small_store(tmp_path / "store", found, positions=False), "statsbomb", tmp_path / "sb")
    folder = tmp_path / "sb"
    read = statsbomb.load(event_data=str(folder / "events.json"), lineup_data=str(folder / "lineups.json"))
    expected = "3-4-3" if shape == "5-2-3" else shape
    assert read.metadata.teams[0].starting_formation.value == expected


def test_kloppy_reads_epts_and_tracab(exported):
    epts = metrica.load_tracking_epts(
        meta_data=str(exported / "epts" / "metadata.xml"), raw_data=str(exported / "epts" / "positions.txt")
    )
    dat = tracab.load(
        meta_data=str(exported / "tracab" / "metadata.xml"), raw_data=str(exported / "tracab" / "positions.dat"),
        coordinates="tracab", only_alive=False,
    )  # fmt: skip
    for read, unit in ((epts, 1.0), (dat, 100.0)):
        assert read.metadata.frame_rate == 25
        assert [period.id for period in read.metadata.periods] == [1, 2]
        frame = next(one for one in read if one.period.id == 2 and one.timestamp.total_seconds() == 10.0)
        home = {player.player_id: data for player, data in frame.players_data.items()}
        assert home["home_7"].coordinates.x == pytest.approx(-20.0 * unit)
        assert home["home_7"].speed == pytest.approx(1.0, abs=0.02)
        assert frame.ball_coordinates.x == pytest.approx(5.0 * unit)
        assert {player.jersey_no for player in read.metadata.teams[0].players} == {1, 7, 9}
        assert len(read) == 600, "half-time is left out, and nothing else"
    assert epts.metadata.orientation is Orientation.HOME_AWAY
    own = read_tracking(f"kloppy:metrica_epts:{exported}/epts/positions.txt:{exported}/epts/metadata.xml")
    assert [found.code for found in own.findings] == ["maker"]
    assert own.sheet.attacks_positive_x == "home"
    assert {frame.ball_state for frame in dat} == {BallState.ALIVE, BallState.DEAD}


def test_kloppy_reads_the_timeline(exported, store):
    read = sportscode.load(str(exported / "s.xml"))
    assert len(read) == len(read_match(store).actions)
    goal = next(code for code in read.codes if code.labels.get("Outcome") == "goal")
    assert goal.code == "Reds Shot"
    assert goal.labels["Player"] == "9 Home Player 9"
    assert goal.timestamp.total_seconds() == 17.0


def test_matches_of_patterns_are_clips_of_the_timeline(tmp_path):
    found = event("pattern.cross_goal", 21, "a/b", "home_9", first_us=19 * S, events=2, of="h7")
    settings = {"patterns": {"cross_goal": "PATTERN SEQ(cross c, goal.scored g) WITHIN 5 s"}}
    store = small_store(tmp_path / "store", [found], settings=settings)
    export_match(store, "sportscode", tmp_path / "s.xml")
    *_, code = sportscode.load(str(tmp_path / "s.xml")).codes
    assert (code.code, code.timestamp.total_seconds(), code.end_timestamp.total_seconds()) == (
        "Reds Pattern cross goal", 15.0, 24.0,
    )  # fmt: skip
    assert code.labels == {"Team": "Reds", "Player": "9 Home Player 9", "Event": found.id, "of": "h7"}


def test_the_data_set_of_kloppy_keeps_ids_and_places(store, exported):
    data = kloppy_events(read_match(store))
    frame = data.to_df()
    assert list(frame.event_id) == [action.id for action in read_match(store).actions]
    assert data.filter("shot.goal").events[0].coordinates.x == 45.0
    turned = data.transform(to_orientation="ACTION_EXECUTING_TEAM").filter("shot")
    assert turned.events[1].coordinates.x == 40.0, "home attacks to the left in the second half"
    assert len(pd.read_csv(exported / "kloppy.csv")) == len(frame)


def test_tables_of_both_forms_say_the_same(exported, store):
    tables = flat_tables(store)
    for name in TABLES:
        assert pq.read_table(exported / "parquet" / f"{name}.parquet").equals(tables[name])
        text = pd.read_csv(exported / "csv" / f"{name}.csv")
        assert list(text.columns) == tables[name].column_names
        assert len(text) == len(tables[name])


@pytest.fixture(scope="module")
def strict(tmp_path_factory) -> Path:
    """A foul with a card and a free kick, one with advantage, one without a place, a card for dissent, a change."""
    given = [
        event("official.foul", 30, "f:1", "away_7", variant="handball"),
        event("restart.free_kick", 60, "ball:60", "home_7", (20.0, 10.0)),
        event("official.card", 45, "c:0", "away_7", variant="yellow"),
        event("official.card", 50, "c:1", "away_7", variant="second yellow"),
        event("official.foul", 100, "f:2", "away_9"),
        event("play.dead", 105, "ball:105", variant="out", place=(30.0, 34.0)),
        event("restart.throw_in", 110, "ball:110", "home_9", (30.0, 34.0)),
        event("official.foul", 200, "f:3", "away_9"),
        event("official.foul", 205, "f:4", ""),
        event("official.card", 300, "c:2", "home_9", variant="yellow"),
        event("official.card", 301, "c:3", "home_9", variant="green"),
        event("sub.out", 310, "s:1", "home_7", (0.0, 34.0), other="home_1"),
        event("sub.out", 311, "s:2", "home_9", (0.0, 34.0)),
    ]
    return small_store(tmp_path_factory.mktemp("strict") / "store", given)


def test_a_foul_lies_where_the_free_kick_is_taken_and_carries_its_card(strict):
    ours = {a.id: a for a in read_match(strict).actions if a.kind in ("foul", "card", "substitution")}
    names = ["official.foul#f:1", "official.card#c:0", "official.foul#f:2", "official.card#c:2", "sub.out#s:1"]
    assert list(ours) == names, "a foul carries one card, its newest"
    first, advantage = ours["official.foul#f:1"], ours["official.foul#f:2"]
    assert (first.start, first.outcome, first.row["handball"], first.team) == (
        (20.0, 10.0),
        "second yellow",
        True,
        "away",
    )
    assert (advantage.start, advantage.outcome) == ((30.0, 34.0), ""), "a throw-in is not for the foul"
    assert ours["official.card#c:2"].outcome == "yellow"


def test_every_format_has_fouls_and_cards_as_it_can(strict, tmp_path):
    export_match(strict, "spadl", tmp_path / "s.csv")
    spadl = pd.read_csv(tmp_path / "s.csv").query("type_name == 'foul'")
    assert list(spadl.result_name) == ["red_card", "fail"]
    assert tuple(spadl.iloc[0][["start_x", "start_y"]]) == (72.5, 44.0)
    export_match(strict, "atomic-spadl", tmp_path / "a.csv")
    kinds = Counter(pd.read_csv(tmp_path / "a.csv").type_name)
    assert (kinds["foul"], kinds["red_card"], kinds["yellow_card"]) == (2, 1, 0)
    export_match(strict, "statsbomb", tmp_path / "sb")
    read = statsbomb.load(
        event_data=str(tmp_path / "sb" / "events.json"),
        lineup_data=str(tmp_path / "sb" / "lineups.json"),
        coordinates="secondspectrum",
    )
    # StatsBomb plays every action to the right, and the away team attacks to the left.
    for data, x_m in ((read, -20.0), (kloppy_events(read_match(strict)), 20.0)):
        events = [one for one in data.events if one.event_name in ("foul_committed", "card", "substitution")]
        listed = [
            (one.event_name, one.player.name, one.card_type.name if one.event_name == "card" else "") for one in events
        ]
        assert listed == [
            ("foul_committed", "Away Player 7", ""), ("card", "Away Player 7", "SECOND_YELLOW"),
            ("card", "Away Player 7", "FIRST_YELLOW"),
            ("foul_committed", "Away Player 9", ""), ("card", "Home Player 9", "FIRST_YELLOW"),
            ("substitution", "Home Player 7", ""),
        ]  # fmt: skip
        assert events[0].coordinates.x == pytest.approx(x_m, abs=0.15)
        assert events[-1].replacement_player.name == "Home Player 1"


def test_texts_of_anybody_stay_text(tmp_path):
    """A name may look like markup or like a formula."""
    sheet = MatchSheet(
        match_id="m", home="<b>&Reds", away="=2+3",
        players=(Player("home_9", "home", '=HYPERLINK("http://x")', 9), Player("away 1;", "away", "]]><x/>", 9)),
    )  # fmt: skip
    store = small_store(tmp_path / "store", [event("pass.attempt", 40, "b:\x01<&", "home_9", (1.0, 1.0))], sheet=sheet)
    for form in ("sportscode", "epts", "tracab", "statsbomb", "csv"):
        export_match(store, form, tmp_path / form)
    root = ElementTree.parse(tmp_path / "sportscode").getroot()
    assert "<b>&Reds Pass" in {code.text for code in root.iter("code")}
    assert "\ufffd" in "".join(text.text or "" for text in root.iter("text"))
    names = [one.text for one in ElementTree.parse(tmp_path / "epts" / "metadata.xml").getroot().iter("Name")]
    assert "]]><x/>" in names
    table = pd.read_csv(tmp_path / "csv" / "passes.csv")
    assert not table.name.dropna().str.startswith("=").any()
    read = metrica.load_tracking_epts(
        meta_data=str(tmp_path / "epts" / "metadata.xml"), raw_data=str(tmp_path / "epts" / "positions.txt")
    )
    assert len(read) == 600


def test_what_cannot_be_exported_says_why(store, tmp_path):
    with pytest.raises(ExportError, match="--to pdf: must be one of csv, parquet"):
        export_match(store, "pdf", tmp_path / "x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ExportError, match="name one that is empty"):
        export_match(store, "csv", tmp_path / "full")
    with pytest.raises(ExportError, match="spadl is one file, and this is a folder"):
        export_match(store, "spadl", tmp_path / "full")
    with pytest.raises(ExportError, match=r"a file that ends in \.parquet or \.csv"):
        export_match(store, "spadl", tmp_path / "x.txt")
    bare = small_store(tmp_path / "bare", positions=False)
    for form in ("epts", "tracab"):
        with pytest.raises(ExportError, match="no positions in this match store"):
            export_match(bare, form, tmp_path / form)
        assert not (tmp_path / form).exists()
    empty = MatchStore.create(tmp_path / "empty", MatchSheet(), {}).path
    with pytest.raises(ExportError, match="no pass, shot or other action"):
        export_match(empty, "spadl", tmp_path / "x.csv")


def test_the_command_names_the_files_and_refuses_in_one_line(store, tmp_path, capfd):
    done = here("export", str(store), "--to", "sportscode", "--out", str(tmp_path / "t.xml"))
    assert done.stdout.strip() == str(tmp_path / "t.xml")
    assert "not a match store" in refusal(
        "export", str(tmp_path), "--to", "csv", "--out", str(tmp_path / "o"), run=here
    )

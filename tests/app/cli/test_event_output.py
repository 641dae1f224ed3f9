"""``events``, ``updates`` and ``follow``: rows chosen by kind, team, player and time; lines with names for people."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from app.base.files import OutputError
from app.cli import follow as follow_command
from app.cli.events import events
from app.cli.follow import follow
from app.cli.updates import updates
from app.kafka.follow import Change
from app.kafka.updates import TopicUpdate
from app.library.lines import Names, event_line
from football.match_sheet import MatchSheet, Player
from football.tables import POSITIONS
from football.update_stream import EventRecord, UpdateRecord
from replay.event_choice import ChoiceError, make_choice
from replay.match_store import MatchStore, updates_table

SHEET = MatchSheet(
    "m1",
    "Reds",
    "Blues",
    players=(Player("h1", "home", "Ada Adler", 1), Player("h7", "home", "Bo Birk", 7), Player("a7", "away", "Cy", 7)),
)


def event(number: int, kind: str, ts_s: float, team: str, player: str) -> EventRecord:
    return EventRecord(f"{kind}#{number}", kind, "", 7, round(ts_s * 1e6), team, player, 1.5, -2.0, None, 0.9)


EVENTS = (
    event(0, "pass.attempt", 1.0, "home", "h7"),
    event(1, "pass.complete", 2.0, "home", "h7"),
    event(2, "shot.attempt", 61.5, "away", "a7"),
    event(3, "passing.time", 62.0, "home", "h1"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store") / "m1"
    rows = [UpdateRecord(seq, 1, one.ts_us + 100_000, one) for seq, one in enumerate(EVENTS)]
    rows.append(UpdateRecord(4, -1, 63_000_000, EVENTS[3]))
    tables = {"updates": updates_table(rows, 0), "positions": POSITIONS.empty_table()}
    MatchStore.create(folder, SHEET, {}).commit(0, tables, {"frontier_us": 10_000_000})
    return folder


def kinds(store: Path, capsysbinary, **options) -> list[str]:
    events(store, form="json", **options)
    return [json.loads(line)["kind"] for line in capsysbinary.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["pass.attempt", "pass.complete", "shot.attempt"]),
        ({"kind": ["pass"]}, ["pass.attempt", "pass.complete"]),
        ({"kind": ["pass.complete,shot", "hit"]}, ["pass.complete", "shot.attempt"]),
        ({"team": "home"}, ["pass.attempt", "pass.complete"]),
        ({"team": "blues"}, ["shot.attempt"]),
        ({"player": "7"}, ["pass.attempt", "pass.complete", "shot.attempt"]),
        ({"player": "7", "team": "away"}, ["shot.attempt"]),
        ({"player": "birk"}, ["pass.attempt", "pass.complete"]),
        ({"player": "a7"}, ["shot.attempt"]),
        ({"begin": "2", "end": "1:01.5"}, ["pass.complete"]),
        ({"begin": "0:01:01.5"}, ["shot.attempt"]),
    ],
)
def test_conditions_choose_events(store, capsysbinary, options, expected):
    assert kinds(store, capsysbinary, **options) == expected


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"team": "greens"}, r"there is no team greens: give home \(Reds\) or away \(Blues\)"),
        ({"player": "9"}, "there is no player 9: the match sheet has Ada Adler, Bo Birk, Cy"),
        ({"player": "1", "team": "away"}, "there is no player 1: the match sheet has Cy"),
        ({"begin": "1:00", "end": "59"}, "no event lies from 1:00 to 59"),
        ({"begin": "soon"}, "soon is no time of a match"),
        ({"kind": ["corner"]}, r"no detector emits corner; near it: restart\.corner"),
        ({"kind": ["shot.atempt"]}, r"no detector emits shot\.atempt; near it: shot\.attempt"),
    ],
)
def test_a_choice_that_no_event_can_meet_is_refused(store, options, reason):
    with pytest.raises(ChoiceError, match=reason):
        events(store, **options)


def test_lines_have_names_and_shirt_numbers(store, capsysbinary):
    events(store, form="text")
    first, *_, last = capsysbinary.readouterr().out.decode().splitlines()
    assert first.split() == [
        "0:01.000",
        "Pass",
        "attempt",
        "Reds",
        "7",
        "Bo",
        "Birk",
        "1.5,",
        "-2.0",
        "m",
        "pass.attempt#0",
    ]
    assert last.split() == [
        "1:01.500",
        "Shot",
        "Blues",
        "7",
        "Cy",
        "1.5,",
        "-2.0",
        "m",
        "shot.attempt#2",
        "(tentative)",
    ]
    updates(store, kind=["passing"], form="text")
    message = capsysbinary.readouterr().out.decode().splitlines()
    assert [line.split()[:7] for line in message] == [
        ["1:02.100", "+", "1:02.000", "Passing", "time", "Reds", "1"],
        ["1:03.000", "-", "1:02.000", "Passing", "time", "Reds", "1"],
    ]


def test_other_formats_keep_their_columns(store, capsysbinary, tmp_path):
    events(store, team="away")
    head, row = capsysbinary.readouterr().out.decode().splitlines()
    assert head.startswith("id,kind,variant,level,ts_us,team,player,x_m,y_m,state,confidence,detected_us")
    assert row.startswith("shot.attempt#2,shot.attempt,,7,61500000,away,a7,")
    events(store, team="home", form="parquet", out=tmp_path / "e.parquet")
    assert pq.read_table(tmp_path / "e.parquet")["player"].to_pylist() == ["h7", "h7"]
    with pytest.raises(OutputError, match="--format xml: must be one of text, csv, json, parquet"):
        events(store, form="xml")


def test_an_event_is_chosen_as_its_row_is(store):
    for options in ({}, {"kind": "pass"}, {"team": "away"}, {"player": 7}, {"begin": 2.0, "end": 62.0}):
        choice = make_choice(SHEET, **options)
        table = updates_table([UpdateRecord(seq, 1, 0, one) for seq, one in enumerate(EVENTS)], 0)
        assert choice.rows(table)["id"].to_pylist() == [one.id for one in EVENTS if choice.takes(one)]


def test_follow_chooses_and_names(store, capsys, monkeypatch):
    def topic(url, *, idle_s, notify):
        notify("there is no topic 'events' at b:9092: waiting for it")
        yield from (Change(TopicUpdate("m1", seq, 1, 5_000_000, one), {}, seq, 0) for seq, one in enumerate(EVENTS))

    monkeypatch.setattr(follow_command, "follow_topic", topic)
    follow("kafka://b:9092/events", kind=["pass"], names=store)
    out, err = capsys.readouterr()
    assert [line.split()[:7] for line in out.splitlines()] == [
        ["0:05.000", "+", "0:01.000", "Pass", "attempt", "Reds", "7"],
        ["0:05.000", "+", "0:02.000", "Pass", "complete", "Reds", "7"],
    ]
    assert "waiting for it" in err
    follow("kafka://b:9092/events", player="a7", as_json=True)
    assert json.loads(capsys.readouterr().out)["event"]["id"] == "shot.attempt#2"


def test_a_kind_that_nothing_has_is_named_with_its_neighbours(store, capsysbinary):
    events(store, kind=["throw_in"])
    assert "has no such event; near it: restart.throw_in" in " ".join(capsysbinary.readouterr().err.decode().split())


def test_a_line_names_the_receiver_and_has_no_negative_zero():
    row = {
        "ts_us": 1_000_000, "kind": "pass.complete", "team": "home", "player": "h7", "variant": "", "x_m": -0.04,
        "y_m": 2.0, "id": "pass.complete#1", "detail": '{"receiver": "h9"}',
    }  # fmt: skip
    line = event_line(row, Names(None))
    assert "0.0, 2.0 m" in line
    assert "-0.0" not in line
    assert line.split()[-3:] == ["to", "h9", "pass.complete#1"]

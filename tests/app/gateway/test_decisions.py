"""Feeds of other people's events: each becomes a decision once, whatever comes doubled, late, amended or deleted."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from app.base.pace import wall_us
from app.cli.main import app
from app.gateway.address import FeedError, parse_feed
from app.gateway.decisions import DecisionFeed
from app.gateway.gateway import FeedRequest, sheet_of
from app.gateway.identities import TagTable
from app.gateway.profile import GatewayProfileError, Profile, Section, Time, read_profile
from app.gateway.run import GatewayOptions, run_gateway
from app.gateway.vendor import VendorEncoder
from app.run.live import run_live
from app.settings.resolve import make_settings
from football.match_sheet import MatchSheet, Player
from replay.event_list import consolidated_events
from replay.formats.officials import FILE, DecisionFields

ZERO_US = 1_700_000_000_000_000
AT = "2023-11-14T22:13:30Z"  # ten seconds later
SHEET = MatchSheet(
    players=(
        Player("home_7", "home", shirt=7),
        Player("home_9", "home", shirt=9),
        Player("away_3", "away", shirt=3),
    )
)
PUT = "<PutDataRequest><Event EventId='{id}' EventTime='{at}'>{what}</Event></PutDataRequest>"


def feed(name: str = "decisions-json", lines: tuple[str, ...] = (), tags: Path | None = None) -> DecisionFeed:
    made = DecisionFeed("desk", read_profile(name), SHEET, ZERO_US, TagTable(tags) if tags else None)
    made.recall(lines)
    return made


def card(**more: Any) -> bytes:
    return json.dumps(
        {"id": "a1", "kind": "card", "variant": "yellow", "team": "home", "player": "home_7", "time": AT, **more}
    ).encode()


def lines_of(one: DecisionFeed, *messages: bytes, arrival_us: int = 11_000_000) -> list[DecisionFields]:
    for message in messages:
        one.receive(message, "", arrival_us)
    return one.take()


def texts(decisions: list[DecisionFields]) -> tuple[str, ...]:
    return tuple(msgspec.json.encode(one).decode() for one in decisions)


def test_a_record_becomes_a_line_with_the_time_of_its_event_and_that_of_its_message():
    (line,) = lines_of(feed(), card(version=3))
    assert (line.kind, line.variant, line.team, line.player) == ("card", "yellow", "home", "home_7")
    assert (line.at_s, line.announced_s) == (10.0, 11.0)
    assert (line.source, line.number, line.origin) == ("desk", 1, "a1@3")


def test_copies_and_older_versions_lead_to_nothing():
    one = feed()
    assert len(lines_of(one, card(version=3), card(version=3), card(version=4), card(version=2, player="home_9"))) == 1
    assert one.figures().copies == 3


def test_an_amendment_voids_the_line_before_and_a_deletion_voids_it_for_good():
    one = feed()
    first, void, second = lines_of(one, card(version=1), card(version=2, player="home_9"))
    assert void.kind == "void"
    assert void.event == f"official.card#official:desk:{first.number}"
    assert (second.player, second.number) == ("home_9", 3)
    (deletion,) = lines_of(
        one, b'{"id": "a1", "version": 3, "deleted": true}', b'{"id": "a1", "version": 3, "deleted": true}'
    )
    assert deletion.event == f"official.card#official:desk:{second.number}"
    assert lines_of(one, card(version=2)) == []  # late
    (again,) = lines_of(one, card(version=5))
    assert again.kind == "card"
    figures = one.figures()
    assert (figures.decisions, figures.amended, figures.deleted) == (3, 1, 1)


def test_a_gateway_that_goes_on_knows_what_was_passed_on():
    before = feed()
    lines = texts(lines_of(before, card(version=1), card(version=2, player="home_9"), card(id="b2")))
    after = feed(lines=(*lines, "rubbish", '{"kind": "stop"}'))
    assert lines_of(after, card(version=2, player="home_9"), card(version=1), card(id="b2")) == []
    (void,) = lines_of(after, b'{"id": "a1", "version": 3, "deleted": "true"}')
    assert (void.event, void.number) == ("official.card#official:desk:3", 5)
    assert lines_of(feed(lines=(*lines, *texts([void]))), card(version=2, player="home_9")) == []


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (card(player="home_99"), "player 'home_99': unknown tag"),
        (card(player=""), "a card needs player"),
        (card(team="referees"), "team 'referees': neither"),
        (card(player="away_3"), "player = 'away_3' is not of team home"),
        (card(kind="applause"), "kind = 'applause' is none of"),
        (card(time="soon"), "time 'soon' is no time"),
        (card(version="x"), "version 'x': no number"),
        (card(id=""), "id is missing"),
        (card(note="x" * 201), "note is too long"),
        (b"{", "not JSON"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(message: bytes, reason: str):
    one = feed()
    assert lines_of(one, message) == []
    assert one.refused_records[0].reason.startswith(reason)
    assert sum(one.figures().refused.values()) == 1


def test_a_team_that_the_record_does_not_name_is_its_players():
    assert lines_of(feed(), card(team=None))[0].team == "home"


def opta(*events: dict[str, Any]) -> bytes:
    return json.dumps(
        {"liveData": {"event": [{"contestantId": "t1", "timeStamp": AT, **one} for one in events]}}
    ).encode()


@pytest.fixture
def tags(tmp_path: Path) -> Path:
    (tmp_path / "tags.csv").write_text("tag,object\nt1,home\nt2,away\np7,home_7\np9,home_9\np3,away_3\n")
    return tmp_path / "tags.csv"


def test_opta_like_types_and_qualifiers(tags: Path):
    def qualifiers(*numbers: int) -> list[dict[str, Any]]:
        return [{"qualifierId": number} for number in numbers]

    source = feed("opta-like-events", tags=tags)
    lines = lines_of(
        source,
        opta(
            {"id": 1, "typeId": 17, "playerId": "p7", "qualifier": qualifiers(13, 33)},
            {"id": 2, "typeId": 4, "outcome": 0, "playerId": "p9", "qualifier": qualifiers(10)},
            {"id": 3, "typeId": 4, "outcome": 1, "playerId": "p9"},
            {"id": 4, "typeId": 16, "playerId": "p7", "qualifier": []},
            {"id": 5, "typeId": 16, "playerId": "p9", "qualifier": qualifiers(28)},
            {"id": 6, "typeId": 32, "periodId": 1},
            {"id": 7, "typeId": 32, "periodId": 1, "contestantId": "t2"},
            {"id": 8, "typeId": 30, "periodId": 1},
            {"id": 9, "typeId": 1, "playerId": "p9"},
        ),
    )
    assert source.figures().left_out == 2  # the foul that was won, and a pass
    assert [(one.kind, one.variant, one.team, one.player) for one in lines] == [
        ("card", "red", "home", "home_7"),
        ("foul", "handball", "home", "home_9"),
        ("goal", "", "home", "home_7"),
        ("goal", "own", "away", "home_9"),
        ("period_start", "1", "", ""),
        ("period_end", "1", "", ""),
    ]


def test_opta_like_substitutions_have_two_halves_and_a_deleted_event_takes_its_decision_back(tags: Path):
    off = {"id": 20, "eventId": 5, "typeId": 18, "playerId": "p7", "qualifier": [{"qualifierId": 55, "value": "6"}]}
    on = {"id": 21, "eventId": 6, "typeId": 19, "playerId": "p9", "qualifier": [{"qualifierId": 55, "value": "5"}]}
    one = feed("opta-like-events", tags=tags)
    assert lines_of(one, opta(off)) == []
    (line,) = lines_of(one, opta(off, on, off), opta(on))
    assert (line.kind, line.player, line.other) == ("substitution", "home_9", "home_7")
    assert one.figures().copies == 1
    (void,) = lines_of(one, opta({"id": 21, "typeId": 43, "lastModified": "2023-11-14T22:14:00Z"}))
    assert void.event == "official.substitution#official:desk:1"
    after = feed("opta-like-events", texts([line]), tags)
    assert [line.kind for line in lines_of(after, opta({"id": 20, "typeId": 43}))] == ["void"]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("<Caution CardColor='yellowRed' Team='t1' Player='p7'/>", ("card", "second yellow", "home", "home_7", "")),
        ("<Foul TeamFouler='t2' Fouler='p3'/>", ("foul", "", "away", "away_3", "")),
        ("<Substitution Team='t1' PlayerIn='p9' PlayerOut='p7'/>", ("substitution", "", "home", "home_9", "home_7")),
        ("<ShotAtGoal Team='t1' Player='p9'><SuccessfulShot/></ShotAtGoal>", ("goal", "", "home", "home_9", "")),
        ("<Offside Team='t2'/>", ("offside", "", "away", "", "")),
        ("<KickOff GameSection='secondHalf'/>", ("period_start", "2", "", "", "")),
        ("<FinalWhistle GameSection='firstHalf'/>", ("period_end", "1", "", "", "")),
    ],
)
def test_sportec_like_elements(what: str, expected: tuple[str, ...], tags: Path):
    one = feed("sportec-like-events", tags=tags)
    (line,) = lines_of(one, PUT.format(id="e1", at="2023-11-14T23:13:30+01:00", what=what).encode())
    assert (line.kind, line.variant, line.team, line.player, line.other) == expected
    assert line.at_s == 10.0
    (void,) = lines_of(one, PUT.format(id="e1", at=AT, what="<Delete/>").encode())
    assert void.event == f"official.{expected[0]}#official:desk:1"


def test_xml_with_a_document_type_is_refused():
    one = feed("sportec-like-events")
    assert lines_of(one, b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>") == []
    assert "document type" in one.refused_records[0].reason


def test_profiles_and_feeds_that_cannot_be():
    fields = {"id": "id"}
    utc = Time(unit="iso", clock="utc")
    with pytest.raises(ValueError, match="kind are missing"):
        Profile("p", "d", "json", (Section(fields),), "decisions", time=utc)
    with pytest.raises(ValueError, match="no decision is called applause"):
        Profile("p", "d", "json", (Section(fields, decision="applause"),), "decisions", time=utc)
    with pytest.raises(ValueError, match="dated by UTC"):
        Profile("p", "d", "json", (Section(fields, decision="stop"),), "decisions")
    profile = read_profile("decisions-json")
    with pytest.raises(GatewayProfileError, match="gives decisions"):
        VendorEncoder(profile, SHEET, ZERO_US)
    with pytest.raises(GatewayProfileError, match="no decisions"):
        feed("json-lines")
    with pytest.raises(FeedError, match="no feed of positions"):
        sheet_of(SHEET, [profile])


def test_check_shows_what_each_record_becomes(tmp_path: Path, tags: Path):
    sample = tmp_path / "sample.xml"
    sample.write_text(PUT.format(id="e1", at=AT, what="<Caution CardColor='red' Team='t1' Player='p7'/>"))
    checked = ["gateway", "check", "sportec-like-events", str(sample), "--tags", str(tags)]
    result = CliRunner().invoke(app, checked)
    assert result.exit_code == 0, result.output
    assert '"kind":"card","variant":"red","team":"home","player":"home_7"' in result.output
    assert json.loads(CliRunner().invoke(app, [*checked, "--json"]).output)["measurements"] == 1
    sample.write_text(PUT.format(id="e1", at=AT, what="<Caution CardColor='red' Team='t3' Player='p7'/>"))
    result = CliRunner().invoke(app, checked)
    assert result.exit_code == 1
    assert "refused: team 't3'" in result.output


def test_positions_and_decisions_of_one_match_through_gateway_and_engine(tmp_path: Path):
    began = datetime.now(UTC)
    (tmp_path / "positions.jsonl").write_bytes(
        b"".join(
            json.dumps({"id": name, "t_us": 40_000 * i, "x_m": x + 0.01 * i, "y_m": 1.0}).encode() + b"\n"
            for i in range(75)
            for name, x in (("home_7", 1.0), ("home_9", 5.0), ("away_3", 9.0), ("ball", 0.0))
        )
    )
    at = (began - timedelta(seconds=1)).isoformat()
    (tmp_path / "decisions.jsonl").write_bytes(
        b"\n".join(
            [
                card(time=at, version=1), card(time=at, version=1),
                card(id="b2", kind="foul", variant="", time=at, player="away_3", team="away"),
                card(time=at, version=2, player="home_9"),
                b'{"id": "b2", "version": 1, "deleted": true}',
                card(id="c3", time=at, player="nobody"), b"",
            ]
        )
    )  # fmt: skip
    feeds = (
        f"file:{tmp_path}/positions.jsonl?profile=json-lines",
        f"file:{tmp_path}/decisions.jsonl?profile=decisions-json",
    )
    requests = tuple(FeedRequest(parse_feed(url)) for url in feeds)
    folder = tmp_path / "capture"
    figures = run_gateway(GatewayOptions(requests, SHEET, folder, end_after_us=1_500_000))
    assert figures.decisions[requests[1].address.label].feed.amended == 1
    assert figures.now_us < wall_us()
    assert len((folder / FILE).read_bytes().splitlines()) == 5
    store = tmp_path / "store"
    given = {"source": str(folder), "engine": "inprocess", "speed": "max", "store": store, "dashboard": False,
             "camera": False}  # fmt: skip
    run_live(make_settings(given), as_json=True)
    reasons = pq.read_table(store / "quarantine")["reason"].to_pylist()
    assert [reason.partition(":")[0] for reason in reasons] == ["player 'nobody'"]
    found = consolidated_events(store)
    events = [
        (kind, player)
        for kind, player in zip(found["kind"].to_pylist(), found["player"].to_pylist(), strict=True)
        if kind.startswith("official.") and kind != "official.void"
    ]
    assert events == [("official.card", "home_9")]

"""13.5 and 13.7 on hand-made causes: the state of the game, entries into the attacking third and the area."""

from __future__ import annotations

import msgspec
import pytest

from detectors.chains.entries import VARIANTS, Entry, strip_of
from detectors.chains.game_state import StateOfPlay
from football.match_sheet import MatchSheet
from middleware.events import Event
from tests.detectors.chains.test_chains import about, shown, standing
from tests.detectors.scene import fold

SHEET = MatchSheet()


def goal(at_s: float, who: str, kind: str = "goal.scored") -> Event:
    return about(kind, at_s, who, since_us=round(at_s * 1e6) - 100_000)


def disallowed(at_s: float, of: Event, *, withdrawn: bool = False) -> Event:
    event = about("goal.disallowed", at_s, of.payload.team, goal=of.id)
    event = msgspec.structs.replace(event, id=f"goal.disallowed#{of.source}", source=of.source)
    return msgspec.structs.replace(event, annuls=event.id if withdrawn else of.id)


def scores(*events: Event) -> list[tuple[str, str, int, int]]:
    """Variant, team and score of the states that stand."""
    out = standing([StateOfPlay()], *events)
    return [(e.payload.variant, e.payload.team, e.payload.detail["home"], e.payload.detail["away"]) for e in out]


ONE, TWO, THREE = goal(10, "home_9"), goal(20, "away_9", "goal.own"), goal(30, "away_7")


def test_each_goal_makes_a_state():
    assert scores(ONE, TWO, THREE, goal(40, "away_9")) == [
        ("lead1", "home", 1, 0), ("level", "away", 1, 1), ("lead1", "away", 1, 2), ("lead2+", "away", 1, 3),
    ]  # fmt: skip


def test_a_disallowed_goal_takes_its_state_along_and_amends_later_ones():
    assert scores(ONE, TWO, disallowed(25, TWO)) == [("lead1", "home", 1, 0)]
    assert scores(ONE, TWO, disallowed(35, ONE)) == [("lead1", "away", 0, 1)]


def test_a_goal_stands_again_when_its_verdict_is_withdrawn():
    assert scores(ONE, TWO, disallowed(25, TWO), disallowed(28, TWO, withdrawn=True)) == scores(ONE, TWO)


def test_a_goal_that_is_withdrawn_by_its_own_detector_is_none():
    void = msgspec.structs.replace(ONE, ts_us=15_000_000, seq=1, annuls=ONE.id, dated_us=ONE.ts_us)
    assert scores(ONE, void, TWO) == [("lead1", "away", 0, 1)]


def test_players_sent_off_make_a_state_for_each_team_and_a_wrong_suspicion_none():
    off = about("sendoff.suspected", 50, "away_5", since_us=40_000_000)
    back = msgspec.structs.replace(off, ts_us=70_000_000, seq=1, annuls=off.id, dated_us=off.ts_us)
    assert sorted(scores(off)) == [("down", "away", 0, 1), ("up", "home", 0, 1)]
    even = scores(off, about("sendoff.suspected", 60, "home_5"))[2:]
    assert sorted(even) == [("level", "away", 1, 1), ("level", "home", 1, 1)]
    assert scores(off, back) == []


def test_a_state_that_changes_twice_within_an_instant_has_an_order_of_versions():
    off = [about("sendoff.suspected", 50.0 + n, f"away_{n}", since_us=40_000_000) for n in range(3)]
    back = [msgspec.structs.replace(e, ts_us=70_000_000, seq=1, annuls=e.id, dated_us=e.ts_us) for e in off]
    out = fold(StateOfPlay(), [*off, *back])
    assert len({(e.kind, e.ts_us, e.source, e.seq) for e in out}) == len(out)
    assert scores(*off, *back[:2]) == scores(off[2])
    assert scores(*off, *back) == []


def enters(at_s: float, area: str, y_m: float = 0.0, kind: str = "area.enter") -> Event:
    event = about(kind, at_s, "", (20.0, y_m), area)
    return msgspec.structs.replace(event, source=f"ball:{at_s}/{area}", id=f"{kind}#ball:{at_s}/{area}")


def hit(at_s: float, who: str) -> Event:
    return about("hit", at_s, who)


def entries(*events: Event, attacks: str = "home") -> list[tuple[str, str, float, str]]:
    out = standing([Entry(SHEET)], about("direction", 0.0, attacks), *events)
    return [(e.payload.variant, e.payload.player, e.ts_us / 1e6, e.payload.detail["how"]) for e in out]


THIRD, BOX = enters(2.0, "right third", 10.0), enters(2.5, "right penalty area", 15.0)


def test_a_pass_and_a_carry_into_a_zone_are_entries_dated_at_the_entrance():
    assert entries(hit(1, "home_6"), THIRD, hit(3, "home_9")) == [("third, left half-space", "home_6", 2.0, "pass")]
    assert entries(hit(1, "home_6"), THIRD, hit(3, "home_6"))[0][3] == "carry"
    assert [v for v, *_ in entries(hit(1, "home_6"), THIRD, BOX, hit(3, "home_9"))] == [
        "third, left half-space", "box, left half-space",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "events",
    [
        (hit(1, "home_6"), THIRD, hit(3, "away_4")),
        (hit(1, "away_6"), THIRD, hit(3, "away_4")),
        (hit(1, "home_6"), THIRD, enters(2.7, "right third", kind="area.leave"), hit(3, "home_9")),
        (hit(1, "home_6"), THIRD, about("play.dead", 2.8, variant="stop"), hit(3, "home_9")),
        (THIRD, hit(3, "home_9")),
        (hit(1, "home_6"), enters(2.0, "left third"), hit(3, "home_9")),
    ],
    ids=["lost", "the defenders'", "flew through", "dead", "after no contact", "the own third"],
)
def test_what_is_no_entry(events):
    assert entries(*events) == []


def test_lanes_are_those_of_the_attack():
    assert [strip_of(y) for y in (34.0, 15.0, 9.0, -15.0, -34.0)] == [
        "left wing", "left half-space", "centre lane", "right half-space", "right wing",
    ]  # fmt: skip
    left = [hit(1, "away_6"), enters(2.0, "left third", -30.0), hit(3, "away_9")]
    assert entries(*left)[0][0] == "third, left wing"
    assert len(VARIANTS) == 8


def test_a_restart_counts_as_a_contact_though_play_is_known_to_be_live_later():
    corner = about("chain.start", 1.0, "home_11", began="corner")
    out = entries(about("play.dead", 0.5, variant="goal line"), corner, BOX, hit(3, "home_9"))
    assert out == [("box, left half-space", "home_11", 2.5, "pass")]
    assert shown([corner])


def test_who_brings_the_ball_to_the_corner_enters_nothing():
    dead, corner = about("play.dead", 0.5, variant="goal line"), about("chain.start", 4.0, "home_11", began="corner")
    brought = [dead, hit(1, "home_11"), THIRD, hit(3, "home_11"), corner, hit(4.01, "home_11"), hit(6, "home_9")]
    assert entries(*brought) == []
    box = enters(5.0, "right penalty area", 15.0)
    assert [v for v, *_ in entries(*brought[:-1], box, brought[-1])] == ["box, left half-space"]
    unseen = [dead, hit(1, "home_11"), about("play.live", 2.5), hit(3, "home_6"), box, hit(6, "home_9")]
    assert [who for _, who, *_ in entries(*unseen)] == ["home_6"], "a restart that nobody saw"

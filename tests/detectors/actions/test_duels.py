"""6.8, 7.12, 7.13: duels, take-ons and tackles on hand-made frames and contacts."""

from __future__ import annotations

import pytest

from detectors.actions.duels import Duel
from detectors.emission import make_event
from detectors.outcomes.contests import Tackle, TakeOn
from football.match_sheet import Team
from football.payloads import BallState, BodyState, EventPayload, build_frame
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors.scene import fold

Row = tuple[str, str, str, object, float]


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(kind: str, at_s: float, player: str = "", variant: str = "", **detail: object) -> Event:
    payload = EventPayload(
        variant, team(player), player, 0.0, 0.0, 0.1, detail={"speed_before_m_s": 3.0, "speed_after_m_s": 5.0, **detail}
    )
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def look(at_s: float, ball_m: float | None = 0.0, speed_m_s: float = 0.0, z_m: float = 0.1, **players: float) -> Event:
    """Ball and players on the x axis; home players run at ``speed_m_s``, as the ball does."""
    bodies = tuple(
        BodyState(n, team(n), "", x, 0.0, 0.0, speed_m_s if team(n) == "home" else 0.0, 0.0)
        for n, x in sorted(players.items())
    )
    ball = None if ball_m is None else BallState(ball_m, 0.0, z_m, speed_m_s, 0.0, 0.0, 40_000)
    return Event("frame", round(at_s * 1e6), "frame", round(at_s * 1e6), build_frame(ball, bodies))


def rows(events: list[Event]) -> list[Row]:
    """Kind, variant, player, opponent and the time that it is dated at."""
    found = [(e, e.dated_us if e.dated_us is not None else e.ts_us) for e in events]
    return [(e.kind, e.payload.variant, e.payload.player, e.payload.detail["other"], at / 1e6) for e, at in found]


#: home_9 has had the ball for a moment; away_4 is beside it and plays it.
HAS = [about("hit", 0.2, "home_9"), about("hit", 0.9, "home_9")]
AT_IT = look(1.0, 0.3, home_9=0.0, away_4=0.9)
TAKES = about("hit", 1.1, "away_4")
LATER = look(2.2, 3.0, home_9=0.0, away_4=2.8)
GROUND = [("duel.start", "ground", "home_9", "away_4", 1.1), ("duel.end", "ground", "away_4", "home_9", 1.1)]


def duels(*causes: Event) -> list[Row]:
    return rows(fold(Duel(), causes))


@pytest.mark.parametrize(
    "known",
    [LATER, about("hit", 1.4, "away_5"), about("hit", 1.4, "away_4"), about("phase.dead", 1.4),
     about("hit", 1.6, "home_8")],
    ids=["nobody plays it", "a mate plays it", "himself", "it is out", "the others a moment later"],
)  # fmt: skip
def test_an_opponent_who_plays_the_ball_of_the_player_who_has_it_has_won_a_duel(known: Event) -> None:
    emitted = fold(Duel(), [*HAS, AT_IT, TAKES, known])
    assert rows(emitted) == GROUND
    assert [e.payload.team for e in emitted] == ["home", "away"]
    assert emitted[0].id in emitted[1].causes
    assert emitted[1].payload.detail["carrier"] == "home_9"


@pytest.mark.parametrize(
    "causes",
    [
        [*HAS, AT_IT],
        [*HAS, AT_IT, TAKES],
        [*HAS, AT_IT, TAKES, about("hit", 1.4, "home_8"), LATER],
        [*HAS, AT_IT, about("hit", 1.1, "home_8"), LATER],
        [*HAS[1:], AT_IT, TAKES, LATER],
        [*HAS, AT_IT, about("phase.dead", 1.05), TAKES, LATER],
        [*HAS, AT_IT, about("hit", 1.1, "away_4", speed_before_m_s=12.0), LATER],
        [*HAS, AT_IT, about("hit", 1.1, "away_4", speed_after_m_s=13.0), LATER],
        [HAS[0], about("hit", 0.9, "home_9", speed_after_m_s=12.0), AT_IT, TAKES, LATER],
        [*HAS, look(1.0, 4.0, home_9=0.0, away_4=4.2), TAKES, LATER],
        [*HAS, look(1.0, None, home_9=0.0, away_4=1.0), TAKES, LATER],
        [*HAS, look(1.0, 0.3, home_9=0.0), TAKES, LATER],
        [*HAS, look(3.0, 0.3, home_9=0.0, away_4=0.9), about("hit", 3.1, "away_4"), look(4.2, 1.0, away_4=1.0)],
    ],
    ids=["near only", "not known yet", "the others have it at once", "a mate", "only hit by it", "dead", "a block",
         "kicked away", "passed before", "out of his reach", "no ball", "not seen", "long ago"],
)  # fmt: skip
def test_no_duel(causes: list[Event]) -> None:
    assert duels(*causes) == []


def test_without_limbs_a_duel_is_likely_if_a_leg_is_stretched_for_a_ball_that_was_played_twice() -> None:
    for causes, distance_m, number in ((HAS, 0.8, 2), (HAS, 0.05, 0), (HAS[:1], 0.8, 0)):
        takes = about("hit", 1.1, "away_4", distance_m=distance_m)
        assert len(fold(Duel(limbs=False), [*causes, AT_IT, takes, LATER])) == number
        assert len(fold(Duel(), [*causes, AT_IT, takes, LATER])) == 2


def test_the_ball_cannot_be_taken_from_who_has_only_poked_it_or_was_hit_by_it() -> None:
    poked, taken_back = look(2.2, 0.3, home_9=0.9, away_4=0.0), about("hit", 2.3, "home_9")
    end = look(3.5, 3.0, home_9=3.0, away_4=0.0)
    assert duels(*HAS, AT_IT, TAKES, poked, taken_back, end) == GROUND
    controlled = about("hit", 1.6, "away_4")
    assert len(duels(*HAS, AT_IT, TAKES, controlled, poked, taken_back, end)) == 4
    struck = [about("hit", 0.3, "home_9"), about("deflection", 0.3, "home_9")]
    assert duels(*struck, AT_IT, TAKES, LATER) == []
    again = about("hit", 0.6, "home_9"), about("hit", 0.8, "home_9")
    assert duels(*struck, *again, AT_IT, TAKES, LATER) == GROUND, "he has got hold of it"
    assert duels(struck[0], about("deflection", 0.3, "home_8"), AT_IT, TAKES, LATER) == GROUND, "another one's"


def test_with_limbs_who_has_touched_the_ball_once_is_tackled_if_it_is_poked_from_him() -> None:
    for touched_s, after_m_s, number in ((0.3, 5.0, 2), (0.3, 2.0, 0), (0.6, 5.0, 0)):
        once, takes = about("hit", touched_s, "home_9"), about("hit", 1.1, "away_4", speed_after_m_s=after_m_s)
        assert len(duels(once, AT_IT, takes, LATER)) == number
        assert len(duels(once, about("hit", 0.9, "home_9"), AT_IT, takes, LATER)) == 2


def test_two_opponents_who_run_for_a_loose_ball_are_in_a_duel_once_in_a_scramble() -> None:
    def go(at_s: float, speed_m_s: float, away_x_m: float = 0.2) -> Event:
        places = {"home_9": (0.7, -speed_m_s), "away_4": (away_x_m, speed_m_s)}
        players = tuple(BodyState(n, team(n), "", x, 0.0, 0.0, v, 0.0) for n, (x, v) in sorted(places.items()))
        ball = BallState(0.3, 0.0, 0.1, 1.0, 0.0, 0.0, 40_000)
        return Event("frame", round(at_s * 1e6), "frame", 1, build_frame(ball, players))

    other, taken = about("hit", 0.9, "home_6"), about("hit", 3.1, "away_4")
    assert duels(other, go(3.0, 5.0), taken) == [
        ("duel.start", "loose", "away_4", "home_9", 3.1),
        ("duel.end", "loose", "away_4", "home_9", 3.1),
    ]
    assert duels(other, go(2.6, 5.0), go(3.0, 1.0), taken) == duels(other, go(3.0, 5.0), taken), "they brake at it"
    assert duels(other, go(1.9, 5.0), go(3.0, 1.0), taken) == [], "they have walked since"
    assert duels(other, go(3.0, 1.0), taken) == [], "they walk"
    alone = go(2.7, 5.0, away_x_m=2.0)
    assert duels(other, alone, go(3.0, 5.0), about("hit", 3.1, "home_9")) == [], "he was there before"
    passed = about("hit", 0.9, "home_6", speed_after_m_s=12.0)
    assert duels(passed, go(3.0, 5.0), taken) == [], "it was passed to somebody"
    assert duels(about("hit", 2.9, "home_6"), go(3.0, 5.0), taken) == [], "it has just been played"
    assert len(duels(about("hit", 0.9, "home_9"), go(3.0, 5.0), taken)) == 2, "one of them has lost it"
    assert duels(other, go(3.0, 5.0), about("hit", 3.1, "away_4", speed_before_m_s=9.0)) == [], "it is under way"
    assert duels(other, go(3.0, 5.0), about("hit", 3.1, "home_6")) == [], "neither plays it"
    assert len(duels(other, go(3.0, 5.0), taken, go(4.8, 5.0), about("hit", 4.9, "home_9"))) == 2, "one scramble"


# -- 7.13 --------------------------------------------------------------------------------------------------------


def duel_end(winner: str, other: str, carrier: str, variant: str = "ground", **detail: float) -> Event:
    """The end of a duel at 1.5 s that is known at 2.0 s."""
    more = {"other": other, "carrier": carrier, "speed_m_s": 4.0, "ahead_m": 0.6, **detail}
    payload = EventPayload(variant, team(winner), winner, 0.0, 0.0, 0.1, detail=more)
    return make_event("duel.end", 2_000_000, "duel", payload, dated_us=1_500_000)


TACKLED = duel_end("away_4", "home_9", "home_9")
TACKLE_INPUTS = ("hit", "touch", "phase.dead", "duel.end")
TOUCH = about("hit", 1.5, "away_4")


def tackles(*causes: Event) -> list[tuple[str, str, int]]:
    fold(Tackle(), causes)
    return [(e.kind, e.payload.player, e.ts_us) for e in published(Hierarchy(TACKLE_INPUTS, [Tackle()]), causes)]


@pytest.mark.parametrize(
    "after",
    [[], [about("hit", 3.0, "away_5")], [about("hit", 3.0, "away_4")], [about("phase.dead", 3.0)],
     [about("phase.dead", 3.0), about("hit", 5.0, "home_8")], [about("hit", 9.0, "home_8")],
     [about("hit", 1.8, "away_5"), about("hit", 3.0, "home_8")]],
    ids=["nobody", "a mate", "himself", "out", "the others after a stoppage", "the others long after", "a mate before"],
)  # fmt: skip
def test_a_tackle_is_won_unless_the_other_team_plays_the_ball_next(after: list[Event]) -> None:
    assert tackles(TOUCH, TACKLED, *after) == [("tackle.won", "away_4", 1_500_000)]


def test_a_tackle_after_which_the_other_team_plays_the_ball_is_lost() -> None:
    assert tackles(TOUCH, TACKLED, about("hit", 3.0, "home_8")) == [("tackle.lost", "away_4", 1_500_000)]


def test_a_tackle_into_touch_is_won_whoever_throws_in() -> None:
    out = about("phase.dead", 2.0)
    assert tackles(TOUCH, out, TACKLED, about("hit", 5.0, "home_8")) == [("tackle.won", "away_4", 1_500_000)]


def test_a_loose_ball_and_an_opponent_who_was_passed_are_no_tackles() -> None:
    assert tackles(duel_end("away_4", "home_9", "", "loose")) == []
    assert tackles(duel_end("home_9", "away_4", "home_9", ahead_m=-0.5)) == []


# -- 7.12, and duels that who has the ball wins --------------------------------------------------------------------


def takeons(*causes: Event) -> list[tuple[str, str, Team, object]]:
    return [(e.kind, e.payload.player, e.payload.team, e.payload.detail["other"]) for e in fold(TakeOn(), causes)]


def test_a_duel_says_whether_a_take_on_was_won_or_lost() -> None:
    assert takeons(duel_end("home_9", "away_4", "home_9", ahead_m=-0.5)) == [("takeon.won", "home_9", "home", "away_4")]
    assert takeons(TACKLED) == [("takeon.lost", "home_9", "home", "away_4")]
    assert takeons(duel_end("away_4", "home_9", "home_9", speed_m_s=1.0)) == [], "he stood"
    assert takeons(duel_end("away_4", "home_9", "home_9", ahead_m=-0.4)) == [], "tackled from behind"
    assert takeons(duel_end("away_4", "home_9", "", "loose")) == []


def dribble(seconds: float, speed_m_s: float = 5.0, ball_m: float = 0.4, rival_m: float = 3.0) -> list[Event]:
    """home_9 runs from 0 past an opponent who stands at ``rival_m``."""
    times = [0.1 * i for i in range(round(seconds / 0.1))]
    return [look(1 + t, speed_m_s * t + ball_m, speed_m_s, home_9=speed_m_s * t, away_4=rival_m) for t in times]


def along(seconds: float) -> list[Event]:
    """home_9 gets past an opponent who runs along and stays beside him."""
    times = [0.1 * i for i in range(round(seconds / 0.1))]
    return [look(1 + t, 5.0 * t + 0.4, 5.0, home_9=5.0 * t, away_4=0.6 + 4.2 * t) for t in times]


def past(aside_m: float) -> list[Event]:
    """home_9 runs past an opponent at 3 m who is so far to the side; the ball is between them."""
    frames = []
    for i in range(15):
        rival = BodyState("away_4", "away", "", 3.0, aside_m, 0.0, 0.0, 0.0)
        runner = BodyState("home_9", "home", "", 0.5 * i, 0.0, 0.0, 5.0, 0.0)
        ball = BallState(0.5 * i + 0.4, 0.4 * aside_m, 0.1, 5.0, 0.0, 0.0, 40_000)
        frames.append(Event("frame", 1_000_000 + 100_000 * i, "frame", i, build_frame(ball, (rival, runner))))
    return frames


def test_who_is_passed_was_near() -> None:
    assert len(duels(*HAS, *past(0.6))) == 2
    assert duels(*HAS, *past(1.05)) == [], "he was avoided"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_who_runs_past_an_opponent_and_keeps_the_ball_has_won_a_duel(sign: float) -> None:
    run = [
        look(1 + 0.1 * i, sign * (0.5 * i + 0.4), sign * 5.0, home_9=sign * 0.5 * i, away_4=sign * 3.0)
        for i in range(15)
    ]
    emitted = fold(Duel(), [*HAS, *run])
    assert [row[:4] for row in rows(emitted)] == [
        ("duel.start", "ground", "home_9", "away_4"),
        ("duel.end", "ground", "home_9", "away_4"),
    ]
    assert 1.65 < rows(emitted)[0][4] < 1.75
    assert takeons(emitted[1])[0][0] == "takeon.won"


@pytest.mark.parametrize(
    "causes",
    [
        [*HAS, *dribble(4.0, speed_m_s=1.0)],
        [*HAS, *dribble(1.5, ball_m=3.0)],
        [*HAS, *along(2.5)],
        [*HAS, *dribble(1.5, rival_m=9.0)],
        [*HAS, *dribble(0.6)],
        [*HAS, *dribble(0.9), about("hit", 1.9, "away_4"), *dribble(1.5)[9:]],
        [HAS[0], about("hit", 0.9, "home_9", speed_after_m_s=15.0), *dribble(1.5)],
        [*HAS, about("phase.dead", 0.95), *dribble(1.5)],
        dribble(1.5),
    ],
    ids=["walks", "without the ball", "he runs along", "far", "not past him", "loses it", "kicked", "dead",
         "nobody's ball"],
)  # fmt: skip
def test_nobody_is_passed(causes: list[Event]) -> None:
    assert [row for row in duels(*causes) if row[0] == "duel.end" and row[2] == "home_9"] == []

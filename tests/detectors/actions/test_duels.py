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

Row = tuple[str, str, str, object]


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(kind: str, at_s: float, player: str = "", variant: str = "", **detail: object) -> Event:
    payload = EventPayload(variant, team(player), player, 0.0, 0.0, 0.1, detail={"speed_before_m_s": 3.0, **detail})
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
    return [(e.kind, e.payload.variant, e.payload.player, e.payload.detail.get("other")) for e in events]


HAS = about("hit", 0.9, "home_9")


AT_IT = look(1.0, 0.3, home_9=0.0, away_4=1.5)
TAKES = about("hit", 1.1, "away_4")
BOTH_GO = look(1.0, 0.3, 2.0, home_9=-0.5, away_4=1.5)


def duels(*causes: Event) -> list[Row]:
    return rows(fold(Duel(), causes))


def test_an_opponent_who_plays_the_ball_of_the_player_who_has_it_has_won_a_duel() -> None:
    emitted = fold(Duel(), [HAS, AT_IT, TAKES])
    assert rows(emitted) == [
        ("duel.start", "ground", "home_9", "away_4"),
        ("duel.end", "ground", "away_4", "home_9"),
    ]
    assert [(e.payload.team, e.ts_us) for e in emitted] == [("home", 1_100_000), ("away", 1_100_000)]
    assert emitted[0].id in emitted[1].causes


def test_who_lost_the_ball_may_win_it_back() -> None:
    back = about("hit", 1.3, "home_9")
    assert [row[2] for row in duels(HAS, AT_IT, TAKES, back) if row[0] == "duel.end"] == ["away_4", "home_9"]


def test_a_third_who_is_nearer_for_a_moment_changes_nothing() -> None:
    third = [look(1.2, 0.3, home_9=0.0, away_4=2.0, home_8=1.0), look(1.35, 0.3, home_9=0.0, away_4=2.0)]
    assert len(duels(HAS, AT_IT, *third, about("hit", 1.4, "away_4"))) == 2


@pytest.mark.parametrize(
    "causes",
    [
        [HAS, AT_IT],
        [HAS, AT_IT, about("hit", 1.1, "home_9")],
        [HAS, AT_IT, about("hit", 1.1, "home_8")],
        [HAS, AT_IT, about("phase.dead", 1.05), TAKES],
        [HAS, AT_IT, about("hit", 1.1, "away_4", speed_before_m_s=12.0)],
        [HAS, AT_IT, look(1.2, 0.3, home_9=0.0, away_4=4.0), about("hit", 1.3, "away_4")],
        [HAS, AT_IT, look(1.2, 0.3, home_9=0.0), about("hit", 1.3, "away_4")],
        [HAS, AT_IT, *[look(1.2 + 0.1 * i, 0.3, home_9=0.0, away_4=2.0, home_8=1.0) for i in range(5)],
         about("hit", 1.7, "away_4")],
        [HAS, look(1.0, 0.3, home_9=0.0, away_4=3.4), TAKES],
        [HAS, look(1.0, None, home_9=0.0, away_4=1.0), TAKES],
        [HAS, look(1.0, 0.3, home_9=0.0, home_8=1.0, away_4=2.0), TAKES],
        [HAS, look(1.0, 0.3, z_m=2.0, home_9=0.0, away_4=1.5), TAKES],
    ],
    ids=["near only", "plays on", "a third plays it", "dead", "a block", "one goes away", "one is not seen any more",
         "a third is nearer", "far", "no ball", "a mate is nearer", "a high ball"],
)  # fmt: skip
def test_no_duel(causes: list[Event]) -> None:
    assert duels(*causes) == []


OTHER = about("hit", 0.9, "home_6")


def test_two_opponents_who_go_for_a_loose_ball_are_in_a_duel_once_in_a_scramble() -> None:
    away = look(1.0, 0.3, home_9=1.6, away_4=-1.0, home_6=20.0)
    bodies = {"home_9": (1.6, -2.0), "away_4": (-1.0, 2.0)}
    players = tuple(BodyState(n, team(n), "", x, 0.0, 0.0, v, 0.0) for n, (x, v) in sorted(bodies.items()))
    go = Event("frame", 1_000_000, "frame", 1, build_frame(BallState(0.3, 0.0, 0.1, 1.0, 0.0, 0.0, 40_000), players))
    taken = about("hit", 1.1, "away_4")
    assert duels(OTHER, go, taken) == [
        ("duel.start", "loose", "away_4", "home_9"),
        ("duel.end", "loose", "away_4", "home_9"),
    ]
    assert duels(OTHER, away, taken) == [], "they stand"
    assert duels(OTHER, go, about("hit", 1.1, "away_4", speed_before_m_s=9.0)) == [], "it is under way to a player"
    passed = about("kick.released", 0.95, "home_6")
    assert duels(OTHER, passed, go, about("hit", 1.1, "away_4", speed_before_m_s=5.0)) == [], "a pass"
    assert len(duels(OTHER, passed, go, taken)) == 2, "the pass has come to its end"


# -- 7.13 --------------------------------------------------------------------------------------------------------

TACKLED = about("duel.end", 1.5, "away_4", "ground", other="home_9")
TACKLE_INPUTS = ("duel.end", "possession.gain", "play.dead")


def tackles(*causes: Event) -> list[tuple[str, str, int]]:
    fold(Tackle(), causes)
    return [(e.kind, e.payload.player, e.ts_us) for e in published(Hierarchy(TACKLE_INPUTS, [Tackle()]), causes)]


def test_who_plays_the_ball_of_his_rival_has_tackled_him() -> None:
    gain = about("possession.gain", 1.5, "away_4", "hit")
    assert tackles(TACKLED, gain) == [("tackle.won", "away_4", 1_500_000)]
    mate = about("possession.gain", 1.6, "away_5", "hit")
    assert tackles(TACKLED, gain, mate) == [("tackle.won", "away_4", 1_500_000)]


def test_a_tackle_after_which_the_ball_is_at_once_the_others_again_or_soon_dead_is_lost() -> None:
    again, dead = about("possession.gain", 1.7, "home_8", "hit"), about("play.dead", 2.3)
    assert tackles(TACKLED, again) == [("tackle.lost", "away_4", 1_500_000)]
    assert tackles(TACKLED, dead) == [("tackle.lost", "away_4", 1_500_000)]
    later = about("possession.gain", 1.9, "home_8", "hit"), about("play.dead", 2.6)
    for end in later:
        assert tackles(TACKLED, end) == [("tackle.won", "away_4", 1_500_000)]


def test_the_tackled_one_may_tackle_back() -> None:
    back = about("duel.end", 2.0, "home_9", "ground", other="away_4")
    assert [row[:2] for row in tackles(TACKLED, back)] == [("tackle.won", "away_4"), ("tackle.won", "home_9")]


def test_a_duel_for_a_loose_ball_is_no_tackle() -> None:
    assert tackles(about("duel.end", 1.5, "away_4", "loose", other="home_9")) == []


# -- 7.12 --------------------------------------------------------------------------------------------------------

GAIN = about("possession.gain", 0.9, "home_9", "hit")


def dribble(seconds: float, speed_m_s: float = 5.0, ball_m: float = 0.4, rival_m: float = 3.0) -> list[Event]:
    """home_9 runs from 0 past an opponent who stands at ``rival_m``."""
    times = [0.04 * i for i in range(round(seconds / 0.04))]
    return [look(1 + t, speed_m_s * t + ball_m, speed_m_s, home_9=speed_m_s * t, away_4=rival_m) for t in times]


def takeons(*causes: Event) -> list[tuple[str, str, object, bool]]:
    return [(e.kind, e.payload.player, e.payload.detail["other"], bool(e.annuls)) for e in fold(TakeOn(), causes)]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_who_runs_past_an_opponent_in_front_of_him_has_won(sign: float) -> None:
    run = [
        look(1 + 0.04 * i, sign * (0.2 * i + 0.4), sign * 5.0, home_9=sign * 0.2 * i, away_4=sign * 3.0)
        for i in range(30)
    ]
    assert takeons(GAIN, *run) == [("takeon.won", "home_9", "away_4", False)]


def test_an_opponent_in_front_who_gets_the_ball_has_won_it() -> None:
    gained = about("possession.gain", 1.5, "away_4", "hit")
    assert takeons(GAIN, *dribble(0.4), gained) == [("takeon.lost", "home_9", "away_4", False)]


def test_who_loses_the_ball_to_the_one_he_passed_has_lost_after_all() -> None:
    gained = about("possession.gain", 2.2, "away_4", "touch")
    assert takeons(GAIN, *dribble(1.1), gained) == [
        ("takeon.won", "home_9", "away_4", False),
        ("takeon.lost", "home_9", "away_4", True),
    ]
    late = about("possession.gain", 4.2, "away_4", "touch")
    assert takeons(GAIN, *dribble(1.1), late) == [("takeon.won", "home_9", "away_4", False)]


@pytest.mark.parametrize(
    "causes",
    [
        [GAIN, *dribble(4.0, speed_m_s=1.0)],
        [GAIN, *dribble(1.1, ball_m=3.0)],
        [GAIN, *dribble(1.1, rival_m=9.0)],
        [GAIN, *dribble(0.4), about("kick.released", 1.45, "home_9"), about("possession.gain", 1.5, "away_4", "hit")],
        [GAIN, *dribble(0.4), about("possession.gain", 1.5, "away_4", "hit", speed_before_m_s=15.0)],
        [GAIN, *dribble(0.4), about("possession.gain", 1.5, "home_8", "hit")],
        [GAIN, about("play.dead", 0.95), *dribble(1.1)],
        dribble(1.1),
    ],
    ids=["walks", "without the ball", "far", "kicked", "a block", "a mate", "dead", "nobody's ball"],
)
def test_no_take_on(causes: list[Event]) -> None:
    assert takeons(*causes) == []

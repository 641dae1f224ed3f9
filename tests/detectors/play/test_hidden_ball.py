"""A source that has the ball in play only: it vanishes where it goes out, and appears where it is kicked."""

from __future__ import annotations

from itertools import chain

import msgspec
import pytest

from detectors.play.alive_flag import NO_FLAG, Flag
from detectors.play.phase import PlayPhase
from detectors.play.phase_state import PhaseState
from football.match_sheet import MatchSheet
from football.packets import Packet
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.scene import Point, cast, fold

#: Ball by frame at 25 Hz: position, or None; and nothing where no frame came in.
Ball = tuple[float, float, float] | None


def flying(to: Point, v: Point, seconds: float, z_m: float = 0.2) -> list[Ball]:
    """A ball that is at ``to`` in the end, in frames before that."""
    count = round(seconds * 25)
    return [(to[0] - 0.04 * i * v[0], to[1] - 0.04 * i * v[1], z_m) for i in reversed(range(count))]


def frames(balls: list[Ball], begin_s: float = 0.0, **players: Point) -> list[Event]:
    """Frames of a ball whose velocity is that of its track, among players who jog."""
    bodies = tuple(sorted(cast(**players), key=lambda body: body.object_id))
    bodies = tuple(msgspec.structs.replace(one, vx_m_s=3.0) for one in bodies)
    events, before = [], None
    for i, at in enumerate(balls):
        ball = None
        if at is not None:
            after = balls[1] if i == 0 else at
            last = at if i == 0 else before
            v = ((after[0] - last[0]) * 25, (after[1] - last[1]) * 25) if after and last else (0.0, 0.0)
            ball = BallState(*at, *v, 0.0, 40_000)
        before = at
        at_us = round((begin_s + 0.04 * i) * 1e6)
        events.append(Event("frame", at_us, "frame", i, build_frame(ball, bodies)))
    return events


def says(at_s: float, *, alive: bool) -> Event:
    at_us = round(at_s * 1e6)
    return Event("raw.flag", at_us, "alive_flag", 0, Packet("alive_flag", 0, (at_us,), (float(alive),), (0.0,), (0.0,)))


def turns(*events: list[Event]) -> list[tuple[str, str, float, int]]:
    """Kind, cause, time in seconds when it is known, and microseconds when it was, of all that 5.10 finds."""
    found = fold(PlayPhase(MatchSheet()), sorted(chain(*events), key=lambda event: event.ts_us))
    return [
        (
            one.kind.removeprefix("phase."),
            one.payload.variant,
            one.ts_us / 1e6,
            int(one.payload.detail["since_us" if one.kind == "phase.dead" else "kick_us"]),
        )
        for one in found
    ]


#: A ball that is seen last at 1 s, 0.4 m before it is beyond the touchline, 20 ms later.
TO_TOUCH = flying((5.0, 33.71), (0.0, 20.0), 1.04)
OUT_US = 1_020_000


@pytest.mark.parametrize(
    ("words", "known_s"),
    [
        ([], [3.0]),
        ([says(0.0, alive=True), says(1.0, alive=False)], [1.4]),
        ([says(0.0, alive=True), says(1.0, alive=True), says(2.6, alive=False)], [2.6]),
        ([says(0.0, alive=True)], []),
    ],
    ids=["no flag", "the flag says so", "the flag is late", "the flag denies it"],
)
def test_a_ball_that_vanishes_right_before_a_line_and_stays_away_is_out(words: list[Event], known_s: list[float]):
    found = turns(frames([*TO_TOUCH, *[None] * 90]), words)
    assert [(kind, cause, since_us) for kind, cause, _, since_us in found] == [("dead", "touch", OUT_US)] * len(known_s)
    assert [at_s for _, _, at_s, _ in found] == pytest.approx(known_s, abs=0.041)


@pytest.mark.parametrize(
    ("to", "v", "away_s"),
    [((5.0, 25.0), (0.0, 20.0), 4.0), ((5.0, 33.71), (0.0, -20.0), 4.0), ((5.0, 33.71), (0.0, 20.0), 1.0)],
    ids=["far from the line", "away from the line", "for a moment"],
)
def test_another_ball_that_vanishes_is_lost_only(to: Point, v: Point, away_s: float):
    assert turns(frames([*flying(to, v, 1.04), *[None] * round(25 * away_s)])) == []


@pytest.mark.parametrize(
    ("z_m", "words", "cause", "known_s"),
    [
        (0.2, [says(0.0, alive=True), says(1.0, alive=False)], "goal", 1.4),
        (0.2, [], "goal", 11.0),
        (4.0, [], "goal line", 3.0),
    ],
    ids=["the flag says dead", "longer than a goalkeeper holds it", "over the bar"],
)
def test_a_ball_that_vanishes_in_the_mouth_of_a_goal_is_in_it_unless_the_goalkeeper_holds_it(
    z_m: float, words: list[Event], cause: str, known_s: float
):
    (found,) = turns(frames([*flying((52.3, 1.0), (20.0, 0.0), 1.04, z_m), *[None] * 300]), words)
    assert found[:2] == ("dead", cause)
    assert found[2] == pytest.approx(known_s, abs=0.041)


#: The thrower has the ball in his hands when it is seen again, at 10 s, and throws it into the field.
THROWN: list[Ball] = [(8.0, 34.0 - 0.32 * i, 1.8) for i in range(25)]


@pytest.mark.parametrize("silent", [False, True], ids=["frames without the ball", "no frames"])
def test_a_ball_that_appears_where_its_restart_is_taken_was_kicked_there(silent: bool):
    before = frames([*TO_TOUCH, *([] if silent else [None] * 224)])
    found = turns(before, frames(THROWN, 10.0, home_7=(8.0, 34.3)))
    (dead, live) = found
    assert (dead[:2], dead[3]) == (("dead", "touch"), OUT_US)
    assert dead[2] == pytest.approx(10.0 if silent else 3.0, abs=0.041)
    assert (live[:2], live[3]) == (("live", "touch"), 10_000_000)


def test_a_match_whose_ball_appears_at_the_centre_begins_with_a_kick_off():
    kicked: list[Ball] = [(0.3 + 0.2 * i, 0.3 * i, 0.1) for i in range(25)]
    (live,) = turns(frames([None] * 106 + kicked, 0.0, home_7=(0.0, -0.3)))
    assert live == ("live", "start", 4.6, 4_240_000)


@pytest.mark.parametrize("taker", [(8.0, 30.0), (20.0, 34.3)], ids=["in the field", "somewhere else"])
def test_a_ball_that_appears_far_from_any_thrower_is_not_thrown_yet(taker: Point):
    flown: list[Ball] = [(8.0, 29.0 - 0.32 * i, 1.0) for i in range(25)]
    found = turns(frames([*TO_TOUCH, *[None] * 224]), frames(flown, 10.0, home_7=taker))
    assert [kind for kind, *_ in found] == ["dead"]


def free_kick(begin_s: float) -> list[Event]:
    """A ball that appears in the field before a player and is kicked far."""
    kicked: list[Ball] = [(-10.0 + 0.8 * i, 5.0, 0.1) for i in range(25)]
    return frames(kicked, begin_s, home_7=(-10.5, 5.0))


@pytest.mark.parametrize(
    ("alive_s", "lives"), [(10.0, ["stop"]), (None, [])], ids=["the flag says alive", "the flag says dead"]
)
def test_a_ball_that_appears_anywhere_after_a_stop_was_kicked_there_if_the_flag_says_so(
    alive_s: float | None, lives: list[str]
):
    words = [says(0.0, alive=True), says(4.5, alive=False), says(5.6, alive=False)]
    words += [] if alive_s is None else [says(alive_s, alive=True)]
    stopped = flying((20.0, 0.0), (3.0, 0.0), 4.5)
    found = turns(frames([*stopped, *[None] * 137]), free_kick(10.0), words)
    assert [(kind, cause) for kind, cause, *_ in found] == [("dead", "stop"), *[("live", cause) for cause in lives]]
    assert [at_us for kind, _, _, at_us in found if kind == "live"] == [10_000_000] * len(lives)


@pytest.mark.parametrize(("lost", "line"), [(True, "unseen"), (False, "")], ids=["lost", "seen"])
def test_nobody_saw_a_stop_of_which_the_flag_alone_tells_while_the_ball_was_lost(lost: bool, line: str):
    """So a kick from the goal area may be a goal kick (9.4): it was beyond the line, perhaps."""
    words = [says(0.0, alive=True), says(6.0, alive=False), says(7.1, alive=False)]
    on = flying((20.0, 0.0), (3.0, 0.0), 4.5)
    away: list[Ball] = [None] * 75 if lost else flying((29.0, 0.0), (3.0, 0.0), 3.0)
    lying: list[Ball] = [(48.0, 5.0, 0.1)] * 150
    kicked: list[Ball] = [(48.0 - 0.8 * i, 5.0, 0.1) for i in range(25)]
    events = [*frames([*on, *away, *lying, *kicked], away_1=(48.5, 5.0)), *words]
    found = fold(PlayPhase(MatchSheet()), sorted(events, key=lambda event: event.ts_us))
    assert [(one.kind, one.payload.variant, one.payload.detail["line"]) for one in found] == [
        ("phase.dead", "stop", ""),
        ("phase.live", "stop", line),
    ]


def throws(number: int, *, seen: bool) -> list[Event]:
    """Balls that vanish at the touchline and come back ten seconds later; ``seen`` ones lie there for three seconds."""
    events: list[Event] = []
    for i in range(number):
        lay: list[Ball] = [(8.0, 34.0, 0.1)] * 75 if seen else []
        events += frames([*TO_TOUCH, *[None] * (224 - len(lay)), *lay], 20.0 * i, home_7=(8.0, 34.3))
        on = flying((0.0, 0.0), (3.0, 1.0), 8.0)
        events += frames([*THROWN, *on], 20.0 * i + 10.0, home_7=(8.0, 34.3))
    return events


@pytest.mark.parametrize(
    ("number", "seen", "stops"),
    [(3, False, 1), (2, False, 0), (3, True, 0)],
    ids=["it has left out three", "two may be chance", "three lay there"],
)
def test_a_source_that_leaves_out_dead_balls_shows_a_stop_by_leaving_out_the_ball(number: int, seen: bool, stops: int):
    away = frames([None] * 60, 20.0 * number - 0.5)
    found = turns([e for e in throws(number, seen=seen) if e.ts_us < 20e6 * number - 5e5], away)
    assert [cause for kind, cause, *_ in found if kind == "dead"] == ["touch"] * number + ["stop"] * stops


@pytest.mark.parametrize(("number", "lives"), [(3, 1), (2, 0)], ids=["the source leaves out dead balls", "not known"])
def test_a_ball_that_appears_in_flight_after_it_went_out_over_the_goal_line_comes_from_a_goal_kick(
    number: int, lives: int
):
    """It appears 20 m from its goalkeeper, who has kicked it a second before."""
    begin_s = 20.0 * number
    out = frames(flying((52.3, 15.0), (20.0, 0.0), 1.04), begin_s)
    kicked: list[Ball] = [(28.0 - 0.8 * i, 4.0, 3.0) for i in range(25)]
    found = turns(
        throws(number, seen=False),
        out,
        frames([None] * 224, begin_s + 1.04),
        frames(kicked, begin_s + 10.0, away_1=(48.0, 4.0)),
    )[2 * number :]
    assert [(kind, cause) for kind, cause, *_ in found] == [("dead", "goal line"), *[("live", "goal line")] * lives]
    assert [at_us for kind, _, _, at_us in found if kind == "live"] == [round(begin_s * 1e6) + 9_000_000] * lives


@pytest.mark.parametrize(("number", "lives"), [(3, 1), (2, 0)], ids=["the source leaves out dead balls", "not known"])
def test_a_ball_that_appears_anywhere_is_in_play_in_a_source_that_leaves_out_dead_balls(number: int, lives: int):
    in_mouth = frames([*flying((52.3, 1.0), (20.0, 0.0), 1.04), *[None] * 320], 20.0 * number)
    found = turns(throws(number, seen=False), in_mouth, free_kick(20.0 * number + 14.0))[2 * number :]
    assert [(kind, cause) for kind, cause, *_ in found] == [("dead", "goal"), *[("live", "goal")] * lives]


def lives_of(state: PhaseState, events: list[Event]) -> list[Event]:
    """How 5.10 brings a dead ball into play."""
    detector, found = PlayPhase(MatchSheet()), []
    for event in events:
        state, out = detector.step(state, event)
        found += [one for one in out if one.kind == "phase.live"]
    return found


def kicked_from(at: Point, to: Point, away_s: float = 0.0, lies_s: float = 3.0) -> list[Ball]:
    """A ball that is away, then lies, and is kicked at 20 m/s."""
    way_m = ((to[0] - at[0]) ** 2 + (to[1] - at[1]) ** 2) ** 0.5
    v = (20.0 * (to[0] - at[0]) / way_m, 20.0 * (to[1] - at[1]) / way_m)
    flies = [(at[0] + 0.04 * i * v[0], at[1] + 0.04 * i * v[1], 0.1) for i in range(1, 16)]
    return [None] * round(25 * away_s) + [(*at, 0.1)] * round(25 * lies_s) + flies


@pytest.mark.parametrize(
    ("away_s", "flag", "line"),
    [(8.0, NO_FLAG, "unseen"), (3.0, NO_FLAG, ""), (8.0, Flag(word=False), "")],
    ids=["for long", "for a moment", "the flag saw it"],
)
def test_a_dead_ball_that_was_away_for_long_may_have_been_in_play_since_its_stop(away_s: float, flag: Flag, line: str):
    state = PhaseState("dead", "stop", turned_us=0, seen_us=0, flag=flag)
    events = frames(kicked_from((47.5, 5.0), (10.0, 20.0), away_s), away_1=(48.0, 5.0))
    (live,) = lives_of(state, events)
    assert live.payload.detail["line"] == line
    assert live.payload.player == "away_1"


@pytest.mark.parametrize(("spread_m", "count"), [(0.55, 0), (1.4, 1)], ids=["a stadium's cameras", "television"])
def test_the_taker_of_a_restart_is_as_far_from_the_ball_as_places_err(spread_m: float, count: int):
    state = PhaseState("dead", "goal line", "right goal line +y out", turned_us=0, seen_us=0, spread_m=spread_m)
    events = frames(kicked_from((52.0, 33.5), (42.0, 3.0)), home_7=(54.6, 33.5))
    assert len(lives_of(state, events)) == count


@pytest.mark.parametrize(("spread_m", "known_us"), [(0.55, 3_080_000), (1.4, 3_160_000)])
def test_a_ball_has_left_its_taker_when_it_is_as_far_away_as_places_err(spread_m: float, known_us: int):
    state = PhaseState("dead", "touch", "left touch out", turned_us=0, seen_us=0, spread_m=spread_m)
    events = frames(kicked_from((10.0, 33.8), (10.0, 13.0)), home_7=(10.0, 32.6))
    (live,) = lives_of(state, events)
    assert live.ts_us == known_us

"""The alive flag: it ends play that nobody sees end, dates it as late as it is elsewhere, and decides nothing alone."""

from __future__ import annotations

import msgspec
import pytest

from detectors.arrivals import instant_arrivals
from detectors.play.alive_flag import (
    NO_FLAG,
    Flag,
    FlagParameters,
    denies,
    flagged,
    held_against,
    stopped_by_flag_us,
)
from detectors.play.phase import PlayPhase
from football.match_sheet import MatchSheet
from football.packets import Packet, pack_instant
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.scene import cast, fold

P = FlagParameters()
WHISTLE_US = 800_000


def says(at_s: float, *, alive: bool) -> Event:
    at_us = round(at_s * 1e6)
    packet = Packet("alive_flag", 0, (at_us,), (float(alive),), (0.0,), (0.0,))
    return Event("raw.flag", at_us, "alive_flag", 0, packet)


def rolling(seconds: float) -> list[Event]:
    """A ball that rolls among players who jog."""
    bodies = tuple(sorted(cast(home_7=(0.0, 5.0), away_6=(20.0, 5.0)), key=lambda body: body.object_id))
    bodies = tuple(msgspec.structs.replace(one, vx_m_s=3.0) for one in bodies)
    return [
        Event("frame", 40_000 * i, "frame", i, build_frame(BallState(0.1 * i, 0.0, 0.0, 2.6, 0.0, 0.0, 40_000), bodies))
        for i in range(round(seconds * 25))
    ]


def found(words: list[Event]) -> list[tuple[float, str, float]]:
    events = sorted([*rolling(14.0), *words], key=lambda event: event.ts_us)
    return [
        (one.ts_us / 1e6, str(one.payload.detail["sign"]), int(one.payload.detail["since_us"]) / 1e6)
        for one in fold(PlayPhase(MatchSheet()), events)
        if one.kind == "phase.dead"
    ]


def every_second(*alive: bool) -> list[Event]:
    return [says(float(i), alive=one) for i, one in enumerate(alive)]


def test_play_that_the_flag_says_is_dead_for_long_enough_has_been_dead():
    """It is dated as much earlier as an operator is late, for no contact was seen."""
    assert found(every_second(*[True] * 8, False, False)) == [(9.0, "flag", 7.0)]


@pytest.mark.parametrize(
    "words",
    [
        [*every_second(*[True] * 8), says(8.0, alive=False), says(8.4, alive=True), says(9.0, alive=True)],
        every_second(*[True] * 12),
        every_second(*[False] * 12),
        [],
    ],
    ids=["a wrong key", "alive throughout", "dead throughout: nobody set it", "no flag"],
)
def test_a_flag_that_says_nothing_ends_nothing(words: list[Event]):
    assert found(words) == []


def stopped(flag: Flag, now_s: float, live_s: float, *played_s: float) -> float | None:
    played_us = [round(at_s * 1e6) for at_s in played_s]
    since_us = stopped_by_flag_us(flag, P, round(now_s * 1e6), round(live_s * 1e6), played_us, WHISTLE_US)
    return None if since_us is None else since_us / 1e6


def late(*lags_s: float) -> Flag:
    return Flag(False, 100_000_000, tuple(round(lag_s * 1e6) for lag_s in lags_s))


@pytest.mark.parametrize(
    ("flag", "now_s", "live_s", "played_s", "since_s"),
    [
        (late(), 101.0, 50.0, (98.0, 99.0), 99.8),
        (late(), 101.0, 50.0, (99.9,), 100.0),
        (late(), 101.0, 50.0, (90.0,), 99.0),
        (late(0.2, 0.2, 3.0), 101.0, 50.0, (98.0,), 99.8),
        (late(0.2, 0.2), 101.0, 50.0, (98.0,), 98.8),
        (late(2.0, 2.0, 2.0), 101.0, 50.0, (90.0,), 98.0),
        (late(), 101.0, 99.0, (), None),
        (late(), 103.0, 99.0, (), 99.000001),
        (late(), 110.0, 105.0, (106.0,), 105.000001),
        (late(), 100.5, 50.0, (99.0,), None),
        (Flag(True, 100_000_000), 110.0, 50.0, (), None),
        (NO_FLAG, 110.0, 50.0, (), None),
    ],
    ids=[
        "soon after the last contact", "not after the flag", "no contact when it may be", "a flag that is seldom late",
        "two stops do not tell how late", "a flag that is often late", "the flag of the stop before",
        "a flag that cannot be that late", "a restart that was none", "just said", "alive", "never said",
    ],
)  # fmt: skip
def test_a_stop_by_the_flag_is_dated_as_late_as_the_flag_is(
    flag: Flag, now_s: float, live_s: float, played_s: tuple[float, ...], since_s: float | None
):
    assert stopped(flag, now_s, live_s, *played_s) == since_s


@pytest.mark.parametrize(
    ("flag", "now_s", "dead_s", "kick_s", "is_none"),
    [
        (late(), 104.0, 99.0, 100.4, True),
        (late(), 103.0, 99.0, 100.4, False),
        (late(), 104.0, 99.0, 99.9, False),
        (late(), 104.0, 101.0, 99.9, True),
        (Flag(True, 100_000_000), 104.0, 99.0, 100.4, False),
        (NO_FLAG, 104.0, 99.0, 100.4, False),
    ],
    ids=["denied", "it may be late", "the flag of the stop after", "the flag showed the stop", "alive", "never said"],
)
def test_a_restart_is_none_if_the_flag_denies_it_when_it_can_no_longer_be_late(flag, now_s, dead_s, kick_s, is_none):
    assert denies(flag, P, round(now_s * 1e6), round(dead_s * 1e6), round(kick_s * 1e6)) is is_none


def test_how_late_the_flag_is_shows_at_balls_that_were_seen_to_go_out():
    def word(flag: Flag, at_s: float, alive: bool, out_s: float | None) -> Flag:
        packet = says(at_s, alive=alive).payload
        assert isinstance(packet, Packet)
        return flagged(flag, P, packet, None if out_s is None else round(out_s * 1e6), outside=False)

    flag = word(NO_FLAG, 0.0, True, None)
    assert word(flag, 9.5, False, 9.0).lags_us == (500_000,)
    assert word(flag, 9.5, False, None).lags_us == ()
    assert word(flag, 9.5, False, 2.0).lags_us == ()  # another stop
    assert word(flag, 9.5, True, 9.0) == flag
    for number in range(20):
        flag = word(word(flag, 10.0 * number + 1.0, False, 10.0 * number), 10.0 * number + 5.0, True, None)
    assert flag == Flag(True, 195_000_000, (1_000_000,) * 9)


@pytest.mark.parametrize("packed", [True, False])
def test_the_flag_of_an_instant_arrives_beside_its_frame(packed: bool):
    """A tracking system gives it with all positions of an instant."""
    flag = says(1.0, alive=True).payload
    ball = Packet("ball", 4, (1_000_000,), (0.5,), (0.0,), (0.0,))
    assert isinstance(flag, Packet)
    both = pack_instant([ball, flag]) if packed else (ball, flag)
    assert both is not None
    kinds = [(one.event.kind, one.event.ts_us) for one in instant_arrivals(both, 7)]
    assert kinds == [("raw.frame", 1_000_000), ("raw.flag", 1_000_000)]
    assert [one.event.kind for one in instant_arrivals([ball], 8)] == ["raw.frame"]
    assert [one.event.kind for one in instant_arrivals([flag], 9)] == ["raw.flag"]


def missed(flag: Flag, *outs_s: float) -> Flag:
    """The flag after balls that were out for four seconds each, twice looked at, while it says what it says."""
    for out_s in outs_s:
        for late_s in (3.0, 3.6, 4.0):
            flag = held_against(flag, P, round((out_s + late_s) * 1e6), round(out_s * 1e6))
    return flag


def test_a_flag_that_has_missed_three_stops_says_nothing_until_it_is_right_again():
    flag = Flag(True, 0)
    assert (missed(flag, 10.0, 20.0).missed, missed(flag, 10.0, 20.0).alive) == (2, True)
    flag = missed(flag, 10.0, 20.0, 30.0)
    assert (flag.missed, flag.alive) == (3, None)
    right = flagged(flag, P, word_of(says(40.5, alive=False)), 40_000_000, outside=False)
    assert (right.missed, right.alive) == (2, False)
    assert missed(Flag(False, 0), 10.0, 20.0, 30.0) == Flag(False, 0)
    restarted = Flag(True, 33_550_000)
    assert (missed(restarted, 30.0), missed(restarted, 31.0).missed) == (restarted, 1)


def test_a_flag_that_turns_to_alive_while_the_ball_is_far_outside_has_missed_a_stop():
    flag = Flag(False, 0)
    assert flagged(flag, P, word_of(says(10.0, alive=True)), None, outside=True).missed == 1
    assert flagged(flag, P, word_of(says(10.0, alive=True)), None, outside=False).missed == 0
    assert flagged(Flag(True, 0), P, word_of(says(10.0, alive=False)), None, outside=True).missed == 0


def word_of(event: Event) -> Packet:
    assert isinstance(event.payload, Packet)
    return event.payload

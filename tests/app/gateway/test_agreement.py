"""Feeds of the same match against each other: lag, mirrored halves, frozen and lying feeds, and what is none of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from app.gateway.agreement import LAG_ERROR_MAX_US, LOOKS, Agreement
from app.gateway.clock import SLEW_PPM, SourceClock
from football.packets import Packet

US = 1_000_000
PLAYERS = [f"home_{number}" for number in range(1, 12)]

Places = Callable[[float], npt.NDArray[np.float64]]


def runs(seed: int) -> Places:
    """Places of eleven players who run on loops of their own, (11, 2) in m, by time in s."""
    rng = np.random.default_rng(seed)
    centre, size = rng.uniform(-25, 25, (11, 2)), rng.uniform(3, 8, (11, 2))
    turn, phase = rng.uniform(0.4, 0.8, (11, 2)), rng.uniform(0, 6, (11, 2))
    return lambda at_s: centre + size * np.sin(turn * at_s + phase)


class Feeds:
    """Feeds that watch the same players, each in its own way, through an agreement that looks every second."""

    def __init__(self, **priorities: int) -> None:
        self.agreement = Agreement(priorities)
        self._rng = np.random.default_rng(7)

    def play(self, begin_s: float, end_s: float, **seen: tuple[Places, int]) -> None:
        """``seen``: of each feed the places in it, and by how many us its event times are late."""
        for tick in range(round(begin_s * 25), round(end_s * 25)):
            for label, (places, lag_us) in seen.items():
                noisy = places(tick / 25) + self._rng.normal(0, 0.1, (11, 2))
                self.agreement.observe(label, [
                    Packet(name, tick, (tick * 40_000 + lag_us,), (float(x),), (float(y),), (0.0,))
                    for name, (x, y) in zip(PLAYERS, noisy, strict=True)
                ])  # fmt: skip
            if tick % 25 == 0:
                self.agreement.look()
            if tick % 250 == 249:
                self.agreement.compare({})


@pytest.mark.parametrize("lag_us", [0, 87_000, -430_000])
def test_the_lag_between_two_feeds_is_found_and_nothing_is_left_out(lag_us: int):
    feeds, places = Feeds(a=0, b=1), runs(1)
    feeds.play(0, 40, a=(places, 0), b=(places, lag_us))
    found = feeds.agreement.lag_us("b")
    assert found is not None
    assert abs(found - lag_us) <= 3 * LAG_ERROR_MAX_US
    assert feeds.agreement.lag_us("a") is None
    assert feeds.agreement.findings == []
    assert not feeds.agreement.leaves_out("b", "home_1")


def test_feeds_in_which_nobody_moves_show_no_lag_and_no_fault():
    feeds = Feeds(a=0, b=1)
    feeds.play(0, 40, a=(lambda at_s: runs(1)(0.0), 0), b=(lambda at_s: runs(1)(0.0), 0))
    assert feeds.agreement.lag_us("b") is None
    assert feeds.agreement.findings == []


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        pytest.param((1, -1), "in y", marks=pytest.mark.slow),
        ((-1, 1), "in x"),
        pytest.param((-1, -1), "in x and y", marks=pytest.mark.slow),
    ],
)
def test_a_mirrored_feed_is_left_out_and_let_in_again_when_it_is_mended(signs: tuple[int, int], words: str):
    feeds, places = Feeds(a=0, b=1), runs(2)
    feeds.play(0, 10 * LOOKS + 1, a=(places, 0), b=(lambda at_s: places(at_s) * signs, 60_000))
    assert feeds.agreement.leaves_out("b", "home_1")
    assert not feeds.agreement.leaves_out("a", "home_1")
    assert any(f"b: is mirrored {words} against a" in line for line in feeds.agreement.findings)
    feeds.play(10 * LOOKS + 1, 20 * LOOKS + 25, a=(places, 0), b=(places, 60_000))
    assert not feeds.agreement.leaves_out("b", "home_1")
    assert feeds.agreement.findings == []


def test_a_feed_of_another_match_cannot_be_aligned_and_is_left_out():
    feeds = Feeds(a=0, b=1)
    feeds.play(0, 10 * LOOKS + 1, a=(runs(3), 0), b=(runs(4), 0))
    assert feeds.agreement.leaves_out("b", "home_1")
    assert any("b: cannot be aligned with a" in line for line in feeds.agreement.findings)
    assert feeds.agreement.lag_us("b") is None


def test_a_feed_that_is_shifted_for_everybody_is_reported_and_stays():
    feeds, places = Feeds(a=0, b=1), runs(5)
    feeds.play(0, 21, a=(places, 0), b=(lambda at_s: places(at_s) + np.array([2.0, -4.0]), 0))
    (line,) = feeds.agreement.findings
    assert re.fullmatch(r"b: everybody is \+[12]\.\d, -[34]\.\d m from where a has them: correct the .* origin", line)
    assert not feeds.agreement.leaves_out("b", "home_1")


def test_of_three_feeds_the_one_that_drifts_away_with_a_player_is_left_out_for_this_player_only():
    feeds, places = Feeds(a=0, b=0, c=0), runs(6)

    def drifting(at_s: float) -> npt.NDArray[np.float64]:
        found = places(at_s)
        found[3] += (0.5 * at_s, 0.0)
        return found

    feeds.play(0, 16, a=(drifting, 0), b=(places, 0), c=(places, 0))
    assert feeds.agreement.leaves_out("a", "home_4")
    assert not feeds.agreement.leaves_out("a", "home_3")
    assert not feeds.agreement.leaves_out("b", "home_4")
    assert feeds.agreement.findings == ["a: home_4 is elsewhere than in the other feeds"]


def test_of_two_feeds_that_are_apart_the_one_that_moves_as_nobody_can_is_left_out():
    feeds, places = Feeds(a=0, b=1), runs(6)

    def leaping(at_s: float) -> npt.NDArray[np.float64]:
        found = places(at_s)
        found[0] += (20.0 + 15.0 * (int(2 * at_s) % 2), 0.0)
        return found

    feeds.play(0, 20, a=(leaping, 0), b=(places, 0))
    assert feeds.agreement.findings == ["a: home_1 moves as nobody can"]
    assert feeds.agreement.leaves_out("a", "home_1")
    assert not feeds.agreement.leaves_out("b", "home_1")
    assert not feeds.agreement.leaves_out("a", "home_2")


def test_feeds_that_show_the_match_seconds_later_do_not_outvote_the_reference():
    feeds, places = Feeds(a=0, b=1, c=1), runs(6)

    def later(at_s: float) -> npt.NDArray[np.float64]:
        return places(at_s - 3.0)

    feeds.play(0, 10 * LOOKS + 5, a=(places, 0), b=(later, 0), c=(later, 0))
    assert not any(feeds.agreement.leaves_out("a", name) for name in PLAYERS)
    assert [line[:27] for line in feeds.agreement.findings] == [
        "b: cannot be aligned with a",
        "c: cannot be aligned with a",
    ]


def test_a_feed_that_froze_is_left_out_until_it_moves_again():
    feeds, places = Feeds(a=0, b=1), runs(8)
    rng = np.random.default_rng(0)
    feeds.play(0, 5, a=(places, 0), b=(places, 0))
    for tick in range(5 * 25, 12 * 25):
        for label, at_s, noise in (("a", 5.0, 0.0), ("b", tick / 25, 0.1)):
            there = runs(8)(at_s) + rng.normal(0, noise, (11, 2))
            feeds.agreement.observe(label, [
                Packet(name, tick, (tick * 40_000,), (float(x),), (float(y),), (0.0,))
                for name, (x, y) in zip(PLAYERS, there, strict=True)
            ])  # fmt: skip
        if tick % 25 == 0:
            feeds.agreement.look()
    assert feeds.agreement.leaves_out("a", "home_1")
    assert "a: home_1 is frozen" in feeds.agreement.findings
    feeds.play(12, 20, a=(places, 0), b=(places, 0))
    assert feeds.agreement.findings == []


def test_a_clock_turns_slowly_to_the_lag_and_event_times_grow():
    clock = SourceClock()
    times: list[int] = []
    for at_us in range(0, 400 * US, 20_000):
        if at_us == 100 * US:
            clock.turn_to(80_000.0)
        event_us = clock.event_us(at_us + 5, at_us + 1_000)
        assert event_us is not None
        times.append(at_us - event_us)
    assert abs(times[-1] - times[4_900] - 80_000) <= 2_000
    assert round(clock.turned_us) == clock.figures().turned_us == 80_000
    steps = [abs(after - before) for before, after in pairwise(times[4_900:])]
    assert max(steps) <= 2 * SLEW_PPM * 1e-6 * 20_000 + 2


def test_a_clock_that_is_set_is_not_turned():
    clock = SourceClock(fixed_us=0)
    clock.turn_to(80_000.0)
    assert [clock.event_us(at_us, at_us + 1_000) for at_us in (0, US, 100 * US)] == [0, US, 100 * US]

"""Several feeds of one object: one at a time, by priority, with hand-overs when one falls silent."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from app.gateway.agreement import LOOKS, Agreement
from app.gateway.choice import RAMP_US, RETURN_US, SILENT_US, SourceChoice
from football.packets import Packet

STEP_US = 20_000


def packet(at_us: int, name: str = "ball") -> Packet:
    return Packet(name, at_us // STEP_US, (at_us,), (0.0,), (0.0,), (0.0,))


def play(
    choice: SourceChoice, heard: dict[str, tuple[int, list[tuple[int, int]]]], end_us: int
) -> list[tuple[int, str]]:
    """(event time, feed) of what is kept; ``heard``: priority and spans of each feed."""
    kept = []
    for at_us in range(0, end_us, STEP_US):
        for shift, (feed, (priority, spans)) in enumerate(heard.items()):
            if any(first <= at_us < last for first, last in spans):
                kept += [(p.ts_us[0], feed) for p in choice.chosen(feed, priority, (packet(at_us + shift),))]
    return kept


def test_of_two_feeds_the_better_one_gives_the_object_and_the_other_while_it_is_silent():
    choice = SourceChoice(Agreement({"main": 0, "spare": 1}))
    kept = play(choice, {"spare": (1, [(0, 10**8)]), "main": (0, [(0, 4_000_000), (6_000_000, 10**8)])}, 12_000_000)
    assert [time for time, _ in kept] == sorted({time for time, _ in kept})
    of = {feed: [time for time, name in kept if name == feed] for feed in ("spare", "main")}
    assert min(of["main"]) <= RETURN_US + STEP_US
    gap = [time for time in of["spare"] if time > 3_000_000]
    assert 4_000_000 < min(gap) <= 4_000_000 + SILENT_US + STEP_US
    assert max(gap) <= 6_000_000 + RETURN_US + STEP_US
    assert choice.hand_overs == 3
    assert choice.left_out["spare"] > 0


def test_of_equal_feeds_the_first_one_stays():
    choice = SourceChoice(Agreement({"one": 0, "two": 0}))
    kept = play(choice, {"one": (0, [(0, 10**8)]), "two": (0, [(0, 10**8)])}, 5_000_000)
    assert {feed for _, feed in kept} == {"one"}
    assert choice.hand_overs == 0


def test_each_transmitter_is_chosen_by_itself():
    choice = SourceChoice(Agreement({"radio": 0, "optical": 1}))
    assert choice.chosen("radio", 0, (packet(0, "ball"),))
    assert choice.chosen("optical", 0, (packet(1, "home_1"), packet(1, "ball"))) == (packet(1, "home_1"),)


def test_a_packet_that_overlaps_a_change_is_left_out():
    choice = SourceChoice(Agreement({"one": 0, "two": 0}))
    assert choice.chosen("one", 0, (packet(1_000_000),))
    late = Packet("ball", 0, (900_000, 2_000_000), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
    assert not choice.chosen("two", 0, (late,))
    assert choice.chosen("two", 0, (packet(2_100_000),))


def test_of_equal_feeds_one_that_is_better_by_far_takes_over_and_one_that_is_a_little_better_does_not():
    for quality, gives in ((0.95, "one"), (1.0, "two")):
        choice = SourceChoice(Agreement({"one": 0, "two": 0}))
        last = ""
        for at_us in range(0, 6_000_000, STEP_US):
            for shift, (feed, own) in enumerate((("one", 0.82), ("two", quality))):
                one = msgspec.structs.replace(packet(at_us + shift), quality=own)
                if choice.chosen(feed, 0, (one,)):
                    last = feed
        assert last == gives


def test_places_do_not_jump_when_the_feed_changes():
    agreement = Agreement({"main": 0, "spare": 1})
    choice = SourceChoice(agreement)
    kept: list[Packet] = []
    for at_us in range(0, 8_000_000, STEP_US):
        x_m = at_us / 1e6 * 3.0
        for feed, priority, error_m, end_us in (("main", 0, 0.0, 4_000_000), ("spare", 1, 0.8, 10**8)):
            if at_us < end_us:
                one = Packet("home_1", 0, (at_us,), (x_m + error_m,), (error_m,), (1.0,))
                agreement.observe(feed, (one,))
                kept += choice.chosen(feed, priority, (one,))
    assert choice.hand_overs == 1
    change = next(number for number, one in enumerate(kept) if one.ts_us[0] > 4_000_000)
    before, after = kept[change - 1], kept[change]
    assert after.x_m[0] - before.x_m[0] == pytest.approx(3.0 * (after.ts_us[0] - before.ts_us[0]) / 1e6)
    steps = [abs(second.y_m[0] - first.y_m[0]) for first, second in pairwise(kept)]
    assert max(steps) <= 0.8 * STEP_US / RAMP_US + 1e-9
    assert kept[-1].y_m[0] == 0.8
    assert kept[-1].z_m == (1.0,)


def test_a_feed_that_is_left_out_gives_nothing_and_the_other_one_takes_over_at_once():
    agreement = Agreement({"main": 0, "spare": 1})
    choice = SourceChoice(agreement)
    gives = ""
    for at_us in range(0, 10_000_000, STEP_US):
        for feed, priority, x_m in (("main", 0, 5.0), ("spare", 1, at_us / 1e6 * 3.0)):  # main stands still
            one = Packet("home_1", 0, (at_us,), (x_m,), (0.0,), (0.0,))
            agreement.observe(feed, (one,))
            if choice.chosen(feed, priority, (one,)):
                gives = feed
        if at_us % 1_000_000 == 0:
            agreement.look()
            assert gives == "main" or at_us >= LOOKS * 1_000_000
    assert gives == "spare"
    assert choice.hand_overs == 1

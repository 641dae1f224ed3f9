"""An event is shown once its kind is hardly withdrawn at its age, as the match itself has taught."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camera.chances import Chances
from dashboard.demo import demo_event
from dashboard.steadiness import NEVER_US, STEPS, Steadiness, age_of
from football.update_stream import EventRecord, UpdateRecord

CHANCES = Chances(settles_ms={"shot": 40.0}, other_ms=300.0)


def event(number: int, kind: str = "shot.attempt", confidence: float = 0.9) -> EventRecord:
    return demo_event(kind, number * 10_000_000, f"ball:{number}", confidence=confidence)


def play(steadiness: Steadiness, withdrawn_after_us: list[int | None], kind: str = "shot.attempt") -> None:
    """Let events follow each other, each confirmed, or withdrawn after a time."""
    for number, age_us in enumerate(withdrawn_after_us):
        one = event(number, kind)
        steadiness.apply([UpdateRecord(0, 1, one.ts_us, one)])
        if age_us is not None:
            steadiness.apply([UpdateRecord(0, -1, one.ts_us + age_us, one)])
        steadiness.advance(one.ts_us + one.lag_us + 1)


@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.85, 0.95, 1.0])
def test_of_a_kind_that_was_not_seen_confidence_and_age_decide(confidence: float):
    one = event(0, "pass.complete", confidence)
    age_us = Steadiness(0.1, CHANCES.of).age_us(one)
    assert CHANCES.of(one, age_us) >= 0.9
    assert age_us == 0 or CHANCES.of(one, age_us * 2 // 3) < 0.9


def test_an_event_without_confidence_waits_until_it_is_confirmed():
    assert Steadiness(0.1, CHANCES.of).age_us(event(0, confidence=0.0)) == NEVER_US


def test_transcript_a_kind_is_shown_after_the_age_at_which_it_was_withdrawn():
    steadiness = Steadiness(0.05, CHANCES.of)
    before_us = steadiness.age_us(event(99))
    play(steadiness, [None, None, None, None, 60_000] * 40)
    assert before_us < 60_000 < steadiness.age_us(event(99)) <= 91_000, "a fifth goes after 60 ms, none later"
    play(steadiness, [None] * 4_000)
    assert steadiness.age_us(event(99)) == 0, "what is learned changes"
    assert steadiness.age_us(event(99, "pass.complete", 0.8)) > 0, "each kind has its own counts"
    assert steadiness.withdrawn == {"shot.attempt": 40}


def test_a_kind_that_always_stands_is_shown_at_once_though_it_is_not_certain():
    steadiness = Steadiness(0.05, CHANCES.of)
    assert steadiness.age_us(event(99, confidence=0.8)) > 0
    play(steadiness, [None] * 200)
    assert steadiness.age_us(event(99, confidence=0.8)) == 0


def test_an_amendment_is_no_withdrawal_whichever_update_comes_first():
    one, other = event(0), demo_event("shot.attempt", 5, "ball:0", confidence=0.4)
    updates = [UpdateRecord(0, -1, 60_000, one), UpdateRecord(0, 1, 60_000, other)]
    for both in (updates, updates[::-1]):
        steadiness = Steadiness(0.05, CHANCES.of)
        for number in range(100):
            steadiness.apply([UpdateRecord(0, 1, 0, one)])
            steadiness.apply(both)
            steadiness.advance(number * 10_000_000)
        assert steadiness.age_us(one) == 0


@given(
    ages=st.lists(st.none() | st.integers(0, 20_000_000), max_size=60),
    shares=st.tuples(st.floats(0.001, 0.5), st.floats(0.001, 0.5)),
)
def test_less_withdrawn_is_never_sooner(ages: list[int | None], shares: tuple[float, float]):
    less, more = (Steadiness(share, CHANCES.of) for share in sorted(shares))
    for one in (less, more):
        play(one, ages)
    assert less.age_us(event(99)) >= more.age_us(event(99))


def test_ages_ascend_to_more_than_eight_seconds():
    ages = [age_of(step) for step in range(STEPS)]
    assert ages == sorted(set(ages))
    assert ages[-1] > 8_000_000


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_that_cannot_be_is_refused(share: float):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        Steadiness(share, CHANCES.of)

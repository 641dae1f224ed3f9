"""Lazy, eager and hybrid evaluation: the rarest step decides, and the matches are the same."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import detectors.patterns.waiting as waiting
from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.search import Search
from detectors.patterns.syntax import PatternError, PatternEvent
from tests.detectors.patterns.cases import inputs, queries, read, run, standing
from tests.detectors.patterns.definition import matches

JOINED = "PATTERN SEQ(a x, b y, c z) WHERE z.v > x.v WITHIN 200 ms"


def plan_of(step: int, runs: waiting.WaitingRuns) -> waiting.Plan:
    """Let a mandatory step decide, whatever the rates are."""
    needed = runs._needed
    runs._trigger = needed[step % len(needed)]
    if runs._trigger == needed[-1]:
        return "lazy"
    return "eager" if runs._trigger == needed[0] else "hybrid"


@pytest.mark.parametrize("step", [-1, 0, 1, None], ids=["lazy", "eager", "second step", "another each time"])
def test_every_plan_has_the_matches_of_the_definition(step: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(4)
    monkeypatch.setattr(waiting, "_RECHOSEN_AFTER", 2)
    monkeypatch.setattr(
        waiting.WaitingRuns, "choose", lambda runs: plan_of(chance.randrange(9) if step is None else step, runs)
    )

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(queries(), inputs(), st.booleans())
    def check(text: str, arrivals: list[tuple[PatternEvent, int]], is_sorted: bool) -> None:
        note(f"{text}\n{arrivals!r}")
        arrivals = sorted(arrivals, key=lambda one: one[0].ts_us) if is_sorted else arrivals
        try:
            query = read(text)
            Matcher([query])
        except PatternError:
            return
        assert run(query, "stnm", arrivals) == matches(query, "stnm", standing(arrivals))

    check()


def stream(weights: str, count: int, begin: int = 0) -> list[PatternEvent]:
    """One event a millisecond; a kind is as frequent as its letter among the weights."""
    chance = random.Random(begin)
    drawn = [chance.choice(weights) for _ in range(count)]
    return [PatternEvent(at * 1000, (k,), f"{k}{at}", k, {"v": at % 7}) for at, k in enumerate(drawn, begin)]


def plan(matcher: Matcher) -> str:
    (partition,) = matcher._partitions.values()
    ((_, anchors),) = partition.anchors
    assert anchors.waiting is not None
    return anchors.waiting.plan


def test_the_rarest_step_decides_and_is_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_RECHOSEN_AFTER", 128)
    matcher = Matcher([parse(JOINED)])
    for weights, begin, expected in (
        ("aaabbbc", 0, "lazy"), ("acccccccbbbbbbb", 400, "eager"), ("acccccccaaaaaaaa", 2_600, "hybrid"),
    ):  # fmt: skip
        for event in stream(weights, {0: 400, 400: 2_200, 2_600: 8_000}[begin], begin):
            matcher.push(event)
        assert plan(matcher) == expected


@pytest.mark.parametrize(
    ("weights", "best"), [("abbbbbbbcccccccc", 0), ("bccccccccaaaaaaa", 1), ("caaaaaaaabbbbbbb", -1)]
)
def test_the_plan_of_the_rarest_step_takes_up_fewest_runs(weights: str, best: int, monkeypatch: Any) -> None:
    taken_up, resume = [0], Search.resume

    def counted(search: Search, one: Any) -> Any:
        taken_up[0] += 1
        return resume(search, one)

    monkeypatch.setattr(Search, "resume", counted)
    counts, answers = {}, set()
    for step in (0, 1, -1):
        monkeypatch.setattr(waiting.WaitingRuns, "choose", lambda runs, step=step: plan_of(step, runs))
        taken_up[0], matcher = 0, Matcher([parse(JOINED)])
        for event in stream(weights, 4_000):
            matcher.push(event)
        counts[step] = taken_up[0]
        answers.add(frozenset(tuple(event.id for event in match) for _, match in matcher.matches()))
    assert len(answers) == 1
    assert counts[best] <= 1.1 * min(counts.values()), counts

"""transcript_: figures 10 to 12 of paper 000 in small: alpha, latency, load, memory on a machine that is too slow."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import NamedTuple

import pytest

from middleware.engine import Engine
from middleware.load_accounting import Costs
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import Retraction
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha, Speculation
from tests.middleware.toys import arrival, hierarchy, raw

EVERY_US, LATE_US, SPAN_US, EVENTS = 5, 60, 500, 4_000

#: In these spans twice as many events come.
BURST = range(15, 20)


class Played(NamedTuple):
    """Of one engine: alpha and busy factor after each span, mean latency, mean numbers of held and waiting inputs."""

    alpha: list[float]
    busy: list[float]
    latency_us: float
    held: float
    waiting: float
    standing: frozenset[str]


@cache
def play(speculation: Speculation, retraction: Retraction = "on-demand") -> Played:
    rng = Random(3)
    sent, now_us = [], 0
    for number in range(EVENTS):
        now_us += EVERY_US // (2 if now_us // SPAN_US in BURST else 1)
        sent.append((now_us + rng.randrange(LATE_US), now_us, rng.choice("ABC"), number))
    slack = SlackSettings(ignores_progress=True)
    engine = Engine(
        hierarchy(), EngineSettings(UnitSettings(speculation, retraction, slack), allowed_lateness_us=1_000)
    )
    engine.set_costs(Costs(0.0, 0.0, default_step_us=0.62))
    alpha, busy, held, waiting = [], [], [], []
    known: dict[str, tuple[int, int]] = {}
    span = 0
    for arrival_us, ts_us, kind, number in sorted(sent):
        for update in engine.push([arrival(raw(kind, ts_us, kind.lower(), number))], arrival_us).updates:
            event = update.event
            if update.diff > 0:
                known[event.id] = event.ts_us, arrival_us
            else:
                known.pop(event.id, None)
        if arrival_us // SPAN_US > span:
            span, health = arrival_us // SPAN_US, engine.health()
            alpha.append(max(health.alpha.values()))
            busy.append(health.busy)
            held.append(health.held)
            waiting.append(health.waiting)
    for update in engine.finish().updates:
        if update.diff > 0:
            known[update.event.id] = update.event.ts_us, now_us
        else:
            known.pop(update.event.id, None)
    latency_us = sum(at_us - ts_us for ts_us, at_us in known.values()) / len(known)
    count = len(busy)
    return Played(alpha, busy, latency_us, sum(held) / count, sum(waiting) / count, frozenset(known))


@pytest.fixture(autouse=True)
def spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middleware.load_accounting.SPAN_US", SPAN_US)


#: Spans after the first, without the burst and the one after it.
CALM = [span for span in range(2, 31) if span not in range(BURST.start, BURST.stop + 2)]


def mean(values: list[float], spans: list[int]) -> float:
    return sum(values[span] for span in spans) / len(spans)


def test_transcript_000_figures_10_and_12_latency_load_and_memory_lie_between_buffering_and_full_speculation():
    buffered, half, full = (play(FixedAlpha(alpha)) for alpha in (1.0, 0.5, 0.0))
    by_load = play(AdaptiveAlpha())
    assert buffered.standing == half.standing == full.standing == by_load.standing, "nothing is lost"
    assert full.latency_us < by_load.latency_us < half.latency_us < buffered.latency_us
    assert by_load.latency_us < 0.6 * buffered.latency_us, "000 has 0.60"
    assert 0.5 < mean(buffered.busy, CALM) < 0.7, "as in 000"
    assert mean(full.busy, CALM) > 0.9, "as in 000"
    assert mean(buffered.busy, CALM) < mean(by_load.busy, CALM) < 0.85
    within = [span for span in BURST if span > BURST.start + 1]
    assert mean(by_load.busy, within) < 0.5 * mean(full.busy, within), "a burst ends speculation within two spans"
    assert buffered.held < by_load.held < full.held
    assert buffered.waiting > by_load.waiting > full.waiting == 0


def test_transcript_000_figure_11_the_control_curve_and_its_memory_over_an_overload_that_goes_on():
    alpha = [round(value, 2) for value in play(AdaptiveAlpha()).alpha]
    assert alpha[:8] == [0.0, 1.0, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25], "an overload at 0: one halving, then slowly"
    assert alpha[8:16] == [0.25, 0.2, 0.15, 0.15, 0.1, 0.1, 0.1, 0.1], "it stays where the target zone is"
    assert alpha[16:22] == [1.0] * 6, "buffering, for as long as the burst lasts"
    assert alpha[22:26] == [0.5, 0.45, 0.4, 0.35], "after six overloads the line at 0.45 is still known"


def test_transcript_000_section_5_4_on_demand_retraction_leaves_time_for_more_speculation():
    on_demand, full = (play(AdaptiveAlpha(), retraction) for retraction in ("on-demand", "full"))
    assert on_demand.standing == full.standing
    assert mean(on_demand.alpha, CALM) < mean(full.alpha, CALM), "000 has 0.69 and 0.81"
    assert on_demand.latency_us < full.latency_us, "000 has 15 % less"

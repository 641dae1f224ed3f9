"""Switching slack, speculation and retraction of a detector while the stream goes on."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from middleware.engine import Engine
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import Method, SlackSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha
from tests.examples import in_two_lengths
from tests.middleware.streams import expected, run, standing, streams
from tests.middleware.toys import arrival, hierarchy, raw

OTHERS: tuple[Method, ...] = ("adaptive", "progress", "target", "bett", "bettd", "flink")
CHOICES = [
    UnitSettings(speculation, retraction, slack)
    for speculation in (FixedAlpha(0.0), FixedAlpha(0.5), FixedAlpha(1.0), AdaptiveAlpha())
    for retraction in ("full", "on-demand", "auto")
    for slack in (SlackSettings(), SlackSettings("fixed", 0), SlackSettings("fixed", 30), *map(SlackSettings, OTHERS))
]
NAMES = [detector.spec.name for detector in hierarchy().detectors]
switches = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(NAMES), st.sampled_from(CHOICES)), max_size=8)


@in_two_lengths(25, 60, stream=streams(), switched=switches, first=st.sampled_from(CHOICES))
def test_oracle_switching_at_any_time_keeps_the_law(stream, switched, first):
    def switch(engine: Engine, push: int) -> None:
        for at, name, choice in switched:
            if at == push:
                engine.configure(name, choice)

    engine_settings = EngineSettings(first, allowed_lateness_us=400)
    updates, engine = run(hierarchy, stream, engine_settings, between=switch)
    assert standing(updates, hierarchy()) == expected(hierarchy(), stream, engine)
    again, _ = run(hierarchy, stream, engine_settings, between=switch, restart_every=5)
    assert again == updates, "what was switched is part of the state"


def test_what_is_switched_counts_from_the_next_push_on_and_buffers_stay():
    buffering = EngineSettings(
        UnitSettings(FixedAlpha(1.0), slack=SlackSettings("fixed", 1_000)), allowed_lateness_us=10_000
    )
    engine = Engine(hierarchy(), buffering)
    engine.push([arrival(raw("C", 0, "silent", 0))], 0)
    for n in range(5):
        engine.push([arrival(raw("C", 10 * n + 1, "c", n))], 10 * n)
    waiting = engine.metrics()["doubler"].waiting
    assert waiting == 5, "the silent source holds them back"
    engine.configure("doubler", UnitSettings(FixedAlpha(0.0), slack=SlackSettings("fixed", 1_000)))
    assert engine.metrics()["doubler"].waiting == waiting
    engine.push([], 60)
    assert engine.metrics()["doubler"].waiting == 0
    assert engine.metrics()["a_not_b_c"].waiting > 0, "only the one that was named"


def test_a_learned_slack_is_taken_over_and_a_set_one_is_not():
    engine = Engine(hierarchy(), EngineSettings(UnitSettings(FixedAlpha(1.0)), allowed_lateness_us=1_000))
    for ts_us, source, seq in ((0, "x", 0), (50, "c", 0), (9, "x", 1), (60, "c", 1)):
        engine.push([arrival(raw("C", ts_us, source, seq))], 60)
    learned_us = engine.metrics()["doubler"].k_us
    assert learned_us >= 41
    engine.configure("doubler", UnitSettings(FixedAlpha(0.5)))
    assert engine.metrics()["doubler"].k_us == learned_us, "the slack is as it was; only alpha was switched"
    engine.configure("doubler", UnitSettings(FixedAlpha(0.5), slack=SlackSettings("fixed", 7)))
    assert engine.metrics()["doubler"].k_us == 7
    engine.configure("doubler", UnitSettings(FixedAlpha(0.5)))
    assert engine.metrics()["doubler"].k_us == 7, "dynamic slack begins with what was in force"


def test_a_name_that_no_detector_has_is_refused():
    with pytest.raises(KeyError, match="no detector is called nobody"):
        Engine(hierarchy()).configure("nobody", UnitSettings())

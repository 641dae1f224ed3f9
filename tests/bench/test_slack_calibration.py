"""The first seconds: K's from runs over a recording, and from sub-delays without a run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bench.slack_calibration import Jitter, SubDelays, configured, estimated, iterated, position_delay_us
from middleware.detector import Spec, Step
from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.progress import ProgressSettings
from tests.middleware.toys import arrival, raw

BACK_US = (15, 40, 0)


class Level:
    """One of a tower: joins what the level below says with a raw kind that comes in time, and dates back."""

    def __init__(self, number: int) -> None:
        below = f"L{number - 1}" if number else "A"
        self._back_us = BACK_US[number]
        self.spec = Spec(f"level_{number}", f"{number + 2}.1", number + 2, (below, "C"), (f"L{number}",), (), 60)

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        if event.kind == "C":
            return None, ()
        out = Event(self.spec.outputs[0], event.ts_us - self._back_us, event.source, event.seq, None, f"{event.id}'")
        return None, (out,)


def tower() -> Hierarchy:
    return Hierarchy(("A", "C"), [Level(n) for n in range(3)])


def recording() -> list[tuple[int, list[Arrival]]]:
    """C comes at once every 10, A every 30, up to 100 late, the most late one being the fourth."""
    sent = [(10 * n, arrival(raw("C", 10 * n, "c", n))) for n in range(200)]
    sent += [(30 * n + (100 if n == 3 else 20 * (n % 4)), arrival(raw("A", 30 * n, "a", n))) for n in range(60)]
    sent.sort(key=lambda pair: pair[0])
    return [(now_us, [arrived]) for now_us, arrived in sent]


def beginning(delays: Mapping[str, int], back_setting: Mapping[str, int] | None = None) -> Engine:
    """Pure buffering that begins with these K's and back-settings."""
    hierarchy = tower()
    base = EngineSettings(
        UnitSettings(FixedAlpha(1.0)), allowed_lateness_us=10_000, progress=ProgressSettings(10_000, 10_000)
    )
    return Engine(hierarchy, configured(base, delays, [d.spec.name for d in hierarchy.detectors], back_setting))


def play(delays: Mapping[str, int], back_setting: Mapping[str, int] | None = None) -> Engine:
    """The recording through an engine that begins so; sources' word is not to help."""
    engine = beginning(delays, back_setting)
    engine.push([arrival(raw("A", 0, "silent", 0)), arrival(raw("C", 0, "silent", 0))], 0)
    for now_us, arrivals in recording():
        engine.push(arrivals, now_us)
    return engine


def test_iterated_delays_stay_and_leave_nothing_to_stumble_over():
    cold = play({})
    assert cold.health().late > 0
    known, runs = iterated(lambda delays: play(delays).health().slack_us, 3)
    assert runs <= 3
    warm = play(known)
    assert warm.health().late == 0
    assert warm.health().slack_us == known


def test_what_is_estimated_from_sub_delays_is_what_runs_measure():
    """Jitter from the first moments, back-setting from an old configuration: no K has to be learned."""
    jitter = Jitter()
    for now_us, (arrived,) in recording()[:30]:
        jitter.take(arrived.event.kind, ts_us=arrived.event.ts_us, now_us=now_us)
    assert jitter.by_kind_us() == {"A": 100, "C": 0}
    old = SubDelays.of(play({}).metrics())
    assert dict(old.back_setting_us) == {"level_0": 15, "level_1": 40, "level_2": 0}
    guessed = estimated(tower(), jitter.by_kind_us(), old, clock_step_us=10)
    assert guessed == {"level_0": 110, "level_1": 125, "level_2": 165}
    known, _ = iterated(lambda delays: play(delays).health().slack_us, 3)
    assert known == pytest.approx(guessed, abs=10), "but for a step of the clock"
    assert play(guessed).health().late == 0


def test_an_engine_that_knows_the_old_back_setting_begins_with_the_estimate():
    """004, algorithm 3, without a walk of its own: the engine announces back-setting and jitter upwards."""
    old = dict(play({}).health().backset_us)
    assert old == {"level_0": 15, "level_1": 40, "level_2": 0}
    engine = beginning({}, old)
    assert engine.health().slack_us == {"level_0": 0, "level_1": 15, "level_2": 55}
    assert engine.health().slack_us == estimated(tower(), {}, SubDelays(old))
    engine.push([arrival(raw("A", 0, "a", 0)), arrival(raw("C", 0, "c", 0))], 0)
    engine.push([arrival(raw("C", 100, "c", 1))], 100)
    engine.push([arrival(raw("A", 20, "a", 1)), arrival(raw("C", 110, "c", 2))], 110)
    jitter = {"A": 90, "C": 0}
    assert engine.health().slack_us == estimated(tower(), jitter, SubDelays(old)), "no output was needed for it"
    assert play({"level_0": 110}, old).health().late == 0


def test_what_an_engine_announces_at_first_survives_a_restart():
    first, second = beginning({}, {"level_0": 15}), beginning({}, {"level_0": 15})
    second.restore(first.snapshot())
    assert second.health().slack_us == first.health().slack_us == {"level_0": 0, "level_1": 15, "level_2": 15}


def test_network_and_processing_add_up_and_keyed_detectors_add_no_ordering():
    class Keyed(Level):
        def __init__(self) -> None:
            super().__init__(0)
            self.spec = Spec("level_0", "1.1", 1, ("A", "C"), ("L0",), (), 60, keyed=True)

        def key(self, event: Event) -> str:
            return event.source

    old = SubDelays({"level_0": 15}, {"level_0": 2}, network_us=3)
    assert estimated(Hierarchy(("A", "C"), [Keyed(), Level(1)]), {"A": 100}, old) == {"level_0": 0, "level_1": 120}


def test_an_input_declares_what_paper_004_measured():
    """Packets of ten low-priority positions at 200 Hz, up to 100 ms on their way: 145 ms (section IV-A)."""
    assert position_delay_us(200.0, 10, 100_000) == 145_000
    assert position_delay_us(2000.0, 1, 5_000) == 5_000


def test_configured_changes_nothing_but_what_it_is_told():
    base = EngineSettings(UnitSettings(FixedAlpha(0.5), "full"), allowed_lateness_us=77)
    made = configured(base, {"level_1": 9}, ["level_0", "level_1"])
    assert made.allowed_lateness_us == 77
    assert made.of("level_1").slack.k_us == 9
    assert made.of("level_0") == base.unit
    assert made.of("level_1").retraction == "full"


def test_without_a_stream_there_is_no_jitter():
    assert Jitter().by_kind_us() == {}


@pytest.mark.parametrize("levels", [1, 2])
def test_runs_are_bounded_by_the_levels(levels: int):
    calls: list[int] = []

    def run(delays: Mapping[str, int]) -> dict[str, int]:
        calls.append(1)
        return {"level_0": len(calls)}

    known, runs = iterated(run, levels)
    assert (known["level_0"], runs, len(calls)) == (levels, levels, levels)

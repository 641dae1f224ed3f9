"""SlackPolicy policies: each by itself, and in units that stand above each other."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random
from statistics import pstdev
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.delay_announcement import DelayAnnouncement
from middleware.detector import NOTHING, Spec, Step
from middleware.engine import Engine
from middleware.events import BEGINNING_US, Arrival, Event
from middleware.hierarchy import Hierarchy
from middleware.load_accounting import Costs
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.estimators import MeanTime, RangeOfTimes, SingleTime
from middleware.ordering.slack.kslack import AdaptiveSlack, DynamicSlack
from middleware.ordering.slack.protocol import DelaySample
from middleware.ordering.slack.settings import Method, SlackSettings
from middleware.ordering.slack.source_progress import ProgressSlack
from middleware.ordering.slack.target import TargetSlack
from middleware.ordering.slack.watermark import BoundedLateness
from middleware.ordering.slack.windows import Window
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.delay_bound import ReleaseTarget
from middleware.sources.progress import ProgressSettings
from tests.middleware.streams import Stream, run, standing, streams
from tests.middleware.toys import arrival, hierarchy, raw

METHODS: tuple[Method, ...] = get_args(Method)


def seen(delay_us: int, now_us: int) -> DelaySample:
    return DelaySample(now_us - delay_us, delay_us, now_us, "s", 0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-100, 10**7)), min_size=1, max_size=80), st.booleans())
def test_differential_a_window_knows_what_recounting_gives(steps: list[tuple[int, int]], by_time: bool):
    window = Window(span_us=100) if by_time else Window(count=7)
    now_us, values = 0, []
    for step_us, delay_us in steps:
        now_us += step_us
        values.append((now_us, delay_us))
        window.add(delay_us, now_us)
        values = [v for v in values if now_us - v[0] <= 100] if by_time else values[-7:]
        delays = [delay for _, delay in values]
        n = len(delays)
        assert len(window) == n
        assert window.mean_us == pytest.approx(sum(delays) / n)
        assert window.deviation_us == pytest.approx(pstdev(delays), abs=1e-3)
        assert (window.extreme_us("highest"), window.extreme_us("lowest")) == (max(delays), min(delays))
        weights = [((n - i) / n) ** 2 for i in range(1, n + 1)]
        weighted = sum(w * d for w, d in zip(weights, delays, strict=True)) / sum(weights) if n > 1 else None
        assert window.mean_by_age_us == (weighted if weighted is None else pytest.approx(weighted, abs=1e-3))


def test_adaptive_slack_takes_a_margin_and_lets_go_of_old_delays():
    slack = AdaptiveSlack(scale=0.5, span_us=100)
    for now_us, delay_us in ((10, 40), (20, 0), (30, 0), (40, 0)):
        slack.measure(seen(delay_us, now_us))
    assert slack.k_us == 40 + 9, "half of the standard deviation of 40, 0, 0, 0 is 8.66"
    slack.measure(seen(0, 115))
    assert slack.k_us == 0


def test_adaptive_slack_does_not_shrink_below_what_a_unit_beneath_announced():
    slack = AdaptiveSlack(span_us=100)
    slack.announce(70)
    assert slack.k_us == 70
    for now_us in range(0, 1_000, 50):
        slack.measure(seen(0, now_us))
    assert slack.k_us == 70


def test_what_a_policy_begins_with_holds_until_it_has_seen_enough():
    slack = SlackSettings("adaptive", k_us=500).policy()
    slack.measure(seen(10, 0))
    slack.measure(seen(10, 29_000_000))
    assert slack.k_us >= 500
    slack.measure(seen(10, 31_000_000))
    slack.measure(seen(10, 32_000_000))
    assert slack.k_us == 10


def test_bett_goes_up_at_once_and_down_by_a_hundredth():
    slack = SingleTime()
    slack.measure(seen(1_500_000, 2_000_000))
    assert slack.k_us == 2_000_000
    slack.measure(seen(100_000, 2_100_000))
    assert slack.k_us == 1_980_000
    slack.measure(seen(1_400_000, 2_200_000))
    assert slack.k_us == 1_980_000, "within the threshold nothing moves"


def test_betta_bettwa_and_bettd_follow_their_formulas():
    mean, weighted, spread = MeanTime(), MeanTime(weighted=True), RangeOfTimes()
    for slack in (mean, weighted, spread):
        for now_us, delay_us in ((0, 100_000), (1, 400_000), (2, 1_000_000)):
            slack.measure(seen(delay_us, now_us))
    assert mean.k_us == 1_200_000
    assert weighted.k_us == round((4 * 100_000 + 1 * 400_000) / 5) + 700_000
    assert spread.k_us == 900_000 + 350_000


def test_progress_slack_waits_for_the_sources_and_alpha_for_a_share_of_that():
    slack = ProgressSlack()
    assert slack.limit_us(1_000, BEGINNING_US, 1.0) == BEGINNING_US
    assert slack.limit_us(1_000, 600, 1.0) == 600
    assert slack.k_us == 400
    assert slack.limit_us(1_000, 600, 0.25) == 900
    assert slack.limit_us(1_000, 600, 0.0) == 1_000
    assert slack.limit_us(1_000, 1_200, 1.0) == 1_200


@pytest.mark.parametrize("method", METHODS)
def test_a_policy_goes_on_from_its_pickle(method: Method):
    rng = Random(5)
    one, other = SlackSettings(method).policy(), SlackSettings(method).policy()
    for n in range(200):
        what = seen(rng.randrange(2_000_000), n * 100_000)
        one.measure(what)
        other = pickle.loads(pickle.dumps(other))
        other.measure(what)
        assert one.k_us == other.k_us


@settings(max_examples=60, deadline=None)
@given(
    stream=streams(),
    method=st.sampled_from(METHODS),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    profile=st.sampled_from(["literal", "paper"]),
)
def test_oracle_the_law_holds_with_every_policy(stream: Stream, method: Method, alpha: float, profile):
    slack = SlackSettings(method, 30 if method in ("fixed", "sba", "flink") else None, profile=profile)
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), slack=slack), allowed_lateness_us=400)
    updates, engine = run(hierarchy, stream, engine_settings)
    assert not engine.take_lost()
    assert standing(updates, hierarchy()) == published(hierarchy(), [a.event for _, a in stream])
    assert run(hierarchy, stream, engine_settings, restart_every=3)[0] == updates


@settings(max_examples=30, deadline=None)
@given(stream=streams(), methods=st.lists(st.sampled_from(METHODS), min_size=2, max_size=6))
def test_oracle_the_law_holds_when_policies_are_switched(stream: Stream, methods: list[Method]):
    names = [detector.spec.name for detector in hierarchy().detectors]

    def switch(engine: Engine, push: int) -> None:
        unit = UnitSettings(FixedAlpha(1.0), slack=SlackSettings(methods[push % len(methods)]))
        engine.configure(names[push % len(names)], unit)

    engine_settings = EngineSettings(UnitSettings(FixedAlpha(1.0)), allowed_lateness_us=400)
    updates, engine = run(hierarchy, stream, engine_settings, between=switch)
    assert not engine.take_lost()
    assert standing(updates, hierarchy()) == published(hierarchy(), [a.event for _, a in stream])


def test_flinks_watermark_trails_by_the_bound_and_is_renewed_at_intervals():
    watermark = BoundedLateness(100_000)
    limits_us = []
    for now_us, clock_us in ((0, 0), (150_000, 150_000), (210_000, 200_000), (300_000, 290_000), (420_000, 400_000)):
        watermark.measure(DelaySample(clock_us, 0, now_us, "s", 0))
        limits_us.append(watermark.limit_us(clock_us, -1_000_000, 1.0))
    assert limits_us == [-101_000, -101_000, 99_000, 99_000, 299_000]


class Above:
    """Says O at each U."""

    def __init__(self) -> None:
        self.spec = Spec("above", "5.1", 5, ("U",), ("O",))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        return None, (Event("O", event.ts_us, event.source, event.seq, None, f"O#{event.source}:{event.seq}"),)


def held_up(slack: SlackSettings, below: SlackSettings | None = None) -> list[tuple[int, str, int]]:
    """Arrival and event times of outputs; two sources of A at 10 Hz and one of B that falls silent after 2 s."""
    hierarchy = Hierarchy(("A", "B"), [Under(), Above()])
    by_detector = {} if below is None else {"under": UnitSettings(FixedAlpha(1.0), slack=below)}
    progress = ProgressSettings(discovery_us=0)
    engine = Engine(hierarchy, EngineSettings(UnitSettings(FixedAlpha(1.0), slack=slack), by_detector, 60_000_000,
                                              progress=progress))  # fmt: skip
    seen_at = []
    for n in range(50):
        ts_us = n * 100_000
        arrivals = [Arrival(Event("A", ts_us, source, n), ts_us) for source in "pq"]
        arrivals += [Arrival(Event("B", ts_us, "r", n), ts_us)] if n < 20 else []
        result = engine.push(arrivals, ts_us + 10_000)
        seen_at += [(ts_us + 10_000, update.event.kind, update.event.ts_us) for update in result.updates]
    return seen_at


def test_a_target_waits_for_progress_or_the_bound_and_all_levels_wait_for_one_bound():
    waited = held_up(SlackSettings("progress"))
    bounded = held_up(SlackSettings("target", target=ReleaseTarget(0.01, 300_000), at_sources=True))
    longest_ms = {kind: max(at - ts for at, one, ts in bounded if one == kind) for kind in ("U", "O")}
    assert {kind for _, kind, _ in bounded} == {"U", "O"}
    assert longest_ms == {"U": 310_000, "O": 310_000}, "the upper unit adds no wait of its own"
    assert max(ts for _, _, ts in waited) < 2_000_000 < max(ts for _, _, ts in bounded)


def test_a_target_that_measures_does_not_wait_for_what_was_never_late():
    measured = held_up(SlackSettings("target", target=ReleaseTarget(0.01, 300_000)))
    assert max(at - ts for at, _, ts in measured) == 10_000, "B was in time as long as it came"


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_the_share_of_inputs_later_than_k_tends_to_the_target(share: float, seed: int):
    rng, slack, late, taken = Random(seed), TargetSlack(ReleaseTarget(share)), 0, 0
    for span in range(4_000):
        for _ in range(50):
            delay_us = round(40_000 * rng.lognormvariate(0, 0.5))
            late += span >= 1_000 and delay_us > slack.k_us
            slack.measure(seen(delay_us, 0))
        taken += 50
        slack.settle(taken)
    found = late / 150_000
    assert share / 3 < found < 2 * share, f"seed {seed}: {found:.5f} of the inputs were later than K"


def test_k_of_a_target_falls_with_inputs_in_time_but_not_below_what_is_announced():
    slack = TargetSlack(ReleaseTarget(0.01))
    slack.measure(seen(2_000_000, 0))
    assert slack.k_us == 2_000_000, "a late input raises it at once"
    slack.announce(70_000)
    for taken in range(0, 40_000, 40):
        slack.settle(taken)
    assert slack.k_us == 70_000
    slack.expect(0)
    assert slack.k_us < 70_000
    assert TargetSlack(ReleaseTarget(0.01, 300_000), k_us=900_000).k_us == 300_000, "no longer than the longest wait"


def test_one_detector_may_have_a_target_of_its_own():
    bounded = SlackSettings("target", target=ReleaseTarget(0.01, 300_000), at_sources=True)
    own = held_up(SlackSettings("progress"), bounded)
    assert max(ts for _, kind, ts in own if kind == "U") > 2_000_000 > max(ts for _, kind, ts in own if kind == "O")


class Under:
    """Says U at each A; orders A and B."""

    def __init__(self, horizon_us: int = 0) -> None:
        self.spec = Spec("under", "2.1", 2, ("A", "B"), ("U",), horizon_us=horizon_us)

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        if event.kind == "B":
            return None, NOTHING
        ts_us = event.ts_us - self.spec.horizon_us
        return None, (Event("U", ts_us, event.source, event.seq, None, f"U#{event.source}:{event.seq}"),)


class Over:
    """Remembers the order in which U and C were given to it."""

    def __init__(self) -> None:
        self.spec = Spec("over", "5.1", 5, ("U", "C"), ("V",))
        self.given: list[str] = []

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        self.given.append(f"{event.kind}{event.ts_us}")
        return None, NOTHING


def growing_slack(over: Over, under: Under) -> Engine:
    """A and C keep time; then a B comes so late that the slack of the unit below grows from 0 to 100.

    In the same push come A295, which the unit below must now hold for 100, and C297. C is told completely, A is not:
    another A source stays behind.
    """
    settings_ = EngineSettings(UnitSettings(FixedAlpha(1.0)), allowed_lateness_us=10_000)
    engine = Engine(Hierarchy(("A", "B", "C"), [under, over]), settings_)
    engine.push([arrival(raw("A", 10, "behind", 0)), arrival(raw("C", 10, "c", 0))], 10)
    engine.push([arrival(raw("A", 200, "a", 0)), arrival(raw("C", 200, "c", 1))], 200)
    assert over.given == ["C10", "U10", "C200", "U200"]
    late = [arrival(raw("B", 200, "b", 0)), arrival(raw("A", 295, "a", 1)), arrival(raw("C", 297, "c", 2))]
    engine.push([*late, arrival(raw("A", 300, "a", 2))], 300)
    return engine


def test_004_a_unit_above_does_not_act_on_a_slack_that_has_just_grown_below():
    over = Over()
    engine = growing_slack(over, Under())
    assert engine.health().slack_us == {"under": 100, "over": 100}
    assert over.given[4:] == [], "C297 waits, because U295 is now known to be up to 100 late"
    assert engine.health().lag_us == {"under": 5, "over": 3}, "A295 and C297 wait, and the clock is at 300"
    for ts_us in (400, 500):
        engine.push([arrival(raw("A", ts_us, "a", ts_us))], ts_us)
    assert over.given[4:] == ["U295", "C297", "U300"]
    assert engine.health().late == 0
    assert engine.health().work_shares == {}, "nothing was timed"
    engine.set_costs(Costs(step_us={"under": 2.0, "over": 1.0}))
    steps = engine.work_counts()[2]
    under = 2 * steps["under"] / (2 * steps["under"] + steps["over"])
    assert engine.health().work_shares == {"under": round(under, 4), "over": round(1 - under, 4)}


RECENT = SlackSettings("adaptive", scale=0.0)


def slack_of_the_upper_unit(seconds: int, slack: SlackSettings = RECENT) -> int:
    """K of the upper unit in us: B comes 2 s late at the beginning, and then nothing is late for ``seconds``."""
    settings_ = EngineSettings(UnitSettings(FixedAlpha(1.0), slack=slack))
    engine = Engine(Hierarchy(("A", "B", "C"), [Under(), Over()]), settings_)
    for n in range(10 * seconds):
        ts_us = 3_000_000 + n * 100_000
        arrivals = [arrival(raw("A", ts_us, "a", n)), arrival(raw("C", ts_us, "c", n))]
        engine.push([*arrivals, *([arrival(raw("B", ts_us - 2_000_000, "b", 0))] if n == 1 else [])], ts_us)
    slack_us = engine.health().slack_us
    assert slack_us["over"] >= slack_us["under"]
    return slack_us["over"]


def test_a_slack_that_shrinks_is_announced_to_the_units_above(monkeypatch: pytest.MonkeyPatch):
    assert slack_of_the_upper_unit(20) == 2_000_000, "what is not thirty seconds old is remembered"
    assert slack_of_the_upper_unit(70) == 0, "the lower unit held back for thirty seconds, and that is forgotten, too"
    monkeypatch.setattr(DelayAnnouncement, "announce_shrinking", lambda self: None)
    assert slack_of_the_upper_unit(70) == 2_000_000, "it would wait for ever for what comes no more"


def test_what_has_fallen_of_a_target_is_announced_to_the_units_above(monkeypatch: pytest.MonkeyPatch):
    target = SlackSettings("target", target=ReleaseTarget(0.05))
    assert slack_of_the_upper_unit(1, target) > 1_800_000
    assert slack_of_the_upper_unit(70, target) < 200_000
    monkeypatch.setattr(DelayAnnouncement, "announce_shrinking", lambda self: None)
    assert slack_of_the_upper_unit(70, target) == 2_000_000, "without it no K falls"


def test_without_the_announcement_it_would(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(DynamicSlack, "announce", lambda self, delay_us: None)
    over = Over()
    engine = growing_slack(over, Under())
    assert over.given[4:] == ["C297"], "given before its time"
    engine.push([arrival(raw("A", 450, "a", 450))], 450)
    assert over.given[4:] == ["C297", "U295"]
    assert engine.health().late == 1


def test_004_the_announcement_tells_how_far_outputs_are_dated_back():
    over = Over()
    settings_ = EngineSettings(UnitSettings(FixedAlpha(1.0)), allowed_lateness_us=10_000)
    engine = Engine(Hierarchy(("A", "B", "C"), [Under(horizon_us=30), over]), settings_)
    engine.push([arrival(raw("A", 100, "a", 0))], 100)
    engine.push([arrival(raw("A", 400, "a", 1)), arrival(raw("B", 350, "b", 0))], 400)
    assert engine.health().slack_us["under"] == 50
    assert engine.health().slack_us["over"] == 80


@pytest.mark.parametrize(("backset_us", "given"), [(0, ["C390", "U370"]), (30, ["U370", "C390"])])
def test_004_a_back_setting_known_before_is_waited_for_from_the_first_input_on(backset_us: int, given: list[str]):
    over, slack = Over(), SlackSettings("kslack", ignores_progress=True)
    settings_ = EngineSettings(
        UnitSettings(FixedAlpha(1.0), slack=slack),
        {"under": UnitSettings(FixedAlpha(1.0), slack=replace(slack, backset_us=backset_us))},
        allowed_lateness_us=10_000,
    )
    engine = Engine(Hierarchy(("A", "B", "C"), [Under(horizon_us=30), over]), settings_)
    engine.push([arrival(raw("C", 390, "c", 0))], 390)
    engine.push([arrival(raw("A", 400, "a", 0))], 400)
    engine.push([arrival(raw("A", 450, "a", 1))], 450)
    assert over.given[:2] == given


def test_watermarks_propagate_less_the_horizons_below():
    over = Over()
    slack = SlackSettings("progress")
    engine = Engine(
        Hierarchy(("A", "B", "C"), [Under(horizon_us=30), over]),
        EngineSettings(
            UnitSettings(FixedAlpha(1.0), slack=slack),
            allowed_lateness_us=10_000,
            progress=ProgressSettings(discovery_us=0),
        ),
    )
    engine.push(
        [arrival(raw("C", 900, "c", 0)), arrival(raw("A", 1_000, "a", 0)), arrival(raw("B", 1_000, "b", 0))], 1_000
    )
    irregular = (910, 940, 965, 970, 971, 999, 1_005)
    engine.push([arrival(raw("C", ts_us, "c", n)) for n, ts_us in enumerate(irregular, 1)], 1_010)
    assert over.given == ["C900", "C910", "C940", "C965", "C970", "U970"], "A has told until 1000, so U until 970"


@pytest.mark.parametrize("alone", [False, True])
def test_a_slack_that_ignores_progress_waits_k_out(alone: bool):
    over = Over()
    slack = SlackSettings("fixed", 100, ignores_progress=alone)
    engine = Engine(
        Hierarchy(("U", "C"), [over]),
        EngineSettings(UnitSettings(FixedAlpha(1.0), slack=slack), allowed_lateness_us=10_000),
    )
    for n, ts_us in enumerate((10, 50, 115)):
        engine.push([arrival(raw("C", ts_us, "c", n))], ts_us)
    assert over.given == (["C10"] if alone else ["C10", "C50", "C115"])
    engine.finish()
    assert over.given == ["C10", "C50", "C115"], "in the end nothing is kept back"

"""A pipeline whose alpha and retraction follow the load: costs are measured between batches, redone batches agree."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import cycle, groupby

import pytest

from app.pipeline.costs import CostMeter
from app.pipeline.framing import FOLDED_SHARE, RECORDED_US, divided
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from football.update_stream import Follower, Health, UpdateRecord
from middleware.events import BEGINNING_US
from middleware.load_accounting import Costs
from middleware.purity_check import PurityCheck
from replay import wire
from replay.capture import Capture, CaptureWriter
from simulator.radio.channels import channel_named, transmit
from simulator.simulate import Simulation, simulate

#: Little time for each second of the stream, so that the load matters on any machine; dear and cheap work in turns.
TIGHT = PipelineOptions(alpha="auto", retraction="auto", available=0.1, costs=Costs(available=0.1))
BATCHES = 4

#: More than a packet takes from its first position through this channel.
LATE_MOST_US = 600_000


@pytest.fixture(scope="module")
def stream():
    """(sheet, batches of encoded blocks) of some generated seconds through radio."""
    recording, _ = simulate(Simulation(duration_s=7.0, seed=45))
    blocks = [(b.arrival_us, wire.encode(b)) for b in transmit(recording, channel_named("rtls"), 3).blocks()]
    size = len(blocks) // BATCHES + 1
    return recording.sheet, [blocks[at : at + size] for at in range(0, len(blocks), size)]


def play(pipeline: MatchPipeline, blocks: list[tuple[int, bytes]]) -> tuple[list[UpdateRecord], dict[int, Health]]:
    """Updates of all blocks, and the health by arrival time. Views are not part of the state."""
    emitted = [m for arrival_us, payload in blocks if (m := pipeline.push(payload, arrival_us)) is not None]
    return [u for m in emitted for u in m.updates], {m.now_us: m.health for m in emitted if m.health is not None}


def test_differential_a_batch_redone_from_its_snapshot_says_the_same_whatever_the_machine_does_by_then(stream):
    sheet, batches = stream
    first = MatchPipeline(sheet, TIGHT, epoch=1)
    seen: dict[str, set[float]] = {}
    for batch in batches:
        first.take_tables()
        first.inspect_detectors()
        snapshot = first.snapshot()
        emitted, health = play(first, batch)
        again = MatchPipeline(sheet, TIGHT, epoch=1)
        again.restore(snapshot)
        emitted_again, health_again = play(again, batch)
        assert emitted_again == emitted
        assert all(health[now_us] == reported for now_us, reported in health_again.items() if now_us in health)
        for reported in health.values():
            for name, share in reported.alpha.items():
                seen.setdefault(name, set()).add(share)
    followed = any({0.0, 1.0} <= shares for shares in seen.values())
    assert followed, "at the costs to begin with there is too much to do: alpha leaves 0 for 1"


def test_oracle_what_adapts_finds_the_events_that_a_fixed_alpha_finds(stream):
    sheet, batches = stream
    found = []
    for options in (TIGHT, PipelineOptions(alpha=0.0), PipelineOptions(alpha=1.0, retraction="full")):
        pipeline, follower = MatchPipeline(sheet, options), Follower()
        for batch in batches:
            for arrival_us, payload in batch:
                if (message := pipeline.push(payload, arrival_us)) is not None:
                    follower.apply(message)
            pipeline.take_tables()
            pipeline.inspect_detectors()
        follower.apply(pipeline.finish())
        found.append(follower.events)
    assert len(found[0]) > 50
    assert found[0] == found[1] == found[2]


def test_oracle_blocks_that_are_late_and_taken_together_lead_to_the_events_that_each_would_have_led_to(stream):
    sheet, batches = stream
    blocks = [block for batch in batches for block in batch]
    framed = [(arrival_us, 0, payload) for arrival_us, payload in blocks]
    one_by_one, some_at_once, recorded, folded, emitted = Follower(), Follower(), Follower(), Follower(), []
    sizes, left = cycle([25, 1, 7]), deque(framed)
    some = [[left.popleft() for _ in range(min(next(sizes), len(left)))] for _ in framed if left]
    seconds = list(divided(framed, lambda block: RECORDED_US))
    ways = ((one_by_one, [[block] for block in framed]), (some_at_once, some), (recorded, seconds), (folded, seconds))
    for follower, portions in ways:
        pipeline = MatchPipeline(sheet, TIGHT)
        emitted.append(0)
        for portion in portions:
            message = pipeline.push_together(portion, portion[-1][0] - LATE_MOST_US if follower is folded else None)
            if message is not None:
                follower.apply(message)
                emitted[-1] += len(message.updates)
        follower.apply(pipeline.finish())
    assert len(one_by_one.events) > 50
    assert some_at_once.events == one_by_one.events
    assert recorded.events == one_by_one.events
    assert folded.events == one_by_one.events
    health = pipeline.commit_meta()
    assert (health["lost"], health["late"]) == (0, 0)
    assert len(seconds) < 12
    assert emitted[2] < emitted[1] < emitted[0], "less is said too soon"


def test_oracle_a_match_that_was_far_behind_finds_the_same_events_and_learns_no_slack_from_what_had_waited(stream):
    sheet, batches = stream
    framed = [(arrival_us, 1, payload) for batch in batches for arrival_us, payload in batch]
    live, behind, begin_us = Follower(), Follower(), framed[0][0]
    pipelines = {id(follower): MatchPipeline(sheet, TIGHT) for follower in (live, behind)}
    folded_us = FOLDED_SHARE * pipelines[id(behind)].far_behind_us
    for follower in (live, behind):
        # In time for a second, then far behind until the fifth, and in time again.
        for middle, blocks in groupby(framed, lambda block: 1_000_000 <= block[0] - begin_us < 5_000_000):
            was_behind = middle and follower is behind
            span_us = folded_us if was_behind else 250_000
            for portion in divided(blocks, lambda block, span_us=span_us: span_us):
                message = pipelines[id(follower)].push_together(portion, BEGINNING_US if was_behind else None)
                if message is not None:
                    follower.apply(message)
    slack = [sum(follower.health.slack_us.values()) for follower in (live, behind)]
    for follower in (live, behind):
        follower.apply(pipelines[id(follower)].finish())
    assert len(live.events) > 50
    assert behind.events == live.events
    meta = pipelines[id(behind)].commit_meta()
    assert meta["lost"] == 0
    assert meta["late"] <= pipelines[id(live)].commit_meta()["late"]
    assert 0 < slack[1] <= slack[0], "what waited until it was final was not that late when it arrived"


class Worked:
    """Stands for an engine that has done a given amount of work, and whose detectors have too few steps to be timed."""

    def __init__(self) -> None:
        self.done = (0, 0, {"a": 0, "b": 0})
        self.asked: list[str] = []

    def work_counts(self) -> tuple[int, int, dict[str, int]]:
        return self.done

    def purity_check(self, name: str, steps: int) -> PurityCheck:
        self.asked.append(name)
        return PurityCheck([], steps, pytest.fail)


def test_measured_costs_add_up_to_the_time_that_was_spent():
    meter, engine = CostMeter(0.5), Worked()
    for arrivals, moved, steps in ((100, 300, {"a": 40, "b": 60}), (150, 500, {"a": 90, "b": 70})):
        before, engine.done = engine.done, (arrivals, moved, steps)
        meter.add(outside_ns=2_000_000, inside_ns=7_000_000)
        costs = meter.measure(engine, ["a", "b"])
        stepped = sum(steps.values()) - sum(before[2].values())
        inside_us = (moved - before[1]) * costs.moved_us + stepped * costs.default_step_us
        assert ((arrivals - before[0]) * costs.arrival_us, inside_us) == pytest.approx((2_000, 7_000))
        assert costs.available == 0.5
    idle = meter.measure(engine, ["a", "b"])
    assert (idle.arrival_us, idle.moved_us) == (Costs().arrival_us, Costs().moved_us), "nothing was done since"


def test_in_pauses_one_detector_after_the_other_is_timed_and_at_the_end_only_who_had_none():
    meter, engine = CostMeter(1.0), Worked()
    for _ in range(4):
        meter.time_next(engine, ["a", "b", "c"])
    assert engine.asked == ["a", "b", "c", "a"]
    fresh, engine = CostMeter(1.0), Worked()
    fresh.time_next(engine, ["a", "b", "c"])
    fresh.measure(engine, ["a", "b", "c"])
    assert engine.asked == ["a", "b", "c"]


def test_costs_are_measured_on_the_beginning_of_a_capture(stream, tmp_path):
    sheet, batches = stream
    with CaptureWriter(tmp_path / "capture", sheet) as writer:
        writer.extend(wire.decode(payload) for _, payload in batches[0])
    costs = MatchPipeline.warm_up(sheet, replace(TIGHT, costs=None), Capture.open(tmp_path / "capture")).costs
    assert costs.available == 0.1
    assert {"conditioning", "near_ball"} <= costs.step_us.keys() & costs.compare_us.keys()
    assert min(*costs.step_us.values(), *costs.compare_us.values(), costs.arrival_us, costs.moved_us) > 0

"""What does the whole hierarchy cost: how many times real time, by level and by detector, and how large are its states?

Question: does every detector of the catalogue together, in process and on one core, reach 10 times real time on a
radio stream of 36,000 positions/s and 100 times on 25 Hz optical input? Does proximity (level 4) take at most 0.02 ms a
packet of ten positions? Are states at most 1 kB in the mean, heat maps aside? And what limits?

Four measurements over one capture, all in CPU time, so that other work on the machine counts as little as may be:

* *bare*: each detector folded by itself over its sorted inputs, as the oracle does; by detector and level;
* *bare by block*: all detectors over one block, then over the next, with nothing held and nothing repaired: what a
  block costs before anything is ordered. A detector that has not run since the last block finds neither its code nor
  its state in the caches;
* *whole*: ``MatchPipeline`` over the capture's blocks, decoding and checks included, with alpha 1 (never takes back)
  and alpha 0 (speaks at once), one block after the other as a live match has them; and in portions that are final at
  once, as a recording has them that is played as fast as it can be (``app.pipeline.framing``). What is beyond the sum
  of the bare folds is ordering, decoding and checks. The events that stand in the end must be the same in all three;
* *state*: each unit's state pickled at some instants; of a keyed detector the mean of its units.

    python -m bench.hierarchy [--source FILE] [--seconds 20] [--optical-seconds 120] [--all] [--up-to LEVEL]
                              [--against LEVEL] [--json FILE]

``--source`` is a tracking file for the optical part, which is left out without one; ``--seconds 0`` leaves out the
radio part. ``--all`` takes in the detectors that a match gets only when asked for, ``--up-to`` leaves out those above a
level. ``--against`` compares all detectors with those up to a level, by turns over the same portions, instead of the
other figures.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import json
import pickle
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from app.base.garbage import collect_rarely
from app.pipeline.framing import RECORDED_US, divided, recorded_us
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.captures import prepare_capture
from app.sources.interface import TimedBlock
from app.sources.production import write_simulation
from detectors import catalogue
from detectors.arrivals import arrival, instant_arrivals
from detectors.catalogue import OPT_IN, build_detectors
from detectors.parameters import Parameters
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS, Block
from football.update_stream import Follower, UpdateMessage
from middleware.detector import Detector, KeyedDetector
from middleware.events import Event, Key, canonical_key
from middleware.hierarchy import Hierarchy
from replay.capture import Capture
from simulator.radio.channels import channel_named
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

#: Times real time; milliseconds of level 4 for a packet of ten positions; bytes of a state in the mean.
GOAL_RADIO, GOAL_OPTICAL, GOAL_PROXIMITY_MS, GOAL_STATE_BYTES = 10.0, 100.0, 0.02, 1_000

#: Alpha, and how much of the stream is taken at a time (arrival time, microseconds; 0: block by block;
#: ``RECORDED_US``: as a recording of this input is).
RELEASE_SETTINGS = {"alpha 1": (1.0, 0), "alpha 0": (0.0, 0), "as fast as it can be": (0.0, RECORDED_US)}

#: At so many instants states are weighed.
_WEIGHED = 5


def capture_of(source: str, rate: str, seconds: float, seed: int, folder: Path) -> Capture:
    """A capture of the simulator at a rate, or of a tracking file."""
    if source == "sim":
        write_simulation(
            MeasuredMatch(Simulation(seed=seed, duration_s=seconds, **rates_named(rate))),
            folder,
            channel_named("rtls"),
            seed,
        )
    else:
        prepare_capture(source, "none", seed, folder, duration_s=seconds, pitch=(105.0, 68.0), sheet_path=None)
    return Capture.open(folder)


def raw_events(blocks: Sequence[Block], sheet: MatchSheet) -> list[Event]:
    """The inputs of level 1, each packet once."""
    return list(chain(*raw_events_by_block(blocks, sheet)))


def raw_events_by_block(blocks: Sequence[Block], sheet: MatchSheet) -> list[list[Event]]:
    """The inputs of level 1 by block, each packet once."""
    if sheet.quality.framed:
        return [[one.event for one in instant_arrivals(block.packets, n)] for n, block in enumerate(blocks)]
    known: set[tuple[str, int]] = set()
    events: list[list[Event]] = []
    for block in blocks:
        new = {(p.transmitter, p.sequence): p for p in block.packets if (p.transmitter, p.sequence) not in known}
        known.update(new)
        events.append([arrival(packet).event for packet in new.values()])
    return events


def bare(hierarchy: Hierarchy, raw: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Each detector folded by itself: CPU time, inputs, events, bytes of states."""
    streams: dict[str, list[tuple[Key, Event]]] = {kind: [] for kind in hierarchy.rank}
    for event in raw:
        streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
    for stream in streams.values():
        stream.sort(key=_key)
    figures: dict[str, dict[str, Any]] = {}
    for detector in hierarchy.detectors:
        inputs = [event for _, event in heapq.merge(*(streams[k] for k in detector.spec.inputs), key=_key)]
        emitted, figures[detector.spec.name] = fold(detector, inputs)
        for event in emitted:
            streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
        for kind in detector.spec.outputs:
            streams[kind].sort(key=_key)
    return figures


def bare_by_block(hierarchy: Hierarchy, raw: Sequence[Sequence[Event]]) -> float:
    """CPU seconds of all detectors over one block after the other, each over what the block leads to, sorted."""
    rank, subscribers = hierarchy.rank, hierarchy.subscribers
    states: list[dict[str, Any]] = [{} for _ in hierarchy.detectors]
    inputs: list[list[tuple[Key, Event]]] = [[] for _ in hierarchy.detectors]

    def route(events: Iterable[Event]) -> None:
        for event in events:
            keyed_event = canonical_key(event, rank), event
            for index in subscribers[event.kind]:
                inputs[index].append(keyed_event)

    began_s = time.process_time()
    for block in raw:
        route(block)
        for detector, own, given in zip(hierarchy.detectors, states, inputs, strict=True):
            keyed: KeyedDetector[Any] | None = detector if detector.spec.keyed else None  # type: ignore[assignment]
            given.sort(key=_key)
            for _, event in given:
                name = keyed.key(event) if keyed is not None else ""
                own[name], out = detector.step(own[name] if name in own else detector.initial(), event)
                if out:
                    route(out)
            given.clear()
    return time.process_time() - began_s


def _key(pair: tuple[Key, Event]) -> Key:
    return pair[0]


def fold(detector: Detector[Any], inputs: Sequence[Event]) -> tuple[list[Event], dict[str, Any]]:
    """Run one detector over its inputs. The time of weighing states is left out."""
    keyed: KeyedDetector[Any] | None = detector if detector.spec.keyed else None  # type: ignore[assignment]
    states: dict[str, Any] = {}
    emitted: list[Event] = []
    bytes_: list[float] = []
    took_ns = 0
    for part in _parts(inputs):
        began_ns = time.process_time_ns()
        if keyed is None:
            step, state = detector.step, states[""] if "" in states else detector.initial()
            for event in part:
                state, out = step(state, event)
                if out:
                    emitted.extend(out)
            states[""] = state
        else:
            for event in part:
                name = keyed.key(event)
                state, out = keyed.step(states[name] if name in states else keyed.initial(), event)
                states[name] = state
                if out:
                    emitted.extend(out)
        took_ns += time.process_time_ns() - began_ns
        if part:
            bytes_.append(sum(len(pickle.dumps(state)) for state in states.values()) / len(states))
    figures = {
        "level": detector.spec.level,
        "number": detector.spec.number,
        "inputs": len(inputs),
        "events": len(emitted),
        "ms": took_ns / 1e6,
        "us_per_input": took_ns / 1e3 / len(inputs) if inputs else 0.0,
        "units": len(states) or 1,
        "state_bytes": sum(bytes_) / len(bytes_) if bytes_ else float(len(pickle.dumps(detector.initial()))),
    }
    return emitted, figures


def _parts(inputs: Sequence[Event]) -> Iterator[Sequence[Event]]:
    size = max(1, -(-len(inputs) // _WEIGHED))
    return (inputs[at : at + size] for at in range(0, len(inputs), size))


def in_portions(capture: Capture, blocks: Sequence[TimedBlock], span_us: int) -> list[list[TimedBlock]]:
    """Blocks of a capture in portions of ``span_us``, or of what a recording of it is taken in at full speed."""
    if span_us == RECORDED_US:
        span_us = recorded_us(framed=capture.sheet.quality.framed, late_us=capture.late_most_us)
    return list(divided(blocks, lambda block: span_us))


def whole(capture: Capture, alpha: float, span_us: int, extra: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """CPU seconds of the pipeline over a capture, blocks of ``span_us`` at a time; and the events that stand then.

    The first tenth is to warm up.
    """
    blocks = [(arrival_us, 0, payload) for arrival_us, payload in capture.payloads(capture.begin_us, capture.end_us)]
    late_us = capture.late_most_us if span_us else None
    portions = in_portions(capture, blocks, span_us)
    warm = MatchPipeline(capture.sheet, PipelineOptions(alpha=alpha, extra=tuple(extra)))
    for portion in portions[: -(-len(portions) // 10)]:
        warm.push_together(portion, None if late_us is None else portion[-1][0] - late_us)
    pipeline = MatchPipeline(capture.sheet, PipelineOptions(alpha=alpha, extra=tuple(extra)))
    gc.collect()
    reported: list[UpdateMessage | None] = []
    began_s = time.process_time()
    for portion in portions:
        reported.append(pipeline.push_together(portion, None if late_us is None else portion[-1][0] - late_us))
    reported.append(pipeline.finish())
    took_s = time.process_time() - began_s
    follower = Follower()
    for message in reported:
        if message is not None:
            follower.apply(message)
    return took_s, dict(follower.events)


def paired(capture: Capture, extra: Sequence[str], level: int) -> dict[str, dict[str, float]]:
    """Times real time with all detectors and with those up to a level, and their ratio.

    Two pipelines take the portions of the capture by turns, so that a machine that is slower for a second is slower for
    both. The first tenth is to warm up.
    """
    blocks = [(arrival_us, 0, payload) for arrival_us, payload in capture.payloads(capture.begin_us, capture.end_us)]
    every = catalogue.DETECTORS
    figures = {}
    for name, (alpha, span_us) in RELEASE_SETTINGS.items():
        portions = in_portions(capture, blocks, span_us)
        options = PipelineOptions(alpha=alpha, extra=tuple(extra))
        pipelines = [MatchPipeline(capture.sheet, options)]
        restrict(level)
        pipelines.append(MatchPipeline(capture.sheet, options))
        catalogue.DETECTORS = every
        took_ns = [0, 0]
        for number, portion in enumerate(portions):
            final_us = portion[-1][0] - capture.late_most_us if span_us else None
            for which in (0, 1) if number % 2 else (1, 0):
                began_ns = time.process_time_ns()
                pipelines[which].push_together(portion, final_us)
                if number >= len(portions) // 10:
                    took_ns[which] += time.process_time_ns() - began_ns
        counted_s = 0.9 * (capture.end_us - capture.begin_us) / 1e6
        whole_speed, speed = (counted_s / (ns / 1e9) for ns in took_ns)
        figures[name] = {"all": whole_speed, f"up to {level}": speed, "share": whole_speed / speed}
    return figures


def measure(capture: Capture, extra: Sequence[str], goal: float) -> dict[str, Any]:
    """All figures of one input."""
    blocks = list(capture.blocks(capture.begin_us, capture.end_us))
    sheet = capture.sheet
    raw = raw_events_by_block(blocks, sheet)
    packets = [packet for block in blocks for packet in block.packets]
    positions = sum(len(packet.ts_us) for packet in packets)
    stream_s = (capture.end_us - capture.begin_us) / 1e6
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(sheet, extra=extra))
    bare(hierarchy, list(chain(*raw[: len(raw) // 10])))
    detectors = bare(hierarchy, list(chain(*raw)))
    bare_by_block(hierarchy, raw[: len(raw) // 10])
    by_block_s = bare_by_block(hierarchy, raw)
    runs = {name: whole(capture, alpha, span_us, extra) for name, (alpha, span_us) in RELEASE_SETTINGS.items()}
    took_s = {name: took for name, (took, _) in runs.items()}
    events = [events for _, events in runs.values()]
    folds_s = sum(row["ms"] for row in detectors.values()) / 1e3
    levels = _by_level(detectors, stream_s)
    weighed = [row["state_bytes"] for name, row in detectors.items() if name != "heat_map"]
    proximity_ms = levels.get(4, {}).get("ms_per_stream_s", 0.0) * stream_s / (positions / 10)
    return {
        "stream_s": round(stream_s, 2),
        "positions_per_s": round(positions / stream_s),
        "detectors": len(detectors),
        "times_real_time": {name: round(stream_s / took, 2) for name, took in took_s.items()},
        "times_real_time_detectors_alone": round(stream_s / folds_s, 2),
        "times_real_time_detectors_by_block": round(stream_s / by_block_s, 2),
        "goal_times_real_time": goal,
        "reached": {name: stream_s / took >= goal for name, took in took_s.items()},
        "events": len(events[0]),
        "events_the_same_in_all": all(other == events[0] for other in events),
        "share_of_detectors": {name: round(folds_s / took, 3) for name, took in took_s.items()},
        "proximity_ms_per_ten_positions": round(proximity_ms, 4),
        "goal_proximity_ms": GOAL_PROXIMITY_MS,
        "state_bytes_mean": round(sum(weighed) / len(weighed)),
        "state_bytes_most": round(max(weighed)),
        "goal_state_bytes": GOAL_STATE_BYTES,
        "levels": levels,
        "by_detector": {
            name: {
                **row,
                "ms_per_stream_s": round(row["ms"] / stream_s, 3),
                "share": round(row["ms"] / 1e3 / folds_s, 4),
            }
            for name, row in sorted(detectors.items(), key=lambda item: -item[1]["ms"])
        },
    }


def _by_level(detectors: dict[str, dict[str, Any]], stream_s: float) -> dict[int, dict[str, Any]]:
    levels: dict[int, dict[str, Any]] = {}
    for level in sorted({row["level"] for row in detectors.values()}):
        mine = [row for row in detectors.values() if row["level"] == level]
        ms, inputs = sum(row["ms"] for row in mine), sum(row["inputs"] for row in mine)
        levels[level] = {
            "detectors": len(mine),
            "inputs": inputs,
            "events": sum(row["events"] for row in mine),
            "ms_per_stream_s": round(ms / stream_s, 3),
            "us_per_input": round(ms * 1e3 / inputs, 2) if inputs else 0.0,
            "state_bytes_mean": round(sum(row["state_bytes"] for row in mine) / len(mine)),
            "state_bytes_most": round(max(row["state_bytes"] for row in mine)),
        }
    return levels


def show(name: str, result: dict[str, Any]) -> None:
    """Return the figures of one input as tables."""
    print(
        f"\n{name}: {result['positions_per_s']:,} positions/s, {result['stream_s']} s, {result['detectors']} detectors"
    )
    speed = ", ".join(f"{key}: {value}" for key, value in result["times_real_time"].items())
    alone = result["times_real_time_detectors_alone"]
    missed = [name for name, reached in result["reached"].items() if not reached]
    goal = f"MISSED ({', '.join(missed)})" if missed else "reached"
    print(f"times real time: {speed}; goal {result['goal_times_real_time']:g} {goal}")
    print(f"detectors alone: {alone}, block by block {result['times_real_time_detectors_by_block']}")
    print(f"{result['events']} events, the same in all three: {'yes' if result['events_the_same_in_all'] else 'NO'}")
    print(f"share of detectors: {result['share_of_detectors']}")
    print(f"proximity: {result['proximity_ms_per_ten_positions']} ms for ten positions (goal {GOAL_PROXIMITY_MS})")
    print(
        f"states: mean {result['state_bytes_mean']} bytes (goal {GOAL_STATE_BYTES}), most {result['state_bytes_most']}"
    )
    print(
        f"{'level':>5} {'detectors':>10} {'inputs':>9} {'events':>8} {'ms/s':>8} {'us/input':>9} "
        f"{'state':>7} {'most':>7}"
    )
    for level, row in result["levels"].items():
        print(
            f"{level:>5} {row['detectors']:>10} {row['inputs']:>9} {row['events']:>8} {row['ms_per_stream_s']:>8} "
            f"{row['us_per_input']:>9} {row['state_bytes_mean']:>7} {row['state_bytes_most']:>7}"
        )
    print(f"{'detector':28} {'inputs':>9} {'events':>8} {'ms/s':>8} {'us/input':>9} {'share':>7} {'state':>7}")
    for detector, row in list(result["by_detector"].items())[:25]:
        print(
            f"{detector:28} {row['inputs']:>9} {row['events']:>8} {row['ms_per_stream_s']:>8} "
            f"{row['us_per_input']:>9.2f} {row['share']:>7.1%} {row['state_bytes']:>7.0f}"
        )


def restrict(level: int) -> None:
    """Leave the detectors above a level out of the catalogue of this process."""
    levels = {
        entry: entry.build(MatchSheet(quality=quality), Parameters()).spec.level
        for quality in catalogue.REFERENCES
        for entry in catalogue.DETECTORS
        if entry.enabled_for(quality)
    }
    catalogue.DETECTORS = tuple(entry for entry in catalogue.DETECTORS if levels[entry] <= level)


def main() -> None:
    """Measures both inputs and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", help="tracking file of the optical part")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--optical-seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--all", action="store_true", help="with the detectors that are there only when asked for")
    parser.add_argument("--up-to", type=int, default=15, help="without the detectors above this level")
    parser.add_argument("--against", type=int, help="compare with the detectors up to this level, and nothing else")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    collect_rarely()
    restrict(chosen.up_to)
    extra = OPT_IN if chosen.all else ()
    with tempfile.TemporaryDirectory() as folder:
        inputs = [("sim", "full", chosen.seconds, "Radio", GOAL_RADIO)] if chosen.seconds else []
        if chosen.source:
            inputs.append((chosen.source, "", chosen.optical_seconds, "Optical", GOAL_OPTICAL))
        result: dict[str, Any] = {}
        for source, rate, seconds, name, goal in inputs:
            capture = capture_of(source, rate, seconds, chosen.seed, Path(folder) / name)
            if chosen.against:
                result[name.lower()] = paired(capture, extra, chosen.against)
                for setting, row in result[name.lower()].items():
                    print(f"{name}, {setting}: " + ", ".join(f"{key} {value:.3g}" for key, value in row.items()))
                continue
            result[name.lower()] = measure(capture, extra, goal)
            show(name, result[name.lower()])
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

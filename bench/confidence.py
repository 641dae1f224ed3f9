"""Is an event as likely to stand as its confidence says?

Matches are simulated, spoiled by the profiles of ``touchline simulate --tracking`` (or sent by radio through channel
``rtls``), and pushed through the engine at full speculation. Each version of an event that is asserted is a sample. It
is good if an event with the same kind, variant, team and player stands at the end, within the window in which two
events count as one (``replay/scoring/rules.py``), and is true where truth covers its kind. The Brier score is the mean
square of confidence less outcome (0 or 1): of the calibrated confidence, beside that of the rules' own and of
"always 1". The reliability table has the share of good samples by confidence.

    python -m bench.confidence [--learn] [--profiles radio optical ...] [--seeds 201 ...] [--minutes 5] [--keep DIR]
                               [--json FILE]

``--learn`` counts the samples and writes ``detectors/confidence.toml``; rows of inputs that are not among the profiles
stay as they are. Without it the table is judged. Learn on the
seeds ``TRAINING``, judge on others. ``--keep`` leaves films and samples in a folder, to use them again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from app.library.simulation import SimulateOptions, prepare, produce, settings_of
from app.pipeline.seal import fingerprint
from bench.ragged import instants, spoiled
from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from detectors.confidence import TABLE, Calibration, Row, calibration, circumstance, input_of, read_table
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from football.payloads import EventPayload, Scalar, payload_of
from football.update_stream import EventRecord
from middleware.engine import Engine
from middleware.events import END_US, Arrival, Update
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from replay.capture import Capture
from replay.scoring.figures import judge
from replay.scoring.readers import read_truth
from replay.scoring.rules import rule_of
from replay.scoring.truth import Mark, Truth
from simulator.radio.channels import channel_named
from simulator.tracking.profile import shipped_profiles

#: Seeds on which the table is counted, and seeds on which it is judged.
TRAINING, CHECKS = (201, 202, 203, 204, 205), (206, 207, 208)

RADIO_PROFILE = "radio"

#: Fewest samples of a row, and of a part of it that becomes a row of its own; fewest matches that they are from.
SAMPLES_MIN, PART_MIN, MATCHES_MIN = 30, 40, 3

#: A part becomes a row of its own if the shares differ by so much, and by so many standard errors.
DIFFERENCE_MIN, ERRORS_MIN = 0.04, 3.0

#: Questions asked of a kind one after the other, at most, and cuts tried of a number.
DEPTH, CUTS = 2, 12

#: Numbers beyond this are instants, not circumstances.
INSTANT = 3e7

#: Bins of the reliability table.
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.001)


_ROOT = Path(__file__).resolve().parents[1]


class Sample(msgspec.Struct, frozen=True):
    """A version of an event when it was asserted, whether it stood and was right, and the seed of its match."""

    kind: str
    tracking: str
    payload: EventPayload
    good: bool
    match: int = 0


# -- samples --------------------------------------------------------------------------------------------------------


def samples_of(profile: str, seed: int, minutes: float, folder: Path) -> list[Sample]:
    """Samples of one match under a profile, from the folder if the same code has counted them."""
    stored = folder / f"samples-{profile}-{seed}-{minutes:g}-{_code()}.json"
    if stored.is_file():
        return msgspec.json.decode(stored.read_bytes(), type=list[Sample])
    if profile == RADIO_PROFILE:
        sheet, pushes, truth = by_radio(seed, minutes, folder / f"radio-{seed}-{minutes:g}")
    else:
        recording, truth, _ = spoiled(profile, seed, minutes, folder)
        sheet = recording.sheet
        pushes = ((one.event.ts_us, [one]) for one in instants(recording))
    found = list(judged(sheet, *play(sheet, pushes), truth, seed))
    stored.write_bytes(msgspec.json.encode(found))
    return found


@cache
def _code() -> str:
    """Return a fingerprint of the code that decides what is emitted; not of the table, which comes after it."""
    parts = ("football", "middleware", "detectors", "simulator")
    files = sorted(file for part in parts for file in (_ROOT / part).rglob("*.py"))
    return fingerprint([(str(file.relative_to(_ROOT)), file.read_text("utf-8")) for file in files])[:12]


def by_radio(seed: int, minutes: float, folder: Path) -> tuple[MatchSheet, Iterator[tuple[int, list[Arrival]]], Truth]:
    """Sheet, pushes and truth of a simulated match that is sent through channel ``rtls``."""
    options = SimulateOptions(folder, seed=seed, minutes=minutes, rate="live", channel="rtls")
    simulation = settings_of(options, None)
    if not (folder / "truth.parquet").is_file():
        prepare(folder, simulation, "rtls")
        produce(options, simulation, channel_named("rtls"), None, Console(quiet=True))
    capture = Capture.open(folder / "capture")
    truth = read_truth(folder / "truth.parquet", capture.sheet).between(capture.begin_us, capture.end_us)
    blocks = capture.blocks(capture.begin_us, capture.end_us)
    return capture.sheet, ((b.arrival_us, [arrival(packet) for packet in b.packets]) for b in blocks), truth


def play(
    sheet: MatchSheet, pushes: Iterator[tuple[int, list[Arrival]]]
) -> tuple[list[EventRecord], dict[str, EventRecord]]:
    """All versions that a speculating engine asserts, with the rules' own confidences, and the events that stand."""
    detectors = build_detectors(sheet)
    maker = RecordMaker(detectors, sheet)
    engine = Engine(Hierarchy(RAW_KINDS, detectors), EngineSettings(UnitSettings(FixedAlpha(0.0))))
    asserted: list[EventRecord] = []
    standing: dict[str, EventRecord] = {}

    def take(updates: Sequence[Update]) -> None:
        for update in updates:
            own = payload_of(update.event).confidence
            record = msgspec.structs.replace(maker.record(update.event), confidence=own)
            if update.diff > 0:
                standing[record.id] = record
                asserted.append(record)
            elif standing.get(record.id) == record:
                del standing[record.id]

    for now_us, arrivals in pushes:
        take(engine.push(arrivals, now_us).updates)
    take(engine.finish().updates)
    return asserted, standing


def judged(
    sheet: MatchSheet, asserted: Sequence[EventRecord], standing: dict[str, EventRecord], truth: Truth, match: int
) -> Iterator[Sample]:
    """Each version once, with its outcome."""
    right: dict[bytes, bool] = {}
    for kind in judge(truth, standing.values()):
        surplus = set(map(id, kind.surplus))
        right |= {_key(mark): id(mark) not in surplus for mark in kind.finds}
    ends: dict[tuple[str, ...], list[tuple[int, bool]]] = defaultdict(list)
    for last in standing.values():
        ends[_says(last)].append((last.ts_us, right.get(_key(truth.find(last)), True)))
    seen: set[bytes] = set()
    for record in asserted:
        if (key := msgspec.json.encode(record)) in seen:
            continue
        seen.add(key)
        same = [(abs(ts_us - record.ts_us), good) for ts_us, good in ends[_says(record)]]
        apart_us, good = min(same, default=(END_US, False))
        payload = EventPayload(
            record.variant, record.team, record.player, confidence=record.confidence, detail=record.detail
        )
        good = good and apart_us <= rule_of(record.kind).window_us
        yield Sample(record.kind, input_of(sheet.quality), payload, good, match)


def _says(record: EventRecord) -> tuple[str, ...]:
    return record.kind, record.variant, record.team, record.player


def _key(mark: Mark) -> bytes:
    return msgspec.json.encode(mark)


# -- learning -------------------------------------------------------------------------------------------------------


def learned(samples: Sequence[Sample]) -> list[Row]:
    """The table that the samples give."""
    groups: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.kind, sample.tracking].append(sample)
    rows: list[Row] = []
    for (kind, name), group in sorted(groups.items()):
        if len(group) >= SAMPLES_MIN and len({sample.match for sample in group}) >= MATCHES_MIN:
            rows += parted(kind, name, group, (), DEPTH)
    return rows


def renewed(before: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """The table with the rows of a count in place of the former rows of the same inputs."""
    counted = {row.tracking for row in rows}
    both = [*rows, *(row for row in before if row.tracking not in counted)]
    return sorted(both, key=lambda row: (row.kind, row.tracking))


def parted(kind: str, name: str, group: Sequence[Sample], where: tuple[str, ...], depth: int) -> Iterator[Row]:
    """The rows of a group: one, or those of the two parts that tell most of the outcome."""
    best = max(cuts(group), key=lambda cut: cut[0], default=None) if depth else None
    if best is None or best[0] <= 0.0:
        yield Row(kind, name, chance(group), len(group), where)
        return
    _, yes, no, inside, outside = best
    yield from parted(kind, name, inside, (*where, yes), depth - 1)
    yield from parted(kind, name, outside, (*where, no) if no else where, depth - 1)


def chance(group: Sequence[Sample]) -> float:
    """Share of good samples in hundredths; never 0 or 1, since samples make nothing certain."""
    return min(max(round(sum(sample.good for sample in group) / len(group), 2), 0.01), 0.99)


def cuts(group: Sequence[Sample]) -> Iterator[tuple[float, str, str, list[Sample], list[Sample]]]:
    """Conditions that part a group, with how much of the square error each explains, and the parts.

    The profiles film the same matches, so that one event is many samples: what parts them must do so across matches.
    Where on the pitch something was is no circumstance; its mirror image is as likely.

    The rows of the second part follow those of the first; it needs no condition where the first has one by text.
    """
    for name in sorted({"confidence", "variant"} | {name for sample in group for name in sample.payload.detail}):
        if name.endswith(("_x_m", "_y_m")):
            continue
        values = [circumstance(sample.payload, name) for sample in group]
        for yes, no, chosen in _conditions(name, values):
            inside = [sample for sample, one in zip(group, chosen, strict=True) if one]
            outside = [sample for sample, one in zip(group, chosen, strict=True) if not one]
            if (gain := _gain(inside, outside)) > 0.0 and _holds(inside, outside):
                yield gain, yes, no, inside, outside


def _conditions(name: str, values: Sequence[Scalar]) -> Iterator[tuple[str, str, list[bool]]]:
    numbers = sorted(float(v) for v in values if isinstance(v, int | float))
    if numbers and max(abs(numbers[0]), abs(numbers[-1])) < INSTANT:
        for share in range(1, CUTS):
            bound = float(f"{numbers[len(numbers) * share // CUTS]:.3g}")
            yield f"{name} < {bound:g}", "", [isinstance(v, int | float) and v < bound for v in values]
    texts = {v for v in values if isinstance(v, str) and v and "#" not in v and ":" not in v}
    if len(texts) <= CUTS:
        for text in sorted(texts):
            yield f"{name} = {text}", "", [v == text for v in values]


def _gain(inside: Sequence[Sample], outside: Sequence[Sample]) -> float:
    """The square error that parting removes, in all; 0 if the parts are too small or too alike."""
    n, m = len(inside), len(outside)
    if min(n, m) < PART_MIN:
        return 0.0
    p, q = sum(s.good for s in inside) / n, sum(s.good for s in outside) / m
    both = (p * n + q * m) / (n + m)
    error = math.sqrt(both * (1.0 - both) * (1.0 / n + 1.0 / m))
    if abs(p - q) < max(DIFFERENCE_MIN, ERRORS_MIN * error):
        return 0.0
    return (p - q) ** 2 * n * m / (n + m)


def _holds(inside: Sequence[Sample], outside: Sequence[Sample]) -> bool:
    """True if the shares of all other matches say more of a match than one share does: in all, and of most matches."""
    parts = _by_match(inside), _by_match(outside)
    totals = [tuple(map(sum, zip(*part.values(), strict=True))) for part in parts]
    whole_n, whole_good = map(sum, zip(*totals, strict=True))
    gains = []
    for match in parts[0].keys() | parts[1].keys():
        seen = [part.get(match, (0, 0)) for part in parts]
        rest_n = whole_n - sum(n for n, _ in seen)
        gained = 0.0
        one = (whole_good - sum(good for _, good in seen)) / rest_n if rest_n else 0.0
        for (part_n, part_good), (n, good) in zip(totals, seen, strict=True):
            if part_n == n:
                return False
            own = (part_good - good) / (part_n - n)
            gained += good * ((1.0 - one) ** 2 - (1.0 - own) ** 2) + (n - good) * (one**2 - own**2)
        gains.append(gained)
    return sum(gains) > 0.0 and sum(gain > 0.0 for gain in gains) > len(gains) / 2


def _by_match(part: Sequence[Sample]) -> dict[int, tuple[int, int]]:
    """Numbers of samples, and of good ones, by match."""
    counts: dict[int, tuple[int, int]] = {}
    for sample in part:
        n, good = counts.get(sample.match, (0, 0))
        counts[sample.match] = n + 1, good + sample.good
    return counts


def written(rows: Sequence[Row]) -> str:
    """The table as TOML, a row a line."""
    head = "# The chance that an event stands and is right. Made by `python -m bench.confidence --learn`; see"
    lines = [
        head,
        "# detectors/confidence.py. Of rows of one kind and input the first that applies decides.",
        "row = [",
    ]
    for row in rows:
        where = f", where = {json.dumps(row.where)}" if row.where else ""
        about = f'kind = "{row.kind}", tracking = "{row.tracking}", chance = {row.chance:g}, samples = {row.samples}'
        lines.append(f"  {{ {about}{where} }},")
    return "\n".join([*lines, "]", ""])


# -- judging --------------------------------------------------------------------------------------------------------


def brier(samples: Sequence[Sample], table: Calibration) -> dict[str, float]:
    """Brier scores of the table, of the rules' own confidences, and of always 1."""
    n = len(samples)
    return {
        "samples": n,
        "good": sum(s.good for s in samples) / n,
        "calibrated": sum((calibrated(s, table) - s.good) ** 2 for s in samples) / n,
        "own": sum((s.payload.confidence - s.good) ** 2 for s in samples) / n,
        "always_1": sum(1 - s.good for s in samples) / n,
    }


def calibrated(sample: Sample, table: Calibration) -> float:
    """The published confidence of a sample."""
    return table.of(sample.tracking).confidence(sample.kind, sample.payload)


def reliability(samples: Sequence[Sample], table: Calibration) -> list[dict[str, float]]:
    """By bin of confidence: samples, mean confidence, share of good ones."""
    rows = []
    for low, high in pairwise(BINS):
        inside = [(c, s.good) for s in samples if low <= (c := calibrated(s, table)) < high]
        if inside:
            mean = sum(c for c, _ in inside) / len(inside)
            good = sum(g for _, g in inside) / len(inside)
            rows.append({"from": low, "samples": len(inside), "confidence": mean, "good": good})
    return rows


def main() -> None:
    """Learns or judges; prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", action="store_true", help="write the table that the samples give")
    parser.add_argument("--profiles", nargs="+", default=[RADIO_PROFILE, *shipped_profiles()])
    parser.add_argument("--seeds", type=int, nargs="+", help="default: those to learn on, or to judge on")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--keep", type=Path, help="a folder for films and samples")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    seeds = chosen.seeds or (TRAINING if chosen.learn else CHECKS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        samples: dict[str, list[Sample]] = defaultdict(list)
        for seed in seeds:
            for profile in chosen.profiles:
                samples[profile] += samples_of(profile, seed, chosen.minutes, folder)
                print(f"seed {seed}, {profile}: {len(samples[profile])} samples", file=sys.stderr, flush=True)
    every = [sample for some in samples.values() for sample in some]
    if chosen.learn:
        rows = renewed(read_table(TABLE.read_text(encoding="utf-8")), learned(every))
        TABLE.write_text(written(rows), encoding="utf-8")
        print(f"{len(rows)} rows from {len(every)} samples")
    table = Calibration(rows) if chosen.learn else calibration()
    result = report(samples, every, table)
    if chosen.json:
        chosen.json.write_text(json.dumps({"seeds": list(seeds), **result}, indent=1), encoding="utf-8")


def report(samples: dict[str, list[Sample]], every: Sequence[Sample], table: Calibration) -> dict[str, Any]:
    """Prints the scores by profile and by kind, and the reliability; returns them."""
    by_profile = {profile: brier(some, table) for profile, some in samples.items()}
    kinds: dict[str, list[Sample]] = defaultdict(list)
    for sample in every:
        kinds[sample.kind].append(sample)
    by_kind = {kind: brier(some, table) for kind, some in sorted(kinds.items())}
    columns = ("samples", "good", "calibrated", "own", "always_1")
    for title, scores in (("profile", {**by_profile, "all": brier(every, table)}), ("kind", by_kind)):
        print(f"\n{title:22}" + "".join(f"{column:>12}" for column in columns))
        for name, score in scores.items():
            print(f"{name:22}{score['samples']:12}" + "".join(f"{score[column]:12.4f}" for column in columns[1:]))
    bins = reliability(every, table)
    print(f"\n{'confidence':>10}{'samples':>10}{'good':>8}")
    for row in bins:
        print(f"{row['confidence']:10.3f}{row['samples']:10}{row['good']:8.3f}")
    return {"profiles": by_profile, "kinds": by_kind, "reliability": bins}


if __name__ == "__main__":
    main()

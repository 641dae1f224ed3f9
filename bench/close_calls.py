"""Is a reviewed call as likely to be right as its probability says?

Matches are simulated and measured: by radio (``radio``: feet at 50 Hz, ball at 200 Hz, with shadow and echoes), or by a
camera system (``optical``: a point for a body, 25 Hz). The reviewed instant of a kick begins at the time that the
detectors find. Truth is the noiseless path at the true instant. The calls are:

* ``offside``: mates at each pass, moved near to the offside line.
* ``distance``: opponents at each pass, against a distance that is nearly theirs.
* ``area``: players in open play, against a penalty area with a line that is moved near to them.
* ``line``: the ball where it turns back, against a line that is moved near to that place.

Of each call the table has the number, the share that was right, the Brier score of the probability (the mean square of
probability less outcome; 0.25 is a coin), the expected calibration error over ten bins, the share of true margins
within the stated 95 % interval, and the median error of the margin. No true margin is larger than ``NEAR_M``.

    python -m bench.close_calls [--seeds 301 302 303 304] [--inputs radio optical] [--minutes 3] [--json FILE]

The numbers of ``replay/review`` were found on seeds 11 and 12; the default seeds are others.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from bench.sorted_world import packets_of
from detectors.catalogue import build_detectors
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet, Quality
from football.packets import RAW_KINDS, raw_kind
from football.pitch import PENALTY_AREA_DEPTH_M, Pitch, pitch_of
from football.recording import Recording, Track, track_order
from football.update_stream import EventRecord
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from replay.review.calls import (
    BALL_RADIUS_M,
    Call,
    Line,
    ReviewError,
    Scene,
    offside,
    over_line,
    penalty_area,
    too_near,
)
from replay.review.kick import exactly, kick_instant
from replay.review.motion import Floats, Noise, Samples, noise_of
from simulator.filming import film
from simulator.simulate import MeasuredMatch, Simulation
from simulator.tracking.profile import read_profile
from simulator.tracking.tracked_table import track
from simulator.truth.match_truth import Truth, records_of

#: True margins are at most so large.
NEAR_M = 0.15
#: A found pass is the true one within this time.
SAME_US = 150_000
#: What a tracking file of cameras declares, see :mod:`replay.formats.tracking`.
CAMERA = Quality(25.0, 25.0, (), True, 0.08, "optical")
CALLS = ("offside", "distance", "area", "line")


class Judged(NamedTuple):
    """A call with its true margin in metres."""

    call: Call
    true_m: float


class Measured(NamedTuple):
    """A match as it was measured and as it was: samples and true paths by transmitter, true kicks, its sheet."""

    sheet: MatchSheet
    samples: dict[str, Samples]
    true: dict[str, Samples]
    kicks: list[EventRecord]


def settings_of(seed: int, minutes: float, kind: str) -> Simulation:
    """Return the settings of a match: those of the live rate, or of points for bodies."""
    limbs = () if kind == "optical" else Simulation.limbs
    return Simulation(seed=seed, duration_s=60 * minutes, limbs=limbs)


def measured(seed: int, minutes: float, kind: str) -> Measured:
    """Play a match and measure it."""
    settings = settings_of(seed, minutes, kind)
    true_match = MeasuredMatch(Simulation(**{**vars(settings), "noise_m": 0.0, "ball_hz": 1000, "body_hz": 200}))
    truth = Truth(true_match.sheet, true_match.play)  # type: ignore[arg-type]
    true = tracks_of(true_match, truth)
    kicks = [one for one in records_of(truth.finish()[0]) if one.kind == "pass.attempt"]
    if kind == "radio":
        match = MeasuredMatch(settings)
        return Measured(match.sheet, tracks_of(match), true, kicks)
    frames = track(film(settings).frames, read_profile("optical"), seed)
    samples = {"ball": framed("ball", frames.ts_us, frames.ball)}
    for column, name in enumerate(frames.ids):
        samples[name] = framed(name, frames.ts_us, frames.bodies[:, column])
    return Measured(msgspec.structs.replace(frames.sheet, quality=CAMERA), samples, true, kicks)


def tracks_of(match: MeasuredMatch, truth: Truth | None = None) -> dict[str, Samples]:
    """Measure a match; ``truth`` watches it."""
    rows: defaultdict[str, list[tuple[Any, Any]]] = defaultdict(list)
    for _, found, _ in match.measured(truth.take if truth else None):
        for name, one in zip(match.names, found, strict=True):
            rows[name].append(one)
    tracks = {}
    for name, parts in rows.items():
        ts_us: Floats = np.concatenate([times for times, _ in parts]).astype(np.float64)
        values = np.concatenate([one for _, one in parts])
        if len(ts_us):
            tracks[name] = Samples(name, ts_us, values[:, :3] / 1000.0, values[:, 3] / 100.0)
    return tracks


def framed(name: str, at_us: Any, places: Floats) -> Samples:
    """Return the rows of a tracking file of an object, in whole centimetres as files have them."""
    there = np.isfinite(places[:, 0])
    xyz_m = np.zeros((int(there.sum()), 3))
    xyz_m[:, : places.shape[1]] = np.round(np.nan_to_num(places[there]), 2)
    return Samples(name, at_us[there].astype(float), xyz_m, np.ones(len(xyz_m)))


def found_passes(match: Measured) -> list[EventRecord]:
    """Return the passes that the detectors find in what was measured, in order."""
    tracks = tuple(
        Track(name, one.ts_us.astype(np.int64), *np.ascontiguousarray(one.xyz_m.T))
        for name, one in sorted(match.samples.items(), key=lambda item: track_order(item[0]))
    )
    detectors = build_detectors(match.sheet)
    kinds, chosen = {"pass.attempt"}, set[str]()
    while more := [d.spec for d in detectors if d.spec.name not in chosen and kinds.intersection(d.spec.outputs)]:
        chosen.update(spec.name for spec in more)
        kinds.update(kind for spec in more for kind in spec.inputs)
    needed = [detector for detector in detectors if detector.spec.name in chosen]
    records = RecordMaker(needed, match.sheet)
    raw = packets_of(Recording(match.sheet, tracks))
    events = published(Hierarchy(RAW_KINDS, needed), raw)
    return [records.record(event) for event in events if event.kind == "pass.attempt"]


def place_at(path: Samples, at_us: float) -> Floats:
    """Return the true place at an instant."""
    return np.array([np.interp(at_us, path.ts_us, path.xyz_m[:, axis]) for axis in range(3)])


class Judge:
    """Reviews the calls of a match and holds them against truth.

    Attributes:
        kick_errors_ms: errors of the detectors' instants, and of the reviewed ones with their stated deviation.
    """

    def __init__(self, match: Measured, seed: int) -> None:
        self._match, self._random = match, np.random.default_rng(seed)
        self._pitch: Pitch = pitch_of(match.sheet)
        self._teams = {player.object_id: player.team for player in match.sheet.players}
        self._attacks = {"home": 1.0, "away": -1.0}
        if match.sheet.attacks_positive_x == "away":
            self._attacks = {"home": -1.0, "away": 1.0}
        self._by_object: defaultdict[str, list[Samples]] = defaultdict(list)
        for one in match.true.values():
            if raw_kind(one.transmitter) in ("raw.limb", "raw.player") and not one.part.endswith("hand"):
                self._by_object[one.object_id].append(one)
        self._found = found_passes(match)
        self.kick_errors_ms: list[tuple[float, float, float]] = []

    def calls(self) -> Iterator[Judged]:
        """Yield all calls of the match."""
        for kick in self._match.kicks:
            near = [one for one in self._found if one.player == kick.player and abs(one.ts_us - kick.ts_us) < SAME_US]
            if near:
                found_us = min(near, key=lambda one: abs(one.ts_us - kick.ts_us)).ts_us
                yield from self._at_kick(kick, found_us)
        yield from self._turns()

    def _near(self, about_us: float) -> tuple[dict[str, Samples], Noise]:
        samples = {}
        for name, one in self._match.samples.items():
            low, high = np.searchsorted(one.ts_us, (about_us - 1e6, about_us + 1e6))
            if high > low:
                samples[name] = Samples(name, one.ts_us[low:high], one.xyz_m[low:high], one.quality[low:high])
        return samples, noise_of(samples, self._match.sheet.quality.position_noise_m)

    def _at_kick(self, kick: EventRecord, found_us: int) -> Iterator[Judged]:
        samples, noise = self._near(found_us)
        instant = kick_instant(samples.get("ball"), found_us, self._match.sheet.quality.ball_hz)
        error_ms = (instant.mean_us - kick.ts_us) / 1e3
        self.kick_errors_ms.append(((found_us - kick.ts_us) / 1e3, error_ms, instant.deviation_us / 1e3))
        scene = Scene(samples, self._teams, noise, instant)
        sign = self._attacks[kick.team]
        rivals = [name for name, team in self._teams.items() if team and team != kick.team]
        fronts = sorted(self._front(name, kick.ts_us, sign) for name in rivals if name in self._by_object)
        fronts = [one for one in fronts if one > -1e6]
        line_m = max(fronts[-2], sign * place_at(self._match.true["ball"], kick.ts_us)[0], 0.0)
        mates = [name for name, team in self._teams.items() if team == kick.team and name != kick.player]
        for name in self._random.permutation(mates)[:4].tolist():
            front_m, true_m = self._front(name, kick.ts_us, sign), float(self._random.uniform(-NEAR_M, NEAR_M))
            if front_m > -1e6:
                moved = {key: _moved(one, name, sign * (line_m + true_m - front_m)) for key, one in samples.items()}
                close = Scene(moved, self._teams, noise, instant)
                yield from self._tried(partial(offside, close, name, sign, "ball", self._pitch), true_m)
        ball_m = place_at(self._match.true["ball"], kick.ts_us)[:2]
        for name in rivals:
            gap_m = min((float(np.hypot(*(p[:2] - ball_m))) for p in self._parts(name, kick.ts_us)), default=1e9)
            if gap_m < 15.0:
                true_m = float(self._random.uniform(-NEAR_M, NEAR_M))
                least_m = gap_m + true_m
                yield from self._tried(partial(too_near, scene, name, least_m, ("ball",)), true_m)
            yield from self._in_area(samples, noise, name, kick.ts_us)

    def _in_area(self, samples: Mapping[str, Samples], noise: Noise, name: str, at_us: int) -> Iterator[Judged]:
        parts = self._parts(name, at_us)
        if not parts:
            return
        true_m, deepest_m = float(self._random.uniform(-NEAR_M, NEAR_M)), max(p[0] for p in parts)
        if deepest_m > 5.0 and all(abs(p[1]) < 18.0 for p in parts):
            moved = Pitch(deepest_m - true_m + PENALTY_AREA_DEPTH_M, self._pitch.half_width_m)
            scene = Scene(samples, self._teams, noise, exactly(at_us))
            yield from self._tried(partial(penalty_area, scene, name, "right", moved), true_m)

    def _turns(self) -> Iterator[Judged]:
        """The ball where it turns back along the pitch or across it."""
        ball, reach, rate_hz = self._match.true["ball"], 80, self._match.sheet.quality.ball_hz
        at_us = np.arange(ball.ts_us[0] + 2e6, ball.ts_us[-1] - 2e6, 5_000.0)
        for axis, sign in product((0, 1), (-1.0, 1.0)):
            u_m = sign * np.interp(at_us, ball.ts_us, ball.xyz_m[:, axis])
            for index in range(reach, len(u_m) - reach):
                around = u_m[index - reach : index + reach + 1]
                if around.argmax() != reach or around[reach] - max(around[0], around[-1]) < 0.5:
                    continue
                true_m = float(self._random.uniform(-NEAR_M, NEAR_M))
                line = Line(axis, sign, float(u_m[index]) - BALL_RADIUS_M - true_m, 34.0)
                samples, noise = self._near(at_us[index])
                about_us = at_us[index] + self._random.uniform(-100_000, 100_000)
                judge = partial(over_line, samples, noise, rate_hz, about_us, "ball", line)
                yield from self._tried(judge, true_m)

    def _front(self, name: str, at_us: float, sign: float) -> float:
        return max((sign * float(place[0]) for place in self._parts(name, at_us)), default=-1e9)

    def _parts(self, name: str, at_us: float) -> list[Floats]:
        return [
            place_at(one, at_us)
            for one in self._by_object.get(name, ())
            if np.abs(one.ts_us[np.clip(np.searchsorted(one.ts_us, at_us), 0, len(one.ts_us) - 1)] - at_us) < 1e5
        ]

    def _tried(self, judge: Callable[[], Call], true_m: float) -> Iterator[Judged]:
        try:
            yield Judged(judge(), true_m)
        except ReviewError:
            return


def _moved(one: Samples, name: str, by_m: float) -> Samples:
    """Samples of an object moved along the pitch; those of others as they are."""
    return one._replace(xyz_m=one.xyz_m + np.array([by_m, 0.0, 0.0])) if one.object_id == name else one


def figures(judged: list[Judged]) -> dict[str, float]:
    """Figures of the calls of one kind."""
    chance = np.array([one.call.probability for one in judged])
    is_so = np.array([one.true_m > 0.0 for one in judged], float)
    errors = np.array([one.call.margin_m - one.true_m for one in judged])
    inside = [one.call.low_m <= one.true_m <= one.call.high_m for one in judged]
    bins = np.minimum((chance * 10).astype(int), 9)
    gaps = [abs(chance[bins == b].mean() - is_so[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist())]
    stated = np.array([one.call.deviation_m for one in judged])
    found = {
        "calls": len(judged), "right": ((chance > 0.5) == (is_so > 0.5)).mean(),
        "brier": ((chance - is_so) ** 2).mean(),
        "calibration_error": sum(gaps), "within_95": np.mean(inside), "error_cm": 100 * np.median(abs(errors)),
        "stated_cm": 100 * np.median(stated), "spread_over_stated": np.median(abs(errors) / stated) / 0.6745,
    }  # fmt: skip
    return {name: round(float(value), 4) for name, value in found.items()}


def main() -> None:
    """Print a table an input; write all figures with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[301, 302, 303, 304])
    parser.add_argument("--inputs", nargs="+", default=["radio", "optical"], choices=["radio", "optical"])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    result: dict[str, Any] = {"seeds": chosen.seeds, "minutes": chosen.minutes, "inputs": {}}
    for kind in chosen.inputs:
        by_call: defaultdict[str, list[Judged]] = defaultdict(list)
        errors: list[tuple[float, float, float]] = []
        for seed in chosen.seeds:
            judge = Judge(measured(seed, chosen.minutes, kind), seed)
            for one in judge.calls():
                by_call[one.call.question].append(one)
            errors += judge.kick_errors_ms
        rows: dict[str, Any] = {name: figures(by_call[name]) for name in CALLS if by_call[name]}
        found, reviewed, stated = np.array(errors).T
        kicks = {
            "kicks": len(errors), "found_ms": np.median(abs(found)), "reviewed_ms": np.median(abs(reviewed)),
            "found_p95_ms": np.quantile(abs(found), 0.95), "reviewed_p95_ms": np.quantile(abs(reviewed), 0.95),
            "spread_over_stated": np.median(abs(reviewed) / stated) / 0.6745, "bias_ms": np.median(reviewed),
        }  # fmt: skip
        kicks = {name: round(float(value), 2) for name, value in kicks.items()}
        result["inputs"][kind] = {"calls": rows, "instant": kicks}
        print(f"\n## {kind}, {chosen.minutes:g} min, seeds {chosen.seeds}\n")
        print("| call | " + " | ".join(next(iter(rows.values()))) + " |")
        for name, row in rows.items():
            print(f"| {name} | " + " | ".join(f"{value:g}" for value in row.values()) + " |")
        print(kicks)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

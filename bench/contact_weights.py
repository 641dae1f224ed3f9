"""Fit the chances by which centroids are given contacts with the ball (5.1, 5.2) to simulated matches.

Matches are filmed by tracking profiles, as ``bench.ragged`` does. Samples are the detectors' own contacts, each with
its candidates; truth says who played the ball. The weights are those that make what happened most likely, where each
contact is judged as the detector does it, after those before it. They are fitted on three quarters of the seeds and
counted on the last one, in turn: contacts with two candidates that the most likely one did not make, beside those by
the weights in force and by distance alone. The ratio of the wrong ones, fitted to in force, is paired by match; its
90 % interval is by bootstrap over matches.

    python -m bench.contact_weights [--profiles ragged optical ...] [--seeds 301 302 ...] [--minutes 5] [--keep DIR]

The printed weights go into ``ContactParameters``.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from bench.accuracy import needed
from bench.ragged import instants, spoiled
from detectors.catalogue import build_detectors
from detectors.contacts.contact_attribution import PreviousContact, attribution, with_spread
from detectors.contacts.contact_parameters import ContactParameters, contact_rule
from detectors.contacts.hits import CONTACTS, contact_of
from detectors.proximity.near import Candidate, NearParameters
from football.match_sheet import MatchSheet, Team
from football.packets import RAW_KINDS
from football.payloads import EventPayload, Frame, frame_of, payload_of
from middleware.events import canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay

PROFILES = ("ragged", "optical_keyed", "optical", "optical_swaps", "optical_frozen")
SEEDS = tuple(range(301, 313))
#: Parts of the seeds, of which one at a time is not fitted.
FOLDS = 4
DRAWS, COVERED = 2_000, 0.9
#: A contact of the truth so near in time is the one that was found.
WITHIN_US = 150_000
#: What is fitted; one weight a parameter.
WEIGHTS = (
    "nearer_factor",
    "push_share",
    "before_share",
    "after_s",
    "beyond_factor",
    "own_m",
    "kick_m",
    "forward_m",
    "lead_m",
)
#: Where weights belong, so that a step of the fit moves each by as much.
SCALE = np.array([3.0, 0.2, 0.2, 0.2, 2.0, 0.6, 0.6, 0.3, 0.2])
#: No chance is less: a swap of names makes what happened impossible.
LEAST = 1e-3
Floats = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """A contact: when, what the ball did, who may have made it, who attacks +x, the next frame, and who made it."""

    at_us: int
    payload: EventPayload
    candidates: tuple[Candidate, ...]
    attacks: Team
    frame: Frame
    by: frozenset[str]


class Match(NamedTuple):
    """The contacts of a seed under a profile, in order."""

    profile: str
    seed: int
    sheet: MatchSheet
    samples: tuple[Sample, ...]


def match_of(profile: str, seed: int, minutes: float, folder: Path) -> Match:
    """Film and fold a seed, up to its contacts."""
    recording, truth, _ = spoiled(profile, seed, minutes, folder)
    hierarchy = Hierarchy(RAW_KINDS, needed(build_detectors(recording.sheet), (*CONTACTS, "direction", "frame")))
    raw = [one.event for one in instants(recording)]
    emitted = [event for event in sorted_replay(hierarchy, raw) if event.kind in (*CONTACTS, "direction", "frame")]
    true = sorted((mark.ts_us, mark.player) for mark in truth.marks if mark.kind in ("hit", "touch"))
    times_us = [ts_us for ts_us, _ in true]
    attacks: Team = ""
    frames = [event for event in emitted if event.kind == "frame"]
    frames_us = [event.ts_us for event in frames]
    samples = []
    for event in sorted(emitted, key=lambda event: canonical_key(event, hierarchy.rank)):
        if event.kind == "direction":
            attacks = payload_of(event).team
        if event.kind not in CONTACTS:
            continue
        contact, at_us = contact_of(event), event.ts_us
        first, end = bisect_left(times_us, at_us - WITHIN_US), bisect_right(times_us, at_us + WITHIN_US)
        by = frozenset(player for _, player in true[first:end])
        frame = frame_of(frames[min(bisect_right(frames_us, at_us), len(frames) - 1)])
        samples.append(Sample(at_us, payload_of(contact.event), contact.candidates, attacks, frame, by))
    return Match(profile, seed, recording.sheet, tuple(samples))


class Count(NamedTuple):
    """Contacts with two candidates, those that the most likely one did not make, and -log of the chance of what was."""

    contacts: int
    wrong: int
    surprise: float


def count(match: Match, p: ContactParameters) -> Count:
    """Judge the contacts of a match one after another, as 5.1 does."""
    rule = contact_rule("hit", match.sheet, p, NearParameters())
    last, contacts, wrong, surprise = PreviousContact(), 0, 0, 0.0
    for sample in match.samples:
        last = with_spread(msgspec.structs.replace(last, attacks=sample.attacks), sample.candidates, p)
        chances = attribution(sample.candidates, sample.at_us, sample.payload, last, rule, sample.frame)[1]
        player = max(chances, key=lambda one: one[1])[0]
        last = msgspec.structs.replace(last, at_us=sample.at_us, by=player, chances=chances)
        right = sum(chance for name, chance in chances if name in sample.by)
        if len(chances) > 1 and right > 0.0:
            contacts, wrong = contacts + 1, wrong + (player not in sample.by)
            surprise -= math.log(max(right, LEAST))
    return Count(contacts, wrong, surprise)


def fitted(matches: Sequence[Match]) -> ContactParameters:
    """The weights that make the contacts of some matches most likely."""
    in_force = ContactParameters()
    start = np.array([getattr(in_force, name) for name in WEIGHTS]) / SCALE

    def surprise(x: Floats) -> float:
        p = _with(in_force, x * SCALE)
        return sum(count(match, p).surprise for match in matches)

    bounds = [(0.0, 5.0)] * len(WEIGHTS)
    found = minimize(surprise, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 15, "eps": 1e-3})
    return _with(in_force, found.x * SCALE)


def _with(p: ContactParameters, values: Floats) -> ContactParameters:
    return msgspec.structs.replace(p, **dict(zip(WEIGHTS, values.tolist(), strict=True)))


def ratio(fitted_wrong: Floats, in_force_wrong: Floats) -> tuple[float, float, float]:
    """The ratio of wrong contacts over all matches, and its interval by bootstrap over matches."""
    draws = np.random.default_rng(1).integers(len(fitted_wrong), size=(DRAWS, len(fitted_wrong)))
    drawn = fitted_wrong[draws].sum(axis=1) / np.maximum(in_force_wrong[draws].sum(axis=1), 1.0)
    tail = 50.0 * (1.0 - COVERED)
    low, high = np.percentile(drawn, [tail, 100.0 - tail]).tolist()
    return float(fitted_wrong.sum() / max(in_force_wrong.sum(), 1.0)), low, high


def main() -> None:
    """Fit, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="+", default=list(PROFILES))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--keep", type=Path, help="a folder for films, to use them again")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        matches = [match_of(name, seed, chosen.minutes, folder) for seed in chosen.seeds for name in chosen.profiles]
    in_force = ContactParameters()
    distance = msgspec.structs.replace(in_force, **{**dict.fromkeys(WEIGHTS[1:], 0.0), "beyond_factor": 1.0})
    wrong: list[tuple[str, tuple[int, ...]]] = []
    for fold in range(FOLDS):
        tested = set(chosen.seeds[fold::FOLDS])
        p = fitted([match for match in matches if match.seed not in tested])
        print(f"without seeds {sorted(tested)}: {_weights(p)}", flush=True)
        for match in (one for one in matches if one.seed in tested):
            counts = [count(match, each) for each in (p, in_force, distance)]
            wrong.append((match.profile, (counts[0].contacts, *(each.wrong for each in counts))))
    print(
        "\n| profile | contacts | wrong, fitted | in force | by distance | fitted to in force |",
        "|---" * 6 + "|",
        sep="\n",
    )
    for name in (*chosen.profiles, ""):
        rows = np.array([row for profile, row in wrong if name in (profile, "")], float)
        share, low, high = ratio(rows[:, 1], rows[:, 2])
        cells = " | ".join(f"{total:.0f}" for total in rows.sum(axis=0))
        print(f"| {name or 'all'} | {cells} | {share:.2f} ({low:.2f} to {high:.2f}) |")
    print(f"\nall seeds: {_weights(fitted(matches))}")
    print(f"in force:  {_weights(in_force)}")


def _weights(p: ContactParameters) -> str:
    return ", ".join(f"{name} {getattr(p, name):.2f}" for name in WEIGHTS)


if __name__ == "__main__":
    main()

"""Fit the chance by which centroids claim tackles (6.8) to simulated matches.

Matches are filmed by tracking profiles, as ``bench.ragged`` does. Samples are the tackles that the detector of duels
claims without a chance, each with its evidence; truth says which are. The weights make what happened most likely, with
a mild preference for small ones. For each least chance the table has tackles right, claimed and true, and F1: of the
seeds fitted, each by the weights of the others, and of seeds that are not fitted.

    python -m bench.tackle_weights [--profiles ragged ...] [--seeds 301 302 ...] [--checks 401 402 ...] [--keep DIR]

The printed weights go into ``DuelParameters``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from bench.accuracy import needed
from bench.ragged import instants, spoiled
from detectors.actions.duels import Claim, Duel, Evidence, evidence_of
from detectors.catalogue import build_detectors
from football.packets import RAW_KINDS
from football.payloads import Frame
from middleware.events import canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay

PROFILES = ("ragged", "optical_keyed", "optical")
SEEDS, CHECKS = tuple(range(301, 325)), tuple(range(401, 421))
LEAST = (0.0, 0.03, 0.05, 0.1, 0.2, 0.3)
#: A tackle of the truth so near in time, by the same player, is the one that is claimed.
WITHIN_US = 500_000
#: Where weights belong: of the constant, a second, a single touch, a metre of reach, a metre off.
SCALE = np.array([1.0, 2.0, 2.5, 4.0, 1.1])
Floats = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """A tackle that is claimed, of a seed, and whether it is one."""

    seed: int
    evidence: Evidence
    true: bool


class Recorder(Duel):
    """The detector of duels, which keeps the evidence of what it claims and takes all of it."""

    def __init__(self) -> None:
        super().__init__(limbs=False)
        self.claims: list[tuple[int, str, Evidence]] = []

    def is_sure(self, claim: Claim, frame: Frame) -> bool:
        """Keep the evidence."""
        if claim.event.kind != "frame":
            self.claims.append((claim.event.ts_us, claim.rival, evidence_of(claim, frame)))
        return True


def samples_of(profile: str, seed: int, minutes: float, folder: Path) -> tuple[list[Sample], int]:
    """The tackles that are claimed of a seed under a profile, and the number of true ones."""
    recording, truth, _ = spoiled(profile, seed, minutes, folder)
    recorder = Recorder()
    hierarchy = Hierarchy(RAW_KINDS, needed(build_detectors(recording.sheet), recorder.spec.inputs))
    emitted = sorted_replay(hierarchy, [one.event for one in instants(recording)])
    inputs = [event for event in emitted if event.kind in recorder.spec.inputs]
    state = recorder.initial()
    for event in sorted(inputs, key=lambda event: canonical_key(event, hierarchy.rank)):
        state, _ = recorder.step(state, event)
    true = [(mark.ts_us, mark.player) for mark in truth.marks if mark.kind in ("tackle.won", "tackle.lost")]
    samples = [
        Sample(seed, evidence, any(name == rival and abs(ts_us - at_us) <= WITHIN_US for ts_us, name in true))
        for at_us, rival, evidence in recorder.claims
    ]
    return samples, len(true)


def signs(samples: Sequence[Sample]) -> Floats:
    """A row a sample: 1, and its evidence with the sign that its weight has."""
    return np.array([[1.0, -e.since_s, -e.once, e.reach_m, -e.off_m] for _, e, _ in samples])


def fitted(samples: Sequence[Sample]) -> Floats:
    """The weights that make some samples most likely."""
    x, true = signs(samples) * SCALE, np.array([sample.true for sample in samples], float)

    def surprise(w: Floats) -> float:
        z = x @ w
        return float(np.sum(np.logaddexp(0.0, z) - true * z) + 0.5 * np.sum(w[1:] ** 2))

    return np.asarray(minimize(surprise, np.zeros(len(SCALE))).x * SCALE)


def chances(samples: Sequence[Sample], weights: Floats) -> Floats:
    """The chance of each sample."""
    return np.asarray(1.0 / (1.0 + np.exp(-(signs(samples) @ weights))))


def table(name: str, samples: Sequence[Sample], chance: Floats, total: int) -> list[str]:
    """Return the lines of a table, one for each least chance."""
    true = np.array([sample.true for sample in samples])
    lines = []
    for least in LEAST:
        claimed = chance >= least
        right, found = int(true[claimed].sum()), int(claimed.sum())
        lines.append(f"| {name} | {least:g} | {right} | {found} | {total} | {2 * right / max(found + total, 1):.3f} |")
    return lines


def main() -> None:
    """Fit, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="+", default=list(PROFILES))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--checks", type=int, nargs="+", default=list(CHECKS))
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--keep", type=Path, help="a folder for films, to use them again")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        sets: list[tuple[list[Sample], int]] = []
        for seeds in (chosen.seeds, chosen.checks):
            parts = [samples_of(name, seed, chosen.minutes, folder) for seed in seeds for name in chosen.profiles]
            sets.append(([sample for part, _ in parts for sample in part], sum(total for _, total in parts)))
    (samples, total), (checks, checks_total) = sets
    chance = np.zeros(len(samples))
    of_seed = np.array([sample.seed for sample in samples])
    for seed in chosen.seeds:
        part = [sample for sample in samples if sample.seed == seed]
        if part:
            chance[of_seed == seed] = chances(part, fitted([sample for sample in samples if sample.seed != seed]))
    weights = fitted(samples)
    print("| seeds | least chance | right | claimed | true | F1 |", "|---" * 6 + "|", sep="\n")
    print("\n".join(table("fitted, each by the others", samples, chance, total)))
    print("\n".join(table("checks", checks, chances(checks, weights), checks_total)))
    names = ("log odds", "late_factor", "once_factor", "reach_factor", "off_factor")
    print("\n" + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, weights, strict=True)))


if __name__ == "__main__":
    main()

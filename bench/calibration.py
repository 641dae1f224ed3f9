"""Do the chances that models give come true as often as they say?

Of each model the cases are put in order of their chance and cut into tenths. A row has the mean chance of a tenth, the
share of it that came true, and their number: a calibrated model has the same figure twice. Below are the Brier score
(mean square of chance less outcome) beside that of the overall share, and the area under the ROC curve.

- ``xg`` (8.10): the regression for the foot, with the usual people in the way, at the places of the true shots of
  whole simulated matches; true if the team scores within 3 s.
- ``xc`` (8.11): passes of simulated matches as cameras see them; true if the pass is complete.
- ``action`` (14.13): chances to score and to concede within ten actions, of the truth of simulated matches.
- ``win`` (14.12): chances of both teams at the kick-off and every quarter of an hour of simulated matches; true if the
  team wins. Besides, the chances of the kick-off by the goals of two leagues, and the results of these.

The matches that the action model was fitted on count for ``xg`` and ``win``, which were not.

    python -m bench.calibration [--models xg xc action win] [--films 351 ...] [--minutes 5] [--matches 408 ...]
                                [--keep DIR] [--json FILE]

No seed is one that a model was fitted or its classes were chosen on. Simulated players prove nothing about real ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.accuracy import as_cameras_see, needed
from bench.action_value import TRAINING, periods_of, samples_of
from detectors.catalogue import build_detectors
from detectors.qualifiers.chances import USUAL_DEFENDERS, chance, shot_view
from detectors.statistics.action_value import chances
from detectors.statistics.win_chance import WinParameters, rates, result_chances
from football.packets import RAW_KINDS
from football.payloads import Scalar, number, payload_of
from football.pitch import Pitch
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from simulator.simulate import Simulation

FILMS, MATCHES = (351, 352, 353, 354), (408,)
BINS = 10
HALF_MINUTES = 45
#: Mean goals of home and away, and shares of wins of home, draws, wins of away: Portugal's first division 2012 to 2022
#: (2,958 matches) and England's third 2012 to 2022 (5,433), as sport12x.com/en/mathematics counts them.
LEAGUES: Mapping[str, tuple[float, float, tuple[float, float, float]]] = {
    "Portugal, first division": (1.43, 1.13, (0.444, 0.244, 0.312)),
    "England, third division": (1.43, 1.19, (0.428, 0.263, 0.309)),
}
Floats = npt.NDArray[np.float64]


class Cases(NamedTuple):
    """Chances, and whether they came true."""

    chances: Floats
    happened: Floats


class Curve(NamedTuple):
    """A calibration curve.

    Attributes:
        tenths: mean chance, share that came true, number; from the least chance on.
        brier: mean square of chance less outcome.
        plain: the same of the overall share.
        area: the chance that a case that came true has the greater value (ROC AUC).
    """

    tenths: tuple[tuple[float, float, int], ...]
    brier: float
    plain: float
    area: float


def curve(cases: Cases) -> Curve:
    """Cut cases into tenths."""
    found, happened = cases
    order = np.argsort(found, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    tenths = tuple((float(found[part].mean()), float(happened[part].mean()), len(part)) for part in parts)
    brier, plain = float(((found - happened) ** 2).mean()), float(happened.var())
    return Curve(tenths, brier, plain, area_under_curve(found, happened))


def area_under_curve(values: Sequence[float] | Floats, happened: Sequence[float] | Floats) -> float:
    """The chance that a case that happened has a greater value than one that did not (ROC AUC); NaN without either."""
    every, which = np.asarray(values, float), np.asarray(happened, float) > 0.0
    yes, no = int(which.sum()), int((~which).sum())
    if not yes or not no:
        return float("nan")
    _, places, counts = np.unique(every, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[places]
    return float((ranks[which].sum() - yes * (yes + 1) / 2.0) / (yes * no))


def folded(seeds: Sequence[int], minutes: float, kinds: Sequence[str]) -> Iterator[list[Event]]:
    """Yield the events of some kinds that stand at the end of each match, as cameras see it."""
    for seed in seeds:
        raw, sheet = as_cameras_see(Simulation(seed=seed, duration_s=60.0 * minutes))
        hierarchy = Hierarchy(RAW_KINDS, needed(build_detectors(sheet), kinds))
        found = published(hierarchy, raw)
        yield [event for event in found if event.kind in kinds]


def shots(seeds: Sequence[int], keep: Path | None) -> Cases:
    """Values of shots by foot with the usual people in the way, and whether they were goals."""
    pitch, rows = Pitch(), []
    usual: dict[str, Scalar] = {"defenders": USUAL_DEFENDERS, "keeper": True, "pressure_m": None}
    for period in (period for seed in seeds for period in periods_of(seed, keep)):
        for shot in (action for action in period.actions if action.type == "shot"):
            view = shot_view(pitch, *shot.start, positive=shot.team == period.attacks)
            rows.append((chance("foot", *view, usual, 0.0), shot.success))
    return Cases(*np.array(rows, float).T)


def passes(seeds: Sequence[int], minutes: float) -> Cases:
    """Values of passes, and whether they arrived."""
    kinds, rows = ("pass.xc", "pass.complete", "pass.intercepted", "pass.out"), []
    for events in folded(seeds, minutes, kinds):
        ends = {e.source: e.kind == "pass.complete" for e in events if e.kind in kinds[1:]}
        values = [e for e in events if e.kind == "pass.xc" and not e.annuls and e.source in ends]
        rows += [(number(payload_of(e), "xc"), ends[e.source]) for e in values]
    return Cases(*np.array(rows, float).T)


def actions(seeds: Sequence[int], keep: Path | None, which: int) -> Cases:
    """Chances to score (0) or to concede (1), and whether that happened."""
    samples = samples_of([period for seed in seeds for period in periods_of(seed, keep)])
    found = np.array([chances(values)[which] for values in samples.values.tolist()])
    return Cases(found, (samples.scores, samples.concedes)[which])


def wins(seeds: Sequence[int], keep: Path | None) -> Cases:
    """Chances of both teams to win at the kick-off and every quarter of an hour, and whether they did."""
    rows, p = [], WinParameters()
    for seed in seeds:
        halves = periods_of(seed, keep)
        goals = [
            (number * HALF_MINUTES + min(at_s / 60.0, HALF_MINUTES - 1e-6), 1 if team == "home" else -1)
            for number, period in enumerate(halves)
            for at_s, team in period.goals
        ]
        end = sum(sign for _, sign in goals)
        for minute in range(0, 2 * HALF_MINUTES, 15):
            lead = sum(sign for at, sign in goals if at < minute)
            left = 2 * HALF_MINUTES - minute + p.added_minutes
            win, _, lose = result_chances(lead, *rates(p, 0, 0, left))
            rows += [(win, end > 0), (lose, end < 0)]
    return Cases(*np.array(rows, float).T)


def main() -> None:
    """Print a table a model; write all figures with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=["xg", "xc", "action", "win"],
                        default=["xg", "xc", "action", "win"])  # fmt: skip
    parser.add_argument("--films", type=int, nargs="+", default=[*FILMS], help="seeds of matches that cameras see")
    parser.add_argument("--minutes", type=float, default=5.0, help="length of these")
    parser.add_argument("--matches", type=int, nargs="+", default=[*MATCHES], help="seeds of whole matches")
    parser.add_argument("--keep", type=Path, help="a folder for the actions of whole matches")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    films, matches = (chosen.films, chosen.minutes), (chosen.matches, chosen.keep)
    whole = (*TRAINING, *chosen.matches), chosen.keep
    makers: Mapping[str, tuple[str, Callable[[], Cases]]] = {
        "xg": ("a shot is a goal (8.10)", partial(shots, *whole)),
        "xc": ("a pass arrives (8.11)", partial(passes, *films)),
        "action": ("the team scores within ten actions (14.13)", partial(actions, *matches, 0)),
        "concedes": ("the team concedes within ten actions (14.13)", partial(actions, *matches, 1)),
        "win": ("a team wins (14.12)", partial(wins, *whole)),
    }
    result: dict[str, Any] = {"films": chosen.films, "minutes": chosen.minutes, "matches": chosen.matches}
    for name, (what, make) in makers.items():
        if name not in chosen.models and not (name == "concedes" and "action" in chosen.models):
            continue
        one = curve(make())
        result[name] = one._asdict()
        print(f"\n{what}: Brier {one.brier:.4f} (overall share {one.plain:.4f}), area {one.area:.3f}\n")
        print("| mean chance | came true | cases |", "|---|---|---|", sep="\n")
        print("\n".join(f"| {chance:.3f} | {share:.3f} | {cases} |" for chance, share, cases in one.tenths))
    if "win" in chosen.models:
        print("\n| league | home wins: chance, share | draw | away wins |", "|---|---|---|---|", sep="\n")
        for league, (home, away, shares) in LEAGUES.items():
            cells = [f"{c:.3f}, {s:.3f}" for c, s in zip(result_chances(0, home, away), shares, strict=True)]
            print(f"| {league} | {' | '.join(cells)} |")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

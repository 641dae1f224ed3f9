"""Fit the model of action values (14.13) to simulated matches, and write its table.

Matches are played without being measured. Their passes, carries and shots are those of the truth; the features are the
detector's own. Two logistic regressions with a ridge are fitted by Newton's method: does the team of an action score,
or concede, within it and the nine actions that follow in the same period? The result is
``detectors/statistics/action_value.toml``. What simulated players do proves nothing about real ones.
``python -m bench.calibration --models action`` judges the table on matches that it has not seen.

    python -m bench.action_value [--seeds 401 402 407 411 412 413] [--keep DIR]

``--keep`` leaves the actions of each match in a folder, to use them again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.emission import make_event
from detectors.statistics.action_features import NAMES, STATE, Action, features
from detectors.statistics.action_value import TABLE, ActionValueParameters, action_of
from football.match_sheet import Team
from football.payloads import EventPayload
from football.pitch import Pitch
from simulator.records import Row, object_id
from simulator.simulate import Simulation, match_of

TRAINING = (401, 402, 407, 411, 412, 413)
#: Longer than any match without extra time.
MATCH_S = 7_200.0
#: An action and those that follow, of which one may be the goal.
AHEAD = 10
#: Weight of the squares of the coefficients, per standard deviation of their features.
RIDGE = 1.0
#: The truth's names of the kinds that the detector reads.
KINDS = ("pass.complete", "pass.intercepted", "pass.out", "carry.end", "shot.attempt")
Floats = npt.NDArray[np.float64]


class Period(msgspec.Struct, frozen=True):
    """A period of a match.

    Attributes:
        attacks: the team that attacks +x.
        actions: in order of their begin.
        goals: seconds of the period, and the team that gets the goal, own goals included.
    """

    attacks: Team
    actions: tuple[Action, ...]
    goals: tuple[tuple[float, Team], ...]


class Samples(NamedTuple):
    """A row an action: features, and whether its team scores and concedes."""

    values: Floats
    scores: Floats
    concedes: Floats


def periods_of(seed: int, keep: Path | None) -> list[Period]:
    """Play a match of two halves, or read it from the folder."""
    stored = keep / f"actions-{seed}.json" if keep else None
    if stored is not None and stored.is_file():
        return msgspec.json.decode(stored.read_bytes(), type=list[Period])
    match = match_of(Simulation(seed=seed))
    for _ in match.intervals(MATCH_S):
        pass
    played = [_period(match.rows, number) for number in (1, 2)]
    if stored is not None:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_bytes(msgspec.json.encode(played))
    return played


def _period(every: Sequence[Row], number: int) -> Period:
    begins = {row.variant: row.t_s for row in every if row.kind == "period.start"}
    begin_s, end_s = begins[str(number)], begins.get(str(number + 1), MATCH_S)
    rows = [row for row in every if begin_s <= row.t_s < end_s]
    goals = [(row.t_s, _team(row)) for row in rows if row.kind in ("goal.scored", "goal.own")]
    actions = [action for row in rows if row.kind in KINDS and (action := _action(row, every)) is not None]
    within_s = ActionValueParameters().goal_us / 1e6

    def is_goal(shot: Action) -> bool:
        return any(team == shot.team and 0.0 <= at_s - shot.start_us / 1e6 <= within_s for at_s, team in goals)

    judged = [msgspec.structs.replace(one, success=is_goal(one)) if one.type == "shot" else one for one in actions]
    in_order = tuple(sorted(judged, key=lambda one: one.start_us))
    scored = tuple((float(at_s - begin_s), team) for at_s, team in goals)
    return Period("home" if number == 1 else "away", in_order, scored)


def _team(row: Row) -> Team:
    return "home" if row.team == "home" else "away"


def _action(row: Row, rows: Sequence[Row]) -> Action | None:
    """The action of a row of the truth, by the detector's own rule."""
    # Play has numbers of numpy.
    detail = {name: float(value) if isinstance(value, float) else value for name, value in row.detail.items()}
    x_m, y_m = (float(value) for value in row.position[:2])
    if row.kind == "carry.end":
        start = rows[row.causes[0]]
        from_x_m, from_y_m = (float(value) for value in start.position[:2])
        detail |= {"from_x_m": from_x_m, "from_y_m": from_y_m, "seconds_s": row.t_s - start.t_s}
    payload = EventPayload("", _team(row), object_id(row.person), x_m, y_m, detail=detail)
    return action_of(make_event(row.kind, round(row.t_s * 1e6), "truth", payload))


def samples_of(periods: Sequence[Period]) -> Samples:
    """Features and labels of all actions."""
    pitch, rows, labels = Pitch(), [], []
    for period in periods:
        for number, action in enumerate(period.actions):
            rows.append(features(period.actions[max(number + 1 - STATE, 0) : number + 1], period.attacks, pitch))
            goals = [one.team for one in period.actions[number : number + AHEAD] if one.type == "shot" and one.success]
            labels.append((action.team in goals, any(team != action.team for team in goals)))
    scores, concedes = np.array(labels, float).T
    return Samples(np.array(rows), scores, concedes)


def fit(values: Floats, happened: Floats) -> dict[str, float]:
    """The coefficients of a logistic regression with a ridge, by name."""
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread == 0.0] = 1.0
    design = np.column_stack([np.ones(len(values)), (values - mean) / spread])
    penalty = RIDGE * np.eye(design.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        slope = design.T @ (happened - chance) - penalty @ weights
        step = np.linalg.solve((design * (chance * (1.0 - chance))[:, None]).T @ design + penalty, slope)
        weights += step
        if np.abs(step).max() < 1e-10:
            break
    factors = weights[1:] / spread
    constant = weights[0] - float(factors @ mean)
    return {"constant": constant, **dict(zip(NAMES, factors.tolist(), strict=True))}


def main() -> None:
    """Fit both models and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*TRAINING])
    parser.add_argument("--keep", type=Path, help="a folder for the actions of matches")
    chosen = parser.parse_args()
    periods: list[Period] = []
    for seed in chosen.seeds:
        periods += periods_of(seed, chosen.keep)
        print(f"seed {seed}: {sum(len(period.actions) for period in periods[-2:])} actions", file=sys.stderr)
    samples = samples_of(periods)
    lines = [
        "# Made by `python -m bench.action_value` from simulated matches; do not edit.",
        f"seeds = {chosen.seeds}",
        f"actions = {len(samples.scores)}",
        f"goals = {sum(len(period.goals) for period in periods)}",
    ]
    for name, happened in (("scores", samples.scores), ("concedes", samples.concedes)):
        lines += ["", f"[{name}]", *(f"{one} = {value:.6g}" for one, value in fit(samples.values, happened).items())]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

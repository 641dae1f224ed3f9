"""How many teams have the right formation, over many matches of all shapes?

Question: of the time in play, what share has the shape that a team was given to play? Matches are played without being
measured; the detector (12.13) sees everybody's true place once a second, so that nothing but its own rule errs. A team
counts while it has ten outfield players, because a formation needs them; not if that is less than a minute.

    python -m bench.formations [--seeds 931 ... ] [--minutes 6] [--balanced] [--swaps] [--json FILE]

``--swaps``: in each half two players of each team exchange their places, and the exchanges found (13.4) are held
against these instead.

``--balanced`` gives each pair of shapes to one of 36 seeds in a row, instead of those that a seed draws. The template
of the detector was chosen on the seeds ``TRAINING`` (balanced) and ``CHECKED`` (drawn). Shapes of simulated teams are
ours as templates are: what is right here says little about real teams.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from detectors.chains.formations import OUTFIELD, Formation
from detectors.chains.roles import RoleSwap
from detectors.control.scene import Scene
from football.match_sheet import Team
from football.payloads import BodyState, payload_of
from middleware.events import Event
from simulator.play.match import Match
from simulator.play.match_sheet import sheet_of
from simulator.play.squads import SHAPES, MatchSettings, draw_squads
from simulator.records import NAMES, SQUAD, TICK_S, Col
from simulator.simulate import Simulation, match_of

TRAINING, CHECKED, FRESH = range(201, 241), range(901, 925), range(931, 955)
#: Least time of a team in seconds; how far apart an exchange of places and its truth may be.
LEAST_S, SWAP_S = 60, 60
TEAMS: tuple[Team, Team] = ("home", "away")


class Shown(NamedTuple):
    """A team of a match.

    Attributes:
        seed, team: which one.
        shape: that it was given to play.
        seconds: in play with ten outfield players.
        right: of these, with the right shape published, from the time on that it is shown from.
        published: shapes in order.
    """

    seed: int
    team: Team
    shape: str
    seconds: int
    right: int
    published: tuple[str, ...]


def simulation(seed: int, minutes: float, *, balanced: bool) -> Simulation:
    """Settings of a match, with the shapes that the seed draws or those whose turn it is."""
    settings = Simulation(seed=seed, duration_s=60.0 * minutes)
    if not balanced:
        return settings
    names, drawn = list(SHAPES), draw_squads(MatchSettings(seed=seed)).teams
    shapes = names[seed % len(names)], names[seed // len(names) % len(names)]
    home, away = (replace(team, shape=shape) for team, shape in zip(drawn, shapes, strict=True))
    return replace(settings, match=replace(settings.match, home=home, away=away))


def scenes(match: Match, until_s: float) -> Iterator[Event]:
    """Yield a scene a second, of true places."""
    read, live, attacks_x = 0, False, TEAMS[0]
    for interval in match.intervals(until_s):
        for tick, t_s in enumerate(interval.ticks_s.tolist()):
            number = round(t_s / TICK_S)
            if not interval.begin_s - 1e-9 < t_s < interval.end_s - 1e-9 or number % round(1 / TICK_S):
                continue
            rows = sorted((row for row in match.rows[read:] if row.t_s <= t_s), key=lambda row: row.t_s)
            read += len(rows)
            for row in rows:
                live = row.kind == "play.live" if row.kind in ("play.live", "play.dead") else live
                if row.kind == "period.start" and row.variant.isdecimal():
                    attacks_x = TEAMS[(int(row.variant) + 1) % 2]
            places = interval.persons[tick][:, [Col.X, Col.Y]].tolist()
            order = sorted(match.on_pitch, key=lambda row: NAMES[row])
            bodies = [
                BodyState(NAMES[row], TEAMS[row // SQUAD], "", places[row][0], places[row][1], 0.0, 0.0, 0.0)
                for row in order
                if row < 2 * SQUAD
            ]
            home, away = (tuple(body for body in bodies if body.team == team) for team in TEAMS)
            yield Event("scene", round(t_s * 1e6), "scene", number, Scene(None, home, away, attacks_x, live))


def swaps(seed: int, minutes: float) -> tuple[int, int, int]:
    """Play a match with exchanges of places; return how many there were, how many were found, and how many of both."""
    settings = simulation(seed, minutes, balanced=False)
    occasions = replace(settings.match.occasions, role_swap_share=1.0)
    match = match_of(replace(settings, match=replace(settings.match, occasions=occasions)))
    sheet = sheet_of(match.settings, match.state.squads)
    formation, swap = Formation(sheet), RoleSwap(sheet)
    shape, roles, found = formation.initial(), swap.initial(), list[Event]()
    for event in scenes(match, 60.0 * minutes):
        roles, exchanged = swap.step(roles, event)
        shape, shapes = formation.step(shape, event)
        for one in shapes:
            roles, _ = swap.step(roles, one)
        found += exchanged
    true = {(NAMES[r.person], r.detail["mate"], round(r.t_s)) for r in match.rows if r.kind == "role.swapped"}
    seen = {(payload_of(e).player, payload_of(e).detail["mate"], round((e.dated_us or e.ts_us) / 1e6)) for e in found}
    both = sum(any(t[:2] == s[:2] and abs(t[2] - s[2]) <= SWAP_S for s in seen) for t in true)
    return len(true), len(seen), both


def shown(seed: int, minutes: float, *, balanced: bool) -> list[Shown]:
    """Play a match and compare what is published of both teams with what they were given."""
    settings = simulation(seed, minutes, balanced=balanced)
    match = match_of(settings)
    detector = Formation(sheet_of(match.settings, match.state.squads))
    state, found, seen = detector.initial(), list[Event](), list[Event]()
    for event in scenes(match, 60.0 * minutes):
        state, out = detector.step(state, event)
        found += out
        seen.append(event)
    return [_of_team(seed, team, match, seen, found) for team in TEAMS]


def _of_team(seed: int, team: Team, match: Match, seen: Sequence[Event], found: Sequence[Event]) -> Shown:
    given = [(round(at_s * 1e6), shape) for at_s, who, shape in match.shapes if who == team]
    own = sorted((e.dated_us or e.ts_us, payload_of(e).variant) for e in found if payload_of(e).team == team)
    asked = [e.ts_us for e in seen if e.payload.live and len(e.payload.team(team)) == OUTFIELD + 1]  # type: ignore[attr-defined]
    right = sum(_at(own, ts_us) == _at(given, ts_us) for ts_us in asked)
    return Shown(seed, team, given[-1][1], len(asked), right, tuple(shape for _, shape in own))


def _at(states: Sequence[tuple[int, str]], ts_us: int) -> str:
    return next((state for at_us, state in reversed(states) if at_us <= ts_us), "")


def main() -> None:
    """Print a line a team that is not right all the time, and a table by shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*FRESH])
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--balanced", action="store_true", help="each pair of shapes in turn, not those drawn")
    parser.add_argument("--swaps", action="store_true", help="exchanges of places instead")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if chosen.swaps:
        true, found, both = np.sum([swaps(seed, chosen.minutes) for seed in chosen.seeds], axis=0)
        print(f"{true} exchanges, {found} found, {both} right: F1 {2 * both / max(true + found, 1):.3f}")
        return
    every = [one for seed in chosen.seeds for one in shown(seed, chosen.minutes, balanced=chosen.balanced)]
    teams = [one for one in every if one.seconds >= LEAST_S]
    for one in teams:
        if one.right < one.seconds:
            print(f"seed {one.seed} {one.team}: {one.shape}, {one.right} of {one.seconds} s: {one.published}")
    seconds, right, count = Counter[str](), Counter[str](), Counter[str]()
    for one in teams:
        for name in (one.shape, "all"):
            seconds[name] += one.seconds
            right[name] += one.right
            count[name] += 1
    print("\n| shape | teams | time in play that is right |", "|---|---|---|", sep="\n")
    for name in (*sorted({*seconds} - {"all"}), "all"):
        print(f"| {name} | {count[name]} | {right[name] / seconds[name]:.3f} |")
    print(f"\nmean of the teams {np.mean([one.right / one.seconds for one in teams]):.3f}")
    if chosen.json:
        chosen.json.write_text(json.dumps([one._asdict() for one in every], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

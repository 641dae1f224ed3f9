"""14.10: the physical load of players: energy, and metres run fast.

Theory of operation
-------------------
Ten times a second 1.11 gives the pace of everybody. An acceleration costs as much as running up a slope whose sine it
is to gravity (di Prampero 2005; Osgnach 2010). With the equivalent slope ``s = a / g`` and the equivalent mass
``m = sqrt(1 + s^2)`` a metre costs ``m (155.4 s^5 - 30.4 s^4 - 43.3 s^3 + 46.3 s^2 + 19.5 s + 3.6)`` joules per
kilogram, and the power is that times the pace. The polynomial was fitted to slopes of up to 0.5; steeper ones count as
0.5.

Sums are rows of numbers by player, kept as bytes; one step is a call of a kernel for everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.reasons import reason
from detectors.signals.kernels.pace_kernel import add_load
from detectors.signals.smoothed_speed import PlayerSpeeds
from detectors.statistics.tallies import statistic
from football.match_sheet import TEAMS, Team
from football.payloads import SIDES, Scalar, payload_as
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

GRAVITY_M_S2 = 9.81
#: Cost of a metre by equivalent slope, J/kg, highest power first (di Prampero 2005).
COST_J_KG_M = (155.4, -30.4, -43.3, 46.3, 19.5, 3.6)
STEEPEST = 0.5
#: Rows of the sums.
ENERGY, SECONDS, FAST, SPRINT = range(4)

#: Pace of who has none yet, as the memory of a float64 number.
_NO_PACE = np.full(1, np.nan).tobytes()

_TEAMS_BY_SIDE: tuple[Team, ...] = tuple(SIDES)
Floats = npt.NDArray[np.float64]


class LoadParameters(msgspec.Struct, frozen=True):
    """Speeds and rate of the physical load.

    Attributes:
        fast_m_s: from this pace on metres count as fast.
        sprint_m_s: from this pace on they count as a sprint's, too.
        gap_us: paces farther apart than this are not joined.
        report_us: time between two reports.
    """

    fast_m_s: Annotated[float, reason("Practice of providers: 19.8 km/h.")] = 5.5
    sprint_m_s: Annotated[float, reason("Practice of providers: 25.2 km/h.")] = 7.0
    gap_us: Annotated[int, reason("As that of 1.11.")] = 400_000
    report_us: Annotated[int, reason("Ours: load grows all the time, and people read it by the minute.")] = 60_000_000


class LoadSums(msgspec.Struct, frozen=True, gc=False):
    """State: players and sides; sums and newest paces of each, as bytes; time of these paces and of the next report."""

    names: tuple[str, ...] = ()
    sides: bytes = b""
    sums: bytes = b""
    paces: bytes = b""
    seen_us: int = -(2**62)
    due_us: int = -(2**62)


class PhysicalLoad:
    """14.10: ``load.metabolic``, ``load.hsr``, ``load.sprints`` x team: energy and fast metres so far, once a minute.

    One event for each player, and one for each team without a player, the sum of its players. ``detail`` of
    ``load.metabolic``: ``energy_j_kg`` (joules per kilogram of his body), ``power_w_kg`` (mean); of ``load.hsr`` and
    ``load.sprints``: ``metres`` (faster than 19.8 and 25.2 km/h), ``m_per_minute``.
    """

    def __init__(self, parameters: LoadParameters | None = None) -> None:
        self.parameters = parameters or LoadParameters()
        kinds = ("load.metabolic", "load.hsr", "load.sprints")
        self.spec = Spec(
            name="physical_load",
            number="14.10",
            level=14,
            inputs=("pace.state",),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="di Prampero 2005, Osgnach 2010 (metabolic power); floodlight; practice of providers",
            team_variants=dict.fromkeys(kinds, ("",)),
            details={
                "load.metabolic": ("energy_j_kg", "power_w_kg"),
                **dict.fromkeys(("load.hsr", "load.sprints"), ("metres", "m_per_minute")),
            },
        )

    def initial(self) -> LoadSums:
        """Nobody has run."""
        return LoadSums()

    def step(self, state: LoadSums, event: Event) -> Step[LoadSums]:
        """Add the way since the newest paces; report if a report is due."""
        paces, p = payload_as(event, PlayerSpeeds), self.parameters
        names, sides, sums = columns_for(state.names, state.sides, state.sums, 4, paces)
        now, dt_s = paces_of(names, paces), (paces.ts_us - state.seen_us) / 1e6
        if 0.0 < dt_s <= p.gap_us / 1e6:
            before = state.paces + _NO_PACE * (len(names) - len(state.names))
            add_load(sums, before, now, dt_s, COST_J_KG_M, GRAVITY_M_S2, STEEPEST, p.fast_m_s, p.sprint_m_s)
        due_us = state.due_us if state.names else event.ts_us + p.report_us
        after = LoadSums(names, sides, sums.tobytes(), now, paces.ts_us, due_us)
        if event.ts_us < due_us:
            return after, NOTHING
        out = list(_reports(names, sides, sums, event))
        return msgspec.structs.replace(after, due_us=due_us + p.report_us), out


def paces_of(names: tuple[str, ...], paces: PlayerSpeeds) -> bytes:
    """Paces of these players in m/s, as the memory of float64 numbers; NaN of who has none."""
    if names == paces.names:
        return paces.speeds
    m_s = np.full(len(names), np.nan)
    m_s[[names.index(name) for name in paces.names]] = paces.m_s
    return m_s.tobytes()


def columns_for(
    names: tuple[str, ...], sides: bytes, packed: bytes, rows: int, paces: PlayerSpeeds
) -> tuple[tuple[str, ...], bytes, Floats]:
    """Names, sides and sums (rows x players, a copy) of all players so far and those of new paces, who have zeros."""
    sums = np.frombuffer(packed).reshape(rows, len(names)).copy()
    known = set(names)
    new = [] if names == paces.names else [i for i, name in enumerate(paces.names) if name not in known]
    if not new:
        return names, sides, sums
    sides += bytes(paces.sides[i] for i in new)
    return (*names, *(paces.names[i] for i in new)), sides, np.hstack([sums, np.zeros((rows, len(new)))])


def _reports(names: tuple[str, ...], sides: bytes, sums: Floats, event: Event) -> Iterator[Event]:
    teams = [_TEAMS_BY_SIDE[side] for side in sides]
    for team in TEAMS:
        mine = [i for i, other in enumerate(teams) if other == team and sums[SECONDS, i] > 0.0]
        for player, column in (*((names[i], sums[:, i]) for i in mine), ("", sums[:, mine].sum(axis=1))):
            seconds = float(column[SECONDS])
            if not seconds:
                continue
            energy = float(column[ENERGY])
            power: dict[str, Scalar] = {
                "energy_j_kg": round(energy, 1), "power_w_kg": round(energy / seconds, 3),
            }  # fmt: skip
            yield statistic("load.metabolic", event, team, power, "", player)
            for kind, row in (("load.hsr", FAST), ("load.sprints", SPRINT)):
                metres = float(column[row])
                run: dict[str, Scalar] = {"metres": round(metres, 1), "m_per_minute": round(60.0 * metres / seconds, 2)}
                yield statistic(kind, event, team, run, "", player)

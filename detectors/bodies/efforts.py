"""3.2, 3.3 and 3.10: sprints, hard accelerations and decelerations, and the way that everybody has run.

Theory of operation
-------------------
All three look at places, not at velocities. Sprints and efforts take everybody's pace from them
(``detectors.signals.smoothed_speed``) and ask for how long it, or its change, is beyond a bound; when it passed the
bound lies between two looks. Who was not seen for ``GAP_US`` begins anew: his way while he was away is not known, nor
whether he ran on.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from detectors.emission import make_event
from detectors.signals.smoothed_speed import (
    EARLY_US,
    GAP_US,
    LOOK_US,
    PACE_LAG_US,
    Floats,
    PlayerSpeeds,
    crossed_us,
    reordered,
)
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, frame_of, payload_as
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

_NEVER_US = -(2**62)

#: When and where a player was.
Mark = tuple[int, float, float]


class SprintParameters(msgspec.Struct, frozen=True):
    """``speed_m_s``: 24 km/h (DEBS 2013; 7.0, that is 25.2 km/h, is many providers' zone 6). ``hold_us``: hierarchy
    3.2."""

    speed_m_s: float = 24.0 / 3.6
    hold_us: int = 1_000_000


class Sprinter(msgspec.Struct, frozen=True, gc=False):
    """Who is fast: his team, since when, how fast at most, and whether that was told."""

    team: Team
    since_us: int
    top_m_s: float
    emitted: bool = False


class SprintState(msgspec.Struct, frozen=True, gc=False):
    """State: when the last look was, and how fast everybody was; who is fast, by name."""

    seen_us: int = 0
    paces: PlayerSpeeds | None = None
    fast: dict[str, Sprinter] = {}


class Sprint:
    """3.2: ``sprint.start`` and ``sprint.end``: a player runs fast for long enough.

    The start is dated when he became fast, 1.4 s before it is known; ``detail`` of the end: ``since_us``,
    ``seconds``, ``top_m_s``. Who is lost on the way has ended his sprint when he was seen last.
    """

    def __init__(self, parameters: SprintParameters | None = None) -> None:
        self.parameters = p = parameters or SprintParameters()
        self.spec = Spec(
            name="sprint",
            number="3.2",
            level=3,
            inputs=("pace.state",),
            outputs=("sprint.end", "sprint.start"),
            horizon_us=p.hold_us + GAP_US + PACE_LAG_US + 2 * LOOK_US,
            parameters=msgspec.structs.asdict(p),
            source="DEBS 2013 Q1; practice of providers",
            team_variants=dict.fromkeys(("sprint.end", "sprint.start"), ("",)),
        )

    def initial(self) -> SprintState:
        """Nobody seen."""
        return SprintState()

    def step(self, state: SprintState, event: Event) -> Step[SprintState]:
        """Looks at who is fast."""
        now_us, paces = event.ts_us, payload_as(event, PlayerSpeeds)
        out: list[Event] = []
        fast: dict[str, Sprinter] = {}
        for index in np.flatnonzero(paces.m_s >= self.parameters.speed_m_s).tolist():
            fast[paces.names[index]] = self._fast(state, paces, index, now_us, out)
        for name, runner in state.fast.items():
            if name not in fast and runner.emitted:
                out.append(self._end(state, paces, name, runner, now_us))
        return SprintState(now_us, paces, fast), out or NOTHING

    def _fast(self, state: SprintState, paces: PlayerSpeeds, index: int, now_us: int, out: list[Event]) -> Sprinter:
        """A player who is fast; tells him once he was for long enough."""
        name, m_s = paces.names[index], float(paces.m_s[index])
        before = state.fast.get(name)
        if before is None:
            return Sprinter(paces.team(index), self._crossed_us(state, paces, index), m_s)
        emitted = before.emitted or paces.ts_us - before.since_us >= self.parameters.hold_us
        if emitted and not before.emitted:
            payload = EventPayload("", before.team, name, *paces.place(index))
            began_us = max(before.since_us, now_us - self.spec.horizon_us)
            out.append(make_event("sprint.start", began_us, f"{name}:{before.since_us}", payload))
        return Sprinter(before.team, before.since_us, max(before.top_m_s, m_s), emitted)

    def _crossed_us(self, state: SprintState, paces: PlayerSpeeds, index: int) -> int:
        """When a player's pace passed the bound."""
        name, before = paces.names[index], state.paces
        was = math.nan
        if before is not None and name in before.names:
            was = float(before.m_s[before.names.index(name)])
        earlier = before.ts_us if before is not None else paces.ts_us
        return crossed_us((earlier, was), (paces.ts_us, float(paces.m_s[index])), self.parameters.speed_m_s)

    def _end(self, state: SprintState, paces: PlayerSpeeds, name: str, runner: Sprinter, now_us: int) -> Event:
        """The end of a sprint: when he got slower, or where he was seen last."""
        index = paces.names.index(name) if name in paces.names else -1
        known = index >= 0 and not math.isnan(paces.m_s[index])
        ended_us = self._crossed_us(state, paces, index) if known else state.seen_us
        ended_us = max(ended_us, now_us - self.spec.horizon_us)
        detail: dict[str, Scalar] = {
            "since_us": runner.since_us,
            "seconds": round((ended_us - runner.since_us) * 1e-6, 2),
            "top_m_s": round(runner.top_m_s, 2),
        }
        x_m, y_m = paces.place(index) if index >= 0 else (None, None)
        payload = EventPayload("", runner.team, name, x_m, y_m, detail=detail)
        return make_event("sprint.end", ended_us, f"{name}:{ended_us}", payload)


class EffortParameters(msgspec.Struct, frozen=True):
    """``high_m_s2``, ``higher_m_s2``: practice of providers (Kinexon, Catapult). ``hold_us``: hierarchy 3.3.
    ``gain_share``: a pace spreads over 0.8 s, which makes a gain of half a second so much smaller (chosen on one whole
    simulated match, seed 41, of 0.8, 0.85, 0.9 and 1)."""

    high_m_s2: float = 3.0
    higher_m_s2: float = 4.0
    hold_us: int = 500_000
    gain_share: float = 0.9


#: A gain of pace is taken over so many looks.
GAIN_LOOKS = 3
#: It is known so long after the instant that it is of.
_GAIN_LAG_US = PACE_LAG_US + GAIN_LOOKS * LOOK_US // 2


class EffortState(msgspec.Struct, frozen=True, gc=False):
    """State: the last paces, oldest first; when everybody gained how much then (m/s2, in bytes); who does so hard, by
    name and class: since when, and whether that was told."""

    paces: tuple[PlayerSpeeds, ...] = ()
    gain_us: int = 0
    gains: bytes = b""
    since: dict[tuple[str, int], tuple[int, bool]] = {}


class Effort:
    """3.3: ``accel.effort`` and ``decel.effort`` x {3, 4 m/s2}: a player's speed changes hard for long enough.

    Dated when it began, which is known 1.05 s later. An effort of the higher class is one of the lower, too.
    """

    def __init__(self, parameters: EffortParameters | None = None) -> None:
        self.parameters = p = parameters or EffortParameters()
        self._variants = tuple(f"{least:g} m/s2" for least in (3.0, 4.0))
        #: Kind, variant, sign of the gain, and how much of it at least.
        self._classes = tuple(
            (kind, variant, sign, p.gain_share * least)
            for kind, sign in (("accel.effort", 1.0), ("decel.effort", -1.0))
            for variant, least in zip(self._variants, (p.high_m_s2, p.higher_m_s2), strict=True)
        )
        self.spec = Spec(
            name="effort",
            number="3.3",
            level=3,
            inputs=("pace.state",),
            outputs=("decel.effort", "accel.effort"),
            horizon_us=p.hold_us + _GAIN_LAG_US + 4 * LOOK_US,
            parameters=msgspec.structs.asdict(p),
            source="practice of providers (Kinexon, Catapult); window ours",
            team_variants=dict.fromkeys(("decel.effort", "accel.effort"), self._variants),
        )

    def initial(self) -> EffortState:
        """Nobody seen."""
        return EffortState()

    def step(self, state: EffortState, event: Event) -> Step[EffortState]:
        """Looks at what everybody gained over the last looks."""
        paces = payload_as(event, PlayerSpeeds)
        if state.paces and paces.ts_us - state.paces[-1].ts_us > GAP_US:
            return EffortState((paces,)), NOTHING
        last = (*state.paces[-GAIN_LOOKS:], paces)
        if len(last) <= GAIN_LOOKS:
            return EffortState(last), NOTHING
        gain_us, gains = speed_gains(last[0], paces)
        names = state.paces[-1].names
        before = (
            np.frombuffer(reordered(state.gains, names, paces.names)) if state.gains else np.full(gains.shape, np.nan)
        )
        since: dict[tuple[str, int], tuple[int, bool]] = {}
        out: list[Event] = []
        for number, (_, _, sign, least_m_s2) in enumerate(self._classes):
            for index in np.flatnonzero(sign * gains >= least_m_s2).tolist():
                key = paces.names[index], number
                was, now = (state.gain_us, sign * float(before[index])), (gain_us, sign * float(gains[index]))
                since_us, emitted = state.since.get(key) or (crossed_us(was, now, least_m_s2), False)
                if not emitted and gain_us - since_us >= self.parameters.hold_us:
                    out.append(self._told(key, since_us, paces, index, event.ts_us))
                    emitted = True
                since[key] = since_us, emitted
        for key, (since_us, emitted) in state.since.items():
            if not emitted and key not in since and key[0] in paces.names:
                index = paces.names.index(key[0])
                _, _, sign, least_m_s2 = self._classes[key[1]]
                was, now = (state.gain_us, sign * float(before[index])), (gain_us, sign * float(gains[index]))
                if crossed_us(was, now, least_m_s2) - since_us >= self.parameters.hold_us:
                    out.append(self._told(key, since_us, paces, index, event.ts_us))
        return EffortState(last[1:], gain_us, gains.tobytes(), since), out or NOTHING

    def _told(self, key: tuple[str, int], since_us: int, paces: PlayerSpeeds, index: int, now_us: int) -> Event:
        name, number = key
        kind, variant, _, _ = self._classes[number]
        payload = EventPayload(variant, paces.team(index), name, *paces.place(index))
        began_us = max(since_us, now_us - self.spec.horizon_us)
        return make_event(kind, began_us, f"{name}:{since_us}/{number % 2}", payload)


def gains_of(state: EffortState, names: tuple[str, ...]) -> Floats:
    """What everybody gained at the last look (m/s2), NaN of whom that is not known."""
    if not state.gains:
        return np.full(len(names), np.nan)
    return np.frombuffer(reordered(state.gains, state.paces[-1].names, names))


def speed_gains(first: PlayerSpeeds, last: PlayerSpeeds) -> tuple[int, Floats]:
    """When and how much (m/s2) the pace of everybody in ``last`` grew since ``first``."""
    before = np.frombuffer(reordered(first.speeds, first.names, last.names))
    return (first.ts_us + last.ts_us) // 2, (last.m_s - before) * 1e6 / (last.ts_us - first.ts_us)


class DistanceParameters(msgspec.Struct, frozen=True):
    """Hierarchy 3.10: ``chord_us``, 5 Hz; ``tick_us``."""

    chord_us: int = 200_000
    tick_us: int = 1_000_000


class DistanceState(msgspec.Struct, frozen=True, gc=False):
    """State: of everybody team, last place, and way so far in metres; times of the next chord and tick."""

    players: dict[str, tuple[Team, Mark, float]] = {}
    chord_us: int = _NEVER_US
    tick_us: int = _NEVER_US


class DistanceAccumulator:
    """3.10: ``distance.tick`` x team, every second: how far a team and each of its players have run.

    ``detail``: ``distance_m`` of all, and metres by object id. Who has left the pitch keeps what he ran.
    """

    def __init__(self, parameters: DistanceParameters | None = None) -> None:
        self.parameters = parameters or DistanceParameters()
        self.spec = Spec(
            name="distance_accumulator",
            number="3.10",
            level=3,
            inputs=("frame",),
            outputs=("distance.tick",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (distance statistics); rate ours",
            team_variants={"distance.tick": ("",)},
        )

    def initial(self) -> DistanceState:
        """Nobody has run."""
        return DistanceState()

    def step(self, state: DistanceState, event: Event) -> Step[DistanceState]:
        """Adds a chord if one is due, and tells every second."""
        now_us, p = event.ts_us, self.parameters
        if now_us < state.chord_us:
            return state, NOTHING
        frame = frame_of(event)
        players = dict(state.players)
        for body in frame.players:
            team, last, way_m = players.get(body.object_id, (body.team, (now_us, body.x_m, body.y_m), 0.0))
            if now_us - last[0] <= GAP_US:
                way_m += math.hypot(body.x_m - last[1], body.y_m - last[2])
            players[body.object_id] = team, (now_us, body.x_m, body.y_m), way_m
        chord_us = now_us + p.chord_us - EARLY_US
        if now_us < state.tick_us:
            return DistanceState(players, chord_us, state.tick_us), NOTHING
        out = tuple(_tick(now_us, team, players) for team in ("home", "away") if state.tick_us > _NEVER_US)
        return DistanceState(players, chord_us, now_us - now_us % p.tick_us + p.tick_us), out


def _tick(now_us: int, team: Team, players: dict[str, tuple[Team, Mark, float]]) -> Event:
    ways = {name: round(way_m, 1) for name, (of, _, way_m) in sorted(players.items()) if of == team}
    detail: dict[str, Scalar] = {"distance_m": round(sum(ways.values()), 1), **ways}
    return make_event("distance.tick", now_us, f"{team}:{now_us}", EventPayload("", team, detail=detail))

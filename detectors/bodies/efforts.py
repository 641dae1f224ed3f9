"""3.2, 3.3 and 3.10: sprints, hard accelerations and decelerations, and the distance that each player has run.

Theory of operation
-------------------
All three use positions, not velocities. Sprints and efforts take each player's smoothed speed
(``detectors.signals.smoothed_speed``) and measure how long it, or its change, is beyond a bound. The instant at which
it passed the bound is interpolated between two samples. A player without samples for ``GAP_US`` begins anew: the path
in between is unknown.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
import numpy as np

from detectors.decisions import at_least, note
from detectors.emission import make_event
from detectors.reasons import reason
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

#: Time and position of a player.
Mark = tuple[int, float, float]


class SprintParameters(msgspec.Struct, frozen=True):
    """Sprints.

    Attributes:
        speed_m_s: least speed.
        hold_us: least duration.
    """

    speed_m_s: Annotated[
        float, reason("24 km/h (DEBS 2013; 7.0 m/s, that is 25.2 km/h, is many providers' zone 6)")
    ] = 24.0 / 3.6
    hold_us: Annotated[int, reason("hierarchy 3.2")] = 1_000_000


class Sprinter(msgspec.Struct, frozen=True, gc=False):
    """A fast player: team, since when and from where, greatest speed, and whether the sprint was reported."""

    team: Team
    since_us: int
    from_m: tuple[float, float]
    top_m_s: float
    emitted: bool = False


class SprintState(msgspec.Struct, frozen=True, gc=False):
    """State: time and speeds of the last sample; the fast players by object id."""

    seen_us: int = 0
    paces: PlayerSpeeds | None = None
    fast: dict[str, Sprinter] = {}


class Sprint:
    """3.2: ``sprint.start`` and ``sprint.end``: a player runs fast for long enough.

    The start is dated when the player became fast, 1.4 s before it is known; ``detail`` of the end: ``since_us``,
    ``seconds``, ``top_m_s``. The sprint of a player who is lost ends at the last sample.
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
            details={"sprint.end": ("since_us", "seconds", "top_m_s")},
        )

    def initial(self) -> SprintState:
        """No sample yet."""
        return SprintState()

    def step(self, state: SprintState, event: Event) -> Step[SprintState]:
        """Follow the fast players."""
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
        """A fast player; the sprint is reported once it has lasted long enough."""
        name, m_s = paces.names[index], float(paces.m_s[index])
        before = state.fast.get(name)
        if before is None:
            return Sprinter(paces.team(index), self._crossed_us(state, paces, index), paces.place(index), m_s)
        p, about = self.parameters, ("sprint.start", name)
        held_us = paces.ts_us - before.since_us
        emitted = before.emitted or at_least("time at that speed", held_us, p.hold_us, "sprint.hold_us", about)
        if emitted and not before.emitted:
            note("speed", m_s, "at least", p.speed_m_s, "sprint.speed_m_s", about)
            payload = EventPayload("", before.team, name, *before.from_m)
            began_us = max(before.since_us, now_us - self.spec.horizon_us)
            out.append(make_event("sprint.start", began_us, f"{name}:{before.since_us}", payload))
        return Sprinter(before.team, before.since_us, before.from_m, max(before.top_m_s, m_s), emitted)

    def _crossed_us(self, state: SprintState, paces: PlayerSpeeds, index: int) -> int:
        """The instant at which a player's speed passed the bound."""
        name, before = paces.names[index], state.paces
        was = math.nan
        if before is not None and name in before.names:
            was = float(before.m_s[before.names.index(name)])
        earlier = before.ts_us if before is not None else paces.ts_us
        return crossed_us((earlier, was), (paces.ts_us, float(paces.m_s[index])), self.parameters.speed_m_s)

    def _end(self, state: SprintState, paces: PlayerSpeeds, name: str, runner: Sprinter, now_us: int) -> Event:
        """The end of a sprint: when the player got slower, or at the last sample."""
        index = paces.names.index(name) if name in paces.names else -1
        known = index >= 0 and not math.isnan(paces.m_s[index])
        ended_us = self._crossed_us(state, paces, index) if known else state.seen_us
        ended_us = max(ended_us, now_us - self.spec.horizon_us)
        detail: dict[str, Scalar] = {
            "since_us": runner.since_us,
            "seconds": round((ended_us - runner.since_us) * 1e-6, 2),
            "top_m_s": round(runner.top_m_s, 2),
        }
        seen = paces if known or state.paces is None else state.paces
        x_m, y_m = seen.place(seen.names.index(name)) if name in seen.names else (None, None)
        payload = EventPayload("", runner.team, name, x_m, y_m, detail=detail)
        least_m_s = self.parameters.speed_m_s
        note("greatest speed", runner.top_m_s, "at least", least_m_s, "sprint.speed_m_s", ("sprint.end", name))
        return make_event("sprint.end", ended_us, f"{name}:{ended_us}", payload)


class EffortParameters(msgspec.Struct, frozen=True):
    """Hard accelerations and decelerations.

    Attributes:
        high_m_s2: least acceleration of the lower class.
        higher_m_s2: least acceleration of the higher class.
        hold_us: least duration.
        gain_share: share of a gain of half a second that remains after the smoothing of the speed.
    """

    high_m_s2: Annotated[float, reason("practice of providers (Kinexon, Catapult)")] = 3.0
    higher_m_s2: Annotated[float, reason("practice of providers (Kinexon, Catapult)")] = 4.0
    hold_us: Annotated[int, reason("hierarchy 3.3")] = 500_000
    gain_share: Annotated[
        float,
        reason("a smoothed speed spreads over 0.8 s; of 0.8, 0.85, 0.9 and 1 on a simulated match, seed 41"),
    ] = 0.9


#: A gain of speed is taken over so many samples.
GAIN_LOOKS = 3
#: Delay after which the gain of an instant is known.
_GAIN_LAG_US = PACE_LAG_US + GAIN_LOOKS * LOOK_US // 2


#: A hard effort: since when, from where, and whether it was emitted.
EffortSince = tuple[int, tuple[float, float], bool]


class EffortState(msgspec.Struct, frozen=True, gc=False):
    """State: the last paces, oldest first; when everybody gained how much then (m/s2, in bytes); who does so hard, by
    name and class: since when, from where, and whether that was emitted."""

    paces: tuple[PlayerSpeeds, ...] = ()
    gain_us: int = 0
    gains: bytes = b""
    since: dict[tuple[str, int], EffortSince] = {}


class Effort:
    """3.3: ``accel.effort`` and ``decel.effort`` x {3, 4 m/s2}: a player's speed changes hard for long enough.

    Dated at its beginning, which is known 1.05 s later. An effort of the higher class is one of the lower, too.
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
        """No sample yet."""
        return EffortState()

    def step(self, state: EffortState, event: Event) -> Step[EffortState]:
        """Judge each player's gain over the last samples."""
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
        since: dict[tuple[str, int], EffortSince] = {}
        out: list[Event] = []
        each = gains.tolist()
        for number, (_, _, sign, least_m_s2) in enumerate(self._classes):
            for index in [i for i, gain_m_s2 in enumerate(each) if sign * gain_m_s2 >= least_m_s2]:
                key = paces.names[index], number
                was, now = (state.gain_us, sign * float(before[index])), (gain_us, sign * each[index])
                since_us, from_m, emitted = state.since.get(key) or (
                    crossed_us(was, now, least_m_s2), _place_amid(last, key[0], paces.place(index)), False
                )  # fmt: skip
                if not emitted and gain_us - since_us >= self.parameters.hold_us:
                    out.append(self._effort(key, since_us, from_m, paces.team(index), event.ts_us))
                    self._note(key, out[-1], now[1], gain_us - since_us)
                    emitted = True
                since[key] = since_us, from_m, emitted
        for key, (since_us, from_m, emitted) in state.since.items():
            if not emitted and key not in since and key[0] in paces.names:
                index = paces.names.index(key[0])
                _, _, sign, least_m_s2 = self._classes[key[1]]
                was, now = (state.gain_us, sign * float(before[index])), (gain_us, sign * float(gains[index]))
                held_us = crossed_us(was, now, least_m_s2) - since_us
                if held_us >= self.parameters.hold_us:
                    out.append(self._effort(key, since_us, from_m, paces.team(index), event.ts_us))
                    self._note(key, out[-1], was[1], held_us)
        return EffortState(last[1:], gain_us, gains.tobytes(), since), out or NOTHING

    def _note(self, key: tuple[str, int], effort: Event, gain_m_s2: float, held_us: int) -> None:
        """Note the gain and the duration of an effort."""
        kind, variant, sign, least_m_s2 = self._classes[key[1]]
        what, about = "gain of speed" if sign > 0.0 else "loss of speed", (kind, effort.source)
        parameter = f"effort.{'high' if variant == self._variants[0] else 'higher'}_m_s2"
        note(what, gain_m_s2, "at least", least_m_s2, parameter, about)
        note("time that it held", held_us, "at least", self.parameters.hold_us, "effort.hold_us", about)

    def _effort(
        self, key: tuple[str, int], since_us: int, from_m: tuple[float, float], team: Team, now_us: int
    ) -> Event:
        name, number = key
        kind, variant, _, _ = self._classes[number]
        payload = EventPayload(variant, team, name, *from_m)
        began_us = max(since_us, now_us - self.spec.horizon_us)
        return make_event(kind, began_us, f"{name}:{since_us}/{number % 2}", payload)


def _place_amid(looks: tuple[PlayerSpeeds, ...], name: str, newest_m: tuple[float, float]) -> tuple[float, float]:
    """Where a player was amid some samples, to which their gain of speed belongs."""
    amid = looks[len(looks) // 2]
    return amid.place(amid.names.index(name)) if name in amid.names else newest_m


def speed_gains(first: PlayerSpeeds, last: PlayerSpeeds) -> tuple[int, Floats]:
    """Time, and by how much (m/s2) the speed of each player in ``last`` grew since ``first``."""
    before = np.frombuffer(reordered(first.speeds, first.names, last.names))
    return (first.ts_us + last.ts_us) // 2, (last.m_s - before) * 1e6 / (last.ts_us - first.ts_us)


class DistanceParameters(msgspec.Struct, frozen=True):
    """Distance run.

    Attributes:
        chord_us: time of a chord of the path.
        tick_us: time between reports.
    """

    chord_us: Annotated[int, reason("hierarchy 3.10: 5 Hz, as the noise of positions lengthens shorter steps")] = (
        200_000
    )
    tick_us: Annotated[int, reason("hierarchy 3.10")] = 1_000_000


class DistanceState(msgspec.Struct, frozen=True, gc=False):
    """State: of each player team, last position and distance in metres; times of the next chord and tick."""

    players: dict[str, tuple[Team, Mark, float]] = {}
    chord_us: int = _NEVER_US
    tick_us: int = _NEVER_US


class DistanceAccumulator:
    """3.10: ``distance.tick`` x team, every second: how far a team and each of its players have run.

    ``detail``: ``distance_m`` of all, and metres by object id. A player who leaves the pitch keeps the distance.
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
            details={"distance.tick": ("distance_m", "<object id>")},
        )

    def initial(self) -> DistanceState:
        """No distance yet."""
        return DistanceState()

    def step(self, state: DistanceState, event: Event) -> Step[DistanceState]:
        """Add a chord if it is time; report every second."""
        now_us, p = event.ts_us, self.parameters
        if now_us < state.chord_us:
            return state, NOTHING
        frame = frame_of(event)
        players = dict(state.players)
        for body in frame.players:
            team, last, distance_m = players.get(body.object_id, (body.team, (now_us, body.x_m, body.y_m), 0.0))
            if now_us - last[0] <= GAP_US:
                distance_m += math.hypot(body.x_m - last[1], body.y_m - last[2])
            players[body.object_id] = team, (now_us, body.x_m, body.y_m), distance_m
        chord_us = now_us + p.chord_us - EARLY_US
        if now_us < state.tick_us:
            return DistanceState(players, chord_us, state.tick_us), NOTHING
        out = tuple(_tick(now_us, team, players) for team in ("home", "away") if state.tick_us > _NEVER_US)
        return DistanceState(players, chord_us, now_us - now_us % p.tick_us + p.tick_us), out


def _tick(now_us: int, team: Team, players: dict[str, tuple[Team, Mark, float]]) -> Event:
    distances = {name: round(distance_m, 1) for name, (of, _, distance_m) in sorted(players.items()) if of == team}
    detail: dict[str, Scalar] = {"distance_m": round(sum(distances.values()), 1), **distances}
    return make_event("distance.tick", now_us, f"{team}:{now_us}", EventPayload("", team, detail=detail))

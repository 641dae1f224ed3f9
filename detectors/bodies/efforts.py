"""3.2, 3.3 and 3.10: sprints, hard accelerations and decelerations, and the way that everybody has run.

Theory of operation
-------------------
All three look at places, not at velocities: a speed is a chord, because the noise of places makes every shorter step
longer than it was (hierarchy 3.10). A sprint's chords are of 0.2 s. Accelerations need longer ones: the mean of two
feet goes on by jerks of 1 m/s, and a chord of 0.4 s, about a stride, is the shortest that does not see them. Who was
not seen for ``GAP_US`` begins anew: his way while he was away is not known, nor whether he ran on.
"""

from __future__ import annotations

import math

import msgspec

from detectors.facts import Fact, Scalar, fact_event
from detectors.inputs import Team
from detectors.states import BodyState, Frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: 1.7, twice.
GAP_US = 400_000
#: Looks at sprints are so far apart, at efforts twice as far; a chord is two looks long.
LOOK_US = 100_000
#: A frame comes a little before or after its due time: looks may not be farther apart for that.
_EARLY_US = 10_000
_NEVER_US = -(2**62)

#: When and where a player was.
Mark = tuple[int, float, float]


class SprintParameters(msgspec.Struct, frozen=True):
    """``speed_m_s``: 24 km/h (DEBS 2013; 7.0, that is 25.2 km/h, is many providers' zone 6). ``hold_us``: hierarchy
    3.2. ``noise_m_s``: a sprint is left so much below (chosen on two simulated matches, full and live rate)."""

    speed_m_s: float = 24.0 / 3.6
    noise_m_s: float = 0.3
    hold_us: int = 1_000_000


class Sprinter(msgspec.Struct, frozen=True, gc=False):
    """A player: his last two places; since when and from where he is fast (-1: he is not); whether that was told."""

    marks: tuple[Mark, ...]
    since_us: int = -1
    top_m_s: float = 0.0
    told: bool = False


class Sprints(msgspec.Struct, frozen=True, gc=False):
    """State: everybody by name; time of the next look."""

    players: dict[str, Sprinter] = {}
    due_us: int = _NEVER_US


class Sprint:
    """3.2: ``sprint.start`` and ``sprint.end``: a player runs fast for long enough.

    The start is dated when he became fast, a second before it is known; ``detail`` of the end: ``since_us``,
    ``seconds``, ``top_m_s``. Who is lost on the way has ended his sprint when he was seen last.
    """

    def __init__(self, parameters: SprintParameters | None = None) -> None:
        self.parameters = p = parameters or SprintParameters()
        self.spec = Spec(
            name="sprint",
            number="3.2",
            level=3,
            inputs=("frame",),
            outputs=("sprint.end", "sprint.start"),
            horizon_us=p.hold_us + GAP_US,
            parameters=msgspec.structs.asdict(p),
            source="DEBS 2013 Q1; practice of providers",
            team_variants=dict.fromkeys(("sprint.end", "sprint.start"), ("",)),
        )

    def initial(self) -> Sprints:
        """Nobody seen."""
        return Sprints()

    def step(self, state: Sprints, event: Event) -> Step[Sprints]:
        """Looks at everybody if a look is due."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        frame = event.payload
        assert isinstance(frame, Frame)
        players: dict[str, Sprinter] = {}
        out: list[Event] = []
        now_us, known, fast_m_s = event.ts_us, state.players, self.parameters.speed_m_s
        for body in frame.players:
            name = body.object_id
            before = known.get(name)
            if before is not None and before.since_us < 0 and len(before.marks) == 3:
                # Nearly everybody: he was not fast, and is not.
                _, one, two = before.marks
                x_m, y_m = body.x_m, body.y_m
                way_m = math.hypot(x_m - one[1], y_m - one[2])
                if now_us - two[0] <= GAP_US and way_m * 1e6 / (now_us - one[0]) < fast_m_s:
                    players[name] = Sprinter((one, two, (now_us, x_m, y_m)))
                    continue
            players[name] = self._look(before, body, now_us, out)
        for name, gone in state.players.items():
            if name not in players and event.ts_us - gone.marks[-1][0] <= GAP_US:
                players[name] = gone
            elif name not in players and gone.told:
                ended_us = max(gone.marks[-1][0], event.ts_us - self.spec.horizon_us)
                out.append(_sprint_end(gone, name, "", ended_us, None))
        return Sprints(players, event.ts_us + LOOK_US - _EARLY_US), out or NOTHING

    def _look(self, before: Sprinter | None, body: BodyState, now_us: int, out: list[Event]) -> Sprinter:
        mark = now_us, body.x_m, body.y_m
        if before is None:
            return Sprinter((mark,))
        if now_us - before.marks[-1][0] > GAP_US:
            if before.told:
                ended_us = max(before.marks[-1][0], now_us - self.spec.horizon_us)
                out.append(_sprint_end(before, body.object_id, body.team, ended_us, body))
            return Sprinter((mark,))
        marks, p = (*before.marks[-2:], mark), self.parameters
        speed_m_s = _chord_m_s(marks[0], mark)
        if speed_m_s < p.speed_m_s - (p.noise_m_s if before.since_us >= 0 else 0.0):
            if before.told:
                out.append(_sprint_end(before, body.object_id, body.team, now_us, body))
            return Sprinter(marks)
        # The middle of the chord is when he was as fast as it says.
        since_us = before.since_us if before.since_us >= 0 else (marks[0][0] + now_us) // 2
        top_m_s = max(before.top_m_s, speed_m_s)
        told = before.told or now_us - since_us >= p.hold_us
        if told and not before.told:
            fact = Fact("", body.team, body.object_id, round(body.x_m, 2), round(body.y_m, 2))
            began_us = max(since_us, now_us - self.spec.horizon_us)
            out.append(fact_event("sprint.start", began_us, f"{body.object_id}:{since_us}", fact))
        return Sprinter(marks, since_us, top_m_s, told)


def _sprint_end(runner: Sprinter, name: str, team: Team, ended_us: int, body: BodyState | None) -> Event:
    detail: dict[str, Scalar] = {
        "since_us": runner.since_us,
        "seconds": round((ended_us - runner.since_us) * 1e-6, 2),
        "top_m_s": round(runner.top_m_s, 2),
    }
    x_m, y_m = (round(body.x_m, 2), round(body.y_m, 2)) if body is not None else (None, None)
    return fact_event("sprint.end", ended_us, f"{name}:{ended_us}", Fact("", team, name, x_m, y_m, detail=detail))


class EffortParameters(msgspec.Struct, frozen=True):
    """``high_m_s2``, ``higher_m_s2``: practice of providers (Kinexon, Catapult). ``hold_us``: hierarchy 3.3's 0.5 s,
    and one look more against what is left of the feet's jerks (chosen on two simulated matches, full and live
    rate)."""

    high_m_s2: float = 3.0
    higher_m_s2: float = 4.0
    hold_us: int = 700_000


_NO_EFFORT = (-1, -1, -1, -1)


class Mover(msgspec.Struct, frozen=True, gc=False):
    """A player: his last places; of each class of effort since when it lasts (-1: it does not, -2: it was told)."""

    marks: tuple[Mark, ...]
    since_us: tuple[int, int, int, int] = _NO_EFFORT


class Movers(msgspec.Struct, frozen=True, gc=False):
    """State: everybody by name; time of the next look."""

    players: dict[str, Mover] = {}
    due_us: int = _NEVER_US


class Effort:
    """3.3: ``accel.effort`` and ``decel.effort`` x {3, 4 m/s2}: a player's speed changes hard for long enough.

    Dated when it began, which is known ``hold_us`` later. An effort of the higher class is one of the lower, too.
    """

    def __init__(self, parameters: EffortParameters | None = None) -> None:
        self.parameters = p = parameters or EffortParameters()
        self._least = (p.high_m_s2, p.higher_m_s2)
        self._variants = tuple(f"{least:g} m/s2" for least in (3.0, 4.0))
        self.spec = Spec(
            name="effort",
            number="3.3",
            level=3,
            inputs=("frame",),
            outputs=("decel.effort", "accel.effort"),
            horizon_us=p.hold_us + 8 * LOOK_US,
            parameters=msgspec.structs.asdict(p),
            source="practice of providers (Kinexon, Catapult); window ours",
            team_variants=dict.fromkeys(("decel.effort", "accel.effort"), self._variants),
        )

    def initial(self) -> Movers:
        """Nobody seen."""
        return Movers()

    def step(self, state: Movers, event: Event) -> Step[Movers]:
        """Looks at everybody if a look is due."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        frame = event.payload
        assert isinstance(frame, Frame)
        players: dict[str, Mover] = {}
        out: list[Event] = []
        now_us, known, least = event.ts_us, state.players, min(self._least)
        for body in frame.players:
            name = body.object_id
            before = known.get(name)
            if before is not None and len(before.marks) == 6 and before.since_us == _NO_EFFORT:
                # Nearly everybody: he made no effort, and makes none.
                mark = now_us, body.x_m, body.y_m
                _, a, b, c, d, e = before.marks
                if now_us - e[0] <= GAP_US and abs(_gain_m_s2(a, b, c, d, e, mark)) < least:
                    players[name] = Mover((a, b, c, d, e, mark))
                    continue
            players[name] = self._look(before, body, now_us, out)
        return Movers(players, event.ts_us + 2 * LOOK_US - _EARLY_US), out or NOTHING

    def _look(self, before: Mover | None, body: BodyState, now_us: int, out: list[Event]) -> Mover:
        mark = now_us, body.x_m, body.y_m
        if before is None or now_us - before.marks[-1][0] > GAP_US:
            return Mover((mark,))
        marks = (*before.marks[-5:], mark)
        if len(marks) < 6:
            return Mover(marks)
        gain_m_s2 = _gain_m_s2(*marks)
        middle_us = marks[1][0]
        since = list(before.since_us)
        for i in range(4):
            kind, value = ("accel.effort", gain_m_s2) if i < 2 else ("decel.effort", -gain_m_s2)
            if value < self._least[i % 2]:
                since[i] = -1
            elif since[i] == -1:
                since[i] = middle_us
            elif since[i] >= 0 and marks[4][0] - since[i] >= self.parameters.hold_us:
                fact = Fact(self._variants[i % 2], body.team, body.object_id, round(body.x_m, 2), round(body.y_m, 2))
                began_us = max(since[i], now_us - self.spec.horizon_us)
                anchor = f"{body.object_id}:{since[i]}/{i % 2}"
                out.append(fact_event(kind, began_us, anchor, fact))
                since[i] = -2
        a, b, c, d = since
        return Mover(marks, (a, b, c, d))


def _gain_m_s2(a: Mark, b: Mark, c: Mark, d: Mark, e: Mark, f: Mark) -> float:
    """How much faster he is over the last three of six marks than over the first three."""
    return (_chord_m_s(d, f) - _chord_m_s(a, c)) * 1e6 / (e[0] - b[0])


def _chord_m_s(first: Mark, last: Mark) -> float:
    """Speed over a chord."""
    return math.hypot(last[1] - first[1], last[2] - first[2]) * 1e6 / (last[0] - first[0])


class DistanceParameters(msgspec.Struct, frozen=True):
    """Hierarchy 3.10: ``chord_us``, 5 Hz; ``tick_us``."""

    chord_us: int = 200_000
    tick_us: int = 1_000_000


class Ways(msgspec.Struct, frozen=True, gc=False):
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

    def initial(self) -> Ways:
        """Nobody has run."""
        return Ways()

    def step(self, state: Ways, event: Event) -> Step[Ways]:
        """Adds a chord if one is due, and tells every second."""
        now_us, p = event.ts_us, self.parameters
        if now_us < state.chord_us:
            return state, NOTHING
        frame = event.payload
        assert isinstance(frame, Frame)
        players = dict(state.players)
        for body in frame.players:
            team, last, way_m = players.get(body.object_id, (body.team, (now_us, body.x_m, body.y_m), 0.0))
            if now_us - last[0] <= GAP_US:
                way_m += math.hypot(body.x_m - last[1], body.y_m - last[2])
            players[body.object_id] = team, (now_us, body.x_m, body.y_m), way_m
        chord_us = now_us + p.chord_us - _EARLY_US
        if now_us < state.tick_us:
            return Ways(players, chord_us, state.tick_us), NOTHING
        out = tuple(_tick(now_us, team, players) for team in ("home", "away") if state.tick_us > _NEVER_US)
        return Ways(players, chord_us, now_us - now_us % p.tick_us + p.tick_us), out


def _tick(now_us: int, team: Team, players: dict[str, tuple[Team, Mark, float]]) -> Event:
    ways = {name: round(way_m, 1) for name, (of, _, way_m) in sorted(players.items()) if of == team}
    detail: dict[str, Scalar] = {"distance_m": round(sum(ways.values()), 1), **ways}
    return fact_event("distance.tick", now_us, f"{team}:{now_us}", Fact("", team, detail=detail))

"""3.1: how fast everybody runs, in the six classes of the DEBS 2013 challenge (query 1).

Theory of operation
-------------------
Five times a second everybody's way since the last look is added up: chords of 0.2 s, because the noise of positions
makes every shorter step longer than it was (hierarchy 3.10). The speed is the way of the last second, and falls into a
class. A class that is held for less than a second is not told: it counts to whatever is held next for a second, be
that the class before it (DEBS 2013: what lasts less than 1 s is added to the following intensity). So a run goes from
where the last one was left to where this one is; the new class is known a second later, and ``detail.since_us`` says
from when it holds.
"""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Names of the classes, slowest first.
CLASSES = ("standing", "trot", "low", "medium", "high", "sprint")


class RunningParameters(msgspec.Struct, frozen=True):
    """Upper ends of the classes: 1, 11, 14, 17 and 24 km/h (DEBS 2013). ``hold_us``: a shorter run counts to the next.
    ``chord_us``: hierarchy 3.10. ``mean_us``: the challenge's speed is that of the last second. ``gap_us``: whoever
    was not seen for so long begins anew (1.7)."""

    standing_m_s: float = 0.2778
    trot_m_s: float = 3.0556
    low_m_s: float = 3.8889
    medium_m_s: float = 4.7222
    high_m_s: float = 6.6667
    hold_us: int = 1_000_000
    chord_us: int = 200_000
    mean_us: int = 1_000_000
    gap_us: int = 400_000


class Run(msgspec.Struct, frozen=True, gc=False):
    """A stretch of running in one class: index into ``CLASSES``, from when to when, how far."""

    intensity: int
    from_us: int
    to_us: int
    distance_m: float


class Runner(msgspec.Struct, frozen=True, gc=False):
    """A player: where he was at the last look and how he runs.

    Attributes:
        chords: lengths and times of the last looks, oldest first.
        run: the class that holds, up to where it was left or to now; intensity -1 while none has held for long enough.
        other: once the class that holds was left, the class he is in now (it may be the same again); -1 before.
        other_us: since when that.
        since_m: way since the class that holds was left.
    """

    object_id: str
    team: Team
    ts_us: int
    x_m: float
    y_m: float
    chords: tuple[tuple[float, int], ...] = ()
    run: Run = Run(-1, 0, 0, 0.0)
    other: int = -1
    other_us: int = 0
    since_m: float = 0.0


class Running(msgspec.Struct, frozen=True, gc=False):
    """State: everybody by name; time of the next look."""

    runners: dict[str, Runner] = {}
    due_us: int = -(2**62)


class Runs(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``run.state``: of each player his team, the run that goes on, and the run that ended, if one did."""

    now: tuple[tuple[str, Team, Run], ...]
    ended: tuple[tuple[str, Team, Run], ...] = ()


class RunningIntensity:
    """3.1: ``run.intensity`` x 6 classes x team: a player has run in another class for a second.

    ``detail``: ``since_us`` (where the last class was left) and the run that ended then: ``was``, ``was_since_us``,
    ``was_s``, ``was_m``, ``was_m_s``. ``run.state`` (internal) tells everybody's run five times a second.
    """

    def __init__(self, parameters: RunningParameters | None = None) -> None:
        self.parameters = p = parameters or RunningParameters()
        self._bounds = (p.standing_m_s, p.trot_m_s, p.low_m_s, p.medium_m_s, p.high_m_s)
        self.spec = Spec(
            name="running_intensity",
            number="3.1",
            level=3,
            inputs=("frame",),
            outputs=("run.intensity", "run.state"),
            internal=("run.state",),
            parameters=msgspec.structs.asdict(p),
            source="DEBS 2013 Q1; StreamTeam has the same cut points",
            team_variants={"run.intensity": CLASSES},
        )

    def initial(self) -> Running:
        """Nobody seen."""
        return Running()

    def step(self, state: Running, event: Event) -> Step[Running]:
        """Looks at everybody if a look is due."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        frame = frame_of(event)
        out: list[Event] = []
        ended: list[tuple[str, Team, Run]] = []
        runners: dict[str, Runner] = {}
        for body in frame.players:
            before = state.runners.get(body.object_id)
            runner, run = self._look(before, body, event.ts_us)
            runners[body.object_id] = runner
            if run is not None:
                ended.append((body.object_id, body.team, run))
                if runner.run.from_us == run.to_us:
                    out.append(_told(event, body, runner, run))
            elif before is not None and before.run.intensity < 0 <= runner.run.intensity:
                out.append(_told(event, body, runner, None))
        ended += [(r.object_id, r.team, r.run) for n, r in state.runners.items() if n not in runners and _known(r)]
        now = tuple((r.object_id, r.team, r.run) for r in runners.values() if _known(r))
        out.append(Event("run.state", event.ts_us, "running", event.ts_us, Runs(now, tuple(ended))))
        return Running(runners, event.ts_us + self.parameters.chord_us), out

    def _look(self, before: Runner | None, body: BodyState, now_us: int) -> tuple[Runner, Run | None]:
        """The player after one more chord, and the run that ended."""
        p = self.parameters
        new = Runner(body.object_id, body.team, now_us, body.x_m, body.y_m)
        if before is None or now_us - before.ts_us > p.gap_us:
            return new, before.run if before is not None and _known(before) else None
        way_m = math.hypot(body.x_m - before.x_m, body.y_m - before.y_m)
        chords = (*before.chords, (way_m, now_us - before.ts_us))
        while len(chords) > 1 and sum(took_us for _, took_us in chords[1:]) >= p.mean_us:
            chords = chords[1:]
        took_us = sum(took_us for _, took_us in chords)
        new = msgspec.structs.replace(new, chords=chords)
        if took_us < p.mean_us:
            return new, None
        intensity = self._class(sum(m for m, _ in chords) / took_us * 1e6)
        return self._judge(before, new, intensity, way_m)

    def _class(self, speed_m_s: float) -> int:
        return sum(speed_m_s >= bound for bound in self._bounds)

    def _judge(self, before: Runner, new: Runner, intensity: int, way_m: float) -> tuple[Runner, Run | None]:
        """Goes on with the run, leaves it for a while, or ends it."""
        run, now_us = before.run, new.ts_us
        since_m = before.since_m + way_m
        if run.intensity < 0 and before.other < 0:
            # The second before went into the first speed and is nobody's.
            run = Run(-1, before.ts_us, before.ts_us, 0.0)
        longer = Run(intensity, run.from_us, now_us, run.distance_m + since_m)
        if intensity == run.intensity and before.other < 0:
            return msgspec.structs.replace(new, run=longer), None
        other_us = before.other_us if before.other == intensity else before.ts_us
        if now_us - other_us < self.parameters.hold_us:
            return msgspec.structs.replace(new, run=run, other=intensity, other_us=other_us, since_m=since_m), None
        if intensity == run.intensity:
            return msgspec.structs.replace(new, run=longer), None
        ended = run if run.intensity >= 0 else None
        return msgspec.structs.replace(new, run=Run(intensity, run.to_us, now_us, since_m)), ended


def _known(runner: Runner) -> bool:
    return runner.run.intensity >= 0


def _told(event: Event, body: BodyState, runner: Runner, was: Run | None) -> Event:
    detail: dict[str, Scalar] = {"since_us": runner.run.from_us}
    if was is not None:
        took_s = (was.to_us - was.from_us) / 1e6
        detail |= {
            "was": CLASSES[was.intensity],
            "was_since_us": was.from_us,
            "was_s": round(took_s, 3),
            "was_m": round(was.distance_m, 2),
            "was_m_s": round(was.distance_m / took_s, 2) if took_s else 0.0,
        }
    variant = CLASSES[runner.run.intensity]
    payload = EventPayload(variant, body.team, body.object_id, round(body.x_m, 2), round(body.y_m, 2), detail=detail)
    return make_event("run.intensity", event.ts_us, f"{body.object_id}:{runner.run.from_us}", payload)

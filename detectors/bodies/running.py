"""3.1: running intensity of each player, in the six classes of the DEBS 2013 challenge (query 1).

Theory of operation
-------------------
Five times a second each player's chord since the last sample is added: chords of 0.2 s, because the noise of positions
makes every shorter step longer than it was (hierarchy 3.10). The speed is the distance of the last second, and falls
into a class. A class that holds for less than a second is not reported: it counts to the class that holds next for a
second, which may be the one before (DEBS 2013: less than 1 s is added to the following intensity). So a run lasts from
the end of the last one to the end of this one. The new class is known a second later; ``detail.since_us`` is its
beginning.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Names of the classes, slowest first.
CLASSES = ("standing", "trot", "low", "medium", "high", "sprint")


class RunningParameters(msgspec.Struct, frozen=True):
    """Classes of running, and how the speed is measured.

    Attributes:
        standing_m_s: upper end of standing.
        trot_m_s: upper end of trot.
        low_m_s: upper end of low intensity.
        medium_m_s: upper end of medium intensity.
        high_m_s: upper end of high intensity; faster is a sprint.
        hold_us: a shorter run counts to the next one.
        chord_us: time of a chord of the path.
        mean_us: time over which the speed is taken.
        gap_us: a player without samples for so long begins anew.
    """

    standing_m_s: Annotated[float, reason("DEBS 2013: 1 km/h")] = 0.2778
    trot_m_s: Annotated[float, reason("DEBS 2013: 11 km/h")] = 3.0556
    low_m_s: Annotated[float, reason("DEBS 2013: 14 km/h")] = 3.8889
    medium_m_s: Annotated[float, reason("DEBS 2013: 17 km/h")] = 4.7222
    high_m_s: Annotated[float, reason("DEBS 2013: 24 km/h")] = 6.6667
    hold_us: Annotated[int, reason("DEBS 2013")] = 1_000_000
    chord_us: Annotated[int, reason("hierarchy 3.10")] = 200_000
    mean_us: Annotated[int, reason("DEBS 2013: the speed of the last second")] = 1_000_000
    gap_us: Annotated[int, reason("hierarchy 1.7, twice")] = 400_000


class Run(msgspec.Struct, frozen=True, gc=False):
    """A stretch of running in one class: index into ``CLASSES``, from when to when, how far."""

    intensity: int
    from_us: int
    to_us: int
    distance_m: float


class Runner(msgspec.Struct, frozen=True, gc=False):
    """A player: position at the last sample, and the run.

    Attributes:
        chords: lengths and times of the last chords, oldest first.
        run: of the class that holds, up to its end or to now; intensity -1 while none has held for long enough.
        other: once the class that holds was left, the present class (it may be the same again); -1 before.
        other_us: since when that.
        since_m: distance since the class that holds was left.
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
    """State: players by object id; time of the next chord."""

    runners: dict[str, Runner] = {}
    due_us: int = -(2**62)


class Runs(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``run.state``: player, team and run of each run that goes on, and of each that ended."""

    now: tuple[tuple[str, Team, Run], ...]
    ended: tuple[tuple[str, Team, Run], ...] = ()


class RunningIntensity:
    """3.1: ``run.intensity`` x 6 classes x team: a player has run in another class for a second.

    ``detail``: ``since_us`` (where the last class was left) and the run that ended then: ``was``, ``was_since_us``,
    ``was_s``, ``was_m``, ``was_m_s``. ``run.state`` (internal) has each player's run five times a second.
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
            details={"run.intensity": ("since_us", "was", "was_since_us", "was_s", "was_m", "was_m_s")},
        )

    def initial(self) -> Running:
        """No player yet."""
        return Running()

    def step(self, state: Running, event: Event) -> Step[Running]:
        """Add a chord of each player if it is time."""
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
                    out.append(_intensity_event(event, body, runner, run))
            elif before is not None and before.run.intensity < 0 <= runner.run.intensity:
                out.append(_intensity_event(event, body, runner, None))
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
        chord_m = math.hypot(body.x_m - before.x_m, body.y_m - before.y_m)
        chords = (*before.chords, (chord_m, now_us - before.ts_us))
        while len(chords) > 1 and sum(took_us for _, took_us in chords[1:]) >= p.mean_us:
            chords = chords[1:]
        took_us = sum(took_us for _, took_us in chords)
        new = msgspec.structs.replace(new, chords=chords)
        if took_us < p.mean_us:
            return new, None
        speed_m_s = sum(m for m, _ in chords) / took_us * 1e6
        intensity = self._class(speed_m_s)
        if is_recording():
            self._note_class(intensity, speed_m_s, body.object_id)
        return self._judge(before, new, intensity, chord_m)

    def _class(self, speed_m_s: float) -> int:
        return sum(speed_m_s >= bound for bound in self._bounds)

    def _note_class(self, intensity: int, speed_m_s: float, player: str) -> None:
        """Note how far a speed is within its class."""
        if intensity:
            path = f"running.{CLASSES[intensity - 1]}_m_s"
            note("mean speed", speed_m_s, "at least", self._bounds[intensity - 1], path, player)
        if intensity < len(self._bounds):
            path = f"running.{CLASSES[intensity]}_m_s"
            note("mean speed", speed_m_s, "at most", self._bounds[intensity], path, player)

    def _judge(self, before: Runner, new: Runner, intensity: int, chord_m: float) -> tuple[Runner, Run | None]:
        """Continue the run, leave it for a while, or end it."""
        run, now_us = before.run, new.ts_us
        since_m = before.since_m + chord_m
        if run.intensity < 0 and before.other < 0:
            # The second before is part of the first speed and of no run.
            run = Run(-1, before.ts_us, before.ts_us, 0.0)
        longer = Run(intensity, run.from_us, now_us, run.distance_m + since_m)
        if intensity == run.intensity and before.other < 0:
            return msgspec.structs.replace(new, run=longer), None
        other_us = before.other_us if before.other == intensity else before.ts_us
        held_us, least_us = now_us - other_us, self.parameters.hold_us
        what = "time in the new class"
        if not at_least(what, held_us, least_us, "running.hold_us", new.object_id):
            return msgspec.structs.replace(new, run=run, other=intensity, other_us=other_us, since_m=since_m), None
        if intensity == run.intensity:
            return msgspec.structs.replace(new, run=longer), None
        ended = run if run.intensity >= 0 else None
        return msgspec.structs.replace(new, run=Run(intensity, run.to_us, now_us, since_m)), ended


def _known(runner: Runner) -> bool:
    return runner.run.intensity >= 0


def _intensity_event(event: Event, body: BodyState, runner: Runner, was: Run | None) -> Event:
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

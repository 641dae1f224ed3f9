"""12.1: runs off the ball: how a player of the team with the ball moves without it.

Theory of operation
-------------------
A *run* lasts as long as a player is faster than ``speed_m_s`` while his team has the ball and he has not. Place and
time are looked at in the scenes (9.13). A run counts from ``hold_us`` on, and is judged when it is over, from its first
place to its last. Both are seen from the team: along the pitch towards the goal that it attacks, and across. The first
class that fits counts; they are those of SkillCorner, with numbers of ours:

| class | condition |
|---|---|
| cross receiver | ends in the penalty area, with the ball on a wing of the last third |
| behind | begins in front of the opponents' last line, and ends beyond where that line was |
| overlap, underlap | passes the mate who has, or had, the ball, near him, on the outside or on the inside |
| coming short | more back than across, and nearer to the ball |
| dropping off | more back than across, and not nearer |
| pulling wide | more across than forward, into a wing |
| pulling half-space | more across than forward, from the centre lane into a half-space |
| ahead | ends ahead of the ball |
| support | else |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

import msgspec

from detectors.chains.entries import LANES, strip_of
from detectors.control.scene import Scene, keepers_of, outfield
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_as, payload_of
from football.pitch import PENALTY_AREA_HALF_WIDTH_M, Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

CLASSES = (
    "behind", "ahead", "support", "overlap", "underlap", "coming short", "dropping off", "pulling wide",
    "pulling half-space", "cross receiver",
)  # fmt: skip
_WINGS, _HALF_SPACES, _CENTRE = (LANES[0], LANES[4]), (LANES[1], LANES[3]), LANES[2]


class RunParameters(msgspec.Struct, frozen=True):
    """Limits of a run off the ball.

    Attributes:
        speed_m_s: least speed of the run.
        hold_us: least duration of the run.
        away_m: an overlap or underlap begins and ends at most this far from that mate across the pitch.
    """

    speed_m_s: Annotated[float, reason("Hierarchy 12.1; SkillCorner's classes, number ours.")] = 4.0
    hold_us: Annotated[int, reason("Hierarchy 12.1; SkillCorner.")] = 700_000
    away_m: Annotated[float, reason("Ours: a wing and half of a half-space.")] = 15.0


class Instant(msgspec.Struct, frozen=True, gc=False):
    """A runner at an instant, as his team sees it: metres towards the attacked goal and to the left of it.

    Attributes:
        ts_us: event time.
        along_m: he, along the pitch.
        across_m: he, across the pitch.
        ball_along_m: the ball, along the pitch.
        ball_across_m: the ball, across the pitch.
        line_m: the opponents' last line, along the pitch.
        carrier: the mate who has the ball at his feet, or had it last: along and across; None if there is none.
    """

    ts_us: int
    along_m: float
    across_m: float
    ball_along_m: float
    ball_across_m: float
    line_m: float
    carrier: tuple[float, float] | None

    @property
    def ball_m(self) -> float:
        """Distance of the ball."""
        return math.hypot(self.ball_along_m - self.along_m, self.ball_across_m - self.across_m)


class Running(msgspec.Struct, frozen=True, gc=False):
    """A run under way: where it began, where it was last seen, and its greatest speed."""

    begin: Instant
    last: Instant
    speed_m_s: float


class RunState(msgspec.Struct, frozen=True, gc=False):
    """State: the team with the ball, +1 if it attacks +x, else -1, the mate who last had the ball
    at his feet, along and across, and the runs of players that are under way."""

    team: Team = ""
    sign: float = 0.0
    carrier: tuple[float, float] | None = None
    running: Mapping[str, Running] = {}


class OffBallRun:
    """12.1: ``run`` x class x team: a player runs while a mate has the ball.

    Published when the run is over: he is slower, has the ball, or his team has lost it. The position is the last one.
    ``detail``: ``since_us`` (begin), ``seconds``, ``start_x_m``, ``start_y_m``, ``speed_m_s`` (the greatest),
    ``forward_m`` (towards the goal), ``beyond_m`` (of the opponents' last line at the end; negative in front of it).
    """

    def __init__(self, sheet: MatchSheet, parameters: RunParameters | None = None) -> None:
        self.parameters = parameters or RunParameters()
        self.pitch = pitch_of(sheet)
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="off_ball_run",
            number="12.1",
            level=12,
            inputs=("scene", "possession.gain", "play.dead"),
            outputs=("run",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="SkillCorner (dynamic events); numbers ours",
            team_variants={"run": CLASSES},
            details={"run": ("since_us", "seconds", "start_x_m", "start_y_m", "speed_m_s", "forward_m", "beyond_m")},
        )

    def initial(self) -> RunState:
        """Nobody has the ball."""
        return RunState()

    def step(self, state: RunState, event: Event) -> Step[RunState]:
        """Follow the ball's team, and who of it runs."""
        if event.kind == "scene":
            return self._look(state, event) if state.team else (state, NOTHING)
        team: Team = "" if event.kind == "play.dead" else payload_of(event).team
        if team == state.team:
            return state, NOTHING
        return RunState(team), self._over(state, [*state.running], event.ts_us)

    def _look(self, state: RunState, event: Event) -> Step[RunState]:
        scene, p = payload_as(event, Scene), self.parameters
        sign, ball = scene.sign(state.team), scene.ball
        if ball is None or not sign or not scene.live:
            return state, NOTHING
        _, others = outfield(scene.opponents(state.team), -sign, self._keepers)
        if not others:
            return state, NOTHING
        line_m, carrier = sign * others[0].x_m, state.carrier
        if scene.holder_team == state.team:
            carrier = (sign * ball.x_m, sign * ball.y_m)
        running = {}
        for body in scene.team(state.team):
            name, speed_m_s = body.object_id, math.hypot(body.vx_m_s, body.vy_m_s)
            if speed_m_s < p.speed_m_s or name == scene.holder or name in self._keepers:
                continue
            here = Instant(
                event.ts_us, sign * body.x_m, sign * body.y_m, sign * ball.x_m, sign * ball.y_m, line_m, carrier
            )
            known = state.running.get(name)
            begin, fastest_m_s = (here, speed_m_s) if known is None else (known.begin, known.speed_m_s)
            running[name] = Running(begin, here, max(speed_m_s, fastest_m_s))
        over = [name for name in state.running if name not in running]
        if not over and not running and carrier == state.carrier:
            return state, NOTHING
        return RunState(state.team, sign, carrier, running), self._over(state, over, event.ts_us)

    def _over(self, state: RunState, names: list[str], ts_us: int) -> tuple[Event, ...]:
        """The events of runs that are over."""
        out = []
        for name in sorted(names):
            run = state.running[name]
            begin, last = run.begin, run.last
            lasted_us = last.ts_us - begin.ts_us
            if not at_least("duration of the run", lasted_us, self.parameters.hold_us, "off_ball_run.hold_us", name):
                continue
            at_least("greatest speed", run.speed_m_s, self.parameters.speed_m_s, "off_ball_run.speed_m_s", name)
            detail: dict[str, Scalar] = {
                "since_us": begin.ts_us,
                "seconds": round(lasted_us / 1e6, 3),
                "start_x_m": round(state.sign * begin.along_m, 2),
                "start_y_m": round(state.sign * begin.across_m, 2),
                "speed_m_s": round(run.speed_m_s, 2),
                "forward_m": round(last.along_m - begin.along_m, 2),
                "beyond_m": round(last.along_m - last.line_m, 2),
            }
            x_m, y_m = state.sign * last.along_m, state.sign * last.across_m
            sort = class_of(begin, last, self.pitch, self.parameters.away_m)
            payload = EventPayload(sort, state.team, name, x_m, y_m, detail=detail)
            out.append(make_event("run", ts_us, f"{name}:{begin.ts_us}", payload))
        return tuple(out)


def class_of(begin: Instant, end: Instant, pitch: Pitch, away_m: float) -> str:
    """The class of a run from its first to its last instant; see the table of this module."""
    forward_m, across_m = end.along_m - begin.along_m, abs(end.across_m - begin.across_m)
    wide = abs(end.ball_across_m) > PENALTY_AREA_HALF_WIDTH_M and end.ball_along_m > pitch.half_length_m / 3
    if wide and pitch.in_penalty_area(end.along_m, end.across_m, "right"):
        return "cross receiver"
    if begin.along_m <= begin.line_m < end.along_m:
        return "behind"
    if begin.carrier is not None and end.carrier is not None:
        (begin_x, begin_y), (end_x, end_y) = begin.carrier, end.carrier
        near = max(abs(begin.across_m - begin_y), abs(end.across_m - end_y)) <= away_m
        if begin.along_m < begin_x and end.along_m > end_x and near:
            return "overlap" if (end.across_m - end_y) * end_y > 0.0 else "underlap"
    if -forward_m > across_m:
        return "coming short" if end.ball_m < begin.ball_m else "dropping off"
    if across_m > forward_m:
        strip, before = strip_of(end.across_m), strip_of(begin.across_m)
        if strip in _WINGS and before not in _WINGS:
            return "pulling wide"
        if strip in _HALF_SPACES and before == _CENTRE:
            return "pulling half-space"
    return "ahead" if end.along_m > end.ball_along_m else "support"

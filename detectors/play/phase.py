"""5.10: the phase of play, live or dead, by the geometry of ball and players alone.

Theory of operation
-------------------
Tracking has no whistle. A *stoppage*, the time in which the ball is dead, begins for one of four causes:

* ``touch``, ``goal line``: the whole ball crosses an outer line and does not return at once (a track wobbles by some
  decimetres, a dead ball stays out for seconds);
* ``goal``: the ball is in a goal;
* ``stop``: the ball *stalls*, as after a whistle. It lies within two metres for seconds, or is slow and far from
  everybody, or is carried at hand height. A defender may do that with a live ball in the penalty area that he defends,
  for a while.

A stoppage ends with a *kick from rest*, which may be a throw. The ball has been slow for a while, then moves a few
metres at once, away from a player, and from a position where the restart after this cause may be taken (Laws 8, 13,
15, 16, 17). No other movement of a dead ball ends a stoppage: it may be rolled, carried or thrown back. If players play
a dead ball inside the field for some seconds without a pause, the detector has missed the restart, and play goes on
(*fallback*).

Decisions of the officials (1.10) overrule geometry: the ball is dead from their stop until they resume play. Players
often still kick a ball after the whistle. So a stop by the officials ends without their word only with a kick from
rest, or after half a minute of play.

A stream may begin at any time. Until the ball has stalled or was kicked from rest, the detector publishes nothing, and
play counts as live.

Both kinds are internal. 6.4 to 6.6 (:mod:`detectors.play.in_out`) turn them into ``play.dead``, ``play.live``, ``out``
and ``goal.candidate``; 9.1 to 9.6 (:mod:`detectors.laws.restarts`) name the restart.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.ball.lines import IN_LINES, OUT_LINES
from detectors.decisions import at_least, at_most, is_over
from detectors.emission import make_event
from detectors.play.dead_ball_kicks import NO_REST, Rest, RestParameters, extend_rest, is_dropped, nearest, travelled_m
from detectors.play.restart_kicks import RestartKickParameters, may_restart
from detectors.play.stalls import NO_STALL, Stall, StallParameters, stall_sign, update_stall
from detectors.reasons import reason
from detectors.signals.official import decided_us
from football.match_sheet import MatchSheet, Team
from football.payloads import (
    BallState,
    BodyState,
    EventPayload,
    Frame,
    Scalar,
    frame_of,
    location_m,
    number,
    payload_of,
)
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PhaseParameters(msgspec.Struct, frozen=True):
    """When the ball is dead, and what counts as a kick from rest.

    Attributes:
        settle_us: a ball that has crossed a line is dead after this time outside, on camera tracking.
        settle_rtls_us: a ball that has crossed a line is dead after this time outside, on radio.
        sure: least confidence of a ball in the goal that ends play.
        rest_us: least time for which the ball is slow before a kick from rest.
        travel_m: least distance that the ball covers at once from a corner kick, goal kick or kick-off.
        travel_touch_m: least distance that the ball covers at once from a throw-in.
        travel_stop_m: least distance that the ball covers at once from a free kick.
        put_us: if the ball has lain for this long, a free kick may be as short as ``travel_put_m``.
        travel_put_m: least distance that the ball covers at once from a free kick, if it has lain for ``put_us``.
        lay_us: the ball was out over a line, then lay in the field for this long and was kicked as far as a free kick:
            the cause was a stop, before the ball ran out.
        reach_m: greatest distance of the taker from the resting ball.
        left_m: least distance of the kicked ball from its taker.
        keeper_us: time for which a defender in his own penalty area may keep a stalled ball in play.
        play_m: a change of the ball's velocity this near to a player is his contact.
        play_m_s: least change of the ball's velocity at such a contact.
        guard_m: greatest distance from the ball of a defender who keeps it in play (``keeper_us``).
        whistle_us: a stalled ball was stopped at most this long after its last contact.
        goal_rest_us: after a goal, the ball lies for at least this long before a restart that is no kick-off.
        fallback_us: a dead ball that is played in the field for this long without a pause is in play.
        goal_fallback_us: the same limit as ``fallback_us``, after a goal and after a stop by the officials.
        rest: limits of a rest.
        stall: signs of a stalled ball.
    """

    settle_us: Annotated[int, reason("Optical tracks wobble over the line for less.")] = 400_000
    settle_rtls_us: Annotated[int, reason("A radio's ball is exact to some centimetres.")] = 100_000
    sure: Annotated[float, reason("More likely in than not.")] = 0.5
    rest_us: Annotated[int, reason("Portugal-Switzerland 2019.")] = 1_000_000
    travel_m: Annotated[float, reason("These restarts have a position of their own.")] = 3.0
    travel_touch_m: Annotated[float, reason("Opta/TRACAB clip: a lob of 2.5 m to a mate beside the line.")] = 2.0
    travel_stop_m: Annotated[
        float, reason("Players push a dead ball about; Opta/TRACAB clip: one chips it 5.5 m to where the foul was.")
    ] = 6.0
    put_us: Annotated[int, reason("Portugal-Switzerland 2019.")] = 2_500_000
    travel_put_m: Annotated[float, reason("Portugal-Switzerland 2019.")] = 4.0
    lay_us: Annotated[
        int,
        reason(
            "The whistle came before the ball ran out (generated match, seed 19); in Portugal-Switzerland 2019 no dead "
            "ball lies so long where it may not be taken from."
        ),
    ] = 4_000_000
    reach_m: Annotated[
        float, reason("Portugal-Switzerland 2019: at most 1.7 m in 20 restarts; StreamTeam has 3 m.")
    ] = 2.5
    left_m: Annotated[
        float,
        reason(
            "Else the taker runs along the line with the ball in his hands (0.2 to 0.5 m in generated matches; a leg's "
            "length)."
        ),
    ] = 1.0
    keeper_us: Annotated[int, reason("Law 12: 8 s with hands, more with feet.")] = 12_000_000
    play_m: Annotated[float, reason("As a contact of 5.2: a stretched leg.")] = 1.0
    play_m_s: Annotated[float, reason("Ours: above the noise of optical velocities.")] = 2.0
    guard_m: Annotated[float, reason("Ours: farther away he has left the ball alone.")] = 6.0
    whistle_us: Annotated[
        int,
        reason(
            "Nobody leaves a live ball to itself (generated matches, seeds 11 to 30: of 13 whistles 11 come 0.1 to "
            "0.8 s after the last contact)."
        ),
    ] = 400_000
    goal_rest_us: Annotated[
        int, reason("After a goal a player may kick the ball from the net towards the centre: no restart.")
    ] = 2_000_000
    fallback_us: Annotated[int, reason("Ours.")] = 6_000_000
    goal_fallback_us: Annotated[int, reason("The ball is run back to the centre first. Ours.")] = 30_000_000
    rest: RestParameters = RestParameters()
    stall: StallParameters = StallParameters()


#: Causes of a stoppage.
STOPPAGE_CAUSES = ("touch", "goal line", "goal", "stop")
#: Causes that geometry shows even if the referee had stopped play before the ball ran out.
LINE_CAUSES = ("touch", "goal line")

#: Detail of a stoppage, and of the kick that ends it.
DEAD = ("line", "sign", "since_us")
LIVE = (
    "line", "fallback", "kick_us", "rest_s", "kick_off_shape", "penalty_shape", "shoot_out", "dropped",
    "vx_m_s", "vy_m_s", "height_m", "taker_x_m", "taker_y_m", "attacks_x",
)  # fmt: skip


class PhaseState(msgspec.Struct, frozen=True, gc=False):
    """State of play.

    Attributes:
        mode: ``unknown`` at first, then ``live`` or ``dead``.
        cause: cause of the last stoppage: ``touch``, ``goal line``, ``goal``, ``stop``; ``start`` before the first.
        line: variant of the crossing that ended play, if one did.
        exit: a crossing that has not settled yet.
        attacks_x: team that attacks towards +x.
        rest: the newest rest of the ball.
        stall: signs that the ball has stalled.
        fast_us: begin of the time in which players play a dead ball in the field; -1 if they do not.
        stopped: True if officials have stopped play.
        peak: a change of the ball's velocity, until the next frame shows who was there.
        played_us: time of the newest contact since the ball is in play; -1 without one.
    """

    mode: str = "unknown"
    cause: str = "start"
    line: str = ""
    exit: Event | None = None
    attacks_x: Team = ""
    rest: Rest = NO_REST
    stall: Stall = NO_STALL
    fast_us: int = -1
    stopped: bool = False
    peak: Event | None = None
    played_us: int = -1


class PlayPhase:
    """5.10: ``phase.dead`` and ``phase.live``: the ball is dead, the ball is in play again; ``variant`` is the cause.

    ``phase.dead`` has the position of the ball when the stoppage began. ``detail``: ``line`` (variant of the crossing,
    the end of a goal, or empty), ``sign`` (how a stop was seen: ``alone``, ``carried``, ``still`` or ``official``, else
    empty), ``since_us`` (event time at which the stoppage began, microseconds).

    ``phase.live`` has the taker, and the position of the kick. ``detail``: ``line`` as above; ``fallback`` (True if no
    kick from rest was detected); ``kick_us`` (event time of the kick); ``rest_s`` (seconds of rest before it);
    ``kick_off_shape``, ``penalty_shape``, ``shoot_out`` (True if the teams stood so); ``dropped`` (True if the referee
    dropped the ball); ``vx_m_s``, ``vy_m_s``,
    ``height_m`` (the ball after the kick); ``taker_x_m``, ``taker_y_m`` (metres, or null); ``attacks_x`` (team that
    attacks towards +x).
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: PhaseParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = p = parameters or PhaseParameters()
        self.kick = kick or RestartKickParameters()
        self._settle = (p.settle_rtls_us, "phase.settle_rtls_us")
        if sheet.quality.kind != "rtls":
            self._settle = (p.settle_us, "phase.settle_us")
        self.pitch = pitch_of(sheet)
        self._slow2 = self.parameters.stall.slow_m_s**2
        self.spec = Spec(
            name="play_phase",
            number="5.10",
            level=5,
            inputs=(
                "frame",
                "ball.accel_peak",
                "ball.crossed",
                "ball.in_goal",
                "direction",
                "official.stop",
                "official.resume",
            ),
            outputs=("phase.dead", "phase.live"),
            internal=("phase.dead", "phase.live"),
            parameters={**msgspec.to_builtins(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Laws 8, 9, 12-17; StreamTeam set plays; thresholds ours",
            variants={"phase.dead": STOPPAGE_CAUSES, "phase.live": ("start", *STOPPAGE_CAUSES)},
            untyped=("phase.dead", "phase.live"),
            details={"phase.dead": DEAD, "phase.live": LIVE},
        )

    def initial(self) -> PhaseState:
        """Nothing is known of play."""
        return PhaseState()

    def step(self, state: PhaseState, event: Event) -> Step[PhaseState]:
        """Dispatch on the kind; frames make up nearly all of the input."""
        if event.kind == "frame":
            frame = frame_of(event)
            if frame.ball is None:
                return state, NOTHING
            return self._frame(state, event.ts_us, frame, frame.ball)
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks_x=payload.team), NOTHING
        if event.kind.startswith("official."):
            return self._obey_officials(state, event)
        if state.mode == "dead":
            return state, NOTHING
        if event.kind == "ball.accel_peak":
            struck = not payload.detail["bounce"] and number(payload, "delta_v_m_s") >= self.parameters.play_m_s
            return (msgspec.structs.replace(state, peak=event), NOTHING) if struck else (state, NOTHING)
        if event.kind == "ball.in_goal":
            what = "how surely the ball is in the goal"
            if not at_least(what, payload.confidence, self.parameters.sure, "phase.sure", about="phase.dead"):
                return state, NOTHING
            return self._end_play(state, event.ts_us, "goal", event)
        if payload.variant in OUT_LINES and state.exit is None:
            return msgspec.structs.replace(state, exit=event), NOTHING
        if payload.variant in IN_LINES:
            return msgspec.structs.replace(state, exit=None), NOTHING
        return state, NOTHING

    def _obey_officials(self, state: PhaseState, event: Event) -> Step[PhaseState]:
        """Make the ball dead, or bring it into play, as the officials decide."""
        rest, at_us = state.rest, decided_us(event)
        known = rest.since_us >= 0
        x_m, y_m = (rest.x_m, rest.y_m) if known else (None, None)
        if event.kind == "official.stop":
            if state.mode == "dead":
                return msgspec.structs.replace(state, stopped=True), NOTHING
            detail: dict[str, Scalar] = {"line": "", "sign": "official", "since_us": at_us}
            payload = EventPayload("stop", x_m=x_m, y_m=y_m, detail=detail)
            dead = make_event("phase.dead", event.ts_us, event.source, payload, causes=(event.id,))
            # A ball that lay before the whistle and is kicked on after it was not kicked from rest.
            return PhaseState("dead", "stop", "", None, state.attacks_x, stopped=True), (dead,)
        if state.mode == "live":
            return state, NOTHING
        detail = {"line": state.line, "fallback": True, "kick_us": at_us, "rest_s": 0.0, "kick_off_shape": False}
        detail |= {"penalty_shape": False, "shoot_out": False, "dropped": False}
        detail |= {"vx_m_s": 0.0, "vy_m_s": 0.0, "height_m": 0.0, "taker_x_m": None, "taker_y_m": None}
        payload = EventPayload(state.cause, x_m=x_m, y_m=y_m, detail={**detail, "attacks_x": state.attacks_x})
        live = make_event("phase.live", event.ts_us, event.source, payload, causes=(event.id,))
        return PhaseState("live", state.cause, "", None, state.attacks_x), (live,)

    def _frame(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState) -> Step[PhaseState]:
        exit_event = state.exit
        if exit_event is not None:
            outside_us = now_us - exit_event.ts_us
            if at_least("time since the line was crossed", outside_us, *self._settle, about="phase.dead"):
                cause = "touch" if "touch" in payload_of(exit_event).variant else "goal line"
                return self._end_play(state, now_us, cause, exit_event)
        if state.peak is not None:
            state = self._with_contact(state, state.peak, frame)
        # Speed over ground: a thrower who lifts the ball over his head has not thrown it.
        slow = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s <= self._slow2
        rest = state.rest
        near: tuple[BodyState | None, float] = (None, 0.0)
        if slow:
            near = nearest(frame, ball.x_m, ball.y_m)
            rest = extend_rest(rest, self.parameters.rest, self.kick, self.pitch, now_us, frame, ball, near)
        if state.mode == "dead":
            return self._while_dead(state, now_us, frame, ball, slow, rest)
        stall = update_stall(state.stall, self.parameters.stall, now_us, ball, slow, near[1])
        if slow and self._is_stopped(state, stall, now_us, ball, near[0]):
            return self._end_stalled(state, now_us, ball, stall, rest)
        return self._while_live(state, now_us, frame, ball, slow, rest, stall)

    def _while_live(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest, stall: Stall
    ) -> Step[PhaseState]:
        """Play goes on, or begins if nothing was known of it."""
        mode = state.mode
        if mode == "unknown" and not slow:
            if self._kicked(state, now_us, frame, ball, rest) and rest.shape:
                return self._resume(state, now_us, ball, rest, fallback=False)
            if rest.since_us < 0 or now_us - rest.last_us > self.parameters.rest.bridge_us:
                # Outside without having crossed a line: the stream began with a dead ball.
                is_live = state.exit is not None or self.pitch.inside(ball.x_m, ball.y_m)
                mode = "live" if is_live else "dead"
        played_us = state.played_us
        return PhaseState(mode, state.cause, "", state.exit, state.attacks_x, rest, stall, played_us=played_us), NOTHING

    def _with_contact(self, state: PhaseState, peak: Event, frame: Frame) -> PhaseState:
        """Count a change of the ball's velocity near a player as his contact."""
        by_player = nearest(frame, *location_m(payload_of(peak)))[1] <= self.parameters.play_m
        return msgspec.structs.replace(state, peak=None, played_us=peak.ts_us if by_player else state.played_us)

    def _is_stopped(
        self, state: PhaseState, stall: Stall, now_us: int, ball: BallState, near: BodyState | None
    ) -> bool:
        """True if the ball has stalled, unless a defender keeps it in the penalty area that he defends."""
        p, about = self.parameters, "phase.dead"
        if not stall_sign(stall, p.stall, now_us)[0]:
            return False
        if near is not None:
            away_m = math.hypot(near.x_m - ball.x_m, near.y_m - ball.y_m)
            if is_over("the nearest player from the ball", away_m, p.guard_m, "phase.guard_m", about):
                return True
        end = end_of(ball.x_m)
        if near is None or not self.pitch.in_penalty_area(ball.x_m, ball.y_m, end):
            return True
        attackers: Team = state.attacks_x
        if end == "left" and attackers:
            attackers = "away" if attackers == "home" else "home"
        held_us = now_us - stall.still_us
        return near.team == attackers or at_least(
            "time that the defender keeps the ball", held_us, p.keeper_us, "phase.keeper_us", about
        )

    def _end_stalled(
        self, state: PhaseState, now_us: int, ball: BallState, stall: Stall, rest: Rest
    ) -> Step[PhaseState]:
        sign, since_us = stall_sign(stall, self.parameters.stall, now_us)
        if state.played_us >= 0:
            since_us = min(since_us, state.played_us + self.parameters.whistle_us)
        detail: dict[str, Scalar] = {"line": "", "sign": sign, "since_us": since_us}
        payload = EventPayload("stop", x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, confidence=0.7, detail=detail)
        dead = make_event("phase.dead", now_us, f"ball:{since_us}/{sign}", payload)
        return PhaseState("dead", "stop", "", None, state.attacks_x, rest), (dead,)

    def _end_play(self, state: PhaseState, now_us: int, cause: str, by: Event) -> Step[PhaseState]:
        payload = payload_of(by)
        detail: dict[str, Scalar] = {"line": payload.variant, "sign": "", "since_us": by.ts_us}
        stoppage = EventPayload(
            cause, x_m=payload.x_m, y_m=payload.y_m, z_m=payload.z_m, confidence=payload.confidence, detail=detail
        )
        dead = make_event("phase.dead", now_us, by.source, stoppage, causes=(by.id,))
        return PhaseState("dead", cause, payload.variant, None, state.attacks_x), (dead,)

    def _while_dead(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest
    ) -> Step[PhaseState]:
        p = self.parameters
        ended = None if slow else self._ended_by_kick(state, now_us, frame, ball, rest)
        if ended is not None:
            return self._resume(ended, now_us, ball, rest, fallback=False)
        paused = rest.since_us >= 0 and now_us - rest.since_us >= p.rest_us and slow
        fast_us = state.fast_us
        if paused or not self.pitch.inside(ball.x_m, ball.y_m):
            fast_us = -1
        elif fast_us < 0:
            fast_us = now_us
        elif self._is_played_on(state, now_us - fast_us):
            return self._resume(state, now_us, ball, rest, fallback=True)
        after = PhaseState(
            "dead", state.cause, state.line, None, state.attacks_x, rest, NO_STALL, fast_us, state.stopped
        )
        return after, NOTHING

    def _is_played_on(self, state: PhaseState, played_us: int) -> bool:
        """True if players have played a dead ball for so long that the restart must have been missed."""
        p, path = self.parameters, "fallback_us"
        limit_us = p.fallback_us
        if state.cause == "goal" or state.stopped:
            path, limit_us = "goal_fallback_us", p.goal_fallback_us
        return at_least("time that the ball is played", played_us, limit_us, f"phase.{path}", about="phase.live")

    def _ended_by_kick(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest
    ) -> PhaseState | None:
        """The state that a kick from rest ends, with the cause that fits the kick; None without such a kick."""
        if self._kicked(state, now_us, frame, ball, rest):
            return state
        lay_us = rest.last_us - rest.put_us
        if state.cause not in LINE_CAUSES or (lay_us < self.parameters.lay_us and rest.penalty != "shoot-out"):
            return None
        stopped = msgspec.structs.replace(state, cause="stop", line="")
        return stopped if self._kicked(stopped, now_us, frame, ball, rest) else None

    def _kicked(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest) -> bool:
        """True if the ball was just kicked from rest, where the restart after this cause may be taken."""
        p, about, moved_m = self.parameters, "phase.live", travelled_m(rest, self.parameters.rest, now_us, ball)
        if not at_least("the ball from where it rested", moved_m, *self._travel(state.cause, rest), about=about):
            return False
        if state.cause == "goal" and not rest.shape and rest.last_us - rest.put_us < p.goal_rest_us:
            return False
        rested_us = rest.last_us - rest.since_us
        return (
            at_least("time that the ball had rested", rested_us, p.rest_us, "phase.rest_us", about)
            and at_most("the taker from the ball", rest.taker_m, p.reach_m, "phase.reach_m", about)
            and at_least("the ball from its taker", _apart_m(rest.taker, frame, ball), p.left_m, "phase.left_m", about)
            and self.pitch.inside(ball.x_m, ball.y_m)
            and may_restart(self.pitch, self.kick, state.cause, state.line, rest.x_m, rest.y_m)
        )

    def _travel(self, cause: str, rest: Rest) -> tuple[float, str]:
        """Least distance that a restart kick after this cause covers, and the path of its parameter."""
        p = self.parameters
        if cause == "touch":
            return p.travel_touch_m, "phase.travel_touch_m"
        if cause == "goal line" or rest.shape:
            return p.travel_m, "phase.travel_m"
        put_down = rest.last_us - rest.put_us >= p.put_us
        return (p.travel_put_m, "phase.travel_put_m") if put_down else (p.travel_stop_m, "phase.travel_stop_m")

    def _resume(
        self, state: PhaseState, now_us: int, ball: BallState, rest: Rest, *, fallback: bool
    ) -> Step[PhaseState]:
        taker = None if fallback else rest.taker
        detail: dict[str, Scalar] = {
            "line": state.line,
            "fallback": fallback,
            "kick_us": now_us if fallback else rest.last_us,
            "rest_s": 0.0 if fallback else round((rest.last_us - rest.since_us) / 1e6, 2),
            "kick_off_shape": rest.shape and not fallback,
            "penalty_shape": rest.penalty != "" and not fallback,
            "shoot_out": rest.penalty == "shoot-out" and not fallback,
            "dropped": state.cause == "stop" and not fallback and is_dropped(rest, self.parameters.rest),
            "vx_m_s": round(ball.vx_m_s, 2),
            "vy_m_s": round(ball.vy_m_s, 2),
            "height_m": round(ball.z_m, 2),
            "taker_x_m": taker.x_m if taker else None,
            "taker_y_m": taker.y_m if taker else None,
            "attacks_x": state.attacks_x,
        }
        payload = EventPayload(
            state.cause,
            taker.team if taker else "",
            taker.object_id if taker else "",
            ball.x_m if fallback else rest.x_m,
            ball.y_m if fallback else rest.y_m,
            confidence=0.5 if fallback else 0.9,
            detail=detail,
        )
        live = make_event("phase.live", now_us, f"ball:{detail['kick_us']}", payload)
        return PhaseState("live", state.cause, "", None, state.attacks_x), (live,)


def _apart_m(taker: BodyState | None, frame: Frame, ball: BallState) -> float:
    """Distance of the ball from its taker now, in metres; infinity if the frame does not have him."""
    body = next((b for b in frame.players if taker is not None and b.object_id == taker.object_id), None)
    return math.inf if body is None else math.hypot(ball.x_m - body.x_m, ball.y_m - body.y_m)

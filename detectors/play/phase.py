"""5.10 (ours): is the ball in play? Told from where the ball and the players are, by geometry alone.

Theory of operation
-------------------
Tracking has no whistle. The ball dies

* over a line: the whole ball crosses an outer line and does not come back at once (a track wobbles by some
  decimetres, a dead ball stays out for seconds);
* in a goal, at once;
* by a stop: it *stalls*. It lies within two metres for seconds, or is left alone though slow, or is carried at
  hand height. A goalkeeper may do that with a live ball in the penalty area that he defends, for a while.

It lives again with a *kick from rest*: after a time of slowness it goes a few metres at once, with somebody
beside it, from a place where the restart for this kind of death may be taken (Laws 8, 13, 15, 16, 17). All
else that a dead ball does, rolled, carried, thrown back, between the goalposts, is not looked at. If a dead
ball is played about inside the field for some seconds without a pause, a restart has escaped us and play goes on.

Officials who speak (1.10) are believed: play dies at their stop and lives at their word to resume. A ball that they
stopped is often still kicked about; so their stop ends by itself only with a restart, or after half a minute of play.

A stream may begin anywhere: until the ball has stalled or been kicked from rest nothing is said at all, and
then play is taken as live.

The two kinds are inner ones; levels 6 and 9 make of them what people see.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.lines import IN_LINES, OUT_LINES
from detectors.emission import make_event
from detectors.play.dead_ball_kicks import NO_REST, Rest, RestParameters, nearest, rest_on, travelled_m
from detectors.play.restart_kicks import restart_place
from detectors.play.stalls import NO_STALL, Stall, StallParameters, stalled, watch
from detectors.signals.official import decided_us
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, BodyState, EventPayload, Frame, Scalar, frame_of, number, published
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PhaseParameters(msgspec.Struct, frozen=True):
    """Thresholds of dead and live. P = chosen on Portugal-Switzerland, O = on the Opta/TRACAB clip.

    Attributes:
        settle_us: an outer line stays crossed for this long before the ball is out. P: wobbles over the line
            last at most 0.24 s, true exits at least 1.0 s.
        settle_rtls_us: the same of a source without track repairs: only noise has to be waited out.
        sure: least confidence of a ball in goal; below it the track jumped.
        rest_us: slowness before a kick from rest. P: 1.3 s before the quickest restart, a goal kick.
        travel_m: way at once of a corner, goal kick or kick-off, all taken from a place of their own.
        travel_touch_m: the same of a throw-in (O: a lob of 2.5 m to a mate beside the line).
        travel_stop_m: the same of a free kick, as players push a dead ball about (O: one chips it
            5.5 m to where the foul was).
        put_us, travel_put_m: a ball that was put down for so long may be kicked that short.
        lay_us: a ball that lay in the field for so long and is kicked as far as a free kick is one, though play seemed
            to have died over a line: the whistle came before it ran out, unseen (generated match, seed 19; in
            Portugal-Switzerland no dead ball lies so long where it may not be taken from).
        reach_m: the taker is at most this far (P: at most 1.7 m in 20 restarts; StreamTeam 3 m).
        left_m: once the ball has gone its way it has left him by this; else he runs along the line with it in his
            hands (0.2 to 0.5 m in generated matches; a leg's length).
        keeper_us: what a defender in his own penalty area may take (Law 12: 8 s with hands, more with feet).
        guard_m: and he is so near to it, else it is left alone.
        whistle_us: a ball that nobody plays any more, until it stalls, was stopped so long after it was played last:
            nobody leaves a live ball to itself (generated matches, seeds 11 to 30: of 13 whistles 11 come 0.1 to 0.8 s
            after the last contact). It was played where its velocity changed by ``play_m_s`` within ``play_m`` of a
            player.
        goal_rest_us: how long a ball lies at its place before a restart that is no kick-off after a ball in
            goal; it may be fetched and kicked up the field for the kick-off.
        fallback_us: a dead ball that is played in the field this long without a pause is in play;
            goal_fallback_us the same after a goal, when it is run back to the centre first, and after an official stop.
    """

    settle_us: int = 400_000
    settle_rtls_us: int = 100_000
    sure: float = 0.5
    rest_us: int = 1_000_000
    travel_m: float = 3.0
    travel_touch_m: float = 2.0
    travel_stop_m: float = 6.0
    put_us: int = 2_500_000
    travel_put_m: float = 4.0
    lay_us: int = 4_000_000
    reach_m: float = 2.5
    left_m: float = 1.0
    keeper_us: int = 12_000_000
    play_m: float = 1.0
    play_m_s: float = 2.0
    guard_m: float = 6.0
    whistle_us: int = 400_000
    goal_rest_us: int = 2_000_000
    fallback_us: int = 6_000_000
    goal_fallback_us: int = 30_000_000
    rest: RestParameters = RestParameters()
    stall: StallParameters = StallParameters()


#: What play dies of.
DEATHS = ("touch", "goal line", "goal", "stop")
#: Those that are seen though play may have been stopped before.
LINE_DEATHS = ("touch", "goal line")


class PhaseState(msgspec.Struct, frozen=True, gc=False):
    """What is known of play.

    Attributes:
        mode: ``unknown`` at first, then ``live`` or ``dead``.
        cause: why it was dead last: ``touch``, ``goal line``, ``goal``, ``stop``; ``start`` before the first.
        line: variant of the crossing that killed it, if one did.
        exit: a crossing that has not settled yet.
        attacks_x: team that attacks towards +x.
        rest, stall: the ball's slowness.
        fast_us: since when a dead ball has been played about in the field; -1 if it is not.
        stopped: whether officials have stopped play.
        peak: a change of the ball's velocity, until the next frame tells who was there.
        played_us: when the ball was played last, -1 if it was not since it came to life.
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
    """5.10: ``phase.live`` and ``phase.dead``, ``variant`` the cause of the death (also of the one that ended).

    ``phase.dead``: place where it died; ``detail`` has ``line``, ``sign`` of a stall and ``since_us``.
    ``phase.live``: taker and place of the kick; ``detail`` has ``kick_us``, ``rest_s`` and how ball, taker and
    teams stood; ``fallback`` if no kick from rest was seen.
    """

    def __init__(self, sheet: MatchSheet, parameters: PhaseParameters | None = None) -> None:
        self.parameters = p = parameters or PhaseParameters()
        self._settle_us = p.settle_rtls_us if sheet.quality.kind == "rtls" else p.settle_us
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
            parameters=msgspec.to_builtins(self.parameters),
            source="IFAB Laws 8, 9, 12-17; StreamTeam set plays; thresholds ours",
            variants={"phase.dead": DEATHS, "phase.live": ("start", *DEATHS)},
            untyped=("phase.dead", "phase.live"),
        )

    def initial(self) -> PhaseState:
        """Anything may be going on."""
        return PhaseState()

    def step(self, state: PhaseState, event: Event) -> Step[PhaseState]:
        """Dispatches on the kind; frames make up nearly all of the input."""
        if event.kind == "frame":
            frame = frame_of(event)
            if frame.ball is None:
                return state, NOTHING
            return self._frame(state, event.ts_us, frame, frame.ball)
        payload = published(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks_x=payload.team), NOTHING
        if event.kind.startswith("official."):
            return self._told(state, event)
        if state.mode == "dead":
            return state, NOTHING
        if event.kind == "ball.accel_peak":
            struck = not payload.detail["bounce"] and number(payload, "delta_v_m_s") >= self.parameters.play_m_s
            return (msgspec.structs.replace(state, peak=event), NOTHING) if struck else (state, NOTHING)
        if event.kind == "ball.in_goal":
            if payload.confidence < self.parameters.sure:
                return state, NOTHING
            return self._die(state, event.ts_us, "goal", event)
        if payload.variant in OUT_LINES and state.exit is None:
            return msgspec.structs.replace(state, exit=event), NOTHING
        if payload.variant in IN_LINES:
            return msgspec.structs.replace(state, exit=None), NOTHING
        return state, NOTHING

    def _told(self, state: PhaseState, event: Event) -> Step[PhaseState]:
        """Officials stop play, or let it go on."""
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
        detail |= {"penalty_shape": False}
        detail |= {"vx_m_s": 0.0, "vy_m_s": 0.0, "height_m": 0.0, "taker_x_m": None, "taker_y_m": None}
        payload = EventPayload(state.cause, x_m=x_m, y_m=y_m, detail={**detail, "attacks_x": state.attacks_x})
        live = make_event("phase.live", event.ts_us, event.source, payload, causes=(event.id,))
        return PhaseState("live", state.cause, "", None, state.attacks_x), (live,)

    def _frame(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState) -> Step[PhaseState]:
        exit_event = state.exit
        if exit_event is not None and now_us - exit_event.ts_us >= self._settle_us:
            payload = published(exit_event)
            return self._die(state, now_us, "touch" if "touch" in payload.variant else "goal line", exit_event)
        if state.peak is not None:
            state = self._played(state, state.peak, frame)
        # Over ground: a thrower who lifts the ball over his head has not thrown it.
        slow = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s <= self._slow2
        rest = state.rest
        near: tuple[BodyState | None, float] = (None, 0.0)
        if slow:
            near = nearest(frame, ball.x_m, ball.y_m)
            rest = rest_on(rest, self.parameters.rest, self.pitch, now_us, frame, ball, near)
        if state.mode == "dead":
            return self._dead(state, now_us, frame, ball, slow, rest)
        stall = watch(state.stall, self.parameters.stall, now_us, ball, slow, near[1])
        if slow and self._stopped(state, stall, now_us, ball, near[0]):
            return self._stop(state, now_us, ball, stall, rest)
        return self._live(state, now_us, frame, ball, slow, rest, stall)

    def _live(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest, stall: Stall
    ) -> Step[PhaseState]:
        """Play goes on; only a match that has not begun yet can come alive."""
        mode = state.mode
        if mode == "unknown" and not slow:
            if self._kicked(state, now_us, frame, ball, rest) and rest.shape:
                return self._rise(state, now_us, ball, rest, fallback=False)
            if rest.since_us < 0 or now_us - rest.last_us > self.parameters.rest.bridge_us:
                # Outside without having crossed a line: the stream began with a dead ball.
                seen_live = state.exit is not None or self.pitch.inside(ball.x_m, ball.y_m)
                mode = "live" if seen_live else "dead"
        played_us = state.played_us
        return PhaseState(mode, state.cause, "", state.exit, state.attacks_x, rest, stall, played_us=played_us), NOTHING

    def _played(self, state: PhaseState, peak: Event, frame: Frame) -> PhaseState:
        """A change of the ball's velocity beside a player is taken for his contact."""
        at = published(peak)
        assert at.x_m is not None
        assert at.y_m is not None
        by_player = nearest(frame, at.x_m, at.y_m)[1] <= self.parameters.play_m
        return msgspec.structs.replace(state, peak=None, played_us=peak.ts_us if by_player else state.played_us)

    def _stopped(self, state: PhaseState, stall: Stall, now_us: int, ball: BallState, near: BodyState | None) -> bool:
        """Whether the ball has stalled, and not with a defender in the penalty area he defends."""
        p = self.parameters
        if not stalled(stall, p.stall, now_us)[0]:
            return False
        if near is not None and math.hypot(near.x_m - ball.x_m, near.y_m - ball.y_m) > p.guard_m:
            return True
        end = end_of(ball.x_m)
        if near is None or not self.pitch.in_penalty_area(ball.x_m, ball.y_m, end):
            return True
        attackers: Team = state.attacks_x
        if end == "left" and attackers:
            attackers = "away" if attackers == "home" else "home"
        return near.team == attackers or now_us - stall.still_us >= p.keeper_us

    def _stop(self, state: PhaseState, now_us: int, ball: BallState, stall: Stall, rest: Rest) -> Step[PhaseState]:
        sign, since_us = stalled(stall, self.parameters.stall, now_us)
        if state.played_us >= 0:
            since_us = min(since_us, state.played_us + self.parameters.whistle_us)
        detail: dict[str, Scalar] = {"line": "", "sign": sign, "since_us": since_us}
        payload = EventPayload("stop", x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, confidence=0.7, detail=detail)
        dead = make_event("phase.dead", now_us, f"ball:{since_us}/{sign}", payload)
        return PhaseState("dead", "stop", "", None, state.attacks_x, rest), (dead,)

    def _die(self, state: PhaseState, now_us: int, cause: str, by: Event) -> Step[PhaseState]:
        payload = published(by)
        detail: dict[str, Scalar] = {"line": payload.variant, "sign": "", "since_us": by.ts_us}
        told = EventPayload(
            cause, x_m=payload.x_m, y_m=payload.y_m, z_m=payload.z_m, confidence=payload.confidence, detail=detail
        )
        dead = make_event("phase.dead", now_us, by.source, told, causes=(by.id,))
        return PhaseState("dead", cause, payload.variant, None, state.attacks_x), (dead,)

    def _dead(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest
    ) -> Step[PhaseState]:
        p = self.parameters
        risen = None if slow else self._risen(state, now_us, frame, ball, rest)
        if risen is not None:
            return self._rise(risen, now_us, ball, rest, fallback=False)
        paused = rest.since_us >= 0 and now_us - rest.since_us >= p.rest_us and slow
        fast_us = state.fast_us
        if paused or not self.pitch.inside(ball.x_m, ball.y_m):
            fast_us = -1
        elif fast_us < 0:
            fast_us = now_us
        elif now_us - fast_us >= (p.goal_fallback_us if state.cause == "goal" or state.stopped else p.fallback_us):
            return self._rise(state, now_us, ball, rest, fallback=True)
        after = PhaseState(
            "dead", state.cause, state.line, None, state.attacks_x, rest, NO_STALL, fast_us, state.stopped
        )
        return after, NOTHING

    def _risen(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest) -> PhaseState | None:
        """The death that a kick from rest ends, None without one."""
        if self._kicked(state, now_us, frame, ball, rest):
            return state
        if state.cause not in LINE_DEATHS or rest.last_us - rest.put_us < self.parameters.lay_us:
            return None
        stopped = msgspec.structs.replace(state, cause="stop", line="")
        return stopped if self._kicked(stopped, now_us, frame, ball, rest) else None

    def _kicked(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest) -> bool:
        """Whether the ball was just kicked from rest, where a restart after this death may be taken."""
        p = self.parameters
        if travelled_m(rest, p.rest, now_us, ball) < self._travel_m(state.cause, rest):
            return False
        if state.cause == "goal" and not rest.shape and rest.last_us - rest.put_us < p.goal_rest_us:
            return False
        return (
            rest.last_us - rest.since_us >= p.rest_us
            and rest.taker_m <= p.reach_m
            and _apart_m(rest.taker, frame, ball) >= p.left_m
            and self.pitch.inside(ball.x_m, ball.y_m)
            and restart_place(self.pitch, state.cause, state.line, rest.x_m, rest.y_m)
        )

    def _travel_m(self, cause: str, rest: Rest) -> float:
        p = self.parameters
        if cause == "touch":
            return p.travel_touch_m
        if cause == "goal line" or rest.shape:
            return p.travel_m
        return p.travel_put_m if rest.last_us - rest.put_us >= p.put_us else p.travel_stop_m

    def _rise(self, state: PhaseState, now_us: int, ball: BallState, rest: Rest, *, fallback: bool) -> Step[PhaseState]:
        taker = None if fallback else rest.taker
        detail: dict[str, Scalar] = {
            "line": state.line,
            "fallback": fallback,
            "kick_us": now_us if fallback else rest.last_us,
            "rest_s": 0.0 if fallback else round((rest.last_us - rest.since_us) / 1e6, 2),
            "kick_off_shape": rest.shape and not fallback,
            "penalty_shape": rest.penalty and not fallback,
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
    """How far the ball is from its taker now; infinity where he is not seen any more."""
    here = next((b for b in frame.players if taker is not None and b.object_id == taker.object_id), None)
    return math.inf if here is None else math.hypot(ball.x_m - here.x_m, ball.y_m - here.y_m)

"""5.10: the phase of play, live or dead, by the geometry of ball and players alone.

Theory of operation
-------------------
Tracking has no whistle. A *stoppage*, the time in which the ball is dead, begins for one of four causes:

* ``touch``, ``goal line``: the whole ball crosses an outer line and does not return at once (a track wobbles by some
  decimetres, a dead ball stays out for seconds), or it is found outside after it was not seen, or it vanishes right
  before the line and stays away (:mod:`detectors.play.unseen_ball`);
* ``goal``: the ball is in a goal;
* ``stop``: the ball *stalls*, as after a whistle. It lies within two metres for seconds, is slow and far from
  everybody, rolls away and nobody goes for it, or is carried at hand height. A defender may do that with a live ball in
  the penalty area that he defends, for a while. A ball that is not seen while all players are calm has stalled, too.

A stoppage ends with a *kick from rest*, which may be a throw. The ball has been slow for a while, then moves a few
metres at once, away from a player, and from a position where the restart after this cause may be taken (Laws 8, 13,
15, 16, 17). No other movement of a dead ball ends a stoppage: it may be rolled, carried or thrown back. A ball that was
away and appears at such a position has lain there.

The detector may have missed the restart, or the ball was never out. *Evidence* shows that
(:mod:`detectors.play.evidence`): players play the ball to each other in the field. Then play goes on (*fallback*),
dated back to where the evidence began, by at most ``horizon_us``. All other transitions are dated when they are known.
Each is dated after the one before.

Decisions of the officials (1.10) overrule geometry: the ball is dead from their stop until they resume play. Players
often still kick a ball after the whistle. So a stop by the officials ends without their word only with a kick from
rest, or with as much evidence as after a goal.

A stream may begin at any time. Until the ball has stalled or was kicked from rest, the detector publishes nothing, and
play counts as live.

All three kinds are internal. 6.4 to 6.6 (:mod:`detectors.play.in_out`) turn them into ``play.dead``, ``play.live``,
``out`` and ``goal.candidate``; 9.1 to 9.6 (:mod:`detectors.laws.restarts`) name the restart.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.lines import IN_LINES, OUT_LINES
from detectors.decisions import at_least, is_over
from detectors.play.alive_flag import denies
from detectors.play.dead_ball_kicks import (
    JUMPED,
    NO_REST,
    Rest,
    extend_rest,
    found_elsewhere,
    nearest,
    while_unseen,
)
from detectors.play.declared_play import obeyed_flag, obeyed_officials
from detectors.play.ending_kicks import EndingKicks
from detectors.play.evidence import (
    Case,
    Finding,
    chance_of_play,
    corrected,
    is_sure,
    recent,
    while_waiting,
    with_restart,
)
from detectors.play.goal_posts import is_doubtful, near_post, was_in_net
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.phase_state import (
    DEAD,
    LINE_CAUSES,
    LIVE,
    STOPPAGE_CAUSES,
    PhaseState,
    as_stop,
    ended_by_crossing,
    ended_play,
    is_far_out,
    is_repeated,
    is_struck,
    live_event,
    reach_m,
    stalled_event,
    stopped,
    stopped_before_end,
    stopped_in_calm_us,
    turned,
    with_peak,
)
from detectors.play.restart_kicks import RestartKickParameters, attackers_of
from detectors.play.scene_cuts import is_cut
from detectors.play.setting_off import all_run, all_stand, paced, watched
from detectors.play.stalls import (
    NO_STALL,
    Handled,
    Stall,
    at_hands,
    is_kept,
    is_played_at,
    stall_sign,
    update_handled,
    update_stall,
)
from detectors.play.unseen_ball import UnseenBall
from football.match_sheet import MatchSheet
from football.payloads import (
    BallState,
    BodyState,
    EventPayload,
    Frame,
    frame_of,
    payload_of,
    time_us,
)
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PlayPhase:
    """5.10: ``phase.dead`` and ``phase.live``: the ball is dead, the ball is in play again; ``variant`` is the cause.

    ``phase.dead`` has the position of the ball when the stoppage began. ``detail``: ``line`` (variant of the crossing,
    the end of a goal, or empty), ``sign`` (how a stop was seen: ``alone``, ``carried``, ``still``, ``calm``,
    ``unseen``, ``flag`` or ``official``, else empty), ``since_us`` (event time of its begin, microseconds).
    ``phase.stop`` follows upon it if a free kick shows that play had been stopped before the ball ran out. It has the
    position of the free kick, and the same detail; its ``sign`` is ``free kick``.

    ``phase.live`` has the taker, and the position of the kick. ``detail``: ``line`` as above, or ``unseen`` after a
    stop that nobody saw; ``fallback`` (True if no kick from rest was detected); ``kick_us`` (event time of the kick);
    ``rest_s`` (seconds of rest before it); ``kick_off_shape``, ``penalty_shape``, ``shoot_out`` (True if the teams
    stood so); ``dropped`` (True if the referee dropped the ball); ``vx_m_s``, ``vy_m_s``, ``height_m`` (the ball after
    the kick); ``taker_x_m``, ``taker_y_m`` (metres, or null); ``attacks_x`` (team that attacks towards +x);
    ``spread_m`` (how good places are: median distance of the nearest player at contacts, on cameras); of a correction
    ``evidence`` (its signs in words), and its chance as ``confidence``.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: PhaseParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = p = parameters or PhaseParameters()
        self.kick = kick or RestartKickParameters()
        tags = sheet.quality.kind == "rtls"
        self._settle = (p.settle_rtls_us, "phase.settle_rtls_us") if tags else (p.settle_us, "phase.settle_us")
        self._post_m = 0.0 if tags else p.post_m
        self._rest, self._quick = (p.rest_us, "phase.rest_us"), (p.evidence.quick_us, "phase.evidence.quick_us")
        self.pitch = pitch_of(sheet)
        self._kicks = EndingKicks(p, self.kick, self.pitch)
        self._unseen = UnseenBall(p, self.kick, self.pitch, self._kicks, self._rest, sheet.periods)
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
                "raw.flag",
                "raw.end",
            ),
            outputs=("phase.dead", "phase.stop", "phase.live"),
            horizon_us=self.parameters.evidence.window_us,
            internal=("phase.dead", "phase.live", "phase.stop"),
            parameters={**msgspec.to_builtins(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Laws 8, 9, 12-17; StreamTeam set plays; thresholds ours",
            variants={
                "phase.dead": STOPPAGE_CAUSES,
                "phase.live": ("start", *STOPPAGE_CAUSES),
                "phase.stop": ("stop",),
            },
            untyped=("phase.dead", "phase.live", "phase.stop"),
            details={"phase.dead": DEAD, "phase.live": LIVE, "phase.stop": DEAD},
        )

    def initial(self) -> PhaseState:
        """Nothing is known of play."""
        return PhaseState()

    def step(self, state: PhaseState, event: Event) -> Step[PhaseState]:
        """Dispatch on the kind; frames make up nearly all of the input."""
        if event.kind == "frame":
            frame = frame_of(event)
            if frame.ball is None:
                lost_us = state.lost_us if state.lost_us >= 0 else event.ts_us
                rest = while_unseen(state.rest, self.parameters.rest, event.ts_us, frame)
                state = msgspec.structs.replace(state, rest=rest, lost_us=lost_us)
                if state.mode == "live":
                    return self._unseen.stopped(state, event.ts_us, frame)
                state = self._watched(state, event.ts_us, frame, None)
                return self._unseen.ended(state, event.ts_us, frame, None, rest) or (state, NOTHING)
            return self._frame(state, event.ts_us, frame, frame.ball)
        if event.kind == "raw.end":
            dead = stopped_before_end(state, self.parameters, event.ts_us)
            return (state, NOTHING) if dead is None else (turned(state, "dead", "stop", turned_us=event.ts_us), (dead,))
        if event.kind == "raw.flag":
            return obeyed_flag(state, self.parameters, self.pitch, self._settle[0], event)
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks_x=payload.team), NOTHING
        if event.kind.startswith("official."):
            return obeyed_officials(state, event)
        if event.kind == "ball.accel_peak":
            struck = not payload.detail["bounce"] and is_struck(state, self.parameters, event.ts_us, payload)
            return (msgspec.structs.replace(state, peak=event), NOTHING) if struck else (state, NOTHING)
        if state.mode == "dead":
            return state, NOTHING
        if event.kind == "ball.in_goal":
            return self._in_goal(state, event, payload)
        if payload.variant in OUT_LINES and state.exit is None:
            mouth = state.mouth or (near_post(event, self._post_m) if self._post_m else None)
            return msgspec.structs.replace(state, exit=event, mouth=mouth), NOTHING
        returned = payload.variant in IN_LINES and not was_in_net(state.mouth, event, self.parameters)
        return (msgspec.structs.replace(state, exit=None, mouth=None) if returned else state), NOTHING

    def _in_goal(self, state: PhaseState, event: Event, payload: EventPayload) -> Step[PhaseState]:
        """End play by a goal, or let the net show it: on cameras by a post, or of a ball that may have flown over."""
        what, p = "how surely the ball is in the goal", self.parameters
        sure = at_least(what, payload.confidence, p.sure, "phase.sure", about="phase.dead")
        if not sure or (self._post_m > 0.0 and is_doubtful(event, self._post_m, p.flat_m)):
            return msgspec.structs.replace(state, mouth=event), NOTHING
        return ended_play(state, event.ts_us, "goal", event)

    def _frame(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState) -> Step[PhaseState]:
        if (begun := self._unseen.period_begun(state, now_us, frame, ball)) is not None:
            return begun
        if state.frame is not None and is_cut(state.frame, frame, now_us - state.seen_us, self.parameters.cut):
            return self._unseen.set_anew(state, now_us, frame, ball)
        unseen_us = now_us - state.lost_us if state.lost_us >= 0 else 0
        if 0 <= state.seen_us < now_us - self.parameters.rest.frozen_us:
            unseen_us = now_us - state.seen_us  # Perhaps no frame came in, either.
        if state.mode == "dead" and unseen_us > state.unseen_us:
            state = msgspec.structs.replace(state, unseen_us=unseen_us)
        again = self._unseen.back_again(state, now_us, frame, ball, unseen_us) if state.mode == "live" else None
        if again is not None:
            return again
        exit_event = state.exit
        if exit_event is not None:
            what, outside_us = "time since the line was crossed", now_us - exit_event.ts_us
            far_out = is_far_out(state, self.parameters, self.pitch, exit_event, ball)
            if far_out or at_least(what, outside_us, *self._settle, about="phase.dead"):
                ended = ended_by_crossing(state, self.parameters, self.pitch, now_us, ball)
                if ended is not None:
                    return ended
        if state.peak is not None:
            state = with_peak(state, self.parameters, self.pitch, state.peak, frame)
        # Speed over ground: a thrower who lifts the ball over his head has not thrown it.
        slow = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s <= self._slow2
        rest = state.rest
        near: tuple[BodyState | None, float] = (None, 0.0)
        if state.mode == "live" and (unseen_us or state.outside_us >= 0 or state.watch.fresh_us >= 0):
            state = self._unseen.found_outside(state, now_us, ball, unseen_us)
            if (
                state.outside_us >= 0
                and (out := self._unseen.left_pitch(state, now_us, ball, self._settle)) is not None
            ):
                return out
        elsewhere: Rest | None = None
        appeared = self._unseen.appeared(state, now_us, frame, ball, unseen_us) if unseen_us else None
        if appeared is not None:
            rest, slow = appeared, False
        elif unseen_us or not slow or ball.run <= JUMPED:
            elsewhere = found_elsewhere(rest, self.parameters.rest, now_us, ball, unseen_us)
        if elsewhere is not None:
            rest, slow = elsewhere, False
            if state.mode == "dead":
                state = msgspec.structs.replace(state, left_rest=elsewhere)
        if slow:
            near = nearest(frame, ball.x_m, ball.y_m)
            rest = extend_rest(rest, self.parameters.rest, self.kick, self.pitch, now_us, frame, ball, near, unseen_us)
        if state.mode == "live":
            watch = paced(state.watch, self.parameters.setting_off, self.pitch, now_us, frame)
            state = msgspec.structs.replace(state, watch=watch) if watch is not state.watch else state
        else:
            state = self._watched(state, now_us, frame, ball)
        if state.mode == "dead":
            return self._while_dead(state, now_us, frame, ball, slow, rest)
        p, handled = self.parameters.stall, state.handled
        runs_on = not slow and self.pitch.inside(ball.x_m, ball.y_m, -p.far_in_m)
        if runs_on and state.played and state.played[-1].at_us <= now_us - p.alone_us:
            far = nearest(frame, ball.x_m, ball.y_m)
            near = far if far[0] is not None else near
        stall = update_stall(state.stall, p, now_us, ball, slow, near[1])
        if is_repeated(state, ball):
            stall = NO_STALL
        elif slow and self._unseen.is_held(state, now_us, ball, rest):
            stall = msgspec.structs.replace(stall, alone_us=-1)
        if not slow and state.mode == "live" and self._kicks.is_played_by_others(rest, now_us, frame, ball):
            lay = msgspec.structs.replace(NO_STALL, alone_us=min(rest.put_us, now_us - self.parameters.stall.alone_us))
            return self._end_stalled(state, now_us, ball, lay, rest)
        if (slow or stall.far_us >= 0) and self._is_stopped(state, stall, now_us, frame, ball, near[0]):
            return self._end_stalled(state, now_us, ball, stall, rest)
        if at_hands(p, ball.z_m):
            away_m = near[1] if near[0] is not None else nearest(frame, ball.x_m, ball.y_m)[1]
            if slow and rest.fresh_us <= handled.until_us:
                away_m = 0.0  # Its position is repeated since it was in his hands.
            in_area = self.pitch.in_penalty_area(ball.x_m, ball.y_m, end_of(ball.x_m))
            handled = update_handled(handled, p, now_us, away_m, in_area)
        return self._while_live(state, now_us, frame, ball, slow, rest, stall, handled)

    def _while_live(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest, stall: Stall,
        handled: Handled,
    ) -> Step[PhaseState]:  # fmt: skip
        """Play goes on, or begins if nothing was known of it."""
        mode = state.mode
        if mode == "unknown" and (begun := self._unseen.ended(state, now_us, frame, ball, rest)) is not None:
            return begun
        left_rest, p = state.left_rest if mode == "live" else None, self.parameters
        if not slow and is_kept(state.handled, p.stall, rest.last_us, p.rest_us):
            rest = NO_REST  # The ball was in a goalkeeper's hands.
        if mode == "live":
            stop = as_stop(state)
            if not slow and self._kicks.is_kicked(stop, now_us, frame, ball, rest, self._rest):
                left_rest = rest
            if left_rest is not None and self._sets_off(state, left_rest):
                since_us = stopped_in_calm_us(state, p.stall, left_rest.since_us, state.watch.quiet_from_us)
                dead = stalled_event(now_us - 1, left_rest.x_m, left_rest.y_m, 0.0, "calm", since_us)
                after, lives = self._resume(stop, now_us, ball, left_rest)
                return after, (dead, *lives)
        if mode == "unknown" and not slow:
            if self._kicks.is_kicked(state, now_us, frame, ball, rest, self._rest) and rest.shape:
                return self._resume(state, now_us, ball, rest)
            newest_us = max(rest.last_us, rest.found_us)
            if rest.since_us < 0 or now_us - newest_us > (p.rest.travel_us if rest.shape else p.rest.bridge_us):
                # Outside without having crossed a line: the stream began with a dead ball.
                is_live = state.exit is not None or self.pitch.inside(ball.x_m, ball.y_m)
                mode = "live" if is_live else "dead"
        watch = state.watch
        if mode == "live" and watch.fresh_us >= 0 and (ball.x_m != watch.ball_x_m or ball.y_m != watch.ball_y_m):
            watch = msgspec.structs.replace(watch, ball_x_m=math.inf, ball_y_m=math.inf, fresh_us=-1)
        after = PhaseState(
            mode, state.cause, "", state.exit, state.attacks_x, rest, stall, None, False, None, state.played,
            state.turned_us, -1, now_us, state.mouth, handled, left_rest, watch,
            state.outside_us, state.crossed_us, state.spread_m, state.flag, frame, state.hidden,
        )  # fmt: skip
        return after, NOTHING

    def _sets_off(self, state: PhaseState, rest: Rest) -> bool:
        """True if everybody set off from a calm when the ball left its rest, where it lay still (Law 13)."""
        watch, least_us = state.watch, self.parameters.rest_us
        if watch.off_us <= state.turned_us or watch.quiet_us < watch.off_us or rest.last_us - rest.put_us < least_us:
            return False
        return self._kicks.set_off_with(state, rest.last_us)

    def _watched(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState | None) -> PhaseState:
        """The state with what players show of a stoppage in one more frame."""
        p, about = self.parameters.setting_off, (state.cause, state.line, state.attacks_x)
        watch = watched(state.watch, p, self.kick, self.pitch, now_us, frame, ball, *about)
        return msgspec.structs.replace(state, watch=watch)

    def _is_stopped(
        self, state: PhaseState, stall: Stall, now_us: int, frame: Frame, ball: BallState, near: BodyState | None
    ) -> bool:
        """True if the ball has stalled, unless a defender keeps it in the penalty area that he defends.

        An attacker who is tracked nearer to a ball in hands has it only if no defender is as near as places are good.
        """
        p, about = self.parameters, "phase.dead"
        sign = stall_sign(stall, p.stall, now_us)[0]
        if not sign or all_run(state.watch, p.setting_off, now_us):
            return False
        if near is not None:
            away_m = math.hypot(near.x_m - ball.x_m, near.y_m - ball.y_m)
            if is_over("the nearest player from the ball", away_m, p.guard_m, "phase.guard_m", about):
                return True
        end = end_of(ball.x_m)
        if near is None or not self.pitch.in_penalty_area(ball.x_m, ball.y_m, end):
            return True
        attackers = attackers_of(state.attacks_x, end)
        held_us, calm_us = now_us - stall.still_us, state.watch.calm_us
        kept = is_kept(state.handled, p.stall, now_us, p.rest_us)
        if calm_us >= 0 and now_us - calm_us >= p.setting_off.stopped_us and not kept:
            return True
        by_attacker = near.team == attackers
        if by_attacker and sign == "carried":
            by_attacker = nearest(frame, ball.x_m, ball.y_m, but=attackers)[1] > reach_m(p, state.spread_m)
        return by_attacker or at_least(
            "time that the defender keeps the ball", held_us, p.keeper_us, "phase.keeper_us", about
        )

    def _end_stalled(
        self, state: PhaseState, now_us: int, ball: BallState, stall: Stall, rest: Rest
    ) -> Step[PhaseState]:
        sign, since_us = stall_sign(stall, self.parameters.stall, now_us)
        calm_us = state.watch.calm_us
        if calm_us < 0 or now_us - calm_us < self.parameters.setting_off.stopped_us:
            calm_us = now_us
        by_hand = sign == "carried" and not self.pitch.in_penalty_area(ball.x_m, ball.y_m, end_of(ball.x_m))
        since_us = stopped_in_calm_us(state, self.parameters.stall, since_us, calm_us, by_hand=by_hand)
        dead = stalled_event(now_us, ball.x_m, ball.y_m, ball.z_m, sign, since_us)
        return stopped(state, dead, since_us, rest), (dead,)

    def _while_dead(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest
    ) -> Step[PhaseState]:
        ended = None if slow else self._kicks.ended(state, now_us, frame, ball, rest, self._rest)
        if ended is not None:
            left = self._kicks.left_from(ended, now_us, frame, ball, rest)
            after, (live,) = self._resume(ended, now_us, ball, left)
            if not self._is_denied(state, live, now_us):
                return after, (*self._kicks.stopped_before(state, live, left, now_us), live)
        if (kicked_off := self._kicks.kicked_off(state, ball)) is not None:
            return self._resume(kicked_off, now_us, ball, state.rest)
        begun = self._unseen.ended(state, now_us, frame, ball, rest)
        if begun is not None and not self._is_denied(state, begun[1][-1], now_us):
            return begun
        case = self._case(state, now_us, frame, ball, slow, rest)
        # A ball that has just left where it lay may still prove to be a restart.
        p, lay_us = self.parameters, rest.last_us - rest.put_us
        left_now = lay_us >= p.rest_us and now_us - rest.last_us <= p.rest.travel_us
        if case is not None and all_stand(state.watch, p.setting_off, now_us):
            case = while_waiting(case, now_us, p.setting_off.window_us)
        if case is not None and not left_now:
            finding = self._played_on(state, case)
            if finding is not None:
                after, (live,) = self._correct(state, case, finding, now_us, ball)
                if not self._is_denied(state, live, now_us):
                    return after, (live,)
        after = PhaseState(
            "dead", state.cause, state.line, None, state.attacks_x, rest, NO_STALL, case, state.stopped,
            played=state.played, turned_us=state.turned_us, seen_us=now_us, left_rest=state.left_rest,
            watch=state.watch, spread_m=state.spread_m, flag=state.flag, frame=frame, hidden=state.hidden,
            unseen_us=state.unseen_us,
        )  # fmt: skip
        return after, NOTHING

    def _is_denied(self, state: PhaseState, live: Event, now_us: int) -> bool:
        """True of a restart that the alive flag denies when it can no longer be late about it."""
        kick_us = time_us(payload_of(live), "kick_us")
        return denies(state.flag, self.parameters.flag, now_us, state.turned_us, kick_us)

    def _case(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, slow: bool, rest: Rest
    ) -> Case | None:
        """The case that a dead ball is in play again; None while it pauses, or is outside."""
        p, case = self.parameters, state.case
        if not self.pitch.inside(ball.x_m, ball.y_m):
            return None
        if slow and now_us - rest.put_us >= p.rest_us:
            # A kick that ends the pause may be dated before the ball has left.
            struck = case is not None and case.contacts and now_us - case.contacts[-1].at_us <= p.kicked_us
            return Case(now_us, 0, case.contacts[-1:]) if struck and case is not None else None
        unseen = 0 <= state.seen_us < now_us - p.rest.frozen_us
        idle = slow or unseen or not is_played_at(p.stall, ball, nearest(frame, ball.x_m, ball.y_m)[1])
        case = Case(now_us) if case is None else recent(case, now_us, p.evidence, paused=idle)
        if slow or case.restart is not None or state.cause not in LINE_CAUSES or state.stopped:
            return case
        ended = self._kicks.ended(state, now_us, frame, ball, rest, self._quick)
        if ended is None:
            return case
        return with_restart(case, live_event(ended, p, now_us, ball, rest, None), p.evidence)

    def _played_on(self, state: PhaseState, case: Case) -> Finding | None:
        """The evidence that play goes on, if it suffices."""
        p = self.parameters.evidence
        prior = p.goal_prior_share if state.cause == "goal" or state.stopped else p.prior_share
        if state.flag.is_alive_since(state.turned_us):
            prior = max(prior, self.parameters.flag.alive_share)
        finding = chance_of_play(case, p, prior)
        return finding if is_sure(finding, p) else None

    def _correct(
        self, state: PhaseState, case: Case, finding: Finding, now_us: int, ball: BallState
    ) -> Step[PhaseState]:
        """Bring a dead ball into play, dated back to where the evidence of it began."""
        live, contacts = case.restart, case.contacts
        if live is None:
            played_us = contacts[0].at_us if contacts else now_us - case.moved_us
            at_us = max(played_us - 1, now_us - self.spec.horizon_us, state.turned_us + 1)
            live = self._unseen.restart(state, at_us, ball, played_us, contacts)
            if live is None:
                begun_us = self._unseen.begun_us(state, played_us)
                live = live_event(state, self.parameters, at_us, ball, NO_REST, begun_us)
        live = corrected(live, finding, tuple(c.id for c in contacts if c.id != live.id))
        played = contacts[-1:]
        after = turned(state, "live", payload_of(live).variant, played=played, turned_us=live.ts_us)
        return after, (live,)

    def _resume(self, state: PhaseState, now_us: int, ball: BallState, rest: Rest) -> Step[PhaseState]:
        """Bring the ball into play by a kick from rest."""
        live = live_event(state, self.parameters, now_us, ball, rest, None)
        hidden = self._unseen.hidden(state, rest)
        return turned(state, "live", state.cause, turned_us=now_us, hidden=hidden), (live,)

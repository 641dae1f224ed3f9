"""Kicks that end a stoppage: seen to leave a rest, or shown by the players alone (part of 5.10)."""

from __future__ import annotations

import math

import msgspec

from detectors.decisions import at_least, at_most, note
from detectors.emission import make_event
from detectors.play.dead_ball_kicks import Rest, apart_m, carried_on, has_appeared, travelled_m
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.phase_state import LINE_CAUSES, PhaseState, as_stop, taker_reach_m
from detectors.play.restart_kicks import (
    RestartKickParameters,
    attackers_of,
    may_restart,
    times_for_spread,
    touch_distance_m,
)
from detectors.play.setting_off import ready_at
from football.constants import BALL_SPEED_MAX_M_S
from football.payloads import BallState, EventPayload, Frame, Scalar, payload_of, time_us
from football.pitch import Pitch, end_of
from middleware.detector import NOTHING
from middleware.events import Event


class EndingKicks:
    """Decides whether a stoppage ends by a kick, on a pitch and with limits that do not change."""

    def __init__(self, parameters: PhaseParameters, kick: RestartKickParameters, pitch: Pitch) -> None:
        self.parameters, self.kick, self.pitch = parameters, kick, pitch

    def ended(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest, least: tuple[int, str]
    ) -> PhaseState | None:
        """The state that a kick from rest ends, with the cause that fits the kick; None without such a kick."""
        if self.is_kicked(state, now_us, frame, ball, rest, least):
            return state
        lay_us, p = rest.last_us - rest.put_us, self.parameters
        waited = lay_us >= p.lay_us or (lay_us >= p.rest_us and self.set_off_with(state, rest.last_us))
        if state.cause not in LINE_CAUSES or not (rest.shape or rest.penalty == "shoot-out" or waited):
            return None
        stopped = as_stop(state)
        return stopped if self.is_kicked(stopped, now_us, frame, ball, rest, least) else None

    def is_kicked(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest, least: tuple[int, str]
    ) -> bool:
        """True if the ball was just kicked from a rest, where the restart after this cause may be taken."""
        p, about, moved_m = self.parameters, "phase.live", travelled_m(rest, self.parameters.rest, now_us, ball)
        if not at_least("the ball from where it rested", moved_m, *self._travel(state, rest), about=about):
            return False
        short = state.cause == "goal" and not rest.shape and rest.last_us - rest.put_us < p.goal_rest_us
        if (short or self._is_interval(state, rest)) and not self.set_off_with(state, rest.last_us):
            return False
        anywhere = state.cause not in LINE_CAUSES and not rest.shape and not rest.penalty
        if anywhere and has_appeared(rest, p.rest_us) and not self._is_in_play(state, rest):
            return False  # It may have been thrown back, or be found again in play that was never stopped.
        if rest.found_us < 0 and moved_m > BALL_SPEED_MAX_M_S * 1e-6 * (now_us - rest.last_us):
            return False  # No foot kicks so hard: the track has jumped.
        if rest.found_us < 0 and 2 * ball.gap_us > 3 * rest.gap_us and now_us - rest.last_us < p.rest.frozen_us:
            return (
                False  # Its last position was rejected, so this may be a wrong one, and the ball is back with the next.
            )
        if rest.found_us >= 0 and rest.raised_us == rest.last_us and state.cause != "touch":
            return False  # The position that was repeated is one of a flight: only who throws holds the ball so high.
        rested_us, reach_m = rest.last_us - min(rest.since_us, rest.put_us), taker_reach_m(p, state.spread_m)
        left_m = p.left_m * times_for_spread(self.kick, state.spread_m)
        return (
            at_least("time that the ball had rested", rested_us, *least, about)
            and at_most("the taker from the ball", rest.taker_m, reach_m, "phase.reach_m", about)
            and at_least("the ball from its taker", apart_m(rest.taker, frame, ball), left_m, "phase.left_m", about)
            and self.pitch.inside(ball.x_m, ball.y_m)
            and may_restart(self.pitch, self.kick, state.cause, state.line, rest.x_m, rest.y_m)
        )

    def kicked_off(self, state: PhaseState, ball: BallState) -> PhaseState | None:
        """The state that a kick-off ends to which the scene was cut, once the ball moves and everybody runs.

        In simulated football its taker may run on with the ball. None without such a kick-off.
        """
        rest, pace, p = state.rest, state.watch.pace, self.parameters
        if rest.cut_us < 0 or not rest.shape or not pace or pace[-1][1] <= p.setting_off.calm_m_s:
            return None
        moved_m = math.hypot(ball.x_m - rest.put_x_m, ball.y_m - rest.put_y_m)
        if not at_least("the ball from where it lay", moved_m, p.cut.leaves_m, "phase.cut.leaves_m", "phase.live"):
            return None
        return as_stop(state) if state.cause in LINE_CAUSES else state

    def _is_in_play(self, state: PhaseState, rest: Rest) -> bool:
        """True if a ball that has appeared somewhere is in play: the source, its flag or the players say so."""
        known = state.hidden >= self.parameters.vanished.hidden
        return known or state.flag.is_alive_since(state.turned_us) or self.set_off_with(state, rest.last_us)

    def _is_interval(self, state: PhaseState, rest: Rest) -> bool:
        """True if the teams may still be coming back: the pause was as long as half-time, and this is no kick-off."""
        if state.mode != "dead" or rest.shape or rest.penalty == "shoot-out":
            return False
        what, limit_us = "time that the ball was dead", self.parameters.interval_us
        return at_least(what, rest.last_us - state.turned_us, limit_us, "phase.interval_us", "phase.live")

    def is_played_by_others(self, rest: Rest, now_us: int, frame: Frame, ball: BallState) -> bool:
        """True if a ball that lay far from all players flies now: somebody else has played it, so it is dead."""
        p, about = self.parameters, "phase.dead"
        lay_us, alone = rest.last_us - rest.since_us, rest.taker_m >= p.guard_m and len(frame.players) >= p.all_players
        if not alone or rest.found_us >= 0 or rest.last_us - rest.fresh_us >= p.rest.frozen_us:
            return False
        speed_m_s, moved_m = math.hypot(ball.vx_m_s, ball.vy_m_s), travelled_m(rest, p.rest, now_us, ball)
        return (
            at_least("time that the ball lay alone", lay_us, p.others_us, "phase.others_us", about)
            and at_least("speed of the ball", speed_m_s, p.rest.fast_m_s, "phase.rest.fast_m_s", about)
            and at_least("the ball from where it rested", moved_m, p.travel_m, "phase.travel_m", about)
        )

    def set_off_with(self, state: PhaseState, kick_us: int) -> bool:
        """True if everybody set off when the ball was kicked."""
        off_us, p = state.watch.off_us, self.parameters.setting_off
        return off_us >= 0 and abs(off_us - p.lag_us - kick_us) <= p.apart_us

    def stopped_before(self, state: PhaseState, live: Event, rest: Rest, now_us: int) -> tuple[Event, ...]:
        """The ``phase.stop`` of a ball that ran out, or went in the goal, after play had been stopped; else nothing.

        A free kick is taken from the place of the offence (Law 13.2): so play was stopped soon after the last contact
        there. It comes before ``live``.
        """
        p, cause = self.parameters, payload_of(live).variant
        free_kick = cause == "stop" if state.cause in LINE_CAUSES else state.cause == "goal"
        if not free_kick or rest.shape or rest.penalty:
            return NOTHING
        x_m, y_m = rest.x_m, rest.y_m
        if cause == "goal" and self.pitch.in_goal_area(x_m, y_m, end_of(x_m), self.kick.goal_area_slack_m):
            return NOTHING  # It may be a goal kick.
        if math.hypot(x_m, y_m) <= p.offence_m:
            return NOTHING  # It may be a kick-off.
        there = [one for one in state.played if math.hypot(one.x_m - x_m, one.y_m - y_m) <= p.offence_m]
        if not there:
            return NOTHING
        away_m = math.hypot(there[-1].x_m - x_m, there[-1].y_m - y_m)
        note(
            "the last contact there from the free kick", away_m, "at most", p.offence_m, "phase.offence_m", "phase.stop"
        )
        since_us = there[-1].at_us + p.stall.whistle_us
        kick_us = time_us(payload_of(live), "kick_us")
        at_us = max(kick_us - 1, now_us - p.evidence.window_us + 1, state.turned_us + 1)
        detail: dict[str, Scalar] = {"line": state.line, "sign": "free kick", "since_us": since_us}
        payload = EventPayload("stop", x_m=x_m, y_m=y_m, confidence=0.9, detail=detail)
        return (make_event("phase.stop", at_us, f"ball:{since_us}/free kick", payload, causes=(there[-1].id,)),)

    def _was_no_goal(self, state: PhaseState, rest: Rest) -> bool:
        """True if everybody has waited for a ball in the goal area, and set off: it was in the net from behind."""
        end, taker, watch = end_of(rest.x_m), rest.taker, state.watch
        if taker is None or taker.team == attackers_of(state.attacks_x, end) or watch.quiet_us < watch.off_us:
            return False
        return self.pitch.in_goal_area(rest.x_m, rest.y_m, end, self.kick.goal_area_slack_m)

    def left_from(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, rest: Rest) -> Rest:
        """The rest that a kick has ended: at its taker, if he has carried the ball on to where he may take it."""
        carried = carried_on(rest, self.parameters.rest, now_us, frame, ball)
        if carried is rest or not may_restart(self.pitch, self.kick, state.cause, state.line, carried.x_m, carried.y_m):
            return rest
        inside_m = touch_distance_m(self.pitch, carried.y_m, state.line)
        return rest if state.cause == "touch" and inside_m > self.kick.taker_inside_m else carried

    def _travel(self, state: PhaseState, rest: Rest) -> tuple[float, str]:
        """Least distance that a restart kick after this cause covers, and the path of its parameter."""
        p = self.parameters
        if state.cause == "touch":
            return p.travel_touch_m * times_for_spread(self.kick, state.spread_m), "phase.travel_touch_m"
        if state.cause == "goal line" or rest.shape:
            return p.travel_m, "phase.travel_m"
        put_down = rest.last_us - rest.put_us >= p.put_us
        return (p.travel_put_m, "phase.travel_put_m") if put_down else (p.travel_stop_m, "phase.travel_stop_m")

    def ready(self, state: PhaseState, rest: Rest) -> tuple[PhaseState, Rest] | None:
        """The rest of a ball that is not seen, at who stood ready for the restart; or where it was seen to lie.

        It comes with the state that the restart ends, with the cause that fits it.
        """
        p, ready = self.parameters, ready_at(state.watch, self.parameters.setting_off, self.pitch, state.cause)
        ran_out = state.cause in LINE_CAUSES
        if ready is not None:
            # A period that ended with the ball out: the next one begins with a kick-off.
            return (as_stop(state) if ready.shape and ran_out else state), ready
        if rest.found_us < 0 and rest.last_us - rest.fresh_us >= p.rest.frozen_us:
            # Its position is repeated: others may pass where it lay, once its taker has left it.
            rest = msgspec.structs.replace(rest, taker=rest.closest, taker_m=rest.closest_m)
        until_us = rest.last_us
        if state.lost_us >= 0:
            # It has lain for as long as its taker has stood there.
            until_us = max(until_us, rest.left_us if rest.left_us >= 0 else state.watch.off_us)
        if rest.since_us < 0 or until_us - rest.since_us < p.rest_us or rest.taker_m > taker_reach_m(p, state.spread_m):
            return None
        if state.cause == "goal" and not rest.shape and not self._was_no_goal(state, rest):
            return None
        if may_restart(self.pitch, self.kick, state.cause, state.line, rest.x_m, rest.y_m):
            return state, rest
        stopped, waited = as_stop(state), ran_out and until_us - rest.put_us >= p.lay_us
        fits = waited and may_restart(self.pitch, self.kick, stopped.cause, stopped.line, rest.x_m, rest.y_m)
        return (stopped, rest) if fits else None

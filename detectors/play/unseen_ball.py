"""A ball that is not seen goes out or comes into play: what shows it, and when it was (part of 5.10).

Some sources have the ball only while it is in play: it vanishes where it goes out, and appears where it is kicked. So a
ball that vanishes right before it would cross a line is out, if it stays away. One that appears where a restart may be
taken, beside a player, has lain there meanwhile. Many sources begin a period with the whistle for its kick-off: then
the ball lay at the centre spot before.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.lines import goal_line_part, leaves_us
from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most
from detectors.emission import make_event
from detectors.play.dead_ball_kicks import (
    NO_REST,
    Rest,
    apart_m,
    first_rest,
    has_appeared,
    left_unseen_us,
    nearest,
)
from detectors.play.ending_kicks import EndingKicks
from detectors.play.evidence import Played
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.phase_state import (
    PhaseState,
    ended_by_crossing,
    ended_by_silence,
    is_repeated,
    live_event,
    stalled_event,
    taker_reach_m,
    turned,
)
from detectors.play.restart_kicks import (
    UNSEEN,
    RestartKickParameters,
    all_lined_up,
    attackers_of,
    kick_off_shape,
    may_restart,
    penalty_shape,
)
from detectors.play.setting_off import Watch, paced
from football.constants import BALL_RADIUS_M
from football.match_sheet import Period
from football.payloads import BallState, EventPayload, Frame, Scalar
from football.pitch import (
    BAR_HEIGHT_M,
    GOAL_AREA_DEPTH_M,
    GOAL_AREA_HALF_WIDTH_M,
    GOAL_HALF_WIDTH_M,
    End,
    Pitch,
    end_of,
    end_sign,
)
from middleware.detector import NOTHING, Step
from middleware.events import Event


class UnseenBall:
    """Decides about a ball that is in no frame, or whose position is repeated, with limits that do not change."""

    def __init__(
        self,
        parameters: PhaseParameters,
        kick: RestartKickParameters,
        pitch: Pitch,
        kicks: EndingKicks,
        rest: tuple[int, str],
        periods: tuple[Period, ...],
    ) -> None:
        self.parameters, self.kick, self.pitch = parameters, kick, pitch
        self._kicks, self._rest, self._periods = kicks, rest, periods

    def ended(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState | None, rest: Rest
    ) -> tuple[PhaseState, tuple[Event, ...]] | None:
        """Bring a ball that is not seen into play, if who stood ready and everybody else have set off."""
        p, watch = self.parameters, state.watch
        if watch.off_us < 0 or state.stopped:
            return None
        found = self._kicks.ready(state, rest)
        if found is None:
            return None
        ended, ready = found
        if state.mode == "unknown" and not ready.shape:
            return None
        kick_us = watch.off_us - p.setting_off.lag_us
        if ball is not None:
            away_m = math.hypot(ball.x_m - ready.x_m, ball.y_m - ready.y_m)
            if now_us - watch.fresh_us < p.rest.frozen_us:
                # One that is seen to leave where it lay is a kick of its own, one that was slow for a moment is not.
                lay = rest.last_us - rest.since_us >= p.evidence.quick_us
                leaves = lay and rest.away_us < 0 and now_us - rest.last_us <= p.rest.travel_us
                if leaves or away_m < p.travel_m or not self.pitch.inside(ball.x_m, ball.y_m):
                    return None
            # A ball whose position is repeated lies there, or is lost: then its taker has gone. One that was seen to
            # come to rest outside just before has not been kicked elsewhere.
            elif (
                away_m <= p.setting_off.corner_m and apart_m(ready.taker, frame, ball) < p.setting_off.taker_left_m
            ) or (watch.fresh_us >= kick_us - p.rest.carried_us and not self.pitch.inside(ball.x_m, ball.y_m)):
                return None
        at_us = max(kick_us, now_us - p.evidence.window_us + 1, state.turned_us + 1)
        live = live_event(ended, p, at_us, ball, ready, None, kick_us)
        # Before a kick-off the ball has been dead, also if the stream began when it lay at the centre already.
        lying = stalled_event(at_us - 1, ready.x_m, ready.y_m, 0.0, "still", ready.since_us)
        dead = (lying,) if state.mode == "unknown" else ()
        stop = self._kicks.stopped_before(state, live, ready, now_us)
        kept = Watch(ball_x_m=watch.ball_x_m, ball_y_m=watch.ball_y_m, fresh_us=watch.fresh_us)
        after = turned(ended, "live", ended.cause, turned_us=at_us, lost_us=state.lost_us, watch=kept)
        return after, (*dead, *stop, live)

    def found_outside(self, state: PhaseState, now_us: int, ball: BallState, unseen_us: int) -> PhaseState:
        """The state with a ball in play that is found outside, without having been seen to cross a line.

        The track errs about as much as the nearest player is away at contacts. Before its restart the ball had been
        outside, so no line was crossed between two samples. When it went out again is not known: the middle of the time
        without it errs least.
        """
        outside_us, crossed_us = state.outside_us, state.crossed_us
        least_m = max(self.parameters.outside_m, state.spread_m)
        if state.exit is not None or self.pitch.inside(ball.x_m, ball.y_m, least_m):
            outside_us = crossed_us = -1
        elif outside_us < 0:
            if is_repeated(state, ball):
                return state
            if unseen_us or state.watch.fresh_us >= 0:
                outside_us, crossed_us = now_us, (max(now_us - unseen_us, state.turned_us) + now_us) // 2
        if outside_us == state.outside_us:
            return state
        return msgspec.structs.replace(state, outside_us=outside_us, crossed_us=crossed_us)

    def left_pitch(
        self, state: PhaseState, now_us: int, ball: BallState, settle: tuple[int, str]
    ) -> tuple[PhaseState, tuple[Event, ...]] | None:
        """End play by a ball that was found outside and has stayed there."""
        what, about = "time since the ball was found outside", "phase.dead"
        if not at_least(what, now_us - state.outside_us, *settle, about=about):
            return None
        pitch = self.pitch
        beyond_x_m, beyond_y_m = abs(ball.x_m) - pitch.half_length_m, abs(ball.y_m) - pitch.half_width_m
        x_m = math.copysign(min(abs(ball.x_m), pitch.half_length_m), ball.x_m)
        y_m = math.copysign(min(abs(ball.y_m), pitch.half_width_m), ball.y_m)
        return self._out(state, now_us, state.crossed_us, x_m, y_m, 0.0, touch=beyond_y_m >= beyond_x_m)

    def vanished(
        self, state: PhaseState, now_us: int, *, silent: bool = False
    ) -> tuple[PhaseState, tuple[Event, ...]] | None:
        """End play by a ball that has vanished and not been seen since: out, if it was about to cross a line.

        An alive flag has to say dead, too. Without one the ball stays away for longer, most of all one that vanished at
        the mouth of a goal: the goalkeeper may hold it. Elsewhere play has stopped if the source is known to leave out
        dead balls.

        Args:
            state: of play.
            now_us: event time.
            silent: True if no frame came in meanwhile, so that the flag could say nothing.
        """
        ball, p, about = state.ball, self.parameters.vanished, "phase.dead"
        if state.mode != "live" or ball is None:
            return None
        away_us, flag = now_us - state.seen_us, state.flag
        by_flag = not silent and flag.alive is not None
        if by_flag and (flag.alive or flag.changed_us < state.seen_us - p.flag_us):
            return None
        least = (p.flagged_us, "phase.vanished.flagged_us") if by_flag else (p.away_us, "phase.vanished.away_us")
        if not at_least("time without the ball", away_us, *least, about=about):
            return None
        x_us, y_us = self._ways_us(ball)
        way_us = min(x_us, y_us)
        if not at_most("way of the ball to the line", way_us, p.way_us, "phase.vanished.way_us", about):
            if by_flag or state.hidden < p.hidden:
                return None
            since_us = max(state.seen_us, state.turned_us + 1)
            dead = stalled_event(now_us, ball.x_m, ball.y_m, ball.z_m, "unseen", since_us)
            after = turned(state, "dead", "stop", UNSEEN, turned_us=now_us, lost_us=state.lost_us, watch=state.watch)
            return after, (dead,)
        x_m, y_m = _place_after(ball, way_us)
        z_m = max(ball.z_m + 1e-6 * way_us * ball.vz_m_s, 0.0)
        in_mouth = x_us < y_us and abs(y_m) < GOAL_HALF_WIDTH_M and z_m < BAR_HEIGHT_M
        crossed = state.mouth is not None
        held = in_mouth and not by_flag and not crossed
        if held and not at_least("time without the ball", away_us, p.held_us, "phase.vanished.held_us", about):
            return None
        crossed_us = state.seen_us + way_us
        if state.exit is not None:
            crossed_us = min(crossed_us, state.exit.ts_us)
        since_us = max(crossed_us, state.turned_us + 1)
        # Where no frame came in, a ball in the mouth that was not seen to cross counts as out until a kick-off shows
        # the goal (7.5).
        in_goal = in_mouth and (crossed or not silent)
        out = self._out(state, now_us, since_us, x_m, y_m, z_m, touch=y_us <= x_us, in_goal=in_goal)
        return msgspec.structs.replace(out[0], lost_us=state.lost_us), out[1]

    def set_anew(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState
    ) -> tuple[PhaseState, tuple[Event, ...]]:
        """End play with a scene that was cut, and let the ball lie where it is now: it is to be kicked from there."""
        near, p = nearest(frame, ball.x_m, ball.y_m), self.parameters
        around_m = near[1] + p.cut.leaves_m  # Of who kicks off; opponents may be nearer than Law 8 allows.
        shape = all_lined_up(self.kick, frame, ball.x_m, ball.y_m, around_m=around_m)
        penalty = penalty_shape(self.pitch, self.kick, frame, ball.x_m, ball.y_m)
        rest = first_rest(now_us, ball, near, put_us=now_us - p.rest_us, shape=shape)
        rest = msgspec.structs.replace(rest, penalty=penalty, cut_us=now_us)
        if state.mode == "dead":
            watch = Watch(out_x_m=state.watch.out_x_m)
            after = msgspec.structs.replace(
                state, rest=rest, case=None, watch=watch, seen_us=now_us, lost_us=-1, frame=frame
            )
            return after, NOTHING
        after, events = self._cut_off(state, now_us, goal=shape)
        after = msgspec.structs.replace(after, rest=rest, seen_us=now_us, frame=frame)
        return after, events if state.mode == "live" else NOTHING

    def _cut_off(self, state: PhaseState, now_us: int, *, goal: bool) -> tuple[PhaseState, tuple[Event, ...]]:
        """End play by what was seen of its ball before the scene was cut; ``goal``: a kick-off follows."""
        ball, p = state.ball, self.parameters
        if (ended := ended_by_crossing(state, p, self.pitch, now_us, ball)) is not None:
            return ended
        since_us = max(state.seen_us, state.turned_us + 1)
        if ball is not None:
            x_us, y_us = self._ways_us(ball)
            way_us = min(x_us, y_us)
            if at_most("way of the ball to the line", way_us, p.vanished.way_us, "phase.vanished.way_us", "phase.dead"):
                x_m, y_m = _place_after(ball, way_us)
                in_goal = goal and x_us < y_us and abs(y_m) < GOAL_HALF_WIDTH_M
                return self._out(state, now_us, since_us, x_m, y_m, 0.0, touch=y_us <= x_us, in_goal=in_goal)
        at_m = (ball.x_m, ball.y_m) if ball is not None else (None, None)
        dead = stalled_event(now_us, at_m[0], at_m[1], None, "unseen", since_us)
        return turned(state, "dead", "stop", UNSEEN, turned_us=now_us), (dead,)

    def _ways_us(self, ball: BallState) -> tuple[int, int]:
        """Time after which a ball that goes on is over a goal line, and over a touchline."""
        x_us = _out_after_us(ball.x_m, ball.vx_m_s, self.pitch.half_length_m + BALL_RADIUS_M)
        return x_us, _out_after_us(ball.y_m, ball.vy_m_s, self.pitch.half_width_m + BALL_RADIUS_M)

    def back_again(
        self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, unseen_us: int
    ) -> tuple[PhaseState, tuple[Event, ...]] | None:
        """End play by a ball that is seen again, and had vanished at a line or was away for too long."""
        out = self.vanished(state, now_us, silent=True) if unseen_us > 0 and state.lost_us < 0 else None
        if out is None:
            dead = ended_by_silence(state, self.parameters, now_us, frame, ball)
            if dead is None:
                return None
            out = turned(state, "dead", "stop", UNSEEN, turned_us=now_us), (dead,)
        after, events = out
        rest = self.appeared(after, now_us, frame, ball, unseen_us) or NO_REST
        return msgspec.structs.replace(after, rest=rest, lost_us=-1, seen_us=now_us), events

    def period_begun(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState) -> Step[PhaseState] | None:
        """Let the ball lie at the centre spot if the stream, or a period that the source knows, begins with a line-up.

        None if it does not, or if the ball was seen to lie there before.
        """
        seen_us = max(state.seen_us, state.turned_us)
        if seen_us >= 0 and not any(seen_us < period.from_us <= now_us for period in self._periods):
            return None
        if state.mode == "dead" and state.rest.shape:
            return None
        near, put_us = nearest(frame, ball.x_m, ball.y_m), now_us - self.parameters.rest_us
        lawful = all_lined_up(self.kick, frame, ball.x_m, ball.y_m)
        if not lawful and not all_lined_up(self.kick, frame, ball.x_m, ball.y_m, around_m=self.kick.simulated_m):
            return None
        rest = first_rest(now_us, ball, near, put_us=put_us, shape=True)
        if not lawful:  # Simulated football, whose taker may run on with the ball.
            rest = msgspec.structs.replace(rest, cut_us=now_us)
        elif state.mode == "unknown":
            return msgspec.structs.replace(state, rest=rest, seen_us=now_us), NOTHING
        cause = "start" if state.mode == "unknown" else "stop"
        after = turned(state, "dead", cause, rest=rest, turned_us=now_us, seen_us=now_us)
        dead = stalled_event(now_us, ball.x_m, ball.y_m, ball.z_m, "still", seen_us + 1)
        return after, (dead,) if state.mode == "live" else NOTHING

    def _out(
        self, state: PhaseState, now_us: int, since_us: int, x_m: float, y_m: float, z_m: float, *, touch: bool,
        in_goal: bool = False,
    ) -> tuple[PhaseState, tuple[Event, ...]]:  # fmt: skip
        """End play by a ball that was not seen to cross a line."""
        confidence = 0.5 if in_goal else 0.7
        cause, line = "goal line", goal_line_part(f"{end_of(x_m)} goal out", y_m)
        if in_goal:
            cause, line = "goal", end_of(x_m)
        elif touch:
            cause, line = "touch", "left touch out" if y_m > 0.0 else "right touch out"
        detail: dict[str, Scalar] = {"line": line, "sign": "", "since_us": since_us}
        payload = EventPayload(cause, x_m=x_m, y_m=y_m, z_m=z_m, confidence=confidence, detail=detail)
        dead = make_event("phase.dead", now_us, f"ball:{since_us}/{line}", payload)
        watch = Watch(out_x_m=x_m)
        return turned(state, "dead", cause, line, played=state.played, turned_us=now_us, watch=watch), (dead,)

    def hidden(self, state: PhaseState, rest: Rest) -> int:
        """How often the source has left out a ball before its restart, with one that was kicked from a rest."""
        most = self.parameters.vanished.hidden_most
        appeared = has_appeared(rest, self.parameters.rest_us)
        return min(state.hidden + 1, most) if appeared else max(state.hidden - 2, 0)

    def appeared(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, unseen_us: int) -> Rest | None:
        """The rest of a dead ball that appears beside a player, after it was away for long; None of another ball.

        One that lay when it was seen last was kicked there, or has lain there all the while.
        """
        p, rest = self.parameters, state.rest
        if state.mode == "live" or unseen_us < p.rest_us:
            return None
        lay_us = rest.last_us - rest.since_us
        slow = rest.since_us >= 0 and rest.last_us >= now_us - unseen_us - p.rest.bridge_us
        there = math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m) <= p.rest.bridge_m
        if slow and (lay_us >= p.rest_us or there):
            return None
        near = nearest(frame, ball.x_m, ball.y_m)
        if near[1] > taker_reach_m(p, state.spread_m):
            return self._goal_kick(state, now_us, frame, ball, unseen_us)
        shape = kick_off_shape(self.kick, frame, ball.x_m, ball.y_m)
        penalty = penalty_shape(self.pitch, self.kick, frame, ball.x_m, ball.y_m)
        since_us = now_us - unseen_us
        rest = first_rest(now_us, ball, near, put_us=since_us, shape=shape)
        return msgspec.structs.replace(rest, since_us=since_us, penalty=penalty, appeared_us=now_us)

    def is_held(self, state: PhaseState, now_us: int, ball: BallState, rest: Rest) -> bool:
        """True if the track of a ball in play holds its position while players run: it does not lie there alone.

        A ball that rolls to a rest is seen to be slow first, and after a whistle players soon walk. One that is held
        beside an outer line may have run out.
        """
        p = self.parameters
        held_at_once = rest.fresh_us - rest.since_us < p.rest.frozen_us <= now_us - rest.fresh_us
        far_inside = self.pitch.inside(ball.x_m, ball.y_m, -p.stall.far_in_m)
        return held_at_once and far_inside and state.watch.calm_us < 0

    def stopped(self, state: PhaseState, now_us: int, frame: Frame) -> Step[PhaseState]:
        """Stop play if the ball has vanished at a line, or all players have been calm for long without it."""
        p, about = self.parameters, "phase.dead"
        if (out := self.vanished(state, now_us)) is not None:
            return out
        if (silent := ended_by_silence(state, p, now_us, frame, None)) is not None:
            return turned(state, "dead", "stop", UNSEEN, turned_us=now_us, lost_us=state.lost_us), (silent,)
        watch = paced(state.watch, p.setting_off, self.pitch, now_us, frame)
        if watch is state.watch:
            return state, NOTHING
        calm_us, path = watch.calm_us, "phase.setting_off.stopped_us"
        if (
            calm_us < 0
            or not at_least("time that the players are calm", now_us - calm_us, p.setting_off.stopped_us, path, about)
            or not at_least("time without the ball", now_us - state.lost_us, p.unseen_us, "phase.unseen_us", about)
        ):
            return msgspec.structs.replace(state, watch=watch), NOTHING
        rest = state.rest
        x_m, y_m = (rest.x_m, rest.y_m) if rest.last_us >= calm_us else (None, None)
        dead = stalled_event(now_us, x_m, y_m, None, "calm", calm_us)
        watch = msgspec.structs.replace(watch, off_us=-1)
        after = turned(state, "dead", "stop", rest=rest, turned_us=now_us, lost_us=state.lost_us, watch=watch)
        return after, (dead,)

    def begun_us(self, state: PhaseState, played_us: int) -> int:
        """When play began of which ``played_us`` is the first sign: in the middle of a time without the ball before."""
        p, left = self.parameters, state.left_rest
        if left is None or played_us - left.found_us > p.found_us or left.found_us - left.away_us < p.unseen_us:
            return played_us
        return min(played_us, (left.away_us + left.found_us) // 2)

    def restart(
        self, state: PhaseState, at_us: int, ball: BallState, played_us: int, contacts: tuple[Played, ...]
    ) -> Event | None:
        """The restart of a ball that is played on: a goal kick, or by a taker who has left while it was not seen.

        If the first who plays it then is the taker himself, elsewhere, he has carried it on to where he kicks it.
        """
        if (kicked := self._from_goal_area(state, at_us, ball, contacts)) is not None:
            return kicked
        p, left_rest, first = self.parameters, state.left_rest, contacts[0] if contacts else None
        kick_us = -1 if left_rest is None else left_unseen_us(left_rest, p.rest)
        if left_rest is None or kick_us < 0 or (state.cause == "goal" and not left_rest.shape):
            return None
        if first is not None and left_rest.taker is not None and first.player == left_rest.taker.object_id:
            away_m = math.hypot(first.x_m - left_rest.x_m, first.y_m - left_rest.y_m)
            if away_m > p.rest.bridge_m and first.at_us - left_rest.left_us >= p.rest.carried_us:
                kick_us = min(first.at_us, at_us)  # The kick is no later than the play that begins with it.
                left_rest = msgspec.structs.replace(left_rest, x_m=first.x_m, y_m=first.y_m)
        what, since_us, about = "time since the ball was found", played_us - left_rest.found_us, "phase.live"
        reach_m = taker_reach_m(p, state.spread_m)
        taken = (
            at_most(what, since_us, p.found_us, "phase.found_us", about)
            and at_least("time that the ball had rested", left_rest.last_us - left_rest.since_us, *self._rest, about)
            and at_most("the taker from the ball", left_rest.taker_m, reach_m, "phase.reach_m", about)
            and may_restart(self.pitch, self.kick, state.cause, state.line, left_rest.x_m, left_rest.y_m)
        )
        return live_event(state, p, at_us, ball, left_rest, None, kick_us) if taken else None

    def _from_goal_area(
        self, state: PhaseState, at_us: int, ball: BallState, contacts: tuple[Played, ...]
    ) -> Event | None:
        """The goal kick of a ball that was out over the goal line, and that nobody saw lie: a contact in the area."""
        if state.cause != "goal line" or state.frame is None:
            return None
        end: End = "right" if state.line.startswith("right") else "left"
        defenders, slack_m = opponents_of(attackers_of(state.attacks_x, end)), self.kick.goal_area_slack_m
        kicks = [c for c in contacts if c.team == defenders and self.pitch.in_goal_area(c.x_m, c.y_m, end, slack_m)]
        if not kicks:
            return None
        kick = kicks[-1]
        taker = next((body for body in state.frame.players if body.object_id == kick.player), None)
        if taker is None:
            return None
        taker = msgspec.structs.replace(taker, x_m=kick.x_m, y_m=kick.y_m)
        rest = Rest(kick.at_us, kick.at_us, kick.x_m, kick.y_m, taker, 0.0)
        at_us = max(at_us, kick.at_us - 1)
        return live_event(state, self.parameters, at_us, ball, rest, None, min(kick.at_us, at_us))

    def _goal_kick(self, state: PhaseState, now_us: int, frame: Frame, ball: BallState, unseen_us: int) -> Rest | None:
        """The rest of a ball that went out over a goal line, in a source that leaves out dead balls, if it flies now.

        Far from a corner it comes from a goal kick, whose taker is the defender at the goal area.
        """
        p, pitch, vanished = self.parameters, self.pitch, self.parameters.vanished
        if state.cause != "goal line" or state.hidden < vanished.hidden:
            return None
        end: End = "right" if state.line.startswith("right") else "left"
        x_m = end_sign(end) * (pitch.half_length_m - GOAL_AREA_DEPTH_M)
        y_m = math.copysign(min(abs(ball.y_m), GOAL_AREA_HALF_WIDTH_M), ball.y_m)
        taker, taker_m = nearest(frame, x_m, y_m, but=attackers_of(state.attacks_x, end))
        corner_m = pitch.corner_distance_m(ball.x_m, ball.y_m)
        if taker is None or taker_m > vanished.taker_m or corner_m < vanished.corner_m:
            return None
        flown_us = round(1e6 * math.hypot(ball.x_m - taker.x_m, ball.y_m - taker.y_m) / vanished.flies_m_s)
        since_us = now_us - unseen_us
        at_us = max(now_us - flown_us, since_us + p.rest_us)
        return Rest(
            since_us, at_us, x_m, y_m, taker, 0.0, False, since_us, x_m, y_m, fresh_us=at_us, closest=taker,
            closest_m=0.0, high_us=at_us, gap_us=ball.gap_us, appeared_us=at_us,
        )  # fmt: skip


def _out_after_us(at_m: float, v_m_s: float, line_m: float) -> int:
    """Time after which a ball that goes on is beyond ``line_m``; none if it is there already."""
    return 0 if abs(at_m) >= line_m else leaves_us(at_m, v_m_s, line_m)


def _place_after(ball: BallState, way_us: int) -> tuple[float, float]:
    """Where a ball that goes on is after some time."""
    return ball.x_m + 1e-6 * way_us * ball.vx_m_s, ball.y_m + 1e-6 * way_us * ball.vy_m_s

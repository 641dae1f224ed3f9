"""State and payloads of 5.10: what is known of play, and the details of a stoppage and of the kick that ends it."""

from __future__ import annotations

from typing import Any

import msgspec

from detectors.ball.trajectory_breaks import possible_velocity
from detectors.contacts.contact_attribution import SPREAD_BEGIN_M
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.play.alive_flag import NO_FLAG, Flag, restarted_by_flag_us
from detectors.play.dead_ball_kicks import NO_REST, Rest, is_dropped, kicked_us, nearest
from detectors.play.evidence import Case, Played, with_contact
from detectors.play.goal_posts import flies_on, in_net
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.restart_kicks import UNSEEN
from detectors.play.setting_off import NO_WATCH, Watch
from detectors.play.stalls import NO_STALL, NOT_HANDLED, Handled, Stall, StallParameters, stopped_us
from football.match_sheet import Team
from football.payloads import BallState, EventPayload, Frame, Scalar, location_m, number, payload_of, time_us
from football.pitch import Pitch
from middleware.events import Event

#: Causes of a stoppage.
STOPPAGE_CAUSES = ("touch", "goal line", "goal", "stop")
#: Causes that geometry shows even if the referee had stopped play before the ball ran out.
LINE_CAUSES = ("touch", "goal line")
#: Contacts that are remembered: a ball that is picked up shakes.
CONTACTS = 12

#: Detail of a stoppage, and of the kick that ends it.
DEAD = ("line", "sign", "since_us")
LIVE = (
    "line", "fallback", "kick_us", "rest_s", "kick_off_shape", "penalty_shape", "shoot_out", "dropped",
    "vx_m_s", "vy_m_s", "height_m", "taker_x_m", "taker_y_m", "attacks_x", "spread_m",
    "evidence",
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
        case: the case that a dead ball is in play again; None if nothing speaks for it.
        stopped: True if officials have stopped play.
        peak: a change of the ball's velocity, until the next frame shows who was there.
        played: the newest contacts while the ball was in play, oldest first.
        turned_us: the event time of the newest transition.
        lost_us: time since which the ball is not seen; -1 if it is seen.
        seen_us: the newest frame with the ball; -1 before it.
        mouth: a ball that went into a goal by the post, until it has settled in the net or beside it.
        left_rest: of a dead ball, the rest that it had left when it was found elsewhere.
        handled: the newest time since then that a field player had the ball at hand height.
        watch: what players show while the ball is dead; once it is live again, where it was last seen before.
        outside_us: when a ball in play was found outside, and has not been seen inside since; -1 of another.
        crossed_us: when it is taken to have gone out.
        spread_m: median distance of the nearest player at a change of the ball's velocity in play.
        flag: what the alive flag says.
        frame: the newest one of this phase that has the ball; None before it.
        hidden: how often the ball has appeared where it was kicked from, less twice how often it was seen to lie there.
        unseen_us: longest time for which a dead ball was not seen; then it may have been in play and dead again.
    """

    mode: str = "unknown"
    cause: str = "start"
    line: str = ""
    exit: Event | None = None
    attacks_x: Team = ""
    rest: Rest = NO_REST
    stall: Stall = NO_STALL
    case: Case | None = None
    stopped: bool = False
    peak: Event | None = None
    played: tuple[Played, ...] = ()
    turned_us: int = -(2**62)
    lost_us: int = -1
    seen_us: int = -1
    mouth: Event | None = None
    handled: Handled = NOT_HANDLED
    left_rest: Rest | None = None
    watch: Watch = NO_WATCH
    outside_us: int = -1
    crossed_us: int = -1
    spread_m: float = SPREAD_BEGIN_M
    flag: Flag = NO_FLAG
    frame: Frame | None = None
    hidden: int = 0
    unseen_us: int = 0

    @property
    def ball(self) -> BallState | None:
        """The newest state of the ball in this phase; None before it."""
        return None if self.frame is None else self.frame.ball

    def stopped_unseen(self, p: PhaseParameters, at_us: int) -> bool:
        """True if the restart need not end the stop that is known: nobody, and no flag, saw the dead ball for long."""
        if self.cause != "stop" or self.stopped or self.flag.alive is not None:
            return False
        away_us = at_us - self.lost_us if self.lost_us >= 0 else 0
        what, longest_us = "time without the dead ball", max(self.unseen_us, away_us)
        return at_least(what, longest_us, p.missed_us, "phase.missed_us", "phase.live")


def is_far_out(state: PhaseState, p: PhaseParameters, pitch: Pitch, crossed: Event, ball: BallState) -> bool:
    """True if a ball that has crossed a line is farther outside than any track errs. It may rebound into the field."""
    if state.mouth is not None or payload_of(crossed).detail["jump"]:
        return False
    what, beyond_m, about = "the ball outside", pitch.beyond_m(ball.x_m, ball.y_m), "phase.dead"
    sure_m = 2.0 * state.spread_m
    return beyond_m >= sure_m and at_least(what, beyond_m, p.far_out_m, "phase.far_out_m", about)


def turned(state: PhaseState, mode: str, cause: str, line: str = "", **kept: Any) -> PhaseState:
    """The state of a new phase: it keeps what outlasts one, and what is given."""
    kept = {"hidden": state.hidden, **kept}
    return PhaseState(mode, cause, line, None, state.attacks_x, spread_m=state.spread_m, flag=state.flag, **kept)


def ended_play(state: PhaseState, now_us: int, cause: str, by: Event) -> tuple[PhaseState, tuple[Event, ...]]:
    """End play by a crossing of a line, or a ball in the goal."""
    payload = payload_of(by)
    since_us = time_us(payload, "since_us") if "since_us" in payload.detail else by.ts_us
    if since_us <= state.turned_us:  # It lay until then. When it went out after that is not known.
        since_us = max(state.turned_us + 1, (state.turned_us + by.ts_us) // 2)
    detail: dict[str, Scalar] = {"line": payload.variant, "sign": "", "since_us": since_us}
    stoppage = EventPayload(
        cause, x_m=payload.x_m, y_m=payload.y_m, z_m=payload.z_m, confidence=payload.confidence, detail=detail
    )
    dead = make_event("phase.dead", now_us, by.source, stoppage, causes=(by.id,))
    watch = Watch(out_x_m=location_m(payload)[0])
    after = turned(state, "dead", cause, payload.variant, played=state.played, turned_us=now_us, watch=watch)
    return after, (dead,)


def ended_by_crossing(
    state: PhaseState, p: PhaseParameters, pitch: Pitch, now_us: int, ball: BallState | None
) -> tuple[PhaseState, tuple[Event, ...]] | None:
    """End play by what the ball has crossed: a goal if it lies in the net, else a line; None if nothing, or not yet."""
    if state.mouth is not None and ball is not None and in_net(state.mouth, ball, pitch, p):
        return None if flies_on(state.mouth, now_us, ball, p) else ended_play(state, now_us, "goal", state.mouth)
    if state.exit is None:
        return None
    cause = "touch" if "touch" in payload_of(state.exit).variant else "goal line"
    return ended_play(state, now_us, cause, state.exit)


def stopped(state: PhaseState, dead: Event, since_us: int, rest: Rest) -> PhaseState:
    """The state after play was stopped since ``since_us``: a rest, or a set-off, of before it says nothing."""
    off_us = state.watch.off_us if state.watch.off_us > since_us else -1
    watch = msgspec.structs.replace(state.watch, off_us=off_us)
    rest = rest if rest.last_us >= since_us else NO_REST
    return turned(state, "dead", "stop", rest=rest, turned_us=dead.ts_us, watch=watch)


def as_stop(state: PhaseState) -> PhaseState:
    """The stoppage as one whose cause is a stop, before the ball ran out if it did."""
    return msgspec.structs.replace(state, cause="stop", line="")


def reach_m(p: PhaseParameters, spread_m: float) -> float:
    """How far from a player a ball that he plays may be tracked: as places of this input are good."""
    return max(p.play_m, p.play_spread_factor * spread_m)


def taker_reach_m(p: PhaseParameters, spread_m: float) -> float:
    """How far from the taker of a restart the ball may be tracked: as places of this input are good."""
    return max(p.reach_m, reach_m(p, spread_m))


def is_struck(state: PhaseState, p: PhaseParameters, at_us: int, payload: EventPayload) -> bool:
    """True if a change of the ball's velocity may be a contact: in play also a light one of a ball that rolls."""
    delta_m_s = number(payload, "delta_v_m_s")
    if state.mode == "dead" or delta_m_s >= p.play_m_s:
        return delta_m_s >= p.play_m_s
    in_hands = (payload.z_m or 0.0) >= p.stall.hand_low_m or at_us - state.handled.until_us <= p.stall.let_go_us
    rolls = number(payload, "speed_before_m_s") >= p.rolls_m_s
    return rolls and not in_hands and delta_m_s >= p.touch_m_s


def with_peak(state: PhaseState, p: PhaseParameters, pitch: Pitch, peak: Event, frame: Frame) -> PhaseState:
    """Count a change of the ball's velocity near a player as his contact: as near as places of this input are good."""
    x_m, y_m = location_m(payload_of(peak))
    player, away_m = nearest(frame, x_m, y_m)
    spread_m = state.spread_m
    if state.mode == "live" and player is not None:
        spread_m += p.spread_step_m if away_m > spread_m else -p.spread_step_m
    if player is None or away_m > reach_m(p, spread_m):
        return msgspec.structs.replace(state, peak=None, spread_m=spread_m)
    made = Played(peak.ts_us, player.object_id, player.team, x_m, y_m, peak.id)
    if state.mode != "dead":
        played = (*state.played[1 - CONTACTS :], made)
        return msgspec.structs.replace(state, peak=None, played=played, spread_m=spread_m)
    case = state.case
    if pitch.inside(x_m, y_m):
        case = with_contact(case or Case(peak.ts_us), made, p.evidence)
    return msgspec.structs.replace(state, peak=None, case=case)


def ended_by_silence(
    state: PhaseState, p: PhaseParameters, now_us: int, frame: Frame, ball: BallState | None
) -> Event | None:
    """The ``phase.dead`` of a ball in play that was not seen for a long time; None if it is not so.

    A ball whose restart only players have shown, and whose position is repeated since, is not seen either. The picture
    of television, which does not show all players, is that of a replay if it shows nobody for some time.
    """
    if state.mode != "live":
        return None
    last_us, about = max(state.seen_us, state.watch.pace[-1][0] if state.watch.pace else -1), "phase.dead"
    if len(frame.players) < p.all_players and last_us >= 0 and now_us - last_us >= p.replay_us:
        at_least("time without a frame", now_us - last_us, p.replay_us, "phase.replay_us", about)
        return stalled_event(now_us, None, None, None, "unseen", max(last_us, state.turned_us + 1))
    since_us = state.lost_us if state.lost_us >= 0 else state.seen_us
    if ball is not None and is_repeated(state, ball):
        since_us = state.turned_us
    if ball is None or since_us < 0 or now_us - since_us < p.silence_us:
        return None
    at_least("time without the ball", now_us - since_us, p.silence_us, "phase.silence_us", "phase.dead")
    return stalled_event(now_us, None, None, None, "unseen", since_us)


def stopped_before_end(state: PhaseState, p: PhaseParameters, end_us: int) -> Event | None:
    """The ``phase.dead`` of a ball in play when the stream ends, if the players have been calm for too long by then.

    A recording may end with the final whistle, before the ball has lain long enough.
    """
    calm_us, least = state.watch.calm_us, (p.setting_off.ended_us, "phase.setting_off.ended_us", "phase.dead")
    if state.mode != "live" or calm_us < 0:
        return None
    if not at_least("time that the players are calm", end_us - calm_us, *least):
        return None
    x_m, y_m = (state.stall.x_m, state.stall.y_m) if state.stall.still_us >= 0 else (None, None)
    return stalled_event(end_us, x_m, y_m, None, "calm", stopped_in_calm_us(state, p.stall, calm_us, calm_us))


def stopped_in_calm_us(
    state: PhaseState, p: StallParameters, stall_us: int, calm_us: int, *, by_hand: bool = False
) -> int:
    """When play was stopped: who moves the ball in a long calm, which began at ``calm_us``, does not play it."""
    played = tuple(one.at_us for one in state.played if one.at_us < calm_us)
    return stopped_us(min(stall_us, calm_us), played, state.handled, p, by_hand=by_hand)


def is_repeated(state: PhaseState, ball: BallState) -> bool:
    """True if the ball in play has the position that it had before a restart that was not seen."""
    return state.mode == "live" and ball.x_m == state.watch.ball_x_m and ball.y_m == state.watch.ball_y_m


def stalled_event(
    at_us: int, x_m: float | None, y_m: float | None, z_m: float | None, sign: str, since_us: int
) -> Event:
    """The ``phase.dead`` of a ball that has stalled since ``since_us``, known at ``at_us``."""
    detail: dict[str, Scalar] = {"line": "", "sign": sign, "since_us": since_us}
    payload = EventPayload("stop", x_m=x_m, y_m=y_m, z_m=z_m, confidence=0.7, detail=detail)
    return make_event("phase.dead", at_us, f"ball:{since_us}/{sign}", payload)


def live_event(
    state: PhaseState, p: PhaseParameters, at_us: int, ball: BallState | None, rest: Rest, fallback_us: int | None,
    unseen_us: int = -1,
) -> Event:  # fmt: skip
    """The ``phase.live`` that ends a stoppage.

    Args:
        state: the stoppage.
        p: limits of play.
        at_us: its event time.
        ball: the ball then; None while it is lost.
        rest: where it lay before the kick, and its taker.
        fallback_us: time of the first sign of play, if no kick was detected.
        unseen_us: time of the kick, if only players showed it; else the ball shows it.
    """
    fallback = fallback_us is not None
    taker = None if fallback else rest.taker
    kick_us = unseen_us if unseen_us >= 0 else fallback_us
    dropped = state.cause == "stop" and kick_us is None and is_dropped(rest, p.rest, ball)
    unseen = kick_us is not None or rest.found_us >= 0
    if kick_us is None:
        assert ball is not None
        kick_us = kicked_us(rest, p.rest, at_us, ball)
    if unseen:
        kick_us = restarted_by_flag_us(state.flag, p.flag, state.turned_us, kick_us, at_us)
    place = rest if not fallback or ball is None else ball
    vx_m_s, vy_m_s, _ = possible_velocity((ball.vx_m_s, ball.vy_m_s, 0.0)) if ball else (0.0, 0.0, 0.0)
    detail: dict[str, Scalar] = {
        "line": UNSEEN if state.stopped_unseen(p, at_us) else state.line,
        "fallback": fallback,
        "kick_us": kick_us,
        "rest_s": 0.0 if fallback else round((rest.last_us - rest.since_us) / 1e6, 2),
        "kick_off_shape": rest.shape and not fallback,
        "penalty_shape": rest.penalty != "" and not fallback,
        "shoot_out": rest.penalty == "shoot-out" and not fallback,
        "dropped": dropped,
        "vx_m_s": round(vx_m_s, 2),
        "vy_m_s": round(vy_m_s, 2),
        "height_m": round(ball.z_m, 2) if ball else 0.0,
        "taker_x_m": taker.x_m if taker else None,
        "taker_y_m": taker.y_m if taker else None,
        "attacks_x": state.attacks_x,
        "spread_m": round(state.spread_m, 2),
    }
    payload = EventPayload(
        state.cause,
        taker.team if taker else "",
        taker.object_id if taker else "",
        place.x_m,
        place.y_m,
        confidence=0.9,
        detail=detail,
    )
    return make_event("phase.live", at_us, f"ball:{kick_us}", payload)

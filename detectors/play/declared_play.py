"""Play as officials, and the operator of a tracking system, declare it (part of 5.10).

Officials decide. The operator only says what he has seen (:mod:`detectors.play.alive_flag`).
"""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from detectors.play.alive_flag import flagged, held_against, stopped_by_flag_us
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.phase_state import LINE_CAUSES, PhaseState, stalled_event, stopped, turned
from detectors.play.restart_kicks import UNSEEN
from detectors.signals.official import decided_us
from football.packets import Packet
from football.payloads import EventPayload, Scalar, payload_as
from football.pitch import Pitch
from middleware.detector import NOTHING, Step
from middleware.events import Event


def obeyed_officials(state: PhaseState, event: Event) -> Step[PhaseState]:
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
        return turned(state, "dead", "stop", stopped=True, turned_us=dead.ts_us), (dead,)
    if state.mode == "live":
        return state, NOTHING
    detail = {"line": state.line, "fallback": True, "kick_us": at_us, "rest_s": 0.0, "kick_off_shape": False}
    detail |= {"penalty_shape": False, "shoot_out": False, "dropped": False}
    detail |= {"vx_m_s": 0.0, "vy_m_s": 0.0, "height_m": 0.0, "taker_x_m": None, "taker_y_m": None}
    detail |= {"attacks_x": state.attacks_x, "spread_m": round(state.spread_m, 2)}
    payload = EventPayload(state.cause, x_m=x_m, y_m=y_m, detail=detail)
    live = make_event("phase.live", event.ts_us, event.source, payload, causes=(event.id,))
    return turned(state, "live", state.cause, turned_us=live.ts_us), (live,)


def obeyed_flag(state: PhaseState, p: PhaseParameters, pitch: Pitch, settle_us: int, event: Event) -> Step[PhaseState]:
    """Ends play if the alive flag has said for long enough that the ball is dead.

    Args:
        state: of play.
        p: limits.
        pitch: the pitch.
        settle_us: a ball that has crossed a line is dead after this time outside.
        event: a packet of the flag.
    """
    out_us: int | None = None
    if state.exit is not None:
        out_us = state.exit.ts_us
    elif state.mode == "dead" and state.cause in LINE_CAUSES:
        out_us = state.turned_us - settle_us
    ball = state.ball if event.ts_us - state.seen_us <= p.rest.frozen_us else None
    outside = ball is not None and pitch.beyond_m(ball.x_m, ball.y_m) >= p.far_out_m
    flag = flagged(state.flag, p.flag, payload_as(event, Packet), out_us, outside=outside)
    if out_us is not None and state.mode == "dead":
        flag = held_against(flag, p.flag, event.ts_us, out_us)
    state = msgspec.structs.replace(state, flag=flag)
    if state.mode != "live":
        return state, NOTHING
    played_us = [one.at_us for one in state.played]
    since_us = stopped_by_flag_us(flag, p.flag, event.ts_us, state.turned_us, played_us, p.stall.whistle_us)
    if since_us is None:
        return state, NOTHING
    dead = stalled_event(event.ts_us, None, None, None, "flag", since_us)
    after = stopped(state, dead, since_us, state.rest)
    # The ball may have gone out: nobody saw it then.
    line = UNSEEN if state.seen_us < since_us else ""
    return msgspec.structs.replace(after, line=line, lost_us=state.lost_us), (dead,)

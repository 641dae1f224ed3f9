"""7.6, 7.7: the outcomes of passes.

Theory of operation
-------------------
After a ``pass.attempt`` the first of these events decides; numbers are those of ``pass_outcome``:

| what comes first | outcome |
|---|---|
| a team mate gains the ball (6.2) | ``pass.complete`` |
| an opponent gains the ball, and does not only deflect it (5.7) | ``pass.intercepted`` |
| an opponent deflects the ball and has the next contact, too | ``pass.intercepted``, dated at that contact |
| the ball is out (6.5) | ``pass.out`` |
| the kicker plays the ball again, up to ``kept_us`` after the kick | ``pass.kept``: it was a dribble |
| another pass, or ``within_us`` is over | none |

A contact of the kicker within ``kept_from_us``, or before the ball has left him, belongs to the kick itself.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.ball.lines import OUT_LINES
from detectors.decisions import at_most, note
from detectors.emission import is_version, make_event
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class OutcomeParameters(msgspec.Struct, frozen=True):
    """How long after its kick a pass has an outcome.

    Attributes:
        within_us: greatest time from the kick to the outcome; a pass without one by then has none.
        kept_from_us: a contact of the kicker earlier than this after the kick belongs to the kick.
        kept_us: a contact of the kicker up to this long after the kick shows a dribble, and withdraws the pass.
    """

    within_us: Annotated[int, reason("StreamTeam's maxTime.")] = 7_000_000
    kept_from_us: Annotated[int, reason("Ours.")] = 120_000
    kept_us: Annotated[
        int, reason("Ours: later, a team mate may have played the ball in between without a detected contact.")
    ] = 3_000_000


class OutcomeState(msgspec.Struct, frozen=True, gc=False):
    """State: the pass under way, the newest deflection, and the gain of an opponent by that deflection."""

    attempt: Event | None = None
    deflection: Event | None = None
    gain: Event | None = None


class PassOutcome:
    """7.6, 7.7: ``pass.complete``, ``pass.intercepted``, ``pass.out``: the first gain, or crossing, after an attempt.

    Dated at the gain, or when the ball is known to be out; the id derives from the kick. ``player`` is the passer, the
    position that of the gain or crossing. A pass that an opponent deflects (5.7) is still under way. If the deflector
    plays the ball next, too, the pass is intercepted, dated at that contact. If the kicker plays the ball next, it was
    a dribble: ``pass.kept`` withdraws the attempt. A pass without an outcome after ``within_us`` has none. ``detail``:
    ``start_x_m``, ``start_y_m``, ``kick_us`` (the kick), ``receiver`` (who gained the ball, of either team; not of
    ``pass.out``), ``length_m``; of ``pass.out`` ``since_us`` (when the ball crossed the line). Its ``variant`` is the
    line.
    """

    def __init__(self, parameters: OutcomeParameters | None = None) -> None:
        self.parameters = parameters or OutcomeParameters()
        self.spec = Spec(
            name="pass_outcome",
            number="7.6",
            level=7,
            inputs=("deflection", "hit", "touch", "possession.gain", "out", "pass.attempt"),
            outputs=("pass.complete", "pass.intercepted", "pass.out", "pass.kept"),
            annuls=("pass.attempt",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (7 s); kloppy PassResult; 000 5.1 '(unsuccessful) pass'",
            team_variants={
                "pass.complete": ("",),
                "pass.intercepted": ("",),
                "pass.out": tuple(dict.fromkeys(OUT_LINES.values())),
                "pass.kept": ("",),
            },
            untyped=("pass.out",),
            covers=("7.7",),
            details={
                **dict.fromkeys(
                    ("pass.complete", "pass.intercepted"), ("start_x_m", "start_y_m", "kick_us", "receiver", "length_m")
                ),
                "pass.out": ("start_x_m", "start_y_m", "kick_us", "since_us", "length_m"),
            },
        )

    def initial(self) -> OutcomeState:
        """No pass under way."""
        return OutcomeState()

    def step(self, state: OutcomeState, event: Event) -> Step[OutcomeState]:
        """Follow the newest attempt; a gain or an out decides."""
        if event.kind == "pass.attempt":
            return OutcomeState(event), NOTHING
        attempt, payload = state.attempt, payload_of(event)
        if attempt is None or is_version(event):
            return state, NOTHING
        kicked = payload_of(attempt)
        what, since_us, limit_us = "time since the pass", event.ts_us - attempt.ts_us, self.parameters.within_us
        if not at_most(what, since_us, limit_us, "pass_outcome.within_us"):
            return OutcomeState(), NOTHING
        if event.kind == "deflection":
            return OutcomeState(attempt, event, state.gain), NOTHING
        if event.kind in ("hit", "touch"):
            return self._contact(state, attempt, kicked, event, payload)
        if event.kind == "out":
            return OutcomeState(), (_outcome("pass.out", attempt, kicked, event, payload, payload.variant),)
        if event.ts_us <= attempt.ts_us:
            return state, NOTHING
        if payload.player == kicked.player:
            # The gain of a restart is known after its kick; any other contact of the kicker is a dribble.
            return state if payload.variant == "restart" else OutcomeState(), NOTHING
        if payload.team != kicked.team and is_deflected(event, payload, state.deflection):
            return OutcomeState(attempt, None, event), NOTHING
        kind = "pass.complete" if payload.team == kicked.team else "pass.intercepted"
        return OutcomeState(), (_outcome(kind, attempt, kicked, event, payload, ""),)

    def _contact(
        self, state: OutcomeState, attempt: Event, kicked: EventPayload, event: Event, payload: EventPayload
    ) -> Step[OutcomeState]:
        """Withdraw a pass whose kicker plays the ball again; end a pass that the deflector plays once more."""
        if state.gain is None:
            after_us, p = event.ts_us - round(number(kicked, "kick_us")), self.parameters
            what, path = "time since the kick", "pass_outcome"
            # The ball of a restart may be seen to move before the contact that sends it off.
            if payload.player != kicked.player or event.ts_us <= number(kicked, "released_us"):
                return state, NOTHING
            if after_us <= p.kept_from_us:
                return state, NOTHING
            note(what, after_us, "at least", p.kept_from_us, f"{path}.kept_from_us")
            if not at_most(what, after_us, p.kept_us, f"{path}.kept_us"):
                return state, NOTHING
            kept = EventPayload(
                "", kicked.team, kicked.player, payload.x_m, payload.y_m, payload.z_m, kicked.confidence
            )
            causes = (attempt.id, event.id)
            outcome = make_event("pass.kept", event.ts_us, attempt.source, kept, causes=causes, annuls=attempt.id)
            return OutcomeState(), (outcome,)
        gained = payload_of(state.gain)
        if event.ts_us <= state.gain.ts_us or payload.player != gained.player:
            return state, NOTHING
        return OutcomeState(), (_outcome("pass.intercepted", attempt, kicked, event, payload, ""),)


def is_deflected(gain: Event, payload: EventPayload, deflection: Event | None) -> bool:
    """True if a gain is the contact of a deflection."""
    if deflection is None or deflection.ts_us != gain.ts_us:
        return False
    by = payload_of(deflection)
    return by.player == payload.player


def _outcome(
    kind: str, attempt: Event, kicked: EventPayload, event: Event, gained: EventPayload, variant: str
) -> Event:
    detail: dict[str, Scalar] = {"start_x_m": kicked.x_m, "start_y_m": kicked.y_m, "kick_us": attempt.ts_us}
    if kind == "pass.out":
        detail["since_us"] = gained.detail["since_us"]
    else:
        detail["receiver"] = gained.player
    if None not in (kicked.x_m, kicked.y_m, gained.x_m, gained.y_m):
        detail["length_m"] = round(math.hypot(gained.x_m - kicked.x_m, gained.y_m - kicked.y_m), 2)  # type: ignore[operator]
    payload = EventPayload(
        variant, kicked.team, kicked.player, gained.x_m, gained.y_m, gained.z_m, kicked.confidence, detail
    )
    return make_event(kind, event.ts_us, attempt.source, payload, causes=(attempt.id, event.id))

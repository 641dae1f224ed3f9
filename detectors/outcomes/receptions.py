"""Level 7: what becomes of a pass."""

from __future__ import annotations

import math

import msgspec

from detectors.ball.lines import OUT_LINES
from detectors.emission import make_event
from football.payloads import EventPayload, Scalar, number, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class OutcomeParameters(msgspec.Struct, frozen=True):
    """``within_us``: StreamTeam's maxTime. Ours: ``kept_from_us``: a contact of the kicker's so soon is still his kick;
    ``kept_us``: later the ball may have been to a mate and back unseen."""

    within_us: int = 7_000_000
    kept_from_us: int = 120_000
    kept_us: int = 3_000_000


class OutcomeState(msgspec.Struct, frozen=True, gc=False):
    """The pass under way, the newest deflection, and the gain by it of an opponent, who may not have meant it."""

    attempt: Event | None = None
    deflection: Event | None = None
    gain: Event | None = None


class PassOutcome:
    """7.6 and 7.7: ``pass.complete``, ``pass.intercepted``, ``pass.out``: what came first after an attempt.

    Dated at the gain or the crossing, named by the kick; ``player`` is the passer, ``receiver`` who got it. A pass that
    an opponent deflects (5.7) is still under way: if he himself plays the ball next he had it, and the pass is
    intercepted, which is known and dated only then. If the kicker plays the ball next he has dribbled: ``pass.kept``
    says so and takes the attempt back.
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
        )

    def initial(self) -> OutcomeState:
        """No pass under way."""
        return OutcomeState()

    def step(self, state: OutcomeState, event: Event) -> Step[OutcomeState]:
        """A new attempt takes the place of the old one; a gain or an out decides."""
        if event.kind == "pass.attempt":
            return OutcomeState(event), NOTHING
        attempt, payload = state.attempt, published(event)
        if attempt is None:
            return state, NOTHING
        made = published(attempt)
        if event.ts_us - attempt.ts_us > self.parameters.within_us:
            return OutcomeState(), NOTHING
        if event.kind == "deflection":
            return OutcomeState(attempt, event, state.gain), NOTHING
        if event.kind in ("hit", "touch"):
            return self._again(state, attempt, made, event, payload)
        if event.kind == "out":
            return OutcomeState(), (_outcome("pass.out", attempt, made, event, payload, payload.variant),)
        if event.ts_us <= attempt.ts_us:
            return state, NOTHING
        if payload.player == made.player:
            # The taker's own restart is told after the kick; any other contact of his is a dribble after all.
            return state if payload.variant == "restart" else OutcomeState(), NOTHING
        if payload.team != made.team and is_deflected(event, payload, state.deflection):
            return OutcomeState(attempt, None, event), NOTHING
        kind = "pass.complete" if payload.team == made.team else "pass.intercepted"
        return OutcomeState(), (_outcome(kind, attempt, made, event, payload, ""),)

    def _again(
        self, state: OutcomeState, attempt: Event, made: EventPayload, event: Event, payload: EventPayload
    ) -> Step[OutcomeState]:
        """A contact of who had the ball: the kicker has dribbled; who plays the ball that he deflected has it."""
        if state.gain is None:
            after_us, p = event.ts_us - round(number(made, "kick_us")), self.parameters
            if payload.player != made.player or not p.kept_from_us < after_us <= p.kept_us:
                return state, NOTHING
            kept = EventPayload("", made.team, made.player, payload.x_m, payload.y_m, payload.z_m, made.confidence)
            causes = (attempt.id, event.id)
            told = make_event("pass.kept", event.ts_us, attempt.source, kept, causes=causes, annuls=attempt.id)
            return OutcomeState(), (told,)
        got = published(state.gain)
        if event.ts_us <= state.gain.ts_us or payload.player != got.player:
            return state, NOTHING
        return OutcomeState(), (_outcome("pass.intercepted", attempt, made, event, payload, ""),)


def is_deflected(gain: Event, payload: EventPayload, deflection: Event | None) -> bool:
    """Whether a gain is the contact of a deflection."""
    if deflection is None or deflection.ts_us != gain.ts_us:
        return False
    by = published(deflection)
    return by.player == payload.player


def _outcome(kind: str, attempt: Event, made: EventPayload, event: Event, got: EventPayload, variant: str) -> Event:
    detail: dict[str, Scalar] = {"start_x_m": made.x_m, "start_y_m": made.y_m, "kick_us": attempt.ts_us}
    if kind != "pass.out":
        detail["receiver"] = got.player
    if None not in (made.x_m, made.y_m, got.x_m, got.y_m):
        detail["length_m"] = round(math.hypot(got.x_m - made.x_m, got.y_m - made.y_m), 2)  # type: ignore[operator]
    payload = EventPayload(variant, made.team, made.player, got.x_m, got.y_m, got.z_m, made.confidence, detail)
    return make_event(kind, event.ts_us, attempt.source, payload, causes=(attempt.id, event.id))


class InterceptionParameters(msgspec.Struct, frozen=True):
    """``moving_m_s``: a pass that still moves (2.4). ``after_us``: sooner, it is a block or a duel (6.7's block).
    ``out_us``: an opponent's contact that the ball leaves the field after, without another one, won a throw or
    corner at best: ``to out``."""

    moving_m_s: float = 4.0
    after_us: int = 350_000
    out_us: int = 1_500_000


class InterceptionState(msgspec.Struct, frozen=True, gc=False):
    """The pass under way and the opponent's gain that ended it, while the ball may still run out; the newest
    deflection."""

    attempt: Event | None = None
    gain: Event | None = None
    deflection: Event | None = None


class Interception:
    """7.8: ``interception`` x {won, to out}: an opponent gains a moving pass that he does not only deflect (5.7).

    ``won`` is published at the gain; if the ball then runs out without another contact, ``to out`` follows and
    annuls it.
    """

    def __init__(self, parameters: InterceptionParameters | None = None) -> None:
        self.parameters = parameters or InterceptionParameters()
        self.spec = Spec(
            name="interception",
            number="7.8",
            level=7,
            inputs=("deflection", "possession.gain", "out", "pass.attempt"),
            outputs=("interception",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy InterceptionResult; numbers ours",
            annuls=("interception",),
            team_variants={"interception": ("won", "to out")},
        )

    def initial(self) -> InterceptionState:
        """No pass under way."""
        return InterceptionState()

    def step(self, state: InterceptionState, event: Event) -> Step[InterceptionState]:
        """Attempt, then an opponent's gain, then perhaps the line."""
        if event.kind == "pass.attempt":
            return InterceptionState(event, None), NOTHING
        if event.kind == "out":
            return InterceptionState(), self._to_out(state, event)
        attempt, payload = state.attempt, event.payload
        if attempt is None or event.ts_us <= attempt.ts_us:
            return state, NOTHING
        if event.kind == "deflection":
            return InterceptionState(attempt, state.gain, event), NOTHING
        if state.gain is not None:
            return InterceptionState(), NOTHING
        made = published(attempt)
        assert isinstance(payload, EventPayload)
        if payload.team != made.team and is_deflected(event, payload, state.deflection):
            return state, NOTHING
        moving = number(payload, "speed_before_m_s") >= self.parameters.moving_m_s
        soon = event.ts_us - attempt.ts_us < self.parameters.after_us
        if payload.variant == "restart" and payload.player == made.player:
            return state, NOTHING
        if payload.team == made.team or not moving or soon:
            return InterceptionState(), NOTHING
        won = self._fact("won", payload, made)
        found = make_event("interception", event.ts_us, event.source, won, causes=(attempt.id, event.id))
        return InterceptionState(attempt, event), (found,)

    def _to_out(self, state: InterceptionState, event: Event) -> tuple[Event, ...]:
        if state.gain is None or state.attempt is None:
            return NOTHING
        if event.ts_us - state.gain.ts_us > self.parameters.out_us:
            return NOTHING
        payload, made = published(state.gain), published(state.attempt)
        anchor = f"{state.gain.source}/out"
        won_id = f"interception#{state.gain.source}"
        amended = self._fact("to out", payload, made)
        causes = (state.attempt.id, state.gain.id, event.id)
        return (make_event("interception", event.ts_us, anchor, amended, causes=causes, annuls=won_id),)

    def _fact(self, variant: str, gain: EventPayload, made: EventPayload) -> EventPayload:
        return EventPayload(
            variant, gain.team, gain.player, gain.x_m, gain.y_m, gain.z_m, gain.confidence, {"passer": made.player}
        )

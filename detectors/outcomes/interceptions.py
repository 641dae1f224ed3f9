"""7.8: interceptions: an opponent moves into the line of a pass."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import above, at_least, at_most, below
from detectors.emission import is_version, make_event, withdrawal
from detectors.outcomes.receptions import is_deflected
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, frame_of, number, payload_of
from football.pitch import PENALTY_AREA_HALF_WIDTH_M, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: Kind of the gains that are interceptions, for the detectors of this level: no ball that is intercepted is recovered.
WON = "interception.won"

_TRIED = "Ours; `ragged`, simulated seeds 201 to 208 and 221 to 232: "


class InterceptionParameters(msgspec.Struct, frozen=True):
    """Limits of an interception.

    Attributes:
        moving_m_s: least speed of the intercepted pass.
        after_us: least time from the kick to the gain; an earlier gain is a block or a duel.
        within_us: greatest time from the kick to the gain; a later gain is of a loose ball.
        off_line_m: at the kick he is farther than this from the line of the pass.
        reach_m: without limbs, who is farther than this from the ball when he plays it only deflects it.
        head_m: a kick from a greater height is a header.
        every_us: time between two samples of the players.
        out_us: if the ball leaves the pitch within this time after the gain, the variant is ``to out``.
        kept_m_s: who leaves the ball slower than this, and to an opponent, has only deflected it.
    """

    moving_m_s: Annotated[float, reason("A moving ball (2.4).")] = 4.0
    after_us: Annotated[int, reason("As strike.block_us (6.7).")] = 350_000
    within_us: Annotated[
        int, reason(_TRIED + "2.5 s at most in 19 interceptions; of 44 that are none 7 are later.")
    ] = 3_000_000
    off_line_m: Annotated[float, reason("Ours: a step and a stretched leg; who stands nearer is played to.")] = 2.0
    reach_m: Annotated[
        float, reason(_TRIED + "1.0 m at most in 19 interceptions; of 44 that are none 12 are farther.")
    ] = 1.1
    head_m: Annotated[float, reason("The height of headers of 5.3.")] = 1.5
    every_us: Annotated[int, reason("Ours.")] = 100_000
    out_us: Annotated[int, reason("Ours: it won a throw-in or corner kick at best.")] = 1_500_000
    kept_m_s: Annotated[
        float,
        reason(
            "Simulated matches 670 to 675: of 28 such balls one was intercepted; who intercepts and then passes to an "
            "opponent leaves it with 9 m/s and more in 12 of 13 cases."
        ),
    ] = 8.0


class InterceptionState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        frame: the newest sample.
        attempt: the pass under way; ``players`` are the places (player, x, y) at its kick.
        headed: it was headed.
        gain: the opponent's gain that ended it, while the ball may still go out.
        deflection: the newest deflection.
        hit: the newest hit; at a pass its kick.
        won: the newest interception, while the next contact may show that he has only deflected the ball.
    """

    frame: Event | None = None
    attempt: Event | None = None
    players: tuple[tuple[str, float, float], ...] = ()
    headed: bool = False
    gain: Event | None = None
    deflection: Event | None = None
    hit: Event | None = None
    won: Event | None = None


class Interception:
    """7.8: ``interception`` x {won, to out}: an opponent moves into the line of a pass, and plays it.

    The line is the way that the pass went. Who stood in it at the kick was played to: he recovers the ball (7.10). A
    header and a cross are cleared, and a goalkeeper claims; who is hit by a pass at once has blocked it, and who only
    reaches the ball with a stretched leg has deflected it. ``won`` is published at the gain.
    If the ball then goes out without another contact, ``to out`` follows and annuls it. If it left him slowly, and an
    opponent has the next contact, he has only deflected it, and it is withdrawn.
    ``player`` intercepts, the position is that of the gain. ``detail``: ``passer``.
    """

    def __init__(self, sheet: MatchSheet, parameters: InterceptionParameters | None = None) -> None:
        self.parameters = parameters or InterceptionParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self._half_length_m = pitch_of(sheet).half_length_m
        self.spec = Spec(
            name="interception",
            number="7.8",
            level=7,
            inputs=("frame", "hit", "deflection", "possession.gain", "out", "pass.attempt"),
            outputs=("interception", WON),
            internal=(WON,),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta; StatsBomb; kloppy InterceptionResult",
            annuls=("interception",),
            amends=("interception",),
            known={"interception": Known("when he gains the ball", "when an opponent has the next contact")},
            team_variants={"interception": ("won", "to out")},
            details={"interception": ("passer",)},
        )

    def initial(self) -> InterceptionState:
        """No pass under way."""
        return InterceptionState()

    def step(self, state: InterceptionState, event: Event) -> Step[InterceptionState]:
        """Follow an attempt, then an opponent's gain, then a crossing of a line."""
        if event.kind == "frame":
            due_us = -(2**62) if state.frame is None else state.frame.ts_us + self.parameters.every_us
            return (msgspec.structs.replace(state, frame=event) if event.ts_us >= due_us else state), NOTHING
        if event.kind == "pass.attempt":
            headed = state.hit is not None and (payload_of(state.hit).z_m or 0.0) > self.parameters.head_m
            places = _places(state.frame)
            return InterceptionState(state.frame, event, places, headed, hit=state.hit, won=state.won), NOTHING
        if event.kind == "hit":
            return self._next_contact(msgspec.structs.replace(state, hit=event), event)
        if is_version(event):
            return state, NOTHING
        if event.kind == "out":
            return msgspec.structs.replace(_ended(state), won=None), self._to_out(state, event)
        attempt = state.attempt
        if attempt is None or event.ts_us <= attempt.ts_us:
            return state, NOTHING
        if event.kind == "deflection":
            return msgspec.structs.replace(state, deflection=event), NOTHING
        payload, kicked = payload_of(event), payload_of(attempt)
        if state.gain is not None:
            return _ended(state), NOTHING
        if payload.team != kicked.team and is_deflected(event, payload, state.deflection):
            return state, NOTHING
        if payload.variant == "restart" and payload.player == kicked.player:
            return state, NOTHING
        if payload.team == kicked.team or not self._intercepts(state, attempt, event):
            return _ended(state), NOTHING
        won = _interception("won", payload, kicked)
        interception = make_event("interception", event.ts_us, event.source, won, causes=(attempt.id, event.id))
        shared = Event(WON, event.ts_us, event.source)
        slow = interception if self._leaves_slowly(state, event) else None
        return msgspec.structs.replace(state, gain=event, won=slow), (interception, shared)

    def _leaves_slowly(self, state: InterceptionState, gain: Event) -> bool:
        """True if the ball leaves the player of a gain so slowly that he may only have deflected it."""
        if state.hit is None or state.hit.ts_us != gain.ts_us:
            return False
        what, left_m_s = "speed after the gain", number(payload_of(state.hit), "speed_after_m_s")
        return below(what, left_m_s, self.parameters.kept_m_s, "interception.kept_m_s")

    def _next_contact(self, state: InterceptionState, hit: Event) -> Step[InterceptionState]:
        """Withdraw an interception after which an opponent has the next contact."""
        won = state.won
        if won is None or hit.ts_us <= won.ts_us:
            return state, NOTHING
        state = msgspec.structs.replace(state, won=None)
        if payload_of(hit).team == payload_of(won).team:
            return state, NOTHING
        return (_ended(state) if state.gain is not None else state), (withdrawal(won, hit.ts_us),)

    def _intercepts(self, state: InterceptionState, attempt: Event, gain: Event) -> bool:
        """True if the opponent who gains a pass has moved into its line."""
        p, made, kicked = self.parameters, payload_of(gain), payload_of(attempt)
        if made.player in self._keepers or state.headed or self._is_cross(kicked, made):
            return False
        off_m = _off_line_m(state.players, kicked, made)
        return (
            at_least("speed of the pass", number(made, "speed_before_m_s"), p.moving_m_s, "interception.moving_m_s")
            and at_least("time from kick to gain", gain.ts_us - attempt.ts_us, p.after_us, "interception.after_us")
            and at_most("time from kick to gain", gain.ts_us - attempt.ts_us, p.within_us, "interception.within_us")
            and self._reaches(state, gain)
            and above("the line at the kick", off_m, p.off_line_m, "interception.off_line_m")
        )

    def _reaches(self, state: InterceptionState, gain: Event) -> bool:
        """True if the player of a gain is near enough to do more than deflect the ball; a limb always is."""
        if state.hit is None or state.hit.ts_us != gain.ts_us:
            return True
        away_m, limit_m = number(payload_of(state.hit), "distance_m"), self.parameters.reach_m
        return at_most("the ball from the player", away_m, limit_m, "interception.reach_m")

    def _is_cross(self, kicked: EventPayload, made: EventPayload) -> bool:
        """True of a ball from a wing of the last quarter that is played in the middle, near the same goal line."""
        if None in (kicked.x_m, kicked.y_m, made.x_m, made.y_m):
            return False
        wide = abs(kicked.y_m) >= PENALTY_AREA_HALF_WIDTH_M > abs(made.y_m)  # type: ignore[arg-type]
        end = math.copysign(1.0, kicked.x_m)  # type: ignore[arg-type]
        return wide and min(kicked.x_m * end, made.x_m * end) >= 0.5 * self._half_length_m  # type: ignore[operator]

    def _to_out(self, state: InterceptionState, event: Event) -> tuple[Event, ...]:
        if state.gain is None or state.attempt is None:
            return NOTHING
        out_us = event.ts_us - state.gain.ts_us
        if not at_most("time from gain to out", out_us, self.parameters.out_us, "interception.out_us"):
            return NOTHING
        anchor = f"{state.gain.source}/out"
        won_id = f"interception#{state.gain.source}"
        amended = _interception("to out", payload_of(state.gain), payload_of(state.attempt))
        causes = (state.attempt.id, state.gain.id, event.id)
        return (make_event("interception", event.ts_us, anchor, amended, causes=causes, annuls=won_id),)


def _ended(state: InterceptionState) -> InterceptionState:
    """No pass is under way any more."""
    return InterceptionState(state.frame, hit=state.hit, won=state.won)


def _places(frame: Event | None) -> tuple[tuple[str, float, float], ...]:
    if frame is None:
        return ()
    return tuple((body.object_id, round(body.x_m, 2), round(body.y_m, 2)) for body in frame_of(frame).players)


def _off_line_m(players: tuple[tuple[str, float, float], ...], kicked: EventPayload, made: EventPayload) -> float:
    """How far the player of a gain stood at the kick from the ray of the pass; 0 if that is not known."""
    place = next(((x, y) for player, x, y in players if player == made.player), None)
    if place is None or None in (kicked.x_m, kicked.y_m, made.x_m, made.y_m):
        return 0.0
    dx, dy = made.x_m - kicked.x_m, made.y_m - kicked.y_m  # type: ignore[operator]
    rx, ry = place[0] - kicked.x_m, place[1] - kicked.y_m  # type: ignore[operator]
    share = max((rx * dx + ry * dy) / max(dx * dx + dy * dy, 1e-9), 0.0)
    return math.hypot(rx - share * dx, ry - share * dy)


def _interception(variant: str, gain: EventPayload, kicked: EventPayload) -> EventPayload:
    return msgspec.structs.replace(gain, variant=variant, detail={"passer": kicked.player})

"""7.10: recoveries: a ball that nobody has, or that an opponent played to the player, is won and secured."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from detectors.decisions import at_least, at_most, below
from detectors.emission import make_event
from detectors.outcomes.interceptions import WON
from detectors.outcomes.receptions import is_deflected
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

_COUNTED = (
    "`optical`, simulated seeds 301 to 312 and 381 to 420: of gains that come and leave so 57 are no recovery, nearly "
    "all bodies that were hit, and 5 are one."
)


class RecoveryParameters(msgspec.Struct, frozen=True):
    """Limits of a contact of who is only hit by the ball: it leaves him fast, but no faster than it came.

    Attributes:
        came_m_s: the ball came at least so fast.
        leaves_m_s: it leaves at least so fast; a slower one he has under control.
        below_m: it was lower than this; a higher ball is headed on.
        taker_us: who gains the ball this soon after his own pass has taken a restart, and the pass is under way.
    """

    came_m_s: Annotated[float, reason(_COUNTED)] = 5.0
    leaves_m_s: Annotated[float, reason(_COUNTED)] = 3.5
    below_m: Annotated[float, reason(_COUNTED)] = 1.0
    taker_us: Annotated[int, reason("Ours: a contact and a kick from rest may be dated so far apart.")] = 200_000


class RecoveryState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        gain: the newest gain in play.
        loose: the ball that has been loose since.
        attempt: the pass since the newest gain.
        deflection: the newest deflection.
        contact: the newest contact.
        won: an opponent's gain that is still to be secured, with what was lost.
    """

    gain: Event | None = None
    loose: Event | None = None
    attempt: Event | None = None
    deflection: Event | None = None
    contact: Event | None = None
    won: Event | None = None


class Recovery:
    """7.10: ``recovery``: a player wins a loose ball, or an opponent's pass that was played to him, and secures it.

    Secured means that his team has the next contact, too. Who moved into the line of a pass intercepts it (7.8), who
    takes the ball from an opponent tackles (7.13), who is hit by the ball wins nothing, and a goalkeeper claims. Shown
    at the gain. ``detail``: ``from`` (the last holder), ``loose_us`` (event time of the loose ball; of a pass, its
    kick).
    """

    def __init__(self, sheet: MatchSheet, parameters: RecoveryParameters | None = None) -> None:
        self.parameters = parameters or RecoveryParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self._limbs = bool(sheet.quality.limbs)
        self.spec = Spec(
            name="recovery",
            number="7.10",
            level=7,
            inputs=("hit", "touch", "deflection", "possession.gain", "pass.attempt", "ball.loose", "play.dead", WON),
            outputs=("recovery",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta; StatsBomb; kloppy RECOVERY",
            team_variants={"recovery": ("",)},
            amends=("recovery",),
            known={"recovery": Known("when the own team has the next contact")},
            details={"recovery": ("from", "loose_us")},
        )

    def initial(self) -> RecoveryState:
        """No gain."""
        return RecoveryState()

    def step(self, state: RecoveryState, event: Event) -> Step[RecoveryState]:
        """Follow a ball that is loose or passed, an opponent's gain, and the contact after it."""
        if event.kind == WON:
            return replace(state, won=None), NOTHING
        if event.kind == "play.dead":
            return RecoveryState(), NOTHING
        if event.kind == "ball.loose":
            return replace(state, loose=event), NOTHING
        if event.kind == "pass.attempt":
            return replace(state, attempt=event), NOTHING
        if event.kind == "deflection":
            if event.annuls:
                return state, NOTHING
            return replace(state, deflection=event), NOTHING
        payload = payload_of(event)
        if event.kind == "possession.gain":
            return self._gained(state, event, payload), NOTHING
        state = replace(state, contact=event)
        if state.won is not None and event.ts_us > state.won.ts_us:
            return replace(state, won=None), self._secured(state.won, event, payload)
        again = state.gain is not None and payload_of(state.gain).player == payload.player
        return (replace(state, loose=None) if again and state.loose is not None else state), NOTHING

    def _gained(self, state: RecoveryState, event: Event, made: EventPayload) -> RecoveryState:
        if is_deflected(event, made, state.deflection):
            return state  # Who deflects the ball has not had it.
        after = RecoveryState(event, contact=state.contact)
        own, p = state.attempt, self.parameters
        if own is not None and payload_of(own).player == made.player and event.ts_us - own.ts_us <= p.taker_us:
            # The taker of a restart gains the ball as he kicks it.
            after = replace(after, attempt=own)
        if state.gain is None or payload_of(state.gain).team == made.team or made.player in self._keepers:
            return after
        cause = state.loose or state.attempt
        if cause is None or made.variant == "restart" or self._is_struck(state.contact, event):
            return after
        return replace(after, won=self._won(state.gain, cause, event, made))

    def _is_struck(self, contact: Event | None, gain: Event) -> bool:
        """True if the contact of a gain is of a player who was hit by the ball; limb tags show deflections (5.7)."""
        if self._limbs or contact is None or contact.ts_us != gain.ts_us:
            return False
        hit, p = payload_of(contact), self.parameters
        if hit.z_m is not None and not below("height of the ball", hit.z_m, p.below_m, "recovery.below_m"):
            return False
        came_m_s, leaves_m_s = number(hit, "speed_before_m_s"), number(hit, "speed_after_m_s")
        return (
            at_least("speed of the ball before", came_m_s, p.came_m_s, "recovery.came_m_s")
            and at_least("speed of the ball after", leaves_m_s, p.leaves_m_s, "recovery.leaves_m_s")
            and at_most("speed of the ball after", leaves_m_s, came_m_s, unit="m/s")
        )

    def _won(self, gain: Event, cause: Event, event: Event, made: EventPayload) -> Event:
        held = payload_of(gain)
        payload = replace(made, variant="", detail={"from": held.player, "loose_us": cause.ts_us})
        return make_event(
            "recovery", event.ts_us, event.source, payload, causes=(cause.id, gain.id, event.id), dated_us=event.ts_us
        )

    def _secured(self, won: Event, event: Event, made: EventPayload) -> tuple[Event, ...]:
        if made.team != payload_of(won).team:
            return NOTHING
        return (replace(won, ts_us=event.ts_us, causes=(*won.causes, event.id)),)

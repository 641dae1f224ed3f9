"""8.3: the height of passes."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.ball.bands import HEIGHTS
from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.qualifiers.pass_qualifier import PASS_ENDS, PREDICTED_SHARE
from detectors.reasons import reason
from football.payloads import EventPayload, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

PASS_HEIGHTS = ("ground", "low", "high")


class PassHeightParameters(msgspec.Struct, frozen=True):
    """Limits of following a pass.

    Attributes:
        within_us: a pass is followed for this long.
    """

    within_us: Annotated[int, reason("As pass_outcome.within_us (7.6).")] = 7_000_000


class Flight(msgspec.Struct, frozen=True, gc=False):
    """A pass under way.

    Attributes:
        attempt: its attempt.
        height: the highest band so far; -1: unknown.
        published_us: time at which that was published.
        untouched: True without a contact since the kick.
    """

    attempt: Event
    height: int
    published_us: int
    untouched: bool = True


class HeightState(msgspec.Struct, frozen=True, gc=False):
    """State: the ball's band now (-1: unknown), and the newest passes."""

    band: int = -1
    flights: tuple[Flight, ...] = ()


class PassHeight:
    """8.3: ``pass.height`` x {ground, low, high}: the highest band (2.5) that the ball was in; head height is high.

    Published at the kick, again whenever the ball rises into a higher band, and when the pass has ended. Shown at the
    kick. ``detail``: ``final`` (true once the pass has ended).
    """

    def __init__(self, parameters: PassHeightParameters | None = None) -> None:
        self.parameters = parameters or PassHeightParameters()
        self.spec = Spec(
            name="pass_height",
            number="8.3",
            level=8,
            inputs=("ball.height", "hit", "touch", "pass.attempt", *PASS_ENDS, "pass.kept"),
            outputs=("pass.height",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StatsBomb (pass heights)",
            needs="ball height",
            team_variants={"pass.height": PASS_HEIGHTS},
            amends=("pass.height",),
            known={
                "pass.height": Known(
                    "when the pass is known",
                    "when the ball rises into a higher band, and when the pass has ended",
                    ("variant", "confidence", "final"),
                ),
            },
            details={"pass.height": ("final",)},
        )

    def initial(self) -> HeightState:
        """Nothing known of the ball."""
        return HeightState()

    def step(self, state: HeightState, event: Event) -> Step[HeightState]:
        """Follow the ball from kick to end."""
        payload = payload_of(event)
        if event.kind == "ball.height":
            return self._risen(state, event, min(HEIGHTS.index(payload.variant), len(PASS_HEIGHTS) - 1))
        if event.kind == "pass.attempt":
            flight = Flight(event, state.band, event.ts_us)
            older = tuple(msgspec.structs.replace(f, untouched=False) for f in state.flights[-1:])
            out = (_publish(flight, event.ts_us, final=False),) if state.band >= 0 else NOTHING
            return HeightState(state.band, (*older, flight)), out
        if event.kind in ("hit", "touch"):
            return self._touched(state, event), NOTHING
        return self._ended(state, event)

    def _risen(self, state: HeightState, event: Event, band: int) -> Step[HeightState]:
        flights: list[Flight] = []
        out: list[Event] = []
        for flight in state.flights:
            since_us, limit_us = event.ts_us - flight.attempt.ts_us, self.parameters.within_us
            about = flight.attempt.source
            if not at_most("time since the pass", since_us, limit_us, "pass_height.within_us", about):
                continue
            if flight.untouched and band > flight.height and event.ts_us > flight.published_us:
                flight = Flight(flight.attempt, band, event.ts_us)
                out.append(_publish(flight, event.ts_us, final=False))
            flights.append(flight)
        return HeightState(band, tuple(flights)), out or NOTHING

    def _touched(self, state: HeightState, event: Event) -> HeightState:
        """End the flight at a contact after the kick; the kick itself does not end it."""
        if all(not f.untouched or event.ts_us <= f.attempt.ts_us for f in state.flights):
            return state
        flights = (
            msgspec.structs.replace(f, untouched=f.untouched and event.ts_us <= f.attempt.ts_us) for f in state.flights
        )
        return HeightState(state.band, tuple(flights))

    def _ended(self, state: HeightState, event: Event) -> Step[HeightState]:
        flight = next((f for f in state.flights if f.attempt.source == event.source), None)
        rest = tuple(f for f in state.flights if f is not flight)
        if flight is not None and event.kind == "pass.kept":
            if flight.height < 0:
                return HeightState(state.band, rest), NOTHING
            return HeightState(state.band, rest), (
                _publish(flight, event.ts_us, final=True, cause=event.id, withdrawn=True),
            )
        if flight is None or flight.height < 0 or event.ts_us <= flight.published_us:
            return (state if flight is None else HeightState(state.band, rest)), NOTHING
        return HeightState(state.band, rest), (_publish(flight, event.ts_us, final=True, cause=event.id),)


def _publish(flight: Flight, now_us: int, *, final: bool, cause: str = "", withdrawn: bool = False) -> Event:
    """The height of a pass as known now, shown at its kick; ``withdrawn`` if it was no pass."""
    attempt = flight.attempt
    kicked = payload_of(attempt)
    confidence = kicked.confidence if final else PREDICTED_SHARE * kicked.confidence
    variant, detail = PASS_HEIGHTS[flight.height], {"final": final}
    payload = EventPayload(variant, kicked.team, kicked.player, kicked.x_m, kicked.y_m, None, confidence, detail)
    causes = (attempt.id, cause) if cause else (attempt.id,)
    dated_us = None if now_us == attempt.ts_us else attempt.ts_us
    annuls = f"pass.height#{attempt.source}" if withdrawn else ""
    return make_event("pass.height", now_us, attempt.source, payload, causes=causes, annuls=annuls, dated_us=dated_us)

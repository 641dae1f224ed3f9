"""8.3: how high a pass goes."""

from __future__ import annotations

import msgspec

from detectors.ball.bands import HEIGHTS
from detectors.emission import make_event
from detectors.qualifiers.pass_qualifier import FORESEEN, PASS_ENDS
from football.payloads import EventPayload, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

PASS_HEIGHTS = ("ground", "low", "high")


class PassHeightParameters(msgspec.Struct, frozen=True):
    """``within_us``: as of 7.6: a pass that has not ended by then is not followed any longer."""

    within_us: int = 7_000_000


class Flight(msgspec.Struct, frozen=True, gc=False):
    """A pass under way: its attempt, the greatest height so far (-1: unknown), when that was told, and whether nobody
    has touched the ball since."""

    attempt: Event
    height: int
    told_us: int
    untouched: bool = True


class HeightState(msgspec.Struct, frozen=True, gc=False):
    """The ball's band now (-1: unknown), and the newest passes."""

    band: int = -1
    flights: tuple[Flight, ...] = ()


class PassHeight:
    """8.3: ``pass.height`` x {ground, low, high}: the highest band (2.5) that the ball was in; head height is high.

    Told at the kick, again whenever the ball rises higher, and for good when the pass has ended (``detail.final``).
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
        )

    def initial(self) -> HeightState:
        """Nothing known of the ball."""
        return HeightState()

    def step(self, state: HeightState, event: Event) -> Step[HeightState]:
        """Follows the ball from kick to end."""
        payload = published(event)
        if event.kind == "ball.height":
            return self._risen(state, event, min(HEIGHTS.index(payload.variant), len(PASS_HEIGHTS) - 1))
        if event.kind == "pass.attempt":
            flight = Flight(event, state.band, event.ts_us)
            older = tuple(msgspec.structs.replace(f, untouched=False) for f in state.flights[-1:])
            out = (_told(flight, event.ts_us, final=False),) if state.band >= 0 else NOTHING
            return HeightState(state.band, (*older, flight)), out
        if event.kind in ("hit", "touch"):
            return self._touched(state, event), NOTHING
        return self._ended(state, event)

    def _risen(self, state: HeightState, event: Event, band: int) -> Step[HeightState]:
        flights: list[Flight] = []
        out: list[Event] = []
        for flight in state.flights:
            if event.ts_us - flight.attempt.ts_us > self.parameters.within_us:
                continue
            if flight.untouched and band > flight.height and event.ts_us > flight.told_us:
                flight = Flight(flight.attempt, band, event.ts_us)
                out.append(_told(flight, event.ts_us, final=False))
            flights.append(flight)
        return HeightState(band, tuple(flights)), out or NOTHING

    def _touched(self, state: HeightState, event: Event) -> HeightState:
        """A contact after the kick ends the flight; the kick itself does not."""
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
            return HeightState(state.band, rest), (_told(flight, event.ts_us, final=True, cause=event.id, gone=True),)
        if flight is None or flight.height < 0 or event.ts_us <= flight.told_us:
            return (state if flight is None else HeightState(state.band, rest)), NOTHING
        return HeightState(state.band, rest), (_told(flight, event.ts_us, final=True, cause=event.id),)


def _told(flight: Flight, now_us: int, *, final: bool, cause: str = "", gone: bool = False) -> Event:
    """The height of a pass as known now, shown at its kick; ``gone``: it was no pass, and nothing is left of it."""
    attempt = flight.attempt
    made = published(attempt)
    sure = made.confidence if final else FORESEEN * made.confidence
    payload = EventPayload(
        PASS_HEIGHTS[flight.height], made.team, made.player, made.x_m, made.y_m, None, sure, {"final": final}
    )
    causes = (attempt.id, cause) if cause else (attempt.id,)
    dated_us = None if now_us == attempt.ts_us else attempt.ts_us
    annuls = f"pass.height#{attempt.source}" if gone else ""
    return make_event("pass.height", now_us, attempt.source, payload, causes=causes, annuls=annuls, dated_us=dated_us)

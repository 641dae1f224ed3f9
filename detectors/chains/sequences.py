"""11.1, 11.2: sequences of passes, and double passes.

Theory of operation
-------------------
A completed pass continues a sequence if its passer received the pass before, of the same team, and kicks the ball at
most ``gap_us`` after that. A lost pass, a clearance, or a dead ball ends the sequence; else the next completed pass
that does not continue it. A sequence has two passes or more.

A double pass is a sequence's pass from A to B and the next one from B back to A, within ``one_two_us`` from A's kick to
his reception.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_most
from detectors.emission import is_version, make_event
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, payload_of, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

_BREAKS = ("pass.intercepted", "pass.out", "clearance", "out", "play.dead")


class SequenceParameters(msgspec.Struct, frozen=True):
    """Limits of sequences of passes.

    Attributes:
        gap_us: greatest time from a reception to the next kick.
        one_two_us: greatest time of a double pass, from the first kick to the second reception.
    """

    gap_us: Annotated[int, reason("StreamTeam: passes at most 10 s apart.")] = 10_000_000
    one_two_us: Annotated[int, reason("Hierarchy 11.2; StreamTeam has only the sequence rule.")] = 5_000_000


class SequenceState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest completed pass of the sequence, the number of its passes, the kick of the first of them."""

    last: Event | None = None
    passes: int = 0
    first_us: int = 0


class PassSequence:
    """11.1: ``sequence.step`` at the second and each further pass of a sequence, ``sequence.end`` when it is over.

    A step is dated at the reception; ``player`` and position are the passer's and the reception's, the id derives from
    the kick. ``detail``: ``passes`` (so far), ``receiver``, ``seconds`` (since the first kick). ``sequence.end`` has
    the position of the last reception and the team only. Its ``detail``: ``passes``, ``seconds`` (from the first kick
    to the last reception), ``since_us`` (event time of the end, which may be known later).
    """

    def __init__(self, parameters: SequenceParameters | None = None) -> None:
        self.parameters = parameters or SequenceParameters()
        self.spec = Spec(
            name="pass_sequence",
            number="11.1",
            level=11,
            inputs=("pass.complete", *_BREAKS),
            outputs=("sequence.end", "sequence.step"),
            parameters={"gap_us": self.parameters.gap_us},
            source="StreamTeam (pass sequences)",
            team_variants={"sequence.step": ("",), "sequence.end": ("",)},
            details={
                "sequence.step": ("passes", "receiver", "seconds"),
                "sequence.end": ("passes", "seconds", "since_us"),
            },
        )

    def initial(self) -> SequenceState:
        """No pass."""
        return SequenceState()

    def step(self, state: SequenceState, event: Event) -> Step[SequenceState]:
        """Continue a sequence by a completed pass; end it by anything else."""
        payload = payload_of(event)
        if event.kind == "out" and is_version(event):
            return state, NOTHING
        if event.kind != "pass.complete":
            since_us = payload.detail.get("since_us")
            return SequenceState(), self._ended(state, event, since_us if isinstance(since_us, int) else event.ts_us)
        kick_us, last = time_us(payload, "kick_us"), state.last
        if last is None or not follows(last, payload, self.parameters):
            over_us = event.ts_us if last is None else min(last.ts_us + self.parameters.gap_us, event.ts_us)
            return SequenceState(event, 1, kick_us), self._ended(state, event, over_us)
        after = SequenceState(event, state.passes + 1, state.first_us)
        detail: dict[str, Scalar] = {
            "passes": after.passes,
            "receiver": payload.detail["receiver"],
            "seconds": round((event.ts_us - after.first_us) / 1e6, 3),
        }
        passed = msgspec.structs.replace(payload, variant="", detail=detail)
        step = make_event("sequence.step", event.ts_us, event.source, passed, causes=(last.id, event.id))
        return after, (step,)

    def _ended(self, state: SequenceState, event: Event, since_us: int) -> tuple[Event, ...]:
        last = state.last
        if last is None or state.passes < 2:
            return NOTHING
        received = payload_of(last)
        detail: dict[str, Scalar] = {
            "passes": state.passes,
            "seconds": round((last.ts_us - state.first_us) / 1e6, 3),
            "since_us": max(since_us, last.ts_us),
        }
        payload = EventPayload("", received.team, "", received.x_m, received.y_m, None, received.confidence, detail)
        return (make_event("sequence.end", event.ts_us, last.source, payload, causes=(last.id, event.id)),)


def follows(last: Event, passed: EventPayload, p: SequenceParameters) -> bool:
    """True if a completed pass continues the one before: by its receiver, in time."""
    before = payload_of(last)
    if before.team != passed.team or before.detail["receiver"] != passed.player:
        return False
    what, held_us = "time from reception to kick", time_us(passed, "kick_us") - last.ts_us
    return at_most(what, held_us, p.gap_us, "sequence.gap_us")


class DoublePassState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest completed pass, if nothing has broken the sequence since."""

    last: Event | None = None


class DoublePass:
    """11.2: ``onetwo`` x team: A passes to B, and B back to A.

    Dated at A's reception, named by the second kick; ``player`` is A, the position that of his reception. ``detail``:
    ``mate`` (B), ``seconds`` (from A's kick to his reception).
    """

    def __init__(self, parameters: SequenceParameters | None = None) -> None:
        self.parameters = parameters or SequenceParameters()
        self.spec = Spec(
            name="double_pass",
            number="11.2",
            level=11,
            inputs=("pass.complete", *_BREAKS),
            outputs=("onetwo",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam; 000, 002, 004",
            team_variants={"onetwo": ("",)},
            details={"onetwo": ("mate", "seconds")},
        )

    def initial(self) -> DoublePassState:
        """No pass."""
        return DoublePassState()

    def step(self, state: DoublePassState, event: Event) -> Step[DoublePassState]:
        """Compare a completed pass with the one before."""
        if event.kind == "out" and is_version(event):
            return state, NOTHING
        if event.kind != "pass.complete":
            return DoublePassState(), NOTHING
        payload, last = payload_of(event), state.last
        if last is None or not follows(last, payload, self.parameters):
            return DoublePassState(event), NOTHING
        first = payload_of(last)
        what, took_us, limit_us = (
            "time from kick to return",
            event.ts_us - time_us(first, "kick_us"),
            self.parameters.one_two_us,
        )
        if payload.detail["receiver"] != first.player or not at_most(what, took_us, limit_us, "sequence.one_two_us"):
            return DoublePassState(event), NOTHING
        detail: dict[str, Scalar] = {"mate": payload.player, "seconds": round(took_us / 1e6, 3)}
        returned = msgspec.structs.replace(payload, variant="", player=first.player, detail=detail)
        onetwo = make_event("onetwo", event.ts_us, event.source, returned, causes=(last.id, event.id))
        return DoublePassState(event), (onetwo,)

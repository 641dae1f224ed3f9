"""15.4 and 15.5: what a review may be asked about, and what a referee's watch is told.

Both follow an event of lower levels at its instant, take its confidence, and are withdrawn with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from detectors.emission import make_event, shown_us, withdrawal
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, payload_of
from football.pitch import End, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: So many are remembered for withdrawals; an event is withdrawn within two minutes.
_RECENT = 24


class FollowerState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest events that were published, and the team that attacks +x, empty if unknown."""

    recent: tuple[Event, ...] = ()
    attacks: str = ""


def _withdrawn(state: FollowerState, event: Event) -> Step[FollowerState]:
    """The withdrawal of what followed an event that is withdrawn."""
    old = next((one for one in state.recent if one.source == f"{event.kind}:{event.source}"), None)
    if old is None or event.ts_us < old.ts_us:
        return state, NOTHING
    others = tuple(one for one in state.recent if one is not old)
    return msgspec.structs.replace(state, recent=others), (withdrawal(old, event.ts_us),)


class RefereeSignal:
    """15.5: ``referee`` x {goal, offside, 8 s}: what a referee's watch shows.

    ``goal`` follows the ball over the line (6.6), ``offside`` an offence (9.9), ``8 s`` a goalkeeper who holds the ball
    too long (9.11). Time, team, player, position and confidence are those of the event. ``detail``: ``of`` (its kind).
    It advises; the decision is the referee's.
    """

    _OF: Mapping[str, str] = {"goal.candidate": "goal", "offside.offence": "offside", "gk.hold_offence": "8 s"}

    def __init__(self) -> None:
        self.spec = Spec(
            name="referee_signal",
            number="15.5",
            level=15,
            inputs=tuple(self._OF),
            outputs=("referee",),
            source="FIFA goal-line technology; IFAB Laws 10 to 12",
            annuls=("referee",),
            variants={"referee": tuple(self._OF.values())},
            details={"referee": ("of",)},
        )

    def initial(self) -> FollowerState:
        """Nothing was shown."""
        return FollowerState()

    def step(self, state: FollowerState, event: Event) -> Step[FollowerState]:
        """Show an event, or take it back."""
        if event.annuls:
            return _withdrawn(state, event)
        about = payload_of(event)
        if any(one.source == f"{event.kind}:{event.source}" for one in state.recent):
            return state, NOTHING
        shown = msgspec.structs.replace(about, variant=self._OF[event.kind], detail={"of": event.kind})
        out = make_event("referee", event.ts_us, f"{event.kind}:{event.source}", shown, causes=(event.id,))
        return msgspec.structs.replace(state, recent=(*state.recent, out)[-_RECENT:]), (out,)


class ReviewableParameters(msgspec.Struct, frozen=True):
    """Clip of an incident.

    Attributes:
        before_us: time before it.
        after_us: time after it.
    """

    before_us: Annotated[int, reason("As clips.before_us.")] = 8_000_000
    after_us: Annotated[int, reason("As clips.after_us.")] = 6_000_000


class Reviewable:
    """15.4: ``review`` x {goal, offside, penalty}: an incident that the VAR protocol lets officials look at.

    ``goal``: any goal; ``offside``: an offence (9.9); ``penalty``: a penalty kick, and on radio with hands a candidate
    of a foul (9.10) in the own penalty area. Time, team, player, position and confidence are those of the event. The
    review of that event makes the package: frozen positions, uncertainty, margin, a sheet. ``detail``: ``of`` (id of
    the event), ``in_us`` and ``out_us`` (the clip). Handball and mistaken identity need what positions do not show.
    """

    _OF: Mapping[str, str] = {
        "goal.scored": "goal", "goal.own": "goal", "offside.offence": "offside", "restart.penalty": "penalty",
        "foul.candidate": "penalty",
    }  # fmt: skip

    def __init__(
        self, sheet: MatchSheet, parameters: ReviewableParameters | None = None, *, falls: bool = False
    ) -> None:
        self.parameters = parameters or ReviewableParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="reviewable",
            number="15.4",
            level=15,
            inputs=("direction", *(kind for kind in self._OF if kind != "foul.candidate" or falls)),
            outputs=("review",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB VAR protocol",
            amends=("review",),
            annuls=("review",),
            variants={"review": ("goal", "offside", "penalty")},
            details={"review": ("of", "in_us", "out_us")},
            known={"review": Known("with its event")},
        )

    def initial(self) -> FollowerState:
        """No incident."""
        return FollowerState()

    def step(self, state: FollowerState, event: Event) -> Step[FollowerState]:
        """Follow an incident, or withdraw what followed it."""
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload_of(event).team), NOTHING
        if event.annuls:
            return _withdrawn(state, event)
        about, variant, p = payload_of(event), self._OF[event.kind], self.parameters
        anchor = f"{event.kind}:{event.source}"
        known = any(one.source == anchor for one in state.recent)
        if known or (event.kind == "foul.candidate" and not self._inside(state, about)):
            return state, NOTHING
        at_us = shown_us(event)
        detail: dict[str, Scalar] = {"of": event.id, "in_us": at_us - p.before_us, "out_us": at_us + p.after_us}
        payload = msgspec.structs.replace(about, variant=variant, detail=detail)
        out = make_event("review", event.ts_us, anchor, payload, causes=(event.id,), dated_us=event.dated_us)
        return msgspec.structs.replace(state, recent=(*state.recent, out)[-_RECENT:]), (out,)

    def _inside(self, state: FollowerState, about: EventPayload) -> bool:
        """True if the foul is in the penalty area of the team that commits it."""
        if not state.attacks or about.x_m is None or about.y_m is None:
            return False
        own: End = "left" if about.team == state.attacks else "right"
        return self.pitch.in_penalty_area(about.x_m, about.y_m, own)

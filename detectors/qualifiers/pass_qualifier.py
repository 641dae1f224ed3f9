"""Base of the qualifiers of passes: predicted at the kick, amended when the pass has ended.

Theory of operation
-------------------
A qualifier belongs to its pass: it is named by the kick, shown at the kick's event time, and counts for the passer. Its
prediction at the kick is published at once (``detail.final`` false, half the confidence). The end of the pass decides:
it amends the prediction, or withdraws it if it was wrong or if the kicker has dribbled.

Positions are relative to the attacking direction of the passer's team: ``u`` towards the goal that it attacks, ``w`` to
its left. So changed ends make no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, number, payload_of, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Kinds of the end of a pass, and the inputs of all qualifiers.
PASS_ENDS = ("pass.complete", "pass.intercepted", "pass.out")
PASS_INPUTS = ("direction", "pass.attempt", *PASS_ENDS, "pass.kept")

#: Confidence of a prediction, as a share of the attempt's.
PREDICTED_SHARE = 0.5


class PassPath(NamedTuple):
    """Start and end of a pass in metres, relative to the attacking direction: along (``u``), and to the left
    (``w``)."""

    from_u_m: float
    from_w_m: float
    to_u_m: float
    to_w_m: float


class Qualification(NamedTuple):
    """Kind, variant and detail that a qualifier publishes of a pass."""

    kind: str
    variant: str = ""
    detail: Mapping[str, Scalar] = {}


class Prediction(msgspec.Struct, frozen=True, gc=False):
    """A published prediction: anchor and time of the kick, kind and variant."""

    anchor: str
    kick_us: int
    kind: str
    variant: str


class PassState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x, and the predictions for the newest two kicks.

    There are two because a pass that is played on at once begins as the one before ends.
    """

    attacks: Team = ""
    predictions: tuple[Prediction, ...] = ()


class PassQualifier:
    """Publishes a qualification of each pass: :meth:`at_kick` as a prediction, and :meth:`at_end`.

    ``detail.final`` is true once the pass has ended.
    """

    spec: Spec

    def initial(self) -> PassState:
        """No pass; the attacking direction is unknown."""
        return PassState()

    def step(self, state: PassState, event: Event) -> Step[PassState]:
        """Follow the attacking direction, an attempt, or its end."""
        payload = payload_of(event)
        if event.kind == "direction":
            return PassState(payload.team, state.predictions), NOTHING
        if not state.attacks:
            return state, NOTHING
        if event.kind == "pass.attempt":
            return self._kicked(state, event, payload)
        if event.kind == "pass.kept":
            return self._dribbled(state, event, payload)
        return self._ended(state, event, payload)

    def at_kick(
        self, start: tuple[float, float] | None, sent: tuple[float, float, float], path: PassPath | None
    ) -> Qualification | None:
        """The prediction at the kick; none by default.

        Args:
            start: place of the kick, along and to the left, metres; None if it is not known.
            sent: velocity of the ball as it left, along, to the left and up, m/s.
            path: to where the first mate reaches the ball, None if none does.
        """
        return None

    def at_end(self, kind: str, ended: EventPayload, path: PassPath) -> Qualification | None:
        """The final qualification, from the end of the pass."""
        raise NotImplementedError

    def once_ended(
        self, kind: str, ended: EventPayload, path: PassPath, predicted: Prediction | None
    ) -> Qualification | None:
        """The final qualification, where the prediction at the kick matters, too; :meth:`at_end` by default."""
        return self.at_end(kind, ended, path)

    def _kicked(self, state: PassState, event: Event, attempt: EventPayload) -> Step[PassState]:
        sent = upfield(state.attacks, attempt.team, number(attempt, "vx_m_s"), number(attempt, "vy_m_s"))
        start = None
        if attempt.x_m is not None and attempt.y_m is not None:
            start = upfield(state.attacks, attempt.team, attempt.x_m, attempt.y_m)
        path = predicted_path(state.attacks, attempt)
        qualification = self.at_kick(start, (*sent, number(attempt, "vz_m_s")), path)
        if qualification is None:
            return state, NOTHING
        prediction = Prediction(event.source, event.ts_us, qualification.kind, qualification.variant)
        shown = msgspec.structs.replace(
            attempt,
            variant=qualification.variant,
            confidence=PREDICTED_SHARE * attempt.confidence,
            detail={**qualification.detail, "final": False},
        )
        out = make_event(qualification.kind, event.ts_us, event.source, shown, causes=(event.id,))
        return PassState(state.attacks, (*state.predictions[-1:], prediction)), (out,)

    def _dribbled(self, state: PassState, event: Event, payload: EventPayload) -> Step[PassState]:
        """Withdraw the prediction of a kick that was a dribble."""
        before = next((s for s in state.predictions if s.anchor == event.source), None)
        if before is None:
            return state, NOTHING
        after = PassState(state.attacks, tuple(s for s in state.predictions if s is not before))
        return after, (_withdrawn(before, event, payload),)

    def _ended(self, state: PassState, event: Event, ended: EventPayload) -> Step[PassState]:
        path, kick_us = passed_path(state.attacks, ended), kick_of(ended)
        before = next((s for s in state.predictions if s.anchor == event.source), None)
        qualification = self.once_ended(event.kind, ended, path, before) if path is not None else None
        if event.ts_us <= kick_us:
            return state, NOTHING
        out: list[Event] = []
        if before is not None and (qualification is None or qualification.kind != before.kind):
            out.append(_withdrawn(before, event, ended))
        if qualification is not None:
            detail = {**qualification.detail, "final": True}
            start, variant = _start(ended), qualification.variant
            shown = EventPayload(variant, ended.team, ended.player, *start, None, ended.confidence, detail)
            out.append(_at(qualification.kind, event, shown, kick_us))
        remaining = tuple(s for s in state.predictions if s.anchor != event.source)
        return (PassState(state.attacks, remaining) if remaining != state.predictions else state), out or NOTHING


def _withdrawn(prediction: Prediction, event: Event, payload: EventPayload) -> Event:
    name = f"{prediction.kind}#{prediction.anchor}"
    withdrawn = EventPayload(prediction.variant, payload.team, payload.player)
    return _at(prediction.kind, event, withdrawn, prediction.kick_us, annuls=name)


def upfield(attacks: Team, team: Team, x_m: float, y_m: float) -> tuple[float, float]:
    """A position or velocity relative to a team's attacking direction: along, and to the left."""
    return (x_m, y_m) if team == attacks else (-x_m, -y_m)


def predicted_path(attacks: Team, attempt: EventPayload) -> PassPath | None:
    """Path of an attempt to where the first mate reaches the ball."""
    end_x_m, end_y_m = attempt.detail.get("end_x_m"), attempt.detail.get("end_y_m")
    if attempt.x_m is None or attempt.y_m is None or not isinstance(end_x_m, float) or not isinstance(end_y_m, float):
        return None
    return PassPath(
        *upfield(attacks, attempt.team, attempt.x_m, attempt.y_m), *upfield(attacks, attempt.team, end_x_m, end_y_m)
    )


def passed_path(attacks: Team, ended: EventPayload) -> PassPath | None:
    """Path of a pass from the kick to its end; None if a position is unknown."""
    x_m, y_m = _start(ended)
    if x_m is None or y_m is None or ended.x_m is None or ended.y_m is None:
        return None
    return PassPath(*upfield(attacks, ended.team, x_m, y_m), *upfield(attacks, ended.team, ended.x_m, ended.y_m))


def kick_of(ended: EventPayload) -> int:
    """The time of the kick of a pass that has ended."""
    return time_us(ended, "kick_us")


def _start(ended: EventPayload) -> tuple[float | None, float | None]:
    x_m, y_m = ended.detail["start_x_m"], ended.detail["start_y_m"]
    return (x_m, y_m) if isinstance(x_m, float) and isinstance(y_m, float) else (None, None)


def _at(kind: str, event: Event, payload: EventPayload, kick_us: int, annuls: str = "") -> Event:
    """A qualification that is known at ``event`` and shown at the kick."""
    return make_event(kind, event.ts_us, event.source, payload, causes=(event.id,), annuls=annuls, dated_us=kick_us)

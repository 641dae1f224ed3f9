"""What qualifiers of passes share: told at the kick as far as it can be foreseen, amended when the pass has ended.

Theory of operation
-------------------
A qualifier belongs to its pass: it is named by the kick, shown under the kick's time, and counts for the passer. What
can be foreseen at the kick is said at once (``detail.final`` false, half the confidence); the end of the pass gives
the last word, which amends the first, or takes it back if it was wrong, or if the kicker kept the ball.

Places are turned the way the passer's team attacks: ``u`` towards the goal that it attacks, ``w`` to its left, so
that changed ends make no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, number, published, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: How a pass may end, and what all of its qualifiers hear.
PASS_ENDS = ("pass.complete", "pass.intercepted", "pass.out")
PASS_INPUTS = ("direction", "pass.attempt", *PASS_ENDS, "pass.kept")

#: Confidence of what is foreseen, as a share of the attempt's.
FORESEEN = 0.5


class Way(NamedTuple):
    """From where to where a pass goes, metres, as the passer's team sees it: along (``u``), and to its left."""

    from_u_m: float
    from_w_m: float
    to_u_m: float
    to_w_m: float


class Word(NamedTuple):
    """What is said of a pass: a kind, its variant, and details."""

    kind: str
    variant: str = ""
    detail: Mapping[str, Scalar] = {}


class Said(msgspec.Struct, frozen=True, gc=False):
    """The word that stands of a kick: its anchor, when it was kicked, kind and variant."""

    anchor: str
    kick_us: int
    kind: str
    variant: str


class PassState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x, and what was said of the newest kicks: a pass played on at once begins as the one before ends."""

    attacks: Team = ""
    said: tuple[Said, ...] = ()


class PassQualifier:
    """Says a word of each pass: :meth:`foreseen` at the kick and :meth:`seen` at the end."""

    spec: Spec

    def initial(self) -> PassState:
        """No pass, and nobody knows the sides."""
        return PassState()

    def step(self, state: PassState, event: Event) -> Step[PassState]:
        """Takes the sides, an attempt, or how it ended."""
        payload = published(event)
        if event.kind == "direction":
            return PassState(payload.team, state.said), NOTHING
        if not state.attacks:
            return state, NOTHING
        if event.kind == "pass.attempt":
            return self._kicked(state, event, payload)
        if event.kind == "pass.kept":
            return self._kept(state, event, payload)
        return self._ended(state, event, payload)

    def foreseen(self, sent: tuple[float, float], way: Way | None) -> Word | None:
        """The word at the kick; nothing unless a detector knows better.

        Args:
            sent: velocity of the ball as it left, along and to the left, m/s.
            way: to where the first mate reaches the ball, None if none does.
        """
        return None

    def seen(self, kind: str, ended: EventPayload, way: Way) -> Word | None:
        """The last word, by how the pass ended."""
        raise NotImplementedError

    def _kicked(self, state: PassState, event: Event, made: EventPayload) -> Step[PassState]:
        sent = upfield(state.attacks, made.team, number(made, "vx_m_s"), number(made, "vy_m_s"))
        word = self.foreseen(sent, foreseen_way(state.attacks, made))
        if word is None:
            return state, NOTHING
        said = Said(event.source, event.ts_us, word.kind, word.variant)
        told = msgspec.structs.replace(
            made, variant=word.variant, confidence=FORESEEN * made.confidence, detail={**word.detail, "final": False}
        )
        out = make_event(word.kind, event.ts_us, event.source, told, causes=(event.id,))
        return PassState(state.attacks, (*state.said[-1:], said)), (out,)

    def _kept(self, state: PassState, event: Event, payload: EventPayload) -> Step[PassState]:
        """It was a dribble."""
        before = next((s for s in state.said if s.anchor == event.source), None)
        if before is None:
            return state, NOTHING
        after = PassState(state.attacks, tuple(s for s in state.said if s is not before))
        return after, (_taken_back(before, event, payload),)

    def _ended(self, state: PassState, event: Event, ended: EventPayload) -> Step[PassState]:
        way, kick_us = passed_way(state.attacks, ended), kick_of(ended)
        word = self.seen(event.kind, ended, way) if way is not None else None
        before = next((s for s in state.said if s.anchor == event.source), None)
        if event.ts_us <= kick_us:
            return state, NOTHING
        out: list[Event] = []
        if before is not None and (word is None or word.kind != before.kind):
            out.append(_taken_back(before, event, ended))
        if word is not None:
            detail = {**word.detail, "final": True}
            told = EventPayload(word.variant, ended.team, ended.player, *_start(ended), None, ended.confidence, detail)
            out.append(_at(word.kind, event, told, kick_us))
        said = tuple(s for s in state.said if s.anchor != event.source)
        return (PassState(state.attacks, said) if said != state.said else state), out or NOTHING


def _taken_back(said: Said, event: Event, payload: EventPayload) -> Event:
    wrong, gone = f"{said.kind}#{said.anchor}", EventPayload(said.variant, payload.team, payload.player)
    return _at(said.kind, event, gone, said.kick_us, annuls=wrong)


def upfield(attacks: Team, team: Team, x_m: float, y_m: float) -> tuple[float, float]:
    """A place as a team sees it: towards the goal it attacks, and to its left."""
    return (x_m, y_m) if team == attacks else (-x_m, -y_m)


def foreseen_way(attacks: Team, made: EventPayload) -> Way | None:
    """Way of an attempt to where the first mate reaches the ball."""
    end_x_m, end_y_m = made.detail.get("end_x_m"), made.detail.get("end_y_m")
    if made.x_m is None or made.y_m is None or not isinstance(end_x_m, float) or not isinstance(end_y_m, float):
        return None
    return Way(*upfield(attacks, made.team, made.x_m, made.y_m), *upfield(attacks, made.team, end_x_m, end_y_m))


def passed_way(attacks: Team, ended: EventPayload) -> Way | None:
    """Way of a pass from the kick to where it ended; None if a place is not known."""
    x_m, y_m = _start(ended)
    if None in (x_m, y_m, ended.x_m, ended.y_m):
        return None
    assert x_m is not None
    assert y_m is not None
    assert ended.x_m is not None
    assert ended.y_m is not None
    return Way(*upfield(attacks, ended.team, x_m, y_m), *upfield(attacks, ended.team, ended.x_m, ended.y_m))


def kick_of(ended: EventPayload) -> int:
    """When a pass that has ended was kicked."""
    kick_us = time_us(ended, "kick_us")
    return kick_us


def _start(ended: EventPayload) -> tuple[float | None, float | None]:
    x_m, y_m = ended.detail["start_x_m"], ended.detail["start_y_m"]
    return (x_m, y_m) if isinstance(x_m, float) and isinstance(y_m, float) else (None, None)


def _at(kind: str, event: Event, payload: EventPayload, kick_us: int, annuls: str = "") -> Event:
    """A word that became known at ``event`` and is shown at the kick."""
    return make_event(kind, event.ts_us, event.source, payload, causes=(event.id,), annuls=annuls, dated_us=kick_us)

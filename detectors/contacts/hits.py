"""Level 5: contacts of players with the ball.

Theory of operation
-------------------
A *hit* (5.1) is a contact that changes the ball's velocity so much that level 2 reports a peak of its acceleration: a
kick, a header, a block. A *soft touch* (5.2) only turns the ball or changes its speed a little. The papers write a hit
as the pattern A!BC (000 Fig 3; 002 5.1): a player is near (A), then the peak comes (C), and the player has not left in
between (no B).

A peak waits until the next frame, because the players near the ball at its instant are known only then. Then it is
given to one of these *candidates* (``ball.closest`` of 4.1), by distance and by the direction of the push
(:mod:`detectors.contacts.contact_attribution`). Without a candidate there is no hit. Two peaks within a few
milliseconds are judged together. A soft touch waits in the same way; if a hit follows within ``yield_us``, both were
one contact, and only the hit is published.

Both share each contact, with its candidates, with the other detectors of this level (:class:`Contact`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple, cast

import msgspec

from detectors.ball.changes import CHANGE, is_fitted
from detectors.contacts.contact_attribution import (
    Chances,
    PreviousContact,
    attribution,
    candidates_at,
    other_candidate,
    player_of,
    with_spread,
)
from detectors.contacts.contact_parameters import ContactParameters, ContactRule, contact_rule
from detectors.decisions import is_recording, note
from detectors.emission import make_event
from detectors.proximity.near import Candidate, Closest, NearParameters
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import (
    EventPayload,
    Frame,
    Scalar,
    frame_of,
    number,
    payload_as,
    payload_of,
)
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

NOBODY = Closest()

#: Kinds of the contacts that 5.1 and 5.2 share; the payload is a :class:`Contact`.
CONTACTS = ("hit.contact", "touch.contact")


class Contact(msgspec.Struct, frozen=True, gc=False):
    """A ``hit`` or ``touch`` event, and its candidates, nearest first."""

    event: Event
    candidates: tuple[Candidate, ...]


class Attributed(NamedTuple):
    """A contact's cause, what is known of it, who made it (None if nobody did), and its candidates."""

    cause: Event
    payload: EventPayload
    by: Candidate | None
    near: tuple[Candidate, ...]


class ContactState(msgspec.Struct, frozen=True, gc=False):
    """State of hits or touches.

    Attributes:
        closest: the candidates now.
        waiting: the contact that waits for the next frame; ``chosen`` are its candidates.
        last: the last contact; of soft touches also the last hit, which may be the same contact.
        first: the contact just before the waiting one, which waits with it; ``first_chosen`` are its candidates.
    """

    closest: Closest = NOBODY
    waiting: Event | None = None
    chosen: Closest = NOBODY
    last: PreviousContact = PreviousContact()
    first: Event | None = None
    first_chosen: Closest = NOBODY


class HitParameters(ContactParameters, frozen=True):
    """Hits.

    Attributes:
        share_min: least change of velocity as a share of the ball's speed. It is not used where level 2 fits curves to
            the ball's path, whose peaks are above the noise already.
    """

    share_min: Annotated[
        float,
        reason(
            "ours: 0.15 is a deflection by 9 degrees; a ball that flies past a body shakes by tracking noise, TRACAB "
            "balls at 20 m/s by 2 to 3 m/s"
        ),
    ] = 0.15


class PlayerHitsBall:
    """5.1: ``hit``: a player's contact changes the ball's velocity hard, as a kick, a header or a block does.

    It is dated and located at the ball's state where the velocity changed; ``player`` is the candidate that fits best.
    ``detail`` is that of 2.1, and ``strength`` (variant of the peak), ``distance_m`` (of the ball from him or
    his limb), ``limb`` (where it is known).
    """

    def __init__(
        self, sheet: MatchSheet, parameters: HitParameters | None = None, near: NearParameters | None = None
    ) -> None:
        self.parameters = parameters or HitParameters()
        self._rule = _hit_rule(sheet, self.parameters, near or NearParameters())
        self.spec = Spec(
            name="player_hits_ball",
            number="5.1",
            level=5,
            inputs=("frame", "ball.accel_peak", "direction", "ball.closest"),
            outputs=("hit", "hit.contact"),
            internal=("hit.contact",),
            horizon_us=self._rule.horizon_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="000 Fig 3; 002 5.1; DEBS 2013 Q2",
            team_variants={"hit": ("",)},
            details={"hit": (*CHANGE, "strength", "distance_m", "limb")},
        )

    def initial(self) -> ContactState:
        """No candidate, no contact."""
        return ContactState()

    def step(self, state: ContactState, event: Event) -> Step[ContactState]:
        """A (near), not B (not_near), C (peak); the next frame closes the instant."""
        if event.kind == "frame":
            return _close_contact(state, event, self._rule)
        if event.kind == "ball.accel_peak":
            if not _is_hit(event, self._rule.share_min):
                return state, NOTHING
            return _await_contact(state, event, self._rule)
        return _follow_candidates(state, event), NOTHING


class TouchParameters(ContactParameters, frozen=True):
    """Soft touches.

    Attributes:
        yield_us: a hit so close in time is the same contact.
    """

    yield_us: Annotated[int, reason("ours: two periods of 25 Hz")] = 90_000


class SoftTouch:
    """5.2: ``touch``: a player near the ball turns it or changes its speed, without the peak of a hit.

    ``detail`` is that of 2.1, and ``strength`` (variant of the break), ``distance_m`` (of the ball from him or
    his limb), ``limb`` (where it is known).
    """

    def __init__(
        self, sheet: MatchSheet, parameters: TouchParameters | None = None, near: NearParameters | None = None
    ) -> None:
        self.parameters = parameters or TouchParameters()
        self._rule = contact_rule("touch", sheet, self.parameters, near or NearParameters(), self.parameters.yield_us)
        self.spec = Spec(
            name="soft_touch",
            number="5.2",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.turn", "ball.speed_step", "direction", "ball.closest"),
            outputs=("touch", "touch.contact"),
            internal=("touch.contact",),
            horizon_us=self._rule.horizon_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (ball hit); databallpy (gain rule)",
            team_variants={"touch": ("",)},
            details={"touch": (*CHANGE, "strength", "distance_m", "limb")},
        )

    def initial(self) -> ContactState:
        """No candidate, no contact."""
        return ContactState()

    def step(self, state: ContactState, event: Event) -> Step[ContactState]:
        """A turn or step waits; a hit replaces it; the first frame after ``yield_us`` decides."""
        if event.kind == "frame":
            yield_us = self.parameters.yield_us
            if state.waiting is not None and event.ts_us - state.waiting.ts_us <= yield_us:
                return state, NOTHING
            if is_recording() and state.waiting is not None and state.last.at_us > 0:
                apart_us = state.waiting.ts_us - state.last.at_us
                note("time since the contact before", apart_us, "at least", yield_us, "touch.yield_us", "touch")
            return _close_contact(state, event, self._rule)
        if event.kind == "ball.accel_peak":
            payload = payload_of(event)
            if payload.variant == "touch":
                return state, NOTHING
            hit = PreviousContact(event.ts_us, attacks=state.last.attacks, spread_m=state.last.spread_m)
            return ContactState(state.closest, None, NOBODY, hit), NOTHING
        if event.kind in ("ball.turn", "ball.speed_step"):
            if state.waiting is not None or event.ts_us - state.last.at_us <= self.parameters.yield_us:
                return state, NOTHING
            return ContactState(state.closest, event, state.closest, state.last), NOTHING
        return _follow_candidates(state, event), NOTHING


def contact_of(event: Event) -> Contact:
    """The payload of one of :data:`CONTACTS`."""
    return cast(Contact, event.payload)


def _is_hit(peak: Event, share_min: float) -> bool:
    """True if an acceleration peak is a hit's: high enough, no bounce, and not the shaking of a fast ball."""
    payload = payload_of(peak)
    speed_m_s = max(number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s"))
    if payload.variant == "touch" or payload.detail["bounce"]:
        return False
    return number(payload, "delta_v_m_s") >= share_min * speed_m_s


def _hit_rule(sheet: MatchSheet, p: HitParameters, near: NearParameters) -> ContactRule:
    """The rule of hits on an input."""
    share_min = 0.0 if is_fitted(sheet.quality) else p.share_min
    return contact_rule("hit", sheet, p, near, share_min=share_min)


def _follow_candidates(state: ContactState, event: Event) -> ContactState:
    """Store the candidates at the ball, also for the waiting contact if it is of this instant; or who attacks +x."""
    if event.kind == "direction":
        last = msgspec.structs.replace(state.last, attacks=payload_of(event).team)
        return msgspec.structs.replace(state, last=last)
    closest, waiting = payload_as(event, Closest), state.waiting
    same = waiting is not None and event.ts_us <= waiting.ts_us
    chosen = closest if same else state.chosen
    return ContactState(closest, waiting, chosen, state.last, state.first, state.first_chosen)


def _await_contact(state: ContactState, event: Event, rule: ContactRule) -> Step[ContactState]:
    """A second contact waits together with one just before it; else it closes the one that waits."""
    held, at = state.waiting, state.closest
    if held is not None and state.first is None and 0 < event.ts_us - held.ts_us <= rule.pair_us:
        return ContactState(at, event, at, state.last, held, state.chosen), NOTHING
    closed, out = _settle(state, event.ts_us, rule)
    return ContactState(at, event, at, closed.last), out


def _close_contact(state: ContactState, event: Event, rule: ContactRule) -> Step[ContactState]:
    """Attribute the waiting contact, once no contact that is judged with it can follow."""
    if state.waiting is None or event.ts_us <= state.waiting.ts_us + rule.pair_us:
        return state, NOTHING
    return _settle(state, event.ts_us, rule, frame_of(event))


def _settle(state: ContactState, now_us: int, rule: ContactRule, frame: Frame | None = None) -> Step[ContactState]:
    """Attribute the waiting contacts, once their instant is past; ``frame`` is the one that follows them."""
    contact, last, first = state.waiting, state.last, state.first
    if contact is None or now_us <= contact.ts_us:
        return state, NOTHING
    payload = payload_of(contact)
    late = now_us - contact.ts_us > rule.horizon_us
    if first is None or late:
        near = candidates_at(state.chosen, contact.ts_us, payload)
        by, chances = (None, ()) if late else attribution(near, contact.ts_us, payload, last, rule, frame)
        if not rule.limbs and not late:
            last = with_spread(last, near, rule.p)
        return _emit_contacts(state.closest, last, [Attributed(contact, payload, by, near)], rule, chances)
    apart_us, what = contact.ts_us - first.ts_us, "time between contacts that are judged together"
    note(what, apart_us, "at most", rule.pair_us, "", rule.kind, "µs")
    return _emit_contacts(state.closest, last, _both(state, first, contact, rule), rule)


def _both(state: ContactState, first: Event, second: Event, rule: ContactRule) -> tuple[Attributed, Attributed]:
    """Attribute two contacts at once.

    First it tries to give the contacts to two different players. If that does not fit, each contact is judged by
    itself, in order.
    """
    payload, last, p = payload_of(second), state.last, rule.p
    onward = _met_again(payload_of(first), payload)
    near = candidates_at(state.chosen, second.ts_us, payload)
    near_first = candidates_at(state.first_chosen, first.ts_us, onward)
    one = player_of(near_first, first.ts_us, onward, last, rule)
    two = None if one is None else player_of(near, second.ts_us, payload, _last(first.ts_us, onward, one, last), rule)
    if one is not None and two is None:
        was = other_candidate(near_first, first.ts_us, onward, last, one.object_id, p)
        now = other_candidate(near, second.ts_us, payload, _last(first.ts_us, onward, one, last), one.object_id, p)
        if was is not None and (now is None or was[0] <= now[0]):
            same = tuple(r for r in near if r.object_id == one.object_id)
            one, two = was[1], player_of(same, second.ts_us, payload, _last(first.ts_us, onward, was[1], last), rule)
        elif now is not None:
            two = now[1]
    if one is None or two is None or one.object_id == two.object_id:
        onward = payload_of(first)
        one = player_of(near_first, first.ts_us, onward, last, rule)
        then = last if one is None else _last(first.ts_us, onward, one, last)
        two = player_of(near, second.ts_us, payload, then, rule)
    return Attributed(first, onward, one, near_first), Attributed(second, payload, two, near)


def _emit_contacts(
    closest: Closest,
    last: PreviousContact,
    attributed: Sequence[Attributed],
    rule: ContactRule,
    chances: Chances = (),
) -> Step[ContactState]:
    """The state and the events of attributed contacts; ``chances`` are those of a contact that was judged alone."""
    out: list[Event] = []
    for cause, payload, by, near in attributed:
        if by is not None:
            last = _last(cause.ts_us, payload, by, last, chances)
            made = _contact(rule.kind, cause, payload, by)
            out += made, Event(f"{rule.kind}.contact", made.ts_us, made.source, payload=Contact(made, near))
            if rule.share_min and is_recording():
                speed_m_s = max(number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s"))
                share = number(payload, "delta_v_m_s") / speed_m_s if speed_m_s else 1.0
                what, about = "share of the ball's speed that changed", (rule.kind, by.object_id)
                note(what, share, "at least", rule.share_min, "hit.share_min", about)
    return ContactState(closest, None, NOBODY, last), tuple(out)


def _last(
    at_us: int, payload: EventPayload, by: Candidate, before: PreviousContact, chances: Chances = ()
) -> PreviousContact:
    chances = chances or ((by.object_id, 1.0),)
    m_s, attacks, spread_m = number(payload, "delta_v_m_s"), before.attacks, before.spread_m
    return PreviousContact(at_us, by.object_id, by.team, m_s, attacks, chances, spread_m)


def _met_again(first: EventPayload, second: EventPayload) -> EventPayload:
    """The payload of the first of two contacts at once, with the velocity between them as the second measured it."""
    names = [(f"{axis}_m_s", f"delta_{axis}_m_s") for axis in ("vx", "vy", "vz")]
    between = [number(second, velocity) - number(second, change) for velocity, change in names]
    before = [number(first, velocity) - number(first, change) for velocity, change in names]
    detail = dict(first.detail)
    for (velocity, change), now, then in zip(names, between, before, strict=True):
        detail[velocity], detail[change] = round(now, 2), round(now - then, 2)
    detail["speed_after_m_s"] = second.detail["speed_before_m_s"]
    detail["delta_v_m_s"] = round(math.dist(between, before), 2)
    return msgspec.structs.replace(first, detail=detail)


def _contact(kind: str, cause: Event, payload: EventPayload, by: Candidate) -> Event:
    detail: dict[str, Scalar] = {
        **payload.detail,
        "strength": payload.variant,
        "distance_m": round(by.distance_m, 2),
    }
    if by.limb:
        detail["limb"] = by.limb
    contact = EventPayload("", by.team, by.object_id, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail)
    return make_event(kind, cause.ts_us, cause.source, contact, causes=(cause.id,))

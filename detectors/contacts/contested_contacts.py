"""5.7 and 5.9: contacts that nobody may have meant, and contacts of two opponents at once.

Theory of operation
-------------------
A *deflection* leaves the ball nearly as it was: it was fast, turns by less than 60 degrees, and keeps at least half of
its speed without gaining much. A ball at head height is headed on, not deflected. A runner's own push looks like one,
but comes after a contact of his own; so does the first touch of who takes a pass along: what was meant cannot be seen.

A *contest* is a contact that two opponents share (50-50): each makes one within ``within_us``; or at one's contact a
limb of the other's touches the ball as well, because two contacts so close in time are one corner of the ball's way
where states are farther apart than that. On centroids, where a body says little about its feet, an opponent must be
about as near as who played the ball.
"""

from __future__ import annotations

import math

import msgspec

from detectors.contacts.finder import Contact, ContactFinder, Finding
from detectors.contacts.hits import HitParameters, TouchParameters
from detectors.emission import make_event
from detectors.proximity.near import NearParameters
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, number, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class DeflectionParameters(msgspec.Struct, frozen=True):
    """Of hierarchy 5.7: ``turn_rad``; ``least_factor``, ``most_factor`` of the speed it came with (its contact of less
    than 50 ms is a single corner of 2.1). Ours:
    ``speed_m_s``: slower balls are taken, not deflected (2.7's class pass begins there; generated matches, seeds 11 to
    19: with 5 instead of 8 there are 25 of 33 instead of 20, 11 invented instead of 3, and 22 wrong ends of passes
    instead of 29); ``head_m``: higher ones are headed (5.3); ``own_us``: after a contact of his own so long before, it
    is the player's own ball."""

    turn_rad: float = math.pi / 3
    least_factor: float = 0.5
    most_factor: float = 1.1
    speed_m_s: float = 5.0
    head_m: float = 1.5
    own_us: int = 2_000_000


class LastContact(msgspec.Struct, frozen=True, gc=False):
    """State of both: contacts as found, and the newest one."""

    finding: Finding = Finding()
    last: Event | None = None


class Deflection:
    """5.7: ``deflection``: a fast ball goes on off somebody, a little turned and hardly slower.

    ``detail``: ``turn_rad`` over the ground, ``speed_before_m_s``, ``speed_after_m_s``.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: DeflectionParameters | None = None,
        hit: HitParameters | None = None,
        touch: TouchParameters | None = None,
        near: NearParameters | None = None,
    ) -> None:
        self.parameters = parameters or DeflectionParameters()
        self._has_height = sheet.quality.ball_height
        self._finder = ContactFinder(sheet, hit, touch, near)
        self.spec = Spec(
            name="deflection",
            number="5.7",
            level=5,
            inputs=self._finder.inputs,
            outputs=("deflection",),
            horizon_us=self._finder.horizon_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"deflection": ("",)},
        )

    def initial(self) -> LastContact:
        """No contact."""
        return LastContact()

    def step(self, state: LastContact, event: Event) -> Step[LastContact]:
        """Follows contacts; judges each by the ball's ways before and after."""
        finding, found = self._finder.step(state.finding, event)
        if finding is state.finding:
            return state, NOTHING
        last, out = state.last, []
        for contact in found:
            out += self._judge(contact.event, last)
            last = contact.event
        return LastContact(finding, last), out or NOTHING

    def _judge(self, made: Event, last: Event | None) -> list[Event]:
        payload, p = published(made), self.parameters
        before_m_s, after_m_s = number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")
        headed = self._has_height and payload.z_m is not None and payload.z_m >= p.head_m
        if headed or before_m_s < p.speed_m_s or not p.least_factor <= after_m_s / before_m_s <= p.most_factor:
            return []
        turn_rad = turned_rad(payload)
        if turn_rad >= p.turn_rad or (last is not None and _own(made, last, p.own_us)):
            return []
        detail: dict[str, Scalar] = {
            "turn_rad": round(turn_rad, 2),
            "speed_before_m_s": payload.detail["speed_before_m_s"],
            "speed_after_m_s": payload.detail["speed_after_m_s"],
        }
        told = EventPayload(
            "", payload.team, payload.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        return [make_event("deflection", made.ts_us, made.source, told, causes=made.causes)]


def turned_rad(payload: EventPayload) -> float:
    """By how much a contact turned the ball's way over the ground, radians."""
    vx, vy = number(payload, "vx_m_s"), number(payload, "vy_m_s")
    into = math.atan2(vy - number(payload, "delta_vy_m_s"), vx - number(payload, "delta_vx_m_s"))
    return abs(math.remainder(math.atan2(vy, vx) - into, math.tau))


def _own(made: Event, last: Event, own_us: int) -> bool:
    """Whether the contact before was the same player's, not long ago."""
    payload, before = published(made), published(last)
    return payload.player == before.player and made.ts_us - last.ts_us <= own_us


class ContestParameters(msgspec.Struct, frozen=True):
    """``within_us``: hierarchy 5.9. Ours: ``limb_m``: a limb so near touches the ball (its radius and half a foot);
    ``farther_m``: on centroids, how much farther than who played it the opponent may be."""

    within_us: int = 100_000
    limb_m: float = 0.2
    farther_m: float = 0.2


class SimultaneousContact:
    """5.9: ``contest.contact``: two opponents play the ball at once.

    ``player`` is who had the first contact, ``detail.other`` his opponent; ``detail.contacts`` says whether both
    contacts were seen (2), ``apart_us``, or the second follows from how near he was (1, with less confidence),
    ``distance_m`` (his), ``own_m``.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: ContestParameters | None = None,
        hit: HitParameters | None = None,
        touch: TouchParameters | None = None,
        near: NearParameters | None = None,
    ) -> None:
        self.parameters = parameters or ContestParameters()
        self._finder = ContactFinder(sheet, hit, touch, near)
        self._limbs = bool(sheet.quality.limbs)
        # A second contact is told when it is settled, and then the first one is dated.
        self.spec = Spec(
            name="simultaneous_contact",
            number="5.9",
            level=5,
            inputs=self._finder.inputs,
            outputs=("contest.contact",),
            horizon_us=self._finder.horizon_us + self.parameters.within_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours (50-50)",
        )

    def initial(self) -> LastContact:
        """No contact."""
        return LastContact()

    def step(self, state: LastContact, event: Event) -> Step[LastContact]:
        """Follows contacts; looks for an opponent's beside each."""
        finding, found = self._finder.step(state.finding, event)
        if finding is state.finding:
            return state, NOTHING
        last, out = state.last, []
        for contact in found:
            told = self._judge(contact, last)
            out += told
            # A contest is over with its second contact; the next one begins anew.
            last = None if told else contact.event
        return LastContact(finding, last), out or NOTHING

    def _judge(self, contact: Contact, last: Event | None) -> list[Event]:
        made, p = contact.event, self.parameters
        payload = published(made)
        if last is not None and made.ts_us - last.ts_us <= p.within_us:
            before = published(last)
            if before.team != payload.team:
                return [_contest(last, before, payload.player, 2, apart_us=made.ts_us - last.ts_us)]
        most_m = p.limb_m if self._limbs else number(payload, "distance_m") + p.farther_m
        other = next((r for r in contact.candidates if r.team != payload.team and r.distance_m <= most_m), None)
        if other is None:
            return []
        return [
            _contest(
                made,
                payload,
                other.object_id,
                1,
                distance_m=round(other.distance_m, 3),
                own_m=payload.detail["distance_m"],
            )
        ]


def _contest(first: Event, payload: EventPayload, other: str, contacts: int, **how: Scalar) -> Event:
    sure = payload.confidence if contacts == 2 else 0.6 * payload.confidence
    detail: dict[str, Scalar] = {"other": other, "contacts": contacts, **how}
    told = EventPayload("", payload.team, payload.player, payload.x_m, payload.y_m, payload.z_m, sure, detail)
    return make_event("contest.contact", first.ts_us, first.source, told, causes=first.causes)

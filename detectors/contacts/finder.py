"""Find contacts for detectors of level 5, which cannot read the hits and touches of their own level.

These detectors run 5.1 and 5.2 inside, so that all of them apply one rule of a contact. The ids of their events derive
from the contact's ball state, as the contact's own id does.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.contact_attribution import candidates_at
from detectors.contacts.hits import ContactState, HitParameters, PlayerHitsBall, SoftTouch, TouchParameters
from detectors.proximity.near import Candidate, Closest, NearParameters
from football.match_sheet import MatchSheet
from football.payloads import payload_of
from middleware.events import Event


class Contact(msgspec.Struct, frozen=True):
    """A ``hit`` or ``touch`` event, and its candidates, nearest first."""

    event: Event
    candidates: tuple[Candidate, ...]


class Finding(msgspec.Struct, frozen=True, gc=False):
    """The states of 5.1 and 5.2."""

    hit: ContactState = ContactState()
    touch: ContactState = ContactState()


class ContactFinder:
    """Finds hits and touches.

    Attributes:
        inputs: kinds that it reads, in the order of their ranks.
        horizon_us: how far before its newest cause a contact may be dated.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        hit: HitParameters | None = None,
        touch: TouchParameters | None = None,
        near: NearParameters | None = None,
    ) -> None:
        self._hits, self._touches = PlayerHitsBall(sheet, hit, near), SoftTouch(sheet, touch, near)
        self._of_hits = frozenset(self._hits.spec.inputs)
        self.inputs = tuple(dict.fromkeys((*self._touches.spec.inputs, *self._hits.spec.inputs)))
        self.horizon_us = max(self._hits.spec.horizon_us, self._touches.spec.horizon_us)

    def step(self, state: Finding, event: Event) -> tuple[Finding, tuple[Contact, ...]]:
        """The state after an event of ``inputs``, the same one if nothing changed, and the contacts it settled."""
        if event.kind == "frame" and state.hit.waiting is None and state.touch.waiting is None:
            return state, ()
        hit, hits = self._hits.step(state.hit, event) if event.kind in self._of_hits else (state.hit, ())
        touch, touches = self._touches.step(state.touch, event)
        if hit is state.hit and touch is state.touch:
            return state, ()
        found = tuple(Contact(e, _near(state.hit, e)) for e in hits)
        found += tuple(Contact(e, _near(state.touch, e)) for e in touches)
        return Finding(hit, touch), found


def _near(before: ContactState, contact: Event) -> tuple[Candidate, ...]:
    """The candidates of a contact that waited, out of the state before its attribution."""
    first = before.first is not None and before.first.ts_us == contact.ts_us
    chosen: Closest = before.first_chosen if first else before.chosen
    payload = payload_of(contact)
    return candidates_at(chosen, contact.ts_us, payload)

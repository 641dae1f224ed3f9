"""The newest contacts, so that the last contact before an earlier instant can be looked up.

An exit is known some tenths of a second after it happened; a contact in between (a ball boy, a player who fetches the
ball) did not put it out.
"""

from __future__ import annotations

import msgspec

from football.match_sheet import Team
from football.payloads import payload_of
from middleware.events import Event

#: Kinds of level 5 that are contacts of a player with the ball.
CONTACT_KINDS = ("hit", "touch", "kick.released")

#: Number of contacts in memory: more than can happen within a settle time.
KEPT = 6


class Contact(msgspec.Struct, frozen=True, gc=False):
    """A contact: time, player, position, event id."""

    ts_us: int
    team: Team
    player: str
    x_m: float | None
    y_m: float | None
    id: str


Contacts = tuple[Contact, ...]


def remember(contacts: Contacts, event: Event) -> Contacts:
    """The contacts with one more; oldest first."""
    p = payload_of(event)
    return (*contacts[1 - KEPT :], Contact(event.ts_us, p.team, p.player, p.x_m, p.y_m, event.id))


def last_before(contacts: Contacts, ts_us: int) -> Contact | None:
    """The newest contact at or before an instant."""
    return next((c for c in reversed(contacts) if c.ts_us <= ts_us), None)


def opponents_of(team: Team) -> Team:
    """The other team; empty stays empty."""
    return {"home": "away", "away": "home"}.get(team, "")  # type: ignore[return-value]

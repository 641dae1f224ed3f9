"""The last touch before the ball went out, and what the restart says of it (part of 6.4 and 6.5).

Theory of operation
-------------------
The last touch is the last contact before the crossing. A light one shows in no position: a ball that is turned by a
leg's width, or two opponents in one stride; and of two at the ball the wrong one may be taken. The restart shows whose
ball it was, half a minute later at times. If the team of the last contact has the restart, the other team touched the
ball last: who was at the ball since about that contact, else who had the contact before it, else nobody known.

Counted in generated matches (`ragged`, `optical_keyed`, `optical` and `broadcast`, seeds 301 to 326 and 401 to 420): of
46 such balls out 45 had a last touch of the other team, and 3 of 332 others.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from detectors.contacts.recent_contacts import CONTACT_KINDS, Contact, Contacts, last_before, opponents_of, remember
from detectors.play.restart_kicks import RestartKickParameters, at_corner, attackers_of
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, location_m, payload_of
from football.pitch import Pitch, end_of
from middleware.events import Event

#: Kinds by which the last touch is followed.
TOUCH_KINDS = ("not_near", "near", *CONTACT_KINDS)


class LastTouchParameters(msgspec.Struct, frozen=True):
    """Limits and the chance of the last touch.

    Attributes:
        before_us: an opponent at the ball up to this long before the last contact may have made it.
        right_share: the chance that the restart shows the last touch.
    """

    before_us: Annotated[int, reason("Ours: a contact on camera tracking is dated to some frames.")] = 150_000
    right_share: Annotated[float, reason("Counted: 45 of 46, see :mod:`detectors.play.last_touch`.")] = 0.98


class AtBall(msgspec.Struct, frozen=True, gc=False):
    """A player or limb at the ball (4.1), from when and until when; -1 while it is."""

    key: str
    player: str
    team: Team
    since_us: int
    until_us: int = -1


class Touches(msgspec.Struct, frozen=True, gc=False):
    """State: the newest contacts, and who was at the ball since the first of them."""

    contacts: Contacts = ()
    at_ball: tuple[AtBall, ...] = ()


class LastTouch(msgspec.Struct, frozen=True, gc=False):
    """The last contact before the ball went out, and the opponents who may have touched it later.

    ``player`` was at the ball since about then, ``before`` had the contact before it; each is empty if nobody did.
    """

    contact: Contact
    player: str = ""
    before: str = ""


class Reconsidered(NamedTuple):
    """The last touch after the restart: the team, the player, the chance that it is right, and its signs in words."""

    team: Team
    player: str
    chance: float
    signs: str


#: Players and limbs that are remembered.
_REMEMBERED = 24


def followed(touches: Touches, event: Event, p: LastTouchParameters) -> Touches:
    """The touches after one more event of ``TOUCH_KINDS``."""
    if event.kind in CONTACT_KINDS:
        contacts = remember(touches.contacts, event)
        first_us = contacts[0].ts_us - p.before_us
        return Touches(contacts, tuple(a for a in touches.at_ball if a.until_us < 0 or a.until_us >= first_us))
    payload = payload_of(event)
    key = f"{payload.player}/{payload.variant}"
    if event.kind == "near":
        entered = AtBall(key, payload.player, payload.team, event.ts_us)
        return Touches(touches.contacts, (*touches.at_ball[1 - _REMEMBERED :], entered))
    left = (
        msgspec.structs.replace(a, until_us=event.ts_us) if a.key == key and a.until_us < 0 else a
        for a in touches.at_ball
    )
    return Touches(touches.contacts, tuple(left))


def last_touch(touches: Touches, crossed_us: int, p: LastTouchParameters) -> LastTouch | None:
    """The last touch of a ball that crossed a line; None without a contact."""
    contact = last_before(touches.contacts, crossed_us)
    if contact is None:
        return None
    others, from_us = opponents_of(contact.team), contact.ts_us - p.before_us
    latest: AtBall | None = None
    for a in touches.at_ball:
        if a.team == others and a.since_us <= crossed_us and (a.until_us < 0 or a.until_us >= from_us):
            latest = a if latest is None or _last_at_us(a) >= _last_at_us(latest) else latest
    before = last_before(tuple(c for c in touches.contacts if c.team == others), contact.ts_us)
    return LastTouch(contact, latest.player if latest is not None else "", before.player if before is not None else "")


def reconsidered(
    touch: LastTouch, live: EventPayload, pitch: Pitch, kick: RestartKickParameters, p: LastTouchParameters
) -> Reconsidered | None:
    """The last touch as the restart shows it; None if it stays as it was."""
    team = touch.contact.team
    if not team or restarted_by(live, pitch, kick) != team:
        return None
    signs = [f"{team} has the restart"]
    if touch.player:
        signs.append(f"{touch.player} was at the ball")
    elif touch.before:
        signs.append(f"{touch.before} had the contact before")
    return Reconsidered(opponents_of(team), touch.player or touch.before, p.right_share, "; ".join(signs))


def restarted_by(live: EventPayload, pitch: Pitch, kick: RestartKickParameters) -> Team:
    """The team that a ball out belongs to, by the kick from rest that follows; empty if it does not say.

    At the goal line place and taker must agree: who is nearest to a ball at rest may only have put it there.
    """
    if live.detail["fallback"] or live.variant not in ("touch", "goal line"):
        return ""
    if live.variant == "touch":
        return live.team
    x_m, y_m = location_m(live)
    attackers = attackers_of(live.detail["attacks_x"], end_of(x_m))
    # Defenders have no corner kick: before the ball ran out, the referee had stopped play.
    taken_by = attackers if at_corner(pitch, kick, x_m, y_m) else opponents_of(attackers)
    return live.team if live.team == taken_by else ""


def _last_at_us(a: AtBall) -> int:
    return a.until_us if a.until_us >= 0 else 2**62

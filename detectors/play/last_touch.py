"""The last touch before the ball went out, and what the restart says of it (part of 6.4 and 6.5).

Theory of operation
-------------------
The last touch is the last contact before the crossing. A light one shows in no position: a ball that is turned by a
leg's width, or two opponents in one stride. The restart shows whose ball it was, half a minute later at times. As in
:mod:`detectors.play.evidence`, odds and factors weigh the two: the odds that the other team touched the ball last, as
they are for any ball that goes out; times a factor if the team of the last contact has the restart; times a factor if
an opponent was at the ball since about that contact, or one far below 1 if nobody was. If the other team is the
likelier one, the last touch was that opponent's. Where no opponent was near, the restart was misread.

The factors are counted: of 141 balls out in ragged generated matches (seeds 201 to 205, nine profiles) 18 have a last
touch of the wrong team. The team of the last contact has the restart in 12 of these, and in 7 of the others. In those
12 an opponent came within 1.6 m, in those 7 none within 2.4 m.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from detectors.contacts.recent_contacts import CONTACT_KINDS, Contact, Contacts, last_before, opponents_of, remember
from detectors.decisions import at_least
from detectors.play.restart_kicks import RestartKickParameters, at_corner, attackers_of
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, location_m, payload_of
from football.pitch import Pitch, end_of
from middleware.events import Event

#: Kinds by which the last touch is followed.
TOUCH_KINDS = ("not_near", "near", *CONTACT_KINDS)

_COUNTED = "Ours; counted in ragged generated matches, seeds 201 to 205, see :mod:`detectors.play.last_touch`."


class LastTouchParameters(msgspec.Struct, frozen=True):
    """Odds and factors of the last touch.

    Attributes:
        before_us: an opponent at the ball up to this long before the last contact may have made it.
        wrong_share: odds that the other team touched the ball last, before anything is known of the restart.
        restart_factor: factor if the team of the last contact has the restart.
        at_ball_factor: factor if an opponent was at the ball.
        nobody_factor: factor if none was.
        sure: the chance from which the last touch is the other team's.
    """

    before_us: Annotated[int, reason("Ours: a contact on camera tracking is dated to some frames.")] = 150_000
    wrong_share: Annotated[float, reason(_COUNTED)] = 0.15
    restart_factor: Annotated[float, reason(_COUNTED)] = 12.0
    at_ball_factor: Annotated[float, reason(_COUNTED)] = 1.6
    nobody_factor: Annotated[float, reason(_COUNTED)] = 0.1
    sure: Annotated[float, reason("More likely than not: one of two teams it was.")] = 0.5


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
    """The last contact before the ball went out, and the opponent who was at the ball since about then.

    ``player`` is empty if nobody was.
    """

    contact: Contact
    player: str = ""


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
    return LastTouch(contact, latest.player if latest is not None else "")


def reconsidered(
    touch: LastTouch, live: EventPayload, pitch: Pitch, kick: RestartKickParameters, p: LastTouchParameters
) -> Reconsidered | None:
    """The last touch as the restart shows it; None if it stays as it was."""
    team = touch.contact.team
    if not team or restarted_by(live, pitch, kick) != team:
        return None
    odds = p.wrong_share * p.restart_factor * (p.at_ball_factor if touch.player else p.nobody_factor)
    chance, what = odds / (1.0 + odds), "chance that the other team touched the ball last"
    if not at_least(what, chance, p.sure, "last_touch.sure", about=("out", opponents_of(team)), unit="1"):
        return None
    signs = f"{team} has the restart; {touch.player} was at the ball"
    return Reconsidered(opponents_of(team), touch.player, round(chance, 3), signs)


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

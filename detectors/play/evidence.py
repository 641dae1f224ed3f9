"""Evidence that a ball that counts as dead is in play, and when it suffices to correct the state (part of 5.10).

Theory of operation
-------------------
Tracking shows no whistle, so the state of play may be wrong. A restart was too quick to be seen, or a line was crossed
by noise only. What happens on the pitch then contradicts the state. Each *sign* of that is so many times as likely if
the ball is in play as if it is dead: its *factor*. The odds that the ball is in play are the odds before any sign,
times the factors. When the chance reaches ``sure``, 5.10 corrects the state. It dates the correction back to the first
sign, at most by ``window_us``. The ordering units of the detectors above then redo what they concluded since, as they
do for a late packet.

The signs:

* players touch the ball in the field in turn, one after the other, team mates or opponents;
* it was kicked or thrown from a rest too short for a sure restart, where the restart may be taken;
* the ball moves in the field, second after second.

Everything is a pure function of frames and contacts.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import msgspec

from detectors.decisions import at_least
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, location_m, payload_of, time_us
from middleware.events import Event

_OURS = "Ours; ragged generated matches, seeds 201 to 205."


class EvidenceParameters(msgspec.Struct, frozen=True):
    """Factors of the signs that a dead ball is in play.

    Attributes:
        window_us: a correction is dated back by at most this.
        memory_us: older contacts do not count.
        sure: the chance from which the state is corrected.
        prior_share: odds that a dead ball is in play before any sign of it.
        goal_prior_share: the same after a goal, and after a stop by the officials.
        mate_factor: factor of a contact by a team mate of the player before.
        opponent_factor: factor of a contact by an opponent of the player before.
        apart_m: the ball has covered this from one of these contacts to the next.
        restart_factor: factor of a kick from a short rest, where the restart after a crossed line may be taken.
        quick_us: least time of a short rest.
        second_factor: factor of each second in which the ball moves in the field.
        moved_us: no more than this time counts.
    """

    window_us: Annotated[int, reason("Ours: a pass and its reception; confirmation is later by as much.")] = 2_000_000
    memory_us: Annotated[int, reason("Ours; after a goal more evidence is needed than for another stoppage.")] = (
        20_000_000
    )
    sure: Annotated[float, reason(_OURS)] = 0.8
    prior_share: Annotated[float, reason(_OURS)] = 0.03
    goal_prior_share: Annotated[float, reason("Ours: the ball is run back to the centre for up to half a minute.")] = (
        1e-5
    )
    mate_factor: Annotated[float, reason(_OURS)] = 10.0
    opponent_factor: Annotated[float, reason(_OURS)] = 20.0
    apart_m: Annotated[
        float, reason("A ball that is carried in hands past another player goes from neither to the other. Ours.")
    ] = 5.0
    restart_factor: Annotated[float, reason(_OURS)] = 20.0
    quick_us: Annotated[int, reason("Ours: a ball that is caught and thrown is slow for as long.")] = 300_000
    second_factor: Annotated[float, reason("Ours: six seconds of play among running players suffice.")] = 2.0
    moved_us: Annotated[int, reason("Ours: a dead ball may be carried for longer.")] = 8_000_000


class Played(msgspec.Struct, frozen=True, gc=False):
    """A contact of a player with a ball in the field that counts as dead."""

    at_us: int
    player: str
    team: Team
    x_m: float
    y_m: float
    id: str


class Case(msgspec.Struct, frozen=True, gc=False):
    """The case that a dead ball is in play again.

    Attributes:
        at_us: the newest frame.
        moved_us: how long the ball has moved in the field since it lay.
        contacts: the newest contacts with it, oldest first.
        restart: the ``phase.live`` of a kick from a short rest, which is emitted once the case is sure.
    """

    at_us: int
    moved_us: int = 0
    contacts: tuple[Played, ...] = ()
    restart: Event | None = None


class Finding(NamedTuple):
    """Chance that a dead ball is in play, and the signs of it in words."""

    chance: float
    signs: tuple[str, ...]


#: Contacts that a case remembers.
_REMEMBERED = 8


def with_contact(case: Case, made: Played, p: EvidenceParameters) -> Case:
    """The case with one more contact, unless it is the same player's again, or where the one before was."""
    if case.contacts:
        before = case.contacts[-1]
        apart_m = math.hypot(made.x_m - before.x_m, made.y_m - before.y_m)
        if before.player == made.player or apart_m < p.apart_m:
            return case
    return Case(case.at_us, case.moved_us, (*case.contacts[1 - _REMEMBERED :], made), case.restart)


def with_restart(case: Case, live: Event, p: EvidenceParameters) -> Case:
    """The case with a kick from a short rest, which is its taker's contact."""
    payload = payload_of(live)
    x_m, y_m = location_m(payload)
    made = Played(time_us(payload, "kick_us"), payload.player, payload.team, x_m, y_m, live.id)
    case = with_contact(case, made, p)
    return Case(case.at_us, case.moved_us, case.contacts, live)


def recent(case: Case, now_us: int, p: EvidenceParameters, *, paused: bool) -> Case:
    """The case at a later frame.

    It loses contacts that no longer count, and a restart that is too old to be dated back to.
    """
    contacts, restart = case.contacts, case.restart
    moved_us = case.moved_us if paused else min(case.moved_us + max(0, now_us - case.at_us), p.moved_us)
    if contacts and contacts[0].at_us < now_us - p.memory_us:
        contacts = tuple(c for c in contacts if c.at_us >= now_us - p.memory_us)
    if restart is not None and restart.ts_us < now_us - p.window_us:
        restart = None
    return Case(now_us, moved_us, contacts, restart)


def while_waiting(case: Case, now_us: int, window_us: int) -> Case:
    """The case while the players wait: the ball is handed back, but its newest contact may be the restart."""
    return Case(now_us, 0, tuple(c for c in case.contacts[-1:] if now_us - c.at_us <= window_us))


def chance_of_play(case: Case, p: EvidenceParameters, prior: float) -> Finding:
    """The chance that a dead ball is in play again."""
    odds, signs = prior * p.second_factor ** (case.moved_us * 1e-6), list[str]()
    if case.restart is not None:
        odds *= p.restart_factor
        signs.append(f"played quickly by {payload_of(case.restart).player}")
    for before, made in zip(case.contacts, case.contacts[1:], strict=False):
        odds *= p.mate_factor if made.team == before.team else p.opponent_factor
        signs.append(f"{before.player} to {made.player}")
    signs.append(f"the ball moved for {case.moved_us * 1e-6:.1f} s")
    return Finding(odds / (1.0 + odds), tuple(signs))


def is_sure(finding: Finding, p: EvidenceParameters) -> bool:
    """True if the evidence corrects the state of play."""
    return at_least(
        "chance that the ball is in play", finding.chance, p.sure, "phase.evidence.sure", "phase.live", unit="1"
    )


def corrected(event: Event, finding: Finding, causes: tuple[str, ...] = ()) -> Event:
    """A transition that evidence has brought about: with its chance as confidence, and its signs."""
    payload = payload_of(event)
    confidence = round(min(payload.confidence, finding.chance), 3)
    detail = {**payload.detail, "evidence": "; ".join(finding.signs)}
    changed: EventPayload = msgspec.structs.replace(payload, confidence=confidence, detail=detail)
    return msgspec.structs.replace(event, payload=changed, causes=(*event.causes, *causes))

"""Fouls, cards and substitutions of a match, for the formats of event data.

Fouls and cards are decisions of officials, which have a time but no place. A foul lies where play restarts after it: at
the next free kick or penalty of the other team, or else where the ball was dead. A card belongs to the newest foul of
its player that is at most two minutes older.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from app.tables.columns import RESTARTS
from app.tables.match_events import MatchEvents, Row, text
from football.update_stream import EventRecord

#: Kinds of events that are read.
DISCIPLINE_KINDS = ("official.foul", "official.card", "sub.out", "play.dead", *(f"restart.{one}" for one in RESTARTS))

CARDS = ("yellow", "second yellow", "red")

#: A card later than this after a foul of its player is not for that foul; a stop later than this is not because of it.
_CARD_US, _STOP_US = 120_000_000, 10_000_000

#: A restart later than this is not that of the foul: play went on.
_RESTART_US = 180_000_000


def discipline(match: MatchEvents) -> Iterable[tuple[str, Row]]:
    """The kind and the row of each action: ``foul``, ``card`` that no foul carries, ``substitution``.

    Only those of known players. ``outcome`` of a foul is empty or its card: ``yellow``, ``second yellow``, ``red``. The
    player of a substitution is the one who goes off, ``replacement`` the one who comes on.
    """
    cards = list(_cards(match))
    of_foul = {foul.id: card for card, foul in cards if foul}
    restarts = _in_order(match, [f"restart.{one}" for one in RESTARTS])
    stops = _in_order(match, ["play.dead"])
    carried = set()
    for foul in match.of("official.foul"):
        place = _spot(foul, restarts) or _place(_next(foul.ts_us, stops, _STOP_US))
        if foul.player and place:
            card = of_foul.get(foul.id)
            carried.add(card.id if card else "")
            at = {"start_x_m": place[0], "start_y_m": place[1], "handball": foul.variant == "handball"}
            yield "foul", {**_row(match, foul), **at, "outcome": card.variant if card else ""}
    for card, _ in cards:
        if card.player and card.id not in carried:
            yield "card", {**_row(match, card), "outcome": card.variant}
    for event in match.of("sub.out"):
        if event.player and (on := text(event, "other")):
            yield "substitution", {**_row(match, event), "replacement": on, "outcome": ""}


def _row(match: MatchEvents, event: EventRecord) -> Row:
    who = match.actor(event.team or match.team_of(event.player), event.player, event.ts_us)
    return {"id": event.id, **match.when(event.ts_us), **who}


def _cards(match: MatchEvents) -> Iterable[tuple[EventRecord, EventRecord | None]]:
    """Each card with the foul it is for."""
    found = _in_order(match, ["official.foul"])
    for card in match.of("official.card"):
        if card.variant not in CARDS:
            continue
        own = [foul for foul in found if foul.player == card.player and 0 <= card.ts_us - foul.ts_us <= _CARD_US]
        yield card, own[-1] if own else None


def _spot(foul: EventRecord, restarts: Sequence[EventRecord]) -> tuple[float, float] | None:
    """Where the other team takes its free kick or penalty; None if play restarts in another way, or has gone on."""
    restart = _next(foul.ts_us, restarts, _RESTART_US)
    if restart is None or restart.kind not in ("restart.free_kick", "restart.penalty") or restart.team == foul.team:
        return None
    return _place(restart)


def _place(event: EventRecord | None) -> tuple[float, float] | None:
    return (event.x_m, event.y_m) if event and event.x_m is not None and event.y_m is not None else None


def _in_order(match: MatchEvents, kinds: Iterable[str]) -> list[EventRecord]:
    return sorted(match.of(*kinds), key=lambda event: event.ts_us)


def _next(ts_us: int, events: Sequence[EventRecord], within_us: int) -> EventRecord | None:
    """The first event at or after an event time, if it is soon enough."""
    index = bisect_left(events, ts_us, key=lambda event: event.ts_us)
    return events[index] if index < len(events) and events[index].ts_us - ts_us <= within_us else None

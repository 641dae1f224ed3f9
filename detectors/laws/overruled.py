"""11.8: events that a decision contradicts are withdrawn.

Theory of operation
-------------------
Officials decide what tracking can only guess, and a disallowed goal takes its assists along. The detectors of the
contradicted events mostly stand on lower levels and do not read the decisions. So one detector above all of them
remembers the events that may still be contradicted, and declares them void:

| decision | events that it contradicts |
|---|---|
| goal disallowed | its assists |
| goal confirmed | an offside offence of the scorers just before |
| foul | a tackle that the fouling player has just won, and the take-on that his opponent lost by it |
| review: no red card | the newest red card, of the team and player if they are named |
| review: no penalty | the newest penalty awarded |
| review: another identity | the card of ``other``, who was mistaken for ``player`` |
| substitution | substitutions from tracking that pair either player with another one |
| void | events concluded from the event that is void |
| correction to another kind | the same |

Goals themselves belong to 10.14, numbers to 9.12, periods to 9.8, which know the consequences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from detectors.decisions import at_most
from detectors.emission import make_event, shown_us
from detectors.reasons import reason
from detectors.signals.official import changes_kind, decided_us
from football.match_sheet import Team
from football.payloads import EventPayload, payload_of, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Kinds that may be contradicted.
WATCHED = (
    "official.card",
    "official.penalty",
    "tackle.won",
    "takeon.lost",
    "assist",
    "second_assist",
    "offside.offence",
    "sub.out",
    "sub.in",
    "goal.confirmed",
)
_DECIDING = (
    "official.foul",
    "official.substitution",
    "official.var",
    "official.void",
    "official.correction",
    "goal.disallowed",
)

#: These kinds are frequent, and a foul is known soon: they are remembered for a minute, the others for a review.
_SHORT_LIVED, _SHORT_LIVED_US = ("tackle.won", "takeon.lost"), 60_000_000
_REMEMBERED_MAX = 40


class OverruleParameters(msgspec.Struct, frozen=True):
    """Times between a decision and the events that it contradicts.

    Attributes:
        within_us: a decision follows the event that it contradicts within this time.
        duel_us: a foul is dated at most this far from the tackle that it was.
        attack_us: an offside offence at most this long before a goal was in the attack that led to it.
    """

    within_us: Annotated[int, reason("Ours: reviews have taken five minutes.")] = 600_000_000
    duel_us: Annotated[int, reason("Ours.")] = 2_000_000
    attack_us: Annotated[int, reason("Ours.")] = 10_000_000


class Contradictable(msgspec.Struct, frozen=True, gc=False):
    """An event that may be contradicted: id, kind, variant, the time at which it is shown, players, and causes."""

    id: str
    kind: str
    variant: str
    at_us: int
    team: Team
    player: str
    other: str
    causes: tuple[str, ...]


class Overruled:
    """11.8: ``overruled`` x kind of the withdrawn event: a decision contradicts it.

    ``player`` is that of the withdrawn event. ``detail``: ``event`` (its id), ``by`` (kind of the decision), ``was_us``
    (event time at which the withdrawn event was shown).
    """

    def __init__(self, parameters: OverruleParameters | None = None) -> None:
        self.parameters = p = parameters or OverruleParameters()
        self.spec = Spec(
            name="overruled",
            number="11.8",
            level=11,
            inputs=(*WATCHED, *_DECIDING),
            outputs=("overruled",),
            parameters=msgspec.structs.asdict(p),
            source="ours; IFAB Laws 3, 5, 10-12, VAR protocol",
            annuls=WATCHED,
            variants={"overruled": WATCHED},
            details={"overruled": ("event", "by", "was_us")},
        )

    def initial(self) -> tuple[Contradictable, ...]:
        """No event is remembered."""
        return ()

    def step(self, state: tuple[Contradictable, ...], event: Event) -> Step[tuple[Contradictable, ...]]:
        """Remember events that may be contradicted; withdraw those that a decision contradicts."""
        payload = payload_of(event)
        overruled = {c.id: c for c in self._contradicted(state, event, payload)}
        out = tuple(_void(event, c) for c in overruled.values())
        void = str(payload.detail["event"]) if event.kind == "official.void" else ""
        remaining = tuple(c for c in state if c.id not in overruled and c.id != void)
        if event.kind in WATCHED:
            remaining = self._remember(remaining, event, payload)
        return remaining, out or NOTHING

    def _remember(
        self, state: tuple[Contradictable, ...], event: Event, payload: EventPayload
    ) -> tuple[Contradictable, ...]:
        """The events with one more; without those that are too old, and without an older version of the new one."""
        p, at_us = self.parameters, shown_us(event)
        young = [
            c
            for c in state
            if c.id != event.id
            and event.ts_us - c.at_us <= (_SHORT_LIVED_US if c.kind in _SHORT_LIVED else p.within_us)
        ]
        if event.annuls == event.id:
            return tuple(young)
        other = str(payload.detail.get("other", ""))
        one = Contradictable(
            event.id, event.kind, payload.variant, at_us, payload.team, payload.player, other, event.causes
        )
        return (*young[1 - _REMEMBERED_MAX :], one)

    def _contradicted(
        self, state: tuple[Contradictable, ...], event: Event, payload: EventPayload
    ) -> Iterator[Contradictable]:
        what, limit_us, path = "time since the event", self.parameters.within_us, "overruled.within_us"
        recent = [c for c in state if at_most(what, event.ts_us - c.at_us, limit_us, path, about=f"{c.kind}")]
        match event.kind:
            case "goal.disallowed":
                goal = str(payload.detail["goal"])
                yield from (c for c in recent if c.kind in ("assist", "second_assist") and goal in c.causes)
            case "goal.confirmed":
                yield from self._no_offence(recent, payload)
            case "official.foul":
                yield from self._no_tackle(recent, decided_us(event), payload)
            case "official.var":
                yield from self._reviewed(recent, payload)
            case "official.substitution":
                yield from _contradicted_changes(recent, payload)
            case "official.void":
                yield from (c for c in recent if str(payload.detail["event"]) in c.causes)
            case "official.correction" if changes_kind(payload):
                yield from (c for c in recent if str(payload.detail["event"]) in c.causes)

    def _no_offence(self, recent: list[Contradictable], goal: EventPayload) -> Iterator[Contradictable]:
        """Offside offences before a goal that stands."""
        goal_us = time_us(goal, "goal_us")
        for c in recent:
            before_us = goal_us - c.at_us
            if c.kind == "offside.offence" and c.team == goal.team and 0 <= before_us <= self.parameters.attack_us:
                yield c

    def _no_tackle(self, recent: list[Contradictable], at_us: int, foul: EventPayload) -> Iterator[Contradictable]:
        """Tackles that a fouling player did not win, and take-ons that his opponent did not lose."""
        for c in recent:
            near = abs(c.at_us - at_us) <= self.parameters.duel_us
            fouler = c.player if c.kind == "tackle.won" else c.other
            same_team = (c.team == foul.team) == (c.kind == "tackle.won")
            if near and same_team and c.kind in ("tackle.won", "takeon.lost") and foul.player in ("", fouler):
                yield c

    def _reviewed(self, recent: list[Contradictable], decision: EventPayload) -> Iterator[Contradictable]:
        """The newest decision that a review overrules."""
        other = str(decision.detail.get("other", ""))
        for c in reversed(recent):
            team, player = decision.team in ("", c.team), decision.player in ("", c.player)
            match decision.variant:
                case "no red card":
                    contradicted = c.kind == "official.card" and c.variant != "yellow" and team and player
                case "no penalty":
                    contradicted = c.kind == "official.penalty" and team
                case "identity":
                    contradicted = c.kind == "official.card" and other != "" and c.player == other and team
                case _:
                    contradicted = False
            if contradicted:
                yield c
                return


def _contradicted_changes(recent: list[Contradictable], decision: EventPayload) -> Iterator[Contradictable]:
    """Substitutions from tracking that pair a player of the decision with another one."""
    incoming, outgoing = decision.player, str(decision.detail.get("other", ""))
    for c in recent:
        if c.kind not in ("sub.in", "sub.out"):
            continue
        on, off = (c.player, c.other) if c.kind == "sub.in" else (c.other, c.player)
        if (on == incoming) != (off == outgoing):
            yield c


def _void(event: Event, overruled: Contradictable) -> Event:
    """The event that declares another one void."""
    payload = EventPayload(
        overruled.kind,
        "",
        overruled.player,
        detail={"event": overruled.id, "by": event.kind, "was_us": overruled.at_us},
    )
    anchor = f"{event.source}/{event.ts_us}/{overruled.id}"
    return make_event("overruled", event.ts_us, anchor, payload, causes=(event.id, overruled.id), annuls=overruled.id)

"""11.8 (ours): what a decision contradicts is taken back.

Theory of operation
-------------------
Officials decide what tracking has to guess, and a goal that does not stand takes along what hung on it. Who is
contradicted mostly stands below and knows nothing of it; so one detector above all of them keeps what may yet be
contradicted, for as long as a decision may come, and declares it void:

| decision | what it contradicts |
|---|---|
| goal disallowed | its assists |
| goal confirmed, by whomever | an offside offence of the scorers just before |
| foul | a tackle of his that was just won, and the take-on that his opponent lost to it |
| review: no red card | the newest red card, of the team and player if they are named |
| review: no penalty | the newest penalty awarded |
| review: another identity | the card of ``other``, who was mistaken for ``player`` |
| substitution | changes that we saw of either with somebody else |
| void | what was concluded from what it takes back |

Goals themselves are 10.14's, numbers 9.12's, periods 9.8's: they know what it means for what follows.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from detectors.emission import make_event
from detectors.signals.official import decided_us
from football.match_sheet import Team
from football.payloads import EventPayload, published, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: What may be contradicted.
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
_DECIDING = ("official.foul", "official.substitution", "official.var", "official.void", "goal.disallowed")

#: These are many, and a foul is told soon: they are remembered for a minute, the rest for a review's whole time.
_BRIEF, _BRIEF_US = ("tackle.won", "takeon.lost"), 60_000_000
_MOST = 40


class OverruleParameters(msgspec.Struct, frozen=True):
    """How far apart what contradicts itself may be; all ours.

    Attributes:
        within_us: a decision comes at most so long after what it contradicts (reviews have taken five minutes).
        duel_us: a foul is dated at most so far from the tackle that it was.
        attack_us: an offside offence so shortly before a goal was in the attack that led to it.
    """

    within_us: int = 600_000_000
    duel_us: int = 2_000_000
    attack_us: int = 10_000_000


class Contradictable(msgspec.Struct, frozen=True, gc=False):
    """An event that may be contradicted: its name, kind and variant, when it is shown, whom it is about, its causes."""

    id: str
    kind: str
    variant: str
    at_us: int
    team: Team
    player: str
    other: str
    causes: tuple[str, ...]


class Overruled:
    """11.8: ``overruled`` x kind of what is taken back; ``detail``: its name (``event``), what contradicts (``by``)."""

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
        )

    def initial(self) -> tuple[Contradictable, ...]:
        """Nothing was said."""
        return ()

    def step(self, state: tuple[Contradictable, ...], event: Event) -> Step[tuple[Contradictable, ...]]:
        """Remembers what may be contradicted; a decision takes back what it contradicts."""
        payload = published(event)
        gone = {c.id: c for c in self._contradicted(state, event, payload)}
        out = tuple(_void(event, c) for c in gone.values())
        kept = tuple(c for c in state if c.id not in gone)
        if event.kind in WATCHED:
            kept = self._remember(kept, event, payload)
        return kept, out or NOTHING

    def _remember(
        self, state: tuple[Contradictable, ...], event: Event, payload: EventPayload
    ) -> tuple[Contradictable, ...]:
        """With one more; without those that are too old, and without an older version of it."""
        p, at_us = self.parameters, event.ts_us if event.dated_us is None else event.dated_us
        young = [
            c
            for c in state
            if c.id != event.id and event.ts_us - c.at_us <= (_BRIEF_US if c.kind in _BRIEF else p.within_us)
        ]
        if event.annuls == event.id:
            return tuple(young)
        other = str(payload.detail.get("other", ""))
        one = Contradictable(
            event.id, event.kind, payload.variant, at_us, payload.team, payload.player, other, event.causes
        )
        return (*young[1 - _MOST :], one)

    def _contradicted(
        self, state: tuple[Contradictable, ...], event: Event, payload: EventPayload
    ) -> Iterator[Contradictable]:
        recent = [c for c in state if event.ts_us - c.at_us <= self.parameters.within_us]
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
                yield from _other_changes(recent, payload)
            case "official.void":
                yield from (c for c in recent if str(payload.detail["event"]) in c.causes)

    def _no_offence(self, recent: list[Contradictable], goal: EventPayload) -> Iterator[Contradictable]:
        """A goal that stands was not offside."""
        goal_us = time_us(goal, "goal_us")
        for c in recent:
            before_us = goal_us - c.at_us
            if c.kind == "offside.offence" and c.team == goal.team and 0 <= before_us <= self.parameters.attack_us:
                yield c

    def _no_tackle(self, recent: list[Contradictable], at_us: int, foul: EventPayload) -> Iterator[Contradictable]:
        """Who fouled has not won the ball."""
        for c in recent:
            near = abs(c.at_us - at_us) <= self.parameters.duel_us
            fouler = c.player if c.kind == "tackle.won" else c.other
            mine = (c.team == foul.team) == (c.kind == "tackle.won")
            if near and mine and c.kind in ("tackle.won", "takeon.lost") and foul.player in ("", fouler):
                yield c

    def _reviewed(self, recent: list[Contradictable], said: EventPayload) -> Iterator[Contradictable]:
        """The newest decision that a review is against."""
        other = str(said.detail.get("other", ""))
        for c in reversed(recent):
            team, player = said.team in ("", c.team), said.player in ("", c.player)
            match said.variant:
                case "no red card":
                    found = c.kind == "official.card" and c.variant != "yellow" and team and player
                case "no penalty":
                    found = c.kind == "official.penalty" and team
                case "identity":
                    found = c.kind == "official.card" and other != "" and c.player == other and team
                case _:
                    found = False
            if found:
                yield c
                return


def _other_changes(recent: list[Contradictable], said: EventPayload) -> Iterator[Contradictable]:
    """Changes, as we saw them, of who comes or goes with somebody else."""
    comes, goes = said.player, str(said.detail.get("other", ""))
    for c in recent:
        if c.kind not in ("sub.in", "sub.out"):
            continue
        came, went = (c.player, c.other) if c.kind == "sub.in" else (c.other, c.player)
        if (came == comes) != (went == goes):
            yield c


def _void(event: Event, gone: Contradictable) -> Event:
    """The event that takes another back."""
    payload = EventPayload(
        gone.kind, "", gone.player, detail={"event": gone.id, "by": event.kind, "was_us": gone.at_us}
    )
    anchor = f"{event.source}/{event.ts_us}/{gone.id}"
    return make_event("overruled", event.ts_us, anchor, payload, causes=(event.id, gone.id), annuls=gone.id)

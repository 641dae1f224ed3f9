"""The score of a match, from the updates of goal events alone.

A goal counts from the moment it is asserted (``goal.scored``, ``goal.own``) until it is withdrawn, so the score
follows the log in both directions. It is *provisional* while a goal that counts has no ``goal.confirmed``. While
``goal.disallowed`` is asserted, the goal that it annuls (``detail["annuls"]``) or names among its causes does not
count, also before the goal itself is withdrawn.
``goal.own`` carries the team of its scorer: the goal counts for the other team.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from football.update_stream import EventRecord, UpdateRecord

_GOALS = ("goal.scored", "goal.own")


class Score(msgspec.Struct, frozen=True):
    """Goals of both teams, and how many of each wait for their confirmation."""

    home: int = 0
    away: int = 0
    home_provisional: int = 0
    away_provisional: int = 0


class ScoreKeeper:
    """Retains the goal events that are asserted now, and counts them."""

    def __init__(self) -> None:
        self._held: dict[str, EventRecord] = {}

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Take the next updates of the log; it ignores all but goals."""
        for update in updates:
            event = update.event
            if not event.kind.startswith("goal."):
                continue
            if update.diff > 0:
                self._held[event.id] = event
            elif self._held.get(event.id) == event:
                del self._held[event.id]

    def score(self) -> Score:
        """Return the score from the goal events that are asserted now."""
        disallowed = self._named_by("goal.disallowed")
        confirmed = self._named_by("goal.confirmed")
        goals = [e for e in self._held.values() if e.kind in _GOALS and e.id not in disallowed]
        sides = [goal.team for goal in goals]  # an own goal, too, has the team that gets the goal
        waiting = [goal.team for goal in goals if goal.id not in confirmed]
        return Score(*(count(side) for count in (sides.count, waiting.count) for side in ("home", "away")))

    def _named_by(self, kind: str) -> set[str]:
        """Return the ids of the events that asserted events of ``kind`` refer to."""
        referring = [event for event in self._held.values() if event.kind == kind]
        return {name for e in referring for name in (*e.causes, str(e.detail.get("annuls", "")))}

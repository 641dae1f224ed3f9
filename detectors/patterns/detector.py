"""A pattern as a detector: a pure fold over the events of a match, so that the law of the middleware holds over it.

The ordering unit before it deals with late and withdrawn inputs, as for every detector. The fold is given its inputs in
canonical order. It keeps those of the window, and at an event that may complete a match it searches the matches that
end there, by the same searches as :class:`detectors.patterns.matcher.Matcher`. So only patterns are detectors whose
matches are complete with their last event: no repetition and no NOT at the end.

Newer versions of an input take the place of the first one; matches that were found with it stay.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from detectors.emission import make_event
from detectors.patterns.anchors import Anchors
from detectors.patterns.branches import Branch, compile_branches
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match, Search
from detectors.patterns.syntax import PatternError, PatternEvent, Query, Strategy, steps_of
from football.payloads import EventPayload
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: The inputs of the window, in canonical order.
Window = tuple[PatternEvent, ...]

#: Bound on the matches of one event of a match.
_MOST = 1_000


class PatternDetector:
    """Emits an event ``pattern.NAME`` for each match, at its last event.

    The payload has team, player and position of the last event, the least confidence of all, and in ``detail``
    ``first_us`` (time of the first event), ``events`` (their number) and what ``RETURN`` gives. The causes are the ids
    of all events. Each match of an input that fails ``PER`` has no partition and is left out.

    Args:
        query: with a name; its kinds are those of the hierarchy, without wildcards.
        level: above those of all detectors that emit its kinds.

    Raises:
        PatternError: the query means nothing, or cannot be a detector.
    """

    def __init__(self, query: Query, level: int = 15) -> None:
        steps = steps_of(query.structure)
        if not query.name:
            raise PatternError("a detector needs a name", "Write PATTERN name = SEQ(...)")
        for step in steps:
            if step.kind.endswith(".*"):
                raise PatternError(f"{step.kind} names no kind of the hierarchy", "Name the kinds with OR", step.at)
        self.query = query
        self.strategy: Strategy = query.strategy or "stnm"
        if self.strategy == "strict":
            raise PatternError("a detector gets only the kinds that it names", "Choose another STRATEGY")
        self._branches = compile_branches(query)
        for branch in self._branches:
            self._check(branch)
        self._returns = Returns(query)
        kind = f"pattern.{query.name}"
        details = ("first_us", "events", *(name for name, _ in query.returns))
        self.spec = Spec(
            f"pattern_{query.name}", f"{level}.98", level, tuple(dict.fromkeys(step.kind for step in steps)), (kind,),
            payload=EventPayload, keyed=bool(query.keys), untyped=(kind,), details={kind: details},
            parameters={"within_us": query.within_us}, source="paper 003; docs/patterns.md",
        )  # fmt: skip
        self._completing = {step.kind for branch in self._branches for step in branch.steps[branch.complete_from :]}

    def _check(self, branch: Branch) -> None:
        last = branch.steps[-1]
        if (last.least, last.most) != (1, 1) or any(n.place == len(branch.steps) for n in branch.negations):
            raise PatternError(
                "a detector must know a match at its last event, and this pattern ends with a repetition or NOT",
                "End it with a single event",
                last.at,
            )

    def key(self, event: Event) -> str:
        """The values of ``PER``; events of one partition share them."""
        values = _values(event)
        return "|".join(str(values.get(name, "")) for name in self.query.keys)

    def initial(self) -> Window:
        """No events."""
        return ()

    def step(self, state: Window, event: Event) -> Step[Window]:
        """The window with the event, and the matches that it completes."""
        payload = _values(event)
        if any(name not in payload for name in self.query.keys):
            return state, NOTHING
        name = event.id or f"{event.kind}:{event.source}:{event.seq}"
        for at, held in enumerate(state):
            if held.id == name:
                return (*state[:at], held._replace(payload=payload), *state[at + 1 :]), NOTHING
        # What ends here looks back over its own window, and NOT at its beginning over no more.
        oldest_us = event.ts_us - self.query.within_us
        kept = (
            tuple(held for held in state if held.ts_us >= oldest_us) if state and state[0].ts_us < oldest_us else state
        )
        place = sum(held.ts_us == event.ts_us for held in kept)
        new = PatternEvent(event.ts_us, (place,), name, event.kind, payload)
        window = (*kept, new)
        if event.kind not in self._completing:
            return window, NOTHING
        return window, tuple(self._event(match) for match in self._ending(window, new))

    def _ending(self, window: Window, last: PatternEvent) -> list[Match]:
        """The matches that end with the newest event, each set of events once."""
        found: dict[tuple[str, ...], Match] = {}
        for branch in self._branches:
            steps = range(len(branch.steps))
            lists = [[event for event in window if branch.fits(at, event)] for at in steps]
            forbidden = [[event for event in window if negation.forbids_alone(event)] for negation in branch.negations]
            search = Search(self.query, branch, lists, forbidden, list(window), _MOST)
            anchors = Anchors(search, self.strategy, lambda before, after: None)
            for match in anchors.ending_with(last):
                found.setdefault(tuple(event.id for event in match), match)
        return [found[ids] for ids in sorted(found)]

    def _event(self, match: Match) -> Event:
        ids, last = tuple(event.id for event in match), match[-1].payload
        anchor = f"{ids[0]}/{ids[-1]}"
        if len(ids) > 2:
            anchor += f"/{blake2b(chr(0).join(ids).encode(), digest_size=6).hexdigest()}"
        detail = {"first_us": match[0].ts_us, "events": len(match), **self._returns.values(match)}
        payload = EventPayload(
            team=last.get("team", ""), player=last.get("player", ""), x_m=last.get("x_m"), y_m=last.get("y_m"),
            confidence=min(event.payload.get("confidence", 1.0) for event in match), detail=detail,
        )  # fmt: skip
        (kind,) = self.spec.outputs
        return make_event(kind, match[-1].ts_us, anchor, payload, causes=ids)


def _values(event: Event) -> dict[str, Any]:
    """The values of an event's payload by name; none for dense kinds."""
    payload = event.payload
    if not isinstance(payload, EventPayload):
        return {}
    fixed: dict[str, Any] = {
        "variant": payload.variant, "team": payload.team, "player": payload.player, "x_m": payload.x_m,
        "y_m": payload.y_m, "z_m": payload.z_m, "confidence": payload.confidence,
    }  # fmt: skip
    return {**payload.detail, **{name: value for name, value in fixed.items() if value not in (None, "")}}

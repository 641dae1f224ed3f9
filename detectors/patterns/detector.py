"""A pattern as a detector: a pure fold over the events of a match, so that the law of the middleware holds over it.

The ordering unit before it deals with late and withdrawn inputs, as for every detector. The fold is given its inputs in
canonical order. It keeps those of the window, and searches them by the same searches as
:class:`detectors.patterns.matcher.Matcher`. There are two moments at which a match is known:

* Most matches are known at their last event. An event that may complete one starts the search of those that end there.
* A pattern that ends with a repetition or with ``NOT`` is *settled* later: when the window of its first event is over.
  Such a pattern also reads the clock ticks, because only they show that nothing happened. At the first input after the
  window it searches the matches that begin with that event.

Newer versions of an input take the place of the first one; matches that were found with it stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

from detectors.emission import make_event
from detectors.patterns.anchors import Anchors
from detectors.patterns.branches import Branch, compile_branches
from detectors.patterns.language import parse
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match, Search
from detectors.patterns.syntax import Limit, PatternError, PatternEvent, Query, Strategy, steps_of
from football.payloads import EventPayload
from middleware.detector import NOTHING, Spec, Step
from middleware.events import BEGINNING_US, Event

#: The inputs of the window, in canonical order.
Window = tuple[PatternEvent, ...]

#: Shows that time passes where nothing happens.
_TICK = "clock.tick"


class Held(NamedTuple):
    """State of the fold.

    Attributes:
        window: inputs that a match may still need.
        settled_us: event time up to which the windows of first events are over; only of patterns that settle.
    """

    window: Window
    settled_us: int = BEGINNING_US


#: Bound on the matches of one event of a match.
_MOST = 1_000


class PatternDetector:
    """Emits an event ``pattern.NAME`` for each match, at its last event, or when it is settled.

    The payload has team, player and position of the last event, the least confidence of all, and in ``detail``
    ``first_us`` (time of the first event), ``events`` (their number) and what ``RETURN`` gives; of a pattern that
    settles also ``last_us`` (time of the last event) and ``stands_us`` (time up to which an input could have changed
    it). The causes are the ids of all events. An input without the values of ``PER`` has no partition and is left out.

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
        self._settles = any(_settles(branch) for branch in self._branches)
        #: Of several kinds that a limit counts, a match has the first.
        self._limits = [(limit, limit.kinds[0]) for limit in query.limits]
        self._returns = Returns(query)
        kind = f"pattern.{query.name}"
        settled = ("last_us", "stands_us") if self._settles else ()
        details = ("first_us", "events", *settled, *(name for name, _ in query.returns))
        self._kinds = tuple(dict.fromkeys(step.kind for step in steps))
        counted = tuple(name for _, name in self._limits)
        inputs = tuple(dict.fromkeys((*self._kinds, *counted, *((_TICK,) if self._settles else ()))))
        self._shares = bool(counted) or self._settles
        self.spec = Spec(
            f"pattern_{query.name}", f"{level}.98", level, inputs, (kind,),
            payload=EventPayload, keyed=bool(query.keys) and not self._shares, untyped=(kind,), details={kind: details},
            parameters={"within_us": query.within_us}, source="paper 003; docs/patterns.md",
        )  # fmt: skip
        self._completing = {step.kind for branch in self._branches for step in branch.steps[branch.complete_from :]}

    @classmethod
    def of_text(cls, name: str, text: str) -> PatternDetector:
        """The detector of a query's text; one without a name is called ``name``.

        Raises:
            PatternError: as for the class, and for the text.
        """
        query = parse(text)
        return cls(query if query.name else query._replace(name=name))

    def read_only(self, kinds: Collection[str]) -> None:
        """Leave out inputs that a match lacks because its source cannot show them; such steps find nothing.

        A pattern of which no step can be found, or no bound can be counted, has no inputs then.
        """
        can_match = any(kind in kinds for kind in self._kinds) and all(name in kinds for _, name in self._limits)
        inputs = tuple(kind for kind in self.spec.inputs if kind in kinds) if can_match else ()
        self.spec = replace(self.spec, inputs=inputs)

    def key(self, event: Event) -> str:
        """The values of ``PER``; events of one partition share them."""
        values = _values(event)
        return "|".join(str(values.get(name, "")) for name in self.query.keys)

    def initial(self) -> Held:
        """No events."""
        return Held(())

    def step(self, state: Held, event: Event) -> Step[Held]:
        """The window with the event, and the matches that it completes or settles."""
        if event.kind == _TICK:
            return self._settle(state, event.ts_us)
        payload = _values(event)
        name = event.id or f"{event.kind}:{event.source}:{event.seq}"
        window = state.window
        for at, held in enumerate(window):
            if held.id == name:
                return state._replace(window=(*window[:at], held._replace(payload=payload), *window[at + 1 :])), NOTHING
        is_counted = any(event.kind == counted for _, counted in self._limits)
        if not is_counted and not self._has_keys(payload):
            return state, NOTHING
        settled: Sequence[Event] = NOTHING
        if self._settles:
            state, settled = self._settle(state, event.ts_us)
            window = state.window
        else:
            # What ends here looks back over its own window, and NOT at its beginning over no more.
            oldest_us = event.ts_us - self.query.within_us
            if window and window[0].ts_us < oldest_us:
                window = tuple(held for held in window if held.ts_us >= oldest_us)
        place = sum(held.ts_us == event.ts_us for held in window)
        new = PatternEvent(event.ts_us, (place,), name, event.kind, payload)
        window = (*window, new)
        state = state._replace(window=window)
        if self._settles or event.kind not in self._completing or not self._has_keys(payload):
            return state, settled
        found = (match for anchors in self._anchors(window, self._partition(new)) for match in anchors.ending_with(new))
        return state, tuple(self._event(match, event.ts_us) for match in _each_once(found))

    def _settle(self, state: Held, now_us: int) -> Step[Held]:
        """Forget the first events with a window that is over, and emit their matches."""
        window, within_us = state.window, self.query.within_us
        waiting = [held for held in window if held.ts_us > state.settled_us]
        if not waiting:
            return state, NOTHING
        last_us = {held.ts_us: self._window_end_us(window, held) for held in waiting}
        over_us = [ts_us for ts_us, end_us in last_us.items() if end_us < now_us]
        if not over_us:
            return state, NOTHING
        begin_us, end_us = min(over_us), max(over_us)
        found: list[Match] = []
        for partition in dict.fromkeys(self._partition(held) for held in waiting if held.ts_us <= end_us):
            if None not in partition:
                for anchors in self._anchors(window, partition):
                    found += anchors.beginning_between(begin_us, end_us)
        events = tuple(self._event(match, now_us, last_us[match[0].ts_us]) for match in _each_once(found))
        # A match may lie within one that begins up to a window earlier, and NOT looks back as far.
        return Held(tuple(held for held in window if held.ts_us >= end_us - within_us), end_us), events

    def _window_end_us(self, window: Window, first: PatternEvent) -> int:
        search = Search(self.query, self._branches[0], (), (), [], _MOST, self._counted(window))
        return search.end_us(first)

    def _counted(self, window: Window) -> list[tuple[Limit, list[PatternEvent]]]:
        return [(limit, [event for event in window if event.kind == kind]) for limit, kind in self._limits]

    def _has_keys(self, payload: dict[str, Any]) -> bool:
        return all(name in payload for name in self.query.keys)

    def _partition(self, event: PatternEvent) -> tuple[Any, ...]:
        return tuple(event.payload.get(name) for name in self.query.keys)

    def _anchors(self, window: Window, partition: tuple[Any, ...]) -> Iterator[Anchors]:
        """The searches of all branches over one partition of the window."""
        events = [event for event in window if self._partition(event) == partition] if self._shares else list(window)
        counted = self._counted(window)
        for branch in self._branches:
            lists = [[event for event in events if branch.fits(at, event)] for at in range(len(branch.steps))]
            forbidden = [[event for event in events if negation.forbids_alone(event)] for negation in branch.negations]
            search = Search(self.query, branch, lists, forbidden, events, _MOST, counted)
            yield Anchors(search, self.strategy, lambda before, after: None)

    def _event(self, match: Match, ts_us: int, stands_us: int | None = None) -> Event:
        ids, last = tuple(event.id for event in match), match[-1].payload
        anchor = f"{ids[0]}/{ids[-1]}"
        if len(ids) > 2:
            anchor += f"/{blake2b(chr(0).join(ids).encode(), digest_size=6).hexdigest()}"
        settled = {} if stands_us is None else {"last_us": match[-1].ts_us, "stands_us": stands_us}
        detail = {"first_us": match[0].ts_us, "events": len(match), **settled, **self._returns.values(match)}
        payload = EventPayload(
            team=last.get("team", ""), player=last.get("player", ""), x_m=last.get("x_m"), y_m=last.get("y_m"),
            confidence=min(event.payload.get("confidence", 1.0) for event in match), detail=detail,
        )  # fmt: skip
        (kind,) = self.spec.outputs
        return make_event(kind, ts_us, anchor, payload, causes=ids)


def _settles(branch: Branch) -> bool:
    """True if a match is not known at its last event."""
    last = branch.steps[-1]
    return (last.least, last.most) != (1, 1) or any(n.place == len(branch.steps) for n in branch.negations)


def _each_once(matches: Iterable[Match]) -> list[Match]:
    """Each set of events once, in the order of their ids."""
    found: dict[tuple[str, ...], Match] = {}
    for match in matches:
        found.setdefault(tuple(event.id for event in match), match)
    return [found[ids] for ids in sorted(found)]


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

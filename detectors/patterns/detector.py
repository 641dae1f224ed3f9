"""A pattern as a detector: a pure fold over the events of a match, so that the law of the middleware holds over it.

The ordering unit before it deals with late and withdrawn inputs, as for every detector. The fold is given its inputs in
canonical order of the time at which they became known. It keeps those of the window, and searches them by the same
searches as :class:`detectors.patterns.matcher.Matcher`. There are two moments at which a match is known:

* Most matches are known at their last event. An event that may complete one starts the search of those that end there.
* A pattern that ends with a repetition or with ``NOT`` is *settled* later: when the window of its first event is over.
  Such a pattern also reads the clock ticks, because only they show that nothing happened. At the first input after the
  window it searches the matches that begin with that event.

Inputs change what happened before, too: a newer version of an event, an event that declares another one void or
corrects it, and one that becomes known after it happened (:mod:`middleware.publisher`). The fold then compares the
matches around that event before and after, and emits the differences as versions and annulments of its own events. So
what stands is the definition's answer for the events that are published.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from detectors.emission import make_event
from detectors.patterns.anchors import Anchors
from detectors.patterns.branches import Branch, compile_branches
from detectors.patterns.language import parse
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match, Search
from detectors.patterns.syntax import POSSESSIONS, Limit, PatternError, PatternEvent, Query, Strategy, steps_of
from football.payloads import EventPayload
from football.pitch import Pitch
from middleware.detector import NOTHING, Spec, Step
from middleware.events import BEGINNING_US, Correction, Event
from middleware.publisher import AMENDABLE_US

#: The inputs of the window, in canonical order.
Window = tuple[PatternEvent, ...]

#: Of the events of patterns in a match.
LEVEL = 15

#: Shows that time passes where nothing happens.
_TICK = "clock.tick"


class Held(NamedTuple):
    """State of the fold.

    Attributes:
        window: inputs that a match may still need, by the time under which they are published.
        stated: the newest version of each, also of those that are annulled now.
        settled_us: event time up to which the windows of first events are over; only of patterns that settle.
        changes: number of versions and annulments so far; it tells those of one instant apart.
    """

    window: Window = ()
    stated: tuple[Event, ...] = ()
    settled_us: int = BEGINNING_US
    changes: int = 0

    def without(self, name: str) -> Held:
        """Without an input, if it stands."""
        window = self.window
        at = next((at for at, held in enumerate(window) if held.id == name), -1)
        return self if at < 0 else self._replace(window=(*window[:at], *window[at + 1 :]))

    def added(self, event: PatternEvent) -> Held:
        """With an input at its place."""
        window = self.window
        if not window or window[-1] < event:
            return self._replace(window=(*window, event))
        at = bisect_left(window, event)
        return self._replace(window=(*window[:at], event, *window[at:]))

    def since(self, oldest_us: int) -> Held:
        """Without inputs dated before a time."""
        if not self.window or self.window[0].ts_us >= oldest_us:
            return self
        stated = tuple(event for event in self.stated if event.ts_us >= oldest_us)
        return self._replace(window=self.window[bisect_left(self.window, (oldest_us,)) :], stated=stated)


#: Bound on the matches of one event of a match.
_MOST = 1_000


class PatternDetector:
    """Emits an event ``pattern.NAME`` for each match, at its last event, or when it is settled.

    The payload has team, player and position of the last event, the least confidence of all, and in ``detail``
    ``first_us`` (time of the first event), ``events`` (their number) and what ``RETURN`` gives; of a pattern that
    settles also ``last_us`` (time of the last event) and ``stands_us`` (time up to which an input could have changed
    it). The causes are the ids of all events. An input without the values of ``PER`` has no partition and is left out.

    A match that an input changes gets a newer version, and one that it breaks is annulled, up to ten minutes after the
    event that changes. In a match ``PER match`` and ``PER possession`` mean what :func:`in_match` says.

    A kind such as ``pass.*`` stands for the published kinds of lower levels that the match has. With ``strict`` all of
    these are inputs, because each may stand between two events of a match.

    Args:
        query: with a name; its kinds are those of the hierarchy.
        level: above those of all detectors that emit its kinds.

    Raises:
        PatternError: the query means nothing, or cannot be a detector.
    """

    def __init__(self, query: Query, level: int = LEVEL) -> None:
        query = in_match(query)
        if not query.name:
            raise PatternError("a detector needs a name", "Write PATTERN name = SEQ(...)")
        self.query = query
        self.strategy: Strategy = query.strategy or "stnm"
        self._branches = compile_branches(query)
        self._settles = any(_settles(branch) for branch in self._branches)
        #: Of several kinds that a limit counts, a match has the first.
        self._limits = [(limit, limit.kinds[0]) for limit in query.limits]
        self._returns = Returns(query)
        kind = f"pattern.{query.name}"
        settled = ("last_us", "stands_us") if self._settles else ()
        details = ("first_us", "events", *settled, *(name for name, _ in query.returns))
        self._steps = steps_of(query.structure)
        #: Of the kinds that it names, those that stand for themselves; :meth:`watch` finds what the others stand for.
        self._kinds = tuple(dict.fromkeys(step.kind for step in self._steps if not step.kind.endswith(".*")))
        self._read = frozenset((*self._kinds, *(name for _, name in self._limits)))
        #: Levels of kinds, for the order of an instant; and the kinds that may get another version or be annulled.
        self._levels: dict[str, int] = {}
        self._changing = self._read
        self.spec = Spec(
            f"pattern_{query.name}", f"{level}.98", level, self._inputs(self._read), (kind,), payload=EventPayload,
            untyped=(kind,), details={kind: details}, parameters={"within_us": query.within_us}, amends=(kind,),
            annuls=(kind,), source="paper 003; docs/patterns.md",
        )  # fmt: skip
        self._completing = {step for branch in self._branches for step in branch.steps[branch.complete_from :]}

    @classmethod
    def of_text(cls, name: str, text: str, pitch: Pitch | None = None) -> PatternDetector:
        """The detector of a query's text on a pitch; one without a name is called ``name``.

        Raises:
            PatternError: as for the class, and for the text.
        """
        query = parse(text)
        return cls(query._replace(name=query.name or name, pitch=pitch or Pitch()))

    def watch(self, specs: Sequence[Spec]) -> None:
        """Learn which detectors a match has: what its source cannot show is left out, and steps with it find nothing.

        A pattern of which no step can be found, or no bound can be counted, has no inputs then. Events that annul or
        correct those of the pattern become inputs. Where nothing changes its events, less is kept.
        """
        levels = {kind: spec.level for spec in specs for kind in spec.outputs}
        public = [
            kind for spec in specs if spec.level < self.spec.level for kind in spec.outputs if kind not in spec.internal
        ]
        taken = [kind for kind in public if any(step.takes(kind) for step in self._steps)]
        self._kinds = tuple(dict.fromkeys((*self._kinds, *taken)))
        self._read = self._read.union(public if self.strategy == "strict" else taken)
        can_match = any(kind in levels for kind in self._kinds) and all(name in levels for _, name in self._limits)
        read = frozenset(kind for kind in self._read if kind in levels) if can_match else frozenset()
        self._levels = {kind: levels[kind] for kind in read}
        self._changing = frozenset(kind for spec in specs for kind in (*spec.amends, *spec.annuls) if kind in read)
        annulling = [
            kind
            for spec in specs
            if any(kind in read and kind not in spec.outputs for kind in spec.annuls)
            for kind in spec.outputs
            if kind not in spec.internal
        ]
        inputs = self._inputs(read, annulling) if read else ()
        keyed = bool(self.query.keys) and not (self._limits or self._settles or self._changing)
        self.spec = replace(self.spec, inputs=inputs, keyed=keyed)

    def _inputs(self, read: frozenset[str], annulling: Sequence[str] = ()) -> tuple[str, ...]:
        own = (*self._kinds, *(name for _, name in self._limits), *sorted(read))
        ticks = (_TICK,) if self._settles else ()
        return tuple(dict.fromkeys((*(kind for kind in own if kind in read), *annulling, *ticks)))

    def key(self, event: Event) -> str:
        """The values of ``PER``; events of one partition share them."""
        values = _values(event)
        return "|".join(str(values.get(name, "")) for name in self.query.keys)

    def initial(self) -> Held:
        """No events."""
        return Held()

    def step(self, state: Held, event: Event) -> Step[Held]:
        """The window with the event, and the matches that it completes, settles, changes or breaks."""
        if event.kind == _TICK:
            return self._settle(state, event.ts_us)
        settled: Sequence[Event] = NOTHING
        if self._settles:
            state, settled = self._settle(state, event.ts_us)
        before = state if self._settles else state.since(event.ts_us - self._reach_us(self.query.within_us))
        after, changed_us = self._taken(before, event)
        if not changed_us:
            return after, settled
        if self._only_adds(before, after, event.ts_us):
            new = after.window[-1]
            if self._settles or not self._may_complete(new):
                return after, settled
            found = self._ending_with(after.window, new)
            return after, (*settled, *(self._event(match, event.ts_us) for match in found))
        after, changes = self._changed(before, after, min(changed_us), max(changed_us), event.ts_us)
        return after, (*settled, *changes)

    def _only_adds(self, before: Held, after: Held, now_us: int) -> bool:
        """True if something happens now, behind all that was known: it completes matches, and changes none."""
        known, window = before.window, after.window
        if len(window) != len(known) + 1 or window[-1].ts_us != now_us or (known and known[-1] is window[-1]):
            return False
        # What a limit counts may break a match that ended at the same instant.
        return not self._limits or not known or known[-1].ts_us < now_us

    def _reach_us(self, needed_us: int) -> int:
        """How far back inputs are kept: what may change is kept as long as it may, with all that it may concern."""
        return AMENDABLE_US + 2 * self.query.within_us if self._changing else needed_us

    def _taken(self, state: Held, event: Event) -> tuple[Held, list[int]]:
        """The state with what an input states, and the times under which something was or is published."""
        times: list[int] = []

        def put(state: Held, name: str, version: Event | None) -> Held:
            """Publish a version under a name from now on, or nothing."""
            left = state.without(name)
            if left is not state:
                times.append(next(held.ts_us for held in state.window if held.id == name))
            new = self._pattern_event(version, name) if version is not None else None
            if new is None:
                return left
            times.append(new.ts_us)
            return left.added(new)

        if event.annuls:
            version = None
            if isinstance(event.payload, Correction):
                version = next((one for one in state.stated if one.id == event.annuls), None)
                version = event.payload.corrected(version) if version is not None else None
            state = put(state, event.annuls, version)
        if event.kind not in self._read or event.annuls == event.id:
            return state, times
        published = event if event.dated_us is None else msgspec.structs.replace(event, ts_us=event.dated_us)
        if published.ts_us < event.ts_us - self._reach_us(self.query.within_us):
            return state, times
        if event.kind not in self._changing:
            new = self._pattern_event(published, event.id or f"{event.kind}:{event.source}:{event.seq}")
            return (state, times) if new is None else (state.added(new), [*times, new.ts_us])
        stated = tuple(one for one in state.stated if one.id != event.id)
        return put(state._replace(stated=(*stated, published)), event.id, published), times

    def _pattern_event(self, version: Event, name: str) -> PatternEvent | None:
        """An input as patterns see it; None if it lacks a key, and counts for nothing."""
        payload = _values(version)
        is_counted = any(version.kind == counted for _, counted in self._limits)
        if version.kind not in self._read or not (is_counted or self._has_keys(payload)):
            return None
        return PatternEvent(
            version.ts_us, (self._levels.get(version.kind, 0), version.kind), name, version.kind, payload
        )

    def _changed(self, before: Held, after: Held, begin_us: int, end_us: int, now_us: int) -> Step[Held]:
        """The differences of the matches around inputs that changed, as versions and annulments."""
        if self._settles:
            late = [e.ts_us for e in after.window if e.ts_us <= after.settled_us]
            late = [ts_us for ts_us in late if self._window_end_us(after.window, ts_us) >= now_us]
            if late:
                after = after._replace(settled_us=min(late) - 1)
        old, new = (self._around(state, begin_us, end_us) for state in (before, after))
        out: list[Event] = []
        for name, match in sorted({**old, **new}.items()):
            if old.get(name) != new.get(name):
                seq, annuls = after.changes + len(out) + 1, "" if name in new else name
                out.append(msgspec.structs.replace(match, ts_us=now_us, seq=seq, dated_us=match.ts_us, annuls=annuls))
        return after._replace(changes=after.changes + len(out)), tuple(out)

    def _around(self, state: Held, begin_us: int, end_us: int) -> dict[str, Event]:
        """The matches that an input within some time may concern and that were emitted, as published, by id."""
        within_us, found = self.query.within_us, dict[str, Event]()
        if self._settles:
            latest_us = min(end_us + within_us, state.settled_us)
            for match, last_us in self._beginning_between(state.window, begin_us - within_us, latest_us):
                event = self._event(match, last_us, last_us)
                found[event.id] = event
            return found
        window = state.window
        low, high = bisect_left(window, (begin_us,)), bisect_left(window, (end_us + within_us + 1,))
        for last in window[low:high]:
            if self._may_complete(last):
                for match in self._ending_with(window, last):
                    event = self._event(match, last.ts_us)
                    found[event.id] = event
        return found

    def _ending_with(self, window: Window, last: PatternEvent) -> list[Match]:
        """The matches that end with an event."""
        # NOT at the beginning looks back a window from the end, and what counts passes does so, too.
        begin = bisect_left(window, (last.ts_us - self.query.within_us,))
        seen = window[begin : bisect_right(window, last)]
        found = (match for anchors in self._anchors(seen, self._partition(last)) for match in anchors.ending_with(last))
        return _each_once(found)

    def _settle(self, state: Held, now_us: int) -> Step[Held]:
        """Forget the first events with a window that is over, and emit their matches."""
        window, within_us = state.window, self.query.within_us
        waiting = window[bisect_left(window, (state.settled_us + 1,)) :]
        over_us = [held.ts_us for held in waiting if self._window_end_us(window, held.ts_us) < now_us]
        if not over_us:
            return state, NOTHING
        end_us = max(over_us)
        events = tuple(
            self._settled(match, last_us, now_us)
            for match, last_us in self._beginning_between(window, min(over_us), end_us)
        )
        # A match may lie within one that begins up to a window earlier, and NOT looks back as far.
        oldest_us = end_us - within_us if not self._changing else now_us - self._reach_us(within_us)
        return state.since(min(oldest_us, end_us - within_us))._replace(settled_us=end_us), events

    def _settled(self, match: Match, last_us: int, now_us: int) -> Event:
        return msgspec.structs.replace(self._event(match, last_us, last_us), ts_us=now_us, dated_us=last_us)

    def _beginning_between(self, window: Window, begin_us: int, end_us: int) -> list[tuple[Match, int]]:
        """The matches that begin within some time, inclusive, each with the end of its window."""
        low, high = bisect_left(window, (begin_us,)), bisect_left(window, (end_us + 1,))
        within_us, found = self.query.within_us, list[Match]()
        near = window[bisect_left(window, (begin_us - within_us,)) : bisect_left(window, (end_us + within_us + 1,))]
        for partition in dict.fromkeys(self._partition(held) for held in window[low:high]):
            if None not in partition:
                for anchors in self._anchors(near, partition):
                    found += anchors.beginning_between(begin_us, end_us)
        return [(match, self._window_end_us(window, match[0].ts_us)) for match in _each_once(found)]

    def _window_end_us(self, window: Window, first_us: int) -> int:
        """Latest time of a match that begins at some time."""
        if not self._limits:
            return first_us + self.query.within_us
        search = Search(self.query, self._branches[0], (), (), [], _MOST, self._counted(window))
        return search.end_us(PatternEvent(first_us, (), "", "", {}))

    def _counted(self, window: Window) -> list[tuple[Limit, list[PatternEvent]]]:
        return [(limit, [event for event in window if event.kind == kind]) for limit, kind in self._limits]

    def _may_complete(self, event: PatternEvent) -> bool:
        return self._has_keys(event.payload) and any(step.takes(event.kind) for step in self._completing)

    def _has_keys(self, payload: dict[str, Any]) -> bool:
        return all(name in payload for name in self.query.keys)

    def _partition(self, event: PatternEvent) -> tuple[Any, ...]:
        return tuple(event.payload.get(name) for name in self.query.keys)

    def _anchors(self, window: Window, partition: tuple[Any, ...]) -> Iterator[Anchors]:
        """The searches of all branches over one partition of the window."""
        keys = bool(self.query.keys) and not self.spec.keyed
        events = [event for event in window if self._partition(event) == partition] if keys else list(window)
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


def in_match(query: Query) -> Query:
    """A query as it is meant within one match: ``PER match`` is all of it, ``PER possession`` is ``WITHIN possession``.

    A possession begins with the event that is counted for it, so there is nothing that an event would have to carry.
    """
    limits = query.limits
    if "possession" in query.keys and not any(limit.kinds == POSSESSIONS for limit in limits):
        limits = (*limits, Limit(POSSESSIONS, 0, with_first=False))
    keys = tuple(name for name in query.keys if name not in ("match", "possession"))
    return query._replace(keys=keys, limits=limits)


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

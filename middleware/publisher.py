"""The publisher: the last stage before updates leave; it cancels what undoes itself and applies amendments.

Theory of operation
-------------------
Some properties of an event become known long after it: whether a pass arrives, after seconds; whether a goal counts,
after two minutes. The event must not wait for them. The ordering units cannot withdraw it then, because it may be
final. So the detector emits another event, dated when it knows, and that changes what is *published*:

* a **version**: an event of a kind that its detector ``amends``, with the id of one that it emitted before. The
  publisher sends -1 of the older and +1 of the newer one, dated as ``dated_us`` says;
* an **annulment**: an event that names another's id in ``annuls``. The publisher sends -1 of what it names;
* a **correction**: an annulment whose payload is a ``Correction``. The publisher also sends +1 of the newest version,
  corrected. A correction of nothing makes nothing.

Inside the engine both are ordinary events: detectors above get each version as an input of its own.

All assertions and annulments of one id are its *statements*. In the order of event time (an annulment is last in its
instant, else the canonical order decides) the last statement counts: a version stands, after an annulment nothing does,
after a correction the corrected version. Corrections do not add up: each is about the newest version.
When a repair withdraws a statement, the one before it counts again. Statements more than ``AMENDABLE_US`` apart do not
concern the same event: that bounds what must be remembered.

Below the watermark nothing but a statement changes what was published. The oracle applies the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from middleware.consolidation import without_cancelled
from middleware.events import Correction, Event, Key, Update, canonical_key
from middleware.isolation import Report, deciding_event

#: How long after the last statement about an event another may follow.
AMENDABLE_US = 600_000_000


class Publisher:
    """Turns updates of sparse events into what is published.

    Args:
        rank: canonical rank of the kinds.
        amendable: kinds that may be amended or annulled.
    """

    def __init__(self, rank: Mapping[str, int], amendable: frozenset[str]) -> None:
        self._rank = rank
        self._amendable = amendable
        self._statements: dict[str, list[Event]] = {}
        self._standing: dict[Key, list[Event]] = {}
        self._next_forget_us: int | None = None

    def publish(self, updates: list[Update], report: Report) -> list[Update]:
        """Return the updates as they leave the engine.

        Args:
            updates: of one walk through the levels.
            report: receives faults, such as events under one key; the text begins with the kind.
        """
        if not updates:
            return updates
        out: list[Update] = []
        for update in without_cancelled(updates):
            event = update.event
            if event.kind in self._amendable:
                out.extend(self._amend(event.id, event, update.diff, report))
            else:
                out.extend(self._plain(update, report))
            if event.annuls and (event.annuls != event.id or event.kind not in self._amendable):
                out.extend(self._amend(event.annuls, event, update.diff, report))
        return without_cancelled(out)

    def forget(self, watermark_us: int) -> None:
        """Forget events that cannot change any more.

        Args:
            watermark_us: event time below which no published event is asserted or withdrawn any more.
        """
        self._standing = {key: events for key, events in self._standing.items() if key[0] >= watermark_us}
        if self._next_forget_us is None or watermark_us >= self._next_forget_us:
            oldest_us = watermark_us - AMENDABLE_US
            # Each by itself: an event that is amended for hours is remembered no longer than one stated once.
            young = ((name, [e for e in all_ if e.ts_us >= oldest_us]) for name, all_ in self._statements.items())
            self._statements = {name: statements for name, statements in young if statements}
            self._next_forget_us = watermark_us + AMENDABLE_US // 10

    def state(self) -> tuple[object, ...]:
        """Return what must survive a restart."""
        return self._statements, self._standing, self._next_forget_us

    def resume(self, state: tuple[object, ...]) -> None:
        """Continue from what :meth:`state` returned."""
        self._statements, self._standing, self._next_forget_us = state  # type: ignore[assignment]

    def _plain(self, update: Update, report: Report) -> Iterator[Update]:
        """Publish an event of a kind that is never amended; of several under one key one counts."""
        event = update.event
        key = canonical_key(event, self._rank)
        same = self._standing.get(key)
        if same is None:
            if update.diff > 0:
                self._standing[key] = [event]
                yield update
            else:
                report("unmatched", _named(event))
            return
        before = deciding_event(same)
        if update.diff > 0:
            same.append(event)
            report("doubled", _named(event))
        elif event in same:
            same.remove(event)
        else:
            report("unmatched", _named(event))
        after = deciding_event(same) if same else None
        if after is None:
            del self._standing[key]
        if before is not after:
            yield Update(before, -1)
            if after is not None:
                yield Update(after, 1)

    def _amend(self, name: str, event: Event, diff: int, report: Report) -> Iterator[Update]:
        """Publish the effect of a statement about the event called ``name``, or of its withdrawal."""
        statements = self._statements.setdefault(name, [])
        before = self._standing_versions(name, statements)
        if diff > 0:
            statements.append(event)
        elif event in statements:
            statements.remove(event)
        else:
            report("unmatched", _named(event))
        after = self._standing_versions(name, statements)
        for old in before:
            if old not in after:
                yield Update(_as_published(old), -1)
        for new in after:
            if new not in before:
                yield Update(_as_published(new), 1)
        if not statements:
            del self._statements[name]

    def _standing_versions(self, name: str, statements: list[Event]) -> list[Event]:
        """Return the versions that stand, each after the last of statements close to each other."""
        if len(statements) < 2:
            return [event for event in statements if event.annuls != name]
        ordered = sorted(statements, key=lambda e: (e.ts_us, e.annuls == name, canonical_key(e, self._rank), repr(e)))
        standing: list[Event] = []
        version: Event | None = None
        for event, following in zip(ordered, [*ordered[1:], None], strict=True):
            if event.annuls != name:
                version = event
            if following is None or following.ts_us - event.ts_us > AMENDABLE_US:
                standing.extend(_stated(event, name, version))
                version = None
        return standing


def _stated(last: Event, name: str, version: Event | None) -> Iterator[Event]:
    """Yield what stands after the last statement about the event called ``name``; ``version`` is its newest one."""
    if last.annuls != name:
        yield last
    elif version is not None and isinstance(last.payload, Correction):
        yield last.payload.corrected(_as_published(version))


def _as_published(event: Event) -> Event:
    """Return a version under the time of the event that it is a version of."""
    if event.dated_us is None:
        return event
    return msgspec.structs.replace(event, ts_us=event.dated_us, dated_us=None)


def _named(event: Event) -> str:
    return f"{event.kind} at {event.ts_us} us from {event.source} {event.seq} {event.id}"

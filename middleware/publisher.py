"""The last stage before updates leave: what undoes itself goes, and the last word about an event counts.

Theory of operation
-------------------
Some of what a detector says is known late: whether a pass arrives after seconds, whether a goal counts after two
minutes. It must not be held back, and it can't be a withdrawal in the ordering units, for it may concern what is long
final. So it is another event, at the time at which it became known, and its effect is on what is *published*:

* a **version**: an event of a kind that its detector ``amends``, with the id of one that it emitted before. Published
  is -1 of the older and +1 of the newer one, dated as ``dated_us`` says;
* an **annulment**: an event that names another's id in ``annuls``. Published is -1 of what it names.

Inside the engine both are ordinary events: detectors above see each version as an input of its own.

All assertions and annulments of one id are its *words*. In the order of event time (an annulment comes last in its
instant, else the canonical order decides) the last word counts: a version stands, after an annulment nothing does.
When a word is withdrawn by a repair, the one before it counts again. Words more than ``AMENDABLE_US`` apart are not
about the same thing: that bounds what must be remembered.

Below the frontier nothing but such a decision changes what was published; the oracle applies the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from middleware.consolidation import without_cancelled
from middleware.events import Event, Key, Update, canonical_key
from middleware.isolation import Report, deciding_event

#: How long after the last word about an event another one may follow.
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
        self._words: dict[str, list[Event]] = {}
        self._standing: dict[Key, list[Event]] = {}
        self._next_forget_us: int | None = None

    def publish(self, updates: list[Update], report: Report) -> list[Update]:
        """Updates as they leave the engine.

        Args:
            updates: of one walk through the levels.
            report: told of events that claim to be the same; the text begins with the kind.
        """
        if not updates:
            return updates
        out: list[Update] = []
        for update in without_cancelled(updates):
            event = update.event
            if event.kind in self._amendable:
                out.extend(self._word(event.id, event, update.diff, report))
            else:
                out.extend(self._plain(update, report))
            if event.annuls and (event.annuls != event.id or event.kind not in self._amendable):
                out.extend(self._word(event.annuls, event, update.diff, report))
        return without_cancelled(out)

    def forget(self, final_us: int) -> None:
        """Forgets events that can't change any more.

        Args:
            final_us: event time below which no published event is asserted or withdrawn any more.
        """
        self._standing = {key: events for key, events in self._standing.items() if key[0] >= final_us}
        if self._next_forget_us is None or final_us >= self._next_forget_us:
            oldest_us = final_us - AMENDABLE_US
            # Word by word: what is said again and again for hours is remembered no longer than what is said once.
            young = ((name, [e for e in words if e.ts_us >= oldest_us]) for name, words in self._words.items())
            self._words = {name: words for name, words in young if words}
            self._next_forget_us = final_us + AMENDABLE_US // 10

    def state(self) -> tuple[object, ...]:
        """What must survive a restart."""
        return self._words, self._standing, self._next_forget_us

    def resume(self, state: tuple[object, ...]) -> None:
        """Goes on from what :meth:`state` gave."""
        self._words, self._standing, self._next_forget_us = state  # type: ignore[assignment]

    def _plain(self, update: Update, report: Report) -> Iterator[Update]:
        """An event of a kind that is never amended; of several under one key one counts."""
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

    def _word(self, name: str, event: Event, diff: int, report: Report) -> Iterator[Update]:
        words = self._words.setdefault(name, [])
        before = self._last_words(name, words)
        if diff > 0:
            words.append(event)
        elif event in words:
            words.remove(event)
        else:
            report("unmatched", _named(event))
        after = self._last_words(name, words)
        for old in before:
            if old not in after:
                yield Update(_as_published(old), -1)
        for new in after:
            if new not in before:
                yield Update(_as_published(new), 1)
        if not words:
            del self._words[name]

    def _last_words(self, name: str, words: list[Event]) -> list[Event]:
        """Versions that stand: of words that follow close upon each other the last, unless it is an annulment."""
        if len(words) < 2:
            return [word for word in words if word.annuls != name]
        ordered = sorted(words, key=lambda e: (e.ts_us, e.annuls == name, canonical_key(e, self._rank), repr(e)))
        return [
            word
            for word, following in zip(ordered, [*ordered[1:], None], strict=True)
            if word.annuls != name and (following is None or following.ts_us - word.ts_us > AMENDABLE_US)
        ]


def _as_published(event: Event) -> Event:
    """A version under the time of what it is a version of."""
    if event.dated_us is None:
        return event
    return msgspec.structs.replace(event, ts_us=event.dated_us, dated_us=None)


def _named(event: Event) -> str:
    return f"{event.kind} at {event.ts_us} us from {event.source} {event.seq} {event.id}"

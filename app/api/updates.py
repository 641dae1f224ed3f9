"""Reads the updates of a match from any number on: committed ones from its store, newer ones from the hub's feed.

A client remembers the next number and the epoch of its last answer, and asks from there. If an engine stage was
replaced meanwhile, some updates that the client has may not stand any more. The answer then continues from a lower
number: the client undoes its updates from that number on, newest first, and takes the new ones
(``football/update_stream.py``).
"""

from __future__ import annotations

from pathlib import Path

from app.api.answers import Portion
from app.api.served import ServedFeed
from football.update_stream import UpdateRecord
from replay.event_choice import Choice
from replay.match_store import committed_updates

#: Updates of one answer; a client asks again for more.
UPDATES_MAX = 5_000


class UpdateReader:
    """Reads the updates of one match.

    Args:
        feed: of the match.
        folder: of its store.
    """

    def __init__(self, feed: ServedFeed, folder: Path) -> None:
        self._feed, self._folder = feed, folder

    def read(self, since: int, epoch: int | None, choice: Choice, limit: int = UPDATES_MAX) -> Portion:
        """Return the portion after what a client has.

        Args:
            since: number of the first update that the client lacks.
            epoch: of its last answer; None if it has no update yet.
            choice: which updates the answer has.
            limit: greatest number of updates, before the choice.

        Raises:
            StoreError: the store is damaged.
        """
        feed = self._feed
        frontier_us, now_us, has_ended = feed.frontier_us(), feed.now_us(), feed.ended()
        newest = feed.next_seq() if epoch is None else feed.valid_until(epoch)
        begin = max(0, min(since, newest))
        found = self._committed(begin, limit) if begin < feed.settled_seq() else feed.standing_updates(begin, limit)
        end = found[-1].seq + 1 if found else begin
        is_last = has_ended and end >= feed.next_seq()
        taken = [one for one in found if choice.takes(one.event)]
        return Portion(begin, end, feed.epoch_of(end - 1) if end else feed.epoch(), frontier_us, now_us, is_last, taken)

    def has_news(self, portion: Portion) -> bool:
        """True if there is something after a portion. It reads memory only."""
        feed = self._feed
        later = feed.valid_until(portion.epoch) < portion.next or feed.next_seq() > portion.next
        return later or feed.frontier_us() > portion.frontier_us or (feed.ended() and not portion.ended)

    def _committed(self, begin: int, limit: int) -> list[UpdateRecord]:
        found: list[UpdateRecord] = []
        for updates, _ in committed_updates(self._folder, begin_seq=begin):
            found += updates[: limit - len(found)]
            if len(found) >= limit:
                break
        return found

"""From the fast lane into topics: updates as they are said, positions, and what was kept out.

Theory of operation
-------------------
The relay follows the hub, so an update leaves as early as it does for the page. A later process may have to take back
what a relay has sent. So when a relay begins, it reads what of the match stands in the topic, undoes what the store
does not confirm, and sends what is missing; from then on it sends what its feed applies. ``relay.json`` in the match
store holds the newest offset at which the topic is certain to agree with what is committed, so only records after it
are read. Quarantined records are sent out of the store, see :mod:`app.kafka.dead_letters`.

Before it sends anything, a relay writes a ``begin`` record (:class:`app.kafka.updates.WriterFence`) and reads up to it.
What stands then is final: records of an older relay that arrive later are of a session that is no longer current. A
relay whose session was current and no longer is has been replaced, and ends.

The update stream never waits for a broker. A thread sends; while no broker answers, updates wait in memory. If the
producer gave up on records, the relay begins again as above.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from app.base.files import write_atomically
from app.hub.feed import MatchFeed
from app.kafka import updates
from app.kafka.address import Address, KafkaError
from app.kafka.clients import (
    consumer,
    header_of,
    kind_of,
    make_topic,
    partitions_of,
    poll_records,
    producer,
    translate_kafka_errors,
)
from app.kafka.dead_letters import (
    DeadLetter,
    DeadLetterMark,
    DeadLetterReader,
    decode_dead_letter,
    read_mark,
    write_mark,
)
from app.kafka.records import headers
from app.kafka.updates import Begin, StandingUpdates, TopicUpdate, WriterFence, topic_updates
from football.update_stream import UpdateMessage, UpdateRecord
from replay.match_store import StoreError

_POLL_MS = 500
_PLACES_KEPT = 4_000
_RETRY_S = 1.0
#: Updates go first: so many letters are sent between what two messages of the lane say.
_LETTERS_AT_ONCE = 500
#: At the end of a run, how long a broker that does not answer is tried again.
_LAST_TRIES_S = 30.0
_log = logging.getLogger(__name__)


class Mark(msgspec.Struct, frozen=True):
    """In ``partition``, the records before ``offset`` leave the updates before ``seq`` standing, all committed.

    ``session`` has the floor there.
    """

    partition: int
    offset: int
    seq: int
    session: str = ""


class ReplacedError(Exception):
    """Another relay speaks for the match now."""


class Relay:
    """Sends one match's feed to topics; a context manager. Leaving it waits until all is sent.

    Args:
        feed: of the match, seeded with what is committed.
        address: topic of updates; those of positions and rejected records stand beside it.
        folder: of the match store.

    Raises:
        KafkaError: no broker answers at the start.
    """

    def __init__(self, feed: MatchFeed, address: Address, folder: Path) -> None:
        self._feed, self._address, self._folder = feed, address, folder
        self._mark_path = folder / "relay.json"
        self._match = feed.sheet().match_id
        self._heard_of: queue.SimpleQueue[UpdateMessage | None] = queue.SimpleQueue()
        self._cursor = 0
        self._next_seq = 0
        self._failed: list[BaseException] = []
        self._places: deque[Mark] = deque(maxlen=_PLACES_KEPT)
        self._sessions = [""]
        self._had_floor = False
        self._complete = False
        self._sent = self._taken = 0
        self._moved_s = time.monotonic()
        self._stored = threading.Event()
        self._letters_after: DeadLetterMark | None = None
        self._letters = DeadLetterReader(folder, self._match)
        self._standing_letters: dict[int, bytes] | None = None
        self._letter_mark: DeadLetterMark | None = None
        self._closing_s: float | None = None
        for suffix in ("", updates.POSITIONS_SUFFIX, updates.REJECTED_SUFFIX):
            make_topic(address.sibling(suffix))
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def __enter__(self) -> Relay:
        self._context = contextlib.ExitStack()
        self._context.enter_context(self._feed.subscribed(self._heard))
        self._thread.start()
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._context.close()
        self._complete = failure is None and self._feed.ended()
        self._closing_s = time.monotonic()
        self._heard_of.put(None)
        self._thread.join()
        self._mark_letters()

    def waiting(self) -> int:
        """Records that are to be told and that no broker has taken yet."""
        return self._heard_of.qsize() + max(0, self._sent - self._taken)

    def waits_s(self) -> float:
        """For how long no broker has taken any, though some wait."""
        return time.monotonic() - self._moved_s if self.waiting() > 0 else 0.0

    def _has_taken(self, _: object) -> None:
        self._taken += 1
        self._moved_s = time.monotonic()

    def committed(self, seq: int) -> None:
        """A batch is in the store: updates before ``seq`` are certain, and what it kept out may be told."""
        self._stored.set()
        certain = [place for place in tuple(self._places) if place.seq <= seq]
        self._mark_letters()
        if certain:
            with contextlib.suppress(OSError):  # the disk may be full: then more is read when the next relay begins
                write_atomically(self._mark_path, msgspec.json.encode(certain[-1]))

    def _mark_letters(self) -> None:
        if self._letter_mark is not None:
            with contextlib.suppress(OSError):  # as above
                write_mark(self._folder, self._letter_mark)

    def _heard(self, message: UpdateMessage, applied: Sequence[UpdateRecord]) -> None:
        if not self.waiting():
            self._moved_s = time.monotonic()  # from now on something waits
        self._heard_of.put(message)

    def _run(self) -> None:
        while True:
            try:
                if self._send_all():
                    return
            except ReplacedError as error:
                _log.error("%s: %s; this one says nothing more", self._address.url, error)
                return
            except (KafkaError, updates.GapError) as error:
                _log.warning("updates wait for %s: %s", self._address.topic, error)
            if self._closing_s is not None and time.monotonic() > self._closing_s + _LAST_TRIES_S:
                _log.error("%s: not everything could be sent; the next run in this store does it", self._address.url)
                return
            time.sleep(_RETRY_S)

    def _send_all(self) -> bool:
        """Brings the topic to where the feed is, then sends what is heard until the end.

        Returns False if records were given up on: then what stands in the topic must be looked at again.
        """
        self._failed.clear()
        self._places.clear()
        self._sent = self._taken = 0
        sender = producer(self._address)
        try:
            self._catch_up(sender, self._take_the_floor(sender))
            self._letters_after = read_mark(self._folder)
            self._letters, self._standing_letters = (
                DeadLetterReader(self._folder, self._match, self._letters_after),
                None,
            )
            self._stored.set()
            while not self._failed:
                message = None if self._closing_s is not None and self._heard_of.empty() else self._heard_of.get()
                self._send_news(sender)
                self._send_letters(sender, to_the_end=message is None)
                if message is None:
                    if self._complete:
                        self._put(sender, self._address, updates.END, {"match": self._match})
                    with translate_kafka_errors(self._address):
                        sender.flush()
                    return not self._failed
                if message.view is not None:
                    self._put(sender, self._address.sibling(updates.POSITIONS_SUFFIX), updates.VIEW, message.view)
            return False
        finally:
            sender.close()

    def _send_news(self, sender: KafkaProducer) -> None:
        """What the feed has applied since the last time."""
        self._cursor, applied = self._feed.events_since(self._cursor)
        for record in topic_updates(self._match, self._next_seq, applied):
            self._send_update(sender, record)

    def _send_letters(self, sender: KafkaProducer, *, to_the_end: bool) -> None:
        """What the store has kept out and the topic does not hold; only some of it while the match plays."""
        while self._stored.is_set():
            self._stored.clear()
            try:
                letters = self._letters.take(_LETTERS_AT_ONCE)
            except StoreError as error:
                _log.error("what was kept out cannot be told any more: %s", error)
                return
            if letters and self._standing_letters is None and not self._look_for_letters():
                self._letters = DeadLetterReader(self._folder, self._match)
                self._stored.set()
                continue
            for letter in letters:
                if (self._standing_letters or {}).pop(letter.seq, b"") != letter.digest():
                    self._send_letter(sender, letter)
            if len(letters) == _LETTERS_AT_ONCE:
                self._stored.set()
            if not to_the_end:
                return

    def _send_letter(self, sender: KafkaProducer, letter: DeadLetter) -> None:
        def arrived(at: Any) -> None:
            if not self._failed:
                self._letter_mark = DeadLetterMark(at.partition, at.offset + 1, letter.seq, letter.batch, letter.number)

        self._put(sender, self._address.sibling(updates.REJECTED_SUFFIX), updates.REJECTED, letter).add_callback(
            arrived
        )

    def _look_for_letters(self) -> bool:
        """Reads what stands of the match in the topic of rejected records; False if the mark does not serve."""
        address = self._address.sibling(updates.REJECTED_SUFFIX)
        client = consumer(address)
        try:
            ends, as_marked = self._seek(client, address, self._letters_after)
            with translate_kafka_errors(address):
                found = (decode_dead_letter(record.value) for record in self._records(client, ends))
                self._standing_letters = {letter.seq: letter.digest() for letter in found if letter is not None}
            return as_marked or self._letters_after is None
        finally:
            client.close()

    def _catch_up(self, sender: KafkaProducer, standing: StandingUpdates) -> None:
        """Undoes what the feed does not hold, and sends what the topic lacks."""
        self._cursor, log = self._feed.events_since(0)
        held = StandingUpdates()
        for record in topic_updates(self._match, 0, log):
            held.take(record)
        agreed = min(standing.next_seq, held.next_seq)
        while agreed > standing.begin and not _same(standing.at(agreed - 1), held.at(agreed - 1)):
            agreed -= 1
        for void in reversed(standing.since(agreed)):
            self._send_update(sender, msgspec.structs.replace(void, diff=-void.diff, undo=True))
        self._next_seq = agreed
        for record in held.since(agreed):
            self._send_update(sender, record)

    def _take_the_floor(self, sender: KafkaProducer) -> StandingUpdates:
        """What of the match stands in the topic where this relay begins to speak, as far back as may be undone.

        Raises:
            ReplacedError: this relay had the floor, and somebody else has it now.
            KafkaError: no broker, or somebody else was quicker.
        """
        client = consumer(self._address)
        try:
            mark = self._mark()
            ends, as_marked = self._seek(client, self._address, mark)
            line, floor = (
                (StandingUpdates(mark.seq), WriterFence(mark.session))
                if mark and as_marked
                else (StandingUpdates(), WriterFence())
            )
            with translate_kafka_errors(self._address):
                self._read_on(client, line, floor, ends)
                if self._had_floor and floor.session not in self._sessions:
                    raise ReplacedError(f"another relay speaks for {self._match}")
                begin = Begin(self._match, secrets.token_hex(8), floor.session)
                self._sessions.append(begin.session)
                at = self._put(sender, self._address, updates.BEGIN, begin).get(_LAST_TRIES_S)
                self._read_on(client, line, floor, {TopicPartition(at.topic, at.partition): at.offset + 1})
            if floor.session != begin.session:
                raise KafkaError(f"{self._address.topic}: somebody else began to speak for {self._match} just then")
            self._had_floor = True
            return line
        finally:
            client.close()

    def _read_on(
        self, client: KafkaConsumer, line: StandingUpdates, floor: WriterFence, ends: Mapping[TopicPartition, int]
    ) -> None:
        for record in self._records(client, ends):
            kind, session = kind_of(record), header_of(record, updates.SESSION)
            if floor.admits(kind, session, record.value) and kind == updates.UPDATE:
                line.take(updates.decode(record.value))

    def _seek(
        self, client: KafkaConsumer, address: Address, mark: Mark | DeadLetterMark | None
    ) -> tuple[Mapping[TopicPartition, int], bool]:
        """Stands a client at a mark, or where a topic begins; where the topic ends now, and whether the mark served.

        It does not where the topic was made anew since then.
        """
        parts = partitions_of(client, address)
        with translate_kafka_errors(address):
            client.assign(parts)
            client.seek_to_beginning(*parts)
            ends = client.end_offsets(parts)
            part = TopicPartition(address.topic, mark.partition) if mark else None
            if mark is None or part not in ends or not 0 <= mark.offset <= ends[part]:
                return ends, False
            client.seek(part, mark.offset)
            return ends, True

    def _records(self, client: KafkaConsumer, ends: Mapping[TopicPartition, int]) -> Iterator[Any]:
        """The match's records up to these ends."""
        while any(client.position(part) < end for part, end in ends.items()):
            yield from (record for record in poll_records(client, _POLL_MS) if record.key == self._match.encode())

    def _mark(self) -> Mark | None:
        try:
            return msgspec.json.decode(self._mark_path.read_bytes(), type=Mark)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _send_update(self, sender: KafkaProducer, record: TopicUpdate) -> None:
        self._next_seq = record.seq if record.undo else record.seq + 1
        standing = self._next_seq
        sent = self._put(sender, self._address, updates.UPDATE, record)
        session = self._sessions[-1]
        sent.add_callback(lambda at: self._places.append(Mark(at.partition, at.offset + 1, standing, session)))

    def _put(self, sender: KafkaProducer, address: Address, kind: str, value: object) -> Any:
        head = [*headers(kind, updates.VERSION), (updates.SESSION, self._sessions[-1].encode())]
        if self._sent == self._taken:
            self._moved_s = time.monotonic()
        with translate_kafka_errors(address):
            sent = sender.send(address.topic, msgspec.json.encode(value), self._match.encode(), head)
        self._sent += 1
        sent.add_callback(self._has_taken)
        sent.add_errback(self._failed.append)
        return sent


def _same(standing: TopicUpdate, held: TopicUpdate) -> bool:
    return (standing.diff, standing.event) == (held.diff, held.event)

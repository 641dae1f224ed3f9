"""The relay: sends the update stream, positions and quarantined records of a match to topics.

Theory of operation
-------------------
The relay follows the hub, so an update leaves as early as it does for the page. A later process may have to take back
what a relay has sent. So when a relay begins, it reads what of the match stands in the topic, undoes what the store
does not confirm, and sends what is missing; from then on it sends what its feed applies. ``relay.json`` in the match
store holds the newest offset at which the topic is certain to agree with what is committed, so only records after it
are read. Quarantined records are sent out of the store, see :mod:`app.kafka.dead_letters`.

Before it sends anything, a relay writes a ``begin`` record (:class:`app.kafka.updates.WriterFence`) and reads up to it.
An older relay can change nothing of what stands then: its records that arrive later are of a session that is no longer
current. A relay whose session was current and no longer is has been replaced, and ends.

The update stream never waits for a broker, and memory is bounded while none answers. A thread sends. The relay holds a
position in the feed's log, no updates. If the feed no longer retains what follows the position, or if the producer gave
up on records, the relay begins again as above: it reads what is missing from the store, window by window. Positions are
worth nothing later; the newest ``_VIEWS_MAX`` wait.

A record of the topic that cannot be read is another program's. The relay logs its place and the reason, and goes on.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
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
from app.kafka.records import Headers, headers
from app.kafka.updates import Begin, StandingUpdates, TopicUpdate, WriterFence, topic_updates
from football.house_time import HouseTime, TimecodeError
from football.untrusted import UntrustedError, read_json
from football.update_stream import UpdateMessage, UpdateRecord, View
from replay.house_times import read_house_time
from replay.match_store import StoreError, committed_updates

_POLL_MS = 500
_MARKS_MAX = 4_000
#: Positions that wait while no broker answers: four seconds of them.
_VIEWS_MAX = 200
_RETRY_S = 1.0
#: Interval at which the match's house time is read, which people may state at any moment.
_HOUSE_S = 1.0
#: Limit of the dead letters sent between two messages of the update stream, since updates go first.
_DEAD_LETTERS_AT_ONCE = 500
#: Time for which a broker that does not answer is tried again at the end of a run.
_CLOSING_S = 30.0
_log = logging.getLogger(__name__)


class Mark(msgspec.Struct, frozen=True):
    """In ``partition``, the records before ``offset`` leave the updates before ``seq`` standing, all committed.

    ``session`` is the current session there.
    """

    partition: int
    offset: int
    seq: int
    session: str = ""


class BehindError(Exception):
    """The feed no longer retains what the relay has not sent."""


class ReplacedError(Exception):
    """Another relay is the writer of the match now."""


class Relay:
    """Sends one match's feed to topics; a context manager, whose exit waits until all is sent.

    Args:
        feed: of the match, seeded with what is committed.
        address: topic of updates; the topics of positions and rejected records are named after it.
        folder: of the match store.

    Raises:
        KafkaError: no broker answers at the start.
    """

    def __init__(self, feed: MatchFeed, address: Address, folder: Path) -> None:
        self._feed, self._address, self._folder = feed, address, folder
        self._mark_path = folder / "relay.json"
        self._match = feed.sheet().match_id
        self._views: deque[View] = deque(maxlen=_VIEWS_MAX)
        self._news = threading.Event()
        self._cursor = 0
        self._next_seq = 0
        self._failed: list[BaseException] = []
        self._marks: deque[Mark] = deque(maxlen=_MARKS_MAX)
        self._sessions = [""]
        self._house, self._house_due_s = HouseTime(), 0.0
        self._was_current = False
        self._complete = False
        self._sent = self._acknowledged_count = 0
        self._moved_s = time.monotonic()
        self._stored = threading.Event()
        self._dead_letters_after: DeadLetterMark | None = None
        self._dead_letters = DeadLetterReader(folder, self._match)
        self._standing_dead_letters: dict[int, bytes] | None = None
        self._dead_letter_mark: DeadLetterMark | None = None
        self._closing_s: float | None = None
        for suffix in ("", updates.POSITIONS_SUFFIX, updates.REJECTED_SUFFIX):
            make_topic(address.sibling(suffix))
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def __enter__(self) -> Relay:
        self._context = contextlib.ExitStack()
        self._feed.retain_from(lambda: self._cursor)
        self._context.enter_context(self._feed.subscribed(self._enqueue))
        self._thread.start()
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._context.close()
        self._complete = failure is None and self._feed.ended()
        self._closing_s = time.monotonic()
        self._news.set()
        self._thread.join()
        self._write_dead_letter_mark()

    def waiting(self) -> int:
        """Number of records that no broker has acknowledged yet."""
        unsent = max(0, self._feed.update_count() - self._cursor) + len(self._views)
        return unsent + max(0, self._sent - self._acknowledged_count)

    def waits_s(self) -> float:
        """Seconds since a broker acknowledged the last record, while some wait."""
        return time.monotonic() - self._moved_s if self.waiting() > 0 else 0.0

    def _acknowledged(self, _: object) -> None:
        self._acknowledged_count += 1
        self._moved_s = time.monotonic()

    def committed(self, seq: int) -> None:
        """Take note of a commit: updates before ``seq`` are in the store, and its quarantined records may be sent."""
        self._stored.set()
        self._news.set()
        confirmed = [mark for mark in tuple(self._marks) if mark.seq <= seq]
        self._write_dead_letter_mark()
        if confirmed:
            with contextlib.suppress(OSError):  # a full disk: then the next relay reads more
                write_atomically(self._mark_path, msgspec.json.encode(confirmed[-1]))

    def _write_dead_letter_mark(self) -> None:
        if self._dead_letter_mark is not None:
            with contextlib.suppress(OSError):  # as above
                write_mark(self._folder, self._dead_letter_mark)

    def _enqueue(self, message: UpdateMessage, applied: Sequence[UpdateRecord]) -> None:
        if self.waiting() <= len(applied):
            self._moved_s = time.monotonic()  # the wait begins now
        if message.view is not None:
            self._views.append(message.view)
        self._news.set()

    def _run(self) -> None:
        while True:
            try:
                if self._send_all():
                    return
            except ReplacedError as error:
                _log.error("%s: %s; this one ends", self._address.url, error)
                return
            except BehindError:
                _log.warning("updates for %s are read from the store: the relay is far behind", self._address.topic)
                continue
            except (KafkaError, updates.GapError) as error:
                _log.warning("updates wait for %s: %s", self._address.topic, error)
            if self._closing_s is not None and time.monotonic() > self._closing_s + _CLOSING_S:
                _log.error("%s: not everything could be sent; the next run in this store does it", self._address.url)
                return
            time.sleep(_RETRY_S)

    def _send_all(self) -> bool:
        """Bring the topic to where the feed is, then send its messages until the end.

        Returns False if the producer gave up on records: then the topic must be read again.
        """
        self._failed.clear()
        self._marks.clear()
        self._sent = self._acknowledged_count = 0
        sender = producer(self._address)
        try:
            self._catch_up(sender, self._begin_session(sender))
            self._dead_letters_after = read_mark(self._folder)
            self._dead_letters = DeadLetterReader(self._folder, self._match, self._dead_letters_after)
            self._standing_dead_letters = None
            self._stored.set()
            self._news.set()
            while not self._failed:
                self._news.wait()
                self._news.clear()
                closing = self._closing_s is not None  # before the updates are read: nothing follows them then
                self._send_updates(sender)
                self._send_views(sender)
                self._send_dead_letters(sender, to_the_end=closing)
                if closing:
                    if self._complete:
                        self._put(sender, self._address, updates.END, {"match": self._match})
                    with translate_kafka_errors(self._address):
                        sender.flush()
                    return not self._failed
            return False
        finally:
            sender.close()

    def _send_updates(self, sender: KafkaProducer) -> None:
        """Send what the feed has applied since the last call."""
        end, applied = self._feed.events_since(self._cursor)
        if end - len(applied) != self._cursor:
            raise BehindError
        for record in topic_updates(self._match, self._next_seq, applied):
            self._send_update(sender, record)
        self._cursor = end

    def _send_views(self, sender: KafkaProducer) -> None:
        """Send the positions that wait."""
        while self._views:
            self._put(sender, self._address.sibling(updates.POSITIONS_SUFFIX), updates.VIEW, self._views.popleft())

    def _send_dead_letters(self, sender: KafkaProducer, *, to_the_end: bool) -> None:
        """Send quarantined records that the topic does not hold; only some of them while the match plays."""
        while self._stored.is_set():
            self._stored.clear()
            try:
                dead_letters = self._dead_letters.take(_DEAD_LETTERS_AT_ONCE)
            except StoreError as error:
                _log.error("quarantined records can no longer be sent: %s", error)
                return
            if dead_letters and self._standing_dead_letters is None and not self._read_standing_dead_letters():
                self._dead_letters = DeadLetterReader(self._folder, self._match)
                self._stored.set()
                continue
            standing = self._standing_dead_letters or {}
            missing = [one for one in dead_letters if standing.pop(one.seq, b"") != one.digest()]
            for dead_letter, following in zip_longest(missing, missing[1:]):
                # The mark covers those that stand in the topic after this one, too.
                covered = following.seq - dead_letters[0].seq - 1 if following else -1
                self._send_dead_letter(sender, dead_letter, dead_letters[covered])
            if len(dead_letters) == _DEAD_LETTERS_AT_ONCE:
                self._stored.set()
            if not to_the_end:
                return

    def _send_dead_letter(self, sender: KafkaProducer, dead_letter: DeadLetter, covered: DeadLetter) -> None:
        """Send a record; once it is acknowledged, the topic holds all records up to the covered one."""

        def acknowledged(at: Any) -> None:
            if not self._failed:
                after = at.offset + 1
                self._dead_letter_mark = DeadLetterMark(at.partition, after, covered.seq, covered.batch, covered.number)

        address = self._address.sibling(updates.REJECTED_SUFFIX)
        self._put(sender, address, updates.REJECTED, dead_letter).add_callback(acknowledged)

    def _read_standing_dead_letters(self) -> bool:
        """Read the match's records in the topic of rejected records; False if the mark is of another topic."""
        address = self._address.sibling(updates.REJECTED_SUFFIX)
        client = consumer(address)
        try:
            ends, as_marked = self._seek(client, address, self._dead_letters_after)
            with translate_kafka_errors(address):
                decoded = (decode_dead_letter(record.value) for record in self._records(client, ends))
                self._standing_dead_letters = {
                    dead_letter.seq: dead_letter.digest() for dead_letter in decoded if dead_letter is not None
                }
            return as_marked or self._dead_letters_after is None
        finally:
            client.close()

    def _catch_up(self, sender: KafkaProducer, standing: StandingUpdates) -> None:
        """Undo updates that the feed does not hold, and send those that the topic lacks."""
        end, begin_seq, log = self._feed.retained_log()
        newest = StandingUpdates(begin_seq)
        for record in topic_updates(self._match, begin_seq, log):
            newest.take(record)
        agreed = min(standing.begin, newest.next_seq)
        for held in self._held(standing.begin, newest):
            if held.seq >= standing.next_seq:
                break
            if _same(standing.at(held.seq), held):
                agreed = held.seq + 1
        for void in reversed(standing.since(agreed)):
            self._send_update(sender, msgspec.structs.replace(void, diff=-void.diff, undo=True))
        self._next_seq = agreed
        for held in self._held(agreed, newest):
            self._send_update(sender, held)
        self._cursor = end

    def _held(self, begin_seq: int, newest: StandingUpdates) -> Iterator[TopicUpdate]:
        """The updates that stand from a number on: out of the store, and the newest ones."""
        yield from topic_updates(self._match, begin_seq, self._read_store(begin_seq, newest.begin))
        yield from newest.since(max(begin_seq, newest.begin))

    def _read_store(self, begin_seq: int, end_seq: int) -> Iterator[UpdateRecord]:
        """Updates between these numbers, which are committed and no longer in the feed's log."""
        if begin_seq >= end_seq:
            return
        try:
            for batch, _ in committed_updates(self._folder, begin_seq=begin_seq):
                yield from (update for update in batch if update.seq < end_seq)
        except StoreError as error:
            raise KafkaError(f"{self._match}: its committed updates cannot be read: {error}") from error

    def _begin_session(self, sender: KafkaProducer) -> StandingUpdates:
        """Begin a session; returns the updates that stand in the topic there, as far back as any may be undone.

        Raises:
            ReplacedError: this relay's session was current, and another one is now.
            KafkaError: no broker answers, or another relay was quicker.
        """
        client = consumer(self._address)
        try:
            mark = self._mark()
            ends, as_marked = self._seek(client, self._address, mark)
            standing, fence = StandingUpdates(), WriterFence()
            if mark and as_marked:
                standing, fence = StandingUpdates(mark.seq), WriterFence(mark.session)
            with translate_kafka_errors(self._address):
                self._read_to(client, standing, fence, ends)
                if self._was_current and fence.session not in self._sessions:
                    raise ReplacedError(f"another relay writes for {self._match}")
                begin = Begin(self._match, secrets.token_hex(8), fence.session)
                self._sessions.append(begin.session)
                at = self._put(sender, self._address, updates.BEGIN, begin).get(_CLOSING_S)
                self._read_to(client, standing, fence, {TopicPartition(at.topic, at.partition): at.offset + 1})
            if fence.session != begin.session:
                raise KafkaError(f"{self._address.topic}: another relay began to write for {self._match} just then")
            self._was_current = True
            return standing
        finally:
            client.close()

    def _read_to(
        self, client: KafkaConsumer, standing: StandingUpdates, fence: WriterFence, ends: Mapping[TopicPartition, int]
    ) -> None:
        for record in self._records(client, ends):
            kind, session = kind_of(record), header_of(record, updates.SESSION)
            if not fence.admits(kind, session, record.value) or kind != updates.UPDATE:
                continue
            try:
                standing.take(updates.decode_of(self._match, record.value))
            except UntrustedError as error:
                place = f"{record.topic}, partition {record.partition}, record {record.offset}"
                _log.warning("%s is not read: %s", place, error)

    def _seek(
        self, client: KafkaConsumer, address: Address, mark: Mark | DeadLetterMark | None
    ) -> tuple[Mapping[TopicPartition, int], bool]:
        """Seek a mark, or the beginning of a topic; returns its end offsets, and True if the mark was used.

        The mark of a topic that was made anew since then is not used.
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
        """The match's records up to these offsets."""
        while any(client.position(part) < end for part, end in ends.items()):
            yield from (record for record in poll_records(client, _POLL_MS) if record.key == self._match.encode())

    def _mark(self) -> Mark | None:
        try:
            return read_json(self._mark_path, Mark)
        except (OSError, UntrustedError):
            return None

    def _send_update(self, sender: KafkaProducer, record: TopicUpdate) -> None:
        self._next_seq = record.seq if record.undo else record.seq + 1
        standing = self._next_seq
        sent = self._put(sender, self._address, updates.UPDATE, record, self._house_headers(record.event.ts_us))
        session = self._sessions[-1]
        sent.add_callback(lambda at: self._marks.append(Mark(at.partition, at.offset + 1, standing, session)))

    def _house_headers(self, ts_us: int) -> Headers:
        """Headers with the house time of an event, as far as it is known; looked up once a second."""
        if time.monotonic() > self._house_due_s:
            self._house_due_s = time.monotonic() + _HOUSE_S
            with contextlib.suppress(TimecodeError):  # somebody is writing it, or it is damaged: the last one counts
                self._house = read_house_time(self._folder) or HouseTime()
        known = ((updates.UTC, self._house.utc(ts_us)), (updates.TIMECODE, self._house.timecode(ts_us)))
        return [(name, text.encode()) for name, text in known if text]

    def _put(
        self, sender: KafkaProducer, address: Address, kind: str, value: object, further: Headers | None = None
    ) -> Any:
        head = [*headers(kind, updates.VERSION), (updates.SESSION, self._sessions[-1].encode()), *(further or ())]
        if self._sent == self._acknowledged_count:
            self._moved_s = time.monotonic()
        with translate_kafka_errors(address):
            sent = sender.send(address.topic, msgspec.json.encode(value), self._match.encode(), head)
        self._sent += 1
        sent.add_callback(self._acknowledged)
        sent.add_errback(self._failed.append)
        return sent


def _same(sent: TopicUpdate, held: TopicUpdate) -> bool:
    return (sent.diff, sent.event) == (held.diff, held.event)

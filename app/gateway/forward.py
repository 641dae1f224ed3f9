"""Sends a live capture into a topic: the capture is the spool, so an outage of the broker loses nothing that it keeps.

A thread follows the capture as any reader does. While the broker answers, that takes milliseconds; after an outage it
sends what waits as fast as the broker takes it. Its place, the newest block that the broker has taken, is in a file, so
a gateway that is started again goes on there. What the broker took without being able to say so is sent again; the
engine knows a copy by number and time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import msgspec

from app.base.errors import one_line
from app.base.files import write_atomically
from app.base.pace import wall_us
from app.kafka import records as schema
from app.kafka.address import Address, KafkaError
from app.kafka.clients import make_topic, producer, translate_kafka_errors
from app.kafka.matches import SHEET_EVERY_US
from football.errors import CaptureError
from football.untrusted import UntrustedError, read_json
from replay import wire
from replay.capture import Capture
from replay.capture_documents import HEAD, LENGTH_MAX_US
from replay.refused_records import RefusedReader

#: File in the capture's folder: the place up to which the broker has everything.
SENT = "sent.json"

#: Records that the broker has not acknowledged yet.
_IN_FLIGHT_MAX = 2_000

_PAUSE_S, _LOOK_S, _NOTE_S = 1.0, 0.002, 0.5


class Sent(msgspec.Struct, frozen=True):
    """Arrival time up to which a topic has the blocks of a capture."""

    sent_us: int


class ForwardFigures(msgspec.Struct, frozen=True):
    """How a forwarder stands.

    Attributes:
        blocks: that the broker has taken.
        behind_us: arrival time that waits.
        lost_us: arrival time that the spool no longer had when the broker came back.
        trouble: why nothing is taken; empty while it is.
    """

    blocks: int
    behind_us: int
    lost_us: int
    trouble: str


class Forwarder:
    """Sends a live capture to a topic; a context manager, which on leaving waits for what can still be sent.

    Args:
        folder: of the capture.
        address: of the topic, which is made if it does not exist.
        match: name of the match in the topic; empty for its sheet's.
    """

    def __init__(self, folder: Path, address: Address, match: str = "") -> None:
        self._folder, self._address, self._match = folder, address, match
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="forwarder", daemon=True)
        self._acknowledged_us = -(2**62)
        self._newest_us = -(2**62)
        self._blocks = self._lost_us = 0
        self._trouble = "no block yet"
        self._noted_s = 0.0

    def __enter__(self) -> Forwarder:
        with contextlib.suppress(OSError, UntrustedError):
            self._acknowledged_us = read_json(self._folder / SENT, Sent).sent_us
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(timeout=30.0)

    def figures(self) -> ForwardFigures:
        """Return how it stands."""
        behind_us = max(0, self._newest_us - self._acknowledged_us) if self._blocks else 0
        return ForwardFigures(self._blocks, behind_us, self._lost_us, self._trouble)

    def _run(self) -> None:
        head = self._folder / HEAD
        while not head.exists():
            if self._stop.wait(_LOOK_S * 10) and not head.exists():  # what was written until now is still sent
                return
        while True:
            try:
                if self._session():
                    return
            except (KafkaError, CaptureError) as error:
                self._trouble = one_line(error)
            if self._stop.wait(_PAUSE_S):
                return

    def _session(self) -> bool:
        """Send with one producer, until it fails; returns True when all is sent."""
        capture = Capture.open(self._folder)
        make_topic(self._address, 1)
        sender = producer(self._address)
        sheet = msgspec.structs.replace(capture.sheet, match_id=self._match or capture.sheet.match_id)
        key = sheet.match_id.encode()
        failed: list[BaseException] = []
        sheet_due_us = -(2**62)
        sent_count = taken_count = 0  # each counted by one thread: this one, and the producer's

        def send(kind: str, value: bytes, at_us: int) -> None:
            def acknowledged(_: object) -> None:
                nonlocal taken_count
                taken_count += 1
                self._acknowledged_us = max(self._acknowledged_us, at_us)

            nonlocal sent_count
            sent_count += 1
            due_ms = ((capture.live_zero_us or 0) + at_us) // 1000
            sent = sender.send(self._address.topic, value, key, schema.headers(kind), timestamp_ms=due_ms)
            sent.add_callback(acknowledged)
            sent.add_errback(failed.append)

        with translate_kafka_errors(self._address):
            try:
                last_us = max(self._acknowledged_us, capture.begin_us - 1)
                refused = RefusedReader(self._folder)
                stopped_s = None
                for block in capture.live_blocks(last_us + 1, 2 * LENGTH_MAX_US):
                    if failed:
                        raise failed[0]
                    if block is None:
                        if self._stop.is_set():
                            stopped_s = stopped_s or time.monotonic()
                            if time.monotonic() > stopped_s + _PAUSE_S:
                                break
                        self._note()
                        time.sleep(_LOOK_S)
                        continue
                    at_us = block.arrival_us
                    if self._blocks and at_us - last_us > 2 * capture.head.segment_us:
                        self._lost_us += self._deleted_us(last_us, at_us)
                    if at_us >= sheet_due_us:
                        send(schema.SHEET, msgspec.json.encode(schema.Sheet(sheet, capture.slot_us, at_us)), at_us - 1)
                        sheet_due_us = at_us + SHEET_EVERY_US
                    for refused_us, payload in refused.between(last_us + 1, at_us + 1):
                        send(schema.REFUSED, payload, min(refused_us, at_us - 1))
                    while sent_count - taken_count >= _IN_FLIGHT_MAX and not failed:
                        time.sleep(_LOOK_S)
                    send(schema.BLOCK, wire.encode_compact(block), at_us)
                    self._blocks, self._newest_us, self._trouble, last_us = self._blocks + 1, at_us, "", at_us
                    self._note()
                if capture.is_finished:
                    for _, payload in refused.between(last_us + 1, 2**62):
                        send(schema.REFUSED, payload, last_us)
                    send(schema.END, msgspec.json.encode(schema.End(last_us)), wall_us() - (capture.live_zero_us or 0))
                sender.flush()
                if failed:
                    raise failed[0]
            finally:
                with contextlib.suppress(Exception):  # the session's own error counts
                    sender.close(timeout_ms=1_000)
                self._note(now=True)
        return True

    def _deleted_us(self, last_us: int, at_us: int) -> int:
        """Arrival time between two blocks of which the spool has no segment any more."""
        segments = sorted(int(path.stem) for path in self._folder.glob("*.arrow"))
        length_us = Capture.open(self._folder).head.segment_us
        return at_us - last_us if segments and segments[0] * length_us > last_us else 0

    def _note(self, *, now: bool = False) -> None:
        """Write down the place, now and then."""
        if now or time.monotonic() > self._noted_s + _NOTE_S:
            self._noted_s = time.monotonic()
            if self._acknowledged_us > -(2**62):
                write_atomically(self._folder / SENT, msgspec.json.encode(Sent(self._acknowledged_us)))

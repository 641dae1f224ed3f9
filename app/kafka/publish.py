"""Publishes a capture into a topic, at the pace of its arrival times."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import msgspec

from app.base.pace import Pace, Waiter, wall_us
from app.kafka import records as schema
from app.kafka.address import Address
from app.kafka.clients import make_topic, producer, translate_kafka_errors
from app.kafka.matches import SHEET_EVERY_US
from football.packets import Block
from replay import wire
from replay.capture import Capture


class Published(msgspec.Struct, frozen=True):
    """Figures of a published capture; ``delayed``: records sent more than 5 ms after they were due."""

    match: str
    topic: str
    blocks: int
    bytes: int
    seconds: float
    wall_s: float
    delayed: int


#: Gets the arrival time up to which all blocks have been sent.
Progress = Callable[[int], None]


def publish(
    capture: Capture,
    address: Address,
    speed: float = 1.0,
    *,
    stop: threading.Event | None = None,
    progress: Progress = lambda arrival_us: None,
    partitions: int = 1,
    match: str = "",
) -> Published:
    """Send a capture; the broker has taken every record when this returns.

    The timestamp of a record is the time at which it was due, so that a reader can measure its delay.

    Args:
        capture: may still grow.
        address: of the topic, which is made with ``partitions`` if it does not exist.
        speed: stream seconds in a wall second, 0 for as fast as possible.
        stop: ends it early, without the record that ends the match.
        progress: gets the arrival time of each block sent.
        match: name of the match in the topic; empty for its sheet's.

    Raises:
        KafkaError: no broker answers, or a record was not taken.
    """
    make_topic(address, partitions)
    sender = producer(address)
    sheet = msgspec.structs.replace(capture.sheet, match_id=match or capture.sheet.match_id)
    key = sheet.match_id.encode()
    failed: list[BaseException] = []
    began_us, pace = wall_us(), Pace(speed, capture.begin_us, wall_us())
    waiter = Waiter((stop or threading.Event()).is_set)
    blocks = size = delayed = 0
    arrival_us, sheet_due_us = capture.begin_us, capture.begin_us

    def send(kind: str, value: bytes, due_us: int) -> None:
        sent = sender.send(address.topic, value, key, schema.headers(kind), timestamp_ms=due_us // 1000)
        sent.add_errback(failed.append)

    with translate_kafka_errors(address):
        try:
            for block in _growing(capture):
                arrival_us = block.arrival_us
                due_us = pace.due_wall_us(arrival_us)
                waiter.sleep_until(due_us)
                if waiter.stopped or failed:
                    break
                if arrival_us >= sheet_due_us:
                    send(schema.SHEET, msgspec.json.encode(schema.Sheet(sheet, capture.slot_us, arrival_us)), due_us)
                    sheet_due_us = arrival_us + SHEET_EVERY_US
                compact = wire.encode_compact(block)
                send(schema.BLOCK, compact, due_us)
                delayed += speed > 0 and wall_us() - due_us > 5_000
                blocks, size = blocks + 1, size + len(compact)
                progress(arrival_us)
            if not waiter.stopped and not failed:
                send(schema.END, msgspec.json.encode(schema.End(arrival_us)), wall_us())
            sender.flush()
        finally:
            sender.close()
        if failed:
            raise failed[0]
    seconds, wall_s = (arrival_us - capture.begin_us) / 1e6, (wall_us() - began_us) / 1e6
    return Published(sheet.match_id, address.topic, blocks, size, seconds, wall_s, delayed)


def _growing(capture: Capture) -> Iterator[Block]:
    """All blocks, also those that the capture gets while it grows."""
    start_us = capture.begin_us
    while True:
        end_us = capture.end_us if capture.is_finished else start_us + SHEET_EVERY_US
        yield from capture.blocks(start_us, end_us)
        if not capture.has_blocks_from(end_us):
            return
        start_us = end_us

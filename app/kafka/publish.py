"""``touchline publish``: a capture into a topic, at its arrival pace."""

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
    """What went into the topic."""

    match: str
    topic: str
    blocks: int
    bytes: int
    seconds: float
    wall_s: float
    delayed: int


#: Is told the arrival time up to which all has been sent.
Told = Callable[[int], None]


def publish(
    capture: Capture,
    address: Address,
    speed: float = 1.0,
    *,
    stop: threading.Event | None = None,
    progress: Told = lambda arrival_us: None,
    partitions: int = 1,
    match: str = "",
) -> Published:
    """Sends a capture; every record has been taken by the broker when this returns.

    A record's time is that at which it was due: so whoever reads it can tell how late he is. ``delayed`` counts records
    that left more than 5 ms after they were due.

    Args:
        capture: may still grow.
        address: the topic is made if it is not there, with ``partitions``.
        speed: stream seconds in a wall second, 0 for as fast as it goes.
        stop: ends it early, without the record that ends the match.
        progress: is told how far it has come.
        match: what it is called there; empty for as its sheet says.

    Raises:
        KafkaError: no broker answers, or a record was not taken.
    """
    make_topic(address, partitions)
    sender = producer(address)
    told_sheet = msgspec.structs.replace(capture.sheet, match_id=match or capture.sheet.match_id)
    key = told_sheet.match_id.encode()
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
                    send(
                        schema.SHEET, msgspec.json.encode(schema.Sheet(told_sheet, capture.slot_us, arrival_us)), due_us
                    )
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
    return Published(told_sheet.match_id, address.topic, blocks, size, seconds, wall_s, delayed)


def _growing(capture: Capture) -> Iterator[Block]:
    """All blocks, as far as the capture goes in the end."""
    start_us = capture.begin_us
    while True:
        end_us = capture.end_us if capture.is_finished else start_us + SHEET_EVERY_US
        yield from capture.blocks(start_us, end_us)
        if not capture.has_blocks_from(end_us):
            return
        start_us = end_us

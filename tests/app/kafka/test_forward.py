"""A live capture into a topic of a real broker: nothing is lost while the broker is away, nor by a new gateway."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from kafka import KafkaConsumer, TopicPartition

from app.base.pace import wall_us
from app.gateway.forward import SENT, Forwarder
from app.gateway.outputs import CaptureOutput
from app.kafka.address import parse
from app.kafka.clients import kind_of
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.topic_records import RecordDecoder
from football.match_sheet import MatchSheet
from football.packets import Block, Packet, RejectedRecord
from replay import wire
from replay.capture import CaptureWriter
from tests.app.kafka.proxy import Proxy
from tests.waiting import eventually

pytestmark = pytest.mark.spark

#: Now: half a minute after its start a broker deletes what is dated a week ago.
ZERO_US = wall_us()
PERIOD_US = 20_000


def block(number: int) -> Block:
    at_us = (number + 1) * PERIOD_US
    return Block(at_us, (Packet("ball", number, (at_us,), (1.5,), (2.0,), (0.0,), 1.0),))


def records_of(broker: str, topic: str) -> list:
    reader = KafkaConsumer(bootstrap_servers=broker)
    place = TopicPartition(topic, 0)
    reader.assign([place])
    reader.seek_to_beginning()
    end, found = reader.end_offsets([place])[place], []
    while reader.position(place) < end:
        found += reader.poll(500).get(place, [])
    reader.close()
    return found


def blocks_of(broker: str, topic: str) -> list[Block]:
    """Blocks of a topic in order, without the copies that a new producer may make."""
    found = [wire.decode(r.value) for r in records_of(broker, topic) if kind_of(r) == "block"]
    return list(dict.fromkeys(found))


def test_an_outage_of_the_broker_loses_nothing(broker: str, far: str, between: Proxy, tmp_path: Path):
    writer = CaptureWriter(tmp_path, MatchSheet("spooled"), fingerprint="f", live_zero_us=ZERO_US)
    with Forwarder(tmp_path, parse(f"kafka://{far}/spool")) as forwarder:
        with writer:
            for number in range(200):
                writer.append(block(number))
            eventually(lambda: forwarder.figures().behind_us == 0 and forwarder.figures().blocks == 200)
            between.flowing.clear()
            for number in range(200, 3_200):
                writer.append(block(number))
            eventually(lambda: forwarder.figures().behind_us > 0)
            between.flowing.set()
            eventually(lambda: forwarder.figures().blocks >= 3_200 and forwarder.figures().behind_us == 0)
        eventually(lambda: kind_of(records_of(broker, "spool")[-1]) == "end")
    assert blocks_of(broker, "spool") == [block(number) for number in range(3_200)]
    assert forwarder.figures().lost_us == 0
    kinds = [kind_of(record) for record in records_of(broker, "spool")]
    assert kinds[0] == "sheet"
    assert kinds.count("sheet") >= 6


def test_refused_records_reach_the_quarantine_of_who_reads_the_topic(broker: str, tmp_path: Path):
    refused = RejectedRecord("message 1", "", -1, None, "no number", "x")
    output = CaptureOutput(tmp_path, MatchSheet("refusing"), "f", ZERO_US)
    with Forwarder(tmp_path, parse(f"kafka://{broker}/refusing")), output:
        output.write(block(0))
        output.refuse([refused])
        output.write(block(1))
        output.refuse([msgspec.structs.replace(refused, record="message 2")])
    taker = RecordDecoder("refusing", parse(f"kafka://{broker}/refusing"), 0)
    payloads = [taken[2] for record in records_of(broker, "refusing") if (taken := taker.take(record))]
    assert taker.ended
    pipeline = MatchPipeline(MatchSheet("refusing"), PipelineOptions())
    for number, payload in enumerate(payloads):
        pipeline.push(payload, number)
    assert len(payloads) == 4
    assert pipeline.take_tables()["quarantine"]["record"].to_pylist() == ["message 1", "message 2"]


def test_a_gateway_that_is_started_again_goes_on_where_the_broker_stopped(broker: str, tmp_path: Path):
    address = parse(f"kafka://{broker}/again")
    for first in (0, 300):
        writer = CaptureWriter(tmp_path, MatchSheet("again"), fingerprint="f", live_zero_us=ZERO_US)
        writer.__enter__()
        with Forwarder(tmp_path, address) as forwarder:
            for number in range(first, first + 300):
                writer.append(block(number))
            eventually(lambda: forwarder.figures().blocks == 300 and forwarder.figures().behind_us == 0)
        writer.__exit__(RuntimeError, RuntimeError("killed"), None)
        assert (tmp_path / SENT).exists()
    assert [wire.decode(r.value) for r in records_of(broker, "again") if kind_of(r) == "block"] == [
        block(number) for number in range(600)
    ]

"""Events of other programs are read from a topic, up to the end that it has when the reading begins."""

from __future__ import annotations

import json

from app.cli.patterns import open_events, run_events
from app.kafka.address import parse as parse_address
from app.kafka.clients import make_topic, producer
from detectors.patterns.language import parse


def test_the_records_of_all_partitions_are_matched_in_whatever_order_they_come(broker: str):
    url = f"kafka://{broker}/others"
    address = parse_address(url)
    make_topic(address, partitions=2)
    client = producer(address)
    for number, (name, ts) in enumerate((("c9", 9), ("a1", 1), ("b3", 3), ("a1", 1), ("x", 4))):
        value = {"id": name, "type": name[0], "ts_ms": ts} if name != "x" else {"id": "x"}
        client.send(address.topic, json.dumps(value).encode(), partition=number % 2)
    client.flush()
    client.close()
    found = run_events(parse("PATTERN SEQ(a x, b y, c z) WITHIN 10 ms"), open_events(url, None), url)
    assert found["matches"] == [["a1", "b3", "c9"]]
    assert found["duplicates"] == 1
    assert [entry["reason"] for entry in found["rejected"]] == ["no type"]

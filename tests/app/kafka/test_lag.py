"""The number of records of a topic that wait to be read, through a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka import KafkaProducer

from app.base.pace import wall_us
from app.kafka.address import KafkaError, parse
from app.sources import topic_lag
from app.sources.topic_lag import TopicLagPoller
from tests.app.operations.test_metrics_and_health import Case
from tests.waiting import eventually

pytestmark = pytest.mark.spark

#: Now: half a minute after its start a broker deletes what is dated a week ago.
BEGAN_MS = wall_us() // 1000


def test_what_waits_is_the_end_less_what_was_worked_on(broker: str, tmp_path: Path):
    sender = KafkaProducer(bootstrap_servers=broker)
    for number in range(50):
        sender.send("lag", b"x", timestamp_ms=BEGAN_MS + 20 * number)
    sender.flush()
    case = Case(tmp_path)
    with TopicLagPoller(parse(f"kafka://{broker}/lag"), 0, 10, case.monitor):
        eventually(lambda: case.monitor.records_behind is not None)
        assert case.monitor.records_behind == 40, "nothing was worked on: all from where the match begins"
        case.say(due_s=BEGAN_MS / 1e3 + 0.6 - 1_000)
        eventually(lambda: case.monitor.records_behind != 40)
        assert case.monitor.records_behind == 50 - 31, "the record of 600 ms is number 30"
        for number in range(50, 55):
            sender.send("lag", b"x", timestamp_ms=BEGAN_MS + 20 * number)
        sender.flush()
        eventually(lambda: case.monitor.records_behind == 55 - 31)
        case.say(due_s=BEGAN_MS / 1e3 + 54 * 0.02 - 1_000)
        eventually(lambda: case.monitor.records_behind == 0)
    sender.close()


def test_a_broker_that_does_not_answer_leaves_it_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def silent(address: object) -> None:
        raise KafkaError("no answer")

    monkeypatch.setattr(topic_lag, "consumer", silent)
    case = Case(tmp_path)
    case.monitor.records_behind = 7
    with TopicLagPoller(parse("kafka://127.0.0.1:1/t"), 0, 0, case.monitor):
        eventually(lambda: case.monitor.records_behind is None)
    assert ("touchline_source_lag_records",) not in case.metrics()

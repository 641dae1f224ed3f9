"""The match store as others read it: Spark SQL over its Parquet files gives what we give (foreign)."""

from __future__ import annotations

import os
import socket
import struct
from collections import Counter
from pathlib import Path

import pyspark
import pytest

from app.base.java import find_java
from app.run.live import run_live
from app.settings.resolve import make_settings
from replay.match_store import read_table, updates_log
from tests.app.cli.test_main import write_track

pytestmark = pytest.mark.spark


def whence(batches):
    """The path from which a worker of Spark imports ``pyspark``."""
    import pyarrow as pa
    import pyspark

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"path": [pyspark.__file__]})


def answer_to_a_stranger(port: int) -> bytes:
    """The answer of Spark to a call without its secret."""
    body = b"anything"
    call = struct.pack(">bqi", 3, 7, len(body)) + body
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stranger:
        stranger.sendall(struct.pack(">q", 8 + len(call)) + call)
        return stranger.recv(4_096)


def test_spark_reads_updates_and_positions_of_a_match_and_its_workers_start_without_compiling_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from app.spark.session import start_session

    monkeypatch.delenv("SPARK_HOME", raising=False)
    store = tmp_path / "store"
    track = write_track(tmp_path / "track.parquet", 6.0)
    given = {"source": str(track), "engine": "inprocess", "speed": "max", "store": store, "dashboard": False}
    run_live(make_settings(given), as_json=True)
    session = start_session(find_java(os.environ), tmp_path / "spark.log", slots=1, streaming=True)
    try:
        updates = session.read.parquet(str(store / "updates"))
        by_kind = {row["kind"]: row["count"] for row in updates.groupBy("kind").count().collect()}
        positions = session.read.parquet(str(store / "positions")).count()
        (where,) = session.range(1).mapInArrow(whence, "path string").collect()
        answer = answer_to_a_stranger(int(session.sparkContext.getConf().get("spark.driver.port")))
    finally:
        session.stop()
    assert by_kind == Counter(updates_log(store)["kind"].to_pylist())
    assert positions == len(read_table(store, "positions")) == 6 * 25 * 4
    assert Path(where["path"]) == Path(pyspark.__file__), "out of Spark's archive it would be compiled at every start"
    assert "SPARK_HOME" not in os.environ
    assert b"Expected SaslMessage" in answer, "what a stranger on this machine sends would be read as objects of Java's"

"""What do rows that flow through an open batch gain over Spark's ordinary micro-batches?

Question: the same capture, at the speed of life, through the same pipeline with fixed alpha: once as Touchline runs it
(a batch stays open, the engine stays in its worker, states are stored beside the work), once as Spark would have it (a
micro-batch of all that is due, ``transformWithStateInPandas`` with the engine's state in Spark's state store, results
in ``foreachBatch``, the next batch as soon as the last is done). How long from a block's arrival at the source until
what it said is there: at the hub, or in ``foreachBatch``?

    python -m bench.micro_batches [--seconds 60] [--rate live] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from app.base.java import find_java
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.run.live import run_live
from app.settings.resolve import make_settings
from app.spark.session import start_session, stop_session
from bench.hierarchy import capture_of
from replay.capture import Capture

SCHEMA = "match string, arrival_us bigint, due_wall_us bigint, payload binary"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

#: Of both runs the beginning is left out: workers start, kernels are loaded.
SETTLED_S = 15.0


class Blocks(InputPartition):
    """Blocks of a capture, by arrival: after the first, up to the second."""

    def __init__(self, after_us: int, until_us: int) -> None:
        self.after_us, self.until_us = after_us, until_us


class DueReader(DataSourceStreamReader):
    """All that is due by now, as a micro-batch wants it. Options: ``capture``, ``began_wall_us``."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._path, self._began_us = options["capture"], int(options["began_wall_us"])
        capture = Capture.open(self._path)
        self._begin_us, self._times_us = capture.begin_us, [at for at, _ in capture.payloads(0, capture.end_us)]

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        """Return the offset before the first block."""
        return {"arrival_us": self._begin_us - 1}

    def latestOffset(self, *_: object) -> dict[str, int]:  # noqa: N802
        """Return the arrival of the newest block that is due."""
        due_us = self._begin_us + time.time_ns() // 1000 - self._began_us
        count = bisect_right(self._times_us, due_us)
        return {"arrival_us": self._times_us[count - 1]} if count else self.initialOffset()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """One."""
        return [Blocks(start["arrival_us"], end["arrival_us"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """All of them at once."""
        assert isinstance(partition, Blocks)
        capture = Capture.open(self._path)
        rows = list(capture.payloads(partition.after_us + 1, partition.until_us + 1))
        if rows:
            times = [at for at, _ in rows]
            due = [self._began_us + at - self._begin_us for at in times]
            columns = ["one"] * len(rows), times, due, [payload for _, payload in rows]
            yield pa.RecordBatch.from_arrays([pa.array(c) for c in columns], [f.split()[0] for f in SCHEMA.split(", ")])


class DueSource(DataSource):
    """``spark.readStream.format("due")``."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return "due"

    def schema(self) -> str:
        """See :data:`SCHEMA`."""
        return SCHEMA

    def streamReader(self, schema: object) -> DueReader:  # noqa: N802
        """The reader."""
        return DueReader(self.options)


class Processor(StatefulProcessor):
    """The pipeline as a stateful processor: its state is one value, read and written in every batch."""

    def __init__(self, capture: str, options: PipelineOptions) -> None:
        self._capture, self._options = capture, options

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Names the state."""
        self._state = handle.getValueState("engine", "state binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Push the rows; yield when the blocks were due that led to an update."""
        pipeline = MatchPipeline(Capture.open(self._capture).sheet, self._options)
        if self._state.exists():
            pipeline.restore(bytes(self._state.get()[0]))
        output = []
        for row in pd.concat(list(rows)).sort_values("arrival_us").itertuples():
            if pipeline.push(bytes(row.payload), row.arrival_us, row.due_wall_us) is not None:
                output.append(row.due_wall_us)
        pipeline.take_tables()
        self._state.update((pipeline.snapshot(),))
        yield pd.DataFrame({"due_wall_us": output})

    def close(self) -> None:
        """Nothing is open."""


def micro_batches(capture: Capture, options: PipelineOptions, folder: Path) -> dict[str, float]:
    """Return the latencies of Spark's micro-batches, in milliseconds."""
    took_ms: list[tuple[int, float]] = []
    over = threading.Event()
    session = start_session(
        find_java(os.environ), folder / "spark.log", slots=2,
        extra={
            "spark.sql.streaming.stateStore.providerClass": ROCKS, "spark.sql.shuffle.partitions": "1",
            "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem",  # the state store asks for it
        },
    )  # fmt: skip

    def sink(frame: DataFrame, batch_id: int) -> None:
        due = [row["due_wall_us"] for row in frame.collect()]
        now_us = time.time_ns() // 1000
        took_ms.extend((one, (now_us - one) / 1e3) for one in due)
        if due and max(due) >= began_us + capture.end_us - capture.begin_us - 1_000_000:
            over.set()

    try:
        session.dataSource.register(DueSource)
        began_us = time.time_ns() // 1000 + 5_000_000
        rows = session.readStream.format("due").options(capture=str(capture.path), began_wall_us=str(began_us)).load()
        output = rows.groupBy("match").transformWithStateInPandas(
            Processor(str(capture.path), options), "due_wall_us bigint", "Append", "None"
        )
        query = output.writeStream.foreachBatch(sink).option("checkpointLocation", str(folder / "checkpoint")).start()
        length_s = (capture.end_us - capture.begin_us) / 1e6
        while not over.wait(0.5) and query.isActive and time.time_ns() // 1000 < began_us + (length_s + 90) * 1e6:
            continue
        batches = len([p for p in query.recentProgress if p["numInputRows"]])
        failed = query.exception()
        query.stop()
        if failed is not None:
            raise failed
    finally:
        stop_session(session)
    settled = [ms for due, ms in took_ms if due >= began_us + SETTLED_S * 1e6]
    return {**_figures(settled), "batches": batches}


def open_batches(capture: Capture, folder: Path) -> dict[str, float]:
    """Return the latencies of Touchline's open batches, in milliseconds; the start of the run is included."""
    given = {
        "source": str(capture.path), "store": folder / "match", "engine": "spark", "dashboard": False, "camera": False,
        "alpha": 0.0, "retraction": "on-demand", "metrics_port": 0,
    }  # fmt: skip
    return dict(run_live(make_settings(given))["lane_latency_ms"]["total"])


def _figures(took_ms: list[float]) -> dict[str, float]:
    p50, p95, p99 = np.percentile(took_ms, [50, 95, 99])
    return {"p50": round(p50, 1), "p95": round(p95, 1), "p99": round(p99, 1), "max": round(max(took_ms), 1)}


def main() -> None:
    """Runs both and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", default="live", choices=("live", "full"))
    parser.add_argument("--seed", type=int, default=32)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture = capture_of("sim", asked.rate, asked.seconds, asked.seed, folder / "capture")
        ordinary = micro_batches(capture, PipelineOptions(alpha=0.0, retraction="on-demand"), folder / "ordinary")
        ours = open_batches(capture, folder)
    result = {
        "seconds": asked.seconds,
        "rate": asked.rate,
        "load_average": os.getloadavg()[0],
        "latency_ms": {"open batches": ours, "micro-batches": ordinary},
        "ratio": {name: round(ours[name] / ordinary[name], 4) for name in ("p50", "p95", "p99")},
    }
    print(json.dumps(result, indent=2))
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

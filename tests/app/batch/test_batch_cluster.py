"""A batch and a live run on a standalone cluster: a master and two workers, each a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from app.base.java import find_java
from replay.event_list import consolidated_events
from tests.app.cli.test_main import ROOT, refusal, touchline
from tests.app.recordings import optical_table, record
from tests.app.standalone import cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_both_workers_of_a_cluster_play_matches_and_say_what_was_recorded(tmp_path: Path):
    stores = [
        record(optical_table(tmp_path / f"{n}.parquet", n, 15.0), tmp_path / "stores" / str(n)) for n in (1, 2, 3)
    ]
    with cluster(tmp_path / "cluster") as address:
        batch = ("batch", tmp_path / "stores", "--out", tmp_path / "out", "--master", address, "--json")
        done = touchline(*batch, timeout_s=600)
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout)
        assert not report["broken"]
        assert {counts["agreement"] for counts in report["kinds"].values()} == {1.0}
        run = tmp_path / "run"
        many = ("live", "--matches", tmp_path / "1.parquet", "--matches", tmp_path / "2.parquet", "--store", run)
        options = ("--speed", "max", "--alpha", "0", "--retraction", "on-demand", "--no-dashboard", "--no-camera")
        lived = touchline(*many, *options, "--master", address, "--json", timeout_s=600)
        assert lived.returncode == 0, lived.stdout + lived.stderr
        for name in "12":
            assert consolidated_events(run / name).equals(consolidated_events(tmp_path / "stores" / name))
    executors = [list((tmp_path / "cluster" / f"worker-{n}" / "work").glob("app-*/*")) for n in (0, 1)]
    assert all(executors), "every worker has started executors"
    assert len(stores) == report["matches"]


def test_spark_submit_plays_a_command_on_a_cluster(tmp_path: Path):
    store = record(optical_table(tmp_path / "t.parquet", 1, 10.0), tmp_path / "store")
    spark = Path(pyspark.__file__).parent
    environment = {
        **os.environ, "SPARK_HOME": str(spark), "JAVA_HOME": str(find_java(os.environ).home),
        "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable,
    }  # fmt: skip
    with cluster(tmp_path / "cluster", workers=1) as address:
        submit = (spark / "bin" / "spark-submit", "--master", address, "--conf", "spark.executor.memory=1g")
        command = (ROOT / "app" / "cli" / "submit.py", "batch", store, "--out", tmp_path / "out", "--json")
        done = subprocess.run(
            [*map(str, submit + command)], env=environment, capture_output=True, text=True, check=False, timeout=600
        )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert (report["matches"], report["broken"]) == (1, {})
    assert {counts["agreement"] for counts in report["kinds"].values()} == {1.0}
    assert list((tmp_path / "cluster" / "worker-0" / "work").glob("app-*/*")), "it was played on the worker"


def test_a_master_that_is_not_there_is_told_in_one_line(tmp_path: Path):
    store = record(optical_table(tmp_path / "t.parquet", 1, 5.0), tmp_path / "store")
    message = refusal("batch", store, "--out", tmp_path / "out", "--master", "spark://127.0.0.1:9")
    assert re.search(r"Spark does not start at spark://127\.0\.0\.1:9", message)

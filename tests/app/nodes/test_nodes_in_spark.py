"""A match over two nodes through Spark: the events of one engine, through moves, a killed node, and on a cluster."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pyarrow as pa
import pytest

from app.cli.nodes import cordon, drain, move, show
from replay.event_list import consolidated_events
from replay.match_store import read_commits, updates_log
from tests.app.run.test_crash import finish, in_mid_batch, kill_group, launch, wait_for
from tests.app.standalone import cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MATCH = ("--seed", 201, "--channel", "rtls", "--no-dashboard", "--no-camera", "--store")
SECONDS = 16


def events(store: Path) -> pa.Table:
    """Events that stand in a store, without the time at which they left, which depends on the links."""
    return consolidated_events(store).drop_columns(["detected_us"])


def node_one(store: Path) -> int:
    """Process of node 1."""
    lines = [line for log in (store / "logs").iterdir() for line in log.read_text().splitlines()]
    (pid,) = {json.loads(line)["pid"] for line in lines if '"node begins"' in line}
    return pid


def check(store: Path, folder: Path, seconds: int) -> None:
    """Compares with one engine without Spark."""
    log = folder / "whole.log"
    whole = ("live", *MATCH, folder / "whole", "--duration", seconds, "--engine", "inprocess", "--speed", "max")
    finish(launch(log, "app.cli.main", *whole), log)
    assert events(store).equals(events(folder / "whole"))
    numbers = updates_log(store)["seq"].to_pylist()
    assert numbers == list(range(len(numbers))), "an update is missing or there twice"
    assert len(numbers) > 100


def test_a_match_over_two_nodes_moves_detectors_loses_a_node_and_gives_the_events_of_one(tmp_path: Path):
    store, log = tmp_path / "store", tmp_path / "run.log"
    options = (*MATCH, store, "--duration", SECONDS, "--nodes", 2, "--window", 2)
    run = launch(log, "app.cli.main", "live", *options)
    try:
        in_mid_batch(store, run)
        move(store, "near_ball", 1)
        assert show(store).where()["near_ball"] == 1
        drain(store, 1)
        assert show(store).cordoned == (1,)
        cordon(store, 1, undo=True)
        before = len(read_commits(store))
        wait_for(lambda: len(read_commits(store)) > before, run, "a commit after the moves")
        os.kill(node_one(store), signal.SIGKILL)
        finish(run, log)
    finally:
        kill_group(run)
    check(store, tmp_path, SECONDS)
    assert read_commits(store)[-1].meta.epoch >= 1, "all nodes began again"


def test_two_nodes_are_two_workers_of_a_cluster(tmp_path: Path):
    store, log = tmp_path / "store", tmp_path / "run.log"
    with cluster(tmp_path / "cluster") as address:
        options = (*MATCH, store, "--duration", 6, "--nodes", 2, "--window", 2, "--master", address)
        finish(launch(log, "app.cli.main", "live", *options), log)
    check(store, tmp_path, 6)

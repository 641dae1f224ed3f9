"""Whole matches by camera, from kick-off to the final whistle: what only ninety minutes and a half-time bring."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.app.cli.test_main import touchline

#: Profile of tracking, match day, seed. The cup match has a half-time of 15 minutes, and extra time.
MATCHES = [("ragged", "", 506), ("optical_keyed", "cup", 508)]


def output(*arguments: object) -> str:
    done = touchline(*arguments, timeout_s=1200)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("profile", "day", "seed"), MATCHES)
def test_score_and_periods_are_those_that_were_played_and_no_detector_breaks_its_contract(
    profile: str, day: str, seed: int, tmp_path: Path
) -> None:
    options = ("--match", day) if day else ()
    output("simulate", "--out", tmp_path / "sim", "--seed", seed, "--minutes", 0, "--tracking", profile, *options)
    source, store = tmp_path / "sim" / "tracking.parquet", tmp_path / "store"
    live = ("live", "--source", source, "--store", store, "--engine", "inprocess", "--speed", "max", "--no-dashboard")
    summary: dict[str, Any] = json.loads(output(*live, "--no-camera", "--json"))
    assert (summary["failed"], summary["faults"], summary["verdict"]) == ({}, {}, "right")

    truth = pq.read_table(tmp_path / "sim" / "truth.parquet", columns=["kind", "variant", "team"]).to_pylist()
    goals = Counter(row["team"] for row in truth if row["kind"] == "goal.confirmed")
    assert {team: summary["match"][team]["goals"] for team in ("home", "away")} == {"home": 0, "away": 0} | goals
    begun = [row["variant"] for row in truth if row["kind"] == "period.start"]
    events = [json.loads(line) for line in output("events", store, "--format", "json").splitlines()]
    assert [event["variant"] for event in events if event["kind"] == "period.start"] == begun
    assert not [event for event in events if event["kind"] == "sendoff.suspected"]

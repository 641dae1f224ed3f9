"""The driver without Spark: how it gives matches to seats."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.base.pace import NEVER_US
from app.hub.client import HubAddress
from app.sources.interface import Entry
from app.spark.driver import MatchPlan, SparkDriver
from app.spark.seat import StageConfig
from football.match_sheet import MatchSheet


class Commits:
    """A commit log in which matches end when the test says so."""

    def __init__(self) -> None:
        self.ended: set[str] = set()

    def offset(self, match: str) -> int:
        return 0

    def has_ended(self, match: str) -> bool:
        return match in self.ended

    def commit(self, match, start, tables, meta) -> None:
        raise AssertionError("no window is played here")

    def failed(self, match: str, reason: str) -> None:
        """See the protocol."""


def driver_of(folder: Path, commits: Commits) -> SparkDriver:
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(environment={}), dataSource=SimpleNamespace(register=lambda source: None)
    )
    return SparkDriver(spark, folder, 2, 1_000_000, commits, HubAddress("hub", ""))


def add(driver: SparkDriver, match: str, positions_hz: float) -> int:
    """Adds a match and returns the number of its seat."""
    stage = StageConfig(MatchSheet(match), None, "a:pipeline", "states", 0)
    driver.add(MatchPlan(Entry(match, "capture", {}, 0, 1.0, NEVER_US), stage, positions_hz))
    return driver.seat_of(match)


def test_a_new_match_goes_to_the_seat_with_the_fewest_positions_a_second(tmp_path: Path):
    driver = driver_of(tmp_path, Commits())
    assert [add(driver, "a", 100.0), add(driver, "b", 60.0), add(driver, "c", 30.0)] == [0, 1, 1]
    assert add(driver, "d", 10.0) == 1, "90 positions a second are fewer than 100"


def test_a_match_that_has_ended_is_no_load_of_its_seat(tmp_path: Path):
    commits = Commits()
    driver = driver_of(tmp_path, commits)
    assert [add(driver, "a", 100.0), add(driver, "b", 60.0)] == [0, 1]
    commits.ended.add("a")
    assert add(driver, "c", 50.0) == 0


def test_an_excluded_match_is_no_load_of_its_seat(tmp_path: Path):
    driver = driver_of(tmp_path, Commits())
    assert [add(driver, "a", 100.0), add(driver, "b", 60.0)] == [0, 1]
    driver._exclude("a", "its input is damaged")
    assert add(driver, "c", 50.0) == 0


def test_a_query_that_nobody_has_made_ready_waits_for_no_warm_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A source's first task waits for the permission that follows the warm-up; without a warm-up it has it at once."""
    driver = driver_of(tmp_path, Commits())
    waits = []
    monkeypatch.setattr(
        "app.spark.driver.keep_running",
        lambda *_: waits.extend(threading.Thread(target=seat.await_permission, daemon=True) for seat in driver.seats),
    )
    driver.run(threading.Event())
    assert waits
    for wait in waits:
        wait.start()
        wait.join(10)
        assert not wait.is_alive()

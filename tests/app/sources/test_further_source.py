"""A further kind of source is one module and one line of the registry; this module is such a one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.run.live import run_live
from app.settings.resolve import make_settings
from app.sources import registry
from app.sources.recorded import RecordedInput, RecordedSource
from football.match_sheet import MatchSheet, Player
from football.packets import Block, Packet
from replay import wire
from replay.event_list import consolidated_events

KIND = f"{__name__}:RollingBall"
PERIOD_US = 40_000


class Rolling:
    """A recording that is on no disk: the ball rolls and two players stand, 25 times a second."""

    begin_us, is_finished, late_most_us, live_zero_us = 0, True, 0, None

    def __init__(self, seconds: float) -> None:
        self.sheet = MatchSheet("rolling", players=(Player("home_1", "home"), Player("away_1", "away")))
        self.end_us = self.readable_us = round(seconds * 1e6)

    def is_growing(self) -> bool:
        return False

    def has_blocks_from(self, at_us: int) -> bool:
        return at_us < self.end_us

    def payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        for number in range(-(-start_us // PERIOD_US), -(-min(end_us, self.end_us) // PERIOD_US)):
            ts_us = number * PERIOD_US
            places = {"ball": ts_us / 1e6, "home_1": 10.0, "away_1": -10.0}
            packets = (Packet(name, number, (ts_us,), (x_m,), (0.0,), (0.11,)) for name, x_m in places.items())
            yield ts_us, wire.encode_compact(Block(ts_us, tuple(packets)))


class RollingBall(RecordedSource):
    """``rolling:SECONDS``."""

    def recognises(self, source: str, rate: str) -> bool:
        return source.startswith("rolling:")

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {**options, "channel": "none"}

    def open(self, spec: Mapping[str, Any]) -> Rolling:
        return Rolling(spec["seconds"])

    def load(self, source: str, folder: Path) -> RecordedInput:
        spec = {"seconds": float(source.partition(":")[2])}
        return RecordedInput(KIND, self.open(spec), spec)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "SOURCES", [KIND, *registry.SOURCES])


def play(store: Path, engine: str) -> dict[str, Any]:
    given = {
        "source": "rolling:12", "store": store, "engine": engine, "speed": "max", "alpha": "0", "window_s": 1.0,
        "retraction": "on-demand", "dashboard": False, "camera": False, "metrics_port": 0,
    }  # fmt: skip
    return run_live(make_settings(given), as_json=True)


def test_a_further_source_plays_in_process_and_is_gone_on_with(tmp_path: Path):
    summary = play(tmp_path / "store", "inprocess")
    assert summary["ended"]
    assert (summary["positions"], summary["stream_s"]) == (900, 12.0)
    assert "ball.crossed" in summary["events"]
    assert play(tmp_path / "store", "inprocess")["stream_s"] == 0.0


@pytest.mark.spark
@pytest.mark.slow
def test_a_further_source_plays_through_spark_and_gives_the_same(tmp_path: Path):
    assert play(tmp_path / "spark", "spark")["ended"]
    play(tmp_path / "bare", "inprocess")
    events = consolidated_events(tmp_path / "spark")
    assert len(events) > 5
    assert events.equals(consolidated_events(tmp_path / "bare"))

"""A live match that follows a gateway's capture watches its feeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from app.base.pace import wall_us
from app.gateway.gateway import GatewayFigures, ReceivingFigures
from app.gateway.run import FIGURES
from app.sources.captured import CapturedInput
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay.capture import Capture, CaptureWriter
from tests.app.cli.test_doctor_gateway import FIGURE
from tests.waiting import eventually


class Monitor:
    records_behind: int | None = None
    source_trouble = ""
    feed_figures: Mapping[str, Mapping[str, float]] = {}
    feed_problems: Sequence[str] = ()

    def newest_due_wall_us(self) -> int:
        return 0


def write(folder: Path, problems: list[str], age_us: int = 0) -> None:
    figures: GatewayFigures = msgspec.structs.replace(
        FIGURE, zero_us=wall_us() - FIGURE.now_us - age_us, problems=problems
    )
    (folder / FIGURES).write_bytes(msgspec.json.encode(figures))


def test_figures_and_problems_of_the_feeds_reach_the_monitor_and_so_does_a_gateway_that_stopped(tmp_path: Path):
    folder, monitor = tmp_path / "c", Monitor()
    with CaptureWriter(folder, MatchSheet(), fingerprint="f", live_zero_us=0) as writer:
        writer.append(Block(1_000, (Packet("ball", 1, (900,), (0.0,), (0.0,), (0.0,)),)))
        with CapturedInput(Capture.open(folder)).watch(0, monitor):
            assert monitor.feed_figures == {}
            write(folder, ["radio: silent"])
            eventually(lambda: monitor.feed_problems == ["radio: silent"])
            one: ReceivingFigures = FIGURE.feeds["radio"]
            assert monitor.feed_figures["radio"]["latency_p95_seconds"] == one.feed.latency_p95_us / 1e6
            assert monitor.feed_figures["radio"]["connected"] == 1.0
            write(folder, [], 60_000_000)
            eventually(lambda: [text[:20] for text in monitor.feed_problems] == ["gateway: has not wri"])

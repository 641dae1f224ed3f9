"""How the feeds of a live capture do, as the gateway that writes it says in the capture's folder."""

from __future__ import annotations

from pathlib import Path

from app.base.background import BackgroundWorker
from app.base.pace import wall_us
from app.gateway.gateway import SILENT_US, GatewayFigures, ReceivingFigures
from app.gateway.run import FIGURES
from app.sources.interface import InputMonitor
from football.untrusted import UntrustedError, read_json

_EVERY_S = 1.0


class FeedWatch(BackgroundWorker):
    """Reads the gateway's figures once a second, in a thread of its own, while the context lasts.

    Args:
        folder: of the capture. Without a gateway's figures in it there is nothing to watch.
        monitor: receives figures and problems.
    """

    def __init__(self, folder: Path, monitor: InputMonitor) -> None:
        super().__init__("feed-watch", _EVERY_S)
        self._path, self._monitor = folder / FIGURES, monitor

    def _work(self) -> None:
        while not self.stopping.is_set():
            self._look()
            self.stopping.wait(_EVERY_S)

    def _look(self) -> None:
        try:
            figures = read_json(self._path, GatewayFigures)
        except (OSError, UntrustedError):
            return
        age_us = wall_us() - figures.zero_us - figures.now_us
        self._monitor.feed_figures = {label: _figures_of(one) for label, one in figures.feeds.items()}
        stopped = [f"gateway: has not written its figures for {age_us / 1e6:.0f} s"] if age_us > SILENT_US else []
        self._monitor.feed_problems = stopped or figures.problems


def _figures_of(one: ReceivingFigures) -> dict[str, float]:
    """Return the numbers of a feed by name, in the units that the names state."""
    feed, clock = one.feed, one.feed.clock
    silent = {} if one.silent_us is None else {"silent_seconds": one.silent_us / 1e6}
    return silent | {
        "connected": float(one.link.connected),
        "breaks": float(one.link.failures),
        "messages": float(feed.messages),
        "bytes": float(feed.bytes),
        "positions": float(feed.positions),
        "copies": float(feed.copies),
        "disordered": float(feed.disordered),
        "lost_messages": float(feed.lost_messages),
        "dropped_datagrams": float(one.link.dropped),
        "refused": float(sum(feed.refused.values())),
        "transmitters": float(len(feed.transmitters)),
        "latency_p50_seconds": feed.latency_p50_us / 1e6,
        "latency_p95_seconds": feed.latency_p95_us / 1e6,
        "clock_offset_seconds": clock.offset_us / 1e6,
        "clock_drift_ppm": clock.drift_ppm,
        "clock_spread_seconds": clock.residual_us / 1e6,
        "clock_turned_seconds": clock.turned_us / 1e6,
        "clock_steps": float(clock.steps),
    }

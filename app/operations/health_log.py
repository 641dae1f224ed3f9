"""Logs the health of a match: its problems and their end, restarts of its stage, and rates."""

from __future__ import annotations

import logging
import time

from app.base.background import BackgroundWorker
from app.base.logs import log_event
from app.operations.match_monitor import MatchMonitor

LOOK_S = 1.0
RATES_S = 10.0

_log = logging.getLogger(__name__)


class HealthLogger(BackgroundWorker):
    """Logs changes once a second, in a thread of its own, while the context lasts."""

    def __init__(self, monitor: MatchMonitor) -> None:
        super().__init__("health log")
        self._monitor = monitor
        self._problems: list[str] = []
        self._restarts = 0
        self._counted_s = time.monotonic()
        self._counted = self._counts()

    def _work(self) -> None:
        while not self.stopping.wait(LOOK_S):
            self.look()
            if time.monotonic() >= self._counted_s + RATES_S:
                self.rates()

    def _closing(self) -> None:
        self.rates()

    def look(self) -> None:
        """Log problems that begin or end, and restarts, since the last call. "starting" is no problem here."""
        monitor = self._monitor
        problems = [problem for problem in monitor.problems() if not problem.startswith("starting")]
        kinds = [problem.partition(":")[0].rstrip("0123456789 s") for problem in problems]
        if kinds != self._problems:
            if problems:
                log_event(_log, logging.WARNING, "troubled", monitor.match, reasons="; ".join(problems))
            else:
                log_event(_log, logging.INFO, "live again", monitor.match)
            self._problems = kinds
        if monitor.restarts != self._restarts:
            self._restarts = monitor.restarts
            log_event(_log, logging.WARNING, "stage restarted", monitor.match, epoch=monitor.feed.epoch())

    def rates(self) -> None:
        """Log the rates since the last call, and the distance to the live edge."""
        now_s, counts = time.monotonic(), self._counts()
        passed_s = max(1e-3, now_s - self._counted_s)
        rates = {f"{name}_per_s": round((counts[name] - self._counted[name]) / passed_s, 1) for name in counts}
        self._counted_s, self._counted = now_s, counts
        state = self._monitor.input()
        log_event(
            _log, logging.INFO, "rates", self._monitor.match, **rates, behind_s=state.behind_s,
            records_behind=state.records, speed=state.speed and round(state.speed, 3), **self._monitor.counters(),
        )  # fmt: skip

    def _counts(self) -> dict[str, int]:
        monitor = self._monitor
        counters = monitor.counters()
        return {
            "positions": counters["positions"],
            "packets": counters["packets"],
            "updates": monitor.asserted + monitor.withdrawn,
        }

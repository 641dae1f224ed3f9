"""How long play has gone on without a pass, by the published events."""

from __future__ import annotations

from collections.abc import Iterable

from football.update_stream import UpdateRecord

#: Events that let play go on, that stop it, and the one that is waited for.
_LIVE, _DEAD, _PASS = "play.live", "play.dead", "pass.attempt"

#: A longer time between two calls is a pause of the sources, as between halves: no play.
_PAUSE_US = 120_000_000


class PlayClock:
    """Time in play since the last pass, from the updates of one match; counts passes that stand."""

    def __init__(self) -> None:
        self.passes = 0
        self._played_us = 0
        self._live_us: int | None = None
        self._now_us: int | None = None

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Take the next updates."""
        for update in updates:
            kind, ts_us = update.event.kind, update.event.ts_us
            if kind == _PASS:
                self.passes += update.diff
                self._played_us = 0
                if self._live_us is not None:
                    self._live_us = max(self._live_us, ts_us)
            elif kind in (_LIVE, _DEAD):
                since_us = update.event.detail.get("since_us")  # of a stoppage, when it began
                self._turn((kind == _LIVE) == (update.diff > 0), since_us if isinstance(since_us, int) else ts_us)

    def since_pass_s(self, now_us: int) -> float:
        """Seconds in play since the last pass, or since the beginning without one; call it as the stream goes on."""
        before_us, self._now_us = self._now_us, now_us
        if before_us is not None and self._live_us is not None and now_us - before_us > _PAUSE_US:
            self._live_us += now_us - before_us
        running_us = 0 if self._live_us is None else max(0, now_us - self._live_us)
        return (self._played_us + running_us) / 1e6

    def _turn(self, is_live: bool, ts_us: int) -> None:
        """Begin or end a stretch of play; a withdrawn event undoes what it said."""
        if is_live:
            self._live_us = ts_us if self._live_us is None else self._live_us
        elif self._live_us is not None:
            self._played_us += max(0, ts_us - self._live_us)
            self._live_us = None

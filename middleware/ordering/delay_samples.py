"""Delays of the inputs that arrived since the slack policy last learned from them."""

from __future__ import annotations

from middleware.events import END_US, Event
from middleware.ordering.slack.protocol import DelaySample, SlackPolicy


class DelaySamples:
    """Inputs whose delays the slack policy has not been given. Plain state, pickled with the unit.

    Args:
        every_sample: True to keep every input, False to keep only the one with the greatest delay.

    Attributes:
        ignored: True while inputs are late because they waited until they were final; their delays are dropped.
        oldest, oldest_us: the input with the greatest delay, and its event time less K+; None and ``END_US`` if none.
    """

    __slots__ = ("_all", "_every_sample", "ignored", "oldest", "oldest_us")

    def __init__(self, *, every_sample: bool) -> None:
        self._every_sample = every_sample
        self._all: list[tuple[int, Event]] = []
        self.ignored = False
        self.oldest: Event | None = None
        self.oldest_us = END_US

    def note(self, ts_us: int, event: Event) -> None:
        """Note an input under its event time, less K+ if it is premature: as if it had waited."""
        if self._every_sample:
            self._all.append((ts_us, event))
        elif ts_us < self.oldest_us:
            self.oldest_us, self.oldest = ts_us, event

    def choose(self, *, every_sample: bool) -> None:
        """Change which inputs are kept from now on."""
        self._every_sample = every_sample
        if not every_sample and self._all:
            self.oldest_us, self.oldest = min(self._all, key=lambda pair: pair[0])
            self._all.clear()

    def report(self, slack: SlackPolicy, clk_us: int, now_us: int) -> None:
        """Give the policy the delays of all that was noted, measured against the unit's clock ``clk_us``."""
        if self.ignored:
            self.oldest_us, self.oldest = END_US, None
            self._all.clear()
            return
        if (event := self.oldest) is not None:
            slack.measure(DelaySample(event.ts_us, clk_us - self.oldest_us, now_us, event.source, event.seq))
            self.oldest_us, self.oldest = END_US, None
        if self._all:
            for ts_us, event in self._all:
                slack.measure(DelaySample(event.ts_us, clk_us - ts_us, now_us, event.source, event.seq))
            self._all.clear()

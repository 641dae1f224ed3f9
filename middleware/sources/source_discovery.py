"""Source discovery: how long events wait for sources that have sent nothing yet.

Theory of operation
-------------------
Sources are not listed beforehand, so the engine does not know which one to wait for. The first packet of a new source
is slow (1 to 3 s on the data of paper 001: a connection is set up, then a backlog arrives), and holds events older than
those of other sources that have arrived meanwhile. So, while new sources are expected, no event is released before the
first packets of a new source would have arrived:

* *Their delay* is learned: the greatest delay of the first packets of the n known sources, times ``(n + 1) / n`` (the
  estimate of a range's end from n draws).
* *Whether more are expected* follows from the time since the last new source. The full delay is waited for
  ``QUIET_SHARE`` of ``wait_us``, then less and less, and none once ``wait_us`` has passed.

If the number of sources is given, the wait ends when the last one has sent. Delays need a common zero of arrival and
event time; without it no delay is learned and no event waits.
"""

from __future__ import annotations

#: The first packets of a source, whose delays count.
FIRST_PACKETS = 8

#: Share of the wait over which the full delay is waited.
QUIET_SHARE = 0.4


class SourceDiscovery:
    """The wait for sources that have sent nothing yet.

    Args:
        wait_us: quiet (arrival time) after which no new source is expected; 0 to expect none at all.
        max_delay_us: a longer delay is ignored, because it shows a clock without a common zero.
        expected: number of sources, if it is known.
    """

    def __init__(self, wait_us: int, max_delay_us: int, expected: int | None = None) -> None:
        self._wait_us = wait_us
        self._max_delay_us = max_delay_us
        self._expected = expected
        self._count = 0
        self._last_us = 0
        self._slowest_us = 0

    def add_source(self, now_us: int) -> None:
        """Count a source that sends for the first time."""
        self._count += 1
        self._last_us = now_us

    def learn(self, delay_us: int) -> None:
        """Learn from the delay of one of the first packets of a source."""
        if self._slowest_us < delay_us <= self._max_delay_us:
            self._slowest_us = delay_us

    def hold_us(self, now_us: int) -> int:
        """Return how long after its event time an event waits at ``now_us``; 0 if no new source is expected."""
        quiet_us = now_us - self._last_us
        if quiet_us >= self._wait_us or not self._count or self._count == self._expected:
            return 0
        full_us = self._slowest_us * (self._count + 1) // self._count
        fading_us = (1 - QUIET_SHARE) * self._wait_us
        left_us = self._wait_us - quiet_us
        return full_us if left_us >= fading_us else int(full_us * left_us / fading_us)

"""Newcomers: how long events wait for sources that nobody has heard of yet.

Theory of operation
-------------------
Sources are not listed beforehand. One that has not been heard cannot be waited for by name, but its first message
will be slow, as those of the others were (1 to 3 s on the data of paper 001: a connection is set up, then a backlog
comes), and will hold events older than what came meanwhile. So, as long as newcomers are to be expected, nothing is
released sooner than they would take:

* *How long they take* is learned from those that came: the greatest delay of their first messages, with the usual
  allowance ``(n + 1) / n`` for having seen only n of them (the estimate of a range's end from n draws).
* *Whether more are to be expected* is judged by the quiet since the last one: in full for ``QUIET_SHARE`` of
  ``wait_us``, then less and less, and not at all when ``wait_us`` has passed.

The wait is the price of having no list. With the number of sources given, it ends when the last one has been heard.
Delays need arrival and event time to have a common zero; where they have not, nothing is learned and nothing held.
"""

from __future__ import annotations

#: First packets of a source that count as a newcomer's.
FIRST_PACKETS = 8

#: Share of the wait over which nothing is taken off.
QUIET_SHARE = 0.4


class SourceDiscovery:
    """The wait for sources that have not been heard.

    Args:
        wait_us: quiet (arrival time) after which no newcomer is expected; 0 to expect none at all.
        delay_most_us: delays beyond this are no delays but clocks without a common zero.
        expected: how many sources there are, if that is known.
    """

    def __init__(self, wait_us: int, delay_most_us: int, expected: int | None = None) -> None:
        self._wait_us = wait_us
        self._delay_most_us = delay_most_us
        self._expected = expected
        self._count = 0
        self._last_us = 0
        self._slowest_us = 0

    def hear(self, now_us: int) -> None:
        """A source was heard for the first time."""
        self._count += 1
        self._last_us = now_us

    def learn(self, delay_us: int) -> None:
        """One of the first packets of a source took ``delay_us``."""
        if self._slowest_us < delay_us <= self._delay_most_us:
            self._slowest_us = delay_us

    def hold_us(self, now_us: int) -> int:
        """How long after its date an event is held at ``now_us``; 0 if no newcomer is expected."""
        quiet_us = now_us - self._last_us
        if quiet_us >= self._wait_us or not self._count or self._count == self._expected:
            return 0
        full_us = self._slowest_us * (self._count + 1) // self._count
        fading_us = (1 - QUIET_SHARE) * self._wait_us
        left_us = self._wait_us - quiet_us
        return full_us if left_us >= fading_us else int(full_us * left_us / fading_us)

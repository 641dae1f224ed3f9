"""Delay announcement: a unit whose K changes tells the units above how late its outputs may arrive (004, II-E2).

Paper 004 sends a pseudo event through the network for it. Here it is a call, because the walk goes upwards once: the
units above know before they release anything in the same push. Growth is announced at once, and what has shrunk at the
end of a span, which 004 does not do: its K never shrinks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from middleware.ordering.unit import OrderingUnit


class DelayAnnouncement:
    """Announced delays of all detectors. Plain state of an engine but for its arguments.

    Args:
        above: for each detector the indices of its subscribers.
        units: of each detector, by key.

    Attributes:
        output_us: by detector, how late its outputs may arrive above, as announced.
        input_us: by detector, how late its inputs may arrive, as announced from below.
    """

    def __init__(self, above: Sequence[Sequence[int]], units: Sequence[Mapping[str, OrderingUnit]]) -> None:
        self._above, self._units = above, units
        self._below: list[list[int]] = [[] for _ in units]
        for lower, uppers in enumerate(above):
            for upper in uppers:
                self._below[upper].append(lower)
        self.output_us = [0] * len(units)
        self.input_us = [0] * len(units)

    def announce(self, index: int, delay_us: int) -> None:
        """Announce that outputs of the detector at ``index`` may arrive ``delay_us`` late, if that is more than before.

        A unit whose K grows by it emits later itself. So the units above it get the delay, too, level by level.
        """
        grown_us = {index: delay_us}
        for lower in range(index, len(self._units)):
            delay_us = grown_us.get(lower, 0)
            if delay_us <= self.output_us[lower]:
                continue
            self.output_us[lower] = delay_us
            for upper in self._above[lower]:
                self.input_us[upper] = max(self.input_us[upper], delay_us)
                for unit in self._units[upper].values():
                    unit.slack.announce(delay_us)
                    grown_us[upper] = max(grown_us.get(upper, 0), unit.output_delay_us)

    def announce_shrinking(self) -> None:
        """Let K fall, and announce smaller delays of detectors that hold their outputs back less than was announced."""
        for lower, units in enumerate(self._units):
            delay_us = 0
            for unit in units.values():
                unit.slack.settle(unit.counters.stepped)
                delay_us = max(delay_us, unit.output_delay_us)
            if not units or delay_us >= self.output_us[lower]:
                continue
            self.output_us[lower] = delay_us
            for upper in self._above[lower]:
                input_us = max(self.output_us[below] for below in self._below[upper])
                if input_us < self.input_us[upper]:
                    self.input_us[upper] = input_us
                    for unit in self._units[upper].values():
                        unit.slack.expect(input_us)

"""What a slack policy learns from: the delays of what came since it was told last."""

from __future__ import annotations

from middleware.events import END_US, Event
from middleware.ordering.slack.protocol import Seen, Slack


class Delays:
    """Inputs that a policy has not been told of. Plain state, pickled with the unit.

    Args:
        each: whether the policy wants every one, or only that with the greatest delay.

    Attributes:
        oldest, oldest_us: that one, and its event time less K+; None and ``END_US`` if there is none.
    """

    __slots__ = ("_all", "_each", "oldest", "oldest_us")

    def __init__(self, *, each: bool) -> None:
        self._each = each
        self._all: list[tuple[int, Event]] = []
        self.oldest: Event | None = None
        self.oldest_us = END_US

    def note(self, ts_us: int, event: Event) -> None:
        """Notes an input under its event time, less K+ where it is premature: as if it had waited."""
        if self._each:
            self._all.append((ts_us, event))
        elif ts_us < self.oldest_us:
            self.oldest_us, self.oldest = ts_us, event

    def choose(self, *, each: bool) -> None:
        """What the policy wants from now on."""
        self._each = each
        if not each and self._all:
            self.oldest_us, self.oldest = min(self._all, key=lambda pair: pair[0])
            self._all.clear()

    def tell(self, slack: Slack, clk_us: int, now_us: int) -> None:
        """Tells the policy, by the unit's clock, what was noted."""
        if (event := self.oldest) is not None:
            slack.measure(Seen(event.ts_us, clk_us - self.oldest_us, now_us, event.source, event.seq))
            self.oldest_us, self.oldest = END_US, None
        if self._all:
            for ts_us, event in self._all:
                slack.measure(Seen(event.ts_us, clk_us - ts_us, now_us, event.source, event.seq))
            self._all.clear()

"""Clock outliers: sources whose clock differs from the others', and whether they or the others are right.

Theory of operation
-------------------
An event does not arrive before it happens. The *lead* of a packet is its event time less its arrival time. A source
whose lead exceeds those of all others by more than the allowed lateness, or falls behind them by as much, is an
*outlier*: it moves neither clock nor progress, and its packets from the future are lost. It is isolated until its
leads fit again. When the outliers outnumber the others, their leads are accepted as right.

With a common zero of both times no event can be dated after its arrival, however late the events so far were. Without
one, the greatest accepted lead is the only measure.
"""

from __future__ import annotations

from middleware.events import BEGINNING_US

#: Arrival and event time have a common zero if the freshest event was not older than this.
COMMON_ZERO_US = 3_600_000_000


class ClockOutliers:
    """Bounds of acceptable leads. Plain state, pickled with source progress.

    Args:
        allowed_lateness_us: how far leads may differ.

    Attributes:
        ahead_us: a source with a greater lead is an outlier; ``BEGINNING_US`` before the first packet.
        behind_us: a source with a smaller lead is an outlier.
        outliers: number of sources that are outliers.
    """

    def __init__(self, allowed_lateness_us: int) -> None:
        self.ahead_us = self.behind_us = BEGINNING_US
        self.outliers = 0
        self._allowed_lateness_us = allowed_lateness_us
        #: Accepted lead: the newest one that moved the bounds, and the greatest.
        self.lead_us = self._greatest_us = BEGINNING_US
        self._common_zero = False

    def accept_lead(self, lead_us: int) -> None:
        """Accept a lead as right and derive the bounds from it."""
        self.lead_us = lead_us
        self.behind_us = lead_us - self._allowed_lateness_us
        self._greatest_us = greatest_us = max(self._greatest_us, lead_us)
        self._common_zero = -COMMON_ZERO_US <= greatest_us <= 0
        self.ahead_us = self._allowed_lateness_us + (0 if self._common_zero else greatest_us)

    def should_accept(self, lead_us: int, live: int, known: int, *, at_first: bool) -> bool:
        """True if outliers with such a lead are right and the others wrong.

        Outliers ahead are right if they outnumber the live sources; at the beginning also if the times have no common
        zero, because the first packet may have been late. Behind, a packet may just be late, so outliers are right only
        if they are more than half of all sources.

        Args:
            lead_us: outside the bounds.
            live: number of sources that are waited for.
            known: number of all sources.
            at_first: True as long as nothing is final.
        """
        if lead_us > self.ahead_us:
            return self.outliers > live or (at_first and not self._common_zero)
        return 2 * self.outliers > known

    def began_in_future(self, lead_us: int) -> bool:
        """True if the first packets were dated in the future and this lead, behind them, is possible; forgets those."""
        began = lead_us <= self.ahead_us and lead_us <= self._allowed_lateness_us < self.lead_us
        if began:
            self._greatest_us = BEGINNING_US
        return began

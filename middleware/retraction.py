"""Retraction: how a unit takes back what it should not have said (paper 000, section 4.3), and which way is cheaper.

Theory of operation
-------------------
``full`` withdraws everything from the misplaced input on, redoes it all and says it anew. ``on-demand`` compares states
and outputs while it redoes: it sends only what differs, and stops as soon as nothing can differ any more. Comparing
costs; where every state differs (000's pass detector) it is wasted. 000 leaves the choice open; ``auto`` makes
it for each detector, while the match runs, from what it has measured:

    full:       steps to the end x step            + everything concluded there, withdrawn and said again, x price
    on-demand:  steps to agreement x (step + compare) + what differs, x price

where the *price* of an update is what it costs above (``middleware.account``).

Exploration is bounded. One repair in ``TRIAL_EVERY`` is a *trial*: it is done on demand and says what both ways would
have come to, for on-demand knows how much lay behind the place where it stopped. So while a detector takes back on
demand, trying costs no extra step and no extra update; while it takes back in full, one repair in ``TRIAL_EVERY``
costs what on-demand does. The choice moves at the end of a span, and only if the other way is cheaper by a margin.
"""

from __future__ import annotations

from typing import Literal

from middleware.account import Work

#: See the module's theory of operation.
Retraction = Literal["full", "on-demand", "auto"]

#: One repair in so many is a trial.
TRIAL_EVERY = 16

#: Trials before the first choice, and the share by which the other way must be cheaper.
_TRIALS_LEAST = 4.0
_MARGIN = 0.05

#: Weight that old trials lose with each span.
_FADES = 0.1


class Chooser:
    """The way of one detector whose retraction is automatic. Plain state of an engine; begins on demand."""

    __slots__ = ("_sums", "full")

    def __init__(self) -> None:
        self.full = False
        #: Fading sums: trials, steps and updates on demand, steps and updates in full.
        self._sums = (0.0, 0.0, 0.0, 0.0, 0.0)

    def turn(self, work: Work, step_us: float, compare_us: float, price_us: float) -> bool:
        """Takes the trials of a span; returns whether the detector now retracts in full."""
        new = (work.trials, work.trial_steps, work.trial_sent, work.trial_steps_full, work.trial_sent_full)
        self._sums = _faded(self._sums, new)
        trials, steps, sent, steps_full, sent_full = self._sums
        if trials >= _TRIALS_LEAST:
            on_demand_us = steps * (step_us + compare_us) + sent * price_us
            full_us = steps_full * step_us + sent_full * price_us
            if self.full:
                self.full = on_demand_us >= full_us * (1 - _MARGIN)
            else:
                self.full = full_us < on_demand_us * (1 - _MARGIN)
        return self.full


def _faded(
    sums: tuple[float, float, float, float, float], new: tuple[int, int, int, int, int]
) -> tuple[float, float, float, float, float]:
    a, b, c, d, e = (old * (1 - _FADES) + more for old, more in zip(sums, new, strict=True))
    return a, b, c, d, e

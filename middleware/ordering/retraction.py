"""Retraction: how a unit takes back what it should not have said (paper 000, section 4.3), and which way is cheapest.

Theory of operation
-------------------
Two questions are asked of each repair: does it compare states while it redoes, so that it can stop as soon as nothing
can differ any more? and does it compare what it concluded, so that it sends only what differs? Paper 000 has two ways:
``full`` compares nothing, withdraws everything from the misplaced input on and says it anew; ``on-demand`` compares
both. Comparing costs, and where every state differs (000's pass detector) comparing states is wasted though
comparing conclusions is not. So there is a third way, ``differences``, ours: redo to the end, send what differs.

000 leaves the choice open; ``auto`` makes it for each detector, while the match runs, from what it has measured:

    full:         steps to the end x step                    + all concluded there, taken back and said, x price
    differences:  steps to the end x step                    + outputs x compare + what differs x price
    on-demand:    steps to agreement x (step + compare state) + outputs x compare + what differs x price

where the *price* of an update is what it costs above (``middleware.load_accounting``).

Exploration is bounded. Some repairs are *trials*: such a one is done on demand and says what all ways would have come
to, for on-demand knows how much lay behind the place where it stopped. So while a detector takes back on demand,
trying costs no extra step and no extra update, and every other repair is a trial; while it takes back in another way
one in 64 is, and costs what on-demand does. The choice moves at the end of a span, and only if another way is cheaper
by a margin; ``full`` must be cheaper than both others by it, since what it sends too much may cost more above than is
known.

What is counted must be the same on all sides, else the choice is wrong though each figure is right: a trial counts for
every way the words of withdrawn inputs that are taken back, and those of new ones that are said; steps are timed
apart from comparisons, and comparisons on states that were made twice (``middleware.purity_check``), since one compared
with itself costs nothing.
"""

from __future__ import annotations

from typing import Literal

from middleware.load_accounting import Work

#: What may be chosen for a detector.
Retraction = Literal["full", "on-demand", "auto"]

#: What a repair does.
Way = Literal["full", "differences", "on-demand"]

#: One repair in so many is a trial, by the way that is in force.
TRIAL_EVERY: dict[Way, int] = {"on-demand": 2, "differences": 64, "full": 64}

#: Trials before the first choice, and the share by which a way must be cheaper to be taken instead: where two are
#: alike, few trials must not make it waver.
_TRIALS_LEAST = 8.0
_MARGIN = 0.05

#: Weight that old trials lose with each span.
_FADES = 0.1

#: Comparing two events, in microseconds. It depends on the machine more than on the event.
_COMPARE_EVENT_US = 0.2


class RetractionChooser:
    """The way of one detector whose retraction is automatic. Plain state of an engine; begins on demand."""

    __slots__ = ("_sums", "way")

    def __init__(self) -> None:
        self.way: Way = "on-demand"
        #: Fading sums: trials, steps and updates on demand, steps and updates in full.
        self._sums = (0.0, 0.0, 0.0, 0.0, 0.0)

    def turn(self, work: Work, step_us: float, compare_us: float, price_us: float) -> Way:
        """Takes the trials of a span; returns the way from now on."""
        new = (work.trials, work.trial_steps, work.trial_sent, work.trial_steps_full, work.trial_sent_full)
        self._sums = _faded(self._sums, new)
        trials, steps, sent, steps_full, sent_full = self._sums
        if trials >= _TRIALS_LEAST:
            differ_us = sent * price_us + sent_full / 2 * _COMPARE_EVENT_US
            costs_us: dict[Way, float] = {
                "on-demand": steps * (step_us + compare_us) + differ_us,
                "differences": steps_full * step_us + differ_us,
                "full": steps_full * step_us + sent_full * price_us,
            }
            careful: Way = "on-demand" if costs_us["on-demand"] < costs_us["differences"] else "differences"
            if costs_us["full"] < costs_us[careful] * (1 - _MARGIN):
                self.way = "full"
            elif self.way == "full" or costs_us[careful] < costs_us[self.way] * (1 - _MARGIN):
                self.way = careful
        return self.way


def _faded(
    sums: tuple[float, float, float, float, float], new: tuple[int, int, int, int, int]
) -> tuple[float, float, float, float, float]:
    a, b, c, d, e = (old * (1 - _FADES) + more for old, more in zip(sums, new, strict=True))
    return a, b, c, d, e


def first_way(retraction: Retraction) -> Way:
    """How a new unit takes back."""
    return "full" if retraction == "full" else "on-demand"

"""Retraction: how a unit takes back premature outputs (paper 000, section 4.3), and which mode is cheapest.

Theory of operation
-------------------
A repair can compare two things. If it compares *states* while it redoes, it can stop as soon as nothing can differ any
more. If it compares *outputs*, it sends only what differs. The modes:

    mode          compares states                compares outputs               from
    full          no: redoes to the end          no: withdraws all, emits anew  000, 4.3.1
    differences   no: redoes to the end          yes                            own work
    on-demand     yes: stops where they agree    yes                            000, 4.3.2

Comparing costs. Where every state differs, as in the pass detector of 000, comparing states is wasted though comparing
outputs is not; hence ``differences``.

000 leaves the choice open. ``auto`` makes it for each detector while the match runs, from measured costs:

    full:         steps to the end x step                    + all outputs there, withdrawn and asserted, x price
    differences:  steps to the end x step                    + outputs x compare + what differs x price
    on-demand:    steps to agreement x (step + compare state) + outputs x compare + what differs x price

The *price* of an update is what it costs above (:mod:`middleware.load_accounting`).

Exploration is bounded. Some repairs are *trials*: a trial is made on demand and counts what all modes would have cost,
for it knows how much lay behind the place where it stopped. While a detector retracts on demand, a trial costs no extra
step and no extra update, and every other repair is one. In another mode one repair in 64 is a trial, and costs what
on-demand costs. The mode changes at the end of a span, and only if another is cheaper by a margin. ``full`` must be
cheaper than both others by it, because its surplus updates may cost more above than is known.

All modes must be charged alike, or the choice is wrong though each figure is right. A trial counts for every mode the
withdrawn outputs of removed inputs and the outputs of new ones. Steps are timed apart from comparisons, and
comparisons on states that were computed twice (:mod:`middleware.purity_check`), because comparing a state with itself
costs nothing.
"""

from __future__ import annotations

from typing import Literal

from middleware.load_accounting import Work

#: What a setting may say.
Retraction = Literal["full", "on-demand", "auto"]

#: What a repair does.
Mode = Literal["full", "differences", "on-demand"]

#: One repair in this many is a trial, by the mode in force.
TRIAL_EVERY: dict[Mode, int] = {"on-demand": 2, "differences": 64, "full": 64}

#: Trials before the first choice, and the share by which a mode must be cheaper to be chosen: with two alike, few
#: trials must not make the choice waver.
_MIN_TRIALS = 8.0
_MARGIN = 0.05

#: Share of their weight that trials lose with each span.
_FADES = 0.1

#: Cost of comparing two events, in microseconds. It depends on the machine more than on the event.
_COMPARE_EVENT_US = 0.2


class RetractionChooser:
    """Chooses the mode of one detector whose retraction is automatic. Plain state of an engine; begins on demand."""

    __slots__ = ("_sums", "mode")

    def __init__(self) -> None:
        self.mode: Mode = "on-demand"
        #: Fading sums: trials, steps and updates on demand, steps and updates in full.
        self._sums = (0.0, 0.0, 0.0, 0.0, 0.0)

    def end_span(self, work: Work, step_us: float, compare_us: float, price_us: float) -> Mode:
        """Add the trials of a span; return the mode from now on."""
        if not work.trials and not self._sums[0]:
            return self.mode  # no trial was ever made
        new = (work.trials, work.trial_steps, work.trial_sent, work.trial_steps_full, work.trial_sent_full)
        self._sums = _faded(self._sums, new)
        trials, steps, sent, steps_full, sent_full = self._sums
        if trials >= _MIN_TRIALS:
            differ_us = sent * price_us + sent_full / 2 * _COMPARE_EVENT_US
            costs_us: dict[Mode, float] = {
                "on-demand": steps * (step_us + compare_us) + differ_us,
                "differences": steps_full * step_us + differ_us,
                "full": steps_full * step_us + sent_full * price_us,
            }
            careful: Mode = "on-demand" if costs_us["on-demand"] < costs_us["differences"] else "differences"
            if costs_us["full"] < costs_us[careful] * (1 - _MARGIN):
                self.mode = "full"
            elif self.mode == "full" or costs_us[careful] < costs_us[self.mode] * (1 - _MARGIN):
                self.mode = careful
        return self.mode


def _faded(
    sums: tuple[float, float, float, float, float], new: tuple[int, int, int, int, int]
) -> tuple[float, float, float, float, float]:
    a, b, c, d, e = (old * (1 - _FADES) + more for old, more in zip(sums, new, strict=True))
    return a, b, c, d, e


def first_mode(retraction: Retraction) -> Mode:
    """Return the mode of a new unit."""
    return "full" if retraction == "full" else "on-demand"

"""Which slack policy a unit has, in data: frozen, comparable, and told in a configuration by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from middleware.ordering.slack.estimators import SBA_US, MeanTime, Profile, RangeOfTimes, SingleTime, StaticBuffer
from middleware.ordering.slack.frontier import ProgressSlack
from middleware.ordering.slack.kslack import LAMBDA, AdaptiveSlack, DynamicSlack, FixedSlack
from middleware.ordering.slack.protocol import Slack, Waiting

Method = Literal["fixed", "kslack", "sba", "bett", "betta", "bettwa", "bettd", "adaptive", "frontier"]


@dataclass(frozen=True)
class SlackSettings:
    """A policy by name.

    Attributes:
        method: ``fixed``, ``kslack`` (grows), ``adaptive`` (with lambda): K-slack (000, 002, 004); ``sba``, ``bett``,
            ``betta``, ``bettwa``, ``bettd``: paper 001; ``frontier``: source progress.
        k_us: K or B of ``fixed`` and ``sba``, and what the others begin with; None for their own beginning. Nothing
            to ``frontier``.
        scale: lambda of ``adaptive``.
        profile: reading of paper 001, see :mod:`middleware.ordering.slack.estimators`.
        ignores_progress: True to wait K out as the papers do, whatever the sources have told. Nothing to ``frontier``.
    """

    method: Method = "kslack"
    k_us: int | None = None
    scale: float = LAMBDA
    profile: Profile = "literal"
    ignores_progress: bool = False

    def policy(self) -> Slack:
        """A fresh policy."""
        begin_us = 0 if self.k_us is None else self.k_us
        set_us = SBA_US if self.k_us is None else self.k_us
        made: Waiting
        match self.method:
            case "fixed":
                made = FixedSlack(set_us)
            case "kslack":
                made = DynamicSlack(begin_us)
            case "adaptive":
                made = AdaptiveSlack(begin_us, self.scale)
            case "sba":
                made = StaticBuffer(set_us)
            case "bett":
                made = SingleTime() if self.k_us is None else SingleTime(self.k_us)
            case "betta" | "bettwa":
                made = MeanTime(self.method == "bettwa", self.profile)
                made.k_us = made.k_us if self.k_us is None else self.k_us
            case "bettd":
                made = RangeOfTimes(self.profile)
                made.k_us = made.k_us if self.k_us is None else self.k_us
            case "frontier":
                return ProgressSlack()
        made.ignores_progress = self.ignores_progress
        return made

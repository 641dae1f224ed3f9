"""Settings of a slack policy: plain data that names the policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from middleware.ordering.slack.estimators import SBA_US, MeanTime, Profile, RangeOfTimes, SingleTime, StaticBuffer
from middleware.ordering.slack.kslack import LAMBDA, AdaptiveSlack, DynamicSlack, FixedSlack
from middleware.ordering.slack.protocol import SlackPolicy, WaitForK
from middleware.ordering.slack.source_progress import ProgressSlack
from middleware.ordering.slack.target import TargetSlack
from middleware.ordering.slack.watermark import FLINK_US, BoundedLateness
from middleware.sources.delay_bound import ReleaseTarget

Method = Literal[
    "fixed", "kslack", "sba", "bett", "betta", "bettwa", "bettd", "adaptive", "progress", "flink", "target"
]


@dataclass(frozen=True)
class SlackSettings:
    """A policy by name.

    Attributes:
        method: ``fixed``, ``kslack`` (grows), ``adaptive`` (with lambda): K-slack (000, 002, 004); ``sba``, ``bett``,
            ``betta``, ``bettwa``, ``bettd``: paper 001; ``flink``: Flink's watermark; ``progress``: source progress, no
            guess; ``target``: source progress, or a bound on delays by which the chosen share is late.
        k_us: K or B of ``fixed``, ``sba`` and ``flink``, the first K or B of the others; None for the default. Ignored
            by ``progress`` and ``target``.
        scale: lambda of ``adaptive``.
        profile: reading of paper 001, see :mod:`middleware.ordering.slack.estimators`.
        ignores_progress: True to wait K out as the papers do, though the sources have reported everything.
            Ignored by ``progress`` and ``target``.
        target: of ``target``: what may be late, and how long an input waits at most.
        at_sources: of ``target``: True for a unit on its own before what all sources send. It waits by the bound on
            their delays alone, and measures none itself.
        backset_us: how far before its cause the detector dates outputs, if that is known before it runs (004, section
            III-B). The units above hear of it, with K, before any input.
    """

    method: Method = "kslack"
    k_us: int | None = None
    scale: float = LAMBDA
    profile: Profile = "literal"
    ignores_progress: bool = False
    target: ReleaseTarget = field(default_factory=ReleaseTarget)
    at_sources: bool = False
    backset_us: int = 0

    @property
    def output_delay_us(self) -> int:
        """How late outputs may arrive at the units above, by what is known before any input: first K, back-setting."""
        return (self.k_us or 0) + self.backset_us

    @property
    def followed(self) -> ReleaseTarget | None:
        """The target, if the method has one."""
        return self.target if self.method == "target" else None

    @property
    def shrinks(self) -> bool:
        """True if K may fall."""
        return self.method in ("adaptive", "target")

    def policy(self) -> SlackPolicy:
        """Make a policy."""
        begin_us = 0 if self.k_us is None else self.k_us
        set_us = SBA_US if self.k_us is None else self.k_us
        policy: WaitForK
        match self.method:
            case "fixed":
                policy = FixedSlack(set_us)
            case "kslack":
                policy = DynamicSlack(begin_us)
            case "adaptive":
                policy = AdaptiveSlack(begin_us, self.scale)
            case "sba":
                policy = StaticBuffer(set_us)
            case "bett":
                policy = SingleTime() if self.k_us is None else SingleTime(self.k_us)
            case "betta" | "bettwa":
                policy = MeanTime(self.method == "bettwa", self.profile)
                policy.k_us = policy.k_us if self.k_us is None else self.k_us
            case "bettd":
                policy = RangeOfTimes(self.profile)
                policy.k_us = policy.k_us if self.k_us is None else self.k_us
            case "flink":
                policy = BoundedLateness(FLINK_US if self.k_us is None else self.k_us)
            case "target" if not self.at_sources:
                return TargetSlack(self.target, begin_us)
            case "progress" | "target":
                return ProgressSlack()
        policy.ignores_progress = self.ignores_progress
        return policy

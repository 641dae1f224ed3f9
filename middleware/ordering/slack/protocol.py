"""What a slack policy is told, and what an ordering unit asks of it.

Policies are plain picklable values inside the unit. They move only by what they are told, so that redoing a batch
from a snapshot takes the same decisions.
"""

from __future__ import annotations

from math import ceil
from typing import Literal, NamedTuple, Protocol

#: What ``ts + alpha*K`` is held against: the unit's clk (K-slack), or the arrival time of the push.
Clock = Literal["event", "arrival"]

#: Whether the inputs of a run are measured before its releases or after them. Paper 001 does not say, and its
#: figures need both. A policy that is set or read off learns never.
Learns = Literal["before", "after", "never"]


class Seen(NamedTuple):
    """What a policy may learn from one input.

    Attributes:
        ts_us: event time of the input.
        delay_us: its delay against the unit's clk, K+ of a premature input added (000, section 4.1).
        now_us: arrival time of the push that measured it.
        source, seq: of the input.
    """

    ts_us: int
    delay_us: int
    now_us: int
    source: str
    seq: int


class Slack(Protocol):
    """How late the inputs of a unit may be.

    Attributes:
        k_us: K, or the buffer time of a policy that counts in arrival time.
        clock: see ``Clock``. With ``event`` inputs are measured when the unit's clk moves (004, II-E2), with
            ``arrival`` at the push in which they came.
        learns: see ``Learns``.
        each: True to be told every input; False if the one with the greatest delay of a run will do, which costs
            less.
        ignores_progress: True to wait K out as the papers do; False to let go what the sources have told completely.
            The engine
            then tells a unit no other progress than what is final.
        plain: it goes by event time, learns before releases, and no delay up to K tells it anything: what comes in
            order may then be taken without asking it.
    """

    k_us: int
    clock: Clock
    learns: Learns
    each: bool
    ignores_progress: bool
    plain: bool

    def measure(self, seen: Seen) -> None:
        """Learns from an input."""
        ...

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """Event time up to which (inclusive) waiting inputs are due.

        Args:
            clock_us: the clock that the policy goes by.
            progress_us: event time up to which the sources have told everything.
            alpha: share of the slack to wait (000, inequation 1).
        """
        ...

    def announce(self, delay_us: int) -> None:
        """A unit below will deliver up to ``delay_us`` late from now on (004, II-E2: the pseudo event)."""
        ...

    def succeed(self, k_us: int) -> None:
        """Takes over, in a running unit, from a policy whose K was ``k_us``."""
        ...


class Waiting:
    """What the policies share that wait for K, or for the sources' word if that comes sooner and they heed it."""

    k_us: int
    ignores_progress = False
    plain = False

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """What is older than the clock by ``alpha * K``, or told completely: waiting on would be for nothing."""
        return max(clock_us - ceil(alpha * self.k_us), progress_us)

    def announce(self, delay_us: int) -> None:
        """What was set, or is measured in arrival time, is not moved by what others wait."""

    def succeed(self, k_us: int) -> None:
        """What was learned before does not count against what was set."""

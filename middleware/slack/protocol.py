"""What a slack policy is told, and what an ordering unit asks of it.

Policies are plain picklable values inside the unit. They move only by what they are told, so that redoing a batch
from a snapshot takes the same decisions.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

#: What ``ts + alpha*K`` is held against: the unit's clk (K-slack), or the arrival time of the push.
Clock = Literal["event", "arrival"]


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
        each: True to be told every input; False if the one with the greatest delay of a run will do, which costs
            less.
    """

    k_us: int
    clock: Clock
    each: bool

    def measure(self, seen: Seen) -> None:
        """Learns from an input."""
        ...

    def succeed(self, k_us: int) -> None:
        """Takes over, in a running unit, from a policy whose K was ``k_us``."""
        ...

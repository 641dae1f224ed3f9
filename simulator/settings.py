"""Options of the simulator that can be checked without loading it: seed, tags and rates."""

from __future__ import annotations

from typing import Any

from football.errors import UserError
from simulator.records import FEET, FOUR_LIMBS

#: A seed whose first minutes are eventful: ``python -m bench.simulator --look FIRST LAST`` looks for some.
DEFAULT_SEED = 94


class SimulatorError(UserError, ValueError):
    """Settings that cannot be simulated; the message names the setting."""


#: Rates by name: what the product shows by default; the papers' mix, 36,000 positions/s; and 50,000.
RATES: dict[str, dict[str, Any]] = {
    "live": {"ball_hz": 200, "body_hz": 50, "limbs": FEET, "tags": "playing"},
    "full": {"ball_hz": 2000, "body_hz": 200, "limbs": FOUR_LIMBS, "tags": "all"},
    "50k": {"ball_hz": 2000, "body_hz": 300, "limbs": FOUR_LIMBS, "tags": "all"},
}


def rates_named(text: str) -> dict[str, Any]:
    """The settings of :class:`simulator.simulate.Simulation` that a rate stands for.

    Args:
        text: a name in ``RATES``, or ``BALL/LIMB`` in Hz.

    Raises:
        SimulatorError: neither.

    >>> rates_named("1000/100")["body_hz"]
    100
    """
    if text in RATES:
        return RATES[text]
    ball, _, limb = text.partition("/")
    if not (ball.isdecimal() and limb.isdecimal()):
        raise SimulatorError(f"rate {text!r} is neither of {', '.join(RATES)} nor like 2000/200 (ball/limb, in Hz)")
    return {**RATES["full"], "ball_hz": int(ball), "body_hz": int(limb)}

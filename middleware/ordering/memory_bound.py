"""Bound of held inputs (decision 013): how far final must advance early when the units hold too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from middleware.ordering.unit import OrderingUnit

#: As shares of the bound: new inputs after which it is looked at again, the number at which final advances early, and
#: the number that is left then.
RECOUNT, FULL, _LEFT = 0.05, 0.9, 0.7


def count_held(units: Sequence[Mapping[str, OrderingUnit]]) -> int:
    """Return the number of inputs that all units together hold or let wait."""
    return sum(unit.waiting + unit.held for by_key in units for unit in by_key.values())


def final_within(
    units: Sequence[Mapping[str, OrderingUnit]], reach_us: Sequence[int], max_held: int, clk_us: int, held: int
) -> int | None:
    """Return the event time to which final must advance; None while the units hold few enough inputs.

    Args:
        units: of each detector, by key.
        reach_us: how far below final the inputs of each detector may still change.
        max_held: how many inputs all units together may hold or let wait.
        clk_us: newest event; final never advances beyond it.
        held: see :func:`count_held`.
    """
    if held <= FULL * max_held:
        return None
    times_us: list[int] = []
    for by_key, reach in zip(units, reach_us, strict=True):
        for unit in by_key.values():
            times_us.extend(ts_us + reach for ts_us in unit.times_us())
    times_us.sort()
    return min(times_us[held - int(_LEFT * max_held) - 1] + 1, clk_us)

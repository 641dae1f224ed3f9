"""Units of several keys that take one input each in one step: the second way through the units of a keyed detector.

Theory of operation
-------------------
Most inputs of a dense keyed detector, such as the packets of a transmitter, are the newest of their key, and with alpha
0 they are released at once. For such an input a unit has nothing to sort, to repair or to wait for. So the units of all
keys that have one such input in a walk hand their states to the detector together (``TogetherDetector``): it makes a
step of each with one call, of a compiled kernel for example. Then each unit stores what followed
(:meth:`OrderingUnit.take_step`), exactly as :meth:`OrderingUnit.process` stores it.

Every other input goes through :meth:`OrderingUnit.process`, which is the reference: a unit may change from one way to
the other between any two walks, because both leave the same unit behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from middleware.detector import Detector, Step, TogetherDetector
from middleware.events import BEGINNING_US, Event
from middleware.isolation import Failed
from middleware.ordering.unit import KeyedUpdate, OrderingUnit

#: Steps of no unit.
NO_STEPS: Mapping[str, Step[Any]] = {}

#: ``TogetherDetector.step_together``.
StepTogether = Callable[[Sequence[Any], Sequence[Event]], Sequence[Step[Any]]]


def step_of(detector: Detector[Any] | None) -> StepTogether | None:
    """Return how a detector steps several keys at once; None if it does not."""
    return detector.step_together if isinstance(detector, TogetherDetector) else None


def steps_of_keys(
    step_together: StepTogether, units: Mapping[str, OrderingUnit], inputs: Mapping[str, Sequence[KeyedUpdate]]
) -> Mapping[str, Step[Any]]:
    """Return the steps, by key, of the units whose only input is in order and due at once; no unit is touched.

    If the detector breaks its contract there are none: made one by one, the steps show which unit it fails in.

    Args:
        step_together: of the detector.
        units: of the detector, by key; those with inputs are there.
        inputs: of this walk, by key.
    """
    states: list[object] = []
    events: list[Event] = []
    names: list[str] = []
    for name, own in inputs.items():
        unit = units[name]
        if len(own) == 1 and unit.takes_at_once(own[0], None, BEGINNING_US):
            held = unit.buffer.states
            state = held[-1] if held else unit.buffer.base
            if state.__class__ is not Failed:
                states.append(state)
                events.append(own[0][0].event)
                names.append(name)
    if not names:
        return NO_STEPS
    try:
        steps = [(state, outputs) for state, outputs in step_together(states, events)]
    except Exception:
        return NO_STEPS
    return dict(zip(names, steps, strict=True)) if len(steps) == len(names) else NO_STEPS

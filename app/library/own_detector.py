"""Detectors made from a function: the shortest way to an event of one's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from detectors.emission import make_event
from football.errors import UserError
from football.payloads import EventPayload
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: One payload, several, or none.
Found = EventPayload | Sequence[EventPayload] | None

#: The function of a detector: a state and an event to the next state and the payloads of what was found.
StepFunction = Callable[[Any, Event], tuple[Any, Found]]

#: Steps that are repeated to see whether the function is pure.
_CHECKED_STEPS = 200


class DetectorError(UserError, ValueError):
    """A detector that cannot be made, or that failed in a match; the message has the reason."""


class FunctionDetector:
    """A detector whose step is a function. See :func:`detector`."""

    def __init__(self, function: StepFunction, spec: Spec, initial: object) -> None:
        self.spec = spec
        self._function, self._initial = function, initial
        self._unchecked = _CHECKED_STEPS
        self.__doc__ = inspect.getdoc(function)

    def initial(self) -> object:
        """State before the first event."""
        return self._initial

    def step(self, state: object, event: Event) -> Step[object]:
        """The state after an event, and the events that were found in it."""
        result = self._function(state, event)
        if self._unchecked:
            self._unchecked -= 1
            if self._function(state, event) != result:
                raise ValueError("called again with the same state and event, it gives another result")
        state, found = result
        payloads = (found,) if isinstance(found, EventPayload) else tuple(found or ())
        if not payloads:
            return state, NOTHING
        for payload in payloads:
            if not isinstance(payload, EventPayload):
                raise TypeError(f"a step returns a state and payloads, not {payload!r}")
        (kind,), cause = self.spec.outputs, event.id or f"{event.kind}:{event.source}:{event.seq}"
        causes = (event.id,) if event.id else ()
        anchors = [cause if at == 0 else f"{cause}:{at}" for at in range(len(payloads))]
        return state, [
            make_event(kind, event.ts_us, anchor, payload, causes=causes)
            for anchor, payload in zip(anchors, payloads, strict=True)
        ]


def detector(
    kind: str, *, reads: str | Iterable[str], initial: object = None, level: int = 15
) -> Callable[[StepFunction], FunctionDetector]:
    """Make a detector of a function.

    The function gets its state and the next event, in order of time, and returns the next state and what it found: a
    :class:`Payload`, several, or None. It must be pure: same state and event, same result, and it must not change the
    state that it got. So a state is a number, a text, a tuple or a frozen object. The engine takes care of late and
    withdrawn inputs: it goes back to an earlier state and repeats the function.

    Args:
        kind: of the events that it finds, such as ``pass.streak``; no other detector may emit it.
        reads: kinds that it reads; ``touchline detectors`` lists them.
        initial: state before the first event.
        level: 1 to 15, above those of all detectors that emit what it reads. Of detectors that read each other's
            events the upper ones need the higher level.

    Raises:
        TouchlineError: the declaration contradicts itself.
    """
    inputs = (reads,) if isinstance(reads, str) else tuple(reads)
    if not kind or not inputs:
        raise DetectorError(f"{kind or 'a detector'}: needs a kind of events to emit, and kinds to read")

    def make(function: StepFunction) -> FunctionDetector:
        try:
            spec = Spec(function.__name__, f"{level}.99", level, inputs, (kind,), payload=EventPayload)
        except ValueError as error:
            raise DetectorError(str(error)) from None
        return FunctionDetector(function, spec, initial)

    return make

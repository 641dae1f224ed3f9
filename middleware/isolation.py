"""Isolation: a detector that breaks its contract falls silent or loses an output, and harms nothing else.

Theory of operation
-------------------
A fault must not depend on the order of arrival, or the law would fall with the detector. So faults are part of the
fold, and the oracle folds in the same way:

* *A step raises.* The state becomes :class:`Failed` and stays so; that unit emits nothing more. What it emitted on
  earlier inputs (earlier in canonical order) stands. If only a missing late input caused the failure, the repair
  undoes it like any other state. The progress of units above continues.
* *An event dated outside the horizon, of an undeclared kind, or published with another payload than was declared,* is
  refused; the detector goes on.
* *Two events under one canonical key:* the one with the greater ``repr`` counts. Of two events that claim to be the
  same neither is better, so any rule will do that does not look at the order of arrival.

A detector that is not pure, or that mutates a state, has no sorted replay to be compared with. The purity check
(:mod:`middleware.purity_check`) finds and reports it. A withdrawal that matches nothing is reported and ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from middleware.detector import NOTHING, Detector, Spec, Step
from middleware.events import BEGINNING_US, END_US, Event

#: Receives a fault: what happened, and a text for people. See :meth:`Faults.note`.
Report = Callable[[str, str], None]

#: Longer texts of errors are cut: people read them, and states hold them.
_MAX_TEXT = 300


class Failed(msgspec.Struct, frozen=True, gc=False):
    """State of a fold whose detector raised on an input of ``ts_us``."""

    ts_us: int
    error: str


class Fault(msgspec.Struct):
    """Number of faults of one sort, and the newest text."""

    count: int = 0
    last: str = ""


class Faults:
    """All faults of all detectors since the beginning."""

    def __init__(self) -> None:
        self.by_detector: dict[str, dict[str, Fault]] = {}

    def note(self, detector: str, what: str, text: str) -> None:
        """Count a fault.

        Args:
            detector: name of the detector whose fault it is.
            what: ``raised``, ``refused`` (an event outside the contract), ``doubled`` (two events under one key),
                ``unmatched`` (a withdrawal of what was not asserted), ``incomparable`` (``==`` raises on states or
                events), ``impure``.
            text: for people.
        """
        fault = self.by_detector.setdefault(detector, {}).setdefault(what, Fault())
        fault.count += 1
        fault.last = text[:_MAX_TEXT]


def failed(ts_us: int, error: Exception) -> Failed:
    """Return the state after a step that raised ``error`` on an input of ``ts_us``."""
    return Failed(ts_us, f"{type(error).__name__}: {error}"[:_MAX_TEXT])


def permitted_outputs(
    spec: Spec, payloads: Mapping[str, type], event: Event, outputs: Sequence[Event]
) -> Sequence[Event]:
    """Return ``outputs`` of a step on ``event``, less those that the contract forbids.

    A run of positions is dated by its first one, so a detector that takes runs may date its outputs later than its
    input.

    Args:
        spec: of the detector.
        payloads: ``spec.payloads()``.
        event: the input.
        outputs: of the step.
    """
    oldest_us = event.ts_us - spec.horizon_us
    newest_us = END_US if spec.takes_runs else event.ts_us
    for out in outputs:
        if not (oldest_us <= out.ts_us <= newest_us and isinstance(out.payload, payloads.get(out.kind, ()))):
            break
    else:
        return outputs
    good = [
        out
        for out in outputs
        if oldest_us <= out.ts_us <= newest_us and isinstance(out.payload, payloads.get(out.kind, ()))
    ]
    return good or NOTHING


def deciding_event(events: Iterable[Event]) -> Event:
    """Return the one that counts of several events under one canonical key."""
    several = list(events)
    return several[0] if len(several) == 1 else max(several, key=repr)


def failed_step(state: object, event: Event) -> Step[object]:
    """Stand in for ``step`` of a detector that has failed."""
    return state, NOTHING


def ignore_faults(what: str, text: str) -> None:
    """Ignore a fault: a :data:`Report` for units whose faults are not counted."""


class IsolatedDetector:
    """A detector whose faults cannot stop the match.

    Args:
        detector: any.
        report: receives its faults.

    Attributes:
        spec: of the detector.
        detector_step: its own step; it may raise, and must not be given a failed state.
    """

    def __init__(self, detector: Detector[object], report: Report) -> None:
        self.spec = detector.spec
        self._detector = detector
        self.detector_step = detector.step
        self._payloads = detector.spec.payloads()
        self._report = report

    @property
    def unreported(self) -> IsolatedDetector:
        """The same detector, of which nothing is reported: for steps that are repeated to look at them."""
        return IsolatedDetector(self._detector, ignore_faults)

    def initial(self) -> object:
        """Return the state before any event; a detector that has none has failed from the beginning."""
        try:
            return self._detector.initial()
        except Exception as error:
            self._report("raised", f"before any event: {type(error).__name__}: {error}")
            return failed(BEGINNING_US, error)

    def step_from(self, state: object) -> Callable[[object, Event], Step[object]]:
        """Return the step to use from ``state`` on; if it raises, call :meth:`fail`, else :meth:`permitted`."""
        return failed_step if state.__class__ is Failed else self.detector_step

    def permitted(self, event: Event, outputs: Sequence[Event]) -> Sequence[Event]:
        """Return ``outputs`` of a step on ``event``, less those that the contract forbids; report these."""
        good = permitted_outputs(self.spec, self._payloads, event, outputs)
        if good is not outputs:
            self._report("refused", f"on {event.kind} at {event.ts_us} us: {[(e.kind, e.ts_us) for e in outputs]}")
        return good

    def fail(self, event: Event, error: Exception) -> Failed:
        """Report a step on ``event`` that raised; return the state after it."""
        self._report("raised", f"on {event.kind} at {event.ts_us} us: {type(error).__name__}: {error}")
        return failed(event.ts_us, error)

    def step(self, state: object, event: Event) -> Step[object]:
        """Make one step with all of the above."""
        try:
            state, outputs = self.step_from(state)(state, event)
            return state, self.permitted(event, outputs) if outputs else NOTHING
        except Exception as error:
            return self.fail(event, error), NOTHING

    def same(self, one: object, other: object) -> bool:
        """True if two states, or two outputs, are equal; what cannot be compared is not."""
        try:
            return one is other or bool(one == other)
        except Exception as error:
            self._report("incomparable", f"{type(error).__name__}: {error}")
            return False

"""Isolation: what a detector that breaks its contract does to a match, which is nothing but its own silence.

Theory of operation
-------------------
A fault must not depend on the order of arrival, or the law would fall with the detector. So faults are made part of
the fold, and the oracle folds in the same way:

* *A step raises.* The state becomes :class:`Failed` and stays so; nothing more is concluded by that unit. What it
  had concluded from earlier inputs (earlier in canonical order) stands. A failure that only a misordered input
  had caused is undone with it, like any other conclusion. Units above see their inputs' progress go on.
* *An event dated outside its horizon, of a kind that was not declared, or published with another payload than was
  declared,* is refused; the detector goes on.
* *Two events under one canonical key:* one counts, the one with the greater ``repr``: of two that claim to be the
  same there is no better and no worse, so any rule will do that does not look at who came first.

A detector that is not pure, or mutates a state, has no sorted replay to be held against. It is found by rehearsal
(``middleware.metrics``) and reported; withdrawals that match nothing are reported and passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from middleware.detector import NOTHING, Detector, Spec, Step
from middleware.events import BEGINNING_US, END_US, Event

#: Takes (what happened, in which words): see :meth:`Faults.note`.
Report = Callable[[str, str], None]

#: Longer texts of errors are cut: they are shown to people, and kept in states.
_TEXT_MOST = 300


class Failed(msgspec.Struct, frozen=True, gc=False):
    """State of a fold whose detector raised on an input of ``ts_us``."""

    ts_us: int
    error: str


class Fault(msgspec.Struct):
    """How often a detector was found at one kind of fault, and the newest text."""

    count: int = 0
    last: str = ""


class Faults:
    """All faults of all detectors, since the beginning."""

    def __init__(self) -> None:
        self.by_detector: dict[str, dict[str, Fault]] = {}

    def note(self, detector: str, what: str, text: str) -> None:
        """Counts a fault.

        Args:
            detector: name of the detector whose fault it is.
            what: ``raised``, ``refused`` (an event outside its contract), ``doubled`` (two events under one name),
                ``unmatched`` (a withdrawal of what was not given), ``incomparable`` (states or events that ``==``
                raises on), ``impure``.
            text: for people.
        """
        fault = self.by_detector.setdefault(detector, {}).setdefault(what, Fault())
        fault.count += 1
        fault.last = text[:_TEXT_MOST]


def failed(ts_us: int, error: Exception) -> Failed:
    """The state after a step that raised ``error`` on an input of ``ts_us``."""
    return Failed(ts_us, f"{type(error).__name__}: {error}"[:_TEXT_MOST])


def permitted_outputs(
    spec: Spec, payloads: Mapping[str, type], event: Event, outputs: Sequence[Event]
) -> Sequence[Event]:
    """``outputs`` of a step on ``event``, less those that its detector may not give; ``payloads``: ``Spec.payloads()``.

    A run of positions is dated by its first one, so what takes runs may date its outputs later than its input.
    """
    oldest_us = event.ts_us - spec.horizon_us
    newest_us = END_US if spec.takes_runs else event.ts_us
    good = []
    for out in outputs:
        if oldest_us <= out.ts_us <= newest_us and isinstance(out.payload, payloads.get(out.kind, ())):
            good.append(out)
    return outputs if len(good) == len(outputs) else good or NOTHING


def deciding_event(events: Iterable[Event]) -> Event:
    """Which of several events under one canonical key counts."""
    several = list(events)
    return several[0] if len(several) == 1 else max(several, key=repr)


def mute(state: object, event: Event) -> Step[object]:
    """The step of a detector that has failed."""
    return state, NOTHING


def silent(what: str, text: str) -> None:
    """Nobody asked to be told of faults."""


class Isolated:
    """A detector as an ordering unit uses it: it can't stop the match.

    Args:
        detector: any.
        report: told of its faults.

    Attributes:
        spec: of the detector.
        detector_step: its own step, that may raise and be given no failed state.
    """

    def __init__(self, detector: Detector[object], report: Report) -> None:
        self.spec = detector.spec
        self._detector = detector
        self.detector_step = detector.step
        self._payloads = detector.spec.payloads()
        self._report = report

    @property
    def quiet(self) -> Isolated:
        """The same of which nothing is reported: for steps that are done again to look at them."""
        return Isolated(self._detector, silent)

    def initial(self) -> object:
        """State before any event; a detector that has none has failed before it began."""
        try:
            return self._detector.initial()
        except Exception as error:
            self._report("raised", f"before any event: {type(error).__name__}: {error}")
            return failed(BEGINNING_US, error)

    def stepper(self, state: object) -> Callable[[object, Event], Step[object]]:
        """What takes an input from ``state`` on; it may raise (:meth:`raised`), and its outputs are to be checked."""
        return mute if state.__class__ is Failed else self.detector_step

    def checked(self, event: Event, outputs: Sequence[Event]) -> Sequence[Event]:
        """``outputs`` of a step on ``event``, less those that the contract forbids."""
        good = permitted_outputs(self.spec, self._payloads, event, outputs)
        if good is not outputs:
            self._report("refused", f"on {event.kind} at {event.ts_us} us: {[(e.kind, e.ts_us) for e in outputs]}")
        return good

    def raised(self, event: Event, error: Exception) -> Failed:
        """The state after a step on ``event`` that raised."""
        self._report("raised", f"on {event.kind} at {event.ts_us} us: {type(error).__name__}: {error}")
        return failed(event.ts_us, error)

    def step(self, state: object, event: Event) -> Step[object]:
        """One step with all of the above."""
        try:
            state, outputs = self.stepper(state)(state, event)
            return state, self.checked(event, outputs) if outputs else NOTHING
        except Exception as error:
            return self.raised(event, error), NOTHING

    def same(self, one: object, other: object) -> bool:
        """Whether two states, or two outputs, are equal; what can't be compared is not."""
        try:
            return one is other or bool(one == other)
        except Exception as error:
            self._report("incomparable", f"{type(error).__name__}: {error}")
            return False

"""The detector contract: a pure fold over events that gives events of higher levels.

A detector is given its inputs in canonical order and relies on it. It knows nothing of late inputs, slack, speculation
or retraction: the ordering unit before it (``middleware.ordering.unit``) deals with these, by keeping references to old
states. Hence the rules:

* a state is immutable and comparable with ``==`` (frozen Structs, tuples, numbers; no numpy arrays, no dict
  that changes later): a snapshot is a reference;
* ``step`` depends on its two arguments only: no clock, no randomness, no I/O, no global;
* an output has ``ts_us >= event.ts_us - spec.horizon_us`` and never lies in the future of ``event`` (a detector that
  takes runs of positions, each dated by its first one, may date up to the last);
* time passes only through events: that nothing happened for 7 s shows in the events of a periodic kind.

A detector may be *keyed*: the engine then keeps one unit and one state for each value of ``key(event)``, and
orders each only among its own inputs. So the filter of one transmitter never waits for packets of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from middleware.events import Event

S = TypeVar("S")

#: Result of a step: the new state and the outputs.
Step = tuple[S, Sequence[Event]]

NOTHING: tuple[Event, ...] = ()


class SpecError(ValueError):
    """A detector declares what no detector may; the message names it and the rule."""


class Known(NamedTuple):
    """When the payload of an event is known, in words for the docs.

    Attributes:
        first: when the first version is emitted, as "when ..."; empty for the default: within the horizon.
        again: what makes a newer version, as "when ..."; empty if the first version is the last.
        changes: names of the payload, or of its detail, that a newer version may change.
    """

    first: str = ""
    again: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spec:
    """Declaration of a detector: the engine, the catalogue, the docs and the tests read it.

    Attributes:
        name: short unique name, e.g. ``player_hits_ball``.
        number: section of the hierarchy document, e.g. ``5.1``.
        level: 1..15; higher than the level of every detector that feeds it. Only internal kinds may come from the same
            level.
        inputs: kinds it subscribes to.
        outputs: kinds it may emit, in canonical rank order among themselves.
        internal: those of ``outputs`` that stay inside the engine: dense kinds, and what a level shares.
        horizon_us: how far before its newest cause an output may be dated (back-setting, 004).
        parameters: name -> value, unit in the name.
        source: where the rule comes from (paper and section, law, other work).
        needs: input quality it needs, in words; empty if it works on everything.
        keyed: True if the detector has a ``key``; the engine then keeps one unit per key.
        takes_runs: True if its inputs are runs of positions, each dated by its first one, so that an output may be
            dated later than its input, up to the last position.
        speculative: False for a dense join whose premature outputs would be redone for every late input; its unit
            always waits the whole slack.
        correction_batch_us: late inputs are repaired together, at most once in so much arrival time; 0 repairs them in
            each push. For dense joins, see ``middleware.ordering.correction_batching``. Not of a keyed detector: a
            corrected input may move to another key, and the old key must withdraw before the new one asserts.
        annuls: kinds that its events may declare void by ``Event.annuls``.
        amends: those of ``outputs`` of which it may emit newer versions under the same id; each with a later
            ``ts_us`` than the one before, and with ``dated_us`` where that is not the time to be shown.
        variants: kind -> the values of its variant; each value is an event type of its own.
        team_variants: the same for kinds that belong to a team; each value is an event type for each team. A kind in
            neither mapping is one event type.
        untyped: kinds whose variant is payload only: its values are no event types of their own.
        details: kind -> the names of the detail that its payload may have; a name in angle brackets stands for names
            that depend on the match.
        known: kind -> when its payload is known, for those of ``amends``, and others that have more to say than the
            horizon.
        payload: type of the payload of a published event; an event with another is refused (``middleware.isolation``).
        covers: further sections of the hierarchy document that it implements.

    Raises:
        SpecError: the declaration contradicts itself.
    """

    name: str
    number: str
    level: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    internal: tuple[str, ...] = ()
    horizon_us: int = 0
    parameters: Mapping[str, object] = field(default_factory=dict)
    source: str = ""
    needs: str = ""
    keyed: bool = False
    takes_runs: bool = False
    speculative: bool = True
    correction_batch_us: int = 0
    annuls: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    team_variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    untyped: tuple[str, ...] = ()
    details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: Mapping[str, Known] = field(default_factory=dict)
    payload: type = object
    covers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        declared = {*self.variants, *self.team_variants, *self.untyped, *self.details, *self.known}
        for holds, rule in (
            (1 <= self.level <= 15, f"level {self.level} is not in 1..15"),
            (self.horizon_us >= 0, "a horizon is not negative"),
            (not (self.keyed and self.correction_batch_us), "a keyed detector has no correction batches"),
            (set(self.internal) <= set(self.outputs), "internal kinds must be outputs"),
            (set(self.amends) <= set(self.outputs), "amended kinds must be outputs"),
            (not set(self.inputs) & set(self.outputs), "an output must not be an input"),
            (all(kind in self.amends for kind in self.known if self.known[kind].again), "newer versions are amended"),
            (declared <= set(self.outputs), "kinds with variants or details must be outputs"),
        ):
            if not holds:
                raise SpecError(f"{self.name}: {rule}")

    def payloads(self) -> dict[str, type]:
        """Return the payload type by kind; ``object`` for a kind that stays inside the engine."""
        return {kind: object if kind in self.internal else self.payload for kind in self.outputs}


@runtime_checkable
class Detector(Protocol[S]):
    """A pure fold. ``initial()`` returns the first state, ``step`` the next one and the outputs."""

    spec: Spec

    def initial(self) -> S:
        """Return the state before any event."""
        ...

    def step(self, state: S, event: Event) -> Step[S]:
        """Return the state after ``event`` and the outputs. Pure."""
        ...


class KeyedDetector(Detector[S], Protocol[S]):
    """A detector with one state per key (a transmitter, a player, a team)."""

    def key(self, event: Event) -> str:
        """Return the key of the unit that ``event`` belongs to."""
        ...


@runtime_checkable
class TogetherDetector(KeyedDetector[S], Protocol[S]):
    """A keyed detector that can make one step of each of several keys at once, faster than one after the other."""

    def step_together(self, states: Sequence[S], events: Sequence[Event]) -> Sequence[Step[S]]:
        """Return ``[step(state, event) for state, event in zip(states, events)]``. Pure."""
        ...

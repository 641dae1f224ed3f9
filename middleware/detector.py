"""The detector contract: a pure fold over events that gives events of higher levels.

A detector sees its inputs in canonical order and believes that order. It knows nothing of lateness, slack,
speculation or retraction: the ordering unit before it (``middleware.ordering.unit``) takes care of that, by keeping
references to old states. Hence the rules:

* a state is immutable and comparable with ``==`` (frozen Structs, tuples, numbers; no numpy arrays, no dict
  that is changed after it was made): keeping a snapshot is keeping a reference;
* ``step`` depends on its two arguments only: no clock, no randomness, no I/O, no global;
* what it emits has ``ts_us >= event.ts_us - spec.horizon_us`` and never lies in the future of ``event`` (but what takes
  runs of positions, each dated by its first one, may date up to the last);
* time passes only through events: "nothing happened for 7 s" is told by a tick kind.

A detector may be *keyed*: the engine then keeps one unit and one state for each value of ``key(event)``, and
orders each only among its own inputs, so that one transmitter's filter never waits for another's packets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from middleware.events import Event

S = TypeVar("S")

#: What a step gives back: the new state and the events that it concluded.
Step = tuple[S, Sequence[Event]]

NOTHING: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Spec:
    """What a detector is, in data: the catalogue, the docs and the tests read it.

    Attributes:
        name: short unique name, e.g. ``player_hits_ball``.
        number: place in the hierarchy document, e.g. ``5.1``.
        level: 1..15; higher than the level of every detector that feeds it.
        inputs: kinds it subscribes to.
        outputs: kinds it may emit, in canonical rank order among themselves.
        internal: those of ``outputs`` that stay inside the engine (dense kinds).
        horizon_us: how far before its newest cause an emitted event may be dated (back-setting, 004).
        parameters: name -> value, unit in the name.
        source: where the rule comes from (paper and section, law, other work).
        needs: input quality it needs, in words; empty if it works on everything.
        keyed: True if the detector has a ``key`` and wants one unit per key.
        takes_runs: True if its inputs are runs of positions that are dated by their first one, so that what it gives
            may be dated later than its input, up to the last one.
        speculative: False for dense joins whose premature output would be redone for every late input; their
            unit always waits the whole slack.
        gather_us: corrections of what it said are made together, at most once in so much of arrival time; for dense
            joins, see ``middleware.ordering.correction_batching``. What is new is said at once all the same. Not of a
            keyed detector: an input that is corrected may move to another key, and who had it must let go before the
            other speaks.
        annuls: kinds that its events may declare void by ``Event.annuls``.
        amends: those of ``outputs`` of which it may give newer versions under the same id; each with a later
            ``ts_us`` than the one before, and ``dated_us`` where that is not the time to be shown.
        variants: kind -> the values of its own enumeration, where the side that it is about makes no other type.
        team_variants: kind -> the same of kinds that are a team's: each value is a type once per team. A kind in
            neither has no enumeration and is one type.
        untyped: kinds whose variants are payload: told, but no types of their own.
        payload: what the payload of a published event is; one with another is refused (``middleware.isolation``).
        covers: further places in the hierarchy document that it stands for.
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
    payload: type = object
    covers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert 1 <= self.level <= 15, f"{self.name}: level {self.level} is not in 1..15"
        assert self.horizon_us >= 0, f"{self.name}: a horizon is not negative"
        assert not (self.keyed and self.correction_batch_us), f"{self.name}: units of several keys do not gather"
        assert set(self.internal) <= set(self.outputs), f"{self.name}: internal kinds must be outputs"
        assert set(self.amends) <= set(self.outputs), f"{self.name}: it amends only what it gives"
        assert not set(self.inputs) & set(self.outputs), f"{self.name}: no feedback edges"
        declared = {*self.variants, *self.team_variants, *self.untyped}
        assert declared <= set(self.outputs), f"{self.name}: variants of kinds that it does not give"

    def payloads(self) -> dict[str, type]:
        """What the payload must be, by kind: anything, where the kind stays inside the engine."""
        return {kind: object if kind in self.internal else self.payload for kind in self.outputs}


@runtime_checkable
class Detector(Protocol[S]):
    """A pure fold. ``initial()`` gives the first state, ``step`` the next one and what was concluded."""

    spec: Spec

    def initial(self) -> S:
        """The state before any event."""
        ...

    def step(self, state: S, event: Event) -> Step[S]:
        """The state after ``event`` and the events concluded from it. Pure."""
        ...


class KeyedDetector(Detector[S], Protocol[S]):
    """A detector with one state per key (a transmitter, a player, a team)."""

    def key(self, event: Event) -> str:
        """Which unit ``event`` belongs to."""
        ...

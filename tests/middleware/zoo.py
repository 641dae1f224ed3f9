"""Detectors made from numbers: families with every behaviour that an ordering unit must handle, for random graphs.

A :class:`Part` is plain data whose ``repr`` can be pasted into a test; :func:`build` makes the detector. What an event
means to a detector (its *role*) is a number mixed from its kind and payload, so that any kind can feed any family.
Every family keeps the contract: immutable states, pure steps, dates within the horizon, ids that follow from causes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from middleware.detector import NOTHING, Detector, Spec, Step
from middleware.events import Event

#: Pending causes that a state remembers at most.
REMEMBERED = 4


class Part(NamedTuple):
    """One detector as data. ``numbers`` are the family's own, see there."""

    family: str
    level: int
    number: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    internal: tuple[str, ...] = ()
    horizon_us: int = 0
    keyed: bool = False
    speculative: bool = True
    correction_batch_us: int = 0
    annuls: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Unique within a graph."""
        return f"{self.family}_{self.level}_{self.number}"


def mixed(*values: object) -> int:
    """A number that looks random and depends on nothing but ``values``."""
    return crc32(repr(values).encode())


def label(event: Event) -> str:
    """Short name of an event, from which the names of its consequences are made. Versions have different names."""
    since_us = 0 if event.dated_us is None else event.ts_us - event.dated_us
    return f"{mixed(event.kind, event.source, event.seq, event.id, since_us):08x}"


class Creature:
    """Base of all families. ``first`` is the state before any event."""

    first: Any = None
    takes_runs = False

    def __init__(self, part: Part) -> None:
        self.part = part
        self.spec = Spec(
            name=part.name,
            number=f"{part.level}.{part.number}",
            level=part.level,
            inputs=part.inputs,
            outputs=part.outputs,
            internal=part.internal,
            horizon_us=part.horizon_us,
            keyed=part.keyed,
            takes_runs=self.takes_runs,
            speculative=part.speculative,
            correction_batch_us=part.correction_batch_us,
            annuls=part.annuls,
            amends=part.amends,
            source="made up",
        )

    def initial(self) -> Any:
        return self.first

    def step(self, state: Any, event: Event) -> Step[Any]:
        raise NotImplementedError

    def key(self, event: Event) -> str:
        """Level 1 by transmitter, higher up by what an event is about."""
        return event.source if self.part.level == 1 else str(mixed(event.payload) % 3)

    def role(self, event: Event, roles: int) -> int:
        return mixed(self.part.number, event.kind, event.payload) % roles

    def number(self, index: int, default: int) -> int:
        return self.part.numbers[index] if index < len(self.part.numbers) else default

    def made(
        self, cause: Event, payload: int, *, ts_us: int | None = None, which: int = 0, name: str = "", annuls: str = ""
    ) -> Event:
        """An output named by its cause, dated at the cause unless ``ts_us`` says otherwise."""
        kind = self.part.outputs[which % len(self.part.outputs)]
        ident = f"{kind}#{name or label(cause)}"
        ts_us = cause.ts_us if ts_us is None else ts_us
        return Event(kind, ts_us, cause.source, cause.seq, payload % 1000, ident, (cause.id,), annuls)

    def back(self, now: Event, ts_us: int) -> int:
        """``ts_us``, or as far back as the horizon allows."""
        return min(now.ts_us, max(ts_us, now.ts_us - self.part.horizon_us))


class Mapper(Creature):
    """No state at all: some inputs give one event, some one of each output kind. On-demand stops right behind it."""

    def step(self, state: None, event: Event) -> Step[None]:
        role = self.role(event, self.number(0, 3) + 1)
        if role == 0:
            return None, NOTHING
        count = len(self.part.outputs) if role == 1 else 1
        return None, tuple(self.made(event, mixed(event.payload), which=i) for i in range(count))


class Counter(Creature):
    """Every n-th input gives an event; with ``numbers[1]`` odd it is numbered, so a late one renames all behind it."""

    first = (0, 0)

    def step(self, state: tuple[int, int], event: Event) -> Step[tuple[int, int]]:
        count, total = state
        if count + 1 < self.number(0, 3):
            return (count + 1, total), NOTHING
        numbered = self.number(1, 0) % 2
        return (0, total + numbered), (self.made(event, total if numbered else mixed(event.payload)),)


class Window(Creature):
    """Sum over the inputs of the last ``numbers[0]`` us; emitted when it falls into some classes."""

    first = ()

    def step(self, state: tuple[tuple[int, int], ...], event: Event) -> Step[tuple[tuple[int, int], ...]]:
        oldest_us = event.ts_us - self.number(0, 50)
        kept = (*(seen for seen in state if seen[0] >= oldest_us), (event.ts_us, mixed(event.payload) % 100))
        kept = kept[-4 * REMEMBERED :]
        total = sum(value for _, value in kept)
        out = (self.made(event, total),) if total % self.number(1, 3) == 0 else NOTHING
        return kept, out


class Pattern(Creature):
    """A!BC within a span: C after A with no B between. Numbered if ``numbers[1]`` is odd, as in 000's Fig. 9."""

    first = (None, 0)

    def step(self, state: tuple[int | None, int], event: Event) -> Step[tuple[int | None, int]]:
        since_us, count = state
        role = self.role(event, 4)
        if role == 0:
            return (event.ts_us, count), NOTHING
        if role == 1:
            return (None, count), NOTHING
        if role == 2 or since_us is None or event.ts_us - since_us > self.number(0, 80):
            return state, NOTHING
        count += self.number(1, 0) % 2
        return (None, count), (self.made(event, count),)


class Join(Creature):
    """Left waits for right; what waits too long is emitted when any event, such as a tick, shows that time has passed.

    Two outputs from one step are common here, and the time-out is dated back to when it was due.
    """

    first = ()

    def step(self, state: tuple[tuple[int, str], ...], event: Event) -> Step[tuple[tuple[int, str], ...]]:
        limit_us = self.number(0, 60)
        due = [(ts_us, name) for ts_us, name in state if event.ts_us - ts_us > limit_us]
        out = [
            self.made(event, 1, ts_us=self.back(event, ts_us + limit_us), which=1, name=f"out:{name}")
            for ts_us, name in due
        ]
        waiting = tuple(pair for pair in state if pair not in due)
        role = self.role(event, 3)
        if role == 0:
            waiting = (*waiting, (event.ts_us, label(event)))[-REMEMBERED:]
        elif role == 1 and waiting:
            (ts_us, name), waiting = waiting[0], waiting[1:]
            out.append(self.made(event, event.ts_us - ts_us, name=f"in:{name}"))
        return waiting, tuple(out)


class BackSetter(Creature):
    """Emits for an input when the next one arrives, dated at it as far as the horizon reaches (004: back-setting)."""

    first = None

    def step(self, state: tuple[int, str, int] | None, event: Event) -> Step[tuple[int, str, int]]:
        out = ()
        if state is not None and self.role(event, 3):
            ts_us, name, value = state
            out = (self.made(event, value, ts_us=self.back(event, ts_us), name=name),)
        return (event.ts_us, label(event), mixed(event.payload) % 1000), out


class Session(Creature):
    """Begin and end of a busy time: the end is known only after a gap, and dated at the last input before it."""

    first = None

    def step(self, state: tuple[int, str] | None, event: Event) -> Step[tuple[int, str]]:
        mine = (event.ts_us, label(event))
        if state is None:
            return mine, (self.made(event, 0),)
        if event.ts_us - state[0] <= self.number(0, 20):
            return mine, NOTHING
        end = self.made(event, 1, ts_us=self.back(event, state[0]), which=1, name=f"end:{state[1]}")
        return mine, (end, self.made(event, 0))


class Restless(Creature):
    """Another state after every input, so that redoing never meets an old state; emits seldom (000, 5.4: the pass)."""

    first = 1

    def step(self, state: int, event: Event) -> Step[int]:
        after = mixed(state, event.payload, event.seq) % 1_000_003
        return after, (self.made(event, after),) if after % self.number(0, 5) == 0 else NOTHING


class Latch(Creature):
    """Emits on the first few inputs only: states soon stay the same, and redoing stops early."""

    first = 0

    def step(self, state: int, event: Event) -> Step[int]:
        if state >= self.number(0, 6):
            return state, NOTHING
        return state + 1, (self.made(event, state),)


class Unpacker(Creature):
    """Level 1: one dense, nameless event for each sample of a packet, the later ones dated after the packet."""

    first = 0
    takes_runs = True

    def step(self, state: int, event: Event) -> Step[int]:
        samples = event.payload if isinstance(event.payload, tuple) else ((0, event.payload),)
        out: list[Event] = []
        for index, (after_us, value) in enumerate(samples):
            state = (state + value) % 17
            made = Event(self.part.outputs[0], event.ts_us + after_us, event.source, event.seq * 16 + index, state)
            out.append(made)
        return state, tuple(out)


class Judge(Creature):
    """Annuls its inputs, some of them twice."""

    first = ""

    def step(self, state: str, event: Event) -> Step[str]:
        if event.kind in self.part.annuls and self.role(event, 2):
            return event.id, NOTHING
        if not state or self.role(event, 3):
            return state, NOTHING
        return (state if event.seq % 2 else ""), (self.made(event, 0, annuls=state),)


class Regretter(Creature):
    """Its next event may annul its last one, which is of the same kind."""

    first = ""

    def step(self, state: str, event: Event) -> Step[str]:
        role = self.role(event, 4)
        if role > 1:
            return state, NOTHING
        emitted = self.made(event, role, annuls=state if role else "")
        return ("" if role else emitted.id), (emitted,)


class Amender(Creature):
    """Emits at once and amends as more arrives: up to three versions under one id, dated alike."""

    first = None

    def step(self, state: tuple[Event, int] | None, event: Event) -> Step[tuple[Event, int] | None]:
        role = self.role(event, 4)
        if state is None or role == 0:
            emitted = self.made(event, 0)
            return (emitted, 0), (emitted,)
        emitted, versions = state
        if role > 1 or versions == 2 or event.ts_us <= emitted.ts_us:
            return state, NOTHING
        dated_us = emitted.ts_us if emitted.dated_us is None else emitted.dated_us
        better = msgspec.structs.replace(emitted, ts_us=event.ts_us, payload=versions + 1, dated_us=dated_us)
        return (better, versions + 1), (better,)


class Raiser(Creature):
    """Raises on some inputs, and counts the others."""

    first = 0

    def step(self, state: int, event: Event) -> Step[int]:
        if self.role(event, 12) == 0:
            raise ZeroDivisionError(f"nothing is known of {event.id}")
        return state + 1, (self.made(event, state),) if state % 2 else NOTHING

    def key(self, event: Event) -> str:
        if self.role(event, 15) == 1:
            raise KeyError(event.id)
        return super().key(event)


class Liar(Creature):
    """Dates some events into the future or beyond its horizon, and emits kinds that it never declared."""

    def step(self, state: None, event: Event) -> Step[None]:
        role = self.role(event, 6)
        honest = self.made(event, role)
        early = msgspec.structs.replace(honest, ts_us=event.ts_us - self.part.horizon_us - 1, id=f"{honest.id}-")
        late = msgspec.structs.replace(honest, ts_us=event.ts_us + 1, id=f"{honest.id}+")
        foreign = msgspec.structs.replace(honest, kind="undeclared")
        return None, {0: (honest, early), 1: (late, honest), 2: (foreign,), 3: (early, late)}.get(role, (honest,))


class Twin(Creature):
    """Emits, now and then, two events under one name and time that differ in their payload only."""

    first = None

    def step(self, state: Event | None, event: Event) -> Step[Event]:
        emitted = self.made(event, 0)
        if state is not None and state.ts_us == event.ts_us and self.role(event, 2):
            return state, (msgspec.structs.replace(state, payload=self.role(event, 50)),)
        twin = (msgspec.structs.replace(emitted, payload=1),) if self.role(event, 4) == 0 else ()
        return emitted, (emitted, *twin)


#: Families that break the contract, in ways that an engine must live with.
FAULTY = ("raiser", "liar", "twin")

FAMILIES: dict[str, Callable[[Part], Creature]] = {
    "mapper": Mapper,
    "counter": Counter,
    "window": Window,
    "pattern": Pattern,
    "join": Join,
    "back_setter": BackSetter,
    "session": Session,
    "restless": Restless,
    "latch": Latch,
    "unpacker": Unpacker,
    "judge": Judge,
    "regretter": Regretter,
    "amender": Amender,
    "raiser": Raiser,
    "liar": Liar,
    "twin": Twin,
}


def build(part: Part) -> Detector[Any]:
    """The detector that ``part`` describes."""
    return FAMILIES[part.family](part)

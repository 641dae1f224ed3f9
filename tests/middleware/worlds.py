"""Random graphs, random streams, random settings: everything drawn from one source of chance.

The functions here take anything that behaves like ``random.Random``: Hypothesis gives one whose draws it can shrink,
long simulations give a seeded one. What is drawn is plain data: ``repr(world)`` is the whole case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy, HierarchyError
from middleware.policy import EngineSettings, FixedAlpha, UnitSettings
from tests.middleware.zoo import FAMILIES, Part, build

LEVELS = 15

#: Kinds that come from outside; ticks are the cheap ones that tell joins that time has passed.
RAW = ("raw.a", "raw.b", "raw.c", "tick")

#: Events that a family gives for each input, roughly; graphs are kept from growing exponentially by it.
_YIELD = {"mapper": 1.0, "counter": 0.4, "window": 0.4, "pattern": 0.2, "join": 0.5, "back_setter": 0.7}
_YIELD |= {"session": 0.6, "restless": 0.25, "latch": 0.1, "unpacker": 2.0, "judge": 0.2, "regretter": 0.5}

#: Families whose horizon does something.
_BACKWARDS = ("join", "back_setter", "session")
_OF_LEVEL_1 = ("unpacker", "unpacker", "counter", "mapper", "window", "restless")
_HIGHER = tuple(name for name in FAMILIES if name != "unpacker")


class Push(NamedTuple):
    """What reaches the engine at one arrival time."""

    now_us: int
    arrivals: tuple[Arrival, ...]


class Scale(NamedTuple):
    """How large worlds may be. Times in microseconds of a world whose clock ticks slowly."""

    levels: int = 6
    sources: int = 4
    packets: int = 25
    delay_us: int = 120


class World(NamedTuple):
    """A graph and a stream through it."""

    parts: tuple[Part, ...]
    pushes: tuple[Push, ...]

    def hierarchy(self) -> Hierarchy:
        """The detectors, made anew."""
        return Hierarchy(RAW, [build(part) for part in self.parts])

    def arrivals(self) -> Iterator[Arrival]:
        """Everything that arrives, doubles included."""
        for push in self.pushes:
            yield from push.arrivals


def some_world(rng: Random, scale: Scale) -> World:
    """A graph and a stream."""
    return World(some_graph(rng, rng.randint(2, scale.levels)), some_stream(rng, scale))


def some_graph(rng: Random, depth: int) -> tuple[Part, ...]:
    """Detectors on ``depth`` of the 15 levels, one or two each; most listen to what stands right below them."""
    parts: list[Part] = []
    rates = {"raw.a": 0.4, "raw.b": 0.3, "raw.c": 0.2, "tick": 0.1}
    for level in sorted(rng.sample(range(1, LEVELS + 1), depth)):
        below = dict(rates)
        for number in range(1, rng.choice((2, 3))):
            family = rng.choice(_OF_LEVEL_1 if level == 1 else _HIGHER)
            part = _some_part(rng, family, level, number, below)
            parts.append(part)
            total = sum(below[kind] for kind in part.inputs) * _YIELD[family]
            rates.update({kind: total / len(part.outputs) for kind in part.outputs})
    return tuple(parts)


def _some_part(rng: Random, family: str, level: int, number: int, below: dict[str, float]) -> Part:
    kinds = list(below)
    newest = kinds[-3:] if rng.randrange(4) else kinds
    inputs = {rng.choice(newest)}
    for _ in range(rng.randrange(3)):
        kind = rng.choice(kinds)
        if sum(below[k] for k in inputs | {kind}) <= 1.2:
            inputs.add(kind)
    if family == "unpacker":
        inputs = {rng.choice(RAW)}
    mouths = 2 if family in ("join", "session") or (family == "mapper" and rng.randrange(2)) else 1
    outputs = tuple(f"{family}{level}.{number}.{n}" for n in range(mouths))
    internal = outputs if family == "unpacker" or rng.randrange(4) == 0 else ()
    annuls: tuple[str, ...] = ()
    if family == "judge":
        annuls = tuple(sorted(kind for kind in inputs if kind not in RAW and rng.randrange(2)))
    elif family == "regretter":
        annuls = outputs
    return Part(
        family,
        level,
        number,
        tuple(sorted(inputs)),
        outputs,
        internal,
        horizon_us=rng.choice((0, 7, 20, 60)) if family in _BACKWARDS or rng.randrange(8) == 0 else 0,
        keyed=rng.randrange(4) == 0 or (family == "unpacker" and rng.randrange(4) > 0),
        speculative=rng.randrange(6) > 0,
        annuls=annuls,
        numbers=(rng.choice((2, 3, 5, 20, 60)), rng.choice((2, 3))),
    )


def some_stream(rng: Random, scale: Scale) -> tuple[Push, ...]:
    """Sources that come and go, each with its cadence, delay, losses and doubles; ties are frequent."""
    zero_us = rng.choice((0, 0, -700, 10**12))
    grid_us = rng.choice((1, 5, 10))
    sent: list[tuple[int, Arrival]] = []
    for number in range(rng.randint(1, scale.sources)):
        kind = RAW[number] if number < len(RAW) else rng.choice(RAW)
        sent.extend(_some_source(rng, scale, kind, f"s{number}", zero_us, grid_us))
    slot_us = rng.choice((1, 1, 10, 40))
    return _pushes(rng, sorted(sent, key=lambda pair: pair[0]), slot_us)


def _some_source(
    rng: Random, scale: Scale, kind: str, name: str, zero_us: int, grid_us: int
) -> Iterator[tuple[int, Arrival]]:
    """(arrival time, arrival) of one transmitter. It sends in order; the way disorders it."""
    ts_us = zero_us + grid_us * rng.randrange(20)
    pace = rng.choice((1, 2, 6))
    jitter_us = rng.choice((0, 10, scale.delay_us))
    samples_most = rng.choice((1, 1, 3))
    first = rng.choice((0, 0, 7))
    burst_ends_us = ts_us
    for seq in range(first, first + rng.randint(1, scale.packets)):
        first_us = ts_us
        samples = []
        for _ in range(rng.randint(1, samples_most)):
            until_us = ts_us
            samples.append((until_us - first_us, rng.randrange(8)))
            ts_us += grid_us * rng.randint(1, pace)
        if rng.randrange(25) == 0:
            ts_us += rng.choice((scale.delay_us, 4 * scale.delay_us))
        if rng.randrange(30) == 0:
            burst_ends_us = until_us + 2 * scale.delay_us
        if rng.randrange(20) == 0:
            continue
        payload = samples[0][1] if len(samples) == 1 else tuple(samples)
        event = Event(kind, first_us, name, seq, payload, f"{name}:{seq}")
        copies = 1 + (rng.randrange(10) == 0)
        for _ in range(copies):
            came_us = max(until_us + rng.randint(0, jitter_us), burst_ends_us)
            yield came_us, Arrival(event, until_us)


def _pushes(rng: Random, came: list[tuple[int, Arrival]], slot_us: int) -> tuple[Push, ...]:
    """Arrivals in slots, in any order within one; now and then a push without any."""
    pushes: list[Push] = []
    held: list[Arrival] = []
    last_us = slot = None
    for now_us, arrival in came:
        if slot is not None and now_us // slot_us != slot:
            assert last_us is not None
            pushes.append(_push(rng, last_us, held))
            held = []
            if rng.randrange(12) == 0 and now_us - last_us > 1:
                pushes.append(Push(rng.randint(last_us, now_us - 1), ()))
        held.append(arrival)
        last_us, slot = now_us, now_us // slot_us
    if last_us is not None:
        pushes.append(_push(rng, last_us, held))
    return tuple(pushes)


def _push(rng: Random, now_us: int, held: list[Arrival]) -> Push:
    if len(held) > 1:
        rng.shuffle(held)
    return Push(now_us, tuple(held))


def some_settings(rng: Random, scale: Scale) -> EngineSettings:
    """One policy for all units, or one for some and another for the rest; memory from far too short to ample."""
    memory_us = rng.choice((scale.delay_us // 2, 3 * scale.delay_us, 40 * scale.delay_us))
    return EngineSettings(some_unit(rng, scale), memory_us=memory_us)


def some_unit(rng: Random, scale: Scale) -> UnitSettings:
    """How a unit waits and takes back."""
    return UnitSettings(
        FixedAlpha(rng.choice((0.0, 0.0, 0.3, 1.0))),
        rng.choice(("full", "on-demand")),
        rng.choice((None, None, 0, scale.delay_us // 8, 2 * scale.delay_us)),
    )


def smaller(world: World, fails: Callable[[World], bool]) -> World:
    """A smallest world, by leaving out detectors, inputs, pushes and packets, that still ``fails``."""
    shrinking = True
    while shrinking:
        shrinking = False
        for candidate in _cuts(world):
            if _stands(candidate) and fails(candidate):
                world, shrinking = candidate, True
                break
    return world


def _cuts(world: World) -> Iterator[World]:
    size = len(world.pushes) // 2
    while size:
        for begin in range(0, len(world.pushes), size):
            yield world._replace(pushes=world.pushes[:begin] + world.pushes[begin + size :])
        size //= 2
    for n in reversed(range(len(world.parts))):
        yield world._replace(parts=world.parts[:n] + world.parts[n + 1 :])
    for n, part in enumerate(world.parts):
        for kind in part.inputs if len(part.inputs) > 1 else ():
            less = part._replace(inputs=tuple(k for k in part.inputs if k != kind))
            yield world._replace(parts=(*world.parts[:n], less, *world.parts[n + 1 :]))
    for n, push in enumerate(world.pushes):
        for i in range(len(push.arrivals)):
            less_came = push._replace(arrivals=push.arrivals[:i] + push.arrivals[i + 1 :])
            yield world._replace(pushes=(*world.pushes[:n], less_came, *world.pushes[n + 1 :]))


def _stands(world: World) -> bool:
    try:
        world.hierarchy()
    except HierarchyError:
        return False
    return True

"""Small detectors for middleware tests: enough levels, horizons and state to make every mechanism work."""

from __future__ import annotations

from collections.abc import Sequence

from middleware.detector import NOTHING, Detector, Spec, Step
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy

RAW = ("A", "B", "C")


class HitAfterNear:
    """A!BC of papers 000 and 004: near (A), acceleration peak (C), no not-near (B) between. Emits D, numbered."""

    def __init__(self) -> None:
        self.spec = Spec("a_not_b_c", "5.1", 5, ("A", "B", "C"), ("D",), source="000 Fig. 3")

    def initial(self) -> tuple[str, int]:
        return ("", 0)

    def step(self, state: tuple[str, int], event: Event) -> Step[tuple[str, int]]:
        near, count = state
        if event.kind == "A":
            return (event.source or "A", count), NOTHING
        if event.kind == "B":
            return ("", count), NOTHING
        if not near:
            return state, NOTHING
        hit = Event("D", event.ts_us, "d", 0, count + 1, f"D#{event.source}:{event.seq}", (event.id,))
        return ("", count + 1), (hit,)


class Doubler:
    """Stateless: every C leads to an E of the same instant. On-demand retraction must stop at once behind it."""

    def __init__(self) -> None:
        self.spec = Spec("doubler", "2.1", 2, ("C",), ("E",))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        return None, (Event("E", event.ts_us, event.source, event.seq, None, f"E#{event.source}:{event.seq}"),)


class BackSetter:
    """Emits an event for an A when the next event of any kind arrives, dated at the A if that is not too long ago."""

    HORIZON_US = 20

    def __init__(self) -> None:
        self.spec = Spec("back_setter", "3.1", 3, ("A", "B"), ("F",), horizon_us=self.HORIZON_US)

    def initial(self) -> tuple[int, str, int] | None:
        return None

    def step(self, state: tuple[int, str, int] | None, event: Event) -> Step[tuple[int, str, int] | None]:
        out: Sequence[Event] = NOTHING
        if state and event.ts_us - state[0] <= self.HORIZON_US:
            out = (Event("F", state[0], state[1], state[2], None, f"F#{state[1]}:{state[2]}"),)
        return ((event.ts_us, event.source, event.seq) if event.kind == "A" else None), out


class Counter:
    """Keyed by source: every third event of a source leads to a G."""

    def __init__(self) -> None:
        self.spec = Spec("counter", "1.1", 1, ("A", "B", "C"), ("G",), keyed=True)

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        if state < 2:
            return state + 1, NOTHING
        return 0, (Event("G", event.ts_us, event.source, event.seq, event.kind, f"G#{event.source}:{event.seq}"),)

    def key(self, event: Event) -> str:
        return event.source


class Joiner:
    """Joins everything below: emits with each E, F, G the last D before it; amends nothing."""

    def __init__(self) -> None:
        self.spec = Spec("joiner", "7.1", 7, ("D", "E", "F", "G"), ("H",))

    def initial(self) -> str:
        return ""

    def step(self, state: str, event: Event) -> Step[str]:
        if event.kind == "D":
            return event.id, NOTHING
        return state, (Event("H", event.ts_us, event.source, event.seq, state, f"H#{event.id}"),)


class Judge:
    """Every H that follows a D annuls that D; so what is published depends on what was annulled."""

    def __init__(self) -> None:
        self.spec = Spec("judge", "10.1", 10, ("H",), ("J",), annuls=("D",))

    def initial(self) -> str:
        return ""

    def step(self, state: str, event: Event) -> Step[str]:
        cause = str(event.payload)
        if not cause or cause == state or event.seq % 3:
            return state, NOTHING
        return cause, (Event("J", event.ts_us, event.source, event.seq, None, f"J#{cause}", annuls=cause),)


def hierarchy() -> Hierarchy:
    detectors: list[Detector] = [HitAfterNear(), Doubler(), BackSetter(), Counter(), Joiner(), Judge()]
    return Hierarchy(RAW, detectors)


def raw(kind: str, ts_us: int, source: str = "", seq: int = 0) -> Event:
    source = source or kind.lower()
    return Event(kind, ts_us, source, seq, None, f"{kind}#{source}:{seq}")


def arrival(event: Event) -> Arrival:
    return Arrival(event, event.ts_us)

"""Withdrawals that cross other changes of the same push: small cases that random graphs brought up."""

from __future__ import annotations

import pytest

from middleware.consolidation import consolidate
from middleware.detector import NOTHING, Spec, Step
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.ordering.unit import OrderingUnit
from tests.middleware.zoo import Part, build


def emitted(parts: tuple[Part, ...], pushes: list[list[Event]]) -> tuple[list[Update], Hierarchy]:
    """Everything an engine that emits at once says about ``pushes``; nothing is doubled or lost."""
    hierarchy = Hierarchy(("raw",), [build(part) for part in parts])
    engine = Engine(hierarchy, EngineSettings(UnitSettings(FixedAlpha(0.0)), allowed_lateness_us=1000))
    updates: list[Update] = []
    for n, events in enumerate(pushes):
        updates += engine.push([Arrival(event, event.ts_us) for event in events], 100 + n).updates
    return updates + engine.finish().updates, hierarchy


def raw(ts_us: int, payload: int, source: str = "s") -> Event:
    return Event("raw", ts_us, source, ts_us, payload, f"{source}:{ts_us}")


@pytest.mark.parametrize("value", range(8))
def test_what_follows_a_withdrawn_input_is_redone_though_a_new_one_stands_between(value: int):
    """A back-set event is withdrawn and set anew behind a raw input that came with it and changes no state."""
    back = Part("back_setter", 2, 1, ("raw",), ("back",), horizon_us=7)
    join = Part("join", 3, 1, ("back", "raw"), ("in", "out"), horizon_us=60, numbers=(2,))
    for late_us in range(6, 24):
        pushes = [[raw(3, value)], [raw(12, 5)], [raw(20, 6)], [raw(26, 3)], [raw(late_us, 0, "late")]]
        updates, hierarchy = emitted((back, join), pushes)
        found = sorted(consolidate(updates).values(), key=lambda event: canonical_key(event, hierarchy.rank))
        assert found == published(hierarchy, [event for push in pushes for event in push]), f"late at {late_us}"


def test_a_corrected_input_that_moves_to_another_key_is_let_go_before_it_is_taken_up():
    """A numbered count renames what follows a late input; keyed by that number, it moves from unit to unit."""
    count = Part("counter", 2, 1, ("raw",), ("count",), numbers=(1, 1))
    keyed = Part("mapper", 3, 1, ("count",), ("mapped",), keyed=True, numbers=(2,))
    above = Part("window", 4, 1, ("mapped",), ("sum",), numbers=(50, 1))
    pushes = [[raw(ts_us, 0)] for ts_us in range(10, 60, 5)] + [[raw(3, 0, "late")]]
    updates, hierarchy = emitted((count, keyed, above), pushes)
    found = sorted(consolidate(updates).values(), key=lambda event: canonical_key(event, hierarchy.rank))
    assert found == published(hierarchy, [event for push in pushes for event in push])


class Versions:
    """Says at A how many B came before; at the next event that is none, whatever it is, says under that id "done"."""

    def __init__(self) -> None:
        self.spec = Spec("versions", "2.1", 2, ("A", "B", "C"), ("V",), horizon_us=100, amends=("V",))

    def initial(self) -> tuple[int, bool]:
        return 0, False

    def step(self, state: tuple[int, bool], event: Event) -> Step[tuple[int, bool]]:
        count, is_open = state
        if event.kind == "A":
            return (count, True), (Event("V", event.ts_us, "v", 0, count, "V#1"),)
        if event.kind == "B":
            return (count + 1, is_open), NOTHING
        return (count, False), (Event("V", 11, "v", 0, "done", "V#1", dated_us=10),) if is_open else NOTHING


def test_a_changed_version_is_sent_though_another_of_the_same_id_only_moves_to_another_cause():
    unit = OrderingUnit(Versions(), UnitSettings(FixedAlpha(0.0)))
    updates: list[Update] = []
    for late in (("A", 10), ("C", 20)), (("B", 5), ("C", 15)):
        for kind, ts_us in late:
            event = Event(kind, ts_us, "s", ts_us)
            unit.offer(Update(event, 1), canonical_key(event, {"A": 0, "B": 1, "C": 2}))
        updates = unit.process((), 20, 0, 20)
    assert [(update.diff, update.event.payload) for update in updates] == [(-1, 0), (1, 1)]


def test_of_two_events_under_one_name_each_unit_of_a_keyed_detector_takes_its_own():
    """Engine and oracle agree on which of them counts where their contents send them to different keys."""
    twin = Part("twin", 2, 1, ("raw",), ("twin",))
    keyed = Part("restless", 3, 1, ("twin",), ("out",), keyed=True, numbers=(1,))
    pushes = [[raw(ts_us, value)] for ts_us, value in enumerate(range(40))]
    updates, hierarchy = emitted((twin, keyed), pushes)
    found = sorted(consolidate(updates).values(), key=lambda event: canonical_key(event, hierarchy.rank))
    assert found == published(hierarchy, [event for push in pushes for event in push])

"""Undoing a decision brings back the list that stood before it, through the engine like any other decision."""

from __future__ import annotations

import msgspec
import pytest

from app.officials.undoing import decisions_undoing
from detectors.records import RecordMaker
from detectors.signals.official import OVERRULED
from football.officials import Official
from football.update_stream import EventRecord, UpdateRecord
from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from replay.decision_log import EnteredDecision
from replay.formats.officials import DecisionFields
from tests.detectors.laws.test_overruled import DETECTORS, GOAL, KICK_OFF, SHEET, event_of

S = 1_000_000
ABOUT = "goal.scored#goal.candidate"
GIVEN = {kind for detector in DETECTORS for kind in detector.spec.outputs}
RAW = tuple(dict.fromkeys(kind for d in DETECTORS for kind in d.spec.inputs if kind not in GIVEN))
TACKLE = event_of("tackle.won", 20.0, "away", "away_4", other="home_7")


class Match:
    """An engine with the detectors of decisions. Decisions are entered one after the other, from 100 s on."""

    def __init__(self, *inputs: Event) -> None:
        self._engine = Engine(Hierarchy(RAW, DETECTORS))
        self._records = RecordMaker(DETECTORS, SHEET)
        self.updates: list[UpdateRecord] = []
        self.entered: list[EnteredDecision] = []
        self._now_us = 100 * S
        for event in inputs:
            self._push(event)

    def _push(self, event: Event) -> None:
        # Each kind is a source of its own, so that none waits for another; so the goal has the id ABOUT.
        named = msgspec.structs.replace(event, source=event.kind, seq=len(self.updates))
        for update in self._engine.push([Arrival(named, event.ts_us)], max(self._now_us, event.ts_us)).updates:
            record = self._records.record(update.event)
            self.updates.append(UpdateRecord(len(self.updates), update.diff, self._now_us, record))

    def enter(self, *lines: DecisionFields) -> None:
        for line in lines:
            self._now_us += 5 * S
            number = len(self.entered) + 1
            fields = msgspec.structs.asdict(line)
            right_s, at_s = fields.pop("right_s"), fields.pop("at_s")
            for name in ("announced_s", "entered", "undoes", "source", "number", "origin"):
                fields.pop(name)
            at_us = self._now_us if at_s is None else round(at_s * S)
            right_us = None if right_s is None else round(right_s * S)
            official = Official("anna", number, at_us=at_us, right_us=right_us, **fields)
            self._push(Event("raw.official", self._now_us, "raw.official", number, official))
            entered = EnteredDecision(number, "anna", f"official.{line.kind}#official:anna:{number}", line)
            self.entered.append(entered)
            if line.undoes is not None:
                place = line.undoes - 1
                self.entered[place] = msgspec.structs.replace(self.entered[place], undone=True)

    def undo(self, number: int) -> None:
        self.enter(*decisions_undoing(self.entered[number - 1], self.entered, self.updates))

    def stands(self) -> set[tuple[str, str, str, int]]:
        """Return what stands, decisions themselves left out."""
        standing: dict[str, EventRecord] = {}
        for update in self.updates:
            if update.diff > 0:
                standing[update.event.id] = update.event
            elif standing.get(update.event.id) == update.event:
                del standing[update.event.id]
        found = (one for one in standing.values() if not one.kind.startswith("official."))
        return {(one.kind, one.player, one.variant, one.ts_us) for one in found}


DECISIONS = {
    "no goal": DecisionFields("no_goal", "offside", at_s=10.0),
    "goal of another": DecisionFields("goal", team="home", player="home_10", at_s=10.0),
    "own goal": DecisionFields("goal", "own", "home", "away_4", at_s=10.0),
    "red card": DecisionFields("card", "red", "home", "home_7"),
    "foul": DecisionFields("foul", team="away", player="away_4", at_s=20.4),
    "check": DecisionFields("var", "check"),
    "void": DecisionFields("void", event=ABOUT),
    "right player": DecisionFields("correction", event=ABOUT, player="home_6"),
    "no goal at all": DecisionFields("correction", event=ABOUT, right_kind="keypass"),
}


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("confirmed", [False, True], ids=["", "confirmed"])
def test_what_was_undone_never_was(name: str, confirmed: bool):
    match = Match(*GOAL, TACKLE, *([KICK_OFF] if confirmed else []))
    before = match.stands()
    match.enter(DECISIONS[name])
    changed = match.stands()
    match.undo(1)
    assert match.stands() == before
    if name not in ("check", "foul"):  # a tackle is published by no detector here
        assert changed != before


def test_what_was_decided_before_counts_again():
    match = Match(*GOAL)
    match.enter(DecisionFields("correction", event=ABOUT, player="home_6", team="home"))
    first = match.stands()
    assert ("goal.scored", "home_6", "right", 10 * S) in first
    match.enter(DecisionFields("correction", event=ABOUT, right_s=9.0))
    assert ("goal.scored", "home_9", "right", 9 * S) in match.stands()
    match.undo(2)
    assert match.stands() == first
    match.undo(1)
    assert match.stands() == Match(*GOAL).stands()


def test_only_what_a_decision_may_change_is_changed_back():
    match = Match(*GOAL, KICK_OFF)
    match.enter(DECISIONS["no goal"])
    lines = decisions_undoing(match.entered[0], match.entered, match.updates)
    assert {line.event.partition("#")[0] for line in lines} <= set(OVERRULED)
    assert {line.undoes for line in lines} == {1}

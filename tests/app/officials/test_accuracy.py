"""Accuracy by corrections: what counts as wrong, as changed, as right; groups and intervals."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.officials.accuracy import Judged, accuracies, judged_events
from app.officials.ended import decide_after_the_end
from app.officials.undoing import decisions_undoing
from replay.decision_log import entered_decisions
from replay.formats.officials import DecisionFields
from replay.match_store import update_records, updates_log
from tests.app.recorded.derby import DONE, PASS, derby_store

DONE_KIND, PASS_KIND = DONE.kind, PASS.kind


@pytest.mark.parametrize(
    ("line", "wrong", "changed"),
    [
        (DecisionFields("void", event=DONE.id), 1, 0),
        (DecisionFields("correction", event=DONE.id, right_kind="pass.out"), 1, 0),
        (DecisionFields("correction", event=DONE.id, team="home", player="home_1"), 0, 1),
        (DecisionFields("correction", event=DONE.id, right_s=11.5), 0, 1),
        (DecisionFields("correction", event=DONE.id), 0, 0),
    ],
)
def test_a_decision_judges_its_event_and_all_others_count_as_right(
    tmp_path: Path, line: DecisionFields, wrong: int, changed: int
):
    store = derby_store(tmp_path / "derby")
    assert judged_events(store) == []
    decide_after_the_end(store, [line])
    found = {one.kind: one for one in judged_events(store)}
    assert found[DONE_KIND] == Judged(DONE_KIND, 1, wrong, changed)
    assert found[PASS_KIND] == Judged(PASS_KIND, 1, 0, 0)


def test_a_decision_that_is_undone_judges_nothing_as_wrong(tmp_path: Path):
    store = derby_store(tmp_path / "derby")
    decide_after_the_end(store, [DecisionFields("void", event=DONE.id)])
    entered = entered_decisions(store)
    decide_after_the_end(store, decisions_undoing(entered[0], entered, update_records(updates_log(store))))
    assert {one.kind: one.wrong for one in judged_events(store)}[DONE_KIND] == 0


def test_matches_add_up_by_kind_and_venue():
    first, second = [Judged("pass.complete", 90, 3, 1)], [Judged("pass.complete", 10, 1, 0), Judged("out", 4, 0, 0)]
    rows = accuracies([("a", "Park", first), ("b", "Park", second), ("c", "", [])])
    by_name = {(one.group, one.name, one.kind): one for one in rows}
    total = by_name["all", "", "pass.complete"]
    assert (total.matches, total.events, total.wrong, total.changed, total.share) == (2, 100, 4, 1, 0.96)
    # Wilson's interval of 96 in 100, as in Brown, Cai and DasGupta (2001).
    assert (total.low, total.high) == pytest.approx((0.9016, 0.9843), abs=1e-4)
    assert by_name["venue", "Park", "pass.complete"].events == 100
    assert by_name["match", "b", "out"].high == 1.0
    assert len(rows) == 7

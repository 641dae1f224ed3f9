"""Decisions about a match that has ended: what a window more changes, for every reader of the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.official import run_official
from app.officials.ended import decide_after_the_end
from app.officials.undoing import decisions_undoing
from app.recorded.feed import StoredFeed
from replay.decision_log import entered_decisions
from replay.event_list import consolidated_events
from replay.formats.officials import DecisionFields, OfficialError
from replay.match_store import StoreError, committed_updates, read_newest_commit, update_records, updates_log
from tests.app.recorded import derby
from tests.app.recorded.derby import DONE, GOAL, PASS, S, derby_store
from tests.app.tables.small_match import event

ABOUT = {"event": DONE.id}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return derby_store(tmp_path / "derby")


def stands(store: Path) -> dict[str, tuple[str, str, float]]:
    """Kind, player and second of what stands, by id; decisions themselves left out."""
    rows = consolidated_events(store).to_pylist()
    return {
        row["id"]: (row["kind"], row["player"], row["ts_us"] / S)
        for row in rows
        if not row["kind"].startswith("official.")
    }


def undo(store: Path, number: int) -> None:
    entered = entered_decisions(store)
    decision = next(one for one in entered if one.number == number)
    decide_after_the_end(store, decisions_undoing(decision, entered, update_records(updates_log(store))))


CORRECTIONS = {
    "player": (DecisionFields("correction", team="home", player="home_1", **ABOUT), ("pass.complete", "home_1", 12)),
    "kind": (DecisionFields("correction", right_kind="pass.out", **ABOUT), ("pass.out", "home_9", 12)),
    "time": (DecisionFields("correction", right_s=11.5, **ABOUT), ("pass.complete", "home_9", 11.5)),
    "void": (DecisionFields("void", **ABOUT), None),
}


@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_correction_changes_its_event_only_and_is_undone(store: Path, name: str):
    before = stands(store)
    line, right = CORRECTIONS[name]
    decide_after_the_end(store, [line])
    after = {one: what for one, what in before.items() if one != DONE.id}
    assert stands(store) == (after if right is None else {**after, DONE.id: right})
    undo(store, 1)
    assert stands(store) == before
    restored = [row for row in consolidated_events(store).to_pylist() if row["id"] == DONE.id]
    assert restored[0]["confidence"] == DONE.confidence


def test_a_goal_that_is_not_concluded_again_is_withdrawn_and_restored_like_any_event(store: Path):
    """The store has nothing from which a goal follows, as one of another version of the program may."""
    before = stands(store)
    decide_after_the_end(store, [DecisionFields("void", event=GOAL.id)])
    assert GOAL.id not in stands(store)
    undo(store, 1)
    assert stands(store) == before


def test_a_goal_that_is_disallowed_takes_its_consequences_along_and_comes_back(tmp_path: Path, monkeypatch):
    crossing = event("goal.candidate", 50, "goal:1", "home_9", (20.0, 0.0), "right", since_us=50 * S)
    shot = event("hit", 49, "ball:49", "home_9", (18.0, 0.0), "hit", speed_before_m_s=1.0)
    monkeypatch.setattr(derby, "LOG", (*derby.LOG, (50.2, 1, crossing), (50.2, 1, shot)))
    store = derby_store(tmp_path / "goal")
    before = stands(store)
    decide_after_the_end(store, [DecisionFields("no_goal", "offside", team="home", at_s=50.0)])
    after = stands(store)
    assert GOAL.id not in after
    assert [kind for kind, _, _ in after.values() if kind.startswith("goal.")] == ["goal.candidate", "goal.disallowed"]
    decide_after_the_end(store, [DecisionFields("goal", team="home", at_s=50.0)])
    assert ("goal.confirmed", "home_9") in {what[:2] for what in stands(store).values()}
    assert GOAL.id in stands(store)
    undo(store, 2)
    assert {one: what for one, what in stands(store).items() if what[0] != "overruled"} == after
    undo(store, 1)
    assert {one: what for one, what in stands(store).items() if what[0] != "overruled"} == before


def test_the_window_continues_the_log_and_readers_see_it(store: Path, capsys):
    feed = StoredFeed(store, "derby")
    before, ended = feed.next_seq(), feed.now_us()
    run_official(store, {"kind": "card", "variant": "yellow", "team": "away", "player": "away_4", "at_s": 31.0})
    assert '"kind":"card"' in capsys.readouterr().out
    assert (feed.next_seq(), feed.now_us(), feed.ended()) == (before + 1, ended + 1, True)
    (newest,), _ = next(iter(committed_updates(store, begin_seq=before)))
    assert (newest.seq, newest.event.kind, newest.event.ts_us) == (before, "official.card", 31 * S)
    commit = read_newest_commit(store)
    assert commit is not None
    assert commit.meta.frontier_us == 57 * S


def test_what_cannot_be_is_refused_and_changes_nothing(store: Path):
    before = stands(store)
    for line in (DecisionFields("card", "yellow", "home", "away_4"), DecisionFields("void", event="hit#ball:30")):
        with pytest.raises(OfficialError):
            decide_after_the_end(store, [line])
    assert (stands(store), entered_decisions(store)) == (before, [])


def test_a_decision_that_was_entered_and_not_committed_is_made_up_for(store: Path):
    (store / "official.jsonl").write_text(f'{{"kind":"void","event":"{PASS.id}"}}\n')
    decide_after_the_end(store, [DecisionFields("stop", at_s=20.0)])
    assert PASS.id not in stands(store)


def test_a_match_that_runs_is_not_closed(tmp_path: Path):
    store = derby_store(tmp_path / "half")
    (store / "commits" / "00000001.json").unlink()
    with pytest.raises(StoreError, match="has not ended"):
        decide_after_the_end(store, [DecisionFields("stop")])

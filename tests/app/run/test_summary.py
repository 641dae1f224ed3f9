"""The summary of a run: the match in words first; kinds of events only on request."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest

from app.base.terminal import make_console
from app.run.in_words import TeamFigures, match_figures, rows_in_words
from app.run.summary import code_of, show, show_matches
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, UpdateRecord
from replay.match_store import MatchStore, updates_table


def event(kind: str, ts_s: float, team: str = "", variant: str = "", causes: tuple[str, ...] = ()) -> EventRecord:
    ts_us = round(ts_s * 1e6)
    return EventRecord(f"{kind}#{ts_us}", kind, variant, 7, ts_us, team, "", None, None, None, 1.0, causes)


GOAL = event("goal.scored", 50, "home")
EVENTS = [
    event("team.possession", 0, variant="dead"),
    event("team.possession", 10, "home", "home"),
    event("team.possession", 40, variant="in contest"),
    event("team.possession", 45, "away", "away"),
    msgspec.structs.replace(event("team.possession", 55, variant="dead"), detail={"since_us": 50_000_000}),
    event("team.possession", 60, "home", "home"),
    *(event("pass.attempt", at, "home") for at in (11, 12, 13, 14)),
    *(event("pass.complete", at, "home") for at in (11.5, 12.5, 13.5)),
    event("shot.attempt", 49, "home"),
    event("shot.saved", 49, "home"),
    msgspec.structs.replace(event("shot.attempt", 61, "away"), detail={"on_target": True}),
    event("shot.blocked", 61, "away"),
    GOAL,
    event("goal.confirmed", 58, "home", causes=(GOAL.id,)),
    event("goal.own", 62, "home"),
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = [UpdateRecord(seq, 1, one.ts_us, one) for seq, one in enumerate(EVENTS)]
    withdrawn = event("goal.scored", 63, "away")
    rows += [UpdateRecord(len(rows), 1, 63, withdrawn), UpdateRecord(len(rows) + 1, -1, 64, withdrawn)]
    written = MatchStore.create(tmp_path / "s", MatchSheet("m1", "Reds", "Blues"), {})
    written.commit(0, {"updates": updates_table(rows, 0)}, {"frontier_us": 0, "now_us": 70_000_000})
    return tmp_path / "s"


def test_a_match_in_words(store):
    assert list(rows_in_words(match_figures(store))) == [
        ("Score", "Reds 2 - 0 Blues (1 to be confirmed)"),
        ("Possession", "Reds 88%, Blues 12%"),
        ("Shots", "Reds 1 (1 on target), Blues 1 (0 on target)"),
        ("Passes", "Reds 3 of 4 complete (75%), Blues 0 of 0 complete"),
    ]


def test_a_match_without_events_has_no_possession(tmp_path):
    MatchStore.create(tmp_path / "s", MatchSheet("m1", "Reds", "Blues"), {})
    figures = match_figures(tmp_path / "s")
    assert figures.home == TeamFigures("Reds")
    assert [name for name, _ in rows_in_words(figures)] == ["Score", "Shots", "Passes"]


def summary(store: Path) -> dict:
    percentiles = {"total": {"p50": 1.0, "p95": 2.0, "p99": 3.0, "count": 4}}
    return {
        "store": str(store), "ended": True, "match": match_figures(store), "stream_s": 70.0, "wall_s": 7.0,
        "times_real_time": 10.0, "events": {"pass.complete": 3, "goal.scored": 1}, "quarantined": {}, "failed": {},
        "faults": {}, "positions": 5, "retractions": 1, "late": 2, "lost": 0, "duplicates": 0, "differing_copies": 0,
        "lifecycle": {"confirmed": 4}, "detection_latency_ms": percentiles, "lane_latency_ms": percentiles,
        "cameras": None, "findings": [],
    }  # fmt: skip


def shown(store: Path, *, verbose: bool) -> list[str]:
    out = io.StringIO()
    show(summary(store), make_console(file=out, width=120), verbose=verbose)
    return out.getvalue().splitlines()


def test_the_summary_begins_with_the_match_and_has_codes_on_request(store):
    brief = shown(store, verbose=False)
    rows = [line.split()[1] for line in brief if line.startswith("│")]
    assert rows == ["Score", "Possession", "Shots", "Passes", "State", "Throughput", "Events"]
    assert "pass.complete" not in "".join(brief)
    full = "".join(shown(store, verbose=True))
    assert all(text in full for text in ("pass.complete", "2 late", "p95 2.0", "Quarantined"))


def test_the_summary_says_how_a_detector_broke_its_contract(store):
    out = io.StringIO()
    texts = {"near": "doubled: two events under one key", "pass_attempt": "refused: shot.attempt"}
    faulty = {**summary(store), "faults": {"near": 4, "pass_attempt": 1}, "fault_texts": texts}
    show(faulty, make_console(file=out, width=120), verbose=False)
    assert "near: 4 times, last: doubled: two events under one key" in out.getvalue()
    assert "pass_attempt: once: refused: shot.attempt" in out.getvalue()


@pytest.mark.parametrize(
    ("verdict", "failed", "code"),
    [("right", {}, 0), ("wrong", {}, 3), ("right", {"pass_attempt": "KeyError"}, 4), ("wrong", {"formation": "x"}, 3)],
)
def test_the_exit_code_says_what_is_wrong(store, verdict: str, failed: dict[str, str], code: int):
    assert code_of({**summary(store), "verdict": verdict, "failed": failed}) == code


def test_the_summary_of_many_matches_has_their_scores(store):
    out = io.StringIO()
    whole = {"folder": "runs", "broken": {"other": "no such file"}, "matches": {"one": summary(store)}}
    show_matches(whole, make_console(file=out, width=160))
    assert "Reds 2 - 0 Blues" in out.getvalue()
    assert "excluded: no such file" in out.getvalue()

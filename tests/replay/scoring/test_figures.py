"""Figures: cases by hand, and what must change, and by how much, when a find is moved, removed or added."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from football.update_stream import EventRecord
from replay.scoring.figures import score
from replay.scoring.truth import Flags, Mark, Truth, true_marks

PLAYERS = ("home_1", "home_2", "away_1")
KINDS = ("hit", "touch", "pass.attempt", "restart.corner")
SECOND_US = 1_000_000


def found(kind: str, at_s: float, player: str = "home_1", variant: str = "", **detail: object) -> EventRecord:
    team = player.partition("_")[0]
    return EventRecord(
        f"{kind}#{at_s}", kind, variant, 5, round(at_s * 1e6), team, player, *(None,) * 3, 1.0, (), detail
    )


def truth_of(*records: EventRecord, kinds: tuple[str, ...] = (), **more: object) -> Truth:
    marks = true_marks(records)
    return Truth("test", marks, frozenset(kinds) | {mark.kind for mark in marks}, **more)


#: Far enough apart that nobody can be taken for his neighbour.
SPARSE = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(PLAYERS)), min_size=1, max_size=12).map(
    lambda rows: [found(kind, 10.0 * n, player) for n, (kind, player) in enumerate(rows)]
)
DENSE = st.lists(st.builds(found, st.sampled_from(KINDS), st.floats(0, 3), st.sampled_from(PLAYERS)), max_size=14)


@given(DENSE)
def test_a_truth_against_itself_is_perfect(records):
    result = score(truth_of(*records), reversed(records))
    for figures in result.kinds.values():
        assert (figures.precision, figures.recall, figures.f1, figures.fp, figures.fn) == (1, 1, 1, 0, 0)
        assert figures.time_error_ms == type(figures.time_error_ms)(0, 0, 0)
        assert not figures.confusion
    assert sum(figures.tp for figures in result.kinds.values()) == len(records)


@given(DENSE, DENSE)
def test_exchanging_truth_and_finds_exchanges_false_and_missed(left, right):
    one = score(truth_of(*left, kinds=KINDS), right).kinds
    other = score(truth_of(*right, kinds=KINDS), left).kinds
    assert one.keys() == other.keys()
    for kind, figures in one.items():
        assert (figures.tp, figures.fp, figures.fn) == (other[kind].tp, other[kind].fn, other[kind].fp)
        assert (figures.precision, figures.recall) == (other[kind].recall, other[kind].precision)


def test_of_a_duel_that_nobody_begins_either_player_may_be_named():
    true = truth_of(found("aerial.start", 1.0, "home_1", against="away_1"))
    for player, other, right in (("away_1", "home_1", 1), ("home_1", "away_1", 1), ("away_1", "home_2", 0)):
        assert score(true, [found("aerial.start", 1.3, player, other=other)]).kinds["aerial.start"].tp == right


def test_what_reaches_over_the_ends_of_what_was_played_counts_only_if_it_pairs():
    records = [found("hit", at_s) for at_s in (0.1, 0.5, 5.0, 9.5, 9.9)]
    part = truth_of(*records).between(0, 10 * SECOND_US)
    assert score(part, []).kinds["hit"].fn == 3, "the first and the last have windows of 0.2 s that were cut"
    both = score(part, records).kinds["hit"]
    assert (both.tp, both.fp, both.fn) == (5, 0, 0)
    none = score(truth_of(kinds=("hit",)).between(0, 10 * SECOND_US), records).kinds["hit"]
    assert (none.tp, none.fp) == (0, 3)
    assert score(truth_of(*records), []).kinds["hit"].fn == 5, "all was played"


@given(SPARSE, st.data())
def test_a_find_removed_is_one_missed_and_nothing_else(records, data):
    missing = data.draw(st.sampled_from(records))
    figures = score(truth_of(*records), [r for r in records if r is not missing]).kinds
    for kind in {r.kind for r in records}:
        of_kind = sum(r.kind == kind for r in records)
        assert (figures[kind].tp, figures[kind].fp, figures[kind].fn) == (
            of_kind - (kind == missing.kind),
            0,
            int(kind == missing.kind),
        )
    assert figures[missing.kind].confusion == {"nothing": 1}


@given(SPARSE, st.sampled_from(KINDS), st.sampled_from(PLAYERS))
def test_a_find_added_is_one_false_and_nothing_else(records, kind, player):
    figures = score(truth_of(*records, kinds=KINDS), [*records, found(kind, 5.0, player)]).kinds
    assert sum(f.fp for f in figures.values()) == figures[kind].fp == 1
    assert sum(f.fn for f in figures.values()) == 0


@given(SPARSE, st.integers(-2_000, 2_000))
def test_a_shift_is_the_time_error_up_to_the_window_and_a_miss_beyond(records, shift_ms):
    moved = [msgspec.structs.replace(r, ts_us=r.ts_us + shift_ms * 1000) for r in records]
    for figures in score(truth_of(*records), moved).kinds.values():
        if abs(shift_ms) <= figures.window_ms:
            error = figures.time_error_ms
            assert (figures.f1, error.median, error.p95, error.bias) == (1, abs(shift_ms), abs(shift_ms), shift_ms)
        else:
            assert (figures.tp, figures.f1, figures.time_error_ms) == (0, 0, None)
            assert figures.fp == figures.fn


def test_a_kind_without_finds_has_no_precision_and_one_without_truth_no_recall():
    result = score(truth_of(found("hit", 1), kinds=("touch",)), [found("touch", 9)])
    assert (result.kinds["hit"].precision, result.kinds["hit"].recall, result.kinds["hit"].f1) == (None, 0, 0)
    assert (result.kinds["touch"].precision, result.kinds["touch"].recall, result.kinds["touch"].f1) == (0, None, 0)


def test_kinds_that_truth_is_silent_about_are_not_judged():
    result = score(truth_of(found("hit", 1)), [found("hit", 1), found("near", 1), found("near", 2)])
    assert list(result.kinds) == ["hit"]
    assert result.unjudged == {"near": 2}


def test_variants_that_truth_does_not_have_are_not_judged():
    kick, moved = (msgspec.structs.replace(found("offside.line", 1), variant=variant) for variant in ("kick", "moved"))
    result = score(truth_of(kick), [kick, moved, msgspec.structs.replace(moved, ts_us=2 * SECOND_US)])
    assert (result.kinds["offside.line"].tp, result.kinds["offside.line"].fp) == (1, 0)
    assert result.unjudged == {"offside.line": 2}


def test_the_player_must_agree_where_truth_names_one_and_the_team_where_it_names_that():
    other = score(truth_of(found("pass.attempt", 1, "home_1")), [found("pass.attempt", 1, "home_2")]).kinds[
        "pass.attempt"
    ]
    assert (other.tp, other.confusion) == (0, {"pass.attempt (other player)": 1})
    anybody = Truth("t", (Mark(SECOND_US, "pass.attempt", "", "home"),), frozenset(("pass.attempt",)))
    assert score(anybody, [found("pass.attempt", 1, "home_2")]).kinds["pass.attempt"].tp == 1
    rival = score(anybody, [found("pass.attempt", 1, "away_1")]).kinds["pass.attempt"]
    assert (rival.tp, rival.confusion) == (0, {"pass.attempt (other team)": 1})


def test_a_restart_is_its_teams_and_says_when_another_took_it():
    corner = score(
        truth_of(found("restart.corner", 1, "home_1", "left")), [found("restart.corner", 1, "home_2", "right")]
    )
    figures = corner.kinds["restart.corner"]
    assert (figures.tp, figures.other_player, figures.variants) == (1, 1, {"left > right": 1})


def test_a_missed_one_is_told_by_what_it_was_taken_for():
    missed = [found("hit", 1), found("hit", 5), found("pass.attempt", 9), found("restart.corner", 20)]
    finds = [
        found("touch", 1.1),
        found("touch", 5.1, "away_1"),
        found("shot.attempt", 9.2),
        found("restart.goal_kick", 20),
    ]
    kinds = ("touch", "shot.attempt", "restart.goal_kick")
    figures = score(truth_of(*missed, kinds=kinds), finds).kinds
    assert figures["hit"].confusion == {"nothing": 1, "touch": 1}
    assert figures["pass.attempt"].confusion == {"shot.attempt": 1}
    assert figures["restart.corner"].confusion == {"restart.goal_kick": 1}


def test_one_find_stands_for_one_missed_truth_only():
    figures = score(truth_of(found("hit", 1), found("hit", 1.1), kinds=("touch",)), [found("touch", 1.05)]).kinds
    assert figures["hit"].confusion == {"nothing": 1, "touch": 1}


def test_what_is_dated_when_known_is_compared_when_it_happened():
    late = found("out", 3.0, since_us=SECOND_US)
    assert score(truth_of(found("out", 1.0)), [late]).kinds["out"].time_error_ms.median == 0


def test_a_verdict_on_a_goal_is_judged_by_its_goal_however_late_the_kick_off():
    signal = Mark(60 * SECOND_US, "goal.confirmed", "left", "home", "home_9")
    truth = Truth("t", (signal,), frozenset(("goal.confirmed",)))
    for goal_s, right in ((58.8, 1), (30.0, 0)):
        late = found("goal.confirmed", 240.0, "home_9", "left", goal_us=round(goal_s * SECOND_US))
        figures = score(truth, [late]).kinds["goal.confirmed"]
        assert (figures.tp, figures.fp, figures.fn) == (right, 1 - right, 1 - right)


def test_a_truth_may_rename_widen_and_date_otherwise():
    label = Mark(SECOND_US, "pass.failed", "", "home", "home_1")
    truth = Truth(
        "t", (label,), frozenset(("pass.failed",)), 1_500_000,
        {"pass.out": "pass.failed"}, {"pass.out": "kick_us"},
    )  # fmt: skip
    result = score(truth, [found("pass.out", 8.0, kick_us=2_400_000)])
    assert (result.kinds["pass.failed"].tp, result.kinds["pass.failed"].window_ms) == (1, 1_500)


def test_frames_in_play_as_dated_and_as_known():
    """Dead from 2 to 6 s; found dead from 3 to 6 s, which was known from 4 to 7 s."""
    ts_us = np.arange(10) * SECOND_US
    flags = Flags(ts_us, (ts_us < 2 * SECOND_US) | (ts_us >= 6 * SECOND_US), np.array(["home"] * 10, dtype=object))
    finds = [found("play.dead", 4, since_us=3 * SECOND_US), found("play.live", 7, kick_us=6 * SECOND_US)]
    frames = score(Truth("t", (), frozenset(), flags=flags), finds).frames["in_play"]
    assert (frames.frames, frames.agreement, frames.live) == (10, pytest.approx(0.9), pytest.approx(0.7))


def test_a_team_has_the_ball_until_the_other_gets_it_on_frames_in_play():
    ts_us = np.arange(8) * SECOND_US
    team = np.array(["home"] * 4 + ["away"] * 3 + [""], dtype=object)
    flags = Flags(ts_us, ts_us != 2 * SECOND_US, team)
    shown = [found("team.possession", 0), found("team.possession", 5, "away_1")]
    contest = msgspec.structs.replace(found("team.possession", 6), team="", variant="in contest")
    frames = score(Truth("t", (), frozenset(), flags=flags), [*shown, contest]).frames["team_possession"]
    assert (frames.frames, frames.agreement) == (6, pytest.approx(5 / 6))


def test_a_stoppage_does_not_count_as_time_with_the_wrong_team():
    ts_us = np.arange(100) * SECOND_US
    in_play = (ts_us < 10 * SECOND_US) | (ts_us >= 90 * SECOND_US)
    flags = Flags(ts_us, in_play, np.array(["home"] * 92 + ["away"] * 8, dtype=object))
    shown = [found("team.possession", 0), found("team.possession", 9, "away_1")]
    figure = score(Truth("t", (), frozenset(), flags=flags), shown).frames["team_possession"]
    assert (figure.frames, figure.longest_wrong_s) == (20, 3.0)


def begins(kind: str, at_s: float, variant: str, team: str = "home") -> EventRecord:
    """A state that begins, and is known two seconds later."""
    record = found(kind, at_s + 2.0, f"{team}_1", variant, since_us=round(at_s * 1e6))
    return msgspec.structs.replace(record, player="")


def test_a_phase_lasts_from_its_begin_to_the_next_one_or_to_a_stop():
    """True: progression from 1 s, final third from 4 s, dead from 7 s. Found: the third one a second late."""
    ts_us = np.arange(9) * SECOND_US
    flags = Flags(ts_us, ts_us < 7 * SECOND_US, np.array([""] * 9, dtype=object))
    true = [begins("phase.in", 1, "progression"), begins("phase.in", 4, "final third")]
    truth = truth_of(*true, found("play.dead", 7, since_us=7 * SECOND_US), flags=flags)
    finds = [true[0], begins("phase.in", 5, "final third")]
    figure = score(truth, finds).frames["phase_in"]
    assert (figure.frames, figure.agreement, figure.longest_wrong_s) == (6, pytest.approx(5 / 6), 1.0)
    assert score(truth, [begins("phase.in", 1, "progression", "away")]).frames["phase_in"].agreement == 0.0


def test_a_formation_lasts_over_stops_and_each_team_has_one():
    ts_us = np.arange(10) * SECOND_US
    flags = Flags(ts_us, ts_us != 3 * SECOND_US, np.array([""] * 10, dtype=object))
    true = [found("formation", *row) for row in ((0, "home", "4-4-2"), (0, "away", "4-3-3"), (5, "home", "3-5-2"))]
    figure = score(truth_of(*true, flags=flags), true[:2]).frames["formation"]
    assert (figure.frames, figure.agreement) == (18, pytest.approx(13 / 18))


def test_without_any_word_about_it_play_is_live():
    flags = Flags(np.arange(2), np.array([True, False]), np.array(["", ""], dtype=object))
    assert score(Truth("t", (), frozenset(), flags=flags), []).frames["in_play"].agreement == 0.5


def test_an_area_is_entered_by_the_very_same_and_is_the_very_same():
    ball = Mark(SECOND_US, "area.enter", "left half")
    truth = Truth("t", (ball,), frozenset(("area.enter",)))
    by_player = found("area.enter", 1, "home_1", "left half")
    elsewhere = msgspec.structs.replace(by_player, team="", player="", variant="middle third")
    assert score(truth, [by_player, elsewhere]).kinds["area.enter"].tp == 0
    assert score(truth, [msgspec.structs.replace(by_player, team="", player="")]).kinds["area.enter"].tp == 1


def test_who_is_near_without_limbs_may_be_near_with_any():
    truth = Truth("t", (Mark(SECOND_US, "near", "left_foot", "home", "home_1"),), frozenset(("near",)))
    assert score(truth, [found("near", 1, "home_1")]).kinds["near"].tp == 1
    assert score(truth, [found("near", 1, "home_1", "right_foot")]).kinds["near"].tp == 0

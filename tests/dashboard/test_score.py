"""The score follows goals, their withdrawals and their confirmations."""

from __future__ import annotations

from dashboard.demo import demo_event
from dashboard.score import Score, ScoreKeeper
from football.update_stream import EventRecord, UpdateRecord

GOAL = demo_event("goal.scored", 1_000, "ball:1", team="home")
OWN = demo_event("goal.own", 2_000, "ball:2", team="home")
CONFIRMED = demo_event("goal.confirmed", 9_000, "ball:1", team="home", causes=(GOAL.id,))


def score_after(*updates: tuple[int, EventRecord]) -> Score:
    keeper = ScoreKeeper()
    keeper.apply(UpdateRecord(i, diff, 0, event) for i, (diff, event) in enumerate(updates))
    return keeper.score()


def test_a_goal_counts_at_once_and_is_provisional():
    assert score_after((1, GOAL)) == Score(1, 0, home_provisional=1)


def test_a_confirmed_goal_is_provisional_no_more():
    assert score_after((1, GOAL), (1, CONFIRMED)) == Score(1, 0)


def test_a_withdrawn_goal_counts_no_more():
    assert score_after((1, GOAL), (-1, GOAL)) == Score()


def test_a_withdrawn_confirmation_makes_the_goal_provisional_again():
    assert score_after((1, GOAL), (1, CONFIRMED), (-1, CONFIRMED)) == Score(1, 0, home_provisional=1)


def test_an_own_goal_counts_for_the_team_that_gets_it():
    assert score_after((1, OWN)) == Score(1, 0, home_provisional=1)


def test_a_disallowed_goal_is_taken_off_whichever_way_it_is_named():
    by_cause = demo_event("goal.disallowed", 9_000, "ball:1", team="home", causes=(GOAL.id,))
    by_detail = demo_event("goal.disallowed", 9_000, "ball:1", team="home", detail={"annuls": GOAL.id})
    for disallowed in (by_cause, by_detail):
        assert score_after((1, GOAL), (1, disallowed)) == Score()
        assert score_after((1, GOAL), (1, disallowed), (-1, disallowed)) == Score(1, 0, home_provisional=1)


def test_shots_and_candidates_do_not_count():
    shot = demo_event("shot.attempt", 900, "ball:1", team="home")
    candidate = demo_event("goal.candidate", 1_000, "ball:1", team="home")
    assert score_after((1, shot), (1, candidate)) == Score()

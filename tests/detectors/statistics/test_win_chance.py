"""14.12: chances to win by hand, and what goals, sendings-off and the clock do to them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.statistics.win_chance import WinChance, WinParameters, rates, result_chances
from middleware.events import Event
from tests.detectors.chains.test_chains import about
from tests.detectors.scene import fold


def minute(number: int, period: int = 1) -> Event:
    return about("clock.minute", 60.0 * number, minute=number, period=period, shown=str(number))


def score(at_s: float, home: int, away: int) -> Event:
    return about("state.score", at_s, "home", home=home, away=away, since_us=round(at_s * 1e6))


def wins(events: list[Event], team: str = "home") -> list[float]:
    return [e.payload.detail["win"] for e in fold(WinChance(), events) if e.payload.team == team]


@given(st.integers(-5, 5), st.floats(0.0, 4.0), st.floats(0.0, 4.0))
def test_the_chances_are_those_of_one_result_and_the_same_seen_from_either_side(lead: int, home: float, away: float):
    chances = result_chances(lead, home, away)
    assert sum(chances) == pytest.approx(1.0, abs=1e-6)
    assert result_chances(-lead, away, home) == pytest.approx(chances[::-1])


def test_one_goal_each_at_most_is_counted_by_hand():
    """With a rate of 0 for away, home wins a level match if it scores at all."""
    assert result_chances(0, 0.7, 0.0)[0] == pytest.approx(1.0 - 2.718281828**-0.7)
    assert result_chances(-1, 0.7, 0.0)[1] == pytest.approx(0.7 * 2.718281828**-0.7)


def test_a_lead_is_worth_more_the_less_time_is_left_and_a_player_less_costs():
    p = WinParameters()
    by_minute = [result_chances(1, *rates(p, 0, 0, left))[0] for left in (90, 60, 30, 5)]
    assert by_minute == sorted(by_minute)
    assert result_chances(0, *rates(p, 1, 0, 60))[0] < result_chances(0, *rates(p, 0, 0, 60))[0]
    assert rates(p, 1, 1, 60) == rates(p, 0, 0, 60)


def test_minutes_are_published_when_a_chance_has_changed_and_goals_at_once():
    found = wins([minute(1), minute(2), minute(30), score(1_850.0, 1, 0), minute(31)])
    assert len(found) == 3, "neither the second minute nor the thirty-first changes a chance by 0.01"
    assert found[2] > 0.7 > found[0] > found[1]


def test_a_goal_that_is_withdrawn_and_men_that_are_sent_off_count():
    goal = score(1_000.0, 0, 1)
    void = msgspec.structs.replace(goal, ts_us=1_100_000_000, seq=1, annuls=goal.id, dated_us=goal.ts_us)
    found = wins([minute(16), goal, void])
    assert found[0] == found[2] > found[1]
    men = [
        about("state.men", 1_200.0 + n / 10, who, home=0, away=1, since_us=0) for n, who in enumerate(("home", "away"))
    ]
    assert wins([minute(16), *men])[1] > found[0]
    assert len(wins([minute(16), *men])) == 2, "the events of both teams say one thing"


def test_nothing_is_said_before_the_clock_runs_and_of_a_shoot_out_and_the_end_is_certain():
    assert wins([score(10.0, 1, 0)]) == []
    assert wins([minute(121, period=5)]) == []
    assert wins([minute(90, period=2), score(5_401.0, 3, 0)])[1] > 0.99


@pytest.mark.parametrize(
    ("last_minute", "period", "chances"),
    [(90, 2, [(1.0, 0.0), (0.0, 1.0)]), (120, 4, [(1.0, 0.0), (0.0, 1.0)]), (89, 2, []), (105, 3, []), (121, 5, [])],
)
def test_the_score_is_the_result_when_the_stream_ends_after_the_full_time(last_minute, period, chances):
    end = Event("raw.end", 8_000_000_000, "stream")
    found = fold(WinChance(), [score(10.0, 2, 1), minute(last_minute, period), end])
    assert [(e.payload.detail["win"], e.payload.detail["lose"]) for e in found if e.ts_us == end.ts_us] == chances
    assert all(e.payload.detail["minutes"] == 0 for e in found if e.ts_us == end.ts_us)


def test_a_level_match_that_is_over_is_a_draw():
    found = fold(WinChance(), [minute(90, period=2), Event("raw.end", 8_000_000_000, "stream")])
    assert [e.payload.detail["draw"] for e in found[-2:]] == [1.0, 1.0]

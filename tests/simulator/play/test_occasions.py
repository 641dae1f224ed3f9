"""Occasions of a match day: each happens when asked for, off the pitch stays off, and the default match is the same."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from simulator.match_day import SHIPPED, read_match_day
from simulator.play.match import Match
from simulator.play.match_state import State
from simulator.play.occasions import review
from simulator.play.squads import MatchSettings, Occasions, draw_squads
from simulator.play.stoppages import award_restart
from simulator.records import AWAY, HOME, NAMES
from simulator.yaml_document import DocumentError

BENCH = [*range(11, 16), *range(27, 32)]


@lru_cache(maxsize=4)
def played(
    occasions: Occasions, seconds: float, half_s: float = 2700.0, break_s: float = 60.0
) -> tuple[Match, np.ndarray]:
    """Play a match; return it and where all persons were, once a second."""
    match = Match(MatchSettings(seed=5, half_s=half_s, break_s=break_s, occasions=occasions))
    seen = []
    for interval in match.intervals(seconds):
        inside = (interval.ticks_s >= interval.begin_s - 0.01) & (interval.ticks_s < interval.end_s - 0.01)
        seen.append(interval.persons[inside][::50, :, :2])
    return match, np.concatenate(seen)


def test_substitutes_warm_up_behind_the_goal_lines_and_never_on_the_pitch() -> None:
    _, at = played(Occasions(warm_ups=True), 150.0)
    x, y = np.abs(at[:, BENCH, 0]), np.abs(at[:, BENCH, 1])
    assert not ((x < 52.5) & (y < 34.0)).any()
    assert ((x > 53.0) & (y < 30.0)).any(axis=0).sum() >= 4
    assert ((x < 52.0) & (y > 34.0)).any(axis=0).sum() >= 4
    steps_m = np.hypot(*np.moveaxis(np.diff(at[:, BENCH], axis=0), 2, 0))
    assert (steps_m > 1.5).any(axis=0).sum() >= 4


def test_the_play_itself_is_the_same_with_warm_ups() -> None:
    with_them, _ = played(Occasions(warm_ups=True), 150.0)
    without, at = played(Occasions(), 150.0)
    assert [(r.kind, r.t_s, r.person) for r in with_them.rows] == [(r.kind, r.t_s, r.person) for r in without.rows]
    assert not (np.abs(at[:, BENCH, 1]) < 34.0).any()


@pytest.mark.slow
def test_half_time_of_fifteen_minutes_has_substitutes_on_the_pitch_and_players_away() -> None:
    match, at = played(Occasions(warm_ups=True), 420.0, 60.0, 330.0)
    ends = [row.t_s for row in match.rows if row.kind == "period.end"]
    starts = [row.t_s for row in match.rows if row.kind == "period.start"]
    assert starts[1] - ends[0] == pytest.approx(330.0, abs=15.0)
    middle = at[round(ends[0]) + 200]
    assert (np.abs(middle[BENCH, 1]) < 20.0).all()
    players = [row for row in (*range(HOME.stop), *range(AWAY.start, AWAY.stop)) if row not in BENCH]
    assert (middle[players, 1] < -40.0).all()
    x, y = np.abs(at[round(ends[0]) + 283][BENCH]).T
    assert not ((x < 52.5) & (y < 34.0)).any()


@pytest.mark.slow
def test_quick_restarts_take_a_second_or_two_after_the_ball_is_there() -> None:
    quick, _ = played(Occasions(quick_share=1.0), 600.0)
    usual, _ = played(Occasions(), 600.0)

    def dead_s(match: Match) -> list[float]:
        kinds = ("restart.throw_in", "restart.free_kick")
        return [float(r.detail["dead_s"]) for r in match.rows if r.kind in kinds]  # type: ignore[arg-type]

    assert np.median(dead_s(quick)) < np.median(dead_s(usual)) - 2.0


@pytest.mark.slow
def test_extra_time_follows_a_level_score_only() -> None:
    settings = MatchSettings(seed=4, half_s=20.0, break_s=6.0, occasions=Occasions(extra_time=True))
    match = Match(settings)
    match.state.score = [0, 0]
    for _ in match.intervals(230.0):
        match.state.score = [0, 0]
    assert [r.variant for r in match.rows if r.kind == "period.start"] == ["1", "2", "3"]
    other = Match(replace(settings, occasions=Occasions()))
    for _ in other.intervals(140.0):
        pass
    assert other.is_over


def test_a_review_holds_up_the_kick_off() -> None:
    settings = MatchSettings(seed=1, occasions=Occasions(review_share=1.0))
    state = State(settings, draw_squads(settings))
    cause = state.truth.add("goal.scored", 1.0, 9, (52.6, 0.0, 0.5))
    restart = award_restart(state, "kick_off", 1, (0.0, 0.0), cause, 1.0)
    before_s = restart.earliest_s
    review(state, restart, cause)
    assert 40.0 <= restart.earliest_s - before_s <= 150.0
    assert state.lost_s >= 40.0
    assert state.truth.rows[-1].variant == "review"


@pytest.mark.slow
def test_new_shapes_come_in_the_second_half_and_are_true() -> None:
    match, _ = played(Occasions(new_shape_share=1.0), 200.0, 60.0, 20.0)
    changes = match.shapes
    assert len(changes) >= 3
    assert all(shape != changes[("home", "away").index(team)][2] for _, team, shape in changes[2:])
    second = [r.t_s for r in match.rows if r.kind == "period.start"][1]
    assert all(since_s >= second - 60.0 for since_s, _, _ in changes[2:])


@pytest.mark.slow
def test_players_exchange_their_places_once_a_half_and_keep_them() -> None:
    match, at = played(Occasions(role_swap_share=1.0), 330.0)
    swaps = [row for row in match.rows if row.kind == "role.swapped"]
    assert sorted(row.team for row in swaps) == ["away", "home"]
    for row in swaps:
        mate = NAMES.index(str(row.detail["mate"]))
        assert NAMES[row.person] < NAMES[mate]
        y, at_s = at[:, :, 1], round(row.t_s)
        before, after = (np.sign(np.nanmedian(y[part, row.person] - y[part, mate])) for part in
                         (slice(10, at_s), slice(at_s + 20, None)))  # fmt: skip
        assert before == -after != 0
    usual, _ = played(Occasions(), 150.0)
    assert [row for row in usual.rows if row.kind == "role.swapped"] == []


def test_the_days_of_the_product_are_these() -> None:
    names = [path.stem for path in sorted(SHIPPED.glob("*.yaml"))]
    assert names == ["busy_sidelines", "cup", "duels", "league", "patient", "quick_restarts", "short_league"]


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_shipped_match_day_is_read(path: object) -> None:
    day = read_match_day(path.stem)  # type: ignore[attr-defined]
    settings = day.settings(MatchSettings(seed=3))
    assert settings.seed == 3
    assert settings.occasions != Occasions()
    assert settings.break_s == 60.0 * day.half_time_minutes


def test_a_wrong_match_day_names_its_line(tmp_path: object) -> None:
    path = tmp_path / "day.yaml"  # type: ignore[operator]
    path.write_text("name: x\nquick_share: 2\n")
    with pytest.raises(DocumentError, match=r"day\.yaml: line 2: quick_share"):
        read_match_day(str(path))

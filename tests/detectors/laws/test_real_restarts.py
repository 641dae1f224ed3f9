"""Restarts, exits and ball in play on real matches; skipped where the data is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.restarts import (
    OPTA_RESTARTS,
    PORTUGAL_RESTARTS,
    Mark,
    compare,
    generated,
    marks_of,
    opta,
    portugal,
)
from simulator.simulate import Simulation


@pytest.fixture(scope="module")
def portugal_switzerland(shared_data: Path):
    return portugal(shared_data)


@pytest.fixture(scope="module")
def opta_clip(shared_data: Path):
    return opta(shared_data)


@pytest.mark.slow
def test_portugal_takes_exactly_four_corner_kicks(portugal_switzerland):
    events, _ = portugal_switzerland
    corners = marks_of(events, ("restart.corner",))
    assert [(c.team, round(c.at_s)) for c in corners] == [("home", 436), ("home", 911), ("home", 937), ("home", 964)]
    expected = [435.8, 910.4, 936.5, 963.9]
    assert all(abs(c.at_s - at_s) <= 1.0 for c, at_s in zip(corners, expected, strict=True))


@pytest.mark.slow
def test_no_goal_and_no_other_kick_off_than_the_first_in_twenty_minutes(portugal_switzerland):
    events, _ = portugal_switzerland
    found = [(e.kind, e.payload) for e in events if e.kind.startswith(("goal.", "ball.in_goal", "restart.kick_off"))]
    assert [(kind, payload.team, payload.player) for kind, payload in found] == [
        ("restart.kick_off", "home", "home_10")
    ]


@pytest.mark.slow
def test_every_restart_read_by_eye_is_found_for_its_team_and_no_other(portugal_switzerland):
    _, score = portugal_switzerland
    assert (len(score.pairs), score.missed, score.extra) == (len(PORTUGAL_RESTARTS), (), ())
    assert all(truth.team == found.team for truth, found in score.pairs)


@pytest.mark.slow
def test_nothing_is_said_about_play_between_the_kick_off_and_the_first_stop(portugal_switzerland):
    events, _ = portugal_switzerland
    at_us = sorted(e.ts_us for e in events if e.kind.startswith(("play.", "restart.", "out")))
    assert [at < 1_000_000 for at in at_us[:3]] == [True, True, False], "kick-off and begin of play"
    assert at_us[2] > 90_000_000


def test_the_clip_holds_a_throw_in_a_free_kick_and_a_goal_kick(opta_clip):
    events, score, _ = opta_clip
    assert (len(score.pairs), score.missed, score.extra) == (len(OPTA_RESTARTS), (), ())
    assert [(m.note.removesuffix(" conf 1.0"), round(m.at_s)) for m in marks_of(events, ("out",))] == [
        ("left touch", 18),
        ("right goal line", 124),
    ]


def test_the_ball_is_in_play_when_the_provider_says_so(opta_clip):
    _, _, frames = opta_clip
    assert frames.live >= 0.97
    assert frames.agreement >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 7, 12])
def test_a_generated_match_at_camera_rates_keeps_its_restarts(seed):
    """Replay: ``python -m bench.restarts --seeds SEED``."""
    events, score = generated(Simulation(seed=seed, duration_s=300.0, ball_hz=25, body_hz=25, limbs=()))
    assert len(score.missed) + len(score.extra) <= 0.1 * len(score.pairs), (seed, score.missed, score.extra)
    goals = [e.kind for e in events if e.kind in ("goal.scored", "goal.confirmed")]
    assert goals.count("goal.confirmed") >= goals.count("goal.scored") - 1


def test_a_find_is_used_once_and_must_be_near():
    truth = [Mark(10.0, "out", "home"), Mark(10.5, "out", "home"), Mark(30.0, "out", "home")]
    score = compare(truth, [Mark(10.4, "out", "home"), Mark(31.5, "out", "home")])
    assert [t.at_s for t, _ in score.pairs] == [10.5]
    assert [m.at_s for m in score.missed] == [10.0, 30.0]
    assert [m.at_s for m in score.extra] == [31.5]

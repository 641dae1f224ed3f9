"""Truth that follows from the course of play: miscontrols (7.11)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from simulator.play import derived_truth
from simulator.play.truth_writer import TruthWriter, Watching


def lost_after(seconds: float, away_m: float, what: str = "trap", other: int = 11) -> list[str]:
    """Kinds of truth after person 1 touches the ball and ``other`` plays it next, with a touch that is watched, too."""
    truth = TruthWriter()
    truth.add("hit", 1.0, 1, (0.0, 0.0, 0.1), what="dribble")
    state = SimpleNamespace(
        truth=truth, watching=Watching(), team=[0] * 11 + [1] * 11, touched_s=[1.0] * 22, now_s=1.0, last=1,
        last_contact=0, ball=SimpleNamespace(position=(0.0, 0.0, 0.1)),
    )  # fmt: skip
    derived_truth.controlled(state, 1, 0)
    state.now_s, state.last, state.ball.position = 1.0 + seconds, other, (away_m, 0.0, 0.1)
    state.last_contact = truth.add("hit", state.now_s, other, state.ball.position, what=what)
    derived_truth.controlled(state, other, state.last_contact)
    return [row.kind for row in truth.rows if row.kind != "hit"]


def test_a_touch_whose_ball_an_opponent_controls_metres_away_is_a_miscontrol():
    assert lost_after(1.5, 4.0) == ["miscontrol"]


@pytest.mark.parametrize(
    ("seconds", "away_m", "what", "other"),
    [(2.5, 4.0, "trap", 11), (1.5, 2.0, "trap", 11), (1.5, 4.0, "tackle", 11), (1.5, 4.0, "trap", 2)],
    ids=["late", "near", "tackled", "a mate"],
)
def test_another_loss_is_none(seconds: float, away_m: float, what: str, other: int):
    assert lost_after(seconds, away_m, what, other) == []

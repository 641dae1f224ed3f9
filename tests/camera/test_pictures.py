"""Several cameras: framing scores, advice, and roles of free cameras."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camera.head import Pose
from camera.interest import Interest, Subject
from camera.mount import Mount
from camera.pictures import LOST, SHOT_MIN_US, WORTH, Advice, advised, assigned, framing_score

MOUNT, ASPECT = Mount(), 16 / 9
FOCUS = Interest(10.0, 0.0, 0.0, 0.0, 0.0, 30.0, 60.0, (Subject(10.0, 0.0, 0.0, 1.0), Subject(16.0, 2.0, 1.0, 0.4)))


def score(pan_off_deg: float = 0.0, width_deg: float = 22.5) -> float:
    pan_deg, tilt_deg = MOUNT.aim(10.0, 0.0)
    return framing_score(FOCUS, Pose(pan_deg + pan_off_deg, tilt_deg, width_deg), MOUNT, ASPECT)


def test_a_picture_that_holds_the_play_at_the_right_size_scores_nearly_one() -> None:
    assert score() > 0.95
    assert score(width_deg=60.0) < 0.8
    assert 0 < score(11.0) < score()
    assert score(60.0) == 0.0


def test_nothing_to_see_scores_nothing() -> None:
    empty = Interest(0.0, 0.0, 0.0, 0.0, 0.0, 30.0, 60.0)
    assert framing_score(empty, Pose(0.0, -11.0, 25.0), MOUNT, ASPECT) == 0.0


def test_the_advice_stays_for_a_shot_and_changes_for_a_clearly_better_picture() -> None:
    first = advised({"a": 0.8, "b": 0.5}, Advice(), 0)
    assert first == Advice("a", 0)
    assert advised({"a": 0.5, "b": 0.9}, first, SHOT_MIN_US - 1) == first, "too early"
    assert advised({"a": 0.8, "b": 0.9}, first, SHOT_MIN_US) == first, "hardly better"
    assert advised({"a": 0.5, "b": 0.9}, first, SHOT_MIN_US) == Advice("b", SHOT_MIN_US)
    assert advised({"a": LOST / 2, "b": 0.9}, first, 1) == Advice("b", 1), "the play is lost"
    assert advised({"b": 0.1}, first, 1) == Advice("b", 1), "its head does not answer"
    assert advised({}, first, 1) == Advice()


mounts_ = st.lists(st.tuples(st.floats(-90, 90), st.floats(-90, -36)), min_size=1, max_size=8)


@settings(deadline=None)
@given(mounts_, st.lists(st.sampled_from(list(WORTH)), max_size=3, unique=True))
def test_no_two_free_cameras_have_one_role_while_there_are_others(
    places: list[tuple[float, float]], taken: list[str]
) -> None:
    mounts = {str(number): Mount(x_m, y_m) for number, (x_m, y_m) in enumerate(places)}
    found = assigned(mounts, taken, {})
    assert set(found) == set(mounts)
    free = len(WORTH) - len(taken)
    assert len(set(found.values()) - set(taken)) >= min(free, len(mounts))


def test_each_goal_is_seen_by_the_camera_next_to_it() -> None:
    mounts = {"left": Mount(-45.0, -45.0), "middle": Mount(0.0, -60.0), "right": Mount(45.0, -45.0)}
    assert assigned(mounts, ["tight", "high-behind"], {}) == {
        "left": "goal-left", "middle": "main", "right": "goal-right"
    }  # fmt: skip


def test_a_camera_keeps_its_role_while_another_is_hardly_better() -> None:
    mounts = {"a": Mount(-3.0, -60.0), "b": Mount(0.0, -60.0)}
    swapped = {"a": "main", "b": "tight"}
    assert assigned(mounts, [], swapped) == swapped


@pytest.mark.parametrize("count", [1, 6, 9])
def test_more_cameras_than_roles_show_the_play(count: int) -> None:
    found = assigned({str(number): Mount(float(number)) for number in range(count)}, [], {})
    assert len(found) == count

"""Pictures of a camera: what stands where, judged by pixels; and films from a match store."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ImageColor

from camera.head import Pose
from camera.mount import Mount
from camera.picture import BALL, COLOURS, GRASS, SKY, Canvas, Figure, Scene, pitch_lines

SIZE, PITCH = (640, 360), (105.0, 68.0)
MOUNT = Mount()


def looking_at(x_m: float, y_m: float, width_deg: float = 25.0, mount: Mount = MOUNT) -> Pose:
    return Pose(*mount.aim(x_m, y_m), width_deg)


def rgb(colour: str) -> tuple[int, ...]:
    return ImageColor.getrgb(colour)


def near(one: tuple[int, ...], other: str, within: int = 40) -> bool:
    return max(abs(a - b) for a, b in zip(one, rgb(other), strict=True)) <= within


def test_a_player_stands_in_the_middle_of_the_picture_that_aims_at_him_in_the_colour_of_his_team() -> None:
    for team in ("home", "away"):
        canvas = Canvas(MOUNT, Pose(*MOUNT.aim(10, 5, 1.1), 8.0), SIZE, PITCH)
        image = canvas.picture(Scene((Figure(10, 5, team),)))
        assert near(image.getpixel((320, 180)), COLOURS[team])
        assert near(image.getpixel((40, 180)), GRASS[0]) or near(image.getpixel((40, 180)), GRASS[1])


def test_the_ball_is_drawn_where_it_is_and_the_sky_above_the_horizon() -> None:
    canvas = Canvas(MOUNT, looking_at(0, 0), SIZE, PITCH)
    ball = (4.0, 6.0, 2.0)
    at = canvas.seen(ball)
    assert at is not None
    image = canvas.picture(Scene((), ball))
    assert near(image.getpixel((round(at[0]), round(at[1]) - 2)), BALL)
    up = Canvas(MOUNT, Pose(0.0, 40.0, 60.0), SIZE, PITCH).picture(Scene(()))
    assert near(up.getpixel((320, 20)), SKY)


def test_who_is_nearer_hides_who_is_farther() -> None:
    pose = Pose(*MOUNT.aim(0, 0, 1.1), 6.0)
    scene = Scene((Figure(0, 0, "home"), Figure(0, 4.0, "away")))
    assert near(Canvas(MOUNT, pose, SIZE, PITCH).picture(scene).getpixel((320, 180)), COLOURS["home"])


def test_lines_are_where_the_laws_have_them() -> None:
    image_of = Canvas(MOUNT, looking_at(0, 0, 40.0), SIZE, PITCH)
    image = image_of.picture(Scene(()))
    for point in ((0, 12, 0), (0, -20, 0), (9.15, 0, 0), (0, -9.15, 0)):
        x, y = image_of.seen(point)  # type: ignore[misc]
        around = [image.getpixel((round(x) + dx, round(y) + dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        assert any(min(pixel) > 130 for pixel in around), f"{point}: no line on the grass"
    ends = [point for line in pitch_lines(*PITCH) for point in line]
    assert max(abs(x) for x, _, _ in ends) == pytest.approx(52.5)
    assert max(abs(y) for _, y, _ in ends) == pytest.approx(34.0)


@settings(max_examples=40, deadline=None)
@given(
    st.builds(
        Mount, st.floats(-60, 60), st.floats(-60, 60), st.floats(2, 40), st.floats(-180, 180), st.floats(-20, 20)
    ),
    st.floats(-170, 170),
    st.floats(-90, 60),
    st.floats(1.0, 100.0),
)
def test_any_pose_gives_a_picture(mount: Mount, pan_deg: float, tilt_deg: float, width_deg: float) -> None:
    scene = Scene((Figure(0, 0, "home", "7"), Figure(-50, 30, "")), (mount.x_m, mount.y_m, 1.0))
    image = Canvas(mount, Pose(pan_deg, tilt_deg, width_deg), (160, 90), PITCH).picture(scene)
    assert image.size == (160, 90)


def test_the_picture_agrees_with_the_mount_about_what_is_in_it() -> None:
    mount = Mount(roll_deg=2.0, tilt_offset_deg=-1.0)
    pose = Pose(4.0, -9.0, 22.0)
    canvas = Canvas(mount, pose, SIZE, PITCH)
    for x in range(-50, 51, 10):
        for y in range(-30, 31, 10):
            at = canvas.seen((x, y, 0.0))
            inside = at is not None and 0 <= at[0] <= SIZE[0] and 0 <= at[1] <= SIZE[1]
            assert inside == mount.in_picture(pose, SIZE[0] / SIZE[1], x, y), (x, y)

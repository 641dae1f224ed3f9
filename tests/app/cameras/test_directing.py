"""The group gives free cameras their roles, scores the pictures, and names the best."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.cameras.group import CameraGroup
from app.cameras.journal import Journal
from camera.head import Pose
from camera.installation import CameraSetup
from camera.interest import Interest, Subject
from camera.mount import Mount
from camera.profile import load_profile
from camera.roles import ROLES
from camera.rules import RuleBook

FOCUS = Interest(30.0, 0.0, 0.0, 0.0, 0.0, 30.0, 60.0, (Subject(30.0, 0.0, 0.0, 1.0),))


def camera(name: str, role: str, x_m: float, aims_at_m: float) -> tuple[Any, Any]:
    mount = Mount(x_m, -60.0)
    setup = CameraSetup(name, role=role, mount=mount)
    pose = Pose(*mount.aim(aims_at_m, 0.0), 25.0)
    authority = SimpleNamespace(on_air=False, role=ROLES[role])
    controller = SimpleNamespace(focus=lambda: FOCUS, state=lambda: SimpleNamespace(pose=pose), authority=authority)
    return SimpleNamespace(setup=setup, profile=load_profile()), controller


@pytest.fixture
def cameras() -> dict[str, tuple[Any, Any]]:
    return {
        "middle": camera("middle", "main", 0.0, -30.0),
        "left": camera("left", "auto", -45.0, 0.0),
        "right": camera("right", "auto", 45.0, 30.0),
    }


def directed(cameras: dict[str, tuple[Any, Any]]) -> CameraGroup:
    group = CameraGroup()
    group.started(cameras, RuleBook(()), Journal(), lambda event_id: None, lambda player: False)
    group.direct(0, 105.0)
    return group


def test_free_cameras_get_roles_that_no_other_has(cameras: dict[str, tuple[Any, Any]]) -> None:
    directed(cameras)
    roles = [controller.authority.role for _, controller in cameras.values()]
    assert roles[0] == ROLES["main"]
    assert len(set(roles)) == 3


def test_a_camera_on_air_keeps_its_role(cameras: dict[str, tuple[Any, Any]]) -> None:
    cameras["left"][1].authority.on_air = True
    directed(cameras)
    assert cameras["left"][1].authority.role == ROLES["auto"]


def test_the_picture_that_holds_the_play_is_the_best(cameras: dict[str, tuple[Any, Any]]) -> None:
    group = directed(cameras)
    assert group.best() == "right"
    assert group.score("right") > 0.6
    assert group.score("middle") == 0.0

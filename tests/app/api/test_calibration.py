"""Calibration by the API: start, centre marks, finish; the camera steers with the mount, and the file has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from app.cameras.calibrations import USUAL_MARKS
from app.cameras.group import CameraGroup
from app.cameras.running import cameras_on
from app.hub.feed import MatchFeed
from camera.installation import load_installation
from camera.mount import Mount
from camera.pitch_marks import pitch_marks
from camera.recorded import read_cameras
from dashboard.access import AccessGuard
from football.match_sheet import MatchSheet
from tests.app.api.test_cameras import OPERATOR, api_of
from tests.waiting import eventually

#: How the camera of the file truly stands; the file says otherwise.
TRUE = Mount(1.0, -60.0, 14.0, 92.0, 0.4, 0.0)
FILE = """# the camera of the main stand
[[camera]]
name = "main"
mount = { x_m = 0, y_m = -57, z_m = 12, heading_deg = 90 }
"""


class Standing:
    """Stands in for a head that an operator has driven to a direction."""

    pose: tuple[float, float] | None = None


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> Standing:
    head = Standing()
    monkeypatch.setattr("camera.controller.CameraController.standing", lambda self: head.pose)
    return head


@pytest.fixture
def group() -> CameraGroup:
    return CameraGroup()


@pytest.fixture
def client(tmp_path: Path, group: CameraGroup) -> Iterator[TestClient]:
    file = tmp_path / "cameras.toml"
    file.write_text(FILE)
    app = AccessGuard(api_of(group), "run-token")
    with cameras_on(
        MatchFeed(MatchSheet("m")), lambda table: None, load_installation(file), group, folder=tmp_path, file=file
    ):
        yield TestClient(app, base_url="http://127.0.0.1", headers=OPERATOR)


def ask(client: TestClient, path: str = "", method: str = "POST", status: int = 200) -> dict[str, Any]:
    answer = client.request(method, f"/api/v1/cameras/main/calibration{path}")
    assert answer.status_code == status, answer.text
    return answer.json()


def centre(client: TestClient, standing: Standing, mark: str, off_deg: float = 0.0) -> dict[str, Any]:
    pan_deg, tilt_deg = TRUE.aim(*pitch_marks()[mark])
    standing.pose = pan_deg + off_deg, tilt_deg
    return ask(client, f"/marks/{mark}")


def test_marks_give_the_mount_which_is_steered_with_and_written(
    client: TestClient, standing: Standing, tmp_path: Path, group: CameraGroup
) -> None:
    assert ask(client)["next_mark"] == USUAL_MARKS[0]
    assert client.get("/api/v1/cameras/main").json()["order"] == "hold"
    state: dict[str, Any] = {}
    for number, mark in enumerate(USUAL_MARKS):
        state = centre(client, standing, mark)
        assert (state["mount"] is None) == (number < 3), "four marks give a mount"
    found = ask(client, "/finish")
    assert not found["is_running"]
    for mount in (found["mount"], client.get("/api/v1/cameras/main").json()["mount"]):
        assert msgspec.convert(mount, Mount).aim(20.0, 5.0) == pytest.approx(TRUE.aim(20.0, 5.0), abs=0.02)
    file = tmp_path / "cameras.toml"
    assert "# the camera of the main stand" in file.read_text()
    (camera,) = load_installation(file)
    assert camera.setup.mount.y_m == pytest.approx(TRUE.y_m, abs=0.1)
    assert read_cameras(tmp_path)["main"][-1].mount.y_m == pytest.approx(TRUE.y_m, abs=0.1)
    eventually(lambda: group.point("main", 20.0, 5.0).pan_deg == pytest.approx(TRUE.aim(20.0, 5.0)[0], abs=0.02))


def test_a_wrong_mark_is_named_and_can_be_centred_again(client: TestClient, standing: Standing) -> None:
    ask(client)
    for mark in USUAL_MARKS:
        state = centre(client, standing, mark, 3.0 if mark == "centre-spot" else 0.0)
    assert state["outlier"] == "centre-spot"
    state = centre(client, standing, "centre-spot")
    assert state["outlier"] == ""
    assert len(state["marks"]) == len(USUAL_MARKS)
    assert state["rms_deg"] < 0.01


def test_what_cannot_be_done_is_refused_with_the_reason(client: TestClient, standing: Standing) -> None:
    assert "start it first" in ask(client, "/marks/centre-spot", status=409)["detail"]
    assert "start it first" in ask(client, "/finish", status=409)["detail"]
    ask(client)
    assert "does not stand still" in ask(client, "/marks/centre-spot", status=409)["detail"]
    assert "no mark nowhere" in ask(client, "/marks/nowhere", status=404)["detail"]
    centre(client, standing, "centre-spot")
    assert "1 marks, 4 are needed" in ask(client, "/finish", status=409)["detail"]
    assert not ask(client, method="DELETE")["is_running"]
    assert ask(client, method="GET")["marks"] == []
    assert client.post("/api/v1/cameras/none/calibration").status_code == 404


def test_a_head_that_stands_says_where_and_one_that_turns_does_not(client: TestClient, group: CameraGroup) -> None:
    controller = group._cameras["main"][1]
    ask(client)
    eventually(lambda: controller.standing() is not None)
    eventually(
        lambda: client.post("/api/v1/cameras/main/drive", json={"pan": 0.5}) and controller.standing() is None,
        pause_s=0.1,
    )

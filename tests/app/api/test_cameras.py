"""The routes of the cameras: what each does, an operator's orders, and who may give them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from app.api.v1 import api_application
from app.cameras.group import CameraGroup
from app.cameras.running import cameras_on
from app.hub.feed import MatchFeed
from camera.installation import load_installation
from dashboard.access import AccessGuard
from football.match_sheet import MatchSheet

FILE = """
[[camera]]
name = "main"
[camera.presets.left]
pan_deg = -20
tilt_deg = -10
width_deg = 20
"""
OPERATOR = {"Authorization": "Bearer run-token"}


def api_of(group: CameraGroup) -> Starlette:
    return Starlette(routes=[Mount("/api/v1", api_application({}, group))])


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "cameras.toml").write_text(FILE)
    group = CameraGroup()
    app = AccessGuard(api_of(group), "run-token")
    with cameras_on(
        MatchFeed(MatchSheet("m")), lambda table: None, load_installation(tmp_path / "cameras.toml"), group
    ):
        yield TestClient(app, base_url="http://127.0.0.1")


def wait_for(client: TestClient, field: str, value: object) -> dict[str, object]:
    """The camera, once a field has a value."""
    end_s = time.monotonic() + 20
    while time.monotonic() < end_s:
        camera = client.get("/api/v1/cameras/main", headers=OPERATOR).json()
        if camera[field] == value:
            return camera
        time.sleep(0.05)
    raise AssertionError(f"{field} is not {value}: {camera}")


def test_a_camera_is_held_driven_sent_to_a_preset_and_handed_back(client: TestClient) -> None:
    wait_for(client, "problem", "it has no new position to follow")
    for path, mode in (("hold", "held"), ("preset/left", "preset"), ("release", "stop")):
        answer = client.post(f"/api/v1/cameras/main/{path}", headers=OPERATOR)
        assert answer.status_code == 200, answer.text
        wait_for(client, "mode", mode)
    assert client.post("/api/v1/cameras/main/drive", headers=OPERATOR, json={"pan": 0.5}).status_code == 200
    assert wait_for(client, "mode", "operator")["order"] == "drive"


def test_a_preset_moves_the_head(client: TestClient) -> None:
    wait_for(client, "mode", "stop")
    client.post("/api/v1/cameras/main/preset/left", headers=OPERATOR)
    end_s = time.monotonic() + 20
    while time.monotonic() < end_s:
        pose = client.get("/api/v1/cameras/main", headers=OPERATOR).json()["pose"]
        if pose and abs(pose["pan_deg"] + 20) < 1.5:
            return
        time.sleep(0.05)
    raise AssertionError(pose)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "none", 404),
        ("POST", "none/hold", 404),
        ("POST", "main/preset/nowhere", 404),
    ],
)
def test_what_does_not_exist_is_named(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, f"/api/v1/cameras/{path}", headers=OPERATOR)
    assert answer.status_code == status
    assert "no " in answer.json()["detail"]


@pytest.mark.parametrize("body", [{"pan": 2}, {"pan": "fast"}, {"tilt": None}])
def test_impossible_speeds_are_refused(client: TestClient, body: dict[str, object]) -> None:
    assert client.post("/api/v1/cameras/main/drive", headers=OPERATOR, json=body).status_code == 422


def test_an_order_needs_an_operator() -> None:
    open_to_readers = AccessGuard(api_of(CameraGroup()))
    client = TestClient(open_to_readers, base_url="http://127.0.0.1")
    assert client.get("/api/v1/cameras").json() == []
    assert client.post("/api/v1/cameras/main/hold").status_code in (401, 403)


def test_the_document_describes_every_route(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json", headers=OPERATOR).json()
    assert {path.rpartition("/")[2] for path in document["paths"]} >= {"cameras", "hold", "release", "drive"}
    assert msgspec.json.encode(document)

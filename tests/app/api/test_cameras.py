"""The routes of the cameras: what each does, an operator's orders, and who may give them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from app.api.v1 import api_application
from app.cameras.group import CameraGroup
from app.cameras.journal import DRIVES_US, Journal
from app.cameras.kept import Keeper, Kept, KeptCamera
from app.cameras.running import cameras_on
from app.hub.feed import MatchFeed
from camera.head import Pose
from camera.installation import load_installation
from camera.operator import GoTo, Hold, ManualDrive, Order, Track
from camera.rules import Rule
from dashboard.access import AccessGuard
from football.match_sheet import MatchSheet
from football.update_stream import BallView, BodyView, EventRecord, UpdateMessage, UpdateRecord, View
from tests.waiting import eventually

FILE = """
[[camera]]
name = "main"
[camera.presets.left]
pan_deg = -20
tilt_deg = -10
width_deg = 20
[camera.presets.right]
pan_deg = 20
tilt_deg = -10
width_deg = 20
"""
OPERATOR = {"Authorization": "Bearer run-token"}


def api_of(group: CameraGroup) -> Starlette:
    return Starlette(routes=[Mount("/api/v1", api_application({}, group))])


@pytest.fixture
def feed() -> MatchFeed:
    return MatchFeed(MatchSheet("m"))


@pytest.fixture
def client(tmp_path: Path, feed: MatchFeed) -> Iterator[TestClient]:
    (tmp_path / "cameras.toml").write_text(FILE)
    cameras, group = load_installation(tmp_path / "cameras.toml"), CameraGroup()
    app = AccessGuard(api_of(group), "run-token")
    with cameras_on(feed, lambda table: None, cameras, group, folder=tmp_path):
        yield TestClient(app, base_url="http://127.0.0.1", headers=OPERATOR)


def post(client: TestClient, path: str, status: int = 200) -> dict[str, Any]:
    answer = client.post(f"/api/v1/cameras/main/{path}")
    assert answer.status_code == status, answer.text
    return answer.json()


def wait_for(client: TestClient, field: str, value: object) -> dict[str, object]:
    """The camera, once a field has a value."""
    camera: dict[str, object] = {}

    def found() -> bool:
        camera.update(client.get("/api/v1/cameras/main", headers=OPERATOR).json())
        return camera[field] == value

    eventually(found, pause_s=0.1)
    return camera


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

    def arrived() -> bool:
        pose = client.get("/api/v1/cameras/main", headers=OPERATOR).json()["pose"]
        return bool(pose) and abs(pose["pan_deg"] + 20) < 1.5

    eventually(arrived, pause_s=0.1)


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


def test_numbers_that_are_none_are_refused(client: TestClient) -> None:
    wait_for(client, "mode", "stop")
    headers = {**OPERATOR, "content-type": "application/json"}
    for text in (b'{"pan": NaN}', b'{"tilt": Infinity}'):
        assert client.post("/api/v1/cameras/main/drive", headers=headers, content=text).status_code == 422
    for query in ("x_m=nan&y_m=0", "x_m=0&y_m=inf", "x_m=0&y_m=0&width_m=nan", "x_m=0&y_m=0&width_m=0"):
        post(client, f"point?{query}", 422)
    assert client.get("/api/v1/cameras/main").json()["order"] == ""


def test_an_order_needs_an_operator() -> None:
    open_to_readers = AccessGuard(api_of(CameraGroup()))
    client = TestClient(open_to_readers, base_url="http://127.0.0.1")
    assert client.get("/api/v1/cameras").json() == []
    assert client.post("/api/v1/cameras/main/hold").status_code in (401, 403)


def test_the_document_describes_every_route(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json", headers=OPERATOR).json()
    assert {path.rpartition("/")[2] for path in document["paths"]} >= {"cameras", "hold", "release", "drive"}
    assert msgspec.json.encode(document)


def test_a_camera_on_air_moves_calmly_and_to_no_other_picture_unless_forced(
    client: TestClient, feed: MatchFeed
) -> None:
    wait_for(client, "mode", "stop")
    view = View(20_000, None, (BodyView("home_7", "home", 20_000, 0.0, 0.0, 0.0, 0.0),))
    feed.apply(UpdateMessage("m", 0, 20_000, 0, continues_from=0, view=view), 0)
    assert "no player home_8" in post(client, "player/home_8", 404)["detail"]
    assert post(client, "on-air")["on_air"] is True
    for path in ("preset/left", "player/home_7", "point?x_m=10&y_m=0"):
        assert "on air" in post(client, path, 409)["detail"]
    entries = client.get("/api/v1/cameras/journal").json()
    last = next((entry for entry in reversed(entries) if entry["what"] == "point 10 0"), None)
    assert last, "a refused order is in the journal"
    assert last["reason"].startswith("refused: camera main: it is on air")
    assert post(client, "hold")["order"] == "hold"
    assert post(client, "preset/left?force=true")["order"] == "preset"
    assert "on air" in post(client, "release", 409)["detail"]
    assert post(client, "release?force=true")["order"] == ""
    post(client, "off-air")
    assert post(client, "point?x_m=10&y_m=0&width_m=20")["order"] == "preset"
    assert post(client, "player/home_7")["order"] == "player"
    assert post(client, "style/sport")["style"] == "sport"
    assert "calm, normal, sport" in post(client, "style/wild", 404)["detail"]
    post(client, "point?x_m=1000&y_m=0", 422)


def corner(diff: int = 1, seq: int = 0, kind: str = "spot.taker", number: int = 1) -> UpdateMessage:
    event = EventRecord(f"c{number}", kind, "corner", 9, number * 1_000_000, "home", "H9", 52.0, 33.0, 0.0, 0.9)
    updates = (UpdateRecord(seq, diff, 1_200_000, event),)
    return UpdateMessage("m", 0, 3_000_000, 0, updates, continues_from=0 if seq == 0 else None)


def test_a_rule_moves_the_camera_and_the_journal_says_why(client: TestClient, feed: MatchFeed, tmp_path: Path) -> None:
    rule = {"name": "corner", "when": "spot.taker", "variant": "corner", "camera": "main", "preset": "left",
            "chance": 0.7}  # fmt: skip
    wait_for(client, "mode", "stop")
    assert client.put("/api/v1/rules", json={**rule, "camera": "none"}).status_code == 400
    assert client.put("/api/v1/rules", json={**rule, "colour": 1}).status_code == 400
    assert client.put("/api/v1/rules", content=b"[" * 900).status_code == 400
    assert client.put("/api/v1/rules", content=b" " * 20_000).status_code == 413
    assert client.put("/api/v1/rules", json=rule).status_code == 200
    assert [one["name"] for one in client.get("/api/v1/rules").json()] == ["corner"]
    feed.apply(corner(), 0)
    camera = wait_for(client, "by", "rule")
    assert (camera["rule"], camera["mode"]) == ("corner", "preset")
    assert post(client, "event/c1")["by"] in ("rule", "operator")
    wait_for(client, "by", "operator")
    post(client, "release")
    wait_for(client, "by", "rule")
    feed.apply(corner(-1, 1), 0)
    wait_for(client, "by", "planner")
    entries = client.get("/api/v1/cameras/journal?camera=main").json()
    assert [(one["what"], one["by"]) for one in entries if one["by"] != "care"] == [
        ("rule corner is set", "token of the run"),
        ("rule corner", "rule"),
        ("event c1", "token of the run"),
        ("release", "token of the run"),
        ("rule ends", "rule"),
    ]
    moves = [one for one in entries if one["by"] == "rule"]
    assert {tuple(one["events"]) for one in moves} == {("c1",)}
    assert "withdrawn" in moves[-1]["reason"]
    lines = (tmp_path / "orders.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == client.get("/api/v1/cameras/journal").json()
    assert client.delete("/api/v1/rules/corner").status_code == 204
    assert client.delete("/api/v1/rules/corner").status_code == 404
    assert client.post("/api/v1/cameras/main/event/c1").status_code == 404, "it does not stand any more"


def wait_for_entry(client: TestClient, what: str, reason: str) -> None:
    """Wait until the journal has an entry with a reason."""
    eventually(
        lambda: any(
            one["what"] == what and reason in one["reason"] for one in client.get("/api/v1/cameras/journal").json()
        ),
        pause_s=0.1,
    )


def test_rules_neither_move_a_camera_on_air_nor_let_go_of_it(client: TestClient, feed: MatchFeed) -> None:
    wait_for(client, "mode", "stop")
    for name, kind, preset in (("A", "spot.taker", "left"), ("B", "shot", "right")):
        rule = {"name": name, "when": kind, "camera": "main", "preset": preset}
        assert client.put("/api/v1/rules", json=rule).status_code == 200
    feed.apply(corner(), 0)
    wait_for(client, "rule", "A")
    post(client, "on-air")
    feed.apply(corner(seq=1, kind="shot", number=2), 0)
    wait_for_entry(client, "rule B", "not done yet: it is on air")
    camera = client.get("/api/v1/cameras/main").json()
    assert (camera["rule"], camera["by"], camera["mode"]) == ("A", "rule", "preset")
    feed.apply(corner(-1, 2, "shot", 2), 0)
    wait_for_entry(client, "rule ends", "B ends: shot is withdrawn, not done yet: it is on air")
    camera = client.get("/api/v1/cameras/main").json()
    assert (camera["rule"], camera["by"], camera["mode"]) == ("A", "rule", "preset")
    post(client, "off-air")
    wait_for(client, "by", "planner")
    assert client.get("/api/v1/cameras/main").json()["rule"] == ""


def test_a_camera_that_is_not_steered_any_more_takes_no_order(
    client: TestClient, feed: MatchFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for(client, "mode", "stop")
    monkeypatch.setattr(feed, "latest_view", lambda: 1 / 0)
    camera = wait_for(client, "needs_operator", True)
    assert (camera["mode"], camera["fault"]) == ("offline", "steering")
    assert "it is not steered any more: ZeroDivisionError" in camera["problem"]
    for path in ("hold", "preset/left?force=true", "release"):
        assert "it is not steered any more" in post(client, path, 409)["detail"]
    rule = {"name": "A", "when": "spot.taker", "camera": "main", "preset": "left"}
    assert client.put("/api/v1/rules", json=rule).status_code == 200
    feed.apply(corner(), 0)
    wait_for_entry(client, "rule A", "not done yet: it is not steered any more")
    assert client.get("/api/v1/cameras/main").json()["rule"] == ""


def test_a_failure_is_shown_and_noted(client: TestClient, feed: MatchFeed) -> None:
    wait_for(client, "mode", "stop")
    view = View(20_000, BallView(20_000, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0), ())
    feed.apply(UpdateMessage("m", 0, 20_000, 0, continues_from=0, view=view), 0)
    camera = wait_for(client, "needs_operator", True)
    assert (camera["fault"], camera["problem"]) == ("feed", "no new positions arrive")
    assert camera["care"] in ("easing", "wide")
    wait_for(client, "care", "wide")
    entries = client.get("/api/v1/cameras/journal").json()
    assert [one["what"] for one in entries if one["by"] == "care"][:2] == ["noticed feed", "easing feed"]


def restarted(tmp_path: Path, feed: MatchFeed) -> AbstractContextManager[CameraGroup]:
    """Run the cameras of the same file and match store."""
    (tmp_path / "cameras.toml").write_text(FILE)
    return cameras_on(
        feed, lambda table: None, load_installation(tmp_path / "cameras.toml"), CameraGroup(),
        rules=[Rule("file", "shot", "main", preset="right")], folder=tmp_path,
    )  # fmt: skip


def test_the_tally_outlives_a_restart_of_the_run(tmp_path: Path, feed: MatchFeed) -> None:
    seen = []
    for tally in (True, None, False, None):
        with restarted(tmp_path, feed) as group:
            seen.append(group.info("main").on_air)
            if tally is not None:
                group.set_on_air("main", on_air=tally)
    assert seen == [False, True, True, False]
    assert (tmp_path / "steering.json").stat().st_mode & 0o777 == 0o600


ORDERS = [
    (Hold(), "hold"),
    (Track("H9"), "player"),
    (None, ""),
    (ManualDrive(1.0, 0.0, 0.0, 0), "hold"),
    (GoTo(Pose(20.0, -10.0, 20.0)), "hold"),
]


@pytest.mark.parametrize(("order", "again"), ORDERS)
def test_orders_outlive_a_restart_but_what_turns_a_head_comes_back_as_a_hold(
    tmp_path: Path, feed: MatchFeed, order: Order | Track | None, again: str
) -> None:
    with restarted(tmp_path, feed) as group:
        group.order("main", Hold())
        group.order("main", order)
        group.set_style("main", "sport")
    with restarted(tmp_path, feed) as group:
        assert (group.info("main").order, group.info("main").style) == (again, "sport")
        noted = {entry.what for entry in group.journal.newest() if entry.by == "restart"}
        assert noted == {"style sport", again} - {""}
        group.keep()
    assert Keeper(tmp_path).read().cameras["main"].player == ("H9" if again == "player" else "")


def test_rules_outlive_a_restart_and_a_camera_on_air_stays_where_its_rule_holds_it(
    tmp_path: Path, feed: MatchFeed
) -> None:
    with restarted(tmp_path, feed) as group:
        group.put_rule(Rule("A", "spot.taker", "main", preset="left"))
        group.remove_rule("file")
        feed.apply(corner(), 0)
        eventually(lambda: group.info("main").rule == "A")
        group.set_on_air("main", on_air=True)
    after = MatchFeed(MatchSheet("m"))
    with restarted(tmp_path, after) as group:
        assert [rule.name for rule in group.rules()] == ["A"]
        assert (group.info("main").rule, group.info("main").on_air) == ("A", True)
        after.apply(corner(seq=0, kind="play.live", number=2), 0)
        eventually(lambda: any("play.live" in entry.reason for entry in group.journal.newest()))
        group.set_on_air("main", on_air=False)
        eventually(lambda: group.info("main").rule == "")


@pytest.mark.parametrize("content", ['{"cameras": 3', '{"cameras": {"main": {"order": "preset"}}}', '["main"]'])
def test_a_damaged_file_of_orders_costs_the_orders_only(
    tmp_path: Path, feed: MatchFeed, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "steering.json").write_text(content)
    with restarted(tmp_path, feed) as group:
        assert not group.info("main").on_air
    assert "orders of the cameras before the restart cannot be read" in caplog.text


def test_what_a_file_of_cameras_does_not_name_any_more_is_left_out(tmp_path: Path, feed: MatchFeed) -> None:
    left = Kept({"tower": KeptCamera(order="hold")}, (Rule("A", "shot", "tower", preset="left"),), ("B",))
    Keeper(tmp_path).write(left)
    with restarted(tmp_path, feed) as group:
        assert [rule.name for rule in group.rules()] == ["file"]
        assert "not in force any more" in next(one.reason for one in group.journal.newest() if one.what == "rule A")


def test_drives_that_follow_each_other_are_one_entry(tmp_path: Path) -> None:
    now_us = [0]
    journal = Journal(tmp_path, lambda: now_us[0])
    for step_us in (0, 100_000, 100_000, DRIVES_US, 100_000):
        now_us[0] += step_us
        journal.note("main", "drive", "op")
    journal.note("main", "hold", "op")
    assert [entry.what for entry in journal.newest()] == ["drive", "drive", "hold"]
    assert (tmp_path / "orders.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_journal_that_cannot_be_written_costs_no_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "nowhere")
    journal.note("main", "hold", "op")
    assert len(journal.newest()) == 1

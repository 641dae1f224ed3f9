"""A rule of the API moves a simulated head to a preset, and lets go when play is live: by events, and in a match."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.cameras.group import CameraGroup
from app.cameras.running import cameras_on
from app.hub.feed import MatchFeed
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from camera.installation import load_installation
from dashboard.access import AccessGuard
from football.recording import Recording
from replay import wire
from simulator.radio.channels import channel_named, transmit
from simulator.simulate import Simulation, simulate
from tests.app.api.test_cameras import FILE, OPERATOR, api_of, corner
from tests.waiting import eventually as soon

#: The API answers a limited number of requests a minute.
eventually = functools.partial(soon, pause_s=0.1)
SEED = 12
#: The taker of the kick-off stands at the ball from the first second on; the kick is at 4.5 s.
WAITING_US, LIVE_US = 2_500_000, 7_000_000
#: Near to where the head stands at the beginning.
PRESET_DEG = -4.0
RULE = {
    "name": "kick-off", "when": "spot.taker", "variant": "centre", "camera": "main", "preset": "left", "chance": 0.7,
    "until": ["play.live"],
}  # fmt: skip


@pytest.fixture(scope="module")
def recording() -> Recording:
    return simulate(Simulation(SEED, LIVE_US / 1e6, ball_hz=100, body_hz=50, limbs=()))[0]


@pytest.fixture
def feed(recording: Recording) -> MatchFeed:
    return MatchFeed(recording.sheet)


@pytest.fixture
def client(tmp_path: Path, feed: MatchFeed) -> Iterator[TestClient]:
    file = tmp_path / "cameras.toml"
    file.write_text(FILE.replace("pan_deg = -20", f"pan_deg = {PRESET_DEG}"))
    group = CameraGroup()
    with cameras_on(feed, lambda table: None, load_installation(file), group, folder=tmp_path):
        yield TestClient(AccessGuard(api_of(group), "run-token"), base_url="http://127.0.0.1", headers=OPERATOR)


def test_a_rule_turns_the_head_to_its_preset_and_lets_go_when_play_is_live(client: TestClient, feed: MatchFeed) -> None:
    def camera() -> dict[str, Any]:
        return client.get("/api/v1/cameras/main").json()

    begin = eventually(lambda: camera()["pose"])
    assert abs(begin["pan_deg"] - PRESET_DEG) > 2.0
    assert client.put("/api/v1/rules", json={**RULE, "variant": "corner"}).status_code == 200
    feed.apply(corner(), 0)
    eventually(lambda: abs(camera()["pose"]["pan_deg"] - PRESET_DEG) < 1.0)
    assert (camera()["by"], camera()["mode"]) == ("rule", "preset")
    feed.apply(corner(seq=1, kind="play.dead", number=2), 0)
    feed.apply(corner(seq=2, kind="play.live", number=3), 0)
    eventually(lambda: camera()["by"] != "rule")
    moves = [row for row in client.get("/api/v1/cameras/journal").json() if row["by"] == "rule"]
    assert [row["what"] for row in moves] == ["rule kick-off", "rule ends"]
    assert "play.live" in moves[-1]["reason"]


@pytest.mark.slow
def test_a_rule_holds_a_preset_from_the_taker_to_the_kick(
    recording: Recording, client: TestClient, feed: MatchFeed
) -> None:
    def camera() -> dict[str, Any]:
        return client.get("/api/v1/cameras/main").json()

    def entry(what: str) -> dict[str, Any] | None:
        rows = client.get("/api/v1/cameras/journal").json()
        return next((row for row in rows if row["what"] == what), None)

    eventually(lambda: camera()["pose"])
    assert client.put("/api/v1/rules", json=RULE).status_code == 200
    pipeline = MatchPipeline(recording.sheet, PipelineOptions())
    blocks = iter(transmit(recording, channel_named("wifi"), SEED).blocks())
    for block in blocks:
        message = pipeline.push(wire.encode(block), block.arrival_us)
        if message is not None:
            feed.apply(message, time.time_ns() // 1000)
        if block.arrival_us > WAITING_US:
            break
    fired = eventually(lambda: entry("rule kick-off"))
    assert fired["events"][0].startswith("spot.taker")
    assert camera()["by"] == "rule"
    eventually(lambda: abs(camera()["pose"]["pan_deg"] - PRESET_DEG) < 1.0)
    for block in blocks:
        message = pipeline.push(wire.encode(block), block.arrival_us)
        if message is not None:
            feed.apply(message, time.time_ns() // 1000)
    ended = eventually(lambda: entry("rule ends"))
    assert "play.live" in ended["reason"]
    eventually(lambda: camera()["by"] != "rule")
    assert camera()["rule"] == ""

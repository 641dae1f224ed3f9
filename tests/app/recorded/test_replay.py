"""The API of replays: chunks of positions as bytes, the timeline at any arrival time, explanations."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import AMENDED, DONE, FRAME_US, GOAL, PASS, TOUCH, WRONG, S, derby_store


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(derby_store(tmp_path_factory.mktemp("replay") / "derby")) as server:
        yield f"{server.url}/api/v1/matches/derby"


def timeline(url: str, query: str) -> dict[str, Any]:
    answer: dict[str, Any] = httpx.get(f"{url}/replay/timeline?{query}").raise_for_status().json()
    return answer


def states(answer: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """State and number of amendments by id."""
    return {one["id"]: (one["state"], one["revision"]) for one in answer["events"]}


def test_the_span_has_what_a_viewer_needs_first(url: str):
    span = httpx.get(f"{url}/replay").json()
    assert (span["begin_us"], span["end_us"], span["ended"]) == (0, 60 * S - FRAME_US, True)
    assert ["shots", "Goals & shots", True] in span["families"]
    assert [[0.0, -34.0], [0.0, 34.0]] in span["lines"]


def test_a_chunk_holds_its_positions_in_centimetres_with_a_margin(url: str):
    content = httpx.get(f"{url}/replay/chunk?number=2").content
    (size,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + size])
    frames, width = header["frames"], len(header["objects"])
    assert (4 + size) % 8 == 0
    assert header["objects"][0] == "ball"
    times = np.frombuffer(content, "<f8", frames, 4 + size)
    assert times[0] == 19.52 * S
    assert times[-1] == 30.48 * S
    x, y, z = (
        np.frombuffer(content, "<i2", count, 4 + size + 8 * frames + at)
        for count, at in ((frames * width, 0), (frames * width, 2 * frames * width), (frames, 4 * frames * width))
    )
    assert x.reshape(frames, width)[0].tolist() == [-1048, 4800, 3000, -4800, 1000]
    assert y.reshape(frames, width)[0].tolist() == [0, 0, -400, 0, 500]
    assert (z[0], z[-1]) == (0, 200)
    assert len(content) == 4 + size + 8 * frames + 4 * frames * width + 2 * frames


def test_a_chunk_beyond_the_match_is_empty_and_one_beyond_a_day_is_refused(url: str):
    content = httpx.get(f"{url}/replay/chunk?number=99").content
    assert json.loads(content[4:].rstrip())["frames"] == 0
    assert httpx.get(f"{url}/replay/chunk?number=9000").status_code == 422


def test_the_timeline_has_withdrawn_and_amended_events(url: str):
    found = timeline(url, "families=passes,shots")
    assert states(found) == {
        PASS.id: ("confirmed", 0), DONE.id: ("confirmed", 1), WRONG.id: ("withdrawn", 0), GOAL.id: ("confirmed", 0),
    }  # fmt: skip
    older = {one["id"]: [version["player"] for version in one["older"]] for one in found["events"]}
    assert (older[DONE.id], older[PASS.id]) == ([DONE.player], [])
    assert found["directions"] == [{"from_us": 0, "team": "home"}]
    (stroke,) = [mark for mark in found["marks"] if mark["shape"] == "pass"]
    assert (stroke["x_m"], stroke["to_x_m"], stroke["outcome"]) == (PASS.x_m, AMENDED.x_m, "pass.complete")


def test_the_timeline_at_an_arrival_time_is_what_was_believed_then(url: str):
    def at(seconds: float) -> dict[str, tuple[str, int]]:
        return states(timeline(url, f"families=passes,shots&arrival_us={round(seconds * S)}"))

    assert at(5) == {}
    assert at(10.1) == {PASS.id: ("tentative", 0)}
    assert at(25) == {PASS.id: ("tentative", 0), DONE.id: ("tentative", 0), WRONG.id: ("tentative", 0)}
    # The first window was committed at 30 s, with a watermark of 27 s.
    assert at(30) == {PASS.id: ("confirmed", 0), DONE.id: ("confirmed", 0), WRONG.id: ("confirmed", 0)}
    assert at(34)[DONE.id] == ("confirmed", 1)
    assert at(35)[WRONG.id] == ("withdrawn", 0)


def test_a_stretch_of_a_family_and_unknown_families(url: str):
    assert states(timeline(url, "families=ball")) == {TOUCH.id: ("confirmed", 0)}
    assert states(timeline(url, "families=ball&begin_us=0&end_us=30000000")) == {}
    answer = httpx.get(f"{url}/replay/timeline?families=dribbles")
    assert answer.status_code == 400
    assert "passes" in answer.json()["detail"]


def test_an_event_is_explained_from_the_log_where_nothing_can_be_played(url: str):
    explained = httpx.get(f"{url}/explanation", params={"event": GOAL.id}, timeout=60).json()
    assert explained["event"] == GOAL.id
    assert explained["lines"][0] == "History:"
    assert any("asserted" in line for line in explained["lines"])
    assert httpx.get(f"{url}/explanation", params={"event": "goal.scored#none"}, timeout=60).status_code in (400, 404)


def test_another_match_is_refused_by_every_route(url: str):
    for path in ("replay", "replay/chunk?number=0", "replay/timeline", "explanation?event=x"):
        assert httpx.get(f"{url[: -len('derby')]}other/{path}").status_code == 404

"""The controller end to end: a moving ball, a real UDP session, a simulated head. No timed assertion."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

import pytest

from camera.controller import CameraController
from camera.head import Pose
from camera.head_connection import HeadConnection
from camera.mount import Mount
from camera.operator import GoTo
from camera.profile import load_profile
from camera.protocols.registry import Address
from camera.record import CAMERA_SCHEMA, Row, camera_table
from camera.simulated.server import HeadServer
from football.update_stream import BallView, UpdateRecord, View
from tests.waiting import eventually

X400, MOUNT = load_profile(), Mount()


class CirclingBall:
    """A feed: the ball runs up and down in front of the camera while ``on``."""

    def __init__(self) -> None:
        self.on = True
        self._begin_s = time.monotonic()
        self._last: View | None = None
        self._wall_us = 0

    def latest_view(self) -> View | None:
        if not self.on:
            return self._last
        ts_us = int((time.monotonic() - self._begin_s) * 25) * 40_000
        if self._last is None or ts_us > self._last.ts_us:
            phase = ts_us / 1e6 * 0.7
            ball = BallView(ts_us, 20 * math.sin(phase), 5.0, 0.0, 14 * math.cos(phase), 0.0, 0.0)
            self._last, self._wall_us = View(ts_us, ball, ()), time.time_ns() // 1000
        return self._last

    def view_wall_us(self) -> int:
        return self._wall_us

    def frontier_us(self) -> int:
        return 0

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        return cursor, ()


@pytest.fixture(autouse=True)
def lots_of_half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camera.controller.LOT_ROWS", 25)


class Rig:
    """Feed, head and controller of one test."""

    def __init__(self) -> None:
        self.feed, self.rows = CirclingBall(), list[Row]()
        self.head = HeadServer(X400).start()
        self.controller = CameraController(
            self.feed, MOUNT, X400, Address(*self.head.address), record=self.rows.extend
        ).start()

    def modes_since(self, row: int) -> set[str]:
        return {r.mode for r in self.rows[row:]}

    def stands(self) -> bool:
        """The head has not moved for half a second: between two steps of a slow move it stands for less."""
        return not self.head.moving and len({r.achieved_pan_deg for r in self.rows[-25:]}) == 1


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.controller.stop()
    rig.head.stop()


def test_the_head_follows_the_ball_and_what_it_did_is_recorded(rig: Rig) -> None:
    eventually(lambda: len(rig.rows) >= 250)
    eventually(lambda: any(r.framed for r in rig.rows))
    rig.controller.stop()
    assert not rig.head.moving
    figures = rig.controller.figures()
    assert figures["failure"] == ""
    assert figures["stopped"] == 1.0
    assert figures["commands_sent"] > 5
    assert figures["commands_acked"] > 5
    assert figures["framed_share"] > 0.5
    assert figures["latency_p95_ms"] >= figures["latency_p50_ms"] > 0
    table = camera_table(rig.rows)
    assert table.schema == CAMERA_SCHEMA
    walls = [r.wall_us for r in rig.rows]
    assert walls == sorted(walls)
    pans = [r.achieved_pan_deg for r in rig.rows if r.achieved_pan_deg is not None]
    assert max(pans) - min(pans) > 5.0
    last = rig.rows[-1]
    assert last.achieved_tilt_deg == pytest.approx(last.planned_tilt_deg, abs=3.0)


def test_a_camera_on_air_lights_the_lamp_of_its_head_until_the_run_ends(rig: Rig) -> None:
    rig.controller.authority.on_air = True
    eventually(lambda: rig.head.tally)
    rig.controller.authority.on_air = False
    eventually(lambda: not rig.head.tally)
    rig.controller.authority.on_air = True
    eventually(lambda: rig.head.tally)
    rig.controller.stop()
    eventually(lambda: not rig.head.tally)


def test_the_lamp_of_a_head_off_air_flashes_while_the_operator_is_needed(rig: Rig) -> None:
    eventually(lambda: rig.controller.state().pose and rig.controller.state().fault == "")
    assert not rig.head.tally
    rig.feed.on = False
    eventually(lambda: rig.head.tally)
    assert not rig.controller.state().on_air
    rig.feed.on = True
    eventually(lambda: rig.controller.state().care == "following")
    eventually(lambda: not rig.head.tally)


def test_a_silent_feed_stops_the_head_and_a_speaking_one_moves_it_again(rig: Rig) -> None:
    eventually(lambda: rig.head.moving)
    rig.feed.on = False
    eventually(lambda: "stop" in rig.modes_since(0))
    eventually(lambda: rig.controller.state().care == "wide" and rig.stands())
    state, pose = rig.controller.state(), rig.head.pose()
    assert (state.mode, state.by, state.fault, state.needs_operator) == ("wide", "care", "feed", True)
    assert state.problem == "no new positions arrive"
    known = len(rig.rows)
    eventually(lambda: len(rig.rows) >= known + 25)
    assert rig.head.pose().pan_deg == pose.pan_deg
    rig.feed.on = True
    eventually(lambda: rig.head.moving)


def test_a_dead_head_neither_hangs_nor_crashes_it_and_a_new_one_is_steered(rig: Rig) -> None:
    eventually(lambda: rig.head.moving)
    port = rig.head.address[1]
    rig.head.stop()
    eventually(lambda: bool(rig.rows) and rig.rows[-1].mode == "offline")
    rig.head = HeadServer(X400, port=port).start()
    eventually(lambda: rig.rows[-1].mode != "offline")
    eventually(lambda: rig.head.moving)
    figures = rig.controller.figures()
    assert figures["reconnects"] >= 1
    assert figures["failure"] == ""
    rig.controller.stop()
    assert not rig.head.moving


def test_with_no_head_at_all_it_starts_plans_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camera.controller.STOP_US", 200_000)  # nobody hears its stop
    server = HeadServer(X400)
    address = server.address
    server.stop()
    rows: list[Row] = []
    controller = CameraController(CirclingBall(), MOUNT, X400, Address(*address), record=rows.extend).start()
    eventually(lambda: controller.state().needs_operator and len(rows) >= 50)
    assert controller.state().fault == "head"
    assert "has not answered yet" in controller.state().problem
    controller.stop()
    controller.stop()
    assert {r.mode for r in rows} == {"offline"}
    assert controller.figures()["stopped"] == 0.0
    assert controller.figures()["failure"] == ""


def test_a_head_whose_pan_runs_the_other_way_is_steered_as_well() -> None:
    h700, rows = load_profile("brc-h700"), list[Row]()
    with HeadServer(h700) as head:
        controller = CameraController(CirclingBall(), MOUNT, h700, Address(*head.address), record=rows.extend).start()
        eventually(lambda: len(rows) >= 200)
        controller.stop()
    late = [r for r in rows[100:] if r.achieved_pan_deg is not None]
    assert late
    errors = [abs(r.achieved_pan_deg - r.planned_pan_deg) for r in late if r.achieved_pan_deg is not None]
    assert sum(errors) / len(errors) < 4.0


def test_a_head_of_another_model_is_never_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camera.controller.STOP_US", 200_000)  # its answers are not understood, to a stop neither
    with HeadServer(load_profile("brc-h700")) as head:
        controller = CameraController(CirclingBall(), MOUNT, X400, Address(*head.address)).start()
        eventually(lambda: float(controller.figures()["garbled_answers"]) >= 20)
        assert not head.moving
        assert head.pose().pan_deg == 0.0
        controller.stop()


def test_a_feed_that_breaks_stops_the_head_and_says_why() -> None:
    class Broken(CirclingBall):
        broken = False

        def frontier_us(self) -> int:
            if self.broken:
                raise RuntimeError("the hub is closed")
            return 0

    feed = Broken()
    with HeadServer(X400) as head:
        controller = CameraController(feed, MOUNT, X400, Address(*head.address)).start()
        eventually(lambda: head.moving)
        feed.broken = True
        eventually(lambda: "the hub is closed" in controller.state().problem)
        state = controller.state()
        assert (state.mode, state.care, state.fault, state.needs_operator) == ("offline", "silent", "steering", True)
        assert "the hub is closed" in str(controller.figures()["failure"])
        controller.stop()
        assert not head.moving


def test_an_order_that_cannot_be_carried_out_costs_the_order_and_not_the_camera(rig: Rig) -> None:
    eventually(lambda: rig.head.moving)
    rig.controller.order(GoTo(Pose(0.0, -10.0, 0.0)))
    eventually(lambda: rig.controller.state().mode == "held")
    state = rig.controller.state()
    assert (state.order, state.by) == ("hold", "operator")
    assert "an order could not be carried out: ValueError" in state.problem
    rig.controller.order(None)
    eventually(lambda: rig.controller.state().by == "planner" and rig.head.moving)
    assert rig.controller.state().problem == ""


def test_a_store_that_fails_does_not_stop_the_camera() -> None:
    def full(rows: Sequence[Row]) -> None:
        raise OSError("disk full")

    with HeadServer(X400) as head:
        controller = CameraController(CirclingBall(), MOUNT, X400, Address(*head.address), record=full).start()
        eventually(lambda: float(controller.figures()["record_errors"]) >= 2)
        eventually(lambda: head.moving)
        controller.stop()
        assert controller.figures()["failure"] == ""


def test_a_lost_network_is_said_and_the_camera_comes_back_with_a_ramp(rig: Rig) -> None:
    eventually(lambda: rig.head.moving)
    rig.head.cut(2.5)
    eventually(lambda: rig.controller.state().mode == "offline")
    assert "does not answer" in rig.controller.state().problem
    eventually(lambda: rig.controller.state().mode in ("follow", "hold"))
    at = len(rig.rows)
    eventually(lambda: len(rig.rows) >= at + 50)
    rows = rig.rows
    lost = next(n for n in range(1, len(rows)) if rows[n - 1].mode != "offline" and rows[n].mode == "offline")
    back = next(n for n in range(lost, len(rows)) if rows[n].mode != "offline")
    first, achieved = rows[back], rows[back].achieved_pan_deg
    assert achieved is not None
    assert first.planned_pan_deg == pytest.approx(achieved, abs=0.5), "from where the head stands"
    assert first.commanded_pan_deg_s == 0.0
    assert rows[back + 1].planned_pan_deg == pytest.approx(first.planned_pan_deg, abs=0.1), "at rest"


def test_whatever_fails_at_the_end_everything_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []

    class Tracking:
        def send(self, pose: object, zoom_units: int, now_us: int) -> None: ...

        def close(self) -> None:
            released.append("tracking")

    def broken(self: object, *_: object) -> bool:
        raise RuntimeError("no socket")

    rows: list[Row] = []
    with HeadServer(X400) as head:
        controller = CameraController(
            CirclingBall(),
            MOUNT,
            X400,
            Address(*head.address),
            record=rows.extend,
            tracking=Tracking(),  # type: ignore[arg-type]
        ).start()
        eventually(lambda: controller.state().mode != "offline")
        monkeypatch.setattr("camera.head_connection.HeadConnection.rest", broken)
        close = HeadConnection.close
        monkeypatch.setattr(HeadConnection, "close", lambda self: (released.append("link"), close(self)))
        known = len(rows)
        controller.stop()
    assert released == ["link", "tracking"]
    assert len(rows) > known, "the last rows are recorded"
    assert "no socket" in str(controller.figures()["failure"])

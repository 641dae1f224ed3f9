"""Four heads of four protocols through a whole match at once, in virtual time, with loss, reboots and lost networks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from camera.controller import CameraController
from camera.framing import load_framing
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.registry import Address
from camera.record import Row
from camera.roles import ROLES
from football.packets import raw_kind
from football.recording import Recording, Track
from football.update_stream import BallView, BodyView, EventRecord, UpdateRecord, View
from simulator.simulate import Simulation, simulate
from tests.camera.virtual_head import VirtualHead

SEED, LOSS, TICK_S, VIEW_US = 5, 0.02, 0.02, 40_000
#: Of each head: a reboot in each so many seconds, and a lost network of ``OUTAGE_S`` half-way between two.
REBOOT_S, OUTAGE_S = 240, 3.0
HEADS = (
    ("visca", "brc-x400", "main"),
    ("visca-tcp", "ptzoptics-g2", "tight"),
    ("onvif", "onvif-generic", "goal-left"),
    ("aw", "aw-he40", "goal-right"),
)
#: An event is asserted so long after it happened, and confirmed; one of seven is withdrawn in between, and comes back.
ASSERTED_US, WITHDRAWN_US, BACK_US, CONFIRMED_US = 300_000, 500_000, 700_000, 2_000_000


class Play:
    """A simulated match as a feed in virtual time: positions 25 times a second, and the truth as its events."""

    def __init__(self, recording: Recording, truth: Sequence[EventRecord]) -> None:
        ball = next(track for track in recording.tracks if raw_kind(track.transmitter) == "raw.ball")
        self.times_us = np.arange(0, int(ball.ts_us.max()), VIEW_US)
        self.now_us = 0
        self._ball = _sampled(ball, self.times_us)
        self._bodies = {
            track.transmitter: _sampled(track, self.times_us) for track in recording.tracks if track is not ball
        }
        self._view: tuple[int, View] | None = None
        framing, chance = load_framing(), random.Random(SEED)
        due: list[tuple[int, int, EventRecord]] = []
        for event in truth:
            if framing.of(event.kind, event.variant):
                due.append((event.ts_us + ASSERTED_US, 1, event))
                if chance.random() < 1 / 7:
                    due += [(event.ts_us + WITHDRAWN_US, -1, event), (event.ts_us + BACK_US, 1, event)]
        due.sort(key=lambda row: row[0])
        self._updates = [UpdateRecord(seq, diff, at_us, event) for seq, (at_us, diff, event) in enumerate(due)]
        self._due_us = np.array([at_us for at_us, _, _ in due])

    def latest_view(self) -> View:
        index = min(self.now_us // VIEW_US, len(self.times_us) - 1)
        if self._view is None or self._view[0] != index:
            ts_us = int(self.times_us[index])
            ball = BallView(ts_us, *self._ball[index, 1:].tolist())
            bodies = (
                BodyView(name, name.partition("_")[0], ts_us, *rows[index, [1, 2, 4, 5]].tolist())
                for name, rows in self._bodies.items()
                if rows[index, 0] > ts_us - 500_000
            )
            self._view = index, View(ts_us, ball, tuple(bodies))
        return self._view[1]

    def view_wall_us(self) -> int:
        return self.now_us // VIEW_US * VIEW_US

    def frontier_us(self) -> int:
        return self.now_us - CONFIRMED_US

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        end = int(np.searchsorted(self._due_us, self.now_us, side="right"))
        return end, self._updates[cursor:end]


def _sampled(track: Track, times_us: np.ndarray) -> np.ndarray:
    """Return rows (time of the last sample, x, y, z, velocities), one for each time."""
    last = np.maximum(np.searchsorted(track.ts_us, times_us, side="right") - 1, 0)
    places = [np.interp(times_us, track.ts_us, axis) for axis in (track.x_m, track.y_m, track.z_m)]
    return np.column_stack([track.ts_us[last], *places, *(np.gradient(axis, VIEW_US / 1e6) for axis in places)])


@dataclass
class Steered:
    """A head, what steers it, and what was seen of it."""

    name: str
    head: VirtualHead
    controller: CameraController
    rows: list[Row]
    offline: list[int] = field(default_factory=lambda: [0])  # ticks of each stretch without an answer
    sizes: list[int] = field(default_factory=list)

    def tick(self, tick: int) -> None:
        self.controller._tick(self.head.now_us)
        if self.controller.state().mode == "offline":
            self.offline[-1] += 1
        elif self.offline[-1]:
            self.offline.append(0)
        if tick % 15_000 == 0:
            self.sizes.append(len(self.head.connection.counts) + len(self.head._air) + len(self.controller._rows))


def _disturb(head: VirtualHead, tick: int, offset_s: float) -> bool:
    """Reboot a head or cut its network at its times; return True at a reboot."""
    into_s = (tick * TICK_S - offset_s) % REBOOT_S
    head.up = head.down = not REBOOT_S / 2 <= into_s < REBOOT_S / 2 + OUTAGE_S
    if reboots := round(into_s / TICK_S) == 0 and tick > 0:
        head.reboot()
    return reboots


@pytest.mark.slow
def test_four_heads_are_steered_through_a_whole_match_of_loss_and_reboots(monkeypatch: pytest.MonkeyPatch) -> None:
    recording, truth = simulate(Simulation(SEED, None, ball_hz=25, body_hz=25, limbs=()))
    play = Play(recording, truth)
    monkeypatch.setattr("camera.controller._wall_us", lambda: play.now_us)
    cameras = [_steered(play, *one, monkeypatch) for one in HEADS]
    ticks, reboots = len(play.times_us) * 2, 0
    for tick in range(ticks):
        play.now_us = tick * 20_000
        for number, camera in enumerate(cameras):
            reboots += _disturb(camera.head, tick, (number + 1) * REBOOT_S / 5)
            camera.tick(tick)
        for camera in cameras:
            camera.head.pause(TICK_S)
    assert reboots > 4 * 20
    for camera in cameras:
        camera.head.up = camera.head.down = True
        camera.controller._end()
        figures = camera.controller.figures()
        replay = f"seed {SEED}, {camera.name}: {figures}"
        assert not camera.head.moving, replay
        assert (figures["failure"], figures["stopped"], figures["record_errors"]) == ("", 1.0, 0.0), replay
        assert len(camera.rows) == ticks, replay
        assert sum(camera.offline) < 0.06 * ticks, f"{replay}: {sum(camera.offline) / ticks}"
        assert max(camera.offline) * TICK_S < OUTAGE_S + 10.0, f"{replay}: {max(camera.offline) * TICK_S} s"
        assert max(camera.sizes) < 1_000, f"{replay}: {camera.sizes}"
        assert float(figures["latency_p95_ms"]) <= 60.0, replay
        assert float(figures["quantisation_rms_deg"]) < 2.0, replay
    shares = [float(camera.controller.figures()["framed_share"]) for camera in cameras[:2]]
    assert min(shares) > 0.9, f"seed {SEED}: {shares}"


def _steered(play: Play, protocol: str, profile_name: str, role: str, monkeypatch: pytest.MonkeyPatch) -> Steered:
    profile, rows = load_profile(profile_name), list[Row]()
    head = VirtualHead(profile, protocol, loss=LOSS)
    rest = head.connection.rest
    monkeypatch.setattr("camera.controller._now_us", head.clock)
    monkeypatch.setattr("camera.controller.connect", lambda *args: head.connection)
    monkeypatch.setattr(head.connection, "rest", lambda within_us, clock: rest(within_us, head.clock, head.pause))
    controller = CameraController(
        play, Mount(), profile, Address("127.0.0.1", 1), protocol, record=rows.extend, role=ROLES[role]
    )
    return Steered(protocol, head, controller, rows)

"""Session and device over a network that loses, doubles and reorders, in simulated time."""

from __future__ import annotations

import heapq
import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from camera.head import new_head
from camera.profile import load_profile
from camera.protocols import visca_codec as codec
from camera.protocols.messages import Absolute, Action, Drive, Home, PositionInquiry, ZoomDirect
from camera.protocols.visca_udp import Session
from camera.simulated.body import Body
from camera.simulated.visca_udp_device import ViscaUdpDevice
from tests.camera.pose_goal import PoseGoal

X400 = load_profile()
STEP_US = 5_000


class Network:
    """Both directions between one session and one device; every fate is drawn from one seed."""

    def __init__(self, seed: int, loss: float, double: float, delay_us_max: int) -> None:
        self.random = random.Random(seed)
        self.loss, self.double, self.delay_us_max = loss, double, delay_us_max
        self._count = itertools.count()
        self._air: list[tuple[int, int, str, bytes]] = []

    def send(self, to: str, data: bytes, now_us: int) -> None:
        for _ in range(1 + (self.random.random() < self.double)):
            if self.random.random() >= self.loss:
                due_us = now_us + self.random.randrange(1_000, self.delay_us_max)
                heapq.heappush(self._air, (due_us, next(self._count), to, data))

    def arrivals(self, now_us: int) -> list[tuple[str, bytes]]:
        out = []
        while self._air and self._air[0][0] <= now_us:
            out.append(heapq.heappop(self._air)[2:])
        return out

    @property
    def empty(self) -> bool:
        return not self._air


class World:
    """A session and a device joined by a network."""

    def __init__(self, network: Network) -> None:
        self.network, self.now_us = network, 0
        self.body = Body(new_head(X400))
        self.session, self.device = Session(X400), ViscaUdpDevice(self.body)
        self.goal: PoseGoal | None = None

    def step(self) -> None:
        self.now_us += STEP_US
        for to, data in self.network.arrivals(self.now_us):
            if to == "device":
                self._back(self.device.receive(data, "controller", self.now_us))
            else:
                self.session.receive(data, self.now_us)
        self._back(self.device.poll(self.now_us))
        while (session_event := self.session.next_event()) is not None:
            if self.goal:
                self.goal.on_event(session_event)
        if self.goal:
            self.goal.tick(self.now_us)
        for data in self.session.to_send(self.now_us):
            self.network.send("device", data, self.now_us)

    def _back(self, out: list[tuple[object, bytes]]) -> None:
        for _, data in out:
            self.network.send("session", data, self.now_us)


def _random_action(rng: random.Random) -> Action:
    return rng.choice(
        [
            Drive(rng.randint(-24, 24), rng.randint(-23, 23)),
            Absolute(rng.randint(-8000, 8000), rng.randint(-1000, 4000), rng.randint(1, 24), rng.randint(1, 23)),
            ZoomDirect(rng.randint(0, 0x4000)),
            Home(),
        ]
    )


networks = st.builds(
    Network,
    seed=st.integers(0, 2**32),
    loss=st.floats(0.0, 0.45),
    double=st.floats(0.0, 0.5),
    delay_us_max=st.integers(2_000, 400_000),
)


@settings(max_examples=60, deadline=None)
@given(network=networks, target=st.tuples(st.integers(-8704, 8704), st.integers(-1024, 4608)))
def test_whatever_the_network_does_the_head_ends_at_the_commanded_pose(
    network: Network, target: tuple[int, int]
) -> None:
    world = World(network)
    for _ in range(400):  # two seconds of anything
        if network.random.random() < 0.1:
            world.session.submit(_random_action(network.random))
        world.step()
    world.goal = PoseGoal(world.session, Absolute(*target, 24, 23))
    settled = 0
    for _ in range(120_000_000 // STEP_US):
        world.step()
        settled = settled + 1 if world.goal.reached else 0
        # Longer than any datagram from before can be under way: nothing old may move it any more.
        if settled * STEP_US > 1_000_000:
            break
    pose = world.body.pose_at(world.now_us)
    arrived = (X400.pan.units(pose.pan_deg), X400.tilt.units(pose.tilt_deg))
    assert max(abs(a - b) for a, b in zip(arrived, target, strict=True)) <= 1


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    loss=st.floats(0.0, 0.3),
    double=st.floats(0.0, 0.6),
    delay_us_max=st.integers(100_000, 500_000),
)
def test_while_the_link_lives_the_last_command_is_also_the_last_to_be_executed(
    seed: int, loss: float, double: float, delay_us_max: int
) -> None:
    world = World(Network(seed, 0.0, 0.0, 2_000))
    while not world.session.ready:
        world.step()
    network = world.network
    network.loss, network.double, network.delay_us_max = loss, double, delay_us_max
    for _ in range(400):
        if network.random.random() < 0.2:
            world.session.submit(_random_action(network.random))
        world.step()
    world.session.submit(Absolute(1000, 500, 24, 23))
    for _ in range(60_000_000 // STEP_US):
        world.step()
        if world.session.idle and network.empty:
            break
    if world.session.resets > 1:
        return  # the link was lost: then it ends at a stop, which other tests look at
    pose = world.body.pose_at(world.now_us)
    assert (X400.pan.units(pose.pan_deg), X400.tilt.units(pose.tilt_deg)) == (1000, 500)


def test_a_head_that_somebody_else_moved_away_is_brought_back() -> None:
    world = World(Network(3, 0.0, 0.0, 2_000))
    world.goal = PoseGoal(world.session, Absolute(2000, 300, 24, 23))
    while not world.goal.reached:
        world.step()
    foreign = codec.pack(codec.COMMAND, 1, codec.encode(Absolute(-2000, 0, 24, 23), X400))
    world.device.receive(foreign, "somebody else", world.now_us)
    for _ in range(10_000_000 // STEP_US):
        world.step()
    assert world.goal.reached
    assert world.goal.orders >= 2
    assert X400.pan.units(world.body.pose_at(world.now_us).pan_deg) == 2000


@settings(max_examples=40, deadline=None)
@given(network=networks)
def test_a_session_is_idle_soon_after_the_network_has_healed(network: Network) -> None:
    world = World(network)
    for _ in range(800):
        if network.random.random() < 0.2:
            world.session.submit(_random_action(network.random))
            world.session.submit(PositionInquiry())
        world.step()
    network.loss, network.double, network.delay_us_max = 0.0, 0.0, 2_000
    for _ in range(60_000_000 // STEP_US):
        world.step()
        if world.session.idle and network.empty:
            return
    raise AssertionError("the session never came to rest")


def test_on_a_good_network_every_command_is_executed_exactly_once() -> None:
    world = World(Network(1, loss=0.0, double=0.9, delay_us_max=2_000))
    while not world.session.ready:
        world.step()
    for step in range(1, 21):
        world.session.submit(Drive(step, 0))
        for _ in range(20):
            world.step()
    assert world.body.executed == 20


def test_the_device_forgets_the_oldest_of_more_than_five_controllers_and_no_other() -> None:
    device = ViscaUdpDevice(Body(new_head(X400)))
    for peer in range(6):
        reply = device.receive(bytes.fromhex("02 00 00 01 00 00 00 01 01"), peer, 0)
        assert reply == [(peer, bytes.fromhex("02 01 00 01 00 00 00 01 01"))]
    assert list(device._peers) == [1, 2, 3, 4, 5]

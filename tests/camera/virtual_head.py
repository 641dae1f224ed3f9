"""A head connection joined to a simulated device in memory, in virtual time: no socket, no thread, no waiting."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence

from camera.head import Pose, new_head
from camera.head_connection import HeadConnection, PoseSource
from camera.profile import Profile
from camera.protocols.registry import Address, protocol
from camera.simulated.body import Body
from camera.simulated.server import DEVICES, Quirks, Wanted

STEP_US = 5_000
RESENT_US = 200_000  # least time after which TCP sends a lost segment again
PEER: Hashable = "controller"


class VirtualHead:
    """A device and the connection that steers it. It is the connection's link as well.

    Args:
        profile: as the controller knows it.
        name: of the protocol.
        actual: the profile of the device; None is the same.
        delay_us: time that bytes need, either way.
        loss: share of the datagrams that are lost; of a stream's pieces, that are sent again after ``RESENT_US``.
    """

    def __init__(
        self,
        profile: Profile,
        name: str = "visca",
        *,
        actual: Profile | None = None,
        delay_us: int = 5_000,
        loss: float = 0.0,
        quirks: Quirks | None = None,
        source: Callable[[VirtualHead], PoseSource] | None = None,
    ) -> None:
        self.now_us = 1_000_000
        odd = quirks or Quirks()
        body = new_head(actual or profile, accel_deg_s2=odd.accel_deg_s2)
        self.body = Body(body, self.now_us, round(odd.dead_ms * 1000))
        self._datagrams, make = DEVICES[name]
        self._make = lambda: make(self.body, Wanted("127.0.0.1:1", "", "", odd))
        self._device = self._make()
        self._delay_us, self._loss = delay_us, loss
        self._random = random.Random(1)
        self._air: list[tuple[int, bool, bytes]] = []  # arrival, to the device, bytes
        self._arrived: list[bytes] = []
        self._due_us = {True: 0, False: 0}  # of a stream, when its last piece arrives
        self.up = self.down = True  # the two directions of the network
        session = protocol(name).session(profile, Address("127.0.0.1", 1))
        made = source(self) if source else None
        self.connection = HeadConnection(profile, session, self, self.now_us, made)

    # -- the link

    def send(self, pieces: Sequence[bytes]) -> None:
        """Take bytes for the device."""
        if self.up:
            for data in pieces:
                self._carry(True, data)

    def receive(self) -> list[bytes]:
        """Return the bytes that have arrived."""
        arrived, self._arrived = self._arrived, []
        return arrived

    def close(self) -> None:
        """Begin a new connection: bytes under way are lost."""
        if not self._datagrams:
            self._air.clear()
            self._due_us = {True: 0, False: 0}
            self._device.disconnected(PEER)

    # -- time

    def clock(self) -> int:
        """Return the virtual time."""
        return self.now_us

    def pause(self, seconds: float) -> None:
        """Let the device and the network move on."""
        end_us = self.now_us + round(seconds * 1e6)
        while self.now_us < end_us:
            self.now_us = min(end_us, self.now_us + STEP_US)
            due = [item for item in self._air if item[0] <= self.now_us]
            self._air = [item for item in self._air if item[0] > self.now_us]
            for _, to_device, data in due:
                if to_device:
                    self._back(self._device.receive(data, PEER, self.now_us))
                else:
                    self._arrived.append(data)
            self._back(self._device.poll(self.now_us))

    def run(self, seconds: float) -> None:
        """Let the connection work for a time."""
        end_us = self.now_us + round(seconds * 1e6)
        while self.now_us < end_us:
            self.connection.listen(self.now_us)
            self.connection.send(self.now_us)
            self.pause(0.01)

    def reboot(self) -> None:
        """Stop the device and let it forget its controllers."""
        self.body.reboot()
        self._device = self._make()

    @property
    def moving(self) -> bool:
        """True while the device turns."""
        return not self.body.is_still("pan_tilt")

    @property
    def pose(self) -> Pose:
        """The device's exact pose."""
        return self.body.pose_at(self.now_us)

    def _back(self, out: Sequence[tuple[Hashable, bytes]]) -> None:
        if self.down:
            for _, data in out:
                self._carry(False, data)

    def _carry(self, to_device: bool, data: bytes) -> None:
        """Put bytes on their way. What a stream loses comes later, and what follows it no earlier."""
        due_us, is_lost = self.now_us + self._delay_us, self._random.random() < self._loss
        if self._datagrams and is_lost:
            return
        if not self._datagrams:
            self._due_us[to_device] = due_us = max(self._due_us[to_device], due_us + RESENT_US * is_lost)
        self._air.append((due_us, to_device, data))

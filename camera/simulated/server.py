"""A simulated head on the network, on loopback by default: datagrams or streams, whatever its protocol."""

from __future__ import annotations

import random
import selectors
import socket
import threading
import time
from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Literal, Protocol

import msgspec

from camera.head import Head, Pose, new_head
from camera.profile import Profile
from camera.protocols.registry import ProtocolError
from camera.simulated.body import Body
from camera.simulated.onvif_device import OnvifDevice
from camera.simulated.panasonic_device import PanasonicDevice
from camera.simulated.visca_tcp_device import ViscaTcpDevice
from camera.simulated.visca_udp_device import ViscaUdpDevice
from football.errors import UserError

POLL_S = 0.005
#: Limit of controllers that are connected to a stream at the same time.
PEERS_MAX = 16


class HeadServerError(UserError, OSError):
    """The server could not bind its port; the message has host, port and reason."""


class Quirks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Misbehaviour of a simulated head.

    Attributes:
        loss: share of datagrams that are lost, either way.
        delay_ms: greatest delay of an answer; each is delayed by a random part of it.
        split_bytes: pieces of a stream have at most this many bytes; 0 sends them whole.
        dead_ms: time from a command until the head begins to obey.
        accel_deg_s2: acceleration of pan and tilt.
        outage_every_s: time after which the network is lost for ``outage_s``, while the head moves on; 0 never.
        outage_s: length of an outage.
        drive_time_outs: for ONVIF, what the head does with the time-out of a drive.
        login: for AW, how the head asks for user and password.
        reboot_every_s: time after which the head stops, forgets its controllers and is silent for two seconds; 0 never.
        seed: of the random numbers.
    """

    loss: float = 0.0
    delay_ms: float = 0.0
    split_bytes: int = 0
    dead_ms: float = 0.0
    accel_deg_s2: float = 200.0
    outage_every_s: float = 0.0
    outage_s: float = 3.0
    drive_time_outs: Literal["honoured", "ignored", "refused"] = "honoured"
    login: Literal["basic", "digest"] = "basic"
    reboot_every_s: float = 0.0
    seed: int = 1


class Device(Protocol):
    """The device's side of a protocol around a body."""

    def receive(self, data: bytes, peer: Hashable, now_us: int) -> list[tuple[Hashable, bytes]]:
        """Take bytes of a peer; return (peer, bytes) to send. Empty bytes close a stream."""
        ...

    def poll(self, now_us: int) -> list[tuple[Hashable, bytes]]:
        """Advance the head; return what it says by itself."""
        ...

    def disconnected(self, peer: Hashable) -> None:
        """Forget a peer."""
        ...


class Wanted(msgspec.Struct, frozen=True):
    """Options of a device: ``host:port`` that it listens at, the login that it asks for, its misbehaviour."""

    address: str
    user: str
    password: str
    quirks: Quirks


#: Protocol -> whether it uses datagrams, and its device.
DEVICES: dict[str, tuple[bool, Callable[[Body, Wanted], Device]]] = {
    "visca": (True, lambda body, _: ViscaUdpDevice(body)),
    "visca-tcp": (False, lambda body, _: ViscaTcpDevice(body)),
    "onvif": (
        False,
        lambda body, to: OnvifDevice(body, to.address, to.user, to.password, time_outs=to.quirks.drive_time_outs),
    ),
    "aw": (False, lambda body, to: PanasonicDevice(body, to.user, to.password, to.quirks.login)),
}
REBOOT_US = 2_000_000


class HeadServer:
    """Runs a simulated head behind a socket in a thread of its own.

    Args:
        profile: of the simulated head.
        head: its initial state; default pan 0, tilt 0, full wide, at rest.
        host, port: address to listen at; port 0 takes a free one (see ``address``).
        protocol: a name of ``DEVICES``.
        quirks: its misbehaviour.
        user, password: that it asks for, where the protocol can.

    Raises:
        HeadServerError: the port is taken or the host unknown.
        ProtocolError: no such protocol.
    """

    def __init__(
        self,
        profile: Profile,
        head: Head | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        protocol: str = "visca",
        quirks: Quirks | None = None,
        user: str = "",
        password: str = "",
    ) -> None:
        if protocol not in DEVICES:
            raise ProtocolError(f"no protocol {protocol}; there are {', '.join(DEVICES)}")
        self._datagrams, make = DEVICES[protocol]
        self._quirks = quirks or Quirks()
        self._random = random.Random(self._quirks.seed)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if self._datagrams else socket.SOCK_STREAM)
        try:
            if not self._datagrams:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            if not self._datagrams:
                self._socket.listen(PEERS_MAX)
        except OSError as error:
            self._socket.close()
            raise HeadServerError(f"the simulated head cannot listen on {host}:{port}: {error}") from error
        self._socket.setblocking(False)
        self.address: tuple[str, int] = self._socket.getsockname()
        moving = head or new_head(profile, accel_deg_s2=self._quirks.accel_deg_s2)
        self._body = Body(moving, _now_us(), round(self._quirks.dead_ms * 1000))
        wanted = Wanted(f"{self.address[0]}:{self.address[1]}", user, password, self._quirks)
        self._make = lambda: make(self._body, wanted)
        self._device = self._make()
        self._down_until_us = self._cut_until_us = 0
        self._outage_due_us = _now_us() + int(self._quirks.outage_every_s * 1e6) if self._quirks.outage_every_s else 0
        self._reboot_due_us = _now_us() + int(self._quirks.reboot_every_s * 1e6) if self._quirks.reboot_every_s else 0
        self._late: list[tuple[int, Hashable, bytes]] = []
        self._streams: dict[Hashable, socket.socket] = {}
        self._torn: set[Hashable] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="simulated head", daemon=True)

    def start(self) -> HeadServer:
        """Start answering; return itself."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop answering and free the port. Safe to call twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        self._selector.close()
        self._socket.close()

    def reboot(self) -> None:
        """Stop the head, forget all controllers, and be silent for ``REBOOT_US``."""
        with self._lock:
            self._reboot(_now_us())

    def cut(self, seconds: float) -> None:
        """Lose the network: what arrives in this time is lost, and nothing is sent. The head goes on moving."""
        with self._lock:
            self._cut(_now_us(), int(seconds * 1e6))

    def pose(self) -> Pose:
        """Return the exact pose of the head now."""
        with self._lock:
            return self._body.pose_at(_now_us())

    @property
    def moving(self) -> bool:
        """True while pan or tilt moves."""
        with self._lock:
            head = self._body.head_at(_now_us())
            return not (head.pan.still and head.tilt.still)

    @property
    def tally(self) -> bool:
        """True while its tally lamp is lit."""
        with self._lock:
            return self._body.tally

    @property
    def executed(self) -> int:
        """Number of commands executed so far that move the head."""
        with self._lock:
            return self._body.executed

    def __enter__(self) -> HeadServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- the thread

    def _run(self) -> None:
        while not self._stopping.is_set():
            ready = self._selector.select(POLL_S)
            now_us = _now_us()
            with self._lock:
                self._fail_if_due(now_us)
                for key, _ in ready:
                    self._read(key.fileobj, key.data, now_us)  # type: ignore[arg-type]
                self._queue(self._device.poll(now_us), now_us)
            self._send_due(now_us)

    def _cut(self, now_us: int, length_us: int) -> None:
        self._cut_until_us = now_us + length_us
        self._late.clear()

    def _fail_if_due(self, now_us: int) -> None:
        if self._outage_due_us and now_us >= self._outage_due_us:
            self._cut(now_us, int(self._quirks.outage_s * 1e6))
            self._outage_due_us = now_us + int(self._quirks.outage_every_s * 1e6)
        if self._reboot_due_us and now_us >= self._reboot_due_us:
            self._reboot(now_us)

    def _reboot(self, now_us: int) -> None:
        self._body.advance(now_us)
        self._body.reboot()
        self._device = self._make()
        for peer in list(self._streams):
            self._hang_up(peer)
        self._late.clear()
        self._down_until_us = now_us + REBOOT_US
        every_us = int(self._quirks.reboot_every_s * 1e6)
        self._reboot_due_us = now_us + every_us if every_us else 0

    def _is_down(self, now_us: int) -> bool:
        return now_us < self._down_until_us

    def _is_cut(self, now_us: int) -> bool:
        return now_us < self._cut_until_us

    def _read(self, ready: socket.socket, stream_peer: Hashable, now_us: int) -> None:
        try:
            if self._datagrams:
                data, peer = ready.recvfrom(2048)
                deaf = self._is_down(now_us) or self._is_cut(now_us)
                if not deaf and self._random.random() >= self._quirks.loss:
                    self._queue(self._device.receive(data, peer, now_us), now_us)
            elif ready is self._socket:
                self._accept(now_us)
            elif stream_peer in self._streams:  # a reboot may have closed it just now
                self._read_stream(ready, stream_peer, now_us)
        except (ConnectionError, BlockingIOError):  # the peer of an earlier answer has closed its port
            return

    def _accept(self, now_us: int) -> None:
        stream, peer = self._socket.accept()
        if self._is_down(now_us) or len(self._streams) >= PEERS_MAX:
            stream.close()
            return
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._streams[peer] = stream
        self._selector.register(stream, selectors.EVENT_READ, peer)

    def _read_stream(self, stream: socket.socket, peer: Hashable, now_us: int) -> None:
        try:
            data = stream.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data and self._is_cut(now_us):
            self._torn.add(peer)  # bytes are missing: this stream is of no use any more
        elif data and peer not in self._torn:
            self._queue(self._device.receive(data, peer, now_us), now_us)
        else:
            self._hang_up(peer)

    def _queue(self, out: list[tuple[Hashable, bytes]], now_us: int) -> None:
        for peer, data in out:
            if self._is_cut(now_us):
                continue
            if self._datagrams and self._random.random() < self._quirks.loss:
                continue
            delay_us = int(self._random.random() * self._quirks.delay_ms * 1000)
            earlier_us = max((at for at, to, _ in self._late if to == peer), default=0)
            at_us = now_us + delay_us if self._datagrams else max(now_us + delay_us, earlier_us)
            for piece in self._pieces(data):
                self._late.append((at_us, peer, piece))

    def _pieces(self, data: bytes) -> list[bytes]:
        size = self._quirks.split_bytes
        if self._datagrams or not size or not data:
            return [data]
        return [data[begin : begin + size] for begin in range(0, len(data), size)]

    def _send_due(self, now_us: int) -> None:
        due = [item for item in self._late if item[0] <= now_us]
        self._late = [item for item in self._late if item[0] > now_us]
        for _, peer, data in due:
            try:
                if self._datagrams:
                    self._socket.sendto(data, peer)  # type: ignore[arg-type]
                elif not data:
                    self._hang_up(peer)
                elif peer in self._streams:
                    self._streams[peer].sendall(data)
            except OSError:
                continue  # the peer is unreachable, or does not read: like a lost datagram

    def _hang_up(self, peer: Hashable) -> None:
        stream = self._streams.pop(peer, None)
        self._torn.discard(peer)
        if stream is not None:
            self._selector.unregister(stream)
            stream.close()
            self._device.disconnected(peer)


def _now_us() -> int:
    return time.monotonic_ns() // 1000

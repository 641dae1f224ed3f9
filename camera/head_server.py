"""A simulated head on the network: UDP, VISCA over IP, on loopback by default."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType

from camera.device import Device
from camera.head import Head, Pose, new_head
from camera.profile import Profile
from football.errors import UserError

POLL_S = 0.005


class HeadServerError(UserError, OSError):
    """The server could not bind its port; the message has host, port and reason."""


class HeadServer:
    """Runs a ``Device`` behind a UDP socket in a thread of its own.

    Args:
        profile: of the simulated head.
        head: its initial state; default pan 0, tilt 0, full wide, at rest.
        host, port: address to listen at; port 0 takes a free one (see ``address``).

    Raises:
        HeadServerError: the port is taken or the host unknown.
    """

    def __init__(self, profile: Profile, head: Head | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise HeadServerError(f"the simulated head cannot listen on {host}:{port}: {error}") from error
        self._socket.settimeout(POLL_S)
        self.address: tuple[str, int] = self._socket.getsockname()
        self._device = Device(head or new_head(profile), _now_us())
        self._lock = threading.Lock()
        self._stopping = threading.Event()
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
        self._socket.close()

    def pose(self) -> Pose:
        """Return the exact pose of the head now."""
        with self._lock:
            return self._device.pose_at(_now_us())

    @property
    def moving(self) -> bool:
        """True while pan or tilt moves."""
        with self._lock:
            head = self._device.head_at(_now_us())
            return not (head.pan.still and head.tilt.still)

    @property
    def executed(self) -> int:
        """Number of commands executed so far that move the head."""
        with self._lock:
            return self._device.executed

    def __enter__(self) -> HeadServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                data, peer = self._socket.recvfrom(2048)
            except TimeoutError:
                data, peer = b"", None
            except ConnectionError:  # an ICMP error for an earlier answer: that peer has closed its port
                continue
            with self._lock:
                now_us = _now_us()
                out = self._device.receive(data, peer, now_us) if peer else self._device.poll(now_us)
            for to, answer in out:
                try:
                    self._socket.sendto(answer, to)  # type: ignore[call-overload]
                except OSError:
                    continue  # the peer is unreachable: like a lost datagram


def _now_us() -> int:
    return time.monotonic_ns() // 1000

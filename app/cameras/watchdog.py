"""A process of its own that stops the heads when the process that steers them dies.

A head that is driving goes on until a stop arrives, and a process that is killed sends none. So the run starts this
process and holds the other end of its standard input. The first line there describes the heads. When the input ends
without the line ``over``, the run has died: this process connects to each head and sends a stop until it is
acknowledged. It takes orders from nobody else, and it knows the heads' logins only through that first line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from app.base.program import IMPORT_ROOT
from camera.installation import Camera
from camera.profile import Profile
from camera.protocols.messages import Connected, Drive, Outcome, Signal
from camera.protocols.registry import Address, protocol
from football.untrusted import decode_json

#: Time in which a head must acknowledge the stop.
STOP_S = 5.0
_OVER = b"over\n"


class WatchedHead(msgspec.Struct, frozen=True):
    """A head to stop."""

    protocol: str
    profile: Profile
    address: Address


@contextmanager
def watched(cameras: Sequence[Camera]) -> Iterator[None]:
    """Let a process of its own stop the heads if this one dies while the context lasts.

    Simulated heads live in this process and need nobody; without others no process is started.
    """
    heads = [WatchedHead(one.setup.protocol, one.profile, one.address) for one in cameras if one.address is not None]
    if not heads:
        yield
        return
    path = os.pathsep.join(filter(None, [str(IMPORT_ROOT), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        start_new_session=True,  # a signal to the group must not end it with the run
    ) as process:
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(heads) + b"\n")
        process.stdin.flush()
        try:
            yield
        finally:
            try:
                process.stdin.write(_OVER)
                process.stdin.close()
            except BrokenPipeError:  # it has died before: nobody needs it any more
                pass


def stop_heads(heads: Sequence[WatchedHead], within_s: float = STOP_S) -> list[bool]:
    """Send a stop to each head until it is acknowledged; return which have acknowledged it in time."""
    now_us = _now_us()
    rows = [protocol(head.protocol) for head in heads]
    links = [row.link((head.address.host, head.address.port)) for row, head in zip(rows, heads, strict=True)]
    sessions = [row.session(head.profile, head.address) for row, head in zip(rows, heads, strict=True)]
    stopped = [False] * len(heads)
    while not all(stopped) and _now_us() - now_us < within_s * 1e6:
        for index, (link, session) in enumerate(zip(links, sessions, strict=True)):
            for data in link.receive():
                session.receive(data, _now_us())
            while (event := session.next_event()) is not None:
                if isinstance(event, Connected):
                    session.submit(Drive(0, 0))
                elif isinstance(event, Outcome) and event.signal in (Signal.ACKED, Signal.COMPLETED):
                    stopped[index] = True
            pieces = session.to_send(_now_us())
            if session.wants_new_connection:
                link.close()
            link.send(pieces)
        time.sleep(0.002)
    for link in links:
        link.close()
    return stopped


def main() -> None:
    """Wait for the end of standard input, and stop the heads if it came without ``over``."""
    source = sys.stdin.buffer
    heads = decode_json(source.readline(), list[WatchedHead])
    if source.readline() != _OVER:
        stop_heads(heads)


def _now_us() -> int:
    return time.monotonic_ns() // 1000


if __name__ == "__main__":
    main()

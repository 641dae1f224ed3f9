"""A thousand hostile connections to the page: the process keeps its descriptors, and viewers keep the page."""

from __future__ import annotations

import http.client
import time

import pytest

from tests.hostile import PAGE, Victim, connections

SCRIPT = b"/_dash-component-suites/plotly/package_data/plotly.min.js"
KINDS = {
    "idle": b"",
    "slow": b"GET / HTTP/1.1\r\nHost: local",
    "slow body": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n{",
    "never reading": b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % SCRIPT,
    "streams": b"GET /live/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
}


def answered(port: int, path: str, within_s: float) -> bool:
    """True if a viewer gets an answer; it tries again where it was refused, as browsers and people do."""
    until_s = time.monotonic() + within_s
    while time.monotonic() < until_s:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return True
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k == "never reading" else pytest.mark.slow) for k in KINDS]
)
def test_a_thousand_hostile_connections_take_no_descriptor_that_the_match_needs(kind: str):
    with Victim(PAGE) as victim:
        quiet, quiet_mb = victim.open_files(), victim.memory_mb()
        with connections(victim.address, KINDS[kind]):
            most = max(victim.open_files() for _ in range(10) if time.sleep(0.02) is None)
            assert answered(int(victim.address), "/pages/shared/shell.js", 8)
            assert most - quiet < 250
            assert victim.memory_mb() - quiet_mb < 60
        assert victim.failures() == 0

"""Routes of operation, the ports at which a run serves them, and who may read them."""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from rich.console import Console

from app.api.operations import operations_routes
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.operations.metrics import registry_of
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from dashboard.server import PortInUseError, WebServer
from football.match_sheet import MatchSheet
from tests.app.operations.test_metrics_and_health import HEALTH, Case


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


@pytest.fixture
def server(case: Case) -> Iterator[WebServer]:
    with serving(case) as running:
        yield running


def serving(case: Case, **options) -> WebServer:
    return WebServer(operations_routes(registry_of([case.monitor], case.folder), [case.monitor]), **options)


def ask(url: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def servers_of(folder: Path, monitoring: Monitoring, **settings) -> tuple[RunServers, io.StringIO]:
    text = io.StringIO()
    made = make_settings({"store": folder / "store", "port": 0, **settings})
    return RunServers(made, monitoring, Console(file=text, width=200), CameraGroup()), text


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def first_of_two_free_ports() -> int:
    """A port that is free, as is the next one: below those that systems give to any other program at any moment."""
    for first in range(20_000 + os.getpid() % 4_000, 32_000, 2):
        with socket.socket() as one, socket.socket() as other:
            try:
                one.bind(("127.0.0.1", first))
                other.bind(("127.0.0.1", first + 1))
            except OSError:
                continue
        return first
    raise AssertionError("no two free ports")


def test_metrics_health_and_readiness_are_served(case: Case, server: WebServer):
    status, body = ask(server.url, "/health")
    assert (status, json.loads(body)["status"]) == (503, "troubled")
    assert ask(server.url, "/ready")[0] == 503
    case.say(health=HEALTH)
    assert ask(server.url, "/health")[0] == ask(server.url, "/ready")[0] == 200
    status, body = ask(server.url, "/metrics")
    assert status == 200
    assert 'touchline_positions_total{match="m"} 1000.0' in body
    assert "process_resident_memory_bytes" in body
    status, body = ask(server.url, "/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert body.endswith("# EOF\n")
    assert ask(server.url, "/etc/passwd")[0] == 404


def test_a_foreign_name_reads_nothing_without_a_token(server: WebServer):
    assert ask(server.url, "/metrics", Host="evil.example")[0] == 403
    assert ask(server.url, "/metrics", Host="[::1")[0] == 400
    assert ask(server.url, "/health", Host="localhost:1")[0] == 503


def test_beyond_loopback_every_request_brings_the_token(case: Case):
    with serving(case, host="0.0.0.0", token="a-long-token") as server:
        case.say()
        for wrong in ({}, {"Authorization": "Bearer a-long-toke"}, {"Authorization": "Bearer"}):
            assert ask(server.url, "/metrics", **wrong)[0] == 401
            assert ask(server.url, "/health", **wrong)[0] == 401
        assert ask(server.url, "/metrics?token=a-long-token")[0] == 401, "addresses are logged"
        assert ask(server.url, "/health", Authorization="Bearer a-long-token", Host="evil.example")[0] == 200


def test_a_chosen_port_that_is_taken_is_refused_and_the_default_one_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with socket.create_server(("127.0.0.1", 0)) as taken, Monitoring(tmp_path) as monitoring:
        port = taken.getsockname()[1]
        chosen, _ = servers_of(tmp_path, monitoring, metrics_port=port)
        with pytest.raises(PortInUseError, match=rf"port {port} .*--metrics-port"), chosen:
            pass
        monkeypatch.setattr("app.run.servers.METRICS_PORT", port)
        default, text = servers_of(tmp_path, monitoring)
        with default:
            url = text.getvalue().split()[1]
            assert ask(url, "/health")[0] == 200
            assert urlsplit(url).port != port


def test_matches_are_added_while_metrics_are_served(tmp_path: Path):
    before = set(threading.enumerate())
    with Monitoring(tmp_path) as monitoring:
        servers, text = servers_of(tmp_path, monitoring, metrics_port=free_port())
        with servers:
            url = text.getvalue().split()[1]
            for count, name in enumerate(("one", "two"), 1):
                monitoring.add(MatchFeed(MatchSheet(match_id=name)), tmp_path / "states", paced=True, link=None)
                assert ask(url, "/metrics")[1].count("touchline_epoch{") == count
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name in ("health log", "web server")]


def test_each_match_has_a_page_at_its_port_with_metrics_health_and_links_to_the_others(tmp_path: Path):
    with Monitoring(tmp_path) as monitoring:
        servers, text = servers_of(tmp_path, monitoring, metrics_port=0)
        with servers:
            pages = [servers.open_page(MatchFeed(MatchSheet(match_id=name))) for name in ("one", "two")]
            assert text.getvalue() == "", "metrics have no port of their own"
            for page in pages:
                assert ask(page, "/")[0] == ask(page, "/pages/shared/shell.js")[0] == ask(page, "/metrics")[0] == 200
                layout = json.dumps(json.loads(ask(page, "/_dash-layout")[1]))
                assert all(f'"href": "{other}"' in layout for other in pages)


def test_pages_of_a_run_take_ports_one_above_the_other(tmp_path: Path):
    with Monitoring(tmp_path) as monitoring:
        first = first_of_two_free_ports()
        servers, _ = servers_of(tmp_path, monitoring, metrics_port=0, port=first)
        with servers:
            ports = [urlsplit(servers.open_page(MatchFeed(MatchSheet(match_id=n)))).port for n in ("one", "two")]
    assert ports == [first, first + 1]

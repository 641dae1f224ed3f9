"""``touchline nodes advise``: what it measures of a running match, what it moves, and what it takes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from app.cli import nodes as cli
from app.nodes.control import NodesControlError, measured_live
from app.nodes.orders import FOLDER, read_orders, write_status
from app.nodes.playback import hierarchy_of
from app.nodes.status import EdgeStatus, LinkStatus, NodesStatus, NodeStatus
from football.match_sheet import MatchSheet
from middleware.metrics import EngineHealth
from replay.match_store import MatchStore

SHEET = MatchSheet()
NAMES = [detector.spec.name for detector in hierarchy_of(SHEET).detectors]
US = 1_000_000


class Match:
    """A match over two nodes, as its figures show it: two detectors that talk with one another, and carry orders out.

    Attributes:
        turns: whether the second detector sends much to a third one on node 1 once it is on node 0.
    """

    def __init__(self, store: Path) -> None:
        self.store, self.wall_us = store, 0
        self.where = {name: int(at > 60) for at, name in enumerate(NAMES)} | {"@gate": 0, "@sink": 0}
        self.where |= dict.fromkeys(NAMES[5:7], 1)
        self.updates = {("@gate", NAMES[4]): 0, (NAMES[4], NAMES[5]): 0, (NAMES[5], NAMES[6]): 0}
        self.turns = False

    def tick(self) -> None:
        """A tenth of a second passes."""
        self.wall_us += 100_000
        self.updates["@gate", NAMES[4]] += 20
        self.updates[NAMES[4], NAMES[5]] += 10
        if self.turns and self.where[NAMES[5]] == 0:
            self.updates[NAMES[5], NAMES[6]] += 50
        lines = read_orders(self.store / FOLDER)
        for line in lines:
            order = msgspec.json.decode(line)
            self.where[order["part"]] = order["node"]
        nodes = tuple(self._node(number) for number in (0, 1))
        write_status(
            self.store / FOLDER,
            NodesStatus(self.wall_us, self.wall_us, 2, (), tuple(NAMES), len(lines), (), nodes),
        )

    def _node(self, number: int) -> NodeStatus:
        parts = tuple(name for name, node in self.where.items() if node == number)
        edges = tuple(EdgeStatus(*pair, n) for pair, n in self.updates.items() if pair[0] in parts)
        steps = {name: self.wall_us // US for name in parts if not name.startswith("@")}
        link = LinkStatus(1 - number, 0, 0, 0, 20_000, 0, 0)
        return NodeStatus(number, 0, 0, parts, steps, (link,), edges, HEALTH)


HEALTH = EngineHealth(0, 0, {}, {}, {}, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, {}, {})


@contextmanager
def running(store: Path) -> Iterator[Match]:
    MatchStore.create(store, SHEET, {})
    match, stop = Match(store), threading.Event()
    match.tick()

    def run() -> None:
        while not stop.wait(0.005):
            match.tick()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield match
    finally:
        stop.set()
        thread.join(60)


def test_rates_links_and_places_are_measured(tmp_path: Path):
    with running(tmp_path / "store"):
        found = measured_live(tmp_path / "store", 1.0)
    assert found.events_s[NAMES[4], NAMES[5]] == pytest.approx(100.0)
    assert found.where[NAMES[5]] == 1
    assert found.latency_ms == [[0.0, 20.0], [20.0, 0.0]]
    with pytest.raises(NodesControlError, match="does not run"):
        measured_live(tmp_path / "store", 1.0)


def test_a_detector_is_moved_to_the_one_it_talks_with_when_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    store = tmp_path / "store"
    with running(store) as match:
        (advice,) = cli.advise_live(store, moves=1, seconds=1.0)
        assert advice.moves == ((NAMES[5], 0),)
        assert advice.crossing_s[1] == 0.0
        assert match.where[NAMES[5]] == 1
        cli.advise_live(store, moves=1, seconds=1.0, carries_out=True)
        assert match.where[NAMES[5]] == 0
    assert f"advice: {NAMES[5]} to node 0" in capsys.readouterr().out


def test_moves_that_were_no_gain_are_taken_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    store = tmp_path / "store"
    with running(store) as match:
        match.turns = True
        cli.advise_live(store, moves=1, seconds=1.0, carries_out=True)
        assert match.where[NAMES[5]] == 1
    assert "the last moves were no gain" in capsys.readouterr().out

"""A match that is played while its capture is still being made, and one whose capture comes from elsewhere."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NamedTuple

import pytest

from app.hub.server import Hub
from app.pipeline.folder import CAPTURE
from app.pipeline.framing import unpack
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.run.live import run_live
from app.settings.model import SettingsError
from app.settings.resolve import make_settings
from app.sources.production import write_simulation
from app.spark.source import WINDOWS, CaptureReader
from football.match_sheet import MatchSheet
from football.packets import Block
from replay.capture import Capture, CaptureWriter
from replay.event_list import consolidated_events
from simulator.radio.channels import CHANNELS
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation
from tests.app.host_run import BLOCKS, PERIOD_US, PIPELINE, FileCommitter, packet_of, write_capture
from tests.app.spark.test_stage import reader, rows_between

RATE = "50/10"


def grow(path: Path, pause: threading.Event) -> threading.Thread:
    """Writes the capture of ``write_capture`` in two parts; the second waits for ``pause``."""
    names = ("ball", "home_1", "away_1")
    blocks = [Block(i * PERIOD_US, tuple(packet_of(name, i) for name in names)) for i in range(BLOCKS)]

    def write() -> None:
        with CaptureWriter(path, MatchSheet(match_id="fake/1")) as writer:
            writer.extend(blocks[: BLOCKS // 2])
            pause.wait(20)
            writer.extend(blocks[BLOCKS // 2 :])

    thread = threading.Thread(target=write)
    thread.start()
    while not (path / "head.json").exists():
        threading.Event().wait(0.01)
    return thread


def in_process(capture: Capture, folder: Path) -> list[dict]:
    committer = FileCommitter(folder / "commits")
    config = InProcessConfig(PIPELINE, None, folder / "states", 0.0, 4_000_000, capture.begin_us)
    with Hub([capture.sheet]) as hub:
        InProcessHost(capture, config, hub, committer).run(threading.Event())
        assert hub.feed("fake/1").ended()
    return committer.rows()


def test_in_process_a_growing_capture_gives_what_the_whole_one_gives(tmp_path: Path):
    expected = in_process(write_capture(tmp_path / "whole"), tmp_path / "a")
    pause = threading.Event()
    writing = grow(tmp_path / "grows", pause)
    threading.Timer(0.3, pause.set).start()
    assert in_process(Capture.open(tmp_path / "grows"), tmp_path / "b") == expected
    writing.join()


class Elsewhere(NamedTuple):
    """A capture's end, and the path of another one."""

    capture: Capture
    path: Path

    @property
    def end_us(self) -> int:
        return self.capture.end_us


def test_the_source_offers_windows_that_are_not_there_yet_and_gives_the_same_rows(tmp_path: Path):
    def rows(source: CaptureReader, start_us: int, end_us: int) -> tuple[list[tuple[int, bytes]], bool]:
        """The blocks, and whether the closing row says that the match ends here."""
        told = [row for batch in rows_between(source, start_us, end_us) for row in batch.to_pylist()]
        blocks = [(arrival, payload) for row in told for arrival, _, payload in unpack(row["frames"])]
        return blocks, any(row["last"] for row in told if row["closing"])

    capture = write_capture(tmp_path / "whole")
    pause = threading.Event()
    writing = grow(tmp_path / "grows", pause)
    whole = reader(capture, tmp_path, stop_us=str(2**62))
    growing = reader(Elsewhere(capture, tmp_path / "grows"), tmp_path, stop_us=str(2**62))
    ahead_us = growing.latestOffset({"arrival_us": 12_000_000}, growing.getDefaultReadLimit())["arrival_us"]
    assert ahead_us == 12_000_000 + WINDOWS * 4_000_000
    assert rows(growing, 0, 4_000_000) == rows(whole, 0, 4_000_000)
    threading.Timer(0.3, pause.set).start()
    found, expected = (rows(source, 4_000_000, 20_000_000) for source in (growing, whole))
    assert found == expected
    assert found[1]
    assert len(found[0]) == BLOCKS - 400
    writing.join()
    assert growing.latestOffset({"arrival_us": 20_000_000}, growing.getDefaultReadLimit()) == {"arrival_us": 20_000_000}


def live(store: Path, **given: object) -> dict:
    # Nothing that follows the load: then when an event was detected is the same each time, too.
    options = {"engine": "inprocess", "speed": "max", "store": store, "dashboard": False, "camera": False, "alpha": 0,
               "retraction": "on-demand"}  # fmt: skip
    return run_live(make_settings({**options, **given}), as_json=True)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of twelve simulated seconds."""
    folder = tmp_path_factory.mktemp("live") / "store"
    summary = live(folder, source="sim", seed=6, duration_s=12.0, rate=RATE)
    assert summary["ended"]
    assert summary["stream_s"] == pytest.approx(12.0, abs=0.2)
    return folder


def test_a_simulated_match_is_played_to_its_end_and_not_twice(simulated: Path):
    capture = Capture.open(simulated / CAPTURE)
    assert capture.is_finished
    assert capture.channel == "rtls"
    assert live(simulated)["stream_s"] == 0.0


def test_a_capture_on_disk_is_a_source(simulated: Path, tmp_path: Path):
    settings = Simulation(seed=6, duration_s=12.0, **rates_named(RATE))
    write_simulation(MeasuredMatch(settings), tmp_path / "made" / "capture", CHANNELS["rtls"], 6)
    summary = live(tmp_path / "store", source=str(tmp_path / "made"))
    assert summary["ended"]
    assert (tmp_path / "store" / CAPTURE).is_symlink()
    assert consolidated_events(tmp_path / "store").equals(consolidated_events(simulated))
    assert live(tmp_path / "store")["stream_s"] == 0.0


def test_what_a_source_leaves_no_choice_of_is_refused(simulated: Path):
    capture = str(simulated / CAPTURE)
    assert make_settings({"source": capture}).channel == "rtls"
    for given, said in (
        ({"source": capture, "channel": "wifi"}, "--channel wifi: the capture was recorded through channel rtls"),
        ({"source": capture, "duration_s": 3.0}, "without --rate and --duration"),
        ({"source": capture, "rate": "full"}, "without --rate and --duration"),
        ({"source": "sim", "endless": True, "duration_s": 3.0}, "--endless is for sim, and without --duration"),
        ({"source": "match.parquet", "endless": True}, "--endless is for sim"),
        ({"source": "sim", "rate": "quick"}, "--rate quick: rate 'quick' is neither of live, full, 50k"),
    ):
        with pytest.raises(SettingsError, match=said):
            make_settings(given)


def test_a_tracking_file_with_a_rate_comes_by_radio():
    assert make_settings({"source": "match.parquet", "rate": "full"}).channel == "rtls"
    assert make_settings({"source": "match.parquet"}).channel == "none"

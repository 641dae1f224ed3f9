"""A match that is played while its capture is still being made, and one whose capture comes from elsewhere."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import msgspec
import pytest

from app.base.pace import NEVER_US
from app.hub.server import Hub
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.run.live import run_live
from app.settings.model import SettingsError
from app.settings.resolve import make_settings
from app.sources.captured import CAPTURE, CaptureSource
from app.sources.interface import OpenBatch, SourceRow
from app.sources.production import write_simulation
from football.match_sheet import MatchSheet
from football.packets import Block
from replay.capture import END, Capture, CaptureError, CaptureWriter
from replay.event_list import consolidated_events
from simulator.radio.channels import CHANNELS
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation
from tests.app.host_run import BLOCKS, PERIOD_US, PIPELINE, FileCommitter, captured, packet_of, write_capture

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
    config = InProcessConfig(PIPELINE, None, folder / "states", 0.0, 4_000_000)
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


def test_a_reader_waits_for_what_is_not_there_yet_and_gives_the_same_blocks(tmp_path: Path):
    def read(path: Path, start_us: int) -> list[SourceRow]:
        """Windows of four seconds, to the end."""
        batch = OpenBatch(4_000_000, 20, NEVER_US, tmp_path.joinpath, lambda: False, lambda match: True)
        reader = CaptureSource().reader(batch)
        entry = captured(Capture.open(path), "m", 0.0)
        reader.add(msgspec.structs.replace(entry, begin=start_us), 1.0)
        portions: list[SourceRow] = []
        while reader.is_open:
            portions += reader.read(50_000)
        return portions

    def blocks(portions: list[SourceRow]) -> list[tuple[int, bytes]]:
        return [(arrival_us, payload) for portion in portions for arrival_us, _, payload in portion.blocks]

    capture = write_capture(tmp_path / "whole")
    pause = threading.Event()
    writing = grow(tmp_path / "grows", pause)
    threading.Timer(0.3, pause.set).start()
    found, expected = read(tmp_path / "grows", 4_000_000), read(capture.path, 4_000_000)
    assert blocks(found) == blocks(expected)
    assert len(blocks(found)) == BLOCKS - 400
    assert [(one.end, one.last) for one in found if one.closing] == [
        (one.end, one.last) for one in expected if one.closing
    ]
    assert found[-1].last
    writing.join()


def live(store: Path, **given: object) -> dict:
    # Nothing that follows the load: then when an event was detected is the same each time, too.
    options = {"engine": "inprocess", "speed": "max", "store": store, "dashboard": False, "camera": False, "alpha": 0,
               "retraction": "on-demand"}  # fmt: skip
    return run_live(make_settings({**options, **given}), as_json=True)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of eight simulated seconds."""
    folder = tmp_path_factory.mktemp("live") / "store"
    summary = live(folder, source="sim", seed=6, duration_s=8.0, rate=RATE)
    assert summary["ended"]
    assert summary["stream_s"] == pytest.approx(8.0, abs=0.2)
    return folder


def test_a_simulated_match_is_played_to_its_end_and_not_twice(simulated: Path):
    capture = Capture.open(simulated / CAPTURE)
    assert capture.is_finished
    assert capture.channel == "rtls"
    assert live(simulated)["stream_s"] == 0.0


def test_a_simulation_is_not_resumed_in_a_folder_that_the_store_only_links_to(simulated: Path, tmp_path: Path):
    capture = shutil.copytree(simulated / CAPTURE, tmp_path / "elsewhere")
    (capture / END).unlink()
    before = sorted((path.name, path.stat().st_mtime_ns) for path in capture.iterdir())
    store = shutil.copytree(simulated, tmp_path / "store", ignore=lambda *_: [CAPTURE])
    (store / CAPTURE).symlink_to(capture)
    with pytest.raises(CaptureError, match="is a link"):
        live(store)
    assert sorted((path.name, path.stat().st_mtime_ns) for path in capture.iterdir()) == before


def test_a_capture_on_disk_is_a_source(simulated: Path, tmp_path: Path):
    settings = Simulation(seed=6, duration_s=8.0, **rates_named(RATE))
    write_simulation(MeasuredMatch(settings), tmp_path / "made" / "capture", CHANNELS["rtls"], 6)
    summary = live(tmp_path / "store", source=str(tmp_path / "made"))
    assert summary["ended"]
    assert (tmp_path / "store" / CAPTURE).is_symlink()
    assert consolidated_events(tmp_path / "store").equals(consolidated_events(simulated))
    assert live(tmp_path / "store")["stream_s"] == 0.0


def test_what_a_source_leaves_no_choice_of_is_refused(simulated: Path):
    capture = str(simulated / CAPTURE)
    assert make_settings({"source": capture}).channel == "rtls"
    for given, message in (
        ({"source": capture, "channel": "wifi"}, "--channel wifi: the capture was recorded through channel rtls"),
        ({"source": capture, "duration_s": 3.0}, "no rate and no number of seconds"),
        ({"source": capture, "rate": "full"}, "no rate and no number of seconds"),
        ({"source": "sim", "endless": True, "duration_s": 3.0}, "--endless needs the source sim, and no --duration"),
        ({"source": "match.parquet", "endless": True}, "--endless needs the source sim"),
        ({"source": "sim", "rate": "quick"}, "--rate quick: rate 'quick' is neither of live, full, 50k"),
    ):
        with pytest.raises(SettingsError, match=message):
            make_settings(given)


def test_a_tracking_file_with_a_rate_comes_by_radio():
    assert make_settings({"source": "match.parquet", "rate": "full"}).channel == "rtls"
    assert make_settings({"source": "match.parquet"}).channel == "none"

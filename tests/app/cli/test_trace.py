"""``touchline trace`` over a capture: people's lines and records, and what cannot be traced."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.cli import trace as command
from app.cli.trace import TraceError, trace
from app.pipeline.pipeline import MatchPipeline
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, Follower, UpdateRecord
from middleware.trace import Trace
from replay.capture import Capture, CaptureWriter
from replay.match_store import MatchStore, updates_table
from simulator.radio.channels import channel_named, transmit
from simulator.settings import rates_named
from simulator.simulate import Simulation, simulate


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A few generated seconds through radio, and the id of an event that was taken back in them and said again."""
    folder = tmp_path_factory.mktemp("match") / "capture"
    recording, _ = simulate(Simulation(duration_s=1.5))
    with CaptureWriter(folder, recording.sheet, channel="rtls") as writer:
        writer.extend(transmit(recording, channel_named("rtls"), 3).blocks())
    capture = Capture.open(folder)
    pipeline = MatchPipeline(capture.sheet)
    messages = [
        pipeline.push(payload, now_us) for now_us, payload in capture.payloads(capture.begin_us, capture.end_us)
    ]
    taken_back = {u.event.id for message in messages if message for u in message.updates if u.diff < 0}
    follower = Follower()
    for message in (*filter(None, messages), pipeline.finish()):
        follower.apply(message)
    return folder, min(taken_back & follower.events.keys())


def test_an_event_is_told_in_lines_causes_first(captured, capsys):
    folder, event = captured
    trace(folder, event, alpha=None, retraction=None, whole=False, as_json=False)
    text = capsys.readouterr().out
    assert text.startswith("Causes:\n")
    assert f"\n{event}, and what it displaced" in text
    assert "raw." in text.splitlines()[1], "the chain goes down to a packet"
    assert f"concluded {event} from " in text
    assert "the sources had reported everything up to it" in text


def test_records_are_an_array_and_buffering_says_so(captured, capsys):
    folder, event = captured
    trace(folder, event, alpha="1", retraction="full", whole=False, as_json=True)
    records = json.loads(capsys.readouterr().out)
    assert {record["what"] for record in records} >= {"came", "released", "concluded"}
    assert {record["alpha"] for record in records if record["what"] == "released"} == {1.0}
    assert all(record["now_us"] >= 0 for record in records)


def test_a_packet_has_no_causes(captured, capsys):
    folder, _ = captured
    trace(folder, "raw.ball:ball:5", alpha=None, retraction=None, whole=False, as_json=True)
    records = json.loads(capsys.readouterr().out)
    assert min(record["depth"] for record in records) == 0
    assert records[0]["unit"] == "conditioning"


def test_what_was_never_said_is_a_problem_in_one_line(captured):
    folder, _ = captured
    with pytest.raises(TraceError, match="hit#nobody: no event of that id"):
        trace(folder, "hit#nobody", alpha=None, retraction=None, whole=False, as_json=False)


def test_a_kind_that_the_match_does_not_have_is_refused_before_anything_is_played(captured):
    with pytest.raises(TraceError, match=r"no event of kind 'pas.complete' in"):
        trace(captured[0], "pas.complete#ball:1", alpha=None, retraction=None, whole=False, as_json=False)


def test_the_detectors_that_matter_to_the_event_tell_what_all_of_them_do(captured, capsys):
    folder, event = captured
    stories = []
    for whole in (False, True):
        trace(folder, event, alpha="0", retraction="on-demand", whole=whole, as_json=False)
        stories.append(capsys.readouterr().out)
    assert stories[0] == stories[1]


@pytest.mark.slow
def test_a_capture_that_still_grows_is_traced_as_far_as_it_has_come(tmp_path, capsys):
    recording, _ = simulate(Simulation(duration_s=5.6, **rates_named("50/10")))
    blocks = list(transmit(recording, channel_named("rtls"), 3).blocks())
    with CaptureWriter(tmp_path / "capture", recording.sheet, channel="rtls") as writer:
        writer.extend(blocks)
        capture = Capture.open(tmp_path / "capture")
        assert not capture.is_finished
        trace(tmp_path / "capture", "raw.ball:ball:1", alpha="0", retraction="on-demand", whole=False, as_json=False)
        assert "raw.ball:ball:1 released" in capsys.readouterr().out
        with pytest.raises(TraceError, match=r"no event of that id in .* up to 5 s, where its capture ends so far"):
            trace(
                tmp_path / "capture", "raw.ball:ball:260", alpha="0", retraction="on-demand", whole=False, as_json=False
            )
    trace(tmp_path / "capture", "raw.ball:ball:260", alpha="0", retraction="on-demand", whole=False, as_json=False)
    assert "raw.ball:ball:260 released" in capsys.readouterr().out


def test_a_store_knows_when_its_events_were_emitted_and_a_capture_when_its_packets_arrived(captured, tmp_path):
    event = EventRecord("hit#1", "hit", "", 5, 10, "home", "h1", None, None, None, 1.0)
    updates = [UpdateRecord(seq, diff, 100 + seq, event) for seq, diff in enumerate((1, -1, 1))]
    store = MatchStore.create(tmp_path / "store", MatchSheet(), {})
    store.commit(0, {"updates": updates_table(updates, 0)}, {})
    capture = Capture.open(captured[0])
    assert list(command._mentions(store.path, capture, "hit#1")) == [100, 101, 102]
    assert list(command._mentions(store.path, capture, "ball.state:ball:7")) == []
    with pytest.raises(TraceError, match="hit#2: no event of that id"):
        list(command._mentions(store.path, capture, "hit#2"))
    packets = {packet: block.arrival_us for block in capture.blocks(0, 1_000_000) for packet in block.packets}
    (arrival_us,) = {at for packet, at in packets.items() if (packet.transmitter, packet.sequence) == ("ball", 50)}
    (found_us, *copies_us) = command._mentions(captured[0], capture, "raw.ball:ball:50")
    assert abs(found_us - arrival_us) < 50_000
    assert all(abs(copy_us - arrival_us) < 1_000_000 for copy_us in copies_us)


class FakeReplay:
    """A match in which the event comes out of stretches that begin early enough."""

    margin_us = 3_000_000
    windows = command._Replay.windows
    folder, until_us = Path("m"), 600_000_000

    def __init__(self, needs_us: int) -> None:
        self.capture = SimpleNamespace(begin_us=0, is_finished=True)
        self._needs_us, self.played = needs_us, []

    def play(self, trace: Trace, title: str, begin_us: int, end_us: int, enough_us: int | None = None) -> Trace:
        self.played.append((begin_us, end_us))
        if begin_us <= self._needs_us:
            trace.mentioned_us.append(400_000_000)
        return trace


def test_a_stretch_around_the_event_is_played_and_a_longer_one_if_it_does_not_come_out():
    near, far, first = FakeReplay(393_000_000), FakeReplay(200_000_000), FakeReplay(50_000_000)
    for replay in (near, far, first):
        command._trace_part(replay, "hit#1", [400_000_000, 401_000_000])
    assert near.played == [(392_000_000, 404_000_000)]
    assert far.played == [(begin_us, 404_000_000) for begin_us in (392_000_000, 357_000_000, 97_000_000)]
    assert first.played[3:] == [(0, 600_000_000), (0, 403_000_000)]

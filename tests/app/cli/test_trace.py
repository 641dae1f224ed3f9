"""``touchline trace`` over a capture: people's lines and records, and what cannot be traced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.trace import TraceError, trace
from app.pipeline.pipeline import MatchPipeline
from football.update_stream import Follower
from replay.capture import Capture, CaptureWriter
from simulator.radio.channels import channel_named, transmit
from simulator.settings import rates_named
from simulator.simulate import Simulation, simulate


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A few generated seconds through radio, and the id of an event that was taken back in them and said again."""
    folder = tmp_path_factory.mktemp("match") / "capture"
    recording, _ = simulate(Simulation(duration_s=4.0))
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
    trace(folder, event, alpha=None, retraction=None, as_json=False)
    text = capsys.readouterr().out
    assert text.startswith("Causes:\n")
    assert f"\n{event}, and what it displaced" in text
    assert "raw." in text.splitlines()[1], "the chain goes down to a packet"
    assert f"concluded {event} from " in text
    assert "the sources had reported everything up to it" in text


def test_records_are_an_array_and_buffering_says_so(captured, capsys):
    folder, event = captured
    trace(folder, event, alpha="1", retraction="full", as_json=True)
    records = json.loads(capsys.readouterr().out)
    assert {record["what"] for record in records} >= {"came", "released", "concluded"}
    assert {record["alpha"] for record in records if record["what"] == "released"} == {1.0}
    assert all(record["now_us"] >= 0 for record in records)


def test_a_packet_has_no_causes(captured, capsys):
    folder, _ = captured
    trace(folder, "raw.ball:ball:5", alpha=None, retraction=None, as_json=True)
    records = json.loads(capsys.readouterr().out)
    assert min(record["depth"] for record in records) == 0
    assert records[0]["unit"] == "conditioning"


def test_what_was_never_said_is_a_problem_in_one_line(captured):
    folder, _ = captured
    with pytest.raises(TraceError, match="hit#nobody: no event of that id"):
        trace(folder, "hit#nobody", alpha=None, retraction=None, as_json=False)


def test_a_capture_that_still_grows_is_traced_as_far_as_it_has_come(tmp_path, capsys):
    recording, _ = simulate(Simulation(duration_s=5.6, **rates_named("50/10")))
    blocks = list(transmit(recording, channel_named("rtls"), 3).blocks())
    with CaptureWriter(tmp_path / "capture", recording.sheet, channel="rtls") as writer:
        writer.extend(blocks)
        capture = Capture.open(tmp_path / "capture")
        assert not capture.is_finished
        trace(tmp_path / "capture", "raw.ball:ball:1", alpha="0", retraction="on-demand", as_json=False)
        assert "raw.ball:ball:1 released" in capsys.readouterr().out
        with pytest.raises(TraceError, match=r"no event of that id in .* up to 5 s, where its capture ends so far"):
            trace(tmp_path / "capture", "raw.ball:ball:260", alpha="0", retraction="on-demand", as_json=False)
    trace(tmp_path / "capture", "raw.ball:ball:260", alpha="0", retraction="on-demand", as_json=False)
    assert "raw.ball:ball:260 released" in capsys.readouterr().out

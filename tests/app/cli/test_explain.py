"""``touchline explain``: causes, thresholds and margins down to measured positions, and the history of an event."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.cli.explain import explain as explain_command
from app.explain.reasons import ExplainError, explain
from app.explain.tree import Node
from app.run.live import run_live
from app.settings.resolve import make_settings
from detectors.arrivals import arrival
from detectors.catalogue import build_detectors, catalogue
from football.packets import RAW_KINDS, Block
from middleware.hierarchy import Hierarchy
from replay.capture import Capture, CaptureWriter
from replay.match_store import updates_log
from tests.app.recordings import read_from_topic
from tests.detectors import stage
from tests.detectors.plays import Story
from tests.detectors.test_margins import BALL, PLAYERS
from tests.detectors.test_transcripts_in_disorder import in_disorder

#: Radio at rates that are quickly played.
QUALITY = msgspec.structs.replace(stage.RTLS, ball_hz=400.0, body_hz=100.0)


CARD = {"kind": "card", "variant": "yellow", "team": "home", "player": "home_6", "at_s": 2.0}


def write_scene(folder: Path) -> Path:
    """A pass and a shot as radio would deliver them, disordered: a capture."""
    sheet = stage.sheet(PLAYERS, QUALITY)
    packets = [arrival(packet) for packet in stage.packets(BALL, PLAYERS, 7.0, QUALITY)]
    story = Story(Hierarchy(RAW_KINDS, build_detectors(sheet)), sheet, packets, [])
    with CaptureWriter(folder, sheet, channel="rtls") as writer:
        writer.extend(
            Block(now_us, tuple(a.event.payload for a in arrivals)) for now_us, arrivals in in_disorder(story, 4)
        )
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The match of the scene, spoken of at once; with a number of its own."""
    folder = tmp_path_factory.mktemp("explain")
    (folder / "p.toml").write_text("[pass_outcome]\nwithin_us = 6500000\n")
    (folder / "card.jsonl").write_text(json.dumps(CARD))
    given = {
        "source": str(write_scene(folder / "source" / "capture").parent), "engine": "inprocess", "speed": "max",
        "alpha": 0.0, "retraction": "on-demand", "store": folder / "store", "dashboard": False,
        "parameters": folder / "p.toml", "official": folder / "card.jsonl",
    }  # fmt: skip
    run_live(make_settings(given), as_json=True)
    return folder / "store"


def ids(store: Path, kind: str, standing: bool = True) -> list[str]:
    """Events of a kind that stand at the end, or that were taken back."""
    sums: dict[str, int] = {}
    for row in updates_log(store).to_pylist():
        if row["kind"] == kind:
            sums[row["id"]] = sums.get(row["id"], 0) + row["diff"]
    return [name for name, total in sums.items() if bool(total) == standing]


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for cause in node.causes:
        yield from nodes(cause)


def test_a_pass_is_explained_down_to_measured_positions(store: Path):
    (name,) = ids(store, "pass.complete")
    found = explain(store, name)
    assert found.notes == ()
    tree = list(nodes(found.event))
    assert {node.id.partition("#")[0] for node in tree} >= {"pass.attempt", "kick.released", "hit", "ball.accel_peak"}
    (within,) = (m for m in found.event.margins if m.parameter == "pass_outcome.within_us")
    assert within.threshold == 6_500_000
    assert within.margin == within.threshold - within.value > 0
    assert "shot.range_m" in {number.name for node in tree for number in node.parameters}
    leaves = [position for node in tree for position in node.positions]
    assert {position.object for position in leaves} >= {"ball", "home_6", "home_9"}
    capture = Capture.open(store)
    packets = {
        (p.transmitter, p.sequence): p
        for block in capture.blocks(capture.begin_us, capture.end_us)
        for p in block.packets
    }
    for position in leaves:
        assert position.measured is not None
        _, transmitter, sequence = position.measured.packet.split(":")
        packet = packets[transmitter, int(sequence)]
        at = packet.ts_us.index(position.measured.ts_us)
        assert (packet.x_m[at], packet.y_m[at]) == (position.measured.x_m, position.measured.y_m)
        assert abs(position.measured.ts_us - position.ts_us) < 150_000


@pytest.mark.parametrize(
    "kind",
    [
        "shot.off",
        pytest.param("out", marks=pytest.mark.slow),
        pytest.param("team.possession", marks=pytest.mark.slow),
        "near",
    ],
)
def test_every_kind_comes_out_as_the_store_has_it(store: Path, kind: str):
    found = explain(store, ids(store, kind)[-1])
    assert found.notes == ()
    assert not any(node.from_log for node in nodes(found.event))
    assert found.event.event is not None
    assert found.event.event.kind == kind


@pytest.mark.parametrize(("kind", "on"), [("bodypart", "hit#"), ("ball.speed_step", "ball.break:")])
def test_what_a_level_shares_is_explained_by_who_found_it(store: Path, kind: str, on: str):
    found = explain(store, ids(store, kind)[-1]).event
    assert found.on.startswith(on)
    assert any(position.object == "ball" and position.measured is not None for position in found.positions)
    hits = [cause for cause in found.causes if cause.id.startswith("hit#")]
    assert all(hit.margins for hit in hits)
    assert len(hits) == (kind == "bodypart")


def test_the_history_tells_every_update_and_what_it_came_with(store: Path):
    log = updates_log(store).to_pylist()
    amended = next(row["id"] for row in log if row["diff"] < 0 and row["id"] in ids(store, row["kind"]))
    found = explain(store, amended).history
    mine = [row for row in log if row["id"] == amended]
    assert found[0].what == "asserted"
    assert found[0].now_us == mine[0]["emitted_us"]
    assert sum({"asserted": 1, "amended": 2, "withdrawn": 1}[entry.what] for entry in found) == len(mine)
    assert all(entry.packets and entry.oldest_us <= entry.now_us for entry in found if not entry.officials)
    assert all(bool(entry.changed) == (entry.what == "amended") for entry in found)


def test_what_officials_decided_is_told_with_their_line(store: Path):
    (name,) = ids(store, "official.card")
    found = explain(store, name)
    assert found.notes == ()
    assert found.event.on.startswith("raw.official:")
    assert json.loads(found.history[0].officials[0]) == CARD


def test_an_event_that_was_taken_back_is_told_from_the_log(store: Path):
    withdrawn = next(name for kind in ("hit", "ball.accel_peak", "near") for name in ids(store, kind, standing=False))
    found = explain(store, withdrawn)
    assert "was withdrawn" in found.notes[0]
    assert found.history[-1].what == "withdrawn"
    assert found.event.from_log


def test_without_its_capture_the_log_is_told_and_what_is_missing(store: Path, tmp_path: Path):
    shutil.copytree(store, tmp_path / "store", symlinks=True)
    (tmp_path / "store" / "capture").unlink()
    (name,) = ids(store, "pass.complete")
    found = explain(tmp_path / "store", name)
    assert "is missing" in found.notes[0]
    assert {node.id.partition("#")[0] for node in nodes(found.event)} >= {
        "pass.attempt",
        "kick.released",
        "ball.accel_peak",
    }
    assert not any(node.margins or node.positions for node in nodes(found.event))
    assert "pass_outcome.within_us" in {number.name for number in found.event.parameters}


def test_a_match_out_of_a_topic_is_told_from_the_log(store: Path, tmp_path: Path):
    shutil.copytree(store, tmp_path / "store", symlinks=True)
    read_from_topic(tmp_path / "store")
    (name,) = ids(store, "pass.complete")
    found = explain(tmp_path / "store", name)
    assert "is not read again" in found.notes[0]
    assert found.event.from_log


def test_lines_and_json_agree_and_nothing_is_written(store: Path, capsys):
    before = sorted(file for file in store.rglob("*"))
    (name,) = ids(store, "shot.attempt")
    explain_command(store, name, as_json=False)
    text = capsys.readouterr().out
    explain_command(store, name, as_json=True)
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert text.startswith("History:\n")
    assert f"\n{name}  " in text
    assert all(margin["what"] in text for margin in record["event"]["margins"])
    assert record["event"]["margins"][0].keys() >= {"value", "threshold", "unit", "sense", "parameter", "margin"}
    assert "from raw.ball:ball:" in text
    assert sorted(file for file in store.rglob("*")) == before


def test_an_unknown_id_is_answered_with_what_is_near(store: Path):
    (name,) = ids(store, "shot.attempt")
    with pytest.raises(ExplainError, match=r"ids that begin so: shot\.attempt#"):
        explain(store, "shot.att")
    with pytest.raises(ExplainError, match=f"near it: .*{name}"):
        explain(store, name.replace("shot", "shut"))
    with pytest.raises(ExplainError, match=r"and \d+ more"):
        explain(store, "ne")
    with pytest.raises(ExplainError, match="touchline events"):
        explain(store, "zzz")


def test_an_event_of_a_detector_that_is_not_here_is_explained_by_its_causes(
    store: Path, monkeypatch: pytest.MonkeyPatch
):
    name = ids(store, "pass.attempt")[0]
    others = tuple(entry for entry in catalogue() if "pass.attempt" not in entry.outputs)
    monkeypatch.setattr("app.explain.reasons.catalogue", lambda parameters: others)
    explanation = explain(store, name)
    assert any("pass.attempt is of a detector that this program does not have" in note for note in explanation.notes)
    assert not any("do not come out" in note for note in explanation.notes)
    assert explanation.event.causes

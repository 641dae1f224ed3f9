"""A simulated match as a DEBS 2013 stream: played as a source, annotated, and held against its true annotation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.base.files import OutputError
from app.cli.annotate import annotate as annotate_command
from replay.formats.debs import Half, read_halves, write_debs
from replay.scoring.debs_annotation import Clock, annotate, read_annotation, write_annotation
from simulator.simulate import Simulation, simulate
from tests.app.cli.test_main import here

SECONDS = 10.0


@pytest.fixture(scope="module")
def game(tmp_path_factory) -> tuple[Path, Path, Path]:
    """Stream, annotation of the truth, and the store of a run over the stream."""
    folder = tmp_path_factory.mktemp("debs_game")
    recording, truth = simulate(Simulation(seed=5, duration_s=SECONDS))
    stream = write_debs(folder / "stream", recording)
    write_annotation(
        folder / "truth",
        annotate(truth, recording.sheet, Clock(read_halves(stream.parent))),
        read_halves(stream.parent),
    )
    done = here(
        "live", "--source", f"debs:{stream}", "--engine", "inprocess", "--speed", "max", "--no-dashboard",
        "--store", folder / "store", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return stream.parent, folder / "truth", folder / "store"


def test_the_stream_is_played_and_scored_against_the_annotation_of_its_truth(game):
    _, truth, store = game
    done = here("score", store, "--truth", truth, "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert scores["truth"] == "DEBS 2013 annotation"
    assert scores["kinds"]["possession.gain"]["f1"] >= 0.7
    assert scores["frames"]["team_possession"]["agreement"] >= 0.8


def test_what_was_found_has_the_form_of_the_annotation(game, tmp_path):
    stream, truth, store = game
    annotate_command(store, tmp_path / "found", stream)
    found, clock = read_annotation(tmp_path / "found")
    expected, _ = read_annotation(truth)
    assert clock.halves == read_halves(stream)
    assert {row.player for row in found.possession} & {row.player for row in expected.possession}
    assert abs(len(found.possession) - len(expected.possession)) <= 0.3 * len(expected.possession)
    assert all(0 <= row.begin_s <= row.end_s <= SECONDS for row in found.possession)
    assert list(found.possession) == sorted(found.possession, key=lambda row: row.begin_s)


def test_without_a_clock_it_is_one_half(game, tmp_path):
    annotate_command(game[2], tmp_path / "found", None)
    (half,) = read_halves(tmp_path / "found")
    assert isinstance(half, Half)
    assert (half.end_ps - half.begin_ps) / 1e12 == pytest.approx(SECONDS, abs=1.0)


def test_a_folder_that_cannot_be_made_is_told(game, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(OutputError, match="--out"):
        annotate_command(game[2], tmp_path / "taken", None)

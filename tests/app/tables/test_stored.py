"""Tables that a store keeps: the same as built ones, never those of another state of the store."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import app.tables.stored as stored
from app.tables.build import flat_tables
from app.tables.stored import FOLDER, stored_tables, stored_tracks, tables_key
from replay.match_store import MatchStore
from tests.app.tables.small_match import FIRST_US, S, small_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return small_store(tmp_path / "store")


def test_kept_tables_are_the_built_ones_and_are_not_built_again(store: Path, monkeypatch: pytest.MonkeyPatch):
    built = flat_tables(store)
    assert stored_tables(store) == built
    monkeypatch.setattr(stored, "flat_tables", lambda *_: pytest.fail("built again"))
    assert stored_tables(store) == built
    assert stored_tables(store, ("shots",))["shots"] == built["shots"]


def test_a_further_commit_and_another_sheet_have_other_tables(store: Path):
    stored_tables(store, ("goals",))
    before = tables_key(store)
    MatchStore.open(store).commit(1, {}, {"frontier_us": 10_001 * S, "end_offset": 2, "ended": True})
    between = tables_key(store)
    stored_tables(store, ("goals",))
    assert [path.name for path in (store / FOLDER).iterdir()] == [between]
    sheet = store / "sheet.json"
    sheet.write_text(sheet.read_text().replace("Reds", "Reed"))
    assert len({before, between, tables_key(store)}) == 3
    assert stored_tables(store, ("goals",))["goals"]["team_name"][0].as_py() == "Reed"


def test_a_damaged_file_and_a_store_without_room_are_built(store: Path):
    built = stored_tables(store)
    file = store / FOLDER / tables_key(store) / "passes.parquet"
    file.write_bytes(file.read_bytes()[:100])
    assert stored_tables(store) == built
    shutil.rmtree(store / FOLDER)
    (store / FOLDER).write_text("a file where the folder should be")
    assert stored_tables(store) == built


def test_tracks_have_the_steps_of_five_positions_a_second(store: Path):
    tracks = stored_tracks(store).to_pandas()
    walker = tracks[(tracks.player == "home_1") & (tracks.ts_us < FIRST_US + 60 * S)]
    assert len(walker) == 300
    assert np.isnan(walker.step_m.iloc[0])
    np.testing.assert_allclose(walker.step_m.iloc[1:], 0.2, atol=1e-5)
    np.testing.assert_allclose(walker.speed_m_s.iloc[1:], 1.0, atol=1e-5)
    # Half an hour without positions is no step.
    assert tracks[tracks.player == "home_1"].step_s.max() < 0.21
    assert len(stored_tracks(small_store(store.parent / "blind", positions=False))) == 0

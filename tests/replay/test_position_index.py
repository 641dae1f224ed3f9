"""Positions by the index of a store's windows: what a stretch has, at any place of the match."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from replay.match_store import StoreError
from replay.position_index import PositionIndex, Stretch, _joined
from tests.app.recorded.derby import FRAME_US, S, derby_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derby_store(tmp_path_factory.mktemp("index") / "derby")


def test_the_bounds_are_those_of_the_first_and_the_last_position(store: Path):
    assert PositionIndex(store).bounds_us() == (0, 60 * S - FRAME_US)


def test_a_stretch_across_two_windows_has_every_frame_once_with_the_ball_first(store: Path):
    found = PositionIndex(store).stretch(29 * S, 31 * S)
    assert found.ts_us.tolist() == list(range(29 * S, 31 * S, FRAME_US))
    assert found.objects == ("ball", "away_1", "away_4", "home_1", "home_9")
    assert found.teams == ("", "away", "away", "home", "home")
    assert np.allclose(found.x_m[:, 0], found.ts_us / S - 30, atol=1e-5)
    assert np.allclose(found.x_m[:, 4], 10.0)
    assert found.z_m[0, 0] == 0.0
    assert found.z_m[-1, 0] == 2.0


def test_beyond_the_match_there_is_nothing(store: Path):
    index = PositionIndex(store)
    assert index.stretch(-10 * S, 0).objects == ()
    assert len(index.stretch(60 * S, 90 * S).ts_us) == 0


def test_only_so_many_windows_stay_in_memory(store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("replay.position_index.WINDOWS_MAX", 1)
    index = PositionIndex(store)
    for at_s in (0, 40, 10, 50):
        assert index.stretch(at_s * S, (at_s + 1) * S).ts_us[0] == at_s * S
        assert len(index._windows) == 1


def test_a_store_that_has_grown_is_taken_in(tmp_path: Path):
    folder = derby_store(tmp_path / "derby")
    later = (folder / "commits" / "00000001.json").rename(tmp_path / "later.json")
    index = PositionIndex(folder)
    assert index.bounds_us() == (0, 30 * S - FRAME_US)
    later.rename(folder / "commits" / "00000001.json")
    index.refresh()
    assert index.bounds_us() == (0, 60 * S - FRAME_US)


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b"x" * 4_000])
def test_a_damaged_part_is_named(tmp_path: Path, content: bytes):
    folder = derby_store(tmp_path / "derby")
    (folder / "positions" / "part-00000001.parquet").write_bytes(content)
    with pytest.raises(StoreError, match=r"part-00000001.parquet: damaged part of window 1"):
        PositionIndex(folder)


def part(times_us: list[int], objects: tuple[str, ...], x_m: list[list[float]]) -> Stretch:
    grid = np.array(x_m, np.float32)
    teams = tuple(name.partition("_")[0] if "_" in name else "" for name in objects)
    return Stretch(np.array(times_us), objects, teams, grid, grid + 1, grid + 2)


def test_windows_with_other_objects_and_a_shared_instant_are_joined():
    nan = float("nan")
    first = part([0, 40], ("ball", "home_9"), [[1.0, 2.0], [3.0, nan]])
    later = part([40, 80], ("away_4", "home_9"), [[5.0, 6.0], [7.0, 8.0]])
    found = _joined([first, later])
    assert found.ts_us.tolist() == [0, 40, 80]
    assert (found.objects, found.teams) == (("ball", "away_4", "home_9"), ("", "away", "home"))
    np.testing.assert_array_equal(found.x_m, np.array([[1, nan, 2], [3, 5, 6], [nan, 7, 8]], np.float32))
    np.testing.assert_array_equal(found.z_m, found.x_m + 2)


def test_windows_that_are_in_memory_need_no_file(tmp_path: Path):
    folder = derby_store(tmp_path / "derby")
    index = PositionIndex(folder)
    index.read_all()
    for file in (folder / "positions").iterdir():
        file.unlink()
    assert len(index.stretch(29 * S, 31 * S).ts_us) == 50

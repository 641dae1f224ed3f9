"""Errors of a profile: each where and as strong as stated, nothing else, the same by seed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from football.match_sheet import MatchSheet
from replay.formats.tracking import read_tracking
from simulator.play.match_sheet import sheet_of
from simulator.simulate import Simulation, match_of
from simulator.tracking.artefacts import artefacts_in, artefacts_of
from simulator.tracking.profile import Profile, read_profile, shipped_profiles
from simulator.tracking.tracked_table import TrackedFrames, table_of, track, write_tracked
from simulator.tracking.true_frames import FrameSampler, TrueFrames
from simulator.truth.match_truth import FRAMES

SECONDS = 60.0


@lru_cache(maxsize=1)
def played() -> TrueFrames:
    """Return a minute of a match, in play but for its first four seconds and from 40 to 50 s: its half-time."""
    match = match_of(Simulation(seed=5, duration_s=SECONDS))
    sampler = FrameSampler(sheet_of(match.settings, match.squads))
    for interval in match.intervals(SECONDS):
        sampler.take(interval, match.on_pitch)
    ts_us = np.arange(0, round(SECONDS * 1e6), 40_000)
    live = (ts_us >= 4_000_000) & ~((ts_us >= 40_000_000) & (ts_us < 50_000_000))
    blank = {name: [None] * len(ts_us) for name in FRAMES.names}
    return sampler.finish(pa.table({**blank, "ts_us": ts_us, "in_play": live, "period": 1 + (ts_us >= 50_000_000)}))


def profile_of(**parts: Any) -> Profile:
    """Return a profile of which only the given parts are at work; a pair of numbers is a range."""
    return Profile.model_validate({"name": "test", "sources": {"s": "a study"}, **stated(parts)})


def stated(value: Any) -> Any:
    if isinstance(value, tuple):
        return {"range": value, "source": "s"}
    return {name: stated(part) for name, part in value.items()} if isinstance(value, dict) else value


def at_25_hz(true: TrueFrames) -> np.ndarray:
    return true.ball[::2, :2]


def straight_share(ball: np.ndarray) -> float:
    """Return the share of frames, with the ball on the move, at which neither direction nor speed changes."""
    turn_m = np.abs(np.diff(ball[:, :2], 2, axis=0)).max(axis=1)
    moving = np.hypot(*np.diff(ball[:, :2], axis=0).T)[1:] > 0.08
    return float((turn_m[moving] < 1e-4).mean())


def test_without_errors_the_file_is_the_match() -> None:
    tracked = track(played(), Profile(name="exact"), 1)
    assert np.allclose(tracked.ball[:, :2], at_25_hz(played()), atol=1e-6)
    assert np.all(np.diff(tracked.ts_us) == 40_000)
    assert len(tracked.ids) == 22
    assert tracked.alive is None


def test_the_same_seed_gives_the_same_file_and_another_seed_another() -> None:
    ragged = read_profile("ragged")
    first, again, other = (table_of(track(played(), ragged, seed)) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_an_error_more_leaves_the_others_alone() -> None:
    one = profile_of(bodies={"error_m": (0.1, 0.1)})
    two = profile_of(bodies={"error_m": (0.1, 0.1)}, ball={"jitter_m": (0.1, 0.1)})
    assert np.array_equal(track(played(), one, 1).bodies, track(played(), two, 1).bodies, equal_nan=True)


def test_noise_is_as_strong_as_stated() -> None:
    tracked = track(played(), profile_of(bodies={"error_m": (0.2, 0.2), "error_s": (1.0, 1.0)}), 1)
    error_m = tracked.bodies - played().bodies[::2, :, :2][:, np.isfinite(played().bodies[0, :, 0])]
    assert np.nanstd(error_m) == pytest.approx(0.2, rel=0.1)
    steps_m = np.diff(error_m, axis=0)
    assert np.nanstd(steps_m) == pytest.approx(0.2 * 0.04, rel=0.1)


def test_a_keyed_ball_runs_on_straight_lines_near_the_ball() -> None:
    keys = {"error_m": (0.2, 0.2), "error_s": (0.02, 0.02), "missed_share": (0.05, 0.05), "tolerance_m": (0.5, 0.5)}
    tracked = track(played(), profile_of(ball={"keys": keys}), 1)
    assert straight_share(tracked.ball) > 0.85
    assert straight_share(at_25_hz(played())) < 0.5
    off_m = np.hypot(*(tracked.ball[:, :2] - at_25_hz(played())).T)
    assert np.median(off_m) < 0.6
    assert np.percentile(off_m, 99) < 3.0


def test_a_frozen_ball_stands_still_in_play_only() -> None:
    often = {"per_min": (20, 20), "seconds": (0.5, 0.5)}
    tracked = track(played(), profile_of(ball={"frozen": often}), 1)
    exact = track(played(), Profile(name="exact"), 1)
    changed = np.flatnonzero(np.any(tracked.ball != exact.ball, axis=1))
    assert len(changed) > 50
    assert played().in_play[::2][changed - 12].any()
    dead = ~played().in_play[::2]
    dead[:13] = False
    dead[1000:1013] = False
    assert not dead[changed].any()


def test_a_lost_ball_has_no_row_or_keeps_its_position() -> None:
    often = {"per_min": (20, 20), "seconds": (0.5, 1.0)}
    absent = track(played(), profile_of(ball={"lost": often}), 1)
    assert 0.1 < artefacts_of(absent)["ball_missing_share"] < 0.4
    held = track(played(), profile_of(ball={"lost": often, "lost_as": "held"}), 1)
    assert artefacts_of(held)["ball_missing_share"] == 0.0
    assert artefacts_of(held)["ball_frozen_share"] > artefacts_of(absent)["ball_frozen_share"] + 0.1
    assert table_of(absent).num_rows == table_of(held).num_rows - np.isnan(absent.ball[:, 0]).sum()


def test_a_hidden_ball_has_no_row_only_where_a_player_is_near() -> None:
    true = played()
    always = track(true, profile_of(ball={"hidden": {"within_m": (0.8, 0.8), "share": (1.0, 1.0)}}), 1)
    away_m = np.hypot(*np.moveaxis(true.bodies[::2, :, :2] - true.ball[::2, None, :2], 2, 0))
    near = (away_m < 0.8).any(axis=1)
    assert 0.1 < near.mean() < 0.9
    assert (np.isnan(always.ball[:, 0]) == near).all()
    often = track(true, profile_of(ball={"hidden": {"within_m": (0.8, 0.8), "share": (0.5, 0.5)}}), 1)
    hidden = np.isnan(often.ball[:, 0])
    assert not (hidden & ~near).any()
    assert 0.1 < hidden.sum() / near.sum() < 0.9


def test_a_dead_ball_is_left_out_or_its_frames_are() -> None:
    live = played().in_play[::2]
    assert 0.2 < live.mean() < 0.9
    absent = track(played(), Profile.model_validate({"name": "x", "ball": {"dead": "absent"}}), 1)
    assert (np.isfinite(absent.ball[:, 0]) == live).all()
    origin = track(played(), Profile.model_validate({"name": "x", "ball": {"dead": "origin"}}), 1)
    assert (origin.ball[~live] == 0.0).all()
    cut = track(played(), Profile.model_validate({"name": "x", "frames": {"dead": "cut"}}), 1)
    assert (cut.ts_us == absent.ts_us[live]).all()
    tracked = track(played(), Profile(name="exact"), 1)
    assert (absent.ball[live] == tracked.ball[live]).all()


def test_a_teleport_goes_as_far_as_stated_and_comes_back() -> None:
    away = {"per_min": (10, 10), "seconds": (0.04, 0.04), "metres": (5, 6)}
    tracked = track(played(), profile_of(ball={"teleports": away}), 1)
    off_m = np.hypot(*(tracked.ball[:, :2] - at_25_hz(played())).T)
    jumped = off_m > 1e-6
    assert 3 <= jumped.sum() <= 20
    assert np.all((off_m[jumped] > 4.9) & (off_m[jumped] < 12.1))


def test_swapped_players_are_swapped_back() -> None:
    swaps = {"per_min": (4, 4), "within_m": (2, 2), "seconds": (1, 2)}
    tracked = track(played(), profile_of(bodies={"swaps": swaps}), 1)
    exact = track(played(), Profile(name="exact"), 1)
    moved = np.hypot(*np.moveaxis(tracked.bodies - exact.bodies, 2, 0)) > 1e-6
    assert moved.any()
    assert np.all(moved.sum(axis=1) % 2 == 0) or moved.sum(axis=1).max() >= 3
    assert np.allclose(np.sort(tracked.bodies[:, :, 0], axis=1), np.sort(exact.bodies[:, :, 0], axis=1), atol=1e-5)


def test_heights_are_measured_factored_zero_or_empty() -> None:
    exact = track(played(), Profile(name="exact"), 1).ball[:, 2]
    assert exact.min() == pytest.approx(0.0, abs=1e-6)
    assert exact.max() > 1.0
    high = track(played(), profile_of(ball={"height_factor": (1.3, 1.3)}), 1).ball[:, 2]
    assert np.allclose(high, 1.3 * exact)
    rough = track(played(), profile_of(ball={"ground_height_m": (0.1, 0.1)}), 1)
    on_ground = artefacts_of(track(played(), Profile(name="exact"), 1))["ball_on_ground_share"]
    assert artefacts_of(rough)["ball_on_ground_share"] < 0.8 * on_ground
    assert np.allclose(rough.ball[exact > 0.5, 2], exact[exact > 0.5])
    assert not track(played(), Profile.model_validate({"name": "x", "ball": {"height": "zero"}}), 1).ball[:, 2].any()
    empty = track(played(), Profile.model_validate({"name": "x", "ball": {"height": "empty"}}), 1)
    assert np.isnan(empty.ball[:, 2]).all()
    assert table_of(empty)["z"].null_count == len(empty.ball)


def test_frames_are_as_many_as_stated() -> None:
    for rate_hz in (10, 25, 50):
        tracked = track(played(), Profile.model_validate({"name": "x", "frames": {"rate_hz": rate_hz}}), 1)
        assert len(tracked.ts_us) == SECONDS * rate_hz
    dropped = track(played(), profile_of(frames={"dropped_share": (0.1, 0.1)}), 1)
    assert len(dropped.ts_us) == pytest.approx(1350, abs=40)
    gaps = track(played(), profile_of(frames={"gaps": {"per_min": (3, 3), "seconds": (1, 1)}}), 1)
    assert np.diff(gaps.ts_us).max() >= 1_000_000


def test_a_broadcast_shows_the_ball_and_some_players() -> None:
    view = {"width_m": (50, 50), "lag_s": (0.3, 0.3)}
    tracked = track(played(), profile_of(view=view), 1)
    rates = artefacts_of(tracked)
    assert rates["ball_missing_share"] < 0.02
    assert 8 < rates["players_per_frame"] < 20
    guessed = track(played(), profile_of(view={**view, "unseen": "guessed", "guess_m": (0.5, 0.5)}), 1)
    assert artefacts_of(guessed)["players_per_frame"] > rates["players_per_frame"] + 1
    cut = track(played(), profile_of(view={**view, "cut_dead": {"per_min": (60, 60), "seconds": (2, 2)}}), 1)
    missing_s = set(range(60)) - set((cut.ts_us // 1_000_000).tolist())
    assert len(missing_s) >= 2
    assert not missing_s & set(range(8, 40))


def test_the_alive_flag_is_as_late_as_stated() -> None:
    tracked = track(played(), profile_of(alive_flag={"late_s": (1.0, 1.0)}), 1)
    assert tracked.alive is not None
    changes_s = (np.flatnonzero(np.diff(tracked.alive.astype(int))) + 1) / 25
    assert changes_s.tolist() == [5.0, 41.0, 51.0]
    never = track(played(), profile_of(alive_flag={"wrong_share": (1.0, 1.0)}), 1)
    assert never.alive is not None
    assert never.alive[:200].all()


@pytest.mark.parametrize("name", shipped_profiles())
def test_the_product_reads_what_a_profile_writes(name: str, tmp_path: Path) -> None:
    tracked = track(played(), read_profile(name), 5)
    write_tracked(tmp_path, tracked)
    recording = read_tracking(str(tmp_path / "tracking.parquet"))
    assert not recording.rejected
    assert recording.sheet.attacks_positive_x == tracked.sheet.attacks_positive_x
    assert {p.object_id for p in recording.sheet.players} == set(tracked.ids)
    assert sum(p.goalkeeper for p in recording.sheet.players) <= 2
    assert recording.sheet.quality.ball_hz == pytest.approx(read_profile(name).frames.rate_hz)
    assert recording.sheet.quality.ball_height == (name != "optical_flat")
    rates = artefacts_of(TrackedFrames(**{**vars(tracked), "ball": np.round(tracked.ball, 2)}))
    assert rates["player_jumps_per_min"] < 4
    for rate, value in artefacts_in(recording).items():
        assert value == pytest.approx(rates[rate], abs=0.05), rate
    assert ("ball_status" in pq.read_schema(tmp_path / "tracking.parquet").names) == (tracked.alive is not None)


def test_only_who_takes_part_is_tracked() -> None:
    true = played()
    warming = true.bodies.copy()
    assert isinstance(true.sheet, MatchSheet)
    assert np.isnan(warming[:, 11:16]).all(), "substitutes on the bench"
    off = replace(true, bodies=np.full_like(true.bodies, np.nan))
    assert track(off, Profile(name="x"), 1).ids == ()


_WITH_PERIODS = Profile.model_validate({"name": "test", "frames": {"periods": True}})


def test_the_file_has_periods_if_the_profile_says_so(tmp_path: Path) -> None:
    rows = table_of(track(played(), _WITH_PERIODS, 1)).to_pandas()
    begins_ms = {period: int(part.t_ms.min()) for period, part in rows.groupby("period")}
    assert begins_ms == {1: 0, 2: 50_000}
    assert "period" not in table_of(track(played(), Profile(name="test"), 1)).column_names
    write_tracked(tmp_path, track(played(), _WITH_PERIODS, 1))
    periods = read_tracking(str(tmp_path / "tracking.parquet")).sheet.periods
    assert [(period.number, period.from_us) for period in periods] == [(1, 0), (2, 50_000_000)]

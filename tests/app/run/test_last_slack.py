"""A match begins with the K's, or the back-setting, of the newest one of the same input that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.run.last_slack import BACKSET, SLACK, with_last_slack
from app.run.live import run_live
from app.settings.model import LiveSettings
from app.settings.resolve import make_settings
from app.settings.slack import parse_slack
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore, newest_commit, read_commits


def played(
    folder: Path, created: str, slack_us: Any, backset_us: Any = None, channel: str = "rtls", **given: Any
) -> None:
    """A store of a match that has ended with these K's and back-settings."""
    notes = {SLACK: slack_us, BACKSET: backset_us or {}}
    run = {"settings": make_settings({"channel": channel, **given}).stored_options(), "created": created}
    MatchStore.create(folder, MatchSheet(), run).commit(0, {}, {"ended": True, **notes})


def beginning(tmp_path: Path, slack: str = "kslack:last") -> LiveSettings:
    return with_last_slack(make_settings({"slack": slack, "store": tmp_path / "new"}))


def test_without_an_earlier_match_k_begins_at_0(tmp_path: Path):
    assert beginning(tmp_path).slack == "kslack"


def test_the_newest_match_of_the_same_input_gives_the_first_k(tmp_path: Path):
    played(tmp_path / "a", "2026-11-25T15:00:00+00:00", {"duel": 80_000})
    played(tmp_path / "b", "2026-11-26T15:00:00+00:00", {"duel": 123_400, "header": 0, "gone": 7_000})
    played(tmp_path / "c", "2026-11-27T15:00:00+00:00", {"duel": 900_000}, channel="harsh")
    played(tmp_path / "d", "2026-11-28T15:00:00+00:00", {"duel": 0, "header": 0})
    (tmp_path / "other").mkdir()
    choice = parse_slack(beginning(tmp_path).slack)
    assert {name: one.k_us for name, one in choice.by_detector.items()} == {"duel": 123_400}
    assert choice.unit.method == "kslack"


def test_a_policy_of_a_detector_stays_and_other_methods_take_nothing_over(tmp_path: Path):
    played(tmp_path / "a", "2026-11-25T15:00:00+00:00", {"duel": 80_000, "header": 50_000})
    choice = parse_slack(beginning(tmp_path, "kslack:last,duel=fixed:10").slack)
    assert {name: one.k_us for name, one in choice.by_detector.items()} == {"duel": 10_000, "header": 50_000}
    assert beginning(tmp_path, "progress").slack == "progress"


@pytest.mark.parametrize("damage", [{"duel": -1}, {"duel": "x"}, [1], 10**400])
def test_a_store_with_nonsense_teaches_nothing(tmp_path: Path, damage: Any):
    played(tmp_path / "a", "2026-11-25T15:00:00+00:00", damage)
    assert beginning(tmp_path).slack == "kslack"


def test_a_match_that_resumes_keeps_its_settings(tmp_path: Path):
    played(tmp_path / "a", "2026-11-25T15:00:00+00:00", {"duel": 80_000})
    settings = make_settings({"slack": "kslack:last", "store": tmp_path / "a"})
    assert with_last_slack(settings) is settings


def ended(options: PipelineOptions) -> Mapping[str, Any]:
    """Return the notes of a match without any input at its end."""
    pipeline = MatchPipeline(MatchSheet(), options)
    assert [pipeline.commit_meta()[note] for note in (SLACK, BACKSET)] == [{}, {}]
    pipeline.finish()
    return pipeline.commit_meta()


def test_semi_takes_jitter_over_the_same_channel_and_back_setting_over_any(tmp_path: Path):
    played(tmp_path / "a", "2026-11-25T15:00:00+00:00", {"frame_fusion": 90_000, "duel": 500_000}, {"duel": 80_000})
    played(
        tmp_path / "b",
        "2026-11-26T15:00:00+00:00",
        {"frame_fusion": 7},
        {"pace": 0, "gone": 1, "player_hits_ball": 60_000},
        "harsh",
    )
    assert (
        beginning(tmp_path, "kslack:semi,duel=bett").slack
        == "kslack,frame_fusion=kslack:90,player_hits_ball=kslack:0:60,duel=bett"
    )


def test_a_match_at_full_speed_teaches_back_setting_and_no_slack(tmp_path: Path):
    played(
        tmp_path / "a",
        "2026-11-25T15:00:00+00:00",
        {"frame_fusion": 0, "player_hits_ball": 0},
        {"player_hits_ball": 60_000},
    )
    assert beginning(tmp_path, "kslack:last").slack == "kslack"
    assert beginning(tmp_path, "kslack:semi").slack == "kslack,player_hits_ball=kslack:0:60"


def test_the_next_match_begins_with_what_algorithm_3_gives(tmp_path: Path):
    """004: K is that of the level below and its back-setting, though not one event has come."""
    played(
        tmp_path / "a",
        "2026-11-25T15:00:00+00:00",
        {"frame_fusion": 90_000},
        {"frame_fusion": 5_000, "player_hits_ball": 60_000},
    )
    slack_us = ended(PipelineOptions(slack=parse_slack(beginning(tmp_path, "kslack:semi").slack)))[SLACK]
    names = ("frame_fusion", "pace", "player_hits_ball", "individual_possession")
    assert [slack_us[name] for name in names] == [90_000, 95_000, 95_000, 155_000]
    assert ended(PipelineOptions())[SLACK] == {}, "nothing is known at the beginning of a match that learns by itself"


def test_a_live_run_begins_with_it(tmp_path: Path):
    given = {"engine": "inprocess", "dashboard": False, "speed": "max", "duration_s": 0.5, "alpha": 1.0}
    played(tmp_path / "a", "2026-11-25T15:00:00+00:00", {"frame_fusion": 90_000}, {"player_hits_ball": 60_000})
    run_live(make_settings({**given, "slack": "kslack:semi", "store": tmp_path / "new"}))
    last = newest_commit(read_commits(tmp_path / "new"))
    assert last is not None
    learned_us = msgspec.convert(last.notes[SLACK], dict[str, int])
    assert (learned_us["frame_fusion"], learned_us["individual_possession"]) == (90_000, 150_000)

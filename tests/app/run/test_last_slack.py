"""A match begins with the K's of the newest one of the same input that has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.pipeline.pipeline import MatchPipeline
from app.run.last_slack import NOTE, with_last_slack
from app.settings.model import LiveSettings
from app.settings.resolve import make_settings
from app.settings.slack import parse_slack
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore


def played(folder: Path, created: str, slack_us: Any, **given: Any) -> None:
    """A store of a match that has ended with these K's."""
    run = {"settings": make_settings(given).stored_options(), "created": created}
    MatchStore.create(folder, MatchSheet(), run).commit(0, {}, {"ended": True, NOTE: slack_us})


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


def test_a_pipeline_notes_its_slack_once_it_has_ended():
    pipeline = MatchPipeline(MatchSheet())
    assert pipeline.commit_meta()[NOTE] == {}
    pipeline.finish()
    slack_us = pipeline.commit_meta()[NOTE]
    assert isinstance(slack_us, dict)
    assert "conditioning" in slack_us or slack_us == {}, "by detector"

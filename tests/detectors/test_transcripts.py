"""Scenes told in ``transcripts*.yaml`` come out as expected, on optical and on radio-like input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from detectors.catalogue import catalogue
from tests.detectors import stage

FILES = sorted(Path(__file__).parent.glob("transcripts*.yaml"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in yaml.safe_load(file.read_text())]
QUALITIES = {"optical": stage.OPTICAL, "rtls": stage.RTLS}

#: Detectors of which positions of feet, bodies and one ball in a minute tell nothing that is published, and why.
NOT_ON_STAGE = {
    "player_fusion": "states of players; a second source that is switched to",
    "active_ball": "one ball",
    "frame_fusion": "frames of all",
    "transmitter_health": "nobody falls silent",
    "official": "officials' words",
    "player_down": "hands",
    "leg_swing": "feet that move apart",
    "players_on_pitch": "whole minutes",
    "scene": "who stands where, for the level above",
}


@pytest.mark.parametrize(
    ("case", "quality"),
    [pytest.param(case, q, id=f"{case['name']} ({q})") for case in CASES for q in case["inputs"]],
)
def test_transcript(case: dict[str, Any], quality: str) -> None:
    players = {"home_1": [(0, -51, 0)], "away_1": [(0, 51.5, 0.4)], **case["players"]}
    events = stage.play(case["ball"], players, case["seconds"], QUALITIES[quality], extra=case.get("extra", ()))
    told = stage.lines(events, *case["look_at"])
    assert sorted(told) == sorted(tuple(row) for row in case["expect"]), told


def test_scenes_have_names_of_their_own() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names)


def test_every_detector_has_a_transcript() -> None:
    told = {row[0] for case in CASES for row in case["expect"]}
    without = {entry.kind for entry in catalogue() if not told & {*entry.outputs}}
    assert without == {*NOT_ON_STAGE}


def test_a_transcript_with_a_wrong_expectation_fails() -> None:
    case = dict(CASES[0], expect=[["hit", "", "away_4"]])
    with pytest.raises(AssertionError):
        test_transcript(case, "optical")

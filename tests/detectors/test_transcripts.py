"""Scenes told in ``transcripts*.yaml`` come out as expected, on optical and on radio-like input; runner one of three.

The other two are ``test_transcripts_in_disorder`` (the middleware in process) and ``tests/app``'s, through Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from detectors.catalogue import DETECTORS, OPT_IN, build_detectors, catalogue
from football.match_sheet import MatchSheet
from middleware.oracle import sorted_replay
from tests.detectors.contract import wrong_payloads
from tests.detectors.plays import CASES, QUALITIES, rows, story

#: Detectors whose events need many minutes of play, more than a scene has; their own tests have hand-made inputs.
NEED_MINUTES = frozenset(("fatigue", "role_swap"))


def cases() -> Iterator[Any]:
    """All on optical input; of those that are on radio as well every second on both, the others are slow on radio."""
    radio = 0
    for case in CASES:
        for quality in case["inputs"]:
            radio += quality == "rtls" and "optical" in case["inputs"]
            slow = quality == "rtls" and "optical" in case["inputs"] and radio % 2 == 0
            yield pytest.param(case, quality, id=f"{case['name']} ({quality})", marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(("case", "quality"), list(cases()))
def test_transcript(case: dict[str, Any], quality: str) -> None:
    transcript = story(case, quality)
    events = list(sorted_replay(transcript.hierarchy, (one.event for one in transcript.arrivals)))
    assert wrong_payloads(transcript.hierarchy.detectors, events) == []
    found = rows(events, *case["look_at"])
    assert found == sorted(tuple(row) for row in case["expect"]), found


def test_scenes_have_names_of_their_own() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names)


def test_every_detector_has_a_transcript() -> None:
    """On some input that wants the detector a scene expects an event of a kind that it gives."""
    covered, there = set[str](), set[str]()
    for quality, declared in QUALITIES.items():
        kinds = {row[0] for case in CASES if quality in case["inputs"] for row in case["expect"]}
        detectors = build_detectors(MatchSheet(quality=declared), extra=OPT_IN)
        there |= {detector.spec.name for detector in detectors}
        covered |= {detector.spec.name for detector in detectors if kinds & {*detector.spec.outputs}}
    assert len(there) == len(DETECTORS)
    assert there - covered == NEED_MINUTES


def test_a_transcript_with_a_wrong_expectation_fails() -> None:
    case = dict(CASES[0], expect=[["hit", "", "away_4"]])
    with pytest.raises(AssertionError):
        test_transcript(case, "optical")


def test_every_transcript_has_something_to_see_from_outside() -> None:
    """Through Spark only what is published comes out; a scene for a detector inside must show in that, too."""
    inside = {types.kind for entry in catalogue() for types in entry.types if types.internal}
    assert [case["name"] for case in CASES if not {*case["look_at"]} - inside] == []

"""The labelled clip: what was measured once must not be lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.opta_clip import cases, detected_in
from replay.scoring.figures import score


@pytest.fixture(scope="module")
def played(shared_data: Path):
    return detected_in(shared_data / "opta_tracab_clip")


def test_passes_and_the_shot_agree_with_the_labels(played):
    truth, found = played
    kinds = score(truth, found).kinds
    report = "\n".join(cases(truth, found))
    assert kinds["pass.attempt"].f1 >= 0.90, report
    assert (kinds["shot.attempt"].tp, kinds["shot.attempt"].fn) == (1, 0), report
    assert kinds["pass.complete"].f1 >= 0.8, report
    assert kinds["pass.failed"].f1 >= 0.75, report


def test_the_ball_is_in_play_and_a_teams_when_the_provider_says_so(played):
    frames = score(*played).frames
    assert frames["in_play"].agreement >= 0.98
    assert frames["in_play"].live >= 0.97
    assert frames["team_possession"].agreement >= 0.92

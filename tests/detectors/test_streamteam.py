"""Known faults and gaps of StreamTeam (hierarchy document, a.1), each with a scene that is detected here.

Where a fault is tested elsewhere: a box of a team wholly in negative x (``test_control``), a free kick on the penalty
mark (``test_laws``), half-time and changed ends (``test_laws``), any disorder (all that runs through the middleware).
"""

from __future__ import annotations

import pytest

from detectors.catalogue import catalogue
from tests.detectors.plays import CASES

#: What it has no event for, and ours.
MISSING = {
    "shot on target": "shot.on_target_pred", "save": "shot.saved", "block": "shot.blocked", "post": "shot.post",
    "own goal": "goal.own", "foul": "official.foul", "card": "official.card", "substitution": "sub.in",
    "offside offence": "offside.offence", "header": "header", "body part": "bodypart", "xG": "shot.xg",
}  # fmt: skip
#: What it gets wrong, and the scene in which we do not.
SCENES = {
    "saved shots become interceptions": "a drive at the goal is a shot, and the goalkeeper who holds it saves",
    "teams of unequal size cannot kick off": "three against five kick off",
    "the line is clamped for the team that plays to the right alone": (
        "offside holds for the team that plays to the left, beyond its opponents and not beyond the halfway line alone"
    ),
}


@pytest.mark.parametrize("what", MISSING)
def test_there_is_an_event_for_it_and_a_scene_that_has_it(what: str) -> None:
    kind = MISSING[what]
    assert kind in {t.kind for entry in catalogue() for t in entry.types if not t.internal}
    assert [case["name"] for case in CASES if kind in {row[0] for row in case["expect"]}]


@pytest.mark.parametrize("what", SCENES)
def test_there_is_a_scene_in_which_it_is_right(what: str) -> None:
    (case,) = (case for case in CASES if case["name"] == SCENES[what])
    assert case["expect"]


def test_a_saved_shot_is_looked_at_for_interceptions() -> None:
    """All that the scene looks at must come out as expected: what is looked at and not expected must not be there."""
    (case,) = (case for case in CASES if case["name"] == SCENES["saved shots become interceptions"])
    assert {"interception", "pass.intercepted"} <= {*case["look_at"]} - {row[0] for row in case["expect"]}

"""The shipped patterns of football: each finds its scene, and does not find its counter-scene."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detectors.catalogue import catalogue
from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.syntax import PatternEvent, steps_of

FOLDER = Path(__file__).resolve().parents[3] / "patterns"

_ALERTS = {
    "alert_goal": "goal.scored", "alert_own_goal": "goal.own", "alert_no_goal": "goal.disallowed",
    "alert_review": "official.var", "alert_card": "official.card", "alert_sent_off": "sendoff.suspected",
}  # fmt: skip

#: Pattern -> scene, its matches, counter-scene. An event is: seconds, kind, id, values.
SCENES: dict[str, tuple[str, list[str], str]] = {
    "corner_second_ball": (
        "0 restart.corner c team=home; 2 clearance d team=away; 6.5 shot.attempt s team=home player=h9",
        ["c d s"],
        "0 restart.corner c team=home; 2 clearance d team=away; 6.5 shot.attempt s team=away player=a9",
    ),
    "box_then_long": (
        "0 pass.complete p1 team=home x_m=-40 y_m=3; 2 pass.complete p2 team=home x_m=-45 y_m=-10;"
        "4 pass.complete p3 team=home x_m=-44 y_m=8; 7 pass.complete l team=home x_m=5 y_m=8 start_x_m=-44 length_m=49",
        ["p1 p2 p3 l"],
        "0 pass.complete p1 team=home x_m=-40 y_m=3; 2 pass.complete p2 team=home x_m=-30 y_m=-10;"
        "4 pass.complete p3 team=home x_m=-44 y_m=8; 7 pass.complete l team=home x_m=5 y_m=8 start_x_m=-44 length_m=49",
    ),
    "regain_to_shot": (
        "0 interception i team=away; 4 recovery r team=home; 9 shot.attempt s team=home; 12 play.dead d",
        ["r s"],
        "0 interception i team=home; 4 play.dead d; 9 shot.attempt s team=home",
    ),
    "give_and_go": (
        "0 pass.complete x team=home player=h1 receiver=h2; 3 pass.complete y team=home player=h2 receiver=h1",
        ["x y"],
        "0 pass.complete x team=home player=h1 receiver=h2; 3 pass.complete y team=home player=h2 receiver=h3",
    ),
    "switch_then_cross": (
        "0 pass.complete p team=home start_y_m=-25 y_m=22; 4 pass.intercepted q team=away; 6 cross c team=home",
        ["p c"],
        "0 pass.complete p team=home start_y_m=-25 y_m=22; 4 pass.intercepted q team=home; 6 cross c team=home",
    ),
    "cross_without_shot": (
        "0 cross c team=home; 3 shot.attempt s team=away; 5 clearance l team=away",
        ["c l"],
        "0 cross c team=home; 3 shot.attempt s team=home; 5 clearance l team=away",
    ),
    "three_shots": (
        "0 shot.attempt a team=home; 9 shot.attempt b team=home; 11 shot.attempt x team=away;"
        "30 shot.attempt c team=home",
        ["a b c"],
        "0 shot.attempt a team=home; 9 shot.attempt b team=home; 31 shot.attempt c team=home",
    ),
    "past_him_and_shoot": (
        "0 takeon.won t player=h9 x_m=30 y_m=0; 2 shot.attempt s player=h9 x_m=38 y_m=4",
        ["t s"],
        "0 takeon.won t player=h9 x_m=30 y_m=0; 2 shot.attempt s player=h8 x_m=38 y_m=4",
    ),
    "goal_kick_punished": (
        "0 restart.goal_kick g team=home; 5 pass.intercepted p team=home; 11 shot.attempt s team=away",
        ["g p s"],
        "0 restart.goal_kick g team=home; 5 pass.intercepted p team=away; 11 shot.attempt s team=away",
    ),
    "busy_defender": (
        "0 interception i player=h4; 20 clearance c player=h4; 44 tackle.won t player=h4",
        ["i c t"],
        "0 interception i player=h4; 20 clearance c player=h4; 61 tackle.won t player=h4",
    ),
    "counter_goal": (
        "0 counter.start c team=home; 9 goal.scored g team=home",
        ["c g"],
        "0 counter.start c team=home; 9 goal.scored g team=away",
    ),
    "post_then_goal": (
        "0 shot.post p team=away; 3 goal.scored g team=away",
        ["p g"],
        "0 shot.post p team=away; 11 goal.scored g team=away",
    ),
    "rebound_goal": (
        "0 shot.saved s team=away player=a1; 2 goal.scored g team=home player=h9",
        ["s g"],
        "0 shot.saved s team=away player=a1; 7 goal.scored g team=home player=h9",
    ),
    "penalty_saved": (
        "0 restart.penalty p team=home player=h9; 1 shot.saved s team=away player=a1",
        ["p s"],
        "0 restart.penalty p team=home player=h9; 1 goal.scored g team=home; 30 shot.saved s team=away",
    ),
    "corner_goal": (
        "0 restart.corner c team=home; 8 goal.scored g team=home",
        ["c g"],
        "0 restart.corner c team=home; 11 goal.scored g team=away",
    ),
    "direct_free_kick": (
        "0 restart.free_kick f player=h8; 0.2 shot.attempt s player=h8",
        ["f s"],
        "0 restart.free_kick f player=h8; 2 shot.attempt s player=h9",
    ),
    "throw_to_box": (
        "0 restart.throw_in t team=home; 3 entry e team=home variant=box,_centre_lane",
        ["t e"],
        "0 restart.throw_in t team=home; 3 entry e team=home variant=third,_left_wing",
    ),
    "quick_throw": (
        "0 out o; 4 restart.throw_in t team=home",
        ["o t"],
        "0 out o; 9 restart.throw_in t team=home",
    ),
    "keeper_starts_attack": (
        "0 gk.claim c player=h1 team=home; 4 pass.complete p player=h1 team=home length_m=45;"
        " 12 shot.attempt s team=home",
        ["c p s"],
        "0 gk.claim c player=h1 team=home; 4 pass.complete p player=h1 team=home length_m=12;"
        " 12 shot.attempt s team=home",
    ),
    "counterpress_to_shot": (
        "0 counterpress.won w team=home; 6 shot.attempt s team=home",
        ["w s"],
        "0 counterpress.won w team=home; 9 shot.attempt s team=home",
    ),
    "tackle_to_counter": (
        "0 tackle.won t team=away player=a5; 5 counter.start c team=away",
        ["t c"],
        "0 tackle.won t team=away player=a5; 5 counter.start c team=home",
    ),
    "lost_dribble_punished": (
        "0 takeon.lost t team=home player=h7; 10 shot.attempt s team=away",
        ["t s"],
        "0 takeon.lost t team=home player=h7; 10 shot.attempt s team=home",
    ),
    "back_pass_lost": (
        "0 gk.backpass b team=home; 3 pass.intercepted p team=home; 9 shot.attempt s team=away",
        ["b p s"],
        "0 gk.backpass b team=home; 3 pass.intercepted p team=away; 9 shot.attempt s team=away",
    ),
    "double_save": (
        "0 shot.saved a player=h1; 3 shot.saved b player=h1",
        ["a b"],
        "0 shot.saved a player=h1; 3 shot.saved b player=a1",
    ),
    "blocked_twice": (
        "0 shot.blocked a team=home; 5 shot.blocked b team=home",
        ["a b"],
        "0 shot.blocked a team=home; 5 shot.blocked b team=away",
    ),
    "head_and_shoot": (
        "0 cross c team=home; 1.5 header h team=home; 3 shot.attempt s team=home",
        ["c h s"],
        "0 cross c team=home; 1.5 header h team=away; 3 shot.attempt s team=home",
    ),
    "aerial_then_shot": (
        "0 aerial.won a team=home; 4 shot.attempt s team=home",
        ["a s"],
        "0 aerial.won a team=away; 4 shot.attempt s team=home",
    ),
    "through_and_shot": (
        "0 pass.through p team=home player=h8; 3 shot.attempt s team=home player=h9",
        ["p s"],
        "0 pass.through p team=home player=h8; 1 play.dead d; 3 shot.attempt s team=home player=h9",
    ),
    "two_lines_broken": (
        "0 linebreak a team=home; 5 linebreak b team=home; 9 entry e team=home",
        ["a b e"],
        "0 linebreak a team=home; 5 linebreak b team=away; 9 entry e team=home",
    ),
    "eight_outplayed": (
        "0 packing a team=home opponents=5; 6 packing b team=home opponents=3",
        ["a b"],
        "0 packing a team=home opponents=4; 6 packing b team=home opponents=3",
    ),
    "carry_and_shoot": (
        "0 progress.carry c player=h7 gain_m=14; 2 shot.attempt s player=h7",
        ["c s"],
        "0 progress.carry c player=h7 gain_m=14; 2 shot.attempt s player=h9",
    ),
    "sprint_to_cross": (
        "0 sprint.start r player=h2; 5 cross c player=h2",
        ["r c"],
        "0 sprint.start r player=h3; 5 cross c player=h2",
    ),
    "back_and_tackle": (
        "0 run.recovery r player=h6; 4 tackle.won t player=h6",
        ["r t"],
        "0 run.recovery r player=h6; 9 tackle.won t player=h6",
    ),
    "scored_and_conceded": (
        "0 goal.scored a team=home; 200 goal.scored b team=away",
        ["a b"],
        "0 goal.scored a team=home; 200 goal.scored b team=home",
    ),
    "brace": (
        "0 goal.scored a player=h9; 900 goal.scored b player=h9",
        ["a b"],
        "0 goal.scored a player=h9; 900 goal.scored b player=h10",
    ),
    "offside_again": (
        "0 offside.offence a team=away; 150 offside.offence b team=away",
        ["a b"],
        "0 offside.offence a team=away; 150 offside.offence b team=home",
    ),
    "foul_and_card": (
        "0 official.foul f team=home; 40 official.card c team=home player=h4",
        ["f c"],
        "0 official.foul f team=home; 40 official.card c team=away player=a4",
    ),
    "three_corners": (
        "0 restart.corner a team=home; 50 restart.corner b team=home; 120 restart.corner c team=home",
        ["a b c"],
        "0 restart.corner a team=home; 50 restart.corner b team=home; 190 restart.corner c team=home",
    ),
    "keeper_sweeps_up": (
        "0 pass.attempt p team=home; 4 gk.sweep g team=away player=a1",
        ["p g"],
        "0 pass.attempt p team=away; 4 gk.sweep g team=away player=a1",
    ),
    "ten_passes_and_goal": (
        "0 sequence.step q team=home passes=10; 20 goal.scored g team=home",
        ["q g"],
        "0 sequence.step q team=home passes=9; 20 goal.scored g team=home",
    ),
}


SCENES |= {
    name: (f"1 {kind} e1 team=home; 1 {kind} e2 team=away", ["e1", "e2"], "1 goal.candidate c; 1 sendoff.other s")
    for name, kind in _ALERTS.items()
}


def value(text: str) -> Any:
    """A number if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def events_of(scene: str) -> list[PatternEvent]:
    """The events of a scene."""
    found = []
    for line in scene.split(";"):
        seconds, kind, name, *values = line.split()
        payload = {
            key: value(text.replace("_", " ") if key == "variant" else text)
            for key, _, text in (one.partition("=") for one in values)
        }
        found.append(PatternEvent(round(float(seconds) * 1e6), (kind,), name, kind, payload))
    return found


def text_of(name: str) -> str:
    """The text of a shipped pattern."""
    (file,) = FOLDER.rglob(f"{name}.touchline")
    return file.read_text(encoding="utf-8")


def matches_of(name: str, scene: str) -> list[str]:
    """The matches of a shipped pattern in a scene, whose events arrive in reverse."""
    matcher = Matcher([parse(text_of(name))])
    for one in reversed(events_of(scene)):
        matcher.push(one)
    return sorted(" ".join(event.id for event in match) for _, match in matcher.matches())


def test_every_shipped_pattern_has_a_scene_and_a_counter_scene():
    assert {path.stem for path in FOLDER.rglob("*.touchline")} == SCENES.keys()


@pytest.mark.parametrize("name", SCENES)
def test_a_shipped_pattern_finds_its_scene_and_not_its_counter_scene(name: str):
    scene, expected, counter = SCENES[name]
    assert matches_of(name, scene) == expected
    assert matches_of(name, counter) == []


@pytest.mark.parametrize("name", SCENES)
def test_the_kinds_of_a_shipped_pattern_exist(name: str):
    known = {kind for info in catalogue() for kind in info.outputs}
    query = parse(text_of(name))
    assert {step.kind for step in steps_of(query.structure)} <= known

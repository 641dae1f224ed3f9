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
        "0 cross c team=home; 3 shot.attempt s team=away",
        ["c"],
        "0 cross c team=home; 3 shot.attempt s team=home",
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
        payload = {key: value(text) for key, _, text in (one.partition("=") for one in values)}
        found.append(PatternEvent(round(float(seconds) * 1e6), (kind,), name, kind, payload))
    return found


def matches_of(name: str, scene: str) -> list[str]:
    """The matches of a shipped pattern in a scene, whose events arrive in reverse."""
    matcher = Matcher([parse((FOLDER / f"{name}.touchline").read_text(encoding="utf-8"))])
    for one in reversed(events_of(scene)):
        matcher.push(one)
    return sorted(" ".join(event.id for event in match) for _, match in matcher.matches())


def test_every_shipped_pattern_has_a_scene_and_a_counter_scene():
    assert {path.stem for path in FOLDER.glob("*.touchline")} == SCENES.keys()


@pytest.mark.parametrize("name", SCENES)
def test_a_shipped_pattern_finds_its_scene_and_not_its_counter_scene(name: str):
    scene, expected, counter = SCENES[name]
    assert matches_of(name, scene) == expected
    assert matches_of(name, counter) == []


@pytest.mark.parametrize("name", SCENES)
def test_the_kinds_of_a_shipped_pattern_exist(name: str):
    known = {kind for info in catalogue() for kind in info.outputs}
    query = parse((FOLDER / f"{name}.touchline").read_text(encoding="utf-8"))
    assert {step.kind for step in steps_of(query.structure)} <= known

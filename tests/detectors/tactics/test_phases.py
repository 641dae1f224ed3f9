"""12.6, 13.1 and 13.2 on hand-made scenes: overloads and phases."""

from __future__ import annotations

import msgspec
import pytest

from detectors.tactics.overload import Overload
from detectors.tactics.phases import Phases
from football.match_sheet import MatchSheet, Player
from middleware.events import Event
from tests.detectors.chains.test_chains import about
from tests.detectors.scene import fold
from tests.detectors.tactics.test_pressing import Motion, looked

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True), Player("away_1", "away", goalkeeper=True)))


def team_at(height_m: float, front_m: float = 30.0) -> dict[str, Motion]:
    """The away team: a goalkeeper, four at a height above their goal line at +52.5 m, and six in front of them."""
    line = {f"away_{n}": (52.5 - height_m, 10.0 * n - 35.0, 0.0, 0.0) for n in range(2, 6)}
    front = {f"away_{n}": (52.5 - height_m - front_m, 8.0 * n - 60.0, 0.0, 0.0) for n in range(6, 12)}
    return {"away_1": (52.0, 0.0, 0.0, 0.0), **line, **front}


def phases(
    *events: Event,
    ball: tuple[float, float] = (0.0, 0.0),
    height_m: float = 30.0,
    seconds: int = 4,
    began: str = "gain",
    from_s: float = 10.0,
    front_m: float = 30.0,
) -> list[tuple[str, str, str]]:
    """Kind, phase and team of a chain of the home team that began at 1 s, looked at from a second on."""
    looks = [looked(from_s + n, team_at(height_m, front_m), ball) for n in range(seconds)]
    chain = about("chain.start", 1.0, "home_6", began=began)
    out = fold(Phases(SHEET), sorted([chain, *events, *looks], key=lambda e: e.ts_us))
    return [(e.kind, e.payload.variant, e.payload.team) for e in out]


@pytest.mark.parametrize(
    ("ball", "phase"),
    [((0.0, 0.0), "progression"), ((25.0, 0.0), "final third"), ((-30.0, 33.0), "build-up unopposed"),
     ((-7.5 - 18.0, 20.0), "build-up opposed")],
)  # fmt: skip
def test_the_phase_of_the_ball_follows_its_place(ball, phase):
    front_m = 48.0 if phase == "build-up opposed" else 10.0
    assert ("phase.in", phase, "home") in phases(ball=ball, front_m=front_m)


@pytest.mark.parametrize(
    ("events", "began", "from_s", "phase"),
    [
        ([], "gain", 2.0, "transition"),
        ([], "corner", 2.0, "set piece"),
        ([about("pass.len", 9.5, "home_6", variant="long")], "gain", 10.0, "long ball"),
    ],
)
def test_a_phase_by_what_happened(events, began, from_s, phase):
    assert phases(*events, began=began, from_s=from_s)[0] == ("phase.in", phase, "home")


def test_a_counter_attack_replaces_the_phases_of_its_chain_once_it_is_one_for_certain():
    certain = about("counter.start", 7.5, "home")
    hoped = msgspec.structs.replace(certain, payload=msgspec.structs.replace(certain.payload, confidence=0.5))
    assert ("phase.in", "counter", "home") not in phases(hoped, from_s=2.0, seconds=6)
    chain = about("chain.start", 1.0, "home_6", began="gain")
    looks = [looked(2.0 + n, team_at(30.0), (0.0, 0.0)) for n in range(9)]
    out = fold(Phases(SHEET), sorted([chain, certain, *looks], key=lambda e: e.ts_us))
    found = [(e.payload.variant, e.dated_us, bool(e.annuls)) for e in out if e.kind == "phase.in"]
    assert found == [
        ("transition", 2_000_000, False), ("transition", 2_000_000, True), ("counter", 1_000_000, False),
    ]  # fmt: skip


@pytest.mark.parametrize(("height_m", "band"), [(20.0, "low"), (30.0, "mid"), (45.0, "high")])
def test_a_team_without_the_ball_stands_in_a_block_or_presses(height_m, band):
    assert ("phase.out", f"{band} block", "away") in phases(height_m=height_m, front_m=5.0)
    press = about("press.team.start", 9.0, "away")
    assert ("phase.out", f"{band} press", "away") in phases(press, height_m=height_m, front_m=5.0)


def test_after_its_loss_a_team_counter_presses_is_in_transition_or_recovers():
    pressed = about("counterpress.start", 2.0, "away_6")
    assert ("phase.out", "counter-press", "away") in phases(pressed, from_s=2.0)
    assert ("phase.out", "transition", "away") in phases(from_s=2.0)
    assert ("phase.out", "recovery", "away") in phases(ball=(20.0, 0.0))


def test_a_phase_of_a_moment_dead_play_and_no_chain_have_none():
    assert phases(seconds=2) == []
    assert phases(about("play.dead", 5.0)) == []
    assert fold(Phases(SHEET), [looked(1.0 + n, team_at(30.0)) for n in range(5)]) == []


# -- 12.6 --------------------------------------------------------------------------------------------------------


def overloads(others: int, seconds: float = 1.2, others_y: float = 0.0) -> list[tuple[str, str]]:
    own = {f"home_{n}": (2.0 * n - 8.0, 0.5, 0.0, 0.0) for n in range(4, 7)}
    rivals = {f"away_{n}": (3.0 * n, others_y, 0.0, 0.0) for n in range(1, 1 + others)}
    scenes = [looked(1.0 + 0.2 * n, {**own, **rivals}) for n in range(round(5 * seconds) + 1)]
    held = [Event("scene", e.ts_us, "scene", e.seq, _held(e.payload)) for e in scenes]
    return [(e.payload.variant, e.payload.team) for e in fold(Overload(), held)]


def _held(scene):
    return msgspec.structs.replace(scene, holder="home_4", holder_team="home")


def test_two_players_more_near_the_ball_for_a_second_are_an_overload():
    assert overloads(others=1) == [("centre lane", "home")]
    assert overloads(others=2) == []
    assert overloads(others=2, others_y=14.0) == [("centre lane", "home")], "those stand in another lane"
    assert overloads(others=1, seconds=0.6) == []

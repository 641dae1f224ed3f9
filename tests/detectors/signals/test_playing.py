"""Those who play (part of 1.8): eleven a side, out of everybody who is tracked."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from detectors.signals.playing import Lineup, WhoPlays
from football.match_sheet import MatchSheet, Player
from football.payloads import BodyState
from tests.detectors.scene import body, cast

STARTING = MatchSheet(
    players=tuple(Player(f"{t}_{n}", t, starts=n < 12) for t in ("home", "away") for n in range(1, 19))  # type: ignore[arg-type]
)
NOBODY = MatchSheet()

Places = Mapping[str, tuple[float, float]]


class Watch:
    """Follows who plays, look after look."""

    def __init__(self, sheet: MatchSheet = NOBODY) -> None:
        self.who, self.lineup, self.now_s = WhoPlays(sheet), Lineup(), 0.0

    def look(self, seconds: float, bodies: tuple[BodyState, ...]) -> set[str]:
        """Return those who play after some seconds in which everybody stays where he is, shifting his feet."""
        until_s = self.now_s + seconds
        while self.now_s < until_s:
            shift_m = 0.6 * (int(self.now_s) % 2)
            now = tuple(
                body(b.object_id, b.x_m + shift_m * (b.object_id not in STANDING), b.y_m)
                for b in sorted(bodies, key=lambda b: b.object_id)
            )
            self.lineup = self.who.look(self.lineup, round(self.now_s * 1e6), now, tuple(b.object_id for b in now))
            self.now_s += 0.2
        return {b.object_id for b in bodies} - self.lineup.resting


#: People who do not move at all in a watch.
STANDING: set[str] = set()

BENCH = {f"{t}_{n}": (x_m, -39.0) for t, x_m in (("home", -6.0), ("away", 6.0)) for n in range(12, 19)}
ELEVENS = {b.object_id for b in cast()}


def everybody(**moved: tuple[float, float]) -> tuple[BodyState, ...]:
    return cast(**{**BENCH, **moved})


@pytest.mark.parametrize("sheet", [NOBODY, STARTING], ids=["no sheet", "with starters"])
def test_the_bench_does_not_play_from_the_first_frame_on(sheet: MatchSheet) -> None:
    assert Watch(sheet).look(0.1, everybody()) == ELEVENS


def test_nobody_who_warms_up_behind_the_goal_or_walks_along_the_line_plays() -> None:
    watch = Watch()
    watch.look(5.0, everybody())
    for at in ((-54.0, 20.0), (-53.0, 10.0), (0.0, -34.5), (30.0, 34.9)):
        assert watch.look(20.0, everybody(home_14=at)) == ELEVENS


def test_who_steps_on_the_pitch_for_a_moment_does_not_play_and_a_full_team_has_no_place() -> None:
    watch = Watch()
    watch.look(5.0, everybody())
    assert watch.look(1.5, everybody(home_14=(-20.0, -33.0))) == ELEVENS
    assert watch.look(30.0, everybody(home_14=(-20.0, -20.0))) == ELEVENS


def test_a_thrower_a_corner_taker_and_who_fetches_the_ball_play() -> None:
    watch = Watch()
    watch.look(5.0, everybody())
    assert watch.look(12.0, everybody(home_7=(10.0, 38.0))) == ELEVENS
    assert watch.look(60.0, everybody(home_7=(10.0, 34.6))) == ELEVENS
    assert watch.look(20.0, everybody(home_7=(10.0, 40.0))) == ELEVENS - {"home_7"}
    assert watch.look(0.2, everybody(home_7=(10.0, 34.6))) == ELEVENS


def test_a_substitution_needs_no_word() -> None:
    watch = Watch()
    watch.look(5.0, everybody())
    watch.look(10.0, everybody(home_7=(-3.0, -38.0)))
    now = watch.look(2.4, everybody(home_7=(-3.0, -38.0), home_14=(-2.0, -30.0)))
    assert now == ELEVENS - {"home_7"} | {"home_14"}
    assert watch.look(5.0, everybody(home_7=(-3.0, 0.0), home_14=(-2.0, -30.0))) == now, "he may not return"


def test_a_substitute_of_ten_takes_the_place_of_the_mate_who_is_outside() -> None:
    watch = Watch()
    ten = tuple(b for b in everybody() if b.object_id != "home_5")
    watch.look(5.0, ten)
    off = tuple(body("home_7", -3.0, -38.0) if b.object_id == "home_7" else b for b in ten)
    assert "home_7" in watch.look(4.0, off)
    change = tuple(body("home_14", -2.0, -30.0) if b.object_id == "home_14" else b for b in off)
    assert watch.look(2.4, change) == ELEVENS - {"home_5", "home_7"} | {"home_14"}


def test_a_player_who_was_sent_off_leaves_ten() -> None:
    watch = Watch()
    watch.look(5.0, everybody())
    assert watch.look(20.0, everybody(away_5=(6.0, -40.0))) == ELEVENS - {"away_5"}


def test_a_tag_that_lies_on_the_pitch_gives_way_to_another_one() -> None:
    watch = Watch()
    STANDING.add("home_7")
    try:
        watch.look(70.0, everybody(home_7=(-5.0, -33.0)))
        now = watch.look(3.0, everybody(home_7=(-5.0, -33.0), home_14=(-5.0, -20.0)))
    finally:
        STANDING.clear()
    assert now == ELEVENS - {"home_7"} | {"home_14"}


def test_after_the_break_those_who_line_up_play_whoever_warmed_up_meanwhile() -> None:
    watch = Watch(STARTING)
    watch.look(5.0, everybody())
    inside = dict.fromkeys(ELEVENS, (-3.0, -45.0))
    warming = {name: (20.0 * (1 if name > "b" else -1), 3.0 * int(name[5:]) - 40.0) for name in BENCH}
    assert watch.look(60.0, everybody(**inside, **warming)) == set(BENCH)
    both = watch.look(1.0, everybody(**warming))
    assert {t: sum(name.startswith(t) for name in both) for t in ("home", "away")} == {"home": 11, "away": 11}
    assert watch.look(6.0, everybody()) == ELEVENS


def test_people_without_a_team_play_only_where_nobody_has_one() -> None:
    boy = BodyState("boy", "", "", 10.0, 5.0, 0.0, 0.0, 0.0)
    who, lineup = WhoPlays(NOBODY), Lineup()
    bodies = (boy, *everybody())
    assert "boy" in who.look(lineup, 0, bodies, tuple(b.object_id for b in bodies)).resting
    strangers = tuple(BodyState(f"p{n}", "", "", float(n), 5.0, 0.0, 0.0, 0.0) for n in range(22))
    assert not who.look(lineup, 0, strangers, tuple(b.object_id for b in strangers)).resting


def test_whoever_walks_wherever_at_most_eleven_of_a_team_play() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        who, lineup = WhoPlays(STARTING if seed % 2 else NOBODY), Lineup()
        places = {f"{t}_{n}": [rng.uniform(-60, 60), rng.uniform(-40, 40)] for t in ("home", "away") for n in range(16)}
        for look in range(300):
            for place in places.values():
                place[0] += rng.gauss(0, 2.0)
                place[1] += rng.gauss(0, 2.0)
            there = tuple(body(n, *places[n]) for n in sorted(places) if rng.random() > 0.05)
            lineup = who.look(lineup, look * 200_000, there, tuple(b.object_id for b in there))
            on = [b.object_id for b in there if b.object_id not in lineup.resting]
            for team in ("home", "away"):
                count = sum(name.startswith(team) for name in on)
                assert count <= 11, f"seed {seed}, look {look}: {count} of {team}"

"""12.13: formations, from places that are a template's, disturbed, turned round, and changed."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.chains.formations import SHAPES, Formation, cost, template
from detectors.control.scene import Scene
from football.match_sheet import MatchSheet, Player, Team
from middleware.events import Event
from tests.detectors.scene import body, fold

#: Mean places of a 4-2-3-1 whose two midfielders stand half way to the three before them (simulated, seed 332).
ADVANCED = np.array([
    (-10.2, 20.3), (-16.1, 6.3), (-15.9, -6.3), (-9.7, -20.5), (2.1, 6.5), (0.0, -5.9),
    (10.8, 18.1), (11.5, -0.6), (10.8, -18.3), (16.8, 0.2),
])  # fmt: skip
SHEET = MatchSheet(players=tuple(Player(f"{t}_1", t, goalkeeper=True) for t in ("home", "away")))  # type: ignore[arg-type]


def team(name: str, shape: str, sign: float, rng: np.random.Generator, at_m: float, noise_m: float = 2.0):
    """Return eleven players who stand in a shape round a place, with noise; the goalkeeper behind."""
    places = template(shape) * (16.0, 24.0) + rng.normal(0.0, noise_m, (10, 2))
    players = [body(f"{name}_{i + 2}", sign * (at_m + u), sign * w) for i, (u, w) in enumerate(places.tolist())]
    return tuple(sorted([body(f"{name}_1", -sign * 50.0, 0.0), *players], key=lambda b: b.object_id))


def scenes(*stretches: tuple[int, str, str], attacks: Team = "home", live: bool = True, men: int = 11) -> list[Event]:
    """Return a scene a second; of each stretch its seconds and both shapes. The blocks move up and down the pitch."""
    rng, events = np.random.default_rng(7), list[Event]()
    for seconds, home, away in stretches:
        for _ in range(seconds):
            at_s, sign = len(events), 1.0 if attacks == "home" else -1.0
            at_m = 15.0 * np.sin(at_s / 9.0)
            sides = team("home", home, sign, rng, at_m), team("away", away, -sign, rng, -at_m)
            scene = Scene(None, sides[0][:men], sides[1], attacks, live)
            events.append(Event("scene", at_s * 1_000_000, "scene", at_s, scene))
    return events


def found(events: list[Event]) -> list[tuple[str, str, int, int]]:
    """Return team, shape, and when it began and was known, in seconds."""
    out = fold(Formation(SHEET), events)
    return sorted((e.payload.team, e.payload.variant, (e.dated_us or 0) // 10**6, e.ts_us // 10**6) for e in out)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_template_is_its_own_cheapest_one(shape):
    costs = {name: cost(template(shape), name) for name in SHAPES}
    assert costs[shape] == pytest.approx(0.0, abs=1e-12)
    assert min(value for name, value in costs.items() if name != shape) > 0.005


def test_the_spread_of_all_scales_a_team_not_its_outermost_players():
    """By the rectangle of the outermost, the first is a 4-1-4-1: the striker moves the line of three behind him."""

    def cheapest(places: np.ndarray) -> str:
        return min(SHAPES, key=lambda shape: cost(places, shape))

    assert cheapest(ADVANCED) == "4-2-3-1"
    assert cheapest(template("4-1-4-1") * (16.0, 24.0)) == "4-1-4-1"
    # Wingers a little behind their striker, one midfielder behind two others: simulated, seed 915.
    back = [(-8.6, 21.0), (-12.8, 6.3), (-13.3, -6.9), (-9.6, -20.6)]
    three = [*back, (-2.5, -0.2), (4.7, 9.5), (3.3, -8.3), (11.1, 19.9), (16.1, -0.9), (11.5, -19.7)]
    assert cheapest(np.array(three)) == "4-3-3"
    one = [*back, (-6.5, -0.2), (4.7, 9.5), (3.3, -8.3), (6.1, 19.9), (16.1, -0.9), (6.5, -19.7)]
    assert cheapest(np.array(one)) == "4-1-4-1"


def test_players_in_another_order_cost_the_same():
    shuffled = np.random.default_rng(3).permutation(ADVANCED)
    assert cost(shuffled, "4-3-3") == pytest.approx(cost(ADVANCED, "4-3-3"))


@pytest.mark.parametrize("attacks", ["home", "away"])
def test_a_shape_is_known_after_a_minute_of_play_whichever_way_the_team_attacks(attacks):
    assert found(scenes((70, "4-2-3-1", "3-5-2"), attacks=attacks)) == [
        ("away", "3-5-2", 0, 59), ("home", "4-2-3-1", 0, 59),
    ]  # fmt: skip


def test_less_than_a_minute_dead_play_or_ten_men_have_no_formation():
    assert found(scenes((58, "4-4-2", "4-4-2"))) == []
    assert found(scenes((70, "4-4-2", "4-4-2"), live=False)) == []
    assert [row[0] for row in found(scenes((70, "4-4-2", "4-4-2"), men=10))] == ["away"]


def test_a_new_shape_follows_once_it_has_held_and_a_moment_changes_nothing():
    changed = found(scenes((120, "4-4-2", "4-3-3"), (300, "3-4-3", "4-3-3")))
    assert [row[:2] for row in changed] == [("away", "4-3-3"), ("home", "3-4-3"), ("home", "4-4-2")]
    assert 120 <= changed[1][2] < changed[1][3] <= 380
    events = fold(Formation(SHEET), scenes((120, "4-4-2", "4-3-3"), (300, "3-4-3", "4-3-3")))
    assert [e.payload.detail["before"] for e in events if e.payload.team == "home"] == ["", "4-4-2"]
    assert len(found(scenes((120, "4-4-2", "4-3-3"), (30, "3-4-3", "4-3-3"), (120, "4-4-2", "4-3-3")))) == 2

"""Differential: what kernels tell of a frame is what plain loops over its players tell."""

from __future__ import annotations

import math
import random
from itertools import combinations

import msgspec
import numpy as np
import pytest

from detectors.bodies.area_watch import AreaWatch, Mark, Watch, draw
from detectors.proximity.unit_lines import unit_lines
from detectors.signals.kernels.flight_kernel import integrate
from detectors.signals.kernels.frame_kernels import nearest, opponents_within, players_within
from football.match_sheet import MatchSheet
from football.payloads import SIDES, BallState, BodyState, Frame, build_frame, nearest_players
from middleware.events import Event

SHEET = MatchSheet()


def frames(seed: int, count: int = 150) -> list[Event]:
    """Walks of two teams of whom now and then somebody is away, faster ones and slower ones, 25 Hz."""
    rng = random.Random(seed)
    size = rng.choice((1, 4, 11))
    people = [
        (f"{team}_{i}", team, [rng.uniform(-50, 50), rng.uniform(-32, 32)], rng.choice((0.5, 4.0, 9.0)))
        for team in ("away", "home")
        for i in range(1, size + 1)
    ]
    headings = {name: rng.uniform(0, 6.3) for name, *_ in people}
    found = []
    for tick in range(count):
        there = []
        for name, team, place, speed in sorted(people):
            headings[name] += rng.gauss(0, 0.3) + (3.0 if rng.random() < 0.01 else 0.0)
            place[0] += 0.04 * speed * math.cos(headings[name])
            place[1] += 0.04 * speed * math.sin(headings[name])
            if rng.random() > 0.01:
                there.append(BodyState(name, team, "", *place, 0.0, 0.0, 0.0))  # type: ignore[arg-type]
        at = rng.choice(there) if there else None
        ball = BallState(at.x_m + rng.gauss(0, 2), at.y_m, 0.1, 0.0, 0.0, 0.0, 40_000) if at else None
        found.append(Event("frame", tick * 40_000, "frame", tick, build_frame(ball, tuple(there))))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_differential_who_is_nearest_and_who_stands_by_an_opponent(seed: int) -> None:
    pairs = 0
    for frame in [e.payload for e in frames(seed)]:
        assert isinstance(frame, Frame)
        if frame.ball is not None:
            away = [
                ((b.x_m - frame.ball.x_m) * (b.x_m - frame.ball.x_m) + (b.y_m - frame.ball.y_m) ** 2, i)
                for i, b in enumerate(frame.players)
            ]
            assert frame.nearest is not None
            assert [frame.nearest.first, frame.nearest.second] == [i for _, i in sorted(away)[:2]] + [-1] * (
                2 - len(away)
            )
            for team, nearest in (("home", frame.nearest.home), ("away", frame.nearest.away)):
                mine = [pair for pair in away if frame.players[pair[1]].team == team]
                assert nearest == (min(mine)[1] if mine else -1)
        expected = {
            (i, j, math.dist((b.x_m, b.y_m), (o.x_m, o.y_m)) < 3.0)
            for i, b in enumerate(frame.players)
            for j, o in enumerate(frame.players)
            if b.team == "home" and o.team == "away" and math.dist((b.x_m, b.y_m), (o.x_m, o.y_m)) <= 3.5
        }
        emitted = opponents_within(frame, 3.0, 3.5)
        assert {(i, j, bool(near)) for i, j, near in emitted} == expected
        pairs += len(emitted)
    assert pairs or len(frame.players) < 15, "of two whole teams some stand by opponents"


@pytest.mark.parametrize("seed", range(4))
def test_differential_the_kernel_finds_the_nearest_players_that_the_loop_finds(seed: int) -> None:
    for event in frames(seed):
        frame = event.payload
        assert isinstance(frame, Frame)
        if frame.ball is not None:
            places = [(0.0, 0.0), *((b.x_m, b.y_m) for b in frame.players), (frame.ball.x_m, frame.ball.y_m)]
            sides = bytes([SIDES[b.team] for b in frame.players])
            emitted = nearest(np.array(places).T.copy(), 1, len(places) - 1, sides)
            assert emitted == msgspec.structs.astuple(nearest_players(frame.ball, frame.players))


@pytest.mark.parametrize("seed", range(4))
def test_differential_the_kernel_finds_the_players_within_reach_that_the_loop_finds(seed: int) -> None:
    found = 0
    for event in frames(seed):
        frame = event.payload
        assert isinstance(frame, Frame)
        if frame.ball is not None:
            x_m, y_m, reach_m2 = frame.ball.x_m, frame.ball.y_m, 30.0
            expected = []
            for index, body in enumerate(frame.players):
                dx, dy = body.x_m - x_m, body.y_m - y_m
                if dx * dx + dy * dy <= reach_m2:
                    expected.append(index)
            assert players_within(frame, x_m, y_m, reach_m2) == expected
            found += len(expected)
    assert found


def test_differential_a_compiled_flight_ends_where_the_plain_one_ends() -> None:
    rng, ends = random.Random(1), set()
    for _ in range(300):
        at = rng.uniform(-52, 52), rng.uniform(-33, 33), max(0.11, rng.uniform(-2, 3))
        velocity = rng.gauss(0, 15), rng.gauss(0, 10), rng.choice((0.0, rng.gauss(0, 8)))
        numbers = at, velocity, 52.61, 34.11, 0.0033, 1.0, 0.6, 0.5, 0.02, 75, 0.11
        flight = integrate(*numbers)
        assert flight == integrate.py_func(*numbers)
        ends.add((flight[0] > 0, flight[1] > 0))
    assert len(ends) == 4, "some cross a line, some land, some do both, some neither"


@pytest.mark.parametrize("seed", range(4))
def test_differential_areas_as_if_all_were_looked_at_each_time(seed: int) -> None:
    watch, state = AreaWatch(SHEET), Watch()
    known: dict[str, Mark] = {}
    emitted = 0
    for event in frames(seed):
        frame = event.payload
        assert isinstance(frame, Frame)
        state, out = watch.step(state, event)
        expected = set()
        for body in frame.players:
            before = known.get(body.object_id)
            now = draw(watch.player_areas, (body.x_m, body.y_m, 0.0), before.inside if before else 0, 0.2)
            known[body.object_id] = now
            for i, area in enumerate(watch.player_areas):
                if before is not None and (now.inside ^ before.inside) >> i & 1:
                    expected.add((body.object_id, area.name, "area.enter" if now.inside >> i & 1 else "area.leave"))
        payloads = [(e.payload, e.kind) for e in out]
        assert {(f.player, f.variant, kind) for f, kind in payloads if f.player} == expected  # type: ignore[attr-defined]
        emitted += len(expected)
    assert emitted


@pytest.mark.parametrize("seed", range(20))
def test_differential_lines_are_the_best_of_all_ways_to_cut(seed: int) -> None:
    rng = random.Random(seed)
    places = sorted(rng.choice((rng.uniform(-50, 50), float(rng.randint(-3, 3)))) for _ in range(rng.randint(4, 11)))

    def squares(cuts: tuple[int, ...]) -> float:
        groups = [places[a:b] for a, b in zip((0, *cuts), (*cuts, len(places)), strict=True)]
        return sum(sum((p - sum(g) / len(g)) ** 2 for p in g) for g in groups)

    three = min(squares(cuts) for cuts in combinations(range(1, len(places)), 2))
    four = min(squares(cuts) for cuts in combinations(range(1, len(places)), 3))
    groups, count = unit_lines(places, 0.5)
    assert [p for group in groups for p in group] == places
    if abs(four - 0.5 * three) > 1e-6:
        assert count == (4 if four < 0.5 * three and len(places) > 4 else 3)
    if count == 3:
        assert squares((len(groups[0]), len(groups[0]) + len(groups[1]))) == pytest.approx(three, abs=1e-6)

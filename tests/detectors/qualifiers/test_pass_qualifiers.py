"""Level 8 of passes on hand-made attempts and ends: what is said at the kick, and what the end makes of it."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.qualifiers.passes import Cross, PassDirection, PassLength, SwitchOfPlay
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload
from middleware.detector import Detector
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors.scene import fold

SHEET = MatchSheet()
Place = tuple[float, float]


def direction(team: Team = "home") -> Event:
    """``team`` attacks towards +x."""
    return make_event("direction", 0, "d", EventPayload(team=team))


def attempt(
    start: Place, foreseen: Place | None = None, sent: Place = (10.0, 0.0), player: str = "home_6", up_m_s: float = 0.0
) -> Event:
    detail: dict[str, object] = {"vx_m_s": sent[0], "vy_m_s": sent[1], "vz_m_s": up_m_s}
    if foreseen is not None:
        detail |= {"receiver": "home_8", "end_x_m": foreseen[0], "end_y_m": foreseen[1]}
    team: Team = "home" if player.startswith("home") else "away"
    return make_event("pass.attempt", 1_000_000, "k", EventPayload("", team, player, *start, detail=detail))


def end(kind: str, start: Place, place: Place, player: str = "home_6") -> Event:
    detail = {"start_x_m": start[0], "start_y_m": start[1], "kick_us": 1_000_000, "receiver": "home_8"}
    team: Team = "home" if player.startswith("home") else "away"
    return make_event(f"pass.{kind}", 2_500_000, "k", EventPayload("", team, player, *place, detail=detail))


def words(detector: Detector[object], *events: Event) -> list[tuple[str, str, object]]:
    """(kind, variant, final) of all that is emitted, withdrawals marked by ``-``."""
    emitted = fold(detector, events)
    return [(("-" if e.annuls else "") + e.kind, e.payload.variant, e.payload.detail.get("final")) for e in emitted]


def last_words(detector: Detector[object], *events: Event) -> list[tuple[str, str, int]]:
    """(kind, variant, time) of what stands in the end."""
    kinds = ("direction", "pass.attempt", "pass.complete", "pass.intercepted", "pass.out", "pass.kept")
    return [(e.kind, e.payload.variant, e.ts_us) for e in published(Hierarchy(kinds, [detector]), events)]


@pytest.mark.parametrize(
    ("to", "name"),
    [((10, 9), "forward"), ((9, 10), "left"), ((9, -10), "right"), ((-10, 9), "backward"), ((-9, 10), "left")],
)
@pytest.mark.parametrize("attacks", ["home", "away"])
def test_direction_is_that_of_the_attack_whichever_way_it_goes(to: Place, name: str, attacks: Team) -> None:
    sign = 1.0 if attacks == "home" else -1.0
    arrived = end("complete", (0.0, 0.0), (sign * to[0], sign * to[1]))
    assert last_words(PassDirection(), direction(attacks), attempt((0.0, 0.0)), arrived) == [
        ("pass.dir", name, 1_000_000)
    ]


def test_direction_is_foreseen_and_corrected_under_the_time_of_the_kick() -> None:
    causes = direction(), attempt((0.0, 0.0), sent=(0.0, 8.0)), end("intercepted", (0.0, 0.0), (5.0, 1.0))
    assert words(PassDirection(), *causes) == [("pass.dir", "left", False), ("pass.dir", "forward", True)]
    assert last_words(PassDirection(), *causes) == [("pass.dir", "forward", 1_000_000)]


def test_nothing_is_said_while_the_sides_are_unknown() -> None:
    assert words(PassDirection(), attempt((0.0, 0.0)), end("complete", (0.0, 0.0), (5.0, 1.0))) == []


@pytest.mark.parametrize(("x_m", "name"), [(14.9, "short"), (15.0, "medium"), (29.9, "medium"), (30.0, "long")])
def test_lengths_have_their_bounds(x_m: float, name: str) -> None:
    arrived = end("complete", (0.0, 0.0), (x_m, 0.0))
    assert words(PassLength(), direction(), attempt((0.0, 0.0)), arrived) == [("pass.len", name, True)]


def test_a_length_is_foreseen_if_a_mate_gets_there() -> None:
    causes = direction(), attempt((0.0, 0.0), (20.0, 0.0)), end("out", (0.0, 0.0), (3.0, 34.1))
    assert words(PassLength(), *causes) == [("pass.len", "medium", False), ("pass.len", "long", True)]


def test_two_passes_played_at_once_are_told_apart() -> None:
    first, one_touch = attempt((0.0, 0.0), (10.0, 0.0)), attempt((10.0, 0.0), (40.0, 0.0), player="home_8")
    one_touch = make_event("pass.attempt", 2_500_000, "k2", one_touch.payload)
    rows = words(PassLength(), direction(), first, one_touch, end("complete", (0.0, 0.0), (10.0, 0.0)))
    assert rows == [("pass.len", "short", False), ("pass.len", "long", False), ("pass.len", "short", True)]


WIDE, BOX, BYLINE, SPOT = (40.0, 28.0), (45.0, 2.0), (50.0, 14.0), (42.0, 1.0)


@pytest.mark.parametrize(
    ("start", "to", "expected"),
    [
        (WIDE, BOX, ("cross", "left")),
        ((40.0, -28.0), BOX, ("cross", "right")),
        ((52.4, 33.9), BOX, ("cross", "left")),  # a corner kick
        (BYLINE, SPOT, ("cutback", "left")),
        ((50.0, -14.0), SPOT, ("cutback", "right")),
        (BYLINE, (49.0, 1.0), None),  # square
        (BYLINE, (45.0, 19.0), None),  # outwards
        ((20.0, 28.0), BOX, None),  # too deep
        (WIDE, (30.0, 2.0), None),  # not into the area
        (WIDE, (53.0, 2.0), None),  # over the goal line
        ((35.0, 15.0), BOX, None),  # not from the wing
    ],
)
@pytest.mark.parametrize("attacks", ["home", "away"])
def test_crosses_and_cutbacks(start: Place, to: Place, expected: tuple[str, str] | None, attacks: Team) -> None:
    sign = 1.0 if attacks == "home" else -1.0
    turned = [(sign * x, sign * y) for x, y in (start, to)]
    found = last_words(Cross(SHEET), direction(attacks), attempt(turned[0]), end("intercepted", *turned))
    assert found == ([(*expected, 1_000_000)] if expected else [])


def test_a_cross_is_one_where_it_was_sent_whoever_blocks_it() -> None:
    before = direction(), attempt(WIDE, BOX)
    blocked, received = (end(kind, WIDE, (40.5, 27.0)) for kind in ("intercepted", "complete"))
    assert words(Cross(SHEET), *before, blocked) == [("cross", "left", False), ("cross", "left", True)]
    assert words(Cross(SHEET), *before, received) == [("cross", "left", False), ("-cross", "left", None)]


@pytest.mark.parametrize(
    ("kind", "place", "stands"),
    [
        ("intercepted", (40.4, 26.5), True),
        ("out", (53.0, 2.0), True),
        ("out", (45.0, 34.2), False),
        ("complete", (40.5, 24.0), False),
        ("complete", BOX, True),
    ],
    ids=["blocked", "past everybody", "into touch", "to a mate outside", "to a mate in the area"],
)
@pytest.mark.parametrize("side", [1.0, -1.0], ids=["left", "right"])
def test_a_ball_driven_from_a_wing_into_the_area_is_a_cross_by_its_direction(
    kind: str, place: Place, stands: bool, side: float
) -> None:
    start, name = (WIDE[0], side * WIDE[1]), "left" if side > 0.0 else "right"
    causes = direction(), attempt(start, sent=(3.0, -14.0 * side)), end(kind, start, (place[0], side * place[1]))
    final = ("cross", name, True) if stands else ("-cross", name, None)
    assert words(Cross(SHEET), *causes) == [("cross", name, False), final]


@pytest.mark.parametrize(
    ("start", "sent", "predicted"),
    [
        (WIDE, (3.0, -14.0), True),
        ((26.0, 25.0), (12.0, -9.0), True),
        (WIDE, (3.0, -13.0), False),
        (WIDE, (3.0, 14.0), False),
        (WIDE, (20.0, -4.0), False),
        (WIDE, (-9.0, -14.0), False),
        ((22.0, 28.0), (12.0, -9.0), False),
        ((35.0, 19.0), (3.0, -14.0), False),
        (WIDE, (14.5, 0.0), False),
    ],
    ids=["from the side", "by the front", "slow", "outwards", "past it", "behind it", "deep", "half-space", "along"],
)
def test_only_a_fast_ball_from_a_wing_near_the_goal_line_is_a_cross_by_its_direction(
    start: Place, sent: Place, predicted: bool
) -> None:
    found = words(Cross(SHEET), direction(), attempt(start, sent=sent))
    assert found == ([("cross", "left", False)] if predicted else [])


@pytest.mark.parametrize(("up_m_s", "expected"), [(3.1, [("cross", "left", True)]), (2.9, [])])
def test_a_cross_from_a_half_space_is_lofted(up_m_s: float, expected: list[object]) -> None:
    place = (33.0, 15.0)
    causes = direction(), attempt(place, BOX, up_m_s=up_m_s), end("complete", place, BOX)
    assert [word for word in words(Cross(SHEET), *causes) if word[2]] == expected


@pytest.mark.parametrize(("up_m_s", "to_x_m", "expected"), [(3.1, 33.0, 1), (3.1, 32.0, 0), (2.9, 33.0, 0)])
def test_a_lofted_cross_may_fall_beyond_the_area_up_to_the_top_of_the_arc(
    up_m_s: float, to_x_m: float, expected: int
) -> None:
    to = (to_x_m, 2.0)
    causes = direction(), attempt(WIDE, to, up_m_s=up_m_s), end("complete", WIDE, to)
    assert [word for word in words(Cross(SHEET), *causes) if word[2]] == [("cross", "left", True)] * expected


@pytest.mark.parametrize(("across_m", "expected"), [(36.5, []), (36.7, [("pass.switch", "", True)])])
def test_a_switch_is_far_across_and_arrives(across_m: float, expected: list[object]) -> None:
    start, far = (0.0, -20.0), (5.0, -20.0 + across_m)
    assert words(SwitchOfPlay(), direction(), end("complete", start, far)) == expected

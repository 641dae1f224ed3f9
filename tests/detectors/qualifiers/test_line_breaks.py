"""8.9 on hand-made lines: which line is broken, and how."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.qualifiers.linebreaks import LineBreak
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet(players=(Player("away_1", "away", goalkeeper=True), Player("home_6", "home")))
Place = tuple[float, float]

#: Three lines of the opponents, as a team sees them that attacks +x, and their goalkeeper.
RIVALS = {
    "away_1": (50.0, 0.0),
    "away_2": (30.0, 15.0), "away_3": (31.0, 5.0), "away_4": (31.0, -5.0), "away_5": (30.0, -15.0),
    "away_6": (20.0, 10.0), "away_7": (20.0, -10.0), "away_8": (21.0, 0.0),
    "away_9": (9.0, 4.0), "away_10": (9.0, -4.0),
}  # fmt: skip
LINES = {"defence": 30.5, "midfield": 20.0, "attack": 9.0}


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(
    kind: str, at_s: float, player: str = "", place: Place = (0.0, 0.0), variant: str = "", **detail: object
) -> Event:
    anchor = str(detail.pop("anchor", "k"))
    return make_event(
        kind, round(at_s * 1e6), anchor, EventPayload(variant, team(player), player, *place, detail=detail)
    )


def known(sign: float) -> list[Event]:
    """Sides, lines and people before the ball is played."""
    attacks: Team = "home" if sign > 0 else "away"
    lines = [
        make_event("lines.changed", 500_000, line, EventPayload(line, "away", detail={"x_m": sign * x}))
        for line, x in LINES.items()
    ]
    people = [body(name, sign * x, sign * y) for name, (x, y) in RIVALS.items()]
    return [make_event("direction", 0, "d", EventPayload(team=attacks)), *lines, frame_event(0.98, (0.0, 0.0), people)]


def height(at_s: float, band: str) -> Event:
    return about("ball.height", at_s, variant=band, anchor=f"h{at_s}")


def broken(sign: float, start: Place, end: Place, *more: Event) -> list[str]:
    detail = {"start_x_m": sign * start[0], "start_y_m": sign * start[1], "kick_us": 1_000_000}
    kick = about("pass.attempt", 1.0, "home_6", (sign * start[0], sign * start[1]))
    completion = about("pass.complete", 3.0, "home_6", (sign * end[0], sign * end[1]), **detail)
    emitted = fold(LineBreak(SHEET), [*known(sign), kick, *more, completion])
    assert all(e.dated_us == 1_000_000 and e.payload.player == "home_6" for e in emitted)
    return [e.payload.variant for e in emitted]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0.0, 0.0), (14.0, 1.0), ["attack through"]),
        ((0.0, 10.0), (14.0, 10.0), ["attack around"]),
        ((0.0, 0.0), (26.0, 1.0), ["attack through", "midfield through"]),
        ((15.0, 0.0), (26.0, 25.0), ["midfield around"]),
        ((15.0, 2.0), (40.0, 2.0), ["midfield through", "defence through"]),
        ((25.0, 28.0), (40.0, 28.0), ["defence around"]),
        ((0.0, 0.0), (9.5, 0.0), []),
        ((26.0, 0.0), (14.0, 0.0), []),
        ((32.0, 0.0), (45.0, 0.0), []),
    ],
)
def test_a_pass_breaks_the_lines_between_its_beginning_and_its_end(
    start: Place, end: Place, expected: list[str], sign: float
) -> None:
    assert broken(sign, start, end) == expected


def test_a_high_ball_goes_over_the_lines() -> None:
    assert broken(1.0, (15.0, 2.0), (40.0, 2.0), height(1.3, "low"), height(1.5, "high"), height(2.5, "ground")) == [
        "midfield over",
        "defence over",
    ]
    assert broken(1.0, (15.0, 2.0), (26.0, 2.0), height(1.3, "head")) == ["midfield through"]


def test_a_goalkeeper_is_no_line_and_without_lines_nothing_is_broken() -> None:
    assert broken(1.0, (45.0, 0.0), (52.0, 0.0)) == []
    kick = about("pass.attempt", 1.0, "home_6")
    completion = about("pass.complete", 3.0, "home_6", (40.0, 0.0), start_x_m=0.0, start_y_m=0.0, kick_us=1_000_000)
    without_lines = [e for e in known(1.0) if e.kind != "lines.changed"]
    assert fold(LineBreak(SHEET), [*without_lines, kick, completion]) == []
    assert fold(LineBreak(SHEET), [*known(1.0)[1:], kick, completion]) == []


def test_a_carry_breaks_lines_too() -> None:
    gain = about("possession.gain", 1.0, "home_6", (15.0, 0.0))
    end = about("carry.end", 4.0, "home_6", (26.0, 0.0), anchor="c", from_x_m=15.0, from_y_m=0.0)
    (emitted,) = fold(LineBreak(SHEET), [*known(1.0), gain, end])
    assert (emitted.payload.variant, emitted.payload.detail["by"]) == ("midfield through", "carry")
    other = about("possession.gain", 1.0, "home_8", (15.0, 0.0))
    assert fold(LineBreak(SHEET), [*known(1.0), other, end]) == []


def test_a_line_that_moves_is_known_by_its_last_place() -> None:
    moved = make_event("lines.changed", 900_000, "again", EventPayload("midfield", "away", detail={"x_m": 24.0}))
    people = [body(n, 24.0 if n in ("away_6", "away_7", "away_8") else x, y) for n, (x, y) in RIVALS.items()]
    causes = [*known(1.0)[:-1], moved, frame_event(0.98, (0.0, 0.0), people)]
    kick = about("pass.attempt", 1.0, "home_6", (15.0, 0.0))
    completion = about("pass.complete", 3.0, "home_6", (24.0, 0.0), start_x_m=15.0, start_y_m=0.0, kick_us=1_000_000)
    assert fold(LineBreak(SHEET), [*causes, kick, completion]) == []

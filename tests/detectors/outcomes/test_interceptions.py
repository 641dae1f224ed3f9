"""7.8 and 7.10: interceptions and recoveries on hand-made passes along the x axis."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.outcomes.interceptions import Interception
from detectors.outcomes.recoveries import Recovery
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import body, chained, frame_event

SHEET = MatchSheet(players=(Player("away_1", "away", goalkeeper=True),))


def about(kind: str, at_s: float, player: str, x_m: float = 0.0, y_m: float = 0.0, **more: object) -> Event:
    """An event of a player; ``variant`` and ``z_m`` are the payload's, the rest is detail."""
    team: Team = "home" if player.startswith("home") else "away" if player else ""
    z_m, variant = more.pop("z_m", 0.1), more.pop("variant", "")
    detail = {"speed_before_m_s": 8.0, "speed_after_m_s": 9.0, **more}
    payload = EventPayload(str(variant), team, player, x_m, y_m, z_m, detail=detail)  # type: ignore[arg-type]
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def passed(
    off_m: float = 4.0, x_m: float = 0.0, y_m: float = 0.0, z_m: float = 0.1, player: str = "away_4"
) -> list[Event]:
    """home_9 passes from a place; the opponent stands 10 m farther on, so far beside the line."""
    look = frame_event(0.9, (x_m, y_m), [body("home_9", x_m, y_m), body(player, x_m + 10.0, y_m + off_m)])
    kick = about("hit", 1.0, "home_9", x_m, y_m, z_m=z_m)
    return [look, kick, about("pass.attempt", 1.0, "home_9", x_m, y_m)]


def gain(at_s: float = 2.0, player: str = "away_4", x_m: float = 12.0, y_m: float = 0.0, **more: object) -> Event:
    return about("possession.gain", at_s, player, x_m, y_m, **more)


def intercepted(*causes: Event) -> list[tuple[str, str, object]]:
    return [
        (e.payload.variant, e.payload.player, e.payload.detail["passer"]) for e in chained(causes, Interception(SHEET))
    ]


def test_who_moves_into_the_line_of_a_pass_intercepts_it() -> None:
    assert intercepted(*passed(), gain()) == [("won", "away_4", "home_9")]
    assert intercepted(*passed(-4.0), gain()) == [("won", "away_4", "home_9")]


def test_who_reaches_the_ball_well_and_soon_intercepts_it() -> None:
    won = [("won", "away_4", "home_9")]
    assert intercepted(*passed(), about("hit", 2.0, "away_4", distance_m=0.9), gain()) == won
    assert intercepted(*passed(), gain(3.9)) == won


@pytest.mark.parametrize(
    "causes",
    [
        [*passed(1.5), gain()],
        [*passed()[1:], gain()],
        [*passed(), gain(speed_before_m_s=2.0)],
        [*passed(), gain(1.2)],
        [*passed(), about("deflection", 2.0, "away_4"), gain()],
        [*passed(z_m=2.0), gain()],
        [*passed(y_m=30.0, x_m=35.0), gain(x_m=45.0, y_m=5.0)],
        [*passed(player="away_1"), gain(player="away_1")],
        [*passed(), gain(player="home_8"), gain(3.0)],
        [*passed(), gain(player="away_5"), gain(3.0)],
        [*passed(), gain(4.1)],
        [*passed(), about("hit", 2.0, "away_4", distance_m=1.3), gain()],
    ],
    ids=["he stood in the line", "nobody saw where", "slow", "a block", "a deflection", "a header", "a cross",
         "a goalkeeper", "a mate had it", "another opponent had it", "a loose ball", "he only deflects it"],
)  # fmt: skip
def test_no_interception(causes: list[Event]) -> None:
    assert intercepted(*causes) == []


def test_an_interception_that_runs_out_annuls_the_one_that_was_won() -> None:
    won, out = chained([*passed(), gain(), about("out", 3.0, "away_4", variant="left touch")], Interception(SHEET))
    assert (won.payload.variant, out.payload.variant, out.annuls) == ("won", "to out", won.id)


def wins(leaves_m_s: float) -> list[Event]:
    """A gain of a ball that comes with 10 m/s."""
    speeds = {"speed_before_m_s": 10.0, "speed_after_m_s": leaves_m_s}
    return [about("hit", 2.0, "away_4", distance_m=0.5, **speeds), gain()]


@pytest.mark.parametrize(
    ("left_m_s", "then", "stands"),
    [
        (4.0, [about("hit", 2.6, "home_8")], False),
        (4.0, [about("hit", 2.6, "away_4"), about("hit", 3.0, "home_8")], True),
        (4.0, [about("hit", 2.6, "away_5")], True),
        (11.0, [about("hit", 2.6, "home_8")], True),
        (4.0, [about("pass.attempt", 2.0, "away_4", 12.0), about("hit", 2.6, "home_8")], False),
        (4.0, [about("out", 2.4, "away_4", variant="left touch"), about("hit", 20.0, "home_8")], True),
    ],
    ids=["an opponent", "himself", "a mate", "he passes to an opponent", "it looks like a pass", "it runs out"],
)
def test_a_ball_that_leaves_him_slowly_and_to_an_opponent_was_deflected(
    left_m_s: float, then: list[Event], stands: bool
) -> None:
    found = chained([*passed(), *wins(left_m_s), *then], Interception(SHEET))
    void = {event.annuls for event in found if event.annuls}
    last = {event.id: event for event in found if event.annuls != event.id}
    assert (len(found) > 0, bool(set(last) - void)) == (True, stands)


def recovered(*causes: Event) -> list[tuple[str, object, float]]:
    had = about("possession.gain", 0.5, "home_9")
    return [
        (e.payload.player, e.payload.detail["from"], (e.dated_us or 0) / 1e6)
        for e in chained([had, *causes], Interception(SHEET), Recovery(SHEET))
    ]


LOOSE, WINS = about("ball.loose", 1.5, ""), wins(2.0)
AGAIN, MATE, RIVAL = (about("hit", 3.0, player) for player in ("away_4", "away_5", "home_8"))


@pytest.mark.parametrize("after", [AGAIN, MATE], ids=["himself", "a mate"])
def test_a_ball_that_is_won_is_recovered_once_the_own_team_plays_it_again(after: Event) -> None:
    assert recovered(LOOSE, *WINS, after) == [("away_4", "home_9", 2.0)]
    assert recovered(*passed(1.0), *WINS, after) == [("away_4", "home_9", 2.0)], "a pass that was played to him"


@pytest.mark.parametrize(
    "causes",
    [
        [LOOSE, *WINS],
        [LOOSE, *WINS, RIVAL],
        [LOOSE, *WINS, about("play.dead", 2.5, ""), AGAIN],
        [*WINS, AGAIN],
        [*passed(), *WINS, AGAIN],
        [*passed(1.0), about("deflection", 2.0, "away_4"), *WINS, AGAIN],
        [LOOSE, about("touch", 1.8, "home_9"), *WINS, AGAIN],
        [LOOSE, gain(player="away_1"), about("hit", 3.0, "away_1")],
        [LOOSE, gain(player="home_8"), about("hit", 3.0, "home_8")],
    ],
    ids=["not secured", "lost at once", "dead", "taken from his feet", "intercepted", "hit by it",
         "fetched by its holder", "a goalkeeper", "a mate"],
)  # fmt: skip
def test_no_recovery(causes: list[Event]) -> None:
    assert recovered(*causes) == []


def test_who_is_hit_by_the_ball_does_not_recover_it() -> None:
    found = [bool(recovered(LOOSE, *wins(leaves_m_s), AGAIN)) for leaves_m_s in (3.4, 3.6, 9.9, 10.1)]
    assert found == [True, False, False, True], "controlled, hit, hit, kicked"

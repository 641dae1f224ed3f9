"""13.4: two players exchange their places in a formation, for long enough or not."""

from __future__ import annotations

import msgspec

from detectors.chains.roles import RoleSwap
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.chains.test_formations import SHEET, scenes
from tests.detectors.scene import fold

SHAPE = Event("formation", 0, "home:0", 0, EventPayload("4-4-2", "home"), "formation#home:0")
MINUTES = scenes((300, "4-4-2", "4-3-3"))


def exchanged(one: str, other: str, begin_s: int, end_s: int) -> list[Event]:
    """The same five minutes, two players of home in each other's place for a while."""
    out = []
    for event in MINUTES:
        scene = event.payload
        if begin_s * 1_000_000 <= event.ts_us < end_s * 1_000_000:
            names = {one: other, other: one}
            home = tuple(msgspec.structs.replace(b, object_id=names.get(b.object_id, b.object_id)) for b in scene.home)
            scene = msgspec.structs.replace(scene, home=tuple(sorted(home, key=lambda b: b.object_id)))
        out.append(msgspec.structs.replace(event, payload=scene))
    return out


def swaps(events: list[Event]) -> list[tuple[str, str, int]]:
    """Both players, and when the exchange began, in seconds."""
    found = fold(RoleSwap(SHEET), [SHAPE, *events])
    return [(e.payload.player, str(e.payload.detail["mate"]), (e.dated_us or 0) // 10**6) for e in found]


def test_wingers_who_exchange_sides_have_swapped_once_and_back_again():
    assert swaps(exchanged("home_6", "home_9", 60, 300)) == [("home_6", "home_9", 59)]
    assert [row[:2] for row in swaps(exchanged("home_6", "home_9", 60, 200))] == [("home_6", "home_9")] * 2


def test_a_short_exchange_and_an_unchanged_team_are_no_swap():
    assert swaps(MINUTES) == []
    assert swaps(exchanged("home_6", "home_9", 60, 110)) == []


def test_without_a_formation_there_are_no_roles():
    assert fold(RoleSwap(SHEET), exchanged("home_6", "home_9", 60, 300)) == []

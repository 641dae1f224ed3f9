"""The begin of a second half with everybody in tags: benches stand where they sat, the teams have changed ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.match_sheet import Quality
from football.packets import RAW_KINDS
from football.payloads import EventPayload, Frame
from football.recording import Recording
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published, sorted_replay
from simulator.play.squads import MatchSettings
from simulator.settings import rates_named
from simulator.simulate import Simulation, simulate
from tests.detectors import stage
from tests.detectors.scene import cast

#: Quick, and exact enough: cameras at 25 Hz, no limbs.
CAMERA = Quality()

#: The substitutes of home sit on the left, those of away on the right, as in the first half.
BENCHES = {f"{t}_{n}": [(0.0, x_m + n, -38.0)] for t, x_m in (("home", -30.0), ("away", 10.0)) for n in range(12, 19)}
#: Home has changed to the right half; away kicks off.
SECOND_HALF = {p.object_id: [(0.0, -p.x_m, -p.y_m)] for p in cast()} | {"away_9": [(0.0, -0.4, 0.0)]}
KICK = [(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (5.0, -12.0, 3.0), (8.0, -16.0, 4.0)]


def rows(events: list[Event], *kinds: str) -> list[tuple[str, str, str]]:
    return [
        (e.kind, e.payload.variant, e.payload.team)
        for e in events
        if isinstance(e.payload, EventPayload) and e.kind in kinds
    ]


@pytest.fixture(scope="module")
def begun() -> list[Event]:
    """Eight seconds: a kick-off, both benches in sight."""
    players = {**SECOND_HALF, **BENCHES}
    sheet = stage.sheet(players, CAMERA)
    raw = (arrival(p).event for p in stage.packets(KICK, players, 8.0, CAMERA))
    chosen = build_detectors(sheet)
    return sorted(sorted_replay(Hierarchy(RAW_KINDS, chosen), raw), key=lambda e: e.ts_us)


def test_the_kick_off_is_one_and_begins_a_period(begun: list[Event]) -> None:
    kinds = ("restart.kick_off", "restart.free_kick", "period.start")
    assert rows(begun, *kinds) == [("restart.kick_off", "", "away"), ("period.start", "1", "")]


def test_the_sides_are_known_before_the_kick(begun: list[Event]) -> None:
    """The sheet has the first half's; the line-up shows the second one's."""
    found = [e for e in begun if e.kind == "direction"]
    assert [e.payload.team for e in found] == ["home", "away"]
    assert found[-1].ts_us < 4_000_000


def test_no_bench_is_among_those_who_play(begun: list[Event]) -> None:
    frames = [e.payload for e in begun if isinstance(e.payload, Frame)]
    assert {len(frame.players) for frame in frames} == {22}
    assert {b.object_id for b in frames[-1].others} == set(BENCHES)


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["200/50", "full"])
def test_the_second_half_of_a_match_with_everybody_in_tags_begins_as_it_was_played(rate: str) -> None:
    """Two halves of half a minute, four balls and both squads in tags; at the full rate it takes half an hour."""
    match = MatchSettings(half_s=30.0, break_s=30.0)
    recording, truth = simulate(Simulation(seed=33, duration_s=None, match=match, **rates_named(rate)))
    events = published(Hierarchy(RAW_KINDS, build_detectors(recording.sheet)), packets(recording))

    def found(*kinds: str) -> list[tuple[str, str, str]]:
        return rows(events, *kinds)

    true = [(e.kind, e.variant, e.team) for e in truth if e.kind in ("restart.kick_off", "period.start")]
    assert Counter(found("restart.kick_off", "period.start")) == Counter(true)
    assert [team for _, _, team in found("direction")] == ["home", "away"]
    assert not found("goal.disallowed")
    begun_us = [e.ts_us for e in truth if e.kind == "period.start"][1]
    turned_us = [e.ts_us for e in events if e.kind == "direction"][1]
    assert turned_us <= begun_us + 2_000_000
    offside = Counter(e.kind == "offside.position" for e in truth if e.ts_us > begun_us)[True]
    assert Counter(e.kind == "offside.position" for e in events if e.ts_us > begun_us)[True] <= offside + 5


def packets(recording: Recording) -> Iterator[Event]:
    """Ten positions a packet, as radio sends them."""
    for track in recording.tracks:
        for sequence, start in enumerate(range(0, len(track), 10)):
            yield arrival(track.packet(sequence, start, min(start + 10, len(track)))).event

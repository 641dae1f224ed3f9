"""The queries of DEBS 2013 against what the whole stream says afterwards: running, possession, heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.bodies.running import CLASSES, Run, RunningIntensity, Runs
from detectors.catalogue import OPT_IN, build_detectors, catalogue
from detectors.emission import make_event
from detectors.statistics.heat_map import GRIDS, HeatMap, HeatMapParameters, cells_of, coarser, filled
from detectors.statistics.heat_map import WINDOWS_US as HEAT_WINDOWS_US
from detectors.statistics.reports import WINDOWS_US, PossessionStatistics, ReportParameters, RunningStatistics
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Tick, build_frame
from middleware.events import Event
from tests.detectors.contract import check_fold
from tests.detectors.scene import body

LOOK_US = 200_000
SHEET = MatchSheet()


def frames(ways: dict[str, Sequence[tuple[float, float] | None]]) -> list[Event]:
    """Frames a look apart; a player is left out where his way has None."""
    events = []
    for i, places in enumerate(zip(*ways.values(), strict=True)):
        players = [body(n, *place) for n, place in zip(ways, places, strict=True) if place is not None]
        frame = build_frame(None, tuple(sorted(players, key=lambda p: p.object_id)))
        events.append(Event("frame", i * LOOK_US, "frame", i, frame))
    return events


def payloads(events: Sequence[Event], kind: str) -> list[tuple[int, EventPayload]]:
    """Time and payload of the events of a kind."""
    return [(e.ts_us, e.payload) for e in events if e.kind == kind and isinstance(e.payload, EventPayload)]


# -- query 1: running ------------------------------------------------------------------------------------------


def runs_of(x_m: Sequence[float]) -> list[Run]:
    """Ended runs, from the whole path: classes by the last second, short ones to the next long one."""
    steps = [abs(b - a) for a, b in pairwise(x_m)]
    bounds = (0.2778, 3.0556, 3.8889, 4.7222, 6.6667)
    classes = [(i, sum(sum(steps[i - 5 : i]) >= bound for bound in bounds)) for i in range(5, len(x_m))]
    runs: list[Run] = []
    begin = 4
    for intensity, members in groupby(classes, key=lambda pair: pair[1]):
        looks = [i for i, _ in members]
        if len(looks) < 5:
            continue
        if runs and runs[-1].intensity == intensity:
            begin = runs.pop().from_us
        runs.append(Run(intensity, begin, looks[-1], 0.0))
        begin = looks[-1]
    return [Run(r.intensity, r.from_us * LOOK_US, r.to_us * LOOK_US, sum(steps[r.from_us : r.to_us])) for r in runs]


SPEEDS = st.lists(
    st.tuples(st.sampled_from([0.0, 2.0, 3.5, 4.2, 6.0, 8.0]), st.integers(1, 14)), min_size=1, max_size=12
)


@given(SPEEDS)
def test_runs_are_those_of_the_whole_way(speeds):
    x_m = np.cumsum([0.0, *(v * 0.2 for v, looks in speeds for _ in range(looks))]).tolist()
    emitted, broken = check_fold(RunningIntensity(), frames({"home_6": [(x, 1.0) for x in x_m]}))
    assert broken == []
    ended = [run for e in emitted if isinstance(e.payload, Runs) for _, _, run in e.payload.ended]
    last = [run for e in emitted[-1:] for _, _, run in e.payload.now]
    expected = runs_of(x_m)
    assert [(r.intensity, r.from_us, r.to_us) for r in (*ended, *last)] == [
        (r.intensity, r.from_us, r.to_us) for r in expected
    ]
    assert [r.distance_m for r in (*ended, *last)] == pytest.approx([r.distance_m for r in expected])
    changes = payloads(emitted, "run.intensity")
    assert [f.variant for _, f in changes] == [CLASSES[r.intensity] for r in expected]
    for (_, payload), run, before in zip(changes, expected, [None, *expected], strict=False):
        assert payload.detail["since_us"] == run.from_us
        if before is not None:
            assert (payload.detail["was"], payload.detail["was_since_us"]) == (
                CLASSES[before.intensity],
                before.from_us,
            )
            assert payload.detail["was_m"] == pytest.approx(before.distance_m, abs=0.01)


def test_who_was_gone_begins_anew_and_his_run_ended_when_he_was_last_seen():
    way = [(0.0, 0.0)] * 20 + [None] * 5 + [(30.0, 0.0)] * 20
    emitted, broken = check_fold(RunningIntensity(), frames({"home_6": way, "home_7": [(1.0, 1.0)] * 45}))
    assert broken == []
    ended = [entry for e in emitted if isinstance(e.payload, Runs) for entry in e.payload.ended]
    assert ended == [("home_6", "home", Run(0, 4 * LOOK_US, 19 * LOOK_US, 0.0))]
    assert [(round(ts_us / 1e6, 1), f.player) for ts_us, f in payloads(emitted, "run.intensity")] == [
        (1.8, "home_6"), (1.8, "home_7"), (6.8, "home_6"),
    ]  # fmt: skip


def test_a_team_has_the_sum_of_its_players_in_every_window():
    """Home 6 sprints 70 s at 8 m/s, home 7 stands; after 70 s the last minute is a minute of each."""
    looks = 351
    way = [(-40 + 0.2 * 8 * i, 0.0) for i in range(looks)]
    emitted, _ = check_fold(RunningIntensity(), frames({"home_6": way, "home_7": [(1.0, 1.0)] * looks}))
    runs = [e for e in emitted if e.kind == "run.state"]
    emitted, broken = check_fold(RunningStatistics(ReportParameters(1_000_000)), runs, every=50)
    assert broken == []
    reports = payloads(emitted, "stat.running")
    last_us = max(ts_us for ts_us, _ in reports)
    last = {(f.variant, f.team, f.player): f.detail for ts_us, f in reports if ts_us == last_us}
    assert len(last) == 4 * (2 + 2)
    assert last["1 min", "home", "home_6"]["sprint_s"] == 60.0
    assert last["1 min", "home", "home_6"]["sprint_m"] == pytest.approx(480.0, abs=0.1)
    assert last["1 min", "home", ""] == {**last["1 min", "home", "home_6"], "standing_s": 60.0}
    assert last["match", "home", "home_6"]["sprint_s"] == last["20 min", "home", "home_6"]["sprint_s"]
    assert last["match", "home", "home_6"]["sprint_s"] == pytest.approx(last_us / 1e6 - 0.8)
    assert not any(last["match", "away", ""].values())


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 90)), min_size=1, max_size=60), st.integers(1, 7))
def test_windows_of_running_are_those_of_all_runs(pieces, every_s):
    """Runs of whole seconds; reports against clipping every run by hand."""
    runs, at_s = [], 0
    for intensity, length_s in pieces:
        runs.append(Run(intensity, at_s * 10**6, (at_s + length_s) * 10**6, 2.0 * length_s))
        at_s += length_s
    events = [
        Event("run.state", run.to_us, "running", i, Runs((), (("home_6", "home", run),))) for i, run in enumerate(runs)
    ]
    emitted, broken = check_fold(RunningStatistics(ReportParameters(every_s * 10**6)), events, every=20)
    assert broken == []
    for ts_us, payload in payloads(emitted, "stat.running"):
        if payload.player != "home_6":
            continue
        from_us = ts_us - WINDOWS_US[payload.variant] if WINDOWS_US[payload.variant] else 0
        for i, name in enumerate(CLASSES):
            inside_s = sum(
                max(0, run.to_us - max(run.from_us, from_us)) / 1e6
                for run in runs
                if run.intensity == i and run.to_us <= ts_us
            )
            assert payload.detail[f"{name}_s"] == pytest.approx(inside_s)
            assert payload.detail[f"{name}_m"] == pytest.approx(2.0 * inside_s, abs=0.01)


# -- query 2: possession ---------------------------------------------------------------------------------------


def event_of(kind: str, at_s: float, player: str = "") -> Event:
    """A hit, a phase or a tick."""
    ts_us = round(at_s * 1e6)
    if kind == "clock.tick":
        return Event(kind, ts_us, "clock", ts_us, Tick(()))
    team = player.partition("_")[0]
    return make_event(
        kind, ts_us, f"{kind}:{ts_us}", EventPayload("", team, player, detail={"kick_us": ts_us - 100_000})
    )


def test_possession_of_a_short_game():
    """Home 6 hits at 1, 2 and 3 s, away 4 at 5 s; out at 6 s; home 7 throws in at 8.9 s."""
    events = [event_of("hit", t, "home_6") for t in (1, 2, 3)]
    events += [event_of("hit", 5, "away_4"), event_of("phase.dead", 6), event_of("hit", 7, "away_4")]
    events += [event_of("phase.live", 9, "home_7"), event_of("clock.tick", 10)]
    emitted, broken = check_fold(PossessionStatistics(), sorted(events, key=lambda e: e.ts_us))
    assert broken == []
    last = {(f.variant, f.team, f.player): f.detail for _, f in payloads(emitted, "stat.possession")}
    assert last["player, match", "home", "home_7"] == {"time_s": 0.0, "held_s": 1.1, "hits": 1}
    assert last["team, match", "home", ""] == {"time_s": 2.0, "held_s": 5.1, "hits": 4, "percent": 83.61}
    assert last["team, match", "away", ""] == {"time_s": 0.0, "held_s": 1.0, "hits": 1, "percent": 16.39}
    assert last["team, 1 min", "home", ""] == last["team, match", "home", ""]


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["hit"] * 6 + ["phase.dead", "phase.live"]),
        st.sampled_from(["home_6", "home_7", "away_4"]),
        st.integers(1, 200),
    ),
    max_size=40,
)


def stints_of(events: Sequence[Event], now_us: int) -> list[tuple[str, str, list[int], int]]:
    """(player, team, hits, end) of all stints up to an instant, from the whole stream."""
    stints: list[tuple[str, str, list[int], int]] = []
    dead, open_stint = False, False
    for event in events:
        payload = event.payload
        if event.ts_us > now_us or not isinstance(payload, EventPayload):
            continue
        if event.kind == "hit" and not dead and open_stint and stints[-1][0] == payload.player:
            stints[-1][2].append(event.ts_us)
        elif event.kind == "hit" and not dead:
            if open_stint:
                stints[-1] = (*stints[-1][:3], event.ts_us)
            stints.append((payload.player, payload.team, [event.ts_us], event.ts_us))
            open_stint = True
        elif event.kind == "phase.dead":
            if open_stint:
                stints[-1] = (*stints[-1][:3], event.ts_us)
            dead, open_stint = True, False
        elif event.kind == "phase.live" and dead:
            stints.append((payload.player, payload.team, [event.ts_us - 100_000], event.ts_us))
            dead, open_stint = False, True
    if open_stint:
        stints[-1] = (*stints[-1][:3], now_us)
    return stints


@settings(max_examples=40)
@given(EVENTS)
def test_windows_of_possession_are_those_of_all_stints(rows):
    events, at_s = [], 0.0
    for kind, player, gap in rows:
        at_s += gap * 0.7 + 0.3
        events.append(event_of(kind, at_s, player if kind != "phase.dead" else ""))
    ticks = [event_of("clock.tick", 5.0 * n) for n in range(1, int(at_s // 5) + 3)]
    emitted, broken = check_fold(PossessionStatistics(), sorted([*events, *ticks], key=lambda e: e.ts_us), every=25)
    assert broken == []
    for ts_us, payload in payloads(emitted, "stat.possession"):
        who, _, window = payload.variant.partition(", ")
        from_us = ts_us - WINDOWS_US[window] if WINDOWS_US[window] else -1
        own = [
            s for s in stints_of(events, ts_us) if s[1] == payload.team and (who == "team" or s[0] == payload.player)
        ]
        assert payload.detail["hits"] == sum(hit >= from_us for s in own for hit in s[2])
        assert payload.detail["held_s"] == pytest.approx(sum(max(0, s[3] - max(s[2][0], from_us)) for s in own) / 1e6)
        time_us = sum(max(0, s[2][-1] - max(s[2][0], from_us)) for s in own)
        assert payload.detail["time_s"] == pytest.approx(time_us / 1e6)


# -- query 3: heat map -----------------------------------------------------------------------------------------


def percents(places: Sequence[tuple[float, float] | None], grid: str) -> dict[tuple[int, int], float]:
    """Percent of looks by (column, row), from the places themselves."""
    columns, rows = GRIDS[grid]
    counts: dict[tuple[int, int], int] = {}
    for place in places:
        if place is not None and abs(place[0]) <= 52.5 and abs(place[1]) <= 34.0:
            column = min(math.floor((34.0 - place[1]) / 68.0 * columns), columns - 1)
            row = min(math.floor((place[0] + 52.5) / 105.0 * rows), rows - 1)
            counts[column, row] = counts.get((column, row), 0) + 1
    return {at: 100.0 * n / sum(counts.values()) for at, n in counts.items()}


PLACES = st.one_of(
    st.none(), st.tuples(st.integers(-55, 55).map(lambda x: x + 0.25), st.integers(-35, 35).map(lambda y: y + 0.1))
)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(PLACES, st.integers(1, 40)), min_size=1, max_size=25))
def test_heat_maps_are_those_of_all_places(stays):
    """Windows shortened to 4, 20 and 40 s of looks, so that chunks are forgotten and places fall out."""
    detector = HeatMap(SHEET)
    detector._spans = (20, 100, 200, 0)
    way = [(0.3, 0.2), *(place for place, looks in stays for _ in range(looks))]
    emitted, broken = check_fold(detector, frames({"home_6": way}), every=10**9)
    assert broken == []
    spans = dict(zip(HEAT_WINDOWS_US, detector._spans, strict=True))
    reports = payloads(emitted, "stat.heatmap")
    assert len(reports) == 16 * len({ts_us for ts_us, _ in reports})
    for ts_us, payload in reports:
        grid, _, window = payload.variant.partition(", ")
        looks = ts_us // LOOK_US + 1
        expected = percents(way[max(0, looks - (spans[window] or looks)) : looks], grid)
        cells = str(payload.detail["cells"])
        found = {tuple(map(int, e.split(":")[0].split("."))): float(e.split(":")[1]) for e in cells.split(";") if e}
        assert found.keys() == expected.keys()
        assert all(found[at] == pytest.approx(expected[at], abs=0.0051) for at in found)


def test_cells_are_rectangles_of_the_pitch():
    payload = EventPayload("8x13, match", detail={"cells": "0.0:25.00;7.12:75.00"})
    rows = cells_of(payload, 104.0, 64.0)
    assert rows[0] == pytest.approx((-52.0, 32.0, -44.0, 24.0, 25.0))
    assert rows[1] == pytest.approx((44.0, -24.0, 52.0, -32.0, 75.0))
    assert cells_of(EventPayload("8x13, match", detail={"cells": ""}), 104.0, 64.0) == []


def test_a_new_state_shares_all_but_one_column_with_the_one_before():
    detector = HeatMap(SHEET)
    state = detector.initial()
    states = []
    for event in frames({"home_6": [(float(x), 2.0 * x - 30) for x in range(30)]}):
        state, _ = detector.step(state, event)
        states.append(state.players["home_6"])
    for before, after in pairwise(states):
        for grids in ("fine", "coarse"):
            for old, new in zip(getattr(before, grids), getattr(after, grids), strict=True):
                assert sum(a is not b for a, b in zip(old, new, strict=True)) == 1
    assert states[0].fine[0] != states[-1].fine[0]


def test_a_gap_of_the_stream_is_time_on_no_field():
    """He stands for 30 s, nothing comes for 30 s, he stands elsewhere for 10 s: a minute back are 30 s of looks."""
    first = frames({"home_6": [(0.0, 0.0)] * 150})
    later = [
        Event("frame", e.ts_us + 60_000_000, "frame", e.seq + 300, e.payload)
        for e in frames({"home_6": [(40.0, 9.0)] * 50})
    ]
    emitted, _ = check_fold(HeatMap(SHEET), [*first, *later], every=10**9)
    reports = payloads(emitted, "stat.heatmap")
    last = [f for ts_us, f in reports if ts_us == emitted[-1].ts_us and f.variant == "16x25, 1 min"]
    assert last[0].detail["looks"] == 150
    assert len(str(last[0].detail["cells"]).split(";")) == 2


def test_grids_lie_in_one_another():
    cells = filled(tuple(tuple(range(c, c + 4)) for c in range(4)))
    assert cells == {(c, r): c + r for c in range(4) for r in range(4) if c + r}
    assert coarser(cells, 2) == {(0, 0): 4, (0, 1): 12, (1, 0): 12, (1, 1): 20}
    assert coarser(coarser(cells, 2), 2) == {(0, 0): 48}


# -- asking for them -------------------------------------------------------------------------------------------


def test_they_come_only_when_asked_for_and_bring_what_feeds_them():
    plain = {d.spec.name for d in build_detectors(SHEET)}
    assert not plain & set(OPT_IN)
    asked = {d.spec.name for d in build_detectors(SHEET, extra=["running_statistics"])}
    assert asked - plain == {"running_statistics", "running_intensity"}
    assert {d.spec.name for d in build_detectors(SHEET, extra=OPT_IN)} == plain | set(OPT_IN)
    with pytest.raises(ValueError, match="no detector juggling"):
        build_detectors(SHEET, extra=["juggling"])
    assert {entry.kind for entry in catalogue() if entry.opt_in} == set(OPT_IN)


def test_the_rate_of_looks_is_a_parameter():
    state = HeatMap(SHEET, HeatMapParameters(look_us=400_000)).initial()
    detector = HeatMap(SHEET, HeatMapParameters(look_us=400_000))
    for event in frames({"home_6": [(0.0, 0.0)] * 11}):
        state, _ = detector.step(state, event)
    assert state.players["home_6"].looks == 6

"""Differential: instants that the meter takes in columns give the figures that their packets give one by one."""

from __future__ import annotations

import math
import pickle
import random

import msgspec
import pytest

from football.match_sheet import MatchSheet, Player, Quality
from football.packets import Block, InstantBlock, Packet, RejectedRecord, pack_instant
from replay.quality.meter import InputMeter
from replay.quality.tracks import ClassFigures, TransmitterTrack, take_together

NAMES = (*(f"{team}_{number}" for team in ("away", "home") for number in range(1, 12)), "referee_1", "ball")


def blocks(seed: int, *, odd: float, count: int = 900) -> list[Block]:
    """Random walks of two teams: frozen ones, jumps, cuts, heights; a share ``odd`` of whatever goes wrong."""
    rng = random.Random(seed)
    begin_us, step_us = rng.choice((0, -5_000_000)), rng.choice((20_000, 40_000, 100_000))
    at = {name: [rng.uniform(-50, 50), rng.uniform(-30, 30)] for name in (*NAMES, "ball_2", "home_99")}
    here, ts_us, made = list(NAMES), begin_us, []
    for _ in range(count):
        ts_us += step_us
        if rng.random() < odd / 4:
            ts_us += rng.choice((1, 70_000, 450_000, 600_000, 3_000_000, 130_000_000, -40_000, -4_000_000))
        if rng.random() < odd / 2:
            here = [name for name in (*NAMES, "ball_2", "home_99") if rng.random() < 0.9] or ["ball"]
            rng.shuffle(here)
        frozen, cut_m = rng.random() < 0.2, rng.choice((0.0, 30.0)) if rng.random() < 0.02 else 0.0
        for spot in at.values():
            speed_m = 0.0 if frozen else rng.choice((0.0, 0.01, 0.1, 0.3)) if rng.random() > 0.002 else 20.0
            spot[0] += speed_m * rng.choice((-1, 1, 1)) + cut_m
            spot[1] += rng.gauss(0, speed_m)
        packets = [
            Packet(name, len(made), (ts_us,), (round(at[name][0], 2),), (at[name][1],), (rng.choice((0.0, 0.4)),))
            for name in here
        ]
        if rng.random() < odd / 8:
            packets[0] = Packet(here[0], 1, (ts_us,), (math.nan,), (0.0,), (0.0,))
        if rng.random() < odd / 8:
            packets.append(packets[0])
        made.append(Block(ts_us - (rng.random() < odd / 8), tuple(packets)))
    return made


def state_of(meter: InputMeter) -> list[object]:
    """All that the meter keeps, in parts that can be compared."""
    meter.quality()
    tracks = {name: track for name, track in meter._tracks.items() if track}
    own = {name: value for name, value in vars(meter).items() if name not in ("_sheet", "_tracks", "_classes")}
    own |= {name: vars(own[name]) for name in ("_spots", "_sides", "_height_sample")}
    return [
        own,
        {name: vars(figures) for name, figures in meter._classes.items()},
        {
            name: [getattr(track, slot) for slot in track.__slots__ if slot != "figures"]
            for name, track in tracks.items()
        },
    ]


@pytest.mark.parametrize("seed", range(12))
def test_differential_columns_and_packets_give_the_same_figures(seed: int) -> None:
    odd = (0.0, 0.02, 0.1)[seed % 3]
    players = tuple(Player(name, name[:4]) for name in NAMES[:22])  # type: ignore[arg-type]
    sheet = MatchSheet(players=players, quality=Quality(framed=True))
    together, one_by_one = InputMeter(sheet), InputMeter(sheet)
    rng = random.Random(seed)
    for block in blocks(seed, odd=odd):
        instant = pack_instant(block.packets)
        assert instant is not None
        together.add_block(InstantBlock(block.arrival_us, instant), block.arrival_us)
        one_by_one.add_block(block, block.arrival_us)
        if rng.random() < odd / 8:
            name, ts_us = rng.choice(block.packets).transmitter, rng.choice(block.packets).ts_us[0]
            bad = RejectedRecord("", name, 0, ts_us, "event time does not increase", "")
            for meter in (together, one_by_one):
                meter.refuse([bad])
        if rng.random() < 0.01:
            together = pickle.loads(pickle.dumps(together))
        if rng.random() < 0.01:
            assert together.quality() == one_by_one.quality()
    assert state_of(together) == state_of(one_by_one)
    assert together.quality().positions > 10_000


def with_flag(meter: InputMeter, *, packed: bool, flag: bool) -> InputMeter:
    """The meter after four seconds of players who walk, and of a flag that changes twice."""
    for number in range(100):
        ts_us = 40_000 * number
        packets = [
            Packet(name, number, (ts_us,), (float(at) + 0.04 * number,), (0.0,), (0.0,))
            for at, name in enumerate(NAMES)
        ]
        if flag and number % 25 == 0:
            packets.append(Packet("alive_flag", number, (ts_us,), (float(number != 50),), (0.0,), (0.0,)))
        instant = pack_instant(packets)
        assert instant is not None
        meter.add_block(InstantBlock(ts_us, instant) if packed else Block(ts_us, tuple(packets)), ts_us)
    return meter


@pytest.mark.parametrize("packed", [True, False])
def test_the_alive_flag_is_counted_and_measures_nothing_else(packed: bool) -> None:
    sheet = MatchSheet(quality=Quality(framed=True))
    without = with_flag(InputMeter(sheet), packed=packed, flag=False).quality()
    quality = with_flag(InputMeter(sheet), packed=packed, flag=True).quality()
    assert (quality.flag_changes, quality.flag_alive) == (2, 0.75)
    assert msgspec.structs.replace(quality, flag_changes=0, flag_alive=0.0) == without


def test_instants_that_are_alike_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = InputMeter(MatchSheet(quality=Quality(framed=True)))
    monkeypatch.setattr(InputMeter, "add", None)
    for block in blocks(1, odd=0.0, count=200):
        instant = pack_instant(block.packets)
        assert instant is not None
        meter.add_block(InstantBlock(block.arrival_us, instant), block.arrival_us)
    assert meter.quality().positions == 200 * (len(NAMES) - 1), "of referees there are no figures"


def test_tracks_take_one_time_alone() -> None:
    import numpy as np

    figures = ClassFigures()
    track = TransmitterTrack("player", "home_1", "home", figures)
    take_together([track], [40_000], np.array([[1.0]]), np.array([[2.0]]))
    assert (track.last, figures.steps) == ((40_000, 1.0, 2.0), 0)


@pytest.mark.parametrize("packed", [True, False])
def test_the_alive_flag_is_counted_while_the_ball_is_far_outside(packed: bool) -> None:
    """The ball is 1 m outside, 3 m outside, and lost there; the flag says alive in every second but the third."""
    sheet = MatchSheet()
    meter = InputMeter(sheet)
    for number in range(150):
        ts_us = 40_000 * number
        packets = [Packet("home_7", number, (ts_us,), (1.0 + 0.01 * number,), (0.0,), (0.0,))]
        if number < 100:
            y_m = 35.0 if number < 25 else 37.0
            packets.append(Packet("ball", number, (ts_us,), (0.01 * number,), (y_m,), (0.1,)))
        if number % 25 == 12:
            packets.append(Packet("alive_flag", number, (ts_us,), (float(number != 62),), (0.0,), (0.0,)))
        instant = pack_instant(packets)
        assert instant is not None
        meter.add_block(InstantBlock(ts_us, instant) if packed else Block(ts_us, tuple(packets)), ts_us)
    quality = meter.quality()
    assert (quality.flag_outside, quality.flag_outside_alive) == (3, pytest.approx(2 / 3, abs=1e-4))

"""The simulator's door: a match measured and sent, the same for the same seed, in memory and stretch by stretch."""

from __future__ import annotations

import os
import threading
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.sources.producer import AHEAD_US, BEHIND_US, Producer, Throttle, keep_pace, tell_played
from app.sources.production import Written, write_simulation
from bench.simulator import look
from football.errors import CaptureError
from football.packet_table import MOTION, QUALITY, from_blocks
from football.packets import Block, Packet, raw_kind
from football.recording import Recording
from football.update_stream import EventRecord
from replay.block_validation import validator_of
from replay.capture import (
    END,
    SEGMENT_US,
    Capture,
    CaptureWriter,
)
from simulator.play.squads import MatchSettings
from simulator.radio.channels import CHANNELS, transmit
from simulator.records import FOUR_LIMBS, HANDS, PlayedInterval
from simulator.settings import (
    DEFAULT_SEED,
    SimulatorError,
    rates_named,
)
from simulator.simulate import (
    MeasuredMatch,
    Simulation,
    simulate,
)

#: So many of the kinds of ``bench.simulator.SHOW``.
EVENTFUL = 7

FULL = Simulation(duration_s=9.0, **rates_named("full"))


@lru_cache(maxsize=4)
def played(seed: int = DEFAULT_SEED, duration_s: float = 20.0) -> tuple[Recording, tuple[EventRecord, ...]]:
    """A match at the product's rates."""
    return simulate(Simulation(seed=seed, duration_s=duration_s))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Capture, Written]:
    """Nine seconds at the papers' rates, written stretch by stretch."""
    out = tmp_path_factory.mktemp("full")
    written = write_simulation(MeasuredMatch(FULL), out, CHANNELS["rtls"], 5, notes={"made": "here"})
    return Capture.open(out), written


def test_the_first_five_minutes_of_the_default_seed_hold_what_a_newcomer_should_see() -> None:
    kinds, reported = look(DEFAULT_SEED)
    assert kinds >= EVENTFUL, reported


def test_the_sheet_is_complete_and_every_transmitter_is_on_it() -> None:
    recording, _ = played()
    sheet = recording.sheet
    assert len(sheet.players) == 32
    assert all(p.name and p.shirt for p in sheet.players)
    assert [p.object_id for p in sheet.players if p.goalkeeper] == ["home_1", "away_1"]
    starters = [p.object_id for p in sheet.players if p.starts]
    assert len(starters) == 22
    expected = {"ball"} | {f"{name}/{limb}" for name in starters for limb in sheet.quality.limbs}
    hands = {f"{p.object_id}/{hand}" for p in sheet.players if p.goalkeeper for hand in HANDS}
    assert {t.transmitter for t in recording.tracks} == expected | hands
    assert (sheet.quality.ball_hz, sheet.quality.body_hz, sheet.quality.kind) == (200.0, 50.0, "rtls")


def test_the_papers_mix_is_144_transmitters_and_36_000_positions_a_second(full: tuple[Capture, Written]) -> None:
    capture, written = full
    assert FULL.positions_hz == 36_000
    assert Simulation(**rates_named("50k")).positions_hz == 50_000
    names = MeasuredMatch(FULL).names
    assert len(names) == 144
    assert Counter(raw_kind(name) for name in names) == {"raw.limb": 128, "raw.referee": 12, "raw.ball": 4}
    parts = list(capture.packets(0, capture.end_us))
    times = np.concatenate([p.ts_us for p in parts])
    seconds = np.bincount(times // 1_000_000)[1:8]
    assert np.abs(seconds - 36_000).max() < 1_500, "a few are heard twice, a few are lost"
    assert {len(p.names) for p in parts} == {144}
    assert max(int(p.sizes.max()) for p in parts) == 10
    assert written.positions == len(times)


def test_velocity_acceleration_and_quality_are_in_the_capture(full: tuple[Capture, Written]) -> None:
    (values,) = {p.values.shape[1] for p in full[0].packets(0, 10**9)}
    assert values == 10
    every = np.concatenate([p.values for p in full[0].packets(0, 10**9)])
    assert 1 <= every[:, QUALITY].min() < 80 < np.median(every[:, QUALITY]) <= 100
    assert np.abs(every[:, MOTION]).max(axis=0).min() > 1_000


def test_the_figures_add_up(full: tuple[Capture, Written]) -> None:
    capture, written = full
    assert written.packets == written.sent - written.lost + written.duplicates
    assert capture.notes["sent"] == str(written.sent)
    assert capture.notes["made"] == "here"
    arrived = np.concatenate([p.ts_us for p in capture.packets(0, capture.end_us)])
    assert written.overtaken == (arrived < np.maximum.accumulate(arrived)).sum()
    assert 0.93 < written.out_of_order_share < 0.95


@pytest.mark.parametrize("channel", [pytest.param("rtls", marks=pytest.mark.slow), "harsh"])
def test_written_stretch_by_stretch_or_sent_as_a_whole_it_is_the_same(tmp_path: Path, channel: str) -> None:
    settings = Simulation(seed=3, duration_s=14.0)
    write_simulation(MeasuredMatch(settings), tmp_path, CHANNELS[channel], 7)
    found = list(Capture.open(tmp_path).blocks(0, 10**9))
    expected = list(transmit(simulate(settings)[0], CHANNELS[channel], 7).blocks())
    assert positions(found) == positions(expected)


def positions(blocks: list[Block]) -> list[tuple]:
    """Blocks without what a recording does not keep."""
    return [(b.arrival_us, p.transmitter, p.sequence, p.ts_us, p.x_m, p.y_m, p.z_m) for b in blocks for p in b.packets]


def test_the_same_seed_gives_the_same_bytes_and_another_gives_another(tmp_path: Path) -> None:
    for name, settings, seed in (("a", FULL, 5), ("b", FULL, 5), ("c", replace(FULL, seed=77), 5), ("d", FULL, 6)):
        write_simulation(MeasuredMatch(replace(settings, duration_s=6.0)), tmp_path / name, CHANNELS["rtls"], seed)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert "0000001.arrow" in files
    content = {name: [(tmp_path / name / file).read_bytes() for file in files] for name in "abcd"}
    assert content["a"] == content["b"]
    assert content["c"][0] != content["a"][0] != content["d"][0]


def test_who_watches_sees_every_stretch_as_it_is_played(tmp_path: Path) -> None:
    seen: list[PlayedInterval] = []
    ends: list[float] = []
    production = MeasuredMatch(Simulation(duration_s=9.0))
    write_simulation(
        production, tmp_path, CHANNELS["none"], 0, watch=seen.append, after=lambda end_s, _: ends.append(end_s)
    )
    assert [s.end_s for s in seen] == ends
    assert (seen[0].begin_s, ends[-1]) == (0.0, 9.0)
    assert all(a.end_s == b.begin_s for a, b in pairwise(seen))


def test_rates_limbs_and_noise_are_as_asked_for() -> None:
    recording, _ = simulate(Simulation(duration_s=8, ball_hz=1000, body_hz=200, limbs=FOUR_LIMBS, noise_m=0.0))
    by_name = {t.transmitter: t for t in recording.tracks}
    assert len(by_name) == 1 + 22 * 4
    assert len(by_name["ball"]) == pytest.approx(8_000, abs=2)
    assert len(by_name["home_4/left_hand"]) == pytest.approx(1_600, abs=2)
    still = by_name["ball"].ts_us < 2_000_000
    assert np.ptp(by_name["ball"].x_m[still]) == 0.0
    optical, _ = simulate(Simulation(duration_s=8, ball_hz=25, body_hz=25, limbs=()))
    assert sorted(raw_kind(t.transmitter) for t in optical.tracks) == ["raw.ball"] + ["raw.player"] * 22


def test_a_game_passes_the_quarantine_unharmed(full: tuple[Capture, Written]) -> None:
    capture, _ = full
    checks = validator_of(capture.sheet)
    for block in capture.blocks(0, capture.end_us):
        assert checks.check_decoded(block, "sim") == (block, ())


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"ball_hz": 0}, "ball_hz 0"), ({"ball_hz": 4000}, "ball_hz 4000"), ({"body_hz": 0}, "body_hz 0"),
     ({"duration_s": 0}, "duration_s 0"), ({"limbs": ("tail",)}, "limbs tail"), ({"noise_m": -1}, "noise_m -1")],
)  # fmt: skip
def test_settings_that_cannot_be_simulated_are_named(settings: dict[str, object], named: str) -> None:
    with pytest.raises(SimulatorError, match=named):
        Simulation(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", ["fast", "2000", "2000/", "/50", "-1/50", "1e3/50"])
def test_a_rate_that_is_none_is_named_with_those_there_are(rate: str) -> None:
    with pytest.raises(SimulatorError, match=f"rate '{rate}' is neither of live, full, 50k"):
        rates_named(rate)


def test_a_whole_match_ends_by_itself(tmp_path: Path) -> None:
    short = MatchSettings(half_s=4.0, break_s=2.0)
    settings = Simulation(duration_s=None, ball_hz=25, body_hz=10, limbs=(), match=short)
    written = write_simulation(MeasuredMatch(settings), tmp_path, CHANNELS["none"], 0)
    assert 10.0 < written.seconds < 600.0
    assert Capture.open(tmp_path).is_finished


REQUEST = {"source": "sim", "channel": "rtls", "seed": 4, "duration_s": 12.0, "pitch": [105, 68], "rate": "50/10"}


def test_a_child_makes_the_capture_while_it_is_read_and_its_folder_moves(tmp_path: Path) -> None:
    with Producer(REQUEST, tmp_path / "draft") as producer:
        first = producer.first_look()
        assert os.getpgid(producer._process.pid) != os.getpgid(0), "Ctrl-C does not reach the child"
        (tmp_path / "draft").rename(tmp_path / "final")
        capture = Capture.open(tmp_path / "final")
        blocks = list(capture.blocks(0, 10**9))
    assert first.sheet == capture.sheet
    assert capture.is_finished
    settings = Simulation(seed=4, duration_s=12.0, **rates_named("50/10"))
    write_simulation(MeasuredMatch(settings), tmp_path / "here", CHANNELS["rtls"], 4)
    assert blocks == list(Capture.open(tmp_path / "here").blocks(0, 10**9))


def test_a_child_imports_nothing_from_the_capture(tmp_path: Path) -> None:
    (tmp_path / "numbers.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    with Producer(REQUEST, tmp_path) as producer:
        producer.first_look()
    assert not (tmp_path / "imported").exists()


def test_a_child_that_cannot_says_why(tmp_path: Path) -> None:
    with (
        Producer({**REQUEST, "rate": "9000/10"}, tmp_path) as producer,
        pytest.raises(CaptureError, match="ball_hz 9000"),
    ):
        producer.first_look()


def test_a_child_that_is_stopped_leaves_a_capture_that_another_finishes(tmp_path: Path) -> None:
    request = {**REQUEST, "duration_s": 40.0, "rate": "live"}
    with Producer(request, tmp_path) as producer:
        producer.first_look()
    capture = Capture.open(tmp_path)
    if not capture.is_finished:
        with pytest.raises(CaptureError, match="stopped before the match was over"):
            list(capture.blocks(0, 10**9))
    with Producer({**request, "resume": True}, tmp_path) as producer:
        assert sum(1 for _ in producer.first_look().blocks(0, 10**9)) > 3_900


def test_a_child_does_not_go_on_with_another_match(tmp_path: Path) -> None:
    with Producer(REQUEST, tmp_path) as producer:
        producer.first_look()
    (tmp_path / END).unlink(missing_ok=True)
    request = {**REQUEST, "seed": 5, "resume": True}
    with Producer(request, tmp_path) as producer, pytest.raises(CaptureError, match="begun by another version"):
        producer.first_look()


def test_of_a_match_without_end_only_what_is_near_is_kept(tmp_path: Path) -> None:
    """A writer runs ahead of what has been played by so much and no more, and what lies far behind is deleted."""
    period_us = 1_000_000
    one = Packet("ball", 0, (0,), (0.0,), (0.0,), (0.1,))
    packets = from_blocks([Block(period_us * n, (one,)) for n in range(600)])
    written_us: list[int] = []

    def write() -> None:
        with CaptureWriter(tmp_path, MeasuredMatch(FULL).sheet) as writer:
            for first in range(0, 600, 5):
                writer.write(packets.part(first, first + 5))
                keep_pace(tmp_path, writer)
                written_us.append(first * period_us)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(0.5)
    assert AHEAD_US - 2 * SEGMENT_US <= written_us[-1] <= AHEAD_US + 2 * SEGMENT_US
    tell_played(tmp_path, 400 * period_us)
    thread.join(0.5)
    assert written_us[-1] <= 400 * period_us + AHEAD_US + 2 * SEGMENT_US
    tell_played(tmp_path, 590 * period_us)
    thread.join(10)
    left = sorted(int(path.stem) for path in tmp_path.glob("*.arrow"))
    assert left[0] == (590 * period_us - BEHIND_US) // SEGMENT_US
    assert [b.arrival_us for b in Capture.open(tmp_path).blocks(0, 10**10)][-1] == 599 * period_us


def test_a_paced_match_is_written_a_few_times_as_fast_as_it_plays(tmp_path: Path, monkeypatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr("app.sources.producer.time", clock)
    throttle = Throttle(tmp_path, 2.0)
    for end_s in range(1, 401):
        throttle.wait(float(end_s))
        assert clock.now_s >= (end_s / 2.0 - 20.0) / 4.0
    assert clock.now_s == pytest.approx((400 / 2.0 - 20.0) / 4.0)


def test_what_an_earlier_producer_has_written_is_not_slowed_down(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / f"{100_000_000 // SEGMENT_US - 1}.arrow").touch()
    clock = FakeClock()
    monkeypatch.setattr("app.sources.producer.time", clock)
    throttle = Throttle(tmp_path, 1.0)
    throttle.wait(120.0)
    assert clock.now_s == 0.0
    throttle.wait(160.0)
    assert clock.now_s == pytest.approx(10.0)


def test_an_unpaced_match_is_written_as_fast_as_the_machine_permits(tmp_path: Path, monkeypatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr("app.sources.producer.time", clock)
    Throttle(tmp_path, 0.0).wait(5_400.0)
    assert clock.now_s == 0.0


class FakeClock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

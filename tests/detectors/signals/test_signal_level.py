"""Level 1: what is believed, how fast it moves, who is there, and who has fallen silent."""

from __future__ import annotations

import itertools
import math
import random

import msgspec
import pytest

from detectors.arrivals import arrival
from detectors.signals.conditioning import Conditioning, Track
from detectors.signals.frames import FrameFusion
from detectors.signals.fusion import ActiveBall, PlayerFusion
from detectors.signals.health import TransmitterHealth
from detectors.signals.sampling import ball_sampling, body_sampling, delta_v_noise_m_s, jitter_m, with_jitter
from football.match_sheet import NOISE_MAX_M, MatchSheet, Player, Quality
from football.packets import Packet
from football.payloads import BallState, BodyState, EventPayload, Frame, LastSample, LimbRun, Tick
from middleware.events import Event
from tests.detectors import stage

Row = tuple[float, ...]


def condition(rows: list[Row], name: str = "home_7", sheet: MatchSheet | None = None) -> list[Event]:
    """Conditioned events of rows (second, x, y[, z]), one packet each."""
    detector, state, out = Conditioning(sheet or MatchSheet()), Track(), []
    for i, (at_s, *place) in enumerate(rows):
        x, y, z = (*place, 0.0)[:3]
        packet = Packet(name, i, (round(at_s * 1e6),), (x,), (y,), (z,))
        state, emitted = detector.step(state, arrival(packet).event)
        out.extend(emitted)
    return out


def rejected(events: list[Event]) -> list[str]:
    return [e.payload.variant for e in events if e.kind == "sample.rejected" and isinstance(e.payload, EventPayload)]


def walk(start: int, count: int, x0: float = 0.0, speed: float = 5.0) -> list[Row]:
    return [((start + i) * 0.04, x0 + speed * i * 0.04, 0.0) for i in range(count)]


def test_a_steady_run_has_its_speed_from_the_second_state_on() -> None:
    speeds = [e.payload.vx_m_s for e in condition(walk(0, 6)) if isinstance(e.payload, BodyState)]
    assert speeds[0] == 0.0
    assert speeds[1:] == pytest.approx([5.0] * 5)


def test_a_single_jump_is_rejected_and_forgotten() -> None:
    rows = walk(0, 10)
    rows[5] = (rows[5][0], 30.0, 10.0)
    events = condition(rows)
    assert rejected(events) == ["speed player"]
    assert len([e for e in events if e.kind == "player.state"]) == 9


def test_the_hardest_strikes_are_believed_and_what_no_strike_explains_is_not() -> None:
    """At 25 Hz the first position after the strike is 1.8 m on, then one jumps by 3 m."""
    struck = walk(0, 5, speed=0.0) + walk(5, 6, x0=1.8, speed=45.0)
    assert rejected(condition(struck, "ball")) == []
    states = [e.payload for e in condition(struck, "ball") if isinstance(e.payload, BallState)]
    assert [state.run for state in states] == list(range(1, 12))
    struck[7] = (struck[7][0], struck[7][1] + 3.0, 0.0)
    assert rejected(condition(struck, "ball")) == ["speed ball"]


def test_a_corrected_identity_is_believed_once_three_positions_agree() -> None:
    events = condition(walk(0, 5) + walk(5, 6, x0=30.0))
    states = [e.payload for e in events if isinstance(e.payload, BodyState)]
    assert rejected(events) == ["speed player"], "a run of refusals is told once"
    assert [round(s.x_m, 1) for s in states[5:]] == [30.4, 30.6, 30.8, 31.0]
    assert states[5].vx_m_s == 0.0, "no velocity across a jump"


@pytest.mark.parametrize("place", [(1000.0, 0.0), (0.0, 45.0), (math.nan, 0.0), (0.0, math.inf)])
def test_what_is_outside_the_volume_or_no_number_is_rejected(place: tuple[float, float]) -> None:
    rows = walk(0, 5)
    rows[3] = (rows[3][0], *place)
    assert rejected(condition(rows)) == ["outside player"]


def test_a_packet_that_goes_back_in_time_is_rejected_whole() -> None:
    detector = Conditioning(MatchSheet())
    state, _ = detector.step(Track(), arrival(Packet("ball", 4, (1000,), (0.0,), (0.0,), (0.0,))).event)
    for packet in (
        Packet("ball", 5, (900, 940), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
        Packet("ball", 4, (2000,), (0.0,), (0.0,), (0.0,)),
    ):
        after, out = detector.step(state, arrival(packet).event)
        assert [e.payload.variant for e in out] == ["time backwards ball"]
        assert after.memory == state.memory


def test_somebody_who_is_on_no_sheet_is_rejected_once() -> None:
    sheet = MatchSheet(players=(Player("home_7", "home"),))
    assert rejected(condition(walk(0, 5), "home_99", sheet)) == ["unknown player"]
    assert rejected(condition(walk(0, 5), "ghost", MatchSheet())) == ["unknown player"]
    assert rejected(condition(walk(0, 5), "home_7", sheet)) == []


def test_packets_of_ten_at_two_kilohertz_become_one_state_with_less_noise() -> None:
    noise, sigma_m = random.Random(3), 0.02
    sheet = MatchSheet(quality=stage.RTLS)
    detector, state, states = Conditioning(sheet), Track(), []
    for i in range(200):
        ts = tuple((i * 10 + k) * 500 + 1 for k in range(10))
        x = tuple(t * 15e-6 + noise.gauss(0, sigma_m) for t in ts)
        packet = Packet("ball", i, ts, x, (0.0,) * 10, (0.0,) * 10)
        state, out = detector.step(state, arrival(packet).event)
        states += [(e.ts_us, e.payload) for e in out]
    assert len(states) == 200
    settled = states[10:]
    errors = [s.x_m - ts * 15e-6 for ts, s in settled]
    speeds = [s.vx_m_s - 15.0 for _, s in settled]
    assert sum(e * e for e in errors) / len(errors) < (sigma_m / 2) ** 2
    wanted = ball_sampling(stage.RTLS).velocity_noise_m_s
    assert sum(v * v for v in speeds) / len(speeds) < (1.3 * wanted) ** 2


def test_sampling_follows_from_the_declared_quality() -> None:
    optical, rtls = ball_sampling(stage.OPTICAL), ball_sampling(stage.RTLS)
    assert (optical.block, optical.period_us, optical.fit) == (1, 40_000, 2)
    assert (rtls.block, rtls.period_us) == (10, 5_000)
    assert body_sampling(stage.RTLS).period_us == 20_000
    noisy = msgspec.structs.replace(stage.RTLS, position_noise_m=0.05)
    assert ball_sampling(noisy).fit > rtls.fit
    for quality in (stage.OPTICAL, stage.RTLS):
        assert delta_v_noise_m_s(quality) <= 2.2, "a hit must stand out of the noise"


def player_state(name: str, ts_us: int, x_m: float, vx_m_s: float = 0.0) -> Event:
    return Event("player.state", ts_us, name, ts_us, BodyState(name, "home", "", x_m, 0.0, 0.0, vx_m_s, 0.0))


def ball_state(ts_us: int, x_m: float = 0.0, name: str = "ball", vx_m_s: float = 0.0) -> Event:
    return Event("ball.state", ts_us, name, ts_us, BallState(x_m, 0.0, 0.1, vx_m_s, 0.0, 0.0, 40_000))


def fold(detector: object, events: list[Event]) -> list[Event]:
    state, out = detector.initial(), []  # type: ignore[attr-defined]
    for event in events:
        state, emitted = detector.step(state, event)  # type: ignore[attr-defined]
        out.extend(emitted)
    return out


def frames(events: list[Event]) -> list[tuple[int, list[str], bool]]:
    return [
        (e.ts_us, [p.object_id for p in e.payload.players], e.payload.ball is not None)
        for e in events
        if isinstance(e.payload, Frame)
    ]


def instants(*times_us: int, names: tuple[str, ...] = ("home_1", "home_2")) -> list[Event]:
    return [e for t in times_us for e in (*(player_state(n, t, 0.0) for n in names), ball_state(t))]


def test_a_frame_is_complete_with_the_ball_of_its_instant() -> None:
    detector = FrameFusion(MatchSheet())
    events = instants(0, 40_000, 80_000)
    out = fold(detector, events)
    assert frames(out) == [(t, ["home_1", "home_2"], True) for t in (0, 40_000, 80_000)]
    last = fold(detector, events[:-1])
    assert frames(last)[-1][0] == 40_000, "the frame of 80 ms waits for the ball of 80 ms"


def test_who_misses_an_instant_is_carried_on_and_after_two_hundred_milliseconds_left_out() -> None:
    early = [player_state("home_1", 0, 0.0, 5.0), *instants(0, 40_000, names=("home_2",))]
    events = early + instants(*range(80_000, 400_000, 40_000), names=("home_2",))
    found = {e.ts_us: e.payload for e in fold(FrameFusion(MatchSheet()), events) if isinstance(e.payload, Frame)}
    assert found[160_000].players[0].x_m == pytest.approx(0.8)
    assert [p.object_id for p in found[240_000].players] == ["home_2"]


def test_a_frame_older_than_the_horizon_is_dropped() -> None:
    events = [*instants(0, 40_000), player_state("home_1", 80_000, 0.0), *instants(1_000_000, 1_040_000)]
    assert 80_000 not in [t for t, _, _ in frames(fold(FrameFusion(MatchSheet()), events))]


def test_transmitters_of_their_own_time_give_at_most_fifty_frames_a_second() -> None:
    sheet = MatchSheet(quality=stage.RTLS)
    events = [player_state(f"home_{i % 5}", i * 1_700, 0.0) for i in range(600)]
    times = [t for t, _, _ in frames(fold(FrameFusion(sheet), events))]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert min(gaps) >= 19_000
    assert max(gaps) <= 25_000


def test_ticks_come_every_fifth_of_a_second_of_event_time() -> None:
    out = fold(FrameFusion(MatchSheet()), instants(*range(0, 2_000_000, 40_000)))
    assert [e.ts_us for e in out if e.kind == "clock.tick"] == list(range(0, 2_000_000, 200_000))


def limb(name: str, ts_us: int, x_m: float, quality: float = 1.0) -> Event:
    run = LimbRun("home_7", "home", name, ((ts_us, x_m, 1.0, 0.1, 0.0, 0.0),), quality)
    return Event("foot.run" if "foot" in name else "limb.run", ts_us, f"home_7/{name}", ts_us, run)


def test_a_player_is_the_mean_of_his_feet_even_with_hands_known() -> None:
    events = [limb("left_hand", 0, 9.0), limb("left_foot", 20_000, 1.0), limb("right_foot", 41_000, 2.0)]
    players = [e.payload.x_m for e in fold(PlayerFusion(), events) if e.kind == "player.state"]
    assert players == [9.0, 1.0, 1.5]


def test_radio_wins_over_optical_unless_its_quality_is_low() -> None:
    def centroid(ts_us: int) -> Event:
        return Event("centroid.state", ts_us, "home_7", 0, BodyState("home_7", "home", "", 5.0, 0.0, 0.0, 0.0, 0.0))

    events = [limb("left_foot", 0, 1.0), centroid(100_000), centroid(300_000), limb("left_foot", 350_000, 1.0, 0.1)]
    events += [limb("left_foot", 400_000, 1.0)]
    out = fold(PlayerFusion(), events)
    assert [(e.ts_us, e.payload.x_m) for e in out if e.kind == "player.state"] == [
        (0, 1.0),
        (300_000, 5.0),
        (400_000, 1.0),
    ]
    assert [e.payload.variant for e in out if e.kind == "source.switched"] == ["optical", "rtls"]


def sample(name: str, ts_us: int, x_m: float, vx_m_s: float = 0.0) -> Event:
    return Event("ball.sample", ts_us, name, ts_us, ball_state(ts_us, x_m, name, vx_m_s).payload)


def test_a_struck_ball_takes_over_when_the_active_one_is_gone() -> None:
    events = [sample("ball_1", 0, 0.0), sample("ball_2", 1, 10.0), sample("ball_1", 40_000, 60.0)]
    events += [sample("ball_2", 40_001, 10.0), sample("ball_2", 80_001, 10.4, 10.0), sample("ball_1", 90_000, 60.0)]
    out = fold(ActiveBall(MatchSheet()), events)
    assert [e.source for e in out if e.kind == "ball.state"] == ["ball_1", "ball_1", "ball_2"]
    assert [e.kind for e in out if e.kind != "ball.state"] == ["ball.spare_on_pitch", "ball.active_changed"]


def test_a_spare_ball_beside_the_pitch_is_not_taken_for_the_one_in_play_though_it_was_heard_first() -> None:
    events = [sample("ball_2", 0, 60.0), sample("ball", 1, 0.0), sample("ball_2", 2, 60.0), sample("ball", 40_000, 0.1)]
    out = fold(ActiveBall(MatchSheet()), events)
    assert [(e.kind, e.source) for e in out] == [("ball.state", "ball")] * 2


def tick(ts_us: int, **seen: tuple[int, float]) -> Event:
    rows = tuple(LastSample(name, last_us, quality) for name, (last_us, quality) in sorted(seen.items()))
    return Event("clock.tick", ts_us, "clock", ts_us, Tick(rows))


def test_a_silent_transmitter_is_lost_and_recovered_and_low_quality_is_told_once() -> None:
    good, bad = 1.0, 0.1
    events = [
        tick(200_000, ball=(200_000, good), home_7=(200_000, bad)),
        tick(400_000, ball=(200_000, good), home_7=(400_000, bad)),
        tick(600_000, ball=(600_000, good), home_7=(600_000, bad)),
        tick(900_000, ball=(900_000, good)),
    ]
    out = fold(TransmitterHealth(MatchSheet(quality=Quality())), events)
    assert [(e.ts_us, e.kind, e.payload.variant) for e in out] == [
        (400_000, "tx.lost", "ball"),
        (400_000, "tx.low_quality", "player"),
        (600_000, "tx.recovered", "ball"),
        (900_000, "tx.lost", "player"),
    ]


def test_a_noisier_input_than_it_declares_is_taken_as_measured_if_it_is_much_noisier():
    declared = stage.OPTICAL
    assert with_jitter(declared, 1.9 * jitter_m(declared)) == declared
    noisy = with_jitter(declared, 0.05)
    assert jitter_m(noisy) == pytest.approx(0.05)
    assert (ball_sampling(noisy).fit, body_sampling(noisy).fit) == (3, 6)
    assert with_jitter(declared, 1000.0).position_noise_m == NOISE_MAX_M

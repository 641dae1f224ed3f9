"""The bench of the cameras, on a made-up match: latency costs, the oracle is best, chances are counted."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from bench import camera_latency as bench
from bench.camera_traces import Arrived, Trace, ball_path
from camera.bounds import bounds_of
from camera.chances import certain
from camera.measuring import measured_axis, measured_profile
from camera.metrics import exact_jerk, rms
from camera.profile import Profile, load_profile
from camera.simulated.server import Quirks
from football.update_stream import BallView, EventRecord, UpdateRecord, View
from simulator.simulate import Simulation, simulate
from tests.camera.virtual_head import VirtualHead

SIZE_M = (105.0, 68.0)


def swinging(delay_us: int = 20_000, updates: dict[int, tuple[UpdateRecord, ...]] | None = None) -> Trace:
    """Return twenty seconds of a ball that swings across the pitch, 25 times a second."""
    ticks = np.arange(0, 20_000_000, 40_000)
    x_m = 25 * np.sin(ticks / 1e6 * 0.9)
    vx_m_s = 22.5 * np.cos(ticks / 1e6 * 0.9)
    arrived = tuple(
        Arrived(
            int(t) + delay_us,
            0,
            View(int(t), BallView(int(t), x, 0.0, 0.0, v, 0.0, 0.0), ()),
            (updates or {}).get(n, ()),
        )
        for n, (t, x, v) in enumerate(zip(ticks.tolist(), x_m.tolist(), vx_m_s.tolist(), strict=True))
    )
    return Trace(SIZE_M, arrived, np.column_stack([ticks, x_m, 0 * x_m, 0 * x_m]).astype(float))


def update(event_id: str, kind: str, diff: int = 1) -> UpdateRecord:
    return UpdateRecord(0, diff, 0, EventRecord(event_id, kind, "", 6, 0, "", "", 0.0, 0.0, None, 1.0))


def test_latency_costs_aim() -> None:
    soon, late = (bench.delayed(swinging(), delay_us) for delay_us in (60_000, 800_000))
    errors = [bench.errors(t.pan_deg, t.ball_pan_deg, np.full(len(t.plans), 15.0)) for t in (soon, late)]
    assert float(errors[1]["rms_deg"]) > 1.5 * float(errors[0]["rms_deg"])


def test_the_oracle_scores_most_and_a_still_camera_least() -> None:
    track = bench.steered(swinging(), certain)
    ball, width = track.ball_pan_deg, track.width_deg
    tracks = (np.zeros_like(ball), track.pan_deg, bench.oracle_pan(ball, width))
    found = [bench.score(bench.shares(pan, ball, width, [])) for pan in tracks]
    assert found == sorted(found)
    assert found[0] < found[2]


def test_foresight_is_the_true_path_for_as_long_as_it_is_known() -> None:
    trace = swinging()
    view = next(message.view for message in trace.arrived if message.view and message.view.ts_us == 4_000_000)
    planner = bench.Foresight(trace, 300_000)
    planner.take_view(view, view.ts_us + 20_000)
    assert planner._outlook is not None
    for ahead_s, known_s in ((0.3, 0.3), (1.0, 0.3)):
        truth_m = 25 * np.sin((4.0 + known_s) * 0.9)
        assert planner._outlook.at(ahead_s)[0] == pytest.approx(truth_m, abs=0.02)
    own, known = (row["of_oracle"] for row in bench.foresight_rows([trace])[:2])
    assert own != known


def test_a_track_is_composed_that_runs_ahead_of_the_ball_and_not_one_that_trails() -> None:
    track = bench.steered(swinging(), certain)
    ball, width = track.ball_pan_deg, track.width_deg
    forward = np.sign(np.gradient(ball)) * width
    composed = [bench.shares(ball + share * forward, ball, width, [])["composed"] for share in (-0.2, 0.0, 0.15, 0.4)]
    assert composed == pytest.approx([0.0, 2 / 3, 1.0, 1 / 3], abs=0.05)


def test_the_subjects_of_events_that_stand_count_as_shown_while_they_are_in_the_picture() -> None:
    out = msgspec.structs.replace(update("e", "out").event, ts_us=10_000_000, x_m=20.0, y_m=30.0)
    wrong = msgspec.structs.replace(out, id="wrong", x_m=-40.0)
    sent = {250: tuple(UpdateRecord(0, diff, 0, one) for one, diff in ((out, 1), (wrong, 1), (wrong, -1)))}
    trace = swinging(updates=sent)
    ((when, subject),) = bench.subjects(trace, trace.arrived[0].now_us)
    assert when.start == pytest.approx(500, abs=2)
    ball = np.zeros(1000)
    seen = [bench.shares(ball + off, ball, ball + 20.0, [(when, subject)])["shown"] for off in (subject, subject - 15)]
    assert seen == [1.0, 0.0]


def test_a_head_with_a_fine_table_stays_nearer_to_the_plan() -> None:
    plans = bench.delayed(swinging(), 60_000).plans
    plan = np.array([one.pan.position for one in plans])
    fine, coarse = (
        float(np.abs(bench.driven(plans, axis, nearest=False) - plan)[200:].mean())
        for axis in (bench.FINE_AXIS, bench.PROFILE.pan)
    )
    assert fine < coarse


def test_how_soon_wrong_events_are_withdrawn_is_counted() -> None:
    sent = {n: (update(f"e{n}", "pass.attempt"),) for n in range(20)}
    sent |= {n + 30: (update(f"e{n}", "pass.attempt", -1),) for n in range(5)}
    assert bench.measured_chances([swinging(updates=sent)]).settles_ms == {"pass.attempt": 30 * 40}


def test_an_event_that_is_withdrawn_and_asserted_again_stands() -> None:
    sent = {n: (update(f"e{n}", "out"),) for n in range(10)}
    sent |= {n + 20: (update(f"e{n}", "out", -1), update(f"e{n}", "out")) for n in range(10)}
    assert bench.measured_chances([swinging(updates=sent)]).settles_ms == {}


def with_speeds(speeds: tuple[float, ...]) -> Profile:
    profile = load_profile()
    axes = {
        name: msgspec.structs.replace(axis, speeds_deg_s=speeds)
        for name, axis in (("pan", profile.pan), ("tilt", profile.tilt))
    }
    return msgspec.structs.replace(profile, **axes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("speeds", "every", "ratio"),
    [(load_profile().pan.speeds_deg_s, 1, 3.0), (bench.FINE, 4, 1.5)],
    ids=["x400", "fine"],
)
def test_a_head_of_a_measured_table_jerks_hardly_more_than_its_plan(
    speeds: tuple[float, ...], every: int, ratio: float
) -> None:
    """The controller knows nothing of the speeds but how many they are, and measures them."""
    actual, guess = with_speeds(speeds), with_speeds(tuple(np.geomspace(0.5, 60.0, len(speeds)).tolist()))
    head = VirtualHead(guess, actual=actual, quirks=Quirks(dead_ms=100, accel_deg_s2=150))
    head.run(2.0)
    steps = range(1, len(speeds) + 1, every)
    pan = measured_axis(head.connection, "pan", steps, bounds_of(guess), head.clock, head.pause)
    known = measured_profile(guess, pan, pan).pan
    for seed in (11, 12):
        recording, _ = simulate(Simulation(seed, 120.0, ball_hz=100, body_hz=25, limbs=()))
        track = bench.delayed(Trace(SIZE_M, (), ball_path(recording)), 150_000)
        jerk_deg_s3 = rms(exact_jerk(track.pan_deg[bench.SETTLES :]))
        found = {
            name: rms(exact_jerk(bench.driven(track.plans, actual.pan, known=axis)[bench.SETTLES :])) / jerk_deg_s3
            for name, axis in (("measured", known), ("guess", guess.pan))
        }
        assert found["measured"] <= ratio, f"seed {seed}: {found}"
        assert every > 1 or found["guess"] > 4 * found["measured"], f"seed {seed}: {found}"

"""Measuring a head whose speed table, dead time and acceleration the profile does not know, in virtual time."""

from __future__ import annotations

import msgspec
import pytest

from camera.bounds import Zone, bounds_of
from camera.measuring import MeasuringError, Trial, fitted, measured_axis, measured_profile, scaled, with_steps
from camera.profile import Profile, load_profile
from camera.simulated.server import Quirks
from tests.camera.virtual_head import VirtualHead

X400 = load_profile()
#: The table of another head: twelve steps, none of the profile's.
TABLE = (0.3, 0.7, 1.4, 2.6, 4.4, 7.5, 12.0, 18.0, 26.0, 37.0, 52.0, 70.0)


def with_table(profile: Profile, speeds: tuple[float, ...]) -> Profile:
    axes = (msgspec.structs.replace(axis, speeds_deg_s=speeds) for axis in (profile.pan, profile.tilt))
    pan, tilt = axes
    return msgspec.structs.replace(profile, pan=pan, tilt=tilt)


def online(known: Profile, actual: Profile, name: str = "visca", **quirks: float) -> VirtualHead:
    head = VirtualHead(known, name, actual=actual, quirks=Quirks(**quirks))  # type: ignore[arg-type]
    head.run(2.0)
    assert head.connection.online
    return head


@pytest.mark.parametrize(("dead_ms", "accel"), [(0.0, 200.0), (120.0, 90.0), (60.0, 400.0)])
def test_an_unknown_table_dead_time_and_acceleration_are_found(dead_ms: float, accel: float) -> None:
    actual = with_table(X400, TABLE)
    head = online(X400, actual, dead_ms=dead_ms, accel_deg_s2=accel)
    head.connection.ask_max_steps()
    head.run(0.2)
    found_steps = head.connection.max_steps
    assert found_steps is not None
    assert (found_steps.pan_step, found_steps.tilt_step) == (12, 12)
    known = with_steps(X400, 12, 12)
    head = online(known, actual, dead_ms=dead_ms, accel_deg_s2=accel)
    steps = range(1, 13)
    pan = measured_axis(head.connection, "pan", steps, bounds_of(known), head.clock, head.pause)
    tilt = measured_axis(head.connection, "tilt", steps[:9], bounds_of(known), head.clock, head.pause)
    for step, speed in enumerate(TABLE, 1):
        assert pan.speeds_deg_s[step] == pytest.approx(speed, rel=0.05, abs=0.03), step
    assert pan.dead_time_s * 1000 == pytest.approx(dead_ms, abs=25)
    assert pan.accel_deg_s2 == pytest.approx(accel, rel=0.25)
    profile = measured_profile(known, pan, tilt)
    assert profile.motion.dead_time_ms == pytest.approx(dead_ms, abs=25)
    assert profile.motion.lag_ms == pytest.approx(1000 * 10.0 / (2 * accel), rel=0.35)
    assert len(profile.tilt.speeds_deg_s) == 12
    assert list(profile.tilt.speeds_deg_s) == sorted(profile.tilt.speeds_deg_s)
    head.run(0.5)
    assert not head.moving


def test_the_head_stays_within_its_limits_and_out_of_forbidden_zones() -> None:
    head = online(X400, X400)
    bounds = bounds_of(X400, (-40.0, 40.0), (-10.0, 20.0), (Zone((15.0, 30.0), (-5.0, 5.0)),))
    seen = []
    pause = head.pause

    def watched(seconds: float) -> None:
        pause(seconds)
        seen.append(head.pose.pan_deg)

    measured_axis(head.connection, "pan", range(1, 25, 3), bounds, head.clock, watched)
    assert min(seen) > -40.0
    assert max(seen) < 15.0


def test_a_speed_that_the_room_does_not_suffice_for_is_left_out() -> None:
    h700, generic = load_profile("brc-h700"), load_profile("onvif-generic")
    for profile, name, step in ((h700, "visca", 24), (generic, "onvif", 100)):
        head, lines = online(profile, profile, name, dead_ms=100.0), []
        steps = (step // 4, step // 2, step)
        tilt = measured_axis(
            head.connection,
            "tilt",
            steps,
            bounds_of(profile, tilt_deg=(-20.0, 20.0)),
            head.clock,
            head.pause,
            lines.append,
        )
        assert step in tilt.left_out, (name, tilt)
        assert lines[-1] == f"tilt step {step}: left out, the head has no room to reach its speed"
        for measured, speed in tilt.speeds_deg_s.items():
            assert speed == pytest.approx(profile.tilt.speeds_deg_s[measured - 1], rel=0.05), (name, measured)
        top = measured_profile(profile, tilt, tilt).tilt.speeds_deg_s[-1]
        assert top == pytest.approx(profile.tilt.speeds_deg_s[-1], rel=0.08), name


def test_a_head_that_turns_the_other_way_is_stopped_and_named() -> None:
    left = msgspec.structs.replace(X400, pan=msgspec.structs.replace(X400.pan, positive="left"))
    head = online(left, X400)
    with pytest.raises(MeasuringError, match=r'pan turns the other way: its "positive" is not left'):
        measured_axis(head.connection, "pan", [6, 7], bounds_of(left), head.clock, head.pause)
    assert not head.moving


def test_a_head_that_stops_answering_is_named() -> None:
    head = online(X400, X400)
    calls = 0

    def cut(seconds: float) -> None:
        nonlocal calls
        calls += 1
        if calls > 60:
            head.up = head.down = False
        head.pause(seconds)

    with pytest.raises(MeasuringError, match=r"does not answer|standstill"):
        measured_axis(head.connection, "pan", [3, 4], bounds_of(X400), head.clock, cut)


def test_speeds_of_onvif_are_scaled_as_a_whole() -> None:
    profile = load_profile("onvif-generic")
    table = tuple(0.8 * speed for speed in profile.pan.speeds_deg_s)
    trials = [
        Trial(step, tuple(n / 10 for n in range(20)), tuple(n / 10 * table[step - 1] for n in range(20)))
        for step in (40, 60, 80)
    ]
    pan = fitted(trials)
    found = scaled(profile, pan, pan)
    assert found.pan.speeds_deg_s == pytest.approx(table, rel=0.01)
    with pytest.raises(MeasuringError, match="two or more"):
        fitted(trials[:1])


def test_the_other_protocols_are_measured_too() -> None:
    for name, profile_name, steps in (("visca-tcp", "ptzoptics-g2", (8, 12, 16)), ("aw", "aw-he40", (25, 32, 40))):
        profile = load_profile(profile_name)
        head = online(profile, profile, name, dead_ms=80.0)
        pan = measured_axis(head.connection, "pan", steps, bounds_of(profile), head.clock, head.pause)
        for step in steps:
            assert pan.speeds_deg_s[step] == pytest.approx(profile.pan.speeds_deg_s[step - 1], rel=0.08), (name, step)

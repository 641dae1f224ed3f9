"""A mount from centred marks: random mounts with noise, outliers, too few marks, and the lens."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camera.calibration import CalibrationError, CentredMark, EdgeMark, calibrated, lens, residual
from camera.mount import Mount
from camera.pitch_marks import pitch_marks
from camera.profile import load_profile
from tests.examples import in_two_lengths

MARKS = pitch_marks()
CORNERS = [name for name in MARKS if name.startswith("corner")]
WIDE = [*CORNERS, "centre-spot", "penalty-spot-left", "penalty-spot-right", "halfway-up"]

mounts = st.builds(
    Mount,
    st.floats(-60, 60),
    st.floats(-110, -45),
    st.floats(5, 35),
    st.floats(45, 135),
    st.floats(-5, 5),
    st.floats(-4, 4),
)


def centred(mount: Mount, names: list[str], noise_deg: float = 0.0, seed: int = 1) -> list[CentredMark]:
    rng = random.Random(seed)
    out = []
    for name in names:
        pan_deg, tilt_deg = mount.aim(*MARKS[name])
        pan_deg += rng.gauss(0, noise_deg) / max(0.1, math.cos(math.radians(tilt_deg)))
        out.append(CentredMark(name, MARKS[name], pan_deg, tilt_deg + rng.gauss(0, noise_deg)))
    return out


@settings(max_examples=30, deadline=None)
@given(mounts, st.integers(0, 2**20))
def test_a_random_mount_is_found_from_noisy_marks(mount: Mount, seed: int) -> None:
    found = calibrated(centred(mount, WIDE, 0.02, seed), Mount())
    assert found.outlier == ""
    assert found.rms_deg < 0.08, f"mount {mount}, seed {seed}"
    assert math.dist((found.mount.x_m, found.mount.y_m, found.mount.z_m), (mount.x_m, mount.y_m, mount.z_m)) < max(
        0.3, 6 * found.uncertain_m
    )
    for name in MARKS:  # what counts: where it aims, also at what was not centred
        pan_deg, tilt_deg = mount.aim(*MARKS[name])
        assert residual(found.mount, CentredMark(name, MARKS[name], pan_deg, tilt_deg)).off_deg < 0.3


@settings(max_examples=20, deadline=None)
@given(mounts)
def test_four_exact_marks_are_enough(mount: Mount) -> None:
    found = calibrated(centred(mount, CORNERS), Mount())
    assert found.rms_deg < 0.01
    assert found.mount.z_m == pytest.approx(mount.z_m, abs=0.05)
    assert found.mount.roll_deg == pytest.approx(mount.roll_deg, abs=0.05)


@in_two_lengths(
    8,
    20,
    mount=mounts,
    wrong=st.sampled_from(WIDE),
    off_deg=st.sampled_from([-4.0, -1.5, 1.5, 4.0]),
    seed=st.integers(0, 2**20),
)
def test_a_wrong_mark_is_named_and_left_out(mount: Mount, wrong: str, off_deg: float, seed: int) -> None:
    marks = [
        CentredMark(m.name, m.point, m.pan_deg + off_deg, m.tilt_deg) if m.name == wrong else m
        for m in centred(mount, WIDE, 0.02, seed)
    ]
    found = calibrated(marks, Mount())
    assert found.outlier == wrong, f"mount {mount}, seed {seed}"
    (bad,) = [r for r in found.residuals if r.name == wrong]
    assert bad.off_deg > 0.5
    assert bad.off_m > 0.3
    assert found.rms_deg < 0.1


def test_the_camera_may_stand_anywhere_and_look_anywhere() -> None:
    for mount in (Mount(0, 74, 15, -90), Mount(-90, 3, 10, 5), Mount(80, -20, 25, 160, 2, -1)):
        start = Mount(mount.x_m + 10, mount.y_m - 10, 12, 90)
        found = calibrated(centred(mount, WIDE, 0.01), start)
        assert found.mount.heading_deg == pytest.approx(mount.heading_deg, abs=0.2)


def test_too_few_contradicting_and_undetermining_marks_are_refused() -> None:
    mount = Mount()
    with pytest.raises(CalibrationError, match="3 marks, 4 are needed"):
        calibrated(centred(mount, CORNERS[:3]), mount)
    marks = centred(mount, CORNERS)
    bad = [CentredMark(marks[0].name, marks[0].point, marks[0].pan_deg + 5, marks[0].tilt_deg + 3), *marks[1:]]
    with pytest.raises(CalibrationError, match="contradict each other"):
        calibrated(bad, mount)
    near = ["post-left-up", "crossbar-left", "post-left-down", "corner-left-up"]
    with pytest.raises(CalibrationError, match="leave the position open"):
        calibrated(centred(mount, near), mount)


def test_the_lens_is_measured_at_its_edges() -> None:
    profile, mount = load_profile().zoom, Mount()
    truth = lambda units: 0.9 * profile.width_deg(units) * (1 - 0.05 * units / profile.max_units)  # noqa: E731
    edges = []
    for units in (0, 6_000, 12_000, profile.max_units):
        point = MARKS["centre-spot"]
        pan_deg, tilt_deg = mount.aim(*point)
        for side in (-1, 1):  # the mark at the right edge when the head looks to its left
            low, high = 0.0, 60.0
            for _ in range(60):  # the pan at which the mark is at the edge, by bisection
                middle = (low + high) / 2
                across, _, ahead = mount.in_camera(pan_deg + side * middle, tilt_deg, point)
                inside = abs(across) / ahead < math.tan(math.radians(truth(units) / 2))
                low, high = (middle, high) if inside else (low, middle)
            edges.append(EdgeMark("centre-spot", point, pan_deg + side * low, tilt_deg, units))
    found = lens(profile, mount, edges)
    for units in (0, 6_000, 12_000, profile.max_units):
        assert found.width_deg(units) == pytest.approx(truth(units), rel=0.002)
    assert found.width_deg(3_000) == pytest.approx(truth(3_000), rel=0.02)
    with pytest.raises(CalibrationError, match="edge of a picture"):
        lens(profile, mount, [EdgeMark("x", MARKS["centre-spot"], 180.0, 0.0, 0)])

"""Device profiles: units, signs, curves and what a wrong profile is told."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camera.profile import ProfileError, load_profile, profile_names

NAMES = profile_names()
#: Every third profile; the others are slow.
SOME = [pytest.param(name, marks=pytest.mark.slow if n % 3 else ()) for n, name in enumerate(NAMES)]


@pytest.mark.parametrize("name", SOME)
@given(share=st.floats(0, 1))
def test_an_angle_survives_the_way_to_units_and_back_within_half_a_unit(name: str, share: float) -> None:
    profile = load_profile(name)
    for axis in (profile.pan, profile.tilt):
        angle_deg = axis.min_deg + share * (axis.max_deg - axis.min_deg)
        assert abs(axis.deg(axis.units(angle_deg)) - angle_deg) <= 0.5 / axis.units_per_deg + 1e-9


@pytest.mark.parametrize("name", SOME)
@given(share=st.floats(0, 1))
def test_a_zoom_position_survives_the_way_to_an_angle_and_back(name: str, share: float) -> None:
    zoom = load_profile(name).zoom
    units = round(share * zoom.max_units)
    assert zoom.units(zoom.width_deg(units)) == units


def test_the_x400_turns_right_with_rising_units_and_the_h700_left() -> None:
    x400, h700 = load_profile("brc-x400"), load_profile("brc-h700")
    assert x400.pan.units(90.0) == 4608
    assert h700.pan.units(90.0) == -18747
    assert (x400.tilt.min_deg, x400.tilt.max_deg) == (-20.0, 90.0)
    assert h700.pan.min_deg == pytest.approx(-170.0, abs=0.1)
    assert h700.pan.max_deg == pytest.approx(170.0, abs=0.1)


@pytest.mark.parametrize(
    ("name", "pan_deg", "tilt_deg", "steps", "slowest_deg_s", "fastest_deg_s"),
    [
        ("ilme-fr7", 170, (-30, 195), 50, 0.02, 60),
        ("brc-am7", 175, (-30, 210), 127, 0.02, 180),
        ("aw-ue100", 175, (-30, 210), 49, 0.08, 60),
    ],
)
def test_travel_and_steps_are_those_of_the_lists_of_their_makers(
    name: str, pan_deg: float, tilt_deg: tuple[float, float], steps: int, slowest_deg_s: float, fastest_deg_s: float
) -> None:
    profile = load_profile(name)
    assert (profile.pan.min_deg, profile.pan.max_deg) == pytest.approx((-pan_deg, pan_deg), abs=0.02)
    assert (profile.tilt.min_deg, profile.tilt.max_deg) == pytest.approx(tilt_deg, abs=0.02)
    for axis in (profile.pan, profile.tilt):
        assert (len(axis.speeds_deg_s), axis.speeds_deg_s[0], axis.speeds_deg_s[-1]) == (
            steps, slowest_deg_s, fastest_deg_s
        )  # fmt: skip


def test_angles_beyond_the_travel_give_its_end() -> None:
    pan = load_profile().pan
    assert pan.units(500.0) == 0x2200
    assert pan.units(-500.0) == -0x2200


def test_zooming_in_narrows_the_picture_down_to_the_lens_s_ratio() -> None:
    zoom = load_profile().zoom
    widths = [zoom.width_deg(u) for u in range(0, 0x4001, 64)]
    assert all(a > b for a, b in itertools.pairwise(widths))
    assert zoom.width_deg(0) == pytest.approx(70.0)
    assert zoom.tele_width_deg == pytest.approx(4.01, abs=0.01)


def _broken(tmp_path: Path, old: str, new: str) -> Path:
    text = (Path(__file__).parents[2] / "camera/profiles/brc-x400.toml").read_text()
    assert old in text
    path = tmp_path / "broken.toml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("nibbles = 4", "nibbles = 3", "pan.min_units"),
        ('positive = "right"', 'positive = "up"', "pan.positive"),
        ("[1.1, 1.3,", "[1.1, 1.0,", "pan.speeds_deg_s"),
        ("units_per_deg = 51.2", "", "units_per_deg"),
        ("[0, 1.0]", "[0, 3.0]", "zoom.curve"),
        ("port = 52381", "prot = 52381", "prot"),
        ("[pan]", "[pan", "broken.toml"),
    ],
)
def test_a_wrong_profile_is_refused_with_file_field_and_reason(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(ProfileError, match=r"broken\.toml") as caught:
        load_profile(_broken(tmp_path, old, new))
    assert says in str(caught.value)


def test_a_profile_that_does_not_exist_is_named() -> None:
    with pytest.raises(ProfileError, match="brc-9999"):
        load_profile("brc-9999")

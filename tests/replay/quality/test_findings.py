"""Figures of an input, and what is found from them; without any file."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path

import msgspec
import pytest

from detectors.reasons import meanings_of, reasons_of
from football.input_quality import InputQuality
from football.match_sheet import MatchSheet, Player, Quality
from football.packets import Packet, RejectedRecord
from replay.quality import findings as module
from replay.quality.findings import LIMITS, Circumstances, InputLimits, findings_of
from replay.quality.meter import InputMeter

ROOT = Path(__file__).resolve().parents[3]

#: An input without any fault.
GOOD = InputQuality(
    packets=30_000, span_s=600.0, positions=30_000, ball_hz=25.0, body_hz=25.0, ball_share=0.99, ball_noise_m=0.01,
    body_noise_m=0.01, ball_height_share=0.9, ball_height_max_m=12.0, home_players=11, away_players=11,
    home_objects=11, away_objects=11, x_low_m=-46.0, x_high_m=47.0, y_low_m=-30.0, y_high_m=31.0,
    attacks_positive_x="home", periods=((0.0, 600.0),),
)  # fmt: skip


def codes(quality: InputQuality, sheet: MatchSheet | None = None, known: Circumstances | None = None) -> set[str]:
    return {finding.code for finding in findings_of(quality, sheet or MatchSheet(), known)}


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("ball", {"ball_share": 0.7}),
        ("no ball", {"ball_share": 0.1}),
        ("height", {"ball_height_share": 0.0}),
        ("height", {"ball_height_max_m": 80.0}),
        ("keyframes", {"ball_straight": 0.8}),
        ("flag", {"flag_outside": 30, "flag_outside_alive": 0.9}),
        ("ball jumps", {"ball_outliers": 0.03}),
        ("speeds", {"body_outliers": 0.9, "ball_outliers": 0.8, "identity_jumps": 20_000}),
        ("identity jumps", {"identity_jumps": 400}),
        ("scene cuts", {"scene_cuts": 12}),
        ("frozen", {"frozen_s": 60.0}),
        ("gaps", {"gap_s": 60.0}),
        ("players", {"home_players": 14}),
        ("players", {"away_players": 4}),
        ("no team", {"away_players": 0}),
        ("pitch", {"x_high_m": 60.0, "home_players": 9}),
        ("axes", {"x_low_m": -30.0, "x_high_m": 31.0, "y_low_m": -46.0, "y_high_m": 47.0}),
        ("origin", {"x_low_m": 6.0, "x_high_m": 99.0}),
        ("units", {"x_low_m": -460.0, "x_high_m": 470.0, "y_low_m": -300.0, "y_high_m": 310.0}),
        ("units", {"x_low_m": -0.4, "x_high_m": 0.45, "y_low_m": -0.4, "y_high_m": 0.45}),
        ("units", {"x_low_m": -150.0, "x_high_m": 155.0, "y_low_m": -100.0, "y_high_m": 100.0}),
        ("units", {"x_low_m": 9.0, "x_high_m": 88.0, "y_low_m": 14.0, "y_high_m": 96.0}),
        ("same id", {"same_time": 0.5, "same_time_object": "home_7"}),
        ("unknown ids", {"unknown": 2_000, "unknown_objects": 2}),
        ("refused", {"refused": 2_000, "refused_reasons": {"position is not a number": 2_000}}),
        ("lost", {"lost": 3_000}),
        ("late", {"behind_share": 0.2, "behind_s": 40.0}),
        ("ends", {"span_s": 5_400.0, "periods": ((0.0, 2_700.0), (3_600.0, 5_400.0)), "gap_s": 900.0}),
    ],
)
def test_each_fault_is_found_alone(code, change):
    assert codes(GOOD) == set()
    assert codes(msgspec.structs.replace(GOOD, **change)) == {code}


def test_a_flag_that_is_late_or_seldom_seen_beside_a_ball_outside_is_no_fault():
    assert codes(msgspec.structs.replace(GOOD, flag_outside=30, flag_outside_alive=0.3)) == set()
    assert codes(msgspec.structs.replace(GOOD, flag_outside=5, flag_outside_alive=1.0)) == set()


def test_the_direction_of_the_sheet_is_held_against_the_positions():
    assert codes(GOOD, MatchSheet(attacks_positive_x="home")) == set()
    assert codes(GOOD, MatchSheet(attacks_positive_x="away")) == {"direction"}


def test_a_sample_of_frames_is_wrong():
    (found,) = findings_of(msgspec.structs.replace(GOOD, gap_s=590.0), MatchSheet())
    assert (found.code, found.severity) == ("gaps", "wrong")


@pytest.mark.parametrize(
    ("high_m", "severity", "words"),
    [
        (6.0, "note", "up to 1030 m"),
        (45.0, "note", "up to 1030 m"),
        (46.0, "wrong", "by 10 or by 100"),
        (259.0, "wrong", "centimetres instead of metres. Divide z by 100."),
        (2_590.0, "wrong", "millimetres instead of metres. Divide z by 1000."),
    ],
)
def test_heights_of_another_unit_are_wrong_and_a_few_wrong_heights_are_a_note(high_m, severity, words):
    quality = msgspec.structs.replace(GOOD, ball_height_high_m=high_m, ball_height_max_m=1_030.0)
    (found,) = findings_of(quality, MatchSheet())
    assert (found.code, found.severity) == ("height", severity)
    assert words in found.text


@pytest.mark.parametrize(("every", "high"), [(15, True), (25, False)])
def test_the_high_heights_of_a_ball_are_those_that_one_in_twenty_exceeds(every, high):
    meter = InputMeter(SHEET)
    for frame in range(10_000):
        z_m = 300.0 if frame % every == 0 else math.nan if frame % 7 == 0 else 0.5
        meter.add(packets_at(frame * 40_000, SHEET, (0.1, 0.0, z_m)), frame * 40_000)
    assert meter.quality().ball_height_high_m == (300.0 if high else 0.5)


def test_players_who_leave_at_half_time_do_not_make_another_pitch():
    assert codes(msgspec.structs.replace(GOOD, y_low_m=-48.0)) == set()


def test_a_ball_on_the_ground_for_some_seconds_may_have_a_height():
    low = msgspec.structs.replace(GOOD, ball_height_share=0.0)
    assert codes(low) == {"height"}
    assert codes(msgspec.structs.replace(low, span_s=30.0)) == set()


def test_no_pass_is_absurd_only_after_five_minutes():
    short = msgspec.structs.replace(GOOD, span_s=240.0)
    assert codes(GOOD, known=Circumstances(passes=0)) == {"no pass"}
    assert codes(short, known=Circumstances(passes=0)) == set()
    assert codes(GOOD, known=Circumstances(passes=40, since_pass_s=100.0)) == set()
    assert codes(GOOD, known=Circumstances(passes=40, since_pass_s=400.0)) == {"no pass"}
    assert codes(GOOD, known=Circumstances(passes=None)) == set()
    sample = msgspec.structs.replace(GOOD, span_s=6_800.0, gap_s=6_795.0, periods=((0.0, 2.0), (3_600.0, 6_800.0)))
    assert codes(sample, known=Circumstances(passes=0)) == {"gaps"}, "a sample of frames is too short for any pass"


def packets_at(ts_us: int, sheet: MatchSheet, ball: tuple[float, float, float] | None) -> list[Packet]:
    number = ts_us // 40_000
    found = [
        Packet(p.object_id, number, (ts_us,), ((n - 11) * 4.0 + 0.001 * number,), (n - 11.0,), (0.0,))
        for n, p in enumerate(sheet.players)
    ]
    if ball is not None:
        found.append(Packet("ball", number, (ts_us,), ball[:1], ball[1:2], ball[2:]))
    return found


SHEET = MatchSheet(
    players=tuple(Player(f"{team}_{n}", team) for team in ("home", "away") for n in range(1, 12)),
    quality=Quality(framed=True),
)


def test_the_meter_counts_ball_jumps_gaps_and_repeats():
    meter = InputMeter(SHEET)
    for frame in range(1_000):
        if 500 <= frame < 600:
            continue  # four seconds of silence
        ball = None if frame % 10 == 0 else (0.1 * (frame % 100), 0.0, 1.0)
        packets = packets_at(frame * 40_000, SHEET, ball)
        if frame == 700:
            packets[0] = Packet(packets[0].transmitter, 700, (28_000_000,), (40.0,), (20.0,), (0.0,))
        meter.add(packets, frame * 40_000)
        if frame % 2:
            meter.refuse([RejectedRecord("", "home_3", 0, frame * 40_000, "event time does not increase", "")])
    quality = meter.quality()
    assert quality.ball_share == pytest.approx(0.9, abs=0.01)
    assert quality.identity_jumps == 2, "there and back"
    assert (quality.gaps, quality.gap_s) == (1, pytest.approx(4.04))
    assert (quality.same_time_object, quality.same_time) == ("home_3", pytest.approx(0.5, abs=0.01))
    assert (quality.home_players, quality.away_players) == (11, 11)
    assert quality.attacks_positive_x == "home"
    assert quality.ball_hz == pytest.approx(22.5, rel=0.01)


def test_jumps_of_nearly_everybody_are_a_cut_of_the_scene_and_nobodys():
    meter = InputMeter(SHEET)
    for frame in range(1_000):
        packets = packets_at(frame * 40_000, SHEET, (0.1 * (frame % 100), 0.0, 1.0))
        aside_m = 12.0 * (frame // 300)  # three cuts
        moved = [msgspec.structs.replace(one, x_m=(one.x_m[0] + aside_m,)) for one in packets]
        if frame >= 650:
            moved[0] = packets[0]  # two who jump back are none
            moved[1] = packets[1]
        meter.add(moved, frame * 40_000)
    quality = meter.quality()
    assert (quality.scene_cuts, quality.identity_jumps) == (3, 2)


def test_noise_is_measured_to_a_third():
    import random

    source = random.Random(3)
    meter = InputMeter(SHEET)
    for frame in range(3_000):
        ball = (-40.0 + 0.02 * frame + source.gauss(0.0, 0.03), source.gauss(0.0, 0.03), 0.1)
        meter.add(packets_at(frame * 40_000, SHEET, ball), frame * 40_000)
    assert meter.quality().ball_noise_m == pytest.approx(0.03, rel=0.3)
    assert meter.quality().body_noise_m < 0.002


def test_a_frozen_picture_is_frozen_time():
    meter = InputMeter(SHEET)
    for frame in range(750):
        packets = packets_at(min(frame, 500) * 40_000, SHEET, (0.0, 0.0, 0.0))
        still = [msgspec.structs.replace(p, ts_us=(frame * 40_000,), sequence=frame) for p in packets]
        meter.add(still, frame * 40_000)
    assert meter.quality().frozen_s == pytest.approx(9.0, abs=1.0)


def test_memory_is_bounded_and_a_pickled_meter_goes_on_alike():
    meter, sizes = InputMeter(SHEET), []
    for frame in range(0, 400_000, 25):
        meter.add(packets_at(frame * 40_000, SHEET, (1.0, 2.0, 0.5)), frame * 40_000)
        if frame % 100_000 == 0:
            sizes.append(len(pickle.dumps(meter)))
            meter = pickle.loads(pickle.dumps(meter))
    assert sizes[-1] < 60_000
    for number in range(5_000):
        meter.add([Packet(f"x{number}", 0, (1,), (0.0,), (0.0,), (0.0,))], 10)
        meter.refuse([RejectedRecord("", f"y{number}", 0, 1, "unknown transmitter: not on the match sheet", "")])
    assert len(pickle.dumps(meter)) < 300_000


@pytest.mark.parametrize("values", [((), ()), ((math.nan,), (0.0,)), ((math.inf,), (0.0,)), ((1.0,), ())])
def test_the_meter_takes_any_packet_that_decodes(values):
    meter = InputMeter(SHEET)
    x_m, y_m = values
    meter.add([Packet("", 0, (), (), (), ()), Packet("ball", -1, (5,), x_m, y_m, (0.0,))], 10)
    meter.add([Packet("ball", 0, (2**52,), (0.0,), (0.0,), (0.0,))], 10)
    assert meter.quality().ball_share == 0.0


def test_the_page_about_inputs_has_every_limit_and_every_code():
    page = (ROOT / "docs" / "input.md").read_text(encoding="utf-8")
    reasons, meanings = reasons_of(InputLimits), meanings_of(InputLimits)
    for name, value in msgspec.structs.asdict(LIMITS).items():
        assert f"| `{name}` | {value:g} | {reasons[name]} |" in page
        assert meanings[name]
    source = Path(module.__file__).read_text(encoding="utf-8")
    for code in re.findall(r'_(?:wrong|note)\(\s*"([a-z ]+)"', source):
        assert f"| `{code}` |" in page, code

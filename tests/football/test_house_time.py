"""House time: timecodes of each rate against a count of all codes, UTC, zones, anchors, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from football.house_time import RATES, HouseTime, TimecodeError, code_of, frame_of

US = 1_000_000
ZERO_US = 1_795_460_400 * US  # 2026-11-23T19:00:00Z


def codes(rate: str, minutes: int) -> Iterator[str]:
    """All codes of the first minutes, counted one by one."""
    whole, drops = round(float(rate.removesuffix("df"))), rate.endswith("df")
    for minute in range(minutes):
        for second in range(60):
            for frame in range(whole):
                if drops and minute % 10 and not second and frame < whole // 15:
                    continue
                yield f"{minute // 60:02d}:{minute % 60:02d}:{second:02d}{';' if drops else ':'}{frame:02d}"


@pytest.mark.parametrize("rate", RATES)
def test_the_codes_of_frames_are_those_of_a_count_and_back(rate: str):
    for number, code in enumerate(codes(rate, 12)):
        if number % 7 == 0 or code[6:8] in ("00", "59"):
            assert code_of(number, rate) == code
            assert frame_of(code, rate) == number


@given(rate=st.sampled_from(list(RATES)), frame=st.integers(0, 10**7))
def test_a_frame_has_one_code_and_a_day_begins_again(rate: str, frame: int):
    code = code_of(frame, rate)
    found = frame_of(code, rate)
    assert code_of(found, rate) == code
    day = frame_of(code_of(-1, rate), rate) + 1
    assert found == frame % day


@pytest.mark.parametrize("rate", ["29.97df", "59.94df"])
def test_drop_frame_follows_the_clock(rate: str):
    house = HouseTime(rate=rate, anchor_code="00:00:00;00")
    for at_s in (60, 600, 3_600, 7_200):
        hours, minutes, seconds, frames = map(int, house.timecode(at_s * US).replace(";", ":").split(":"))
        written_s = hours * 3_600 + minutes * 60 + seconds + Fraction(frames) / RATES[rate][1]
        assert abs(written_s - at_s) < 0.1


def test_the_house_clock_is_utc_with_its_zone():
    house = HouseTime(ZERO_US, 1_500, "25", 3_600)
    assert house.utc(241_240_400) == "2026-11-23T19:04:01.240400Z"
    assert house.timecode(241_240_400) == "20:04:01:06"
    assert HouseTime(ZERO_US, zone_s=5 * 3_600).timecode(-1) == "23:59:59:24"
    assert HouseTime(ZERO_US, zone_s=5 * 3_600).timecode(0) == "00:00:00:00"


def test_a_moment_that_was_read_counts_and_frames_begin_at_it():
    house = HouseTime(ZERO_US, None, "50", 0, 241 * US, "20:15:33:07")
    assert house.timecode(241 * US) == "20:15:33:07"
    assert house.timecode(241 * US + 19_999) == "20:15:33:07"
    assert house.timecode(241 * US + 20_000) == "20:15:33:08"
    assert house.timecode(240 * US) == "20:15:32:07"
    assert house.timecode(241 * US - 1) == "20:15:33:06"


def test_nobody_knows_a_house_time_without_utc_and_without_a_moment():
    assert (HouseTime().utc(0), HouseTime().timecode(0), HouseTime().frame(0)) == ("", "", None)


@pytest.mark.parametrize(
    "change",
    [
        {"rate": "26"}, {"anchor_code": "24:00:00:00"}, {"anchor_code": "20:15:33:25"}, {"anchor_code": "noon"},
        {"rate": "29.97df", "anchor_code": "20:01:00;01"}, {"zone_s": 90_000}, {"zero_utc_us": 2**60},
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_however_it_is_made(change: dict[str, object]):
    with pytest.raises(TimecodeError):
        msgspec.structs.replace(HouseTime(), **change)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(change, HouseTime)

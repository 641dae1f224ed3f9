"""Feeds of timecode: the frames of Art-Net and of lines become a stamp, which is the house time of the match."""

from __future__ import annotations

import random
import struct
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from app.cli.main import app
from app.cli.timecode import timecode
from app.gateway.address import FeedError, parse_feed
from app.gateway.gateway import FeedRequest, sheet_of
from app.gateway.profile import GatewayProfileError, Profile, read_profile
from app.gateway.run import GatewayOptions, run_gateway
from app.gateway.timecodes import TimecodeFeed
from football.house_time import code_of, frame_of
from football.match_sheet import MatchSheet
from replay.house_times import STAMP, Stamp, read_house_time, read_stamp
from replay.match_store import MatchStore


def art_net(hours: int, minutes: int, seconds: int, frames: int, kind: int) -> bytes:
    return b"Art-Net\x00" + struct.pack("<H9B", 0x9700, 0, 14, 0, 0, frames, seconds, minutes, hours, kind)


def lines_at(rate: str) -> Profile:
    profile = read_profile("timecode-lines")
    return msgspec.structs.replace(profile, timecode=msgspec.structs.replace(profile.timecode, rate=rate))


def sent(feed: TimecodeFeed, first: str, count: int, rate: str, period: Fraction, seed: int, begin_us: int = 0) -> int:
    """Send frames that arrive after a delay of 2 ms and a tail; returns when the frame before the first began."""
    rng = random.Random(seed)
    number = frame_of(first, rate)
    for at in range(count):
        delay_us = 2_000 + round(rng.expovariate(1 / 8_000))
        arrival_us = begin_us + round(at * 1_000_000 / period) + delay_us
        feed.receive(code_of(number + at, rate).encode(), "", arrival_us)
    return begin_us


@pytest.mark.parametrize(
    ("rate", "period"), [("25", Fraction(25)), ("29.97df", Fraction(30_000, 1_001)), ("50", Fraction(50))]
)
def test_a_stamp_knows_a_frame_to_half_a_frame(rate: str, period: Fraction):
    feed = TimecodeFeed("house", lines_at(rate))
    sent(feed, "19:59:58:00", 2_000, rate, period, 3, 7_000_000)
    stamp = feed.stamp
    assert stamp is not None
    began_us = 7_000_000 + (frame_of(stamp.code, rate) - frame_of("19:59:58:00", rate)) * 1_000_000 / period
    assert 0 <= stamp.at_us - began_us <= 500_000 / period + 3_000
    assert abs(stamp.at_us - began_us) <= stamp.error_us
    assert feed.figures().refused == {}


def test_a_timecode_that_is_set_anew_is_followed_and_one_wrong_frame_is_not():
    feed = TimecodeFeed("house", lines_at("25"))
    sent(feed, "10:00:00:00", 50, "25", Fraction(25), 1)
    first = feed.stamp
    feed.receive(b"23:00:00:00", "", 2_000_000)
    sent(feed, "10:00:02:00", 50, "25", Fraction(25), 2, 2_000_000)
    assert feed.stamp == first
    sent(feed, "20:00:00:00", 50, "25", Fraction(25), 3, 4_000_000)
    assert feed.figures().steps == 1
    assert feed.stamp is not None
    assert feed.stamp.code.startswith("20:00:0")


def test_art_net_names_rate_and_frame():
    feed = TimecodeFeed("desk", read_profile("artnet-timecode"))
    feed.receive(art_net(20, 15, 33, 7, 1), "", 1_000)
    assert feed.stamp is not None
    assert (feed.stamp.rate, feed.stamp.code) == ("25", "20:15:33:07")
    feed.receive(art_net(20, 15, 33, 7, 2), "", 2_000)
    assert (feed.stamp.rate, feed.stamp.code) == ("29.97df", "20:15:33;07")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (art_net(24, 0, 0, 0, 1), "no timecode"), (art_net(1, 0, 0, 26, 1), "no timecode"),
        (art_net(1, 1, 0, 0, 2), "dropped"), (art_net(1, 1, 0, 0, 9), "rate '9'"),
        (b"Art-Net\x00" + struct.pack("<H9B", 0x5000, 0, 14, 0, 0, 1, 1, 1, 1, 1), "opcode is 20480"), (b"", "0 bytes"),
    ],
)  # fmt: skip
def test_what_is_no_frame_is_refused_with_its_reason(message: bytes, reason: str):
    feed = TimecodeFeed("desk", read_profile("artnet-timecode"))
    feed.receive(message, "", 1_000)
    assert feed.stamp is None
    assert reason in feed.refused_records[0].reason


def test_profiles_and_feeds_that_cannot_be(tmp_path: Path):
    with pytest.raises(GatewayProfileError, match="gives positions"):
        TimecodeFeed("x", read_profile("json-lines"))
    with pytest.raises(FeedError, match="no feed of positions"):
        sheet_of(MatchSheet(), [read_profile("timecode-lines")])
    wrong = tmp_path / "p.toml"
    wrong.write_text('title="t"\ndocuments="d"\nformat="text"\ngives="timecode"\n[[records]]\nfields={hours="0"}\n')
    with pytest.raises(GatewayProfileError, match="frames, minutes, seconds are missing"):
        read_profile(str(wrong))
    wrong.write_text(
        'title="t"\ndocuments="d"\nformat="text"\ngives="timecode"\n[[records]]\nfields={code="0"}\n[timecode]\nrate="26"\n'
    )
    with pytest.raises(GatewayProfileError, match="no rate of timecodes is named 26"):
        read_profile(str(wrong))


def test_check_shows_each_frame(tmp_path: Path):
    (tmp_path / "sample.txt").write_text("10:00:00:00\n10:00:00:25\n")
    done = CliRunner().invoke(app, ["gateway", "check", "timecode-lines", str(tmp_path / "sample.txt")])
    assert "10:00:00:00 at 25" in done.output
    assert "refused: 10:00:00:25" in done.output


def test_a_gateway_writes_the_stamp_and_a_store_with_its_capture_has_the_house_time(tmp_path: Path, capsys):
    (tmp_path / "positions.csv").write_text("".join(f"{i * 40_000},home_7,{i},0,0\n" for i in range(50)))
    (tmp_path / "codes.txt").write_text("10:00:00:00\n10:00:00:x1\n")
    feeds = (
        f"file:{tmp_path}/positions.csv?profile=csv-lines",
        f"file:{tmp_path}/codes.txt?profile=timecode-lines&name=ltc",
    )
    requests = tuple(FeedRequest(parse_feed(url)) for url in feeds)
    store = tmp_path / "store"
    MatchStore.create(store, MatchSheet(), {})
    figures = run_gateway(GatewayOptions(requests, MatchSheet(), store / "capture", end_after_us=1_500_000))
    assert figures.timecodes["ltc"].feed.frames == 1
    assert len(figures.timecodes["ltc"].feed.refused) == 1
    assert (store / "capture" / STAMP).exists()
    stamp = read_stamp(store)
    assert stamp is not None
    house = read_house_time(store)
    assert house is not None
    assert house.timecode(stamp.at_us) == stamp.code == "10:00:00:00"
    timecode(store)
    assert "by the feed of timecode" in capsys.readouterr().out
    timecode(store, at="1", reads="20:00:00:00")
    stated = read_house_time(store)
    assert stated is not None
    assert stated.timecode(1_000_000) == "20:00:00:00"


def test_a_stamp_that_is_damaged_is_an_error_with_its_file(tmp_path: Path):
    (tmp_path / "capture").mkdir()
    (tmp_path / "capture" / STAMP).write_bytes(msgspec.json.encode(Stamp("25", "10:00:00:00", 2**70, 0)) + b"}")
    with pytest.raises(ValueError, match=STAMP):
        read_stamp(tmp_path)

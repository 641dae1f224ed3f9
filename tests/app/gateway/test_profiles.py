"""Profiles: the vendors' documented forms, coordinates, identities, and what a wrong profile says."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import msgspec
import pytest

from app.gateway import feed as feed_module
from app.gateway.coordinates import PitchMap
from app.gateway.decoder import Decoded, Decoder
from app.gateway.feed import Feed
from app.gateway.identities import Identifier, TagTable
from app.gateway.profile import GatewayProfileError, Identities, Profile, Space, read_profile, shipped_profiles
from football.match_sheet import MatchSheet, Player

SHEET = MatchSheet(players=(Player("home_7", "home", shirt=7), Player("away_9", "away", shirt=9)))

#: Messages in the forms of the vendors' documents, with values of our own, and the measurement of each.
DOCUMENTED = [
    (
        "pozyx-mqtt", "tags", {"30331": "home_7"},
        b'[{"version":"2.0","tagId":"30331","success":true,"timestamp":1700000000.25,'
        b'"data":{"metrics":{"latency":11},"coordinates":{"x":1500,"y":-2500,"z":90}}}]',
        ("home_7", 1_700_000_000_250_000, 1.5, -2.5, 0.09, 1.0, -1),
    ),
    (
        "koherent-mqtt", "v1/position/home_7", {},
        b'{"timestamp":"2026-11-23T14:30:00.125Z","x":1.5,"y":2.0,"z":0.1,"yaw":0.0,"error_x":0.12}',
        ("home_7", 1_795_444_200_125_000, 1.5, 2.0, 0.1, 0.88, -1),
    ),
    (
        "rtloc-mqtt", "data/devices/tag-data/frame", {"2012": "home_7"},
        b'{"time":"2026-11-23T14:30:00.125Z","meta":{"msg_type":"tag-data"},"value":{"frame":77,"tags":'
        b'{"2012":{"pos":{"x":9000,"y":2300,"z":0},"speed":{"value":4.5}}}}}',
        ("home_7", 1_795_444_200_125_000, 9.0, 2.3, 0.0, 1.0, 77),
    ),
    (
        "sewio-websocket", "", {"18": "home_7"},
        b'{"body":{"id":"18","datastreams":[{"id":"posX","current_value":" 6.5","at":"2026-11-23 14:30:00.125"},'
        b'{"id":"posY","current_value":" 2.25","at":"2026-11-23 14:30:00.125"},'
        b'{"id":"clr","current_value":" 0.10","at":"2026-11-23 14:30:00.125"}]},"resource":"/feeds/18"}',
        ("home_7", 1_795_444_200_125_000, 6.5, 2.25, 0.0, 0.95, -1),
    ),
    (
        "sewio-udp-like", "", {"0x18": "home_7"}, b"0x18,2026-11-23 14:30:00.125,6.5,2.25,1.0,0.5",
        ("home_7", 1_795_444_200_125_000, 6.5, 2.25, 1.0, 0.75, -1),
    ),
    (
        "tracab-like", "", {}, b"50:1,1,7,-1234,250,3.21;4,2,1,0,0,0.00;:12,-30,11,4.00,H,Alive;:",
        ("home_7", 2_000_000, -12.34, 2.5, 0.0, 1.0, -1),
    ),
    (
        "epts-like", "", {"0": "home_7", "1": "away_9"}, b"50:1.25,-2.50,3.00;nan,nan,nan:0.10,0.20,0.30",
        ("home_7", 2_000_000, 1.25, -2.5, 0.0, 1.0, -1),
    ),
    (
        "debs-2013", "", {"13": "home_7"}, b"13,10000000000000,27241,1002,115,2345,1,0,0,0,0,0,0",
        ("home_7", 10_000_000, 1.0, -1.0, 0.115, 1.0, -1),
    ),
    (
        "json-lines", "", {}, b'{"id":"home_7","t_us":5,"x_m":1.2345,"y_m":2,"quality":0.5,"sequence":3}',
        ("home_7", 5, 1.234, 2.0, 0.0, 0.5, 3),
    ),
    ("csv-lines", "", {}, b"5,home_7,1,2,0.5", ("home_7", 5, 1.0, 2.0, 0.5, 1.0, -1)),
    (
        "packed-binary", "", {"7": "home_7"}, struct.pack("<HHIBBQiii", 21588, 7, 3, 90, 1, 5, 1000, -2000, 30),
        ("home_7", 5, 1.0, -2.0, 0.03, 0.9, 3),
    ),
]  # fmt: skip


def decoded(profile: Profile, message: bytes, topic: str = "", sheet: MatchSheet = SHEET) -> Decoded:
    return Decoder(profile, sheet, Identifier(profile.identities, sheet)).decode(message, topic, 0)


def with_tags(name: str, tags: dict[str, str]) -> Profile:
    profile = read_profile(name)
    return msgspec.structs.replace(profile, identities=msgspec.structs.replace(profile.identities, tags=tags))


@pytest.mark.parametrize(("name", "topic", "tags", "message", "expected"), DOCUMENTED, ids=[d[0] for d in DOCUMENTED])
def test_a_message_in_the_documented_form_is_decoded(name, topic, tags, message, expected):
    result = decoded(with_tags(name, tags), message, topic)
    measured = result.measurements[0]
    assert measured._replace(x_m=0, y_m=0, z_m=0) == (*expected[:2], 0, 0, 0, *expected[5:])
    assert measured[2:5] == pytest.approx(expected[2:5], abs=0.0011)
    assert not result.rejected


def test_every_shipped_profile_has_a_documented_message_here():
    positions = [name for name in shipped_profiles() if read_profile(name).gives == "positions"]
    assert sorted(one[0] for one in DOCUMENTED) == positions


def test_a_frame_has_its_ball_and_leaves_out_what_is_nobodys():
    profile = read_profile("tracab-like")
    decoder = Decoder(profile, SHEET, Identifier(profile.identities, SHEET))
    result = decoder.decode(b"50:1,1,7,0,0,0;-1,2,1,0,0,0;0,3,5,0,0,0;:12,-30,11,4,H,Alive;:", "", 0)
    assert [m.transmitter for m in result.measurements] == ["home_7", "ball"]
    assert result.measurements[1][2:5] == (0.12, -0.3, 0.11)
    assert [record.reason for record in result.rejected] == ["number on a shirt that the match sheet does not have"]
    assert sum(decoder.left_out.values()) == 2  # the other team, and the empty part at the line's end


@pytest.mark.parametrize(
    ("name", "message", "reason"),
    [
        ("json-lines", b"{", "not JSON"),
        ("json-lines", b"[" * 70 + b"]" * 70, "nested more than 64 deep"),
        ("json-lines", b'{"id":"home_7","t_us":1,"y_m":2}', "x is missing"),
        ("json-lines", b'{"id":"home_7","t_us":1,"x_m":"a","y_m":2}', "x 'a': no number"),
        ("json-lines", b'{"id":"home_7","t_us":1,"x_m":1e300,"y_m":2}', "out of range"),
        ("json-lines", b'{"id":"home_7","t_us":1e40,"x_m":1,"y_m":2}', "out of range"),
        ("json-lines", b'{"id":"home_7","t_us":1,"x_m":1,"y_m":2,"sequence":-1}', "no number of a packet"),
        ("json-lines", b'{"id":"nobody","t_us":1,"x_m":1,"y_m":2}', "unknown tag"),
        ("json-lines", b'{"id":"a\\u0007","t_us":1,"x_m":1,"y_m":2}', "control characters"),
        ("json-lines", b" " * 300_000, "at most 262144"),
        ("csv-lines", b"1,home_7,3", "3 columns; the profile has 5"),
        ("csv-lines", b"\xff\xfe,,,,", "not text"),
        ("packed-binary", b"TT", "the head alone has"),
        ("packed-binary", struct.pack("<HHIBB", 1, 7, 3, 90, 0), "magic is 1, not 21588"),
        ("packed-binary", struct.pack("<HHIBB", 21588, 7, 3, 90, 1), "other than the head declares"),
        ("koherent-mqtt", b'{"timestamp":"soon","x":1,"y":2,"z":0}', "an id that is empty"),
    ],
)
def test_a_wrong_message_is_refused_with_its_reason(name: str, message: bytes, reason: str):
    result = decoded(read_profile(name), message)
    assert not result.measurements
    assert reason in result.rejected[0].reason


def test_a_map_and_its_inverse_agree_for_units_turns_and_mirrors():
    for unit in ("mm", "cm", "m", "ft"):
        for mirrored in (False, True):
            space = Space(unit=unit, origin=(12.5, -3.0), rotation_deg=33.0, mirrored=mirrored)
            there = PitchMap(space, SHEET)
            assert there.to_pitch(*there.from_pitch(10.0, -20.0, 1.5)) == pytest.approx((10.0, -20.0, 1.5))
            assert there.to_pitch(12.5, -3.0, 0.0) == pytest.approx((0.0, 0.0, 0.0))


def test_mirrored_sources_have_their_y_on_the_other_side():
    assert PitchMap(Space(mirrored=True), SHEET).to_pitch(1.0, 2.0, 0.0) == pytest.approx((1.0, -2.0, 0.0))


def corners(turn_deg: float, length_m: float, width_m: float) -> tuple[tuple[float, float], ...]:
    """Longitude and latitude of the corners of a pitch near 48 N, 11 E."""
    turn, out = math.radians(turn_deg), []
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        east = (x * length_m * math.cos(turn) - y * width_m * math.sin(turn)) / 2
        north = (x * length_m * math.sin(turn) + y * width_m * math.cos(turn)) / 2
        metres = math.radians(1) * 6_371_008.8
        out.append((11.0 + east / (metres * math.cos(math.radians(48.0))), 48.0 + north / metres))
    return tuple(out)


def test_surveyed_corners_lay_degrees_onto_the_pitch():
    there = PitchMap(Space(unit="deg", corners=corners(-70.0, 105.0, 68.0)), SHEET)
    assert max(there.corner_errors_m) < 0.005
    assert there.to_pitch(11.0, 48.0, 1.0) == pytest.approx((0.0, 0.0, 1.0), abs=0.005)
    corner = corners(-70.0, 105.0, 68.0)[1]
    assert there.to_pitch(*corner, 0.0) == pytest.approx((52.5, -34.0, 0.0), abs=0.005)


def test_a_survey_of_another_pitch_is_refused():
    with pytest.raises(GatewayProfileError, match=r"a corner lies 2\.\d+ m from that of a pitch of 105 x 68 m"):
        PitchMap(Space(unit="deg", corners=corners(10.0, 100.0, 68.0)), SHEET)


def test_a_source_that_turns_the_second_half_is_turned_back():
    profile = msgspec.structs.replace(
        read_profile("json-lines"),
        space=Space(turned=("2",)),
        records=(msgspec.structs.replace(read_profile("json-lines").records[0], fields={
            **read_profile("json-lines").records[0].fields, "turned": "half"}),),
    )  # fmt: skip
    for half, x_m in ((1, 5.0), (2, -5.0)):
        message = b'{"id":"home_7","t_us":1,"x_m":5,"y_m":0,"half":%d}' % half
        assert decoded(profile, message).measurements[0].x_m == x_m


def test_a_tag_that_is_swapped_counts_for_the_other_player_from_its_moment_on(tmp_path: Path):
    path = tmp_path / "tags.csv"
    path.write_text("tag,object,limb,since\n1,home_7,,\n1,away_9,left_foot,1970-01-01T00:00:10Z\n2,,,\n")
    table = TagTable(path)
    identifier = Identifier(Identities(), SHEET, table)
    names = []
    for now_us in (5_000_000, 12_000_000):
        identifier.refresh(now_us)
        names.append(identifier.by_tag("1", now_us)[0])
    assert names == ["home_7", "away_9/left_foot"]
    assert identifier.by_tag("2", 0) == ("", "")
    path.write_text("tag,object\n1,away_9\n")
    identifier.refresh(10**17)
    assert identifier.by_tag("1", 10**17) == ("away_9", "")


def test_a_table_that_becomes_unreadable_stays_as_it_was(tmp_path: Path):
    path = tmp_path / "tags.csv"
    path.write_text("tag,object\n1,home_7\n")
    table = TagTable(path)
    path.write_text("tag,object,since\n1,home_7,never\n")
    table.refresh(10**17)
    assert "is no time" in table.trouble
    assert table.object_of("1", 0) == "home_7"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("", "records"),
        ("[[records]]\nfields = { id = 'a', x = 'x' }", "the fields y are missing"),
        ("[[records]]\nfields = { id = 'a', x = 'x', y = 'y', speed = 's' }", "no field is named speed"),
        ("[[records]]\nfields = { id = 'a', x = 'x..', y = 'y' }", "no name at character"),
        ("[[records]]\nfields = { id = 'a', x = 'x', y = 'y' }\n[space]\nunit = 'deg'", "degrees go with four corners"),
        ("[[records]]\nfields = { id = 'a', x = 'x', y = 'y' }\n[time]\nunits = 's'", "unit is one"),
    ],
)
def test_a_wrong_profile_names_the_field(tmp_path: Path, change: str, reason: str):
    path = tmp_path / "own.toml"
    path.write_text(f"title = 't'\ndocuments = 'd'\nformat = 'json'\n{change}\n")
    with pytest.raises(GatewayProfileError, match=reason):
        read_profile(str(path))


def test_a_feed_that_is_faster_than_any_match_is_left_out_for_the_rest_of_the_second(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(feed_module, "POSITIONS_S_MAX", 3)
    feed = Feed("fast", read_profile("csv-lines"), SHEET, 0)
    feed.finish()
    for number in range(10):
        feed.receive(b"%d,home_7,1,2,0" % (number * 1_000), "", 5_000_000 + number)
    feed.receive(b"900000,home_7,1,2,0", "", 6_000_000)
    figures = feed.figures()
    assert figures.positions == 4
    assert figures.refused == {"faster than 3 positions a second": 7}
    assert len(feed.refused_records) == 1

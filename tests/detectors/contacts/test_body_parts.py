"""5.3 and 5.4: which part of the body played the ball, and headers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from detectors.contacts.body_parts import BodyPart, BodyPartParameters, Header, body_part_of
from detectors.contacts.hits import Contact, PlayerHitsBall
from detectors.decisions import recording
from detectors.emission import make_event
from detectors.proximity.near import Candidate, Closest
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors import stage
from tests.detectors.contacts.test_contacts_of_the_ball import clock, closest, peak
from tests.detectors.scene import chained


def contact(
    z_m: float, *limbs: tuple[str, float], player: str = "home_2", before_m_s: float = 9.0, after_m_s: float = 9.0
) -> Contact:
    detail = {"distance_m": 0.3, "speed_before_m_s": before_m_s, "speed_after_m_s": after_m_s}
    payload = EventPayload("", "home", "home_2", 0.0, 0.0, z_m, detail=detail)
    candidates = tuple(Candidate(f"{player}/{n}", player, "home", n, 0.1, 0.0, d) for n, d in limbs)
    return Contact(make_event("hit", 0, "ball:0", payload), candidates)


@pytest.mark.parametrize(
    ("made", "part", "sure"),
    [
        (contact(0.1, ("left_foot", 0.3), ("right_foot", 0.2)), "right foot", 1.0),
        (contact(0.9, ("left_foot", 0.34)), "left foot", 1.0),  # a volley
        (contact(1.8, ("right_hand", 0.3)), "right hand", 1.0),
        (contact(1.8, ("right_hand", 0.7)), "head", 0.9),
        (contact(2.6, ("right_hand", 0.7)), "head", 0.9),
        (contact(1.49, ("left_foot", 0.8)), "chest", 0.9),
        (contact(0.9, ("left_foot", 0.5)), "chest", 0.9),
        (contact(0.4, ("left_foot", 0.6)), "left foot", 0.6),  # a shin, near a foot
        (contact(1.8, ("right_hand", 0.4)), "right hand", 0.6),  # neither surely the hand nor clear of it
        (contact(1.8), "head", 0.6),
        (contact(1.2), "chest", 0.6),
        (contact(0.2), "other", 0.6),
        (contact(2.7), "other", 0.6),
        (contact(1.8, ("left_foot", 0.1), player="home_3"), "head", 0.6),  # another's foot is no evidence
        (contact(2.0, before_m_s=0.4), "other", 0.6),  # thrown in
        (contact(2.0, after_m_s=0.4), "other", 0.6),  # caught
        (contact(1.2, ("left_foot", 1.0), before_m_s=0.4), "other", 0.6),  # out of hands that nobody knows
        (contact(2.0, ("right_hand", 0.2), before_m_s=0.4), "right hand", 1.0),
    ],
)
def test_the_nearest_limb_or_the_height_tells(made: Contact, part: str, sure: float):
    assert body_part_of(made, BodyPartParameters(), True) == (part, sure)


def test_a_ball_without_height_is_played_by_what_nobody_knows():
    assert body_part_of(contact(0.0), BodyPartParameters(), False) == ("other", 0.6)


def test_a_part_has_the_time_the_player_and_the_name_of_its_hit():
    events = [closest(0, "home_2", dx_m=0.3), peak(40_000), *clock(0, 40_000, 80_000)]
    out = chained(events, PlayerHitsBall(MatchSheet()), BodyPart(MatchSheet()))
    assert [(e.ts_us, e.source, e.payload.player, e.payload.variant) for e in out] == [
        (40_000, "ball:40000", "home_2", "other")
    ]
    assert out[0].payload.detail["contact"] == "hit"


@pytest.mark.parametrize("quality", [stage.OPTICAL, stage.RTLS], ids=["optical", "rtls"])
def test_every_contact_has_one_part(quality):
    players = {"home_6": [(0, 0, 0)], "home_8": [(0, 15, 0)], "away_4": [(0, 15, 9)]}
    ball = [(0, 0.3, 0, 0.1), (2, 0.3, 0, 0.1), (3, 14.7, 0, 0.1), (3.5, 14.7, 0, 0.1), (4.4, 14.8, 8.8, 0.3)]
    events = stage.play(ball, players, 6.0, quality)
    made = [(e.ts_us, e.kind, e.payload.player) for e in events if e.kind in ("hit", "touch")]
    parts = [(e.ts_us, e.payload.detail["contact"], e.payload.player) for e in events if e.kind == "bodypart"]
    assert parts == made
    assert len(made) >= 3


@pytest.mark.parametrize(
    ("took_off_us", "variant"), [(None, "standing"), (-300_000, "jumping"), (40_000, "jumping"), (-500_000, "standing")]
)
def test_a_header_is_jumping_if_its_player_left_the_ground_shortly_before(took_off_us, variant):
    sheet = MatchSheet(quality=stage.RTLS)
    hand = Closest((Candidate("home_2/right_hand", "home_2", "home", "right_hand", 0.3, 0.0, 0.8),))
    high = peak(40_000)
    high = replace(
        high, payload=replace(high.payload, z_m=2.0, detail={**high.payload.detail, "speed_before_m_s": 9.0})
    )
    events = [Event("ball.closest", 39_000, "ball", 0, hand), high, *clock(0, 40_000, 60_000)]
    if took_off_us is not None:
        for player in ("home_2", "away_3"):
            payload = EventPayload("", player[:4], player)
            events.append(make_event("jump.take_off", took_off_us, f"{player}:{took_off_us}", payload))
    out = chained(events, PlayerHitsBall(sheet), Header(sheet))
    assert [(e.payload.variant, e.payload.player, e.source) for e in out] == [(variant, "home_2", "ball:40000")]


def test_a_volley_is_no_header():
    events = [closest(0, "home_2", dx_m=0.3), peak(40_000), *clock(0, 40_000, 80_000)]
    assert chained(events, PlayerHitsBall(MatchSheet()), Header(MatchSheet())) == []


@pytest.mark.parametrize(
    ("y_m", "play", "made"),
    [
        (-33.4, ("phase.dead",), []),
        (36.6, ("phase.dead",), []),
        (32.4, ("phase.dead",), ["header"]),  # play may go on without a seen restart
        (-33.4, (), ["header"]),
        (-33.4, ("phase.dead", "phase.live"), ["header"]),
    ],
)
def test_who_throws_in_does_not_head_the_ball(y_m: float, play: tuple[str, ...], made: list[str]):
    sheet = MatchSheet()
    high = peak(40_000)
    speeds = {**high.payload.detail, "speed_before_m_s": 9.0}
    high = replace(high, payload=replace(high.payload, y_m=y_m, z_m=1.9, detail=speeds))
    changes = [make_event(kind, at_us, kind, EventPayload()) for at_us, kind in enumerate(play, 10_000)]
    events = [*changes, closest(0, "home_2", dx_m=0.3), high, *clock(0, 40_000, 80_000)]
    hits = PlayerHitsBall(sheet)
    assert [e.kind for e in chained(events, hits, Header(sheet))] == made
    assert [e.payload.variant for e in chained(events, hits, BodyPart(sheet))] == ["head" if made else "other"]
    with recording() as comparisons:
        chained(events, hits, BodyPart(sheet))
    about = {c.about for c in comparisons if c.parameter == "body_part.touch_m"}
    assert about == ({()} if not made else set()), "it explains what the contact makes"

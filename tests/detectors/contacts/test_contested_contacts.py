"""5.7 and 5.9: deflections and contests."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from detectors.catalogue import build_detectors
from detectors.contacts.contested_contacts import Deflection, SimultaneousContact
from detectors.contacts.hits import PlayerHitsBall
from detectors.emission import make_event, withdrawal
from detectors.proximity.near import Candidate, Closest
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from middleware.detector import NOTHING
from middleware.events import Event
from tests.detectors import stage
from tests.detectors.contacts.test_contacts_of_the_ball import clock, closest, peak
from tests.detectors.scene import chained, fold

SHEET = MatchSheet()


def played(detector: type, sheet: MatchSheet, *events: Event) -> list[Event]:
    return chained(events, PlayerHitsBall(sheet), detector(sheet))


def bent(ts_us: int, before_m_s: float, after_m_s: float, turn_rad: float) -> Event:
    vx, vy = after_m_s * math.cos(turn_rad), after_m_s * math.sin(turn_rad)
    made = peak(ts_us)
    payload = made.payload
    assert isinstance(payload, EventPayload)
    detail = {
        **payload.detail, "delta_v_m_s": math.hypot(vx - before_m_s, vy), "delta_vx_m_s": vx - before_m_s,
        "delta_vy_m_s": vy, "vx_m_s": vx, "vy_m_s": vy, "vz_m_s": 0.0,
        "speed_before_m_s": before_m_s, "speed_after_m_s": after_m_s,
    }  # fmt: skip
    return replace(made, payload=replace(payload, detail=detail))


@pytest.mark.parametrize(
    ("before_m_s", "after_m_s", "turn_rad", "found"),
    [
        (20.0, 15.0, 0.5, True),
        (20.0, 10.1, 0.0, True),
        (20.0, 21.9, 1.0, True),
        (20.0, 15.0, -1.04, True),
        (20.0, 15.0, 1.06, False),  # turned too far: blocked
        (20.0, 9.9, 0.5, False),  # stopped
        (20.0, 22.5, 0.5, False),  # struck
        (4.9, 4.0, 0.5, False),  # taken along
    ],
)
def test_a_deflection_leaves_a_fast_ball_nearly_as_it_was(before_m_s, after_m_s, turn_rad, found):
    made = bent(40_000, before_m_s, after_m_s, turn_rad)
    out = played(Deflection, SHEET, closest(0, "home_2"), made, *clock(0, 40_000, 80_000))
    assert [(e.ts_us, e.payload.player, e.source) for e in out] == [(40_000, "home_2", "ball:40000")] * found


def test_a_runner_who_pushes_his_own_ball_on_does_not_deflect_it():
    push = [closest(0, "home_2"), bent(40_000, 5.0, 12.0, 0.0), *clock(0, 40_000, 80_000)]
    again = [bent(1_000_000, 10.0, 9.0, 0.3), *clock(1_000_000, 1_040_000)]
    assert played(Deflection, SHEET, *push, *again) == []
    late = [bent(3_000_000, 10.0, 9.0, 0.3), *clock(3_000_000, 3_040_000)]
    assert [e.ts_us for e in played(Deflection, SHEET, *push, *late)] == [3_000_000]


def taken(ts_us: int, who: str = "home_2") -> list[Event]:
    """Somebody stops the ball."""
    return [closest(ts_us - 10_000, who), bent(ts_us, 10.0, 1.0, 0.5), *clock(ts_us, ts_us + 40_000)]


DEFLECTED = [closest(0, "home_2"), bent(40_000, 20.0, 15.0, 0.5), *clock(0, 40_000, 80_000)]


@pytest.mark.parametrize(
    ("then", "at_us"),
    [
        (taken(1_000_000), [40_000, 1_000_000]),
        (taken(2_030_000), [40_000, 2_030_000]),
        (taken(2_050_000), [40_000]),
        (taken(1_000_000, "away_4"), [40_000]),
        ([*taken(800_000, "away_4"), *taken(1_000_000)], [40_000]),
        ([*taken(1_000_000), *taken(1_500_000)], [40_000, 1_000_000]),
    ],
    ids=["his next contact", "just within two seconds", "later", "another's", "another's before", "withdrawn once"],
)
def test_who_has_the_next_contact_too_has_taken_the_ball(then, at_us):
    made, *withdrawn = played(Deflection, SHEET, *DEFLECTED, *then)
    assert (made.ts_us, made.annuls) == (40_000, "")
    assert [made.ts_us, *(e.ts_us for e in withdrawn)] == at_us
    for event in withdrawn:
        assert (event.kind, event.id, event.annuls, event.dated_us) == ("deflection", made.id, made.id, 40_000)


def test_a_hit_and_a_touch_of_one_instant_are_one_contact():
    detector = Deflection(SHEET)
    contacts = fold(PlayerHitsBall(SHEET), sorted(DEFLECTED, key=lambda e: e.ts_us))
    cause = next(e for e in contacts if e.kind == "hit.contact")
    state, (made,) = detector.step(detector.initial(), cause)
    state, out = detector.step(state, replace(cause, kind="touch.contact"))
    assert (state.deflected, out) == (made, NOTHING)


def of_player(kind: str, ts_us: int, player: str, **detail: float | bool) -> Event:
    payload = EventPayload("", player[:4], player, -48.0, 2.0, 0.1, detail=detail)  # type: ignore[arg-type]
    return make_event(kind, ts_us, f"{kind}:{ts_us}", payload)


TAGGED = MatchSheet(quality=replace(stage.RTLS, limbs=tuple(stage.LIMB_OFFSET_M)))
READERS = [d for d in build_detectors(TAGGED) if "deflection" in d.spec.inputs]


@pytest.mark.parametrize("detector", READERS, ids=lambda detector: detector.spec.name)
def test_a_withdrawal_is_no_deflection(detector):
    events = [
        of_player("offside.position", 500_000, "away_9", kick_us=500_000, margin_m=1.0, close=False),
        of_player("pass.attempt", 600_000, "away_8", kick_us=600_000, released_us=600_000),
        of_player("hit", 2_000_000, "home_4", speed_before_m_s=9.0, speed_after_m_s=9.0),
    ]
    state = detector.initial()
    for event in events:
        if event.kind in detector.spec.inputs:
            state, _ = detector.step(state, event)
    withdrawn = withdrawal(of_player("deflection", 1_000_000, "home_4"), 2_000_000)
    assert detector.step(state, withdrawn) == (state, NOTHING)
    assert detector.step(state, of_player("deflection", 2_000_000, "home_4"))[0] != state, "a deflection says something"


def feet(ts_us: int, **distances_m: float) -> Event:
    candidates = [
        Candidate(f"{who}/left_foot", who, who[:4], "left_foot", 0.1, 0.0, d)  # type: ignore[arg-type]
        for who, d in sorted(distances_m.items(), key=lambda item: item[1])
    ]
    return Event("ball.closest", ts_us, "ball", ts_us, Closest(tuple(candidates)))


RTLS = MatchSheet(quality=stage.RTLS)


def test_an_opponents_foot_at_one_contact_is_no_contest():
    distances_m = {"home_2": 0.15, "away_4": 0.16}
    assert played(SimultaneousContact, RTLS, feet(39_000, **distances_m), peak(40_000), *clock(0, 40_000, 60_000)) == []
    both = closest(0, "home_2", "away_4", dx_m=0.5)
    assert played(SimultaneousContact, SHEET, both, peak(40_000), *clock(0, 40_000, 80_000)) == []


@pytest.mark.parametrize(("apart_us", "second", "contest"), [(80_000, "away_4", True), (120_000, "away_4", False),
                                                              (80_000, "home_4", False)])  # fmt: skip
def test_two_contacts_of_opponents_within_a_tenth_of_a_second(apart_us, second, contest):
    events = [feet(39_000, home_2=0.15), peak(40_000), feet(60_000, home_2=0.9), *clock(0, 40_000, 60_000, 80_000)]
    events += [
        feet(39_000 + apart_us, **{second: 0.15}),
        peak(40_000 + apart_us),
        *clock(100_000, 120_000, 140_000, 160_000, 180_000),
    ]
    out = played(SimultaneousContact, RTLS, *events)
    expected = [(40_000, "home_2", {"other": second, "apart_us": apart_us})] if contest else []
    assert [(e.ts_us, e.payload.player, e.payload.detail) for e in out] == expected

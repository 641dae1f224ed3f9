"""Evidence that a dead ball is in play: what corrects the state, what does not, and from when on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest

from detectors.actions.possession import IndividualPossession
from detectors.emission import make_event
from detectors.play.dead_ball_kicks import NO_REST, extend_rest, nearest
from detectors.play.evidence import Case, EvidenceParameters, Played, chance_of_play, with_contact
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.phase_state import PhaseState, with_peak
from detectors.play.restart_kicks import RestartKickParameters
from football.match_sheet import MatchSheet
from football.packets import Packet
from football.payloads import EventPayload, build_frame
from football.pitch import pitch_of
from middleware.events import Event
from tests.detectors.disorder import stands_in_disorder
from tests.detectors.scene import Point, ball_track, cast, concluded, fold, hit, path, rows_of, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")

#: A ball that goes out, lies for a second, and comes back into the field without a restart.
OUT = [*path((0.0, 25.0), (0.0, 36.0), 1.0), *stay((0.0, 36.0), 1.0), *path((0.0, 36.0), (0.0, 30.0), 0.6)]
PAIR = {"home_8": (0.4, 30.0), "away_6": (15.4, 10.0)}


def struck(at_us: int, x_m: float, y_m: float) -> Event:
    """A change of the ball's velocity as at a contact."""
    payload = EventPayload("hard", x_m=x_m, y_m=y_m, detail={"delta_v_m_s": 20.0, "bounce": False})
    return make_event("ball.accel_peak", at_us, f"ball:{at_us}", payload)


def word(at_us: int, alive: float) -> Event:
    """A word of the alive flag."""
    return Event("raw.flag", at_us, "alive_flag", 0, Packet("alive_flag", 0, (at_us,), (alive,), (0.0,), (0.0,)))


def played_by(player: str, at_us: int) -> Event:
    """A hit by a player."""
    one = hit(at_us * 1e-6, player, 0.0, 0.0)
    payload = msgspec.structs.replace(one.payload, detail={"speed_before_m_s": 5.0})
    return msgspec.structs.replace(one, payload=payload)


def passed(places: Sequence[Point], seconds: float = 1.2) -> tuple[list[Point], list[Event]]:
    """The way of a ball that is passed on from place to place after ``OUT``, and its contacts."""
    way, contacts = list(OUT), list[Event]()
    for start, end in pairwise(places):
        contacts.append(struck(len(way) * 40_000, *start[:2]))
        way += path(start, end, seconds)
    return way, [*contacts, struck(len(way) * 40_000, *places[-1][:2])]


def to_and_fro(times: int) -> tuple[list[Point], list[Event]]:
    return passed([((0.0, 30.0), (15.0, 10.0))[n % 2] for n in range(times + 1)])


@pytest.mark.parametrize("says", [True, False], ids=["flag", "no flag"])
def test_an_alive_flag_is_a_sign_beside_others_that_a_dead_ball_is_in_play(says: bool):
    """Two passes show too little of it, unless the flag has said so."""
    way, contacts = to_and_fro(2)
    words = [word(1_800_000, 0.0), word(2_800_000, 1.0)] if says else []
    found = concluded([*scene(way, cast(**PAIR)), *contacts, *words], SHEET, "play.live")
    assert [event.kind for event in found] == ["play.live"] * says


def test_an_alive_flag_alone_brings_no_ball_into_play_that_lies_outside():
    way = [*path((0.0, 25.0), (0.0, 36.0), 1.0), *stay((0.0, 36.0), 6.0)]
    words = [word(1_800_000, 0.0), word(2_500_000, 1.0)]
    assert concluded([*scene(way, cast(**PAIR)), *words], SHEET, "play.live") == []


def test_passes_between_opponents_bring_a_dead_ball_into_play_dated_back_with_reason_and_chance():
    way, contacts = to_and_fro(3)
    found = concluded([*scene(way, cast(**PAIR)), *contacts], SHEET, "play.", "restart.")
    assert rows_of(found) == [("play.dead", "touch", ""), ("play.live", "touch", "")]
    live = found[-1].payload
    assert live.detail["fallback"] is True
    assert live.detail["kick_us"] == contacts[0].ts_us
    assert contacts[0].ts_us - 1 <= found[-1].ts_us <= contacts[1].ts_us
    assert live.detail["evidence"].startswith("home_8 to away_6")
    assert 0.8 <= live.confidence <= 0.9


def test_hits_since_the_first_contact_are_gains_with_their_own_times():
    way, contacts = to_and_fro(3)
    players = ("home_8", "away_6", "home_8", "away_6")
    hits = [played_by(player, c.ts_us) for c, player in zip(contacts, players, strict=True)]
    phases = concluded([*scene(way, cast(**PAIR)), *contacts], SHEET, "phase.")
    live = next(e for e in phases if e.kind == "phase.live")
    gains = fold(IndividualPossession(), sorted([*phases, *hits], key=lambda e: e.ts_us))
    since = [(c.ts_us, player) for c, player in zip(contacts, players, strict=True) if c.ts_us > live.ts_us]
    assert [(e.ts_us, e.payload.player) for e in gains if e.kind == "possession.gain"] == since
    assert len(since) >= 3


@pytest.mark.parametrize(
    "contacts",
    [0, 1],
    ids=["nobody plays it", "one player fetches it"],
)
def test_a_ball_that_is_brought_back_and_lies_stays_dead(contacts: int):
    way, made = to_and_fro(1)
    events = [*scene([*way, *stay((15.0, 10.0), 4.0)], cast(**PAIR)), *made[:contacts]]
    assert rows_of(concluded(events, SHEET, "play.")) == [("play.dead", "touch", "")]


def test_after_a_goal_more_evidence_is_needed():
    contacts = [Played(n * 1_000_000, f"p{n % 2}", ("home", "away")[n % 2], 10.0 * (n % 2), 0.0, "") for n in range(4)]
    p, case = EvidenceParameters(), Case(0, 4_000_000)
    for contact in contacts:
        case = with_contact(case, contact, p)
    assert chance_of_play(case, p, p.prior_share).chance > p.sure > chance_of_play(case, p, p.goal_prior_share).chance


def test_a_ball_that_is_carried_past_another_player_goes_from_neither_to_the_other():
    p = EvidenceParameters()
    case = with_contact(Case(0), Played(0, "home_3", "home", 0.0, 0.0, "a"), p)
    assert with_contact(case, Played(1, "home_4", "home", p.apart_m - 0.1, 0.0, "b"), p) == case
    assert len(with_contact(case, Played(1, "home_4", "home", p.apart_m + 0.1, 0.0, "b"), p).contacts) == 2


def quick_throw(rest_s: float, *, received: bool = True) -> tuple[list[Event], float]:
    """A ball that goes out, is held at the line for some time, and is thrown to a player who plays it on."""
    spot, to, on = (5.0, 34.0), (5.0, 22.0), (-2.0, 10.0)
    way = [*path((0.0, 28.0), (5.0, 35.5), 0.8), *path((5.0, 35.5), (5.2, 34.6), 0.3), *path((5.2, 34.6), spot, 0.12)]
    way += stay(spot, rest_s)
    thrown_us = len(way) * 40_000
    way += [*path(spot, to, 1.0), *path(to, on, 0.8), *path(on, (-8.0, 12.0), 0.6)]
    players = cast(home_3=(5.0, 34.5), home_8=(to[0], to[1] - 0.3), away_9=(on[0], on[1] - 0.3))
    contacts = [struck(thrown_us + 1_000_000, *to), struck(thrown_us + 1_800_000, *on)] if received else []
    return [*scene(way, players), *contacts], thrown_us


@pytest.mark.parametrize(
    ("kicked", "restarts"),
    [
        ((-47.4, 4.0), [("restart.goal_kick", "", "home")]),
        ((-30.0, 4.0), []),
    ],
    ids=["from the goal area", "from elsewhere"],
)
@pytest.mark.parametrize("taker", ["home_1", "away_9"])
def test_a_defenders_first_contact_in_his_goal_area_is_the_goal_kick_though_nobody_saw_the_ball_lie(
    kicked: Point, restarts: list[tuple[str, str, str]], taker: str
):
    """The ball goes out over the goal line, and comes back without a rest: the track has lost it then."""
    way = [*path((-40.0, 10.0), (-56.0, 10.0), 1.0), *stay((-56.0, 10.0), 1.0), *path((-56.0, 10.0), kicked, 0.8)]
    places = [kicked, (-10.0, 10.0), (5.0, -5.0), (-10.0, 10.0)]
    contacts = []
    for start, end in pairwise(places):
        contacts.append(struck(len(way) * 40_000, *start[:2]))
        way += path(start, end, 1.2)
    people = {taker: (kicked[0] - 0.4, kicked[1]), "home_8": (-9.6, 10.0), "away_6": (5.4, -5.0)}
    found = rows_of(concluded([*scene(way, cast(**people)), *contacts], SHEET, "play.live", "restart."))
    is_goal_kick = taker == "home_1" and bool(restarts)
    assert [row for row in found if row[0].startswith("restart")] == (restarts if is_goal_kick else [])
    assert [row[:2] for row in found if row[0] == "play.live"] == [("play.live", "goal line")]


@pytest.mark.parametrize("rest_s", [0.6, 1.4], ids=["quick", "slow"])
def test_a_throw_in_is_dated_at_the_throw_however_short_the_rest(rest_s: float):
    events, thrown_us = quick_throw(rest_s)
    found = concluded(events, SHEET, "play.", "restart.")
    assert rows_of(found)[1:] == [("restart.throw_in", "", "home"), ("play.live", "touch", "home")]
    throw, live = found[1:]
    assert throw.ts_us == pytest.approx(thrown_us, abs=150_000)
    assert live.ts_us < thrown_us + 1_000_000, "dated back to before the reception"
    assert ("evidence" in live.payload.detail) is (rest_s < 1.0)


def test_a_short_rest_alone_is_no_restart():
    events, _ = quick_throw(0.6, received=False)
    assert [kind for kind, _, _ in rows_of(concluded(events, SHEET, "play.", "restart."))] == ["play.dead"]


def unseen(events: list[Event], begin_us: int, end_us: int, *, held: bool) -> list[Event]:
    """The frames of a system that does not find the ball for a while, or repeats its position and then jumps."""
    frames = [e for e in events if e.kind == "frame"]
    last = next(e.payload for e in reversed(frames) if e.ts_us < begin_us)
    out: list[Event] = []
    for event in events:
        away_us = event.ts_us - end_us
        if event.kind == "frame" and begin_us <= event.ts_us < end_us:
            event = msgspec.structs.replace(event, payload=last if held else build_frame(None, last.players))
        elif event.kind == "frame" and 0 <= away_us < 400_000:
            run = 1 + away_us // 40_000
            speed = {"vx_m_s": 0.0, "vy_m_s": 0.0} if run == 1 else {}
            ball = msgspec.structs.replace(event.payload.ball, run=run, **speed)
            event = msgspec.structs.replace(event, payload=build_frame(ball, event.payload.players))
        if event.kind != "ball.state" or not begin_us <= event.ts_us < end_us:
            out.append(event)
    return out


@pytest.mark.parametrize("held", [False, True], ids=["not found", "repeated"])
@pytest.mark.parametrize("after_us", [400_000, 800_000])
def test_a_throw_in_that_was_not_seen_is_dated_by_where_the_ball_is_found(held: bool, after_us: int):
    events, thrown_us = quick_throw(4.0)
    found = concluded(
        unseen(events, thrown_us - 1_000_000, thrown_us + after_us, held=held), SHEET, "play.", "restart."
    )
    assert rows_of(found)[1:] == [("restart.throw_in", "", "home"), ("play.live", "touch", "home")]
    assert found[-1].payload.detail["kick_us"] == pytest.approx(thrown_us, abs=150_000)


def test_a_ball_that_is_lost_and_found_where_it_lay_has_rested_all_the_while():
    events, thrown_us = quick_throw(4.0)
    hidden = unseen(events, thrown_us - 3_000_000, thrown_us - 200_000, held=False)
    found = concluded(hidden, SHEET, "play.", "restart.")
    assert rows_of(found)[1:] == [("restart.throw_in", "", "home"), ("play.live", "touch", "home")]
    assert found[-1].payload.detail["rest_s"] > 3.5


def test_a_lost_ball_that_is_found_lying_elsewhere_was_carried_there():
    events, thrown_us = quick_throw(4.0)
    lies = next(e.payload.ball for e in events if e.kind == "frame" and e.ts_us == thrown_us + 600_000)
    still = msgspec.structs.replace(lies, vx_m_s=0.0, vy_m_s=0.0)
    moved = [
        msgspec.structs.replace(e, payload=build_frame(still, e.payload.players))
        if e.kind == "frame" and e.ts_us >= thrown_us
        else e
        for e in events
        if e.kind == "frame"
    ]
    found = concluded(unseen(moved, thrown_us - 1_000_000, thrown_us + 400_000, held=False), SHEET, "play.")
    assert [e.kind for e in found if e.kind == "play.live"] == []


@pytest.mark.parametrize("seed", range(4))
def test_law_in_any_order_of_arrival_and_over_a_restart_the_same_stands_as_sorted(seed: int):
    """Replay a case by its seed: it decides the order of arrival, and the push before which the state is restored."""
    way, contacts = to_and_fro(4)
    stands, wanted, updates = stands_in_disorder([*scene(way, cast(**PAIR)), *contacts], SHEET, seed)
    assert stands == wanted, f"seed {seed}"
    assert [e.payload.detail["evidence"] for e in wanted if e.kind == "play.live"]
    assert any(update.diff < 0 for update in updates), "something was corrected"


def moving(events: list[Event], player: str, since_us: int, vx_m_s: float, vy_m_s: float) -> list[Event]:
    """The frames with a player who runs off at an instant."""
    out: list[Event] = []
    for event in events:
        run_s = (event.ts_us - since_us) * 1e-6
        if event.kind == "frame" and run_s > 0.0:
            bodies = tuple(
                msgspec.structs.replace(
                    b, x_m=b.x_m + vx_m_s * run_s, y_m=b.y_m + vy_m_s * run_s, vx_m_s=vx_m_s, vy_m_s=vy_m_s
                )
                if b.object_id == player
                else b
                for b in event.payload.players
            )
            event = msgspec.structs.replace(event, payload=build_frame(event.payload.ball, bodies))
        out.append(event)
    return out


@pytest.mark.parametrize("held", [False, True], ids=["not found", "repeated"])
def test_a_throw_that_was_not_seen_is_dated_by_when_the_thrower_leaves(held: bool):
    """The ball is found at the feet of a player who carries it, so that its speed says nothing about the throw."""
    spot, to = (5.0, 34.0), (5.0, 22.0)
    way = [*path((0.0, 28.0), (5.0, 35.5), 0.8), *path((5.0, 35.5), spot, 0.5), *stay(spot, 4.0)]
    thrown_us = len(way) * 40_000
    way += [*path(spot, to, 1.0), *path(to, (-7.0, 20.0), 4.0)]
    seen = unseen(scene(way, cast(home_3=(5.0, 34.5))), thrown_us - 400_000, thrown_us + 3_600_000, held=held)
    events = moving(seen, "home_3", thrown_us + 400_000, 0.0, -2.5)
    found = concluded(events, SHEET, "play.live", "restart.")
    assert rows_of(found) == [("restart.throw_in", "", "home"), ("play.live", "touch", "home")]
    assert found[-1].payload.detail["kick_us"] == pytest.approx(thrown_us, abs=300_000)
    assert found[0].dated_us == found[-1].payload.detail["kick_us"], "though it was known seconds later"
    denied = [word(500_000, 1.0), *(word(at_us, 0.0) for at_us in range(2_000_000, events[-1].ts_us, 1_000_000))]
    assert concluded([*events, *denied], SHEET, "play.live", "restart.") == [], "the flag can no longer be late"


@pytest.mark.parametrize("leaves", [True, False])
def test_players_who_play_a_ball_that_was_lost_show_the_restart_of_who_has_left_its_place(leaves: bool):
    """The ball is found slow at a mate's feet, so that no kick from rest is seen."""
    spot, to, there = (5.0, 34.0), (5.0, 22.0), (20.0, 10.0)
    way = [*path((0.0, 28.0), (5.0, 35.5), 0.8), *path((5.0, 35.5), spot, 0.5), *stay(spot, 4.0)]
    thrown_us = len(way) * 40_000
    way += [*path(spot, to, 1.0), *stay(to, 3.0)]
    contacts = []
    for start, end in ((to, there), (there, to), (to, there)):
        contacts.append(struck(len(way) * 40_000, *start))
        way += path(start, end, 1.2)
    events = scene(way, cast(home_3=(5.0, 34.5), home_8=(5.4, 22.0), away_6=(20.4, 10.0)))
    seen = unseen(events, thrown_us - 400_000, thrown_us + 3_600_000, held=False)
    if leaves:
        seen = moving(seen, "home_3", thrown_us + 400_000, -2.5, -1.0)
    found = concluded([*seen, *contacts], SHEET, "play.live", "restart.")
    taken = [("restart.throw_in", "", "home"), ("play.live", "touch", "home")]
    assert sorted(rows_of(found), reverse=True) == (taken if leaves else [("play.live", "touch", "")])
    live = next(e.payload.detail for e in found if e.kind == "play.live")
    assert live["evidence"]
    # If nobody shows when, the middle of the time without the ball errs least.
    kicked_us = thrown_us + (0 if leaves else 1_600_000)
    assert live["kick_us"] == pytest.approx(kicked_us, abs=300_000)


def test_a_kick_off_during_which_the_position_is_repeated_is_one_though_the_teams_have_run_on():
    way = [*stay((0.0, 0.0), 3.0), *path((0.0, 0.0), (-12.0, 2.0), 1.0), *path((-12.0, 2.0), (-24.0, 9.0), 4.0)]
    seen = unseen(scene(way, cast(home_9=(0.4, 0.0))), 2_900_000, 6_000_000, held=True)
    ran = moving(moving(seen, "away_8", 3_400_000, -4.0, 0.0), "home_9", 3_400_000, 5.0, 0.0)
    found = concluded(ran, SHEET, "restart.")
    assert rows_of(found) == [("restart.kick_off", "", "home")]
    assert found[0].dated_us == pytest.approx(3_000_000, abs=400_000)


def at_pace(events: Sequence[Event], pace_m_s: float) -> list[Event]:
    """The same events with frames whose players are as fast."""
    paced: list[Event] = []
    for event in events:
        if event.kind == "frame":
            bodies = tuple(msgspec.structs.replace(one, vx_m_s=pace_m_s) for one in event.payload.players)
            event = msgspec.structs.replace(event, payload=build_frame(event.payload.ball, bodies))
        paced.append(event)
    return paced


@pytest.mark.parametrize(("pace_m_s", "lives"), [(0.5, 0), (2.0, 1)], ids=["they stand", "they move as in play"])
def test_a_ball_that_goes_to_and_fro_is_in_play_if_players_move_too(pace_m_s: float, lives: int):
    """A ball that is handed back for a free kick may be thrown to another player, while all others wait."""
    way, contacts = to_and_fro(3)
    found = concluded([*at_pace(scene(way, cast(**PAIR)), pace_m_s), *contacts], SHEET, "play.live")
    assert len(found) == lives


@pytest.mark.parametrize(
    ("goes", "pace_m_s"),
    [(False, 0.0), (True, 0.0), (False, 3.0), (False, 5.0)],
    ids=["nobody goes", "a player runs for it", "all jog", "all run"],
)
def test_a_ball_that_rolls_away_and_nobody_goes_for_is_dead_since_its_last_contact(goes: bool, pace_m_s: float):
    way = [*path((28.0, 20.0), (40.0, 22.0), 0.8), *path((40.0, 22.0), (49.0, 22.0), 3.0)]
    apart = {"away_2": (10.0, 24.0), "away_3": (8.0, 19.0), "away_4": (6.0, 13.0), "away_5": (2.0, 8.0)}
    events = scene(way, cast(home_6=(28.0, 20.3), **apart))
    if goes:
        events = moving(events, "home_6", 300_000, 6.0, 0.5)
    dead = concluded([*at_pace(events, pace_m_s), struck(40_000, 28.0, 20.0)], SHEET, "play.dead")
    assert [(e.payload.detail["sign"], e.payload.detail["since_us"]) for e in dead] == (
        [] if goes or pace_m_s > 4.0 else [("alone", 440_000)]
    )


@pytest.mark.parametrize(("spread_m", "counts"), [(0.55, False), (1.2, True)])
def test_a_contact_counts_as_far_from_a_player_as_places_of_the_input_are_good(spread_m: float, counts: bool):
    state = PhaseState("dead", "touch", spread_m=spread_m)
    after = with_peak(
        state,
        PhaseParameters(),
        pitch_of(SHEET),
        struck(40_000, 0.0, -30.0),
        build_frame(None, cast(home_8=(2.0, -30.0))),
    )
    assert ([c.player for c in after.case.contacts] if after.case else []) == (["home_8"] if counts else [])


@pytest.mark.parametrize(("left_m", "taker"), [(0.4, "away_5"), (3.0, "home_9")])
def test_who_comes_to_a_lying_ball_after_the_nearest_has_left_may_be_its_taker(left_m: float, taker: str):
    """The position of the ball is repeated; who put it out had been nearest to it."""
    p, rest = PhaseParameters().rest, NO_REST
    (ball,) = (event.payload for event in ball_track([(5.0, 34.0)]))
    for at_us, away_m, home_m in ((0, 0.2, 2.0), (40_000, left_m, 0.5)):
        players = cast(away_5=(5.0, 34.0 - away_m), home_9=(5.0, 34.0 + home_m))
        frame = build_frame(ball, players)
        near = nearest(frame, ball.x_m, ball.y_m)
        rest = extend_rest(rest, p, RestartKickParameters(), pitch_of(SHEET), at_us, frame, ball, near)
    assert rest.closest is not None
    assert rest.closest.object_id == taker


@pytest.mark.parametrize("pass_s", [1.2, 0.5])
@pytest.mark.parametrize("back_m", [0.0, 7.0], ids=["kicked where it lay", "carried back first"])
def test_who_carries_a_lost_ball_back_and_then_kicks_it_takes_the_free_kick_where_he_kicks_it(
    back_m: float, pass_s: float
):
    """The ball lies at his feet, is lost, and found slow at a mate's: he left its place, to kick it or with it."""
    spot, to, there = (20.0, 0.0), (30.0, 5.0), (15.0, 18.0)
    takes = (spot[0] - back_m, spot[1])
    way = [*path((10.0, -2.0), spot, 2.0), *stay(spot, 6.0)]
    left_us = len(way) * 40_000
    way += stay(takes, 4.0 if back_m else 0.4)
    kicked_us = len(way) * 40_000
    way += [*path(takes, to, 1.0), *stay(to, 0.4)]
    contacts = [struck(kicked_us, *takes)] if back_m else []
    for start, end in ((to, there), (there, to), (to, there)):
        contacts.append(struck(len(way) * 40_000, *start))
        way += path(start, end, pass_s)
    events = scene(way, cast(away_14=(20.5, 0.0), away_11=(30.4, 5.0), home_6=(15.4, 18.0)))
    seen = unseen(events, left_us - 400_000, kicked_us - (200_000 if back_m else -1_200_000), held=False)
    walks = moving(seen, "away_14", left_us - 200_000, -back_m / 4.0 or -2.0, 0.0)
    found = concluded([*walks, *contacts], SHEET, "play.live", "restart.")
    (restart,), (live,) = ([e for e in found if e.kind.startswith(kind)] for kind in ("restart.", "play.live"))
    assert (restart.kind, live.payload.detail["evidence"] != "") == ("restart.free_kick", True)
    assert live.payload.detail["kick_us"] == pytest.approx(kicked_us if back_m else left_us, abs=500_000)
    assert restart.ts_us <= live.ts_us >= live.payload.detail["kick_us"]
    assert restart.payload.x_m == pytest.approx(takes[0], abs=1.0)


@pytest.mark.parametrize("z_m", [0.0, 2.4])
def test_a_repeated_position_above_the_chest_is_one_of_a_flight_and_no_free_kick_is_taken_from_it(z_m: float):
    spot, to = (9.0, -29.0, z_m), (-6.0, -20.0, 0.2)
    way = [*path((18.0, -21.0, z_m), spot, 1.0), *stay(spot, 8.0)]
    kicked_us = len(way) * 40_000
    way += path(spot, to, 1.4)
    seen = unseen(scene(way, cast(home_6=(9.4, -29.0))), kicked_us - 4_000_000, kicked_us + 600_000, held=True)
    found = concluded(moving(seen, "home_6", kicked_us, 3.0, 0.0), SHEET, "play.", "restart.")
    assert [e.kind for e in found if e.kind.startswith("restart.")] == ([] if z_m else ["restart.free_kick"])

"""14.4 to 14.10 on hand-made causes: each statistic is the sum of what stands, and follows its cause."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.signals.smoothed_speed import PlayerSpeeds
from detectors.statistics.load import LoadParameters, PhysicalLoad
from detectors.statistics.passes import PassNetwork, PassStatistics, PpdaAndTilt
from detectors.statistics.shots import SetPlayStatistics, ShotStatistics
from detectors.statistics.threat import Threat, threat
from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.pitch import Pitch
from middleware.events import Event
from tests.detectors.chains.test_chains import about
from tests.detectors.scene import fold

SHEET = MatchSheet()
HOME_RIGHT = about("direction", 0.0, "home")


def outcome(
    at_s: float, passer: str, receiver: str = "", kind: str = "pass.complete", start_x: float = 0.0, end_x: float = 0.0
) -> Event:
    detail: dict[str, Scalar] = {"start_x_m": start_x, "start_y_m": 0.0, "kick_us": round(at_s * 1e6) - 500_000}
    if receiver:
        detail["receiver"] = receiver
    return about(kind, at_s, passer, (end_x, 4.0), **detail)


def newest(events: list[Event], kind: str, who: str = "home", variant: str = "") -> dict[str, Scalar]:
    """Return the detail of the newest statistic of a team, or of a player."""
    player = who if "_" in who else ""
    team = who.partition("_")[0]
    mine = [
        e
        for e in events
        if (e.kind, e.payload.variant, e.payload.team, e.payload.player) == (kind, variant, team, player)
    ]
    return dict(mine[-1].payload.detail)


# -- passes ------------------------------------------------------------------------------------------------------

PASSES = [
    outcome(1, "home_6", "home_8", start_x=-30, end_x=0),
    outcome(2, "home_8", "home_9", start_x=0, end_x=30),
    outcome(3, "home_9", "away_4", "pass.intercepted", start_x=30, end_x=40),
    outcome(4, "away_4", kind="pass.out", start_x=40, end_x=30),
]


def test_passes_are_counted_for_the_team_and_the_passer_by_third():
    out = fold(PassStatistics(SHEET), [HOME_RIGHT, *PASSES])
    assert newest(out, "stat.pass", "home", "rate") == {
        "passes": 3, "complete": 2, "percent": 66.7, "own_passes": 1, "own_complete": 1, "middle_passes": 1,
        "middle_complete": 1, "final_passes": 1, "final_complete": 0,
    }  # fmt: skip
    assert newest(out, "stat.pass", "home_9", "rate")["percent"] == 0.0
    assert newest(out, "stat.pass", "away", "rate")["own_passes"] == 1, "away attacks the other way"


def test_only_the_final_direction_of_a_pass_counts_and_packing_is_summed():
    events = [
        about("pass.dir", 1.0, "home_6", variant="left", final=False),
        about("pass.dir", 1.5, "home_6", variant="forward", final=True),
        about("packing", 1.6, "home_6", variant="1-2", opponents=2),
        about("packing", 2.6, "home_6", variant="0", opponents=-1),
    ]
    out = fold(PassStatistics(SHEET), events)
    assert newest(out, "stat.pass", "home", "direction") == {"forward": 1, "backward": 0, "left": 0, "right": 0}
    assert newest(out, "stat.pass", "home", "packing") == {"passes": 2, "opponents": 1, "per_pass": 0.5}


@given(st.lists(st.tuples(st.sampled_from(("home_1", "home_2", "away_1")), st.booleans()), max_size=30))
def test_the_rate_of_a_team_is_the_sum_of_its_players(passes: list[tuple[str, bool]]):
    events = [
        outcome(1.0 + i, who, "home_3", "pass.complete" if arrived else "pass.out")
        for i, (who, arrived) in enumerate(passes)
    ]
    out = fold(PassStatistics(SHEET), events)
    made = Counter(who.partition("_")[0] for who, _ in passes)
    for team in made:
        players = {who for who, _ in passes if who.startswith(team)}
        sums = [newest(out, "stat.pass", who, "rate") for who in players]
        total = newest(out, "stat.pass", team, "rate")
        assert [sum(int(s[name] or 0) for s in sums) for name in ("passes", "complete")] == [
            total["passes"], total["complete"],
        ]  # fmt: skip
        assert total["passes"] == made[team]


def test_the_network_counts_an_edge_and_forgets_what_is_not_recent():
    passes = [
        outcome(at_s, "home_6", "home_8", start_x=x, end_x=x + 10) for at_s, x in ((1, 0.0), (2, 10.0), (310, 5.0))
    ]
    out = fold(PassNetwork(), [*passes, outcome(311, "home_8", "home_6")])
    detail = dict(out[2].payload.detail)
    assert detail == {"receiver": "home_8", "passes": 3, "recent": 1, "to_x_m": 15.0, "to_y_m": 4.0}
    assert (out[2].payload.x_m, out[3].payload.detail["passes"]) == (5.0, 1)
    assert fold(PassNetwork(), [outcome(1, "home_6", "away_4", "pass.intercepted")]) == []


def test_ppda_is_passes_allowed_for_each_action_in_the_passers_own_part():
    events = [
        HOME_RIGHT,
        outcome(1, "away_4", "away_5", start_x=40), outcome(2, "away_5", "away_4", start_x=30),
        outcome(3, "away_4", "away_9", start_x=-30),
        about("tackle.won", 4, "home_9", (35.0, 0.0)), about("interception", 5, "home_4", (-35.0, 0.0), "won"),
        outcome(6, "away_4", "away_5", start_x=40),
    ]  # fmt: skip
    out = fold(PpdaAndTilt(SHEET), events)
    assert newest(out, "stat.ppda") == {"passes": 3, "actions": 1, "ppda": 3.0}
    assert newest(out[:1], "stat.ppda") == {"passes": 1, "actions": 0, "ppda": None}


def test_field_tilt_is_the_share_of_passes_that_end_in_an_attacking_third():
    ends = [("home_6", 30), ("home_6", 20), ("home_6", 0), ("away_4", -30), ("away_4", 30)]
    out = fold(
        PpdaAndTilt(SHEET), [HOME_RIGHT, *(outcome(1 + i, who, "x", end_x=x) for i, (who, x) in enumerate(ends))]
    )
    assert newest(out, "stat.tilt") == {"passes": 2, "both": 3, "percent": 66.7}
    assert newest(out, "stat.tilt", "away") == {"passes": 1, "both": 3, "percent": 33.3}


# -- shots and set plays -----------------------------------------------------------------------------------------

SHOT, SAVE = (
    about("shot.attempt", 1.0, "home_9"),
    about("shot.saved", 1.4, "away_1", variant="caught", shooter="home_9"),
)
GOAL = about("goal.scored", 3.0, "home_9", since_us=2_900_000)


def test_a_save_counts_for_the_shooters_and_a_goal_is_on_target():
    again = msgspec.structs.replace(SAVE, ts_us=1_600_000, dated_us=SAVE.ts_us)
    out = fold(ShotStatistics(), [SHOT, SAVE, again, GOAL, about("goal.own", 9.0, "home_0", since_us=8_900_000)])
    assert newest(out, "stat.shot") == {
        "shots": 1, "on_target": 2, "saved": 1, "blocked": 0, "off": 0, "post": 0, "goals": 2,
    }  # fmt: skip


def test_a_goal_that_does_not_stand_is_taken_off_and_one_that_stands_again_counts():
    no = about("goal.disallowed", 5.0, "home_9", goal=GOAL.id)
    no = msgspec.structs.replace(no, annuls=GOAL.id)
    yes = msgspec.structs.replace(no, ts_us=8_000_000, annuls=no.id)
    assert newest(fold(ShotStatistics(), [SHOT, GOAL, no]), "stat.shot")["goals"] == 0
    assert newest(fold(ShotStatistics(), [SHOT, GOAL, no, yes]), "stat.shot")["goals"] == 1


def test_a_newer_value_of_a_shot_replaces_the_older_one():
    first = about("shot.xg", 1.0, "home_9", variant="<.05", xg=0.04)
    penalty = msgspec.structs.replace(about("shot.xg", 2.0, "home_9", variant=">.35", xg=0.79), id=first.id)
    other = about("shot.xg", 4.0, "home_8", variant="-.15", xg=0.1)
    assert newest(fold(ShotStatistics(), [first, penalty, other]), "stat.xg") == {"xg": 0.89, "shots": 2, "goals": 0}


def test_a_set_play_has_the_shots_and_goals_of_ten_seconds():
    corner = about("restart.corner", 1.0, "home_7", variant="left")
    events = [
        corner,
        about("shot.attempt", 5.0, "home_9"),
        about("shot.attempt", 6.0, "away_9"),
        about("goal.scored", 7.0, "home_9"),
    ]
    assert newest(fold(SetPlayStatistics(), events), "stat.setplay", "home", "corner") == {
        "taken": 1, "shots": 1, "goals": 1,
    }  # fmt: skip
    late = fold(SetPlayStatistics(), [corner, about("shot.attempt", 11.1, "home_9")])
    assert newest(late, "stat.setplay", "home", "corner")["shots"] == 0


# -- load --------------------------------------------------------------------------------------------------------


def paces(speeds: dict[str, list[float]]) -> list[Event]:
    """Return ``pace.state`` events, ten a second."""
    names = tuple(sorted(speeds))
    sides = bytes(0 if name.startswith("home") else 1 for name in names)
    events = []
    for i in range(len(speeds[names[0]])):
        now_us, row = i * 100_000, np.array([speeds[name][i] for name in names])
        payload = PlayerSpeeds(names, sides, np.zeros(2 * len(names)).tobytes(), now_us, row.tobytes())
        events.append(Event("pace.state", now_us, "pace", i, payload))
    return events


def test_a_steady_run_costs_three_point_six_joules_a_metre_and_is_fast_where_it_is():
    out = fold(PhysicalLoad(), paces({"home_6": [6.0] * 601, "home_7": [8.0] * 601, "away_4": [2.0] * 601}))
    assert newest(out, "load.metabolic", "home_6") == {"energy_j_kg": 1296.0, "power_w_kg": 21.6}
    assert newest(out, "load.hsr", "home_6") == {"metres": 360.0, "m_per_minute": 360.0}
    assert newest(out, "load.sprints", "home_6")["metres"] == 0.0
    assert newest(out, "load.sprints", "home")["metres"] == 480.0
    assert newest(out, "load.hsr", "away")["metres"] == 0.0


def test_an_acceleration_costs_more_than_the_same_way_at_one_pace():
    """Osgnach 2010: at 3 m/s2 a metre costs about 12 J/kg (slope 0.306)."""
    rising = [0.3 * i for i in range(21)] + [6.0] * 80
    out = fold(PhysicalLoad(LoadParameters(report_us=2_000_000)), paces({"home_6": rising}))
    slope = 3.0 / 9.81
    cost = np.sqrt(1 + slope**2) * (
        155.4 * slope**5 - 30.4 * slope**4 - 43.3 * slope**3 + 46.3 * slope**2 + 19.5 * slope + 3.6
    )
    first = next(e for e in out if e.kind == "load.metabolic" and e.payload.player)
    assert first.payload.detail["energy_j_kg"] == pytest.approx(cost * 6.0, abs=0.1)
    assert cost > 3 * 3.6


def test_who_comes_later_or_is_lost_for_a_while_has_only_his_own_time():
    first, second = paces({"home_6": [6.0] * 300}), paces({"home_6": [6.0] * 301, "home_7": [6.0] * 301})
    shift = [
        msgspec.structs.replace(e, ts_us=e.ts_us + 30_000_000, seq=e.seq + 300,
                                payload=msgspec.structs.replace(e.payload, ts_us=e.payload.ts_us + 30_000_000))
        for e in second
    ]  # fmt: skip
    out = fold(PhysicalLoad(), [*first, *shift])
    assert newest(out, "load.hsr", "home_6")["metres"] == pytest.approx(360.0, abs=0.7)
    assert newest(out, "load.hsr", "home_7") == {"metres": 180.0, "m_per_minute": 360.0}
    gap = [e for e in paces({"home_6": [6.0] * 901}) if not 200 <= e.seq < 500]
    assert newest(fold(PhysicalLoad(), gap), "load.hsr", "home_6")["metres"] == pytest.approx(180.0, abs=1.3)


# -- 14.8 --------------------------------------------------------------------------------------------------------


def test_threat_grows_towards_the_goal_and_is_the_same_on_both_sides():
    pitch = Pitch()
    along = [threat(pitch, x, 0.0) for x in (-50.0, 0.0, 30.0, 45.0, 51.0)]
    assert along == sorted(along)
    assert threat(pitch, 40.0, 25.0) == threat(pitch, 40.0, -25.0) < threat(pitch, 40.0, 0.0)


def test_a_pass_forward_adds_threat_and_one_back_takes_it_whichever_way_the_team_attacks():
    there = about("pass.complete", 2.0, "home_6", (45.0, 0.0), start_x_m=0.0, start_y_m=0.0)
    back = about("carry.end", 3.0, "home_6", (0.0, 0.0), from_x_m=45.0, from_y_m=0.0)
    out = fold(Threat(MatchSheet()), [about("direction", 0.0, "home"), there, back])
    assert [(e.payload.detail["how"], e.payload.detail["added_xt"]) for e in out] == [
        ("pass", 0.24056), ("carry", -0.24056),
    ]  # fmt: skip
    assert out[1].payload.detail["player_xt"] == out[1].payload.detail["team_xt"] == 0.0
    (own,) = fold(Threat(MatchSheet()), [about("direction", 0.0, "away"), there])
    assert own.payload.detail["added_xt"] < 0.0
    assert fold(Threat(MatchSheet()), [there]) == [], "nobody knows the directions"

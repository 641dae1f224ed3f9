"""The analyst's tables: each column by hand, the same counts as the events of a played match, stores of anybody."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import touchline
from app.tables.build import TableError, flat_tables
from app.tables.clock import MatchClock, quarter_hour
from app.tables.columns import STATISTIC_KINDS, TABLES
from detectors.catalogue import catalogue
from replay.event_list import consolidated_events
from tests.app.recordings import optical_table, record
from tests.app.tables.small_match import S, event, small_store


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return small_store(tmp_path_factory.mktemp("small") / "store")


@pytest.fixture(scope="module")
def tables(small) -> dict[str, list[dict[str, object]]]:
    return {name: table.to_pylist() for name, table in flat_tables(small).items()}


def has(row: dict[str, object], **values: object) -> bool:
    """True if a row has some values; shows the others when a test fails."""
    found = {name: row[name] for name in values}
    assert found == {
        name: pytest.approx(value) if isinstance(value, float) else value for name, value in values.items()
    }
    return True


def test_a_pass_has_what_all_detectors_say_about_it(tables):
    first, cross, lost = tables["passes"]
    assert has(first, player="home_9", shirt=9, name="Home Player 9", team_name="Reds", outcome="complete",
               start_x_m=0.0, end_x_m=-6.0, end_y_m=8.0, receiver="home_7", receiver_shirt=7, length_m=10.0,
               speed_m_s=5.0, body_part="right foot", restart="kick_off", attacks_x=1, under_pressure=False,
               interception=False, period=1, clock="0:00", quarter_hour="0-15", key_pass=False,
               height=None)  # fmt: skip
    assert has(cross, cross="cross", height="high", packing=3, lines_broken=1, key_pass=True, assist=True,
               under_pressure=True, restart=None, target="home_9", clock="0:10")  # fmt: skip
    assert has(lost, team="away", outcome="intercepted", interception=True, receiver="home_7", period=2, clock="45:12",
               quarter_hour="45-60", attacks_x=1, packing=None)  # fmt: skip


def test_shots_and_goals_find_each_other(tables):
    goal, saved = tables["shots"]
    assert has(goal, outcome="goal", xg=0.3, model="foot", keeper=True, nearest_opponent_m=1.5, on_target=True,
               assisted_by="home_7", stopped_by=None, end_x_m=52.6)  # fmt: skip
    assert has(saved, outcome="saved", stopped_by="away_1", stopped_by_name="Away Player 1", save="parried", xg=None)
    scored, own = tables["goals"]
    assert has(scored, player="home_9", own=False, shot=goal["id"], assisted_by="home_7", home_goals=1, away_goals=0)
    assert has(own, own=True, shot=None, clock="90+1:00", quarter_hour="75-90", home_goals=2, away_goals=0)


def test_a_kick_that_goes_in_is_a_shot_though_it_looked_like_a_pass(tmp_path):
    kicks = [
        event("pass.attempt", 60, "ball:60", "away_7", (-49.0, 4.0), kick_us=60 * S, vx_m_s=-3.0, vy_m_s=-4.0),
        event("pass.out", 60.5, "ball:60", "away_7", (-52.6, 3.5), kick_us=60 * S),
        event("pass.attempt", 50, "ball:50", "away_7", (-30.0, 4.0), kick_us=50 * S),
        event("goal.scored", 60.9, "goal:3", "away_7", (-52.6, 3.5), "left", since_us=60_500_000),
    ]
    found = flat_tables(small_store(tmp_path / "store", kicks, positions=False))
    rows = {name: {row["id"]: row for row in found[name].to_pylist()} for name in ("passes", "shots", "goals")}
    shot = rows["shots"]["pass.attempt#ball:60"]
    assert has(shot, outcome="goal", on_target=True, xg=None, player="away_7", start_x_m=-49.0, speed_m_s=5.0)
    assert rows["goals"]["goal.scored#goal:3"]["shot"] == shot["id"]
    assert "pass.attempt#ball:60" not in rows["passes"]
    assert "pass.attempt#ball:50" in rows["passes"], "the kick before it was a pass"
    assert all(flat_tables(tmp_path / "store", (name,))[name] == table for name, table in found.items()), "read alone"
    assert [row["ts_us"] for row in rows["shots"].values()] == sorted(row["ts_us"] for row in rows["shots"].values())


def test_the_last_kick_before_a_goal_is_the_scorers_shot_though_it_seemed_a_defenders(tmp_path):
    kicks = [
        event("pass.attempt", 60, "ball:60", "home_1", (-49.0, 4.0), kick_us=60 * S, vx_m_s=-3.0, vy_m_s=-4.0),
        event("goal.scored", 60.9, "goal:3", "away_7", (-52.6, 3.5), "left", since_us=60_500_000),
        event("goal.scored", 80.0, "goal:4", "away_7", (-52.6, 3.5), "left", since_us=80 * S),
    ]
    found = flat_tables(small_store(tmp_path / "store", kicks, positions=False), ("passes", "shots", "goals"))
    rows = {name: {row["id"]: row for row in table.to_pylist()} for name, table in found.items()}
    shot = rows["shots"]["pass.attempt#ball:60"]
    assert has(shot, outcome="goal", team="away", player="away_7", attacks_x=-1, start_x_m=-49.0)
    assert rows["goals"]["goal.scored#goal:3"]["shot"] == shot["id"] not in rows["passes"]
    assert rows["goals"]["goal.scored#goal:4"]["shot"] is None, "the last kick was 20 s ago"


def test_carries_and_duels(tables):
    (carry,) = tables["carries"]
    assert has(carry, player="home_7", ts_us=11 * S, end_us=18 * S, start_x_m=-6.0, end_x_m=20.0, distance_m=35.5,
               progressive=True, gain_m=26.0, packing=2, lines_broken=1, take_ons_won=1, take_ons_lost=0,
               outcome="pass")  # fmt: skip
    take_on, ground, aerial = tables["duels"]
    assert has(take_on, type="take-on", player="home_7", opponent="away_7", won=True, winner_team="home")
    assert has(ground, type="ground", player="home_9", opponent="away_7", won=False, winner="away_7", tackle="won")
    assert has(aerial, type="aerial", won=True, tackle=None, start_x_m=-30.0)


def test_possessions_say_how_they_begin_and_end(tables):
    rows = tables["possessions"]
    assert [(row["team"], row["begin"], row["end"]) for row in rows] == [
        ("home", "kick_off", "goal"),
        ("away", "tackle", "lost"),
        ("home", "interception", "shot"),
        ("away", "won", None),
    ]
    assert has(rows[0], ts_us=10 * S, end_us=22 * S, seconds=12.0, passes=2, passes_complete=2, carries=1, shots=1,
               xg=0.3, players=2, gain_m=52.6, final_third=True, box=True)  # fmt: skip
    assert has(rows[1], passes=1, passes_complete=0, shots=0, gain_m=15.0, final_third=True, box=False)


def test_running_leaves_half_time_and_jumps_out(tables):
    rows = {(row["player"], row["quarter_hour"]): row for row in tables["running"]}
    walker, runner = rows["home_7", "45-60"], rows["home_9", "0-15"]
    assert has(walker, period=2, zone_5_m=0.0, shirt=7)
    assert walker["distance_m"] == pytest.approx(59.8, abs=0.3)
    assert walker["distance_m"] == pytest.approx(walker["zone_1_m"])
    assert runner["distance_m"] == pytest.approx(6 * 59.8, rel=0.05)
    assert runner["top_m_s"] == pytest.approx(6.0, abs=0.1)
    assert rows["home_7", "0-15"]["sprints"] == 1
    assert rows["home_7", "0-15"]["seconds"] == pytest.approx(59.8, abs=0.3), "the 20 s after the whistle do not count"
    assert len(rows) == 12


def test_a_sprint_has_begin_and_end(tables):
    (sprint,) = tables["sprints"]
    assert has(sprint, player="home_7", ts_us=12 * S, end_us=15 * S, start_x_m=0.0, end_x_m=10.0, top_m_s=8.1)


def test_a_number_of_a_statistic_is_a_row_and_a_heat_map_is_none(tmp_path):
    """Texts stand beside each number of their event; what is no number has no row."""
    stated = [
        event("stat.network", 20, "n", "home_9", receiver="home_7", passes=2, recent=1, to_x_m=3.5, to_y_m=-1.0),
        event("value.vaep", 21, "v", "home_7", how="pass", success=True, value=0.01, model="simulated matches"),
        event("stat.xg", 22, "x", "home", xg=float("nan"), shots="many", goals=1),
        event("stat.heatmap", 23, "h", "home_9", looks=5, cells="3,4:5"),
    ]
    rows = flat_tables(small_store(tmp_path / "store", stated), ("statistics",))["statistics"].to_pylist()
    assert [(row["statistic"], row["measure"], row["value"]) for row in rows] == [
        ("stat.xg", "goals", 1.0),
        ("stat.network", "passes", 2.0),
        ("stat.network", "recent", 1.0),
        ("stat.network", "to_x_m", 3.5),
        ("stat.network", "to_y_m", -1.0),
        ("value.vaep", "success", 1.0),
        ("value.vaep", "value", 0.01),
    ]
    assert has(rows[1], player="home_9", shirt=9, receiver="home_7", receiver_name="Home Player 7", clock="0:10")
    assert has(rows[0], team="home", player=None, receiver=None, model=None, id="stat.xg#x")
    assert has(rows[-1], how="pass", model="simulated matches")


def test_every_statistic_of_the_catalogue_is_in_the_table():
    """A new kind of level 14 would be missing from the analyst's tables."""
    levels = [(types.kind, entry.level) for entry in catalogue() for types in entry.types]
    stated = {kind for kind, level in levels if level == 14} | {"rating.step"}
    assert {*STATISTIC_KINDS} == stated - {"stat.heatmap"}


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    return record(optical_table(folder / "track.parquet", 1, 45.0), folder / "store")


def test_a_played_match_has_as_many_rows_as_events(played):
    found, events = flat_tables(played), consolidated_events(played)
    count = {row["values"]: row["counts"] for row in pc.value_counts(events["kind"]).to_pylist()}
    passes = found["passes"].to_pandas()
    assert len(passes) == count["pass.attempt"] > 3
    for outcome in ("complete", "intercepted", "out"):
        assert (passes.outcome == outcome).sum() == count.get(f"pass.{outcome}", 0)
    assert passes.interception.sum() == count.get("interception", 0)
    assert passes.receiver.notna().sum() == (passes.outcome.isin(["complete", "intercepted"])).sum()
    assert len(found["carries"]) == count.get("carry.end", 0)
    assert len(found["shots"]) == count.get("shot.attempt", 0)
    assert len(found["duels"]) == sum(count.get(kind, 0) for kind in ("duel.start", "takeon.won", "takeon.lost"))
    possessions = found["possessions"].to_pandas()
    assert (possessions.end_us > possessions.ts_us).all()
    assert (possessions.ts_us.to_numpy()[1:] >= possessions.end_us.to_numpy()[:-1] - 1_000_000).all()
    stated = found["statistics"].to_pandas()
    assert stated.id.nunique() == sum(count.get(kind, 0) for kind in STATISTIC_KINDS) > 0
    # The newest row up to an instant is the sum up to it.
    half_us = int(passes.ts_us.median())
    rate = stated[(stated.statistic == "stat.pass") & (stated.variant == "rate") & (stated.measure == "complete")]
    team = rate[rate.player.isna() & (rate.ts_us <= half_us)].sort_values("ts_us", kind="stable")
    made = passes[(passes.outcome == "complete") & (passes.end_us <= half_us)].groupby("team").size()
    assert team.groupby("team").value.last().astype(int).to_dict() == made.to_dict() != {}
    running = found["running"].to_pandas()
    assert len(running) == 22
    assert running.distance_m.between(10, 45 * 9).all()


def test_the_library_gives_each_form(played):
    match = touchline.Match(played)
    frame, table = match.table("passes"), match.table("passes", form="arrow")
    assert list(frame.columns) == table.schema.names == TABLES["passes"].schema.names
    assert len(frame) == len(table)
    with pytest.raises(TableError, match="no table pases; there are passes, shots"):
        match.table("pases")


def test_a_clip_without_kick_off_counts_as_a_first_half():
    clip, later = MatchClock([]), MatchClock([event("period.start", 100, "a", variant="2", since_us=100 * S)])
    assert clip.is_clip
    assert clip.at(16 * 60 * S)[1:] == (1, 960.0, "16:00", "15-30")
    assert later.at(50 * S).period == 1
    assert later.at(160 * S).clock == "46:00"


@pytest.mark.parametrize(
    ("period", "seconds", "expected"),
    [(1, 0, "0-15"), (1, 899.9, "0-15"), (1, 900, "15-30"), (1, 3000, "30-45"), (2, 0, "45-60"), (2, 2800, "75-90"),
     (3, 901, "90-105"), (4, 1, "105-120"), (5, 700, "120+")],
)  # fmt: skip
def test_quarters_of_an_hour(period, seconds, expected):
    assert quarter_hour(period, seconds) == expected


def test_values_of_a_wrong_type_become_nulls(tmp_path):
    """A store may be of anybody."""
    hostile = [
        event("pass.attempt", 50, "ball:50", "stranger", kick_us="soon", receiver=5, vx_m_s=True),
        event("pass.complete", 51, "ball:50", "stranger", receiver=False),
        event("packing", 50, "ball:50", opponents=10**30),
        event("shot.attempt", 52, "ball:52", "home_9", kick_us=2**70, on_target="yes", goal_y_m=[1] and "x"),
        event("shot.xg", 52, "ball:52", xg="high", defenders=1.5e300, keeper=1),
        event("carry.end", 53, "ball:53", "home_9", seconds_s=1e300, from_x_m=None),
        event("sprint.end", 54, "x", "home_9", since_us=-(2**80), seconds=None),
        event("period.start", 55, "ball:55", variant="9", since_us=1),
        event("goal.scored", 66, "goal:9", "home_9", since_us="never"),
        event("team.possession", 57, "", "home_9", variant="home"),
        event("takeon.won", 58, "t", "home_9", other=3),
    ]
    found = flat_tables(small_store(tmp_path / "store", hostile, positions=False))
    rows = {row["id"]: row for name in ("passes", "shots") for row in found[name].to_pylist()}
    assert has(rows["pass.attempt#ball:50"], team_name=None, target=None, receiver=None, packing=None, speed_m_s=None)
    assert has(rows["shot.attempt#ball:52"], xg=None, defenders=None, keeper=None, on_target=None)
    assert len(found["running"]) == 0


def test_the_dictionary_names_every_column():
    for table in TABLES.values():
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names), table.name
        assert all(column.text for column in table.columns)
    assert set(map(pa.types.is_list, (f.type for t in TABLES.values() for f in t.schema))) == {False}

"""The charts of the analyst's room over a small match by hand: known answers, and that all obey the selection."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from app.analysis.match import AnalysedMatch, read_analysed
from app.analysis.registry import CHARTS
from app.analysis.running import lasting
from app.analysis.selection import Selection, SelectionError, parse_selection
from app.analysis.shots import freeze_frame
from app.tables.ball import BALL
from app.tables.tracks import TRACKS
from detectors.control.pressure import PressingParameters, pressing_index_per_s
from football.payloads import BallState, BodyState
from replay.match_store import positions_between
from tests.app.tables.small_match import FIRST_US, SECOND_US, S, event, small_store

EXTRA = [
    event("pass.dir", 10, "ball:10", "home_9", variant="left", angle_rad=2.2),
    event("pass.dir", 20, "ball:20", "home_7", variant="right", angle_rad=-1.57),
    event("progress.pass", 20, "ball:20", "home_7", gain_m=12.0),
    event("formation", 100, "home:100", "home", variant="4-4-2", since_us=20 * S),
    event("formation", 4_100, "home:4100", "home", variant="4-3-3", since_us=4_050 * S),
    event("win.chance", 15, "clock:1/home", "home", win=0.45, draw=0.25, lose=0.3, minutes=93, model="Poisson"),
    event("win.chance", 15, "clock:1/away", "away", win=0.3, draw=0.25, lose=0.45, minutes=93, model="Poisson"),
    event("win.chance", 30, "score:1/home", "home", win=0.7, draw=0.2, lose=0.1, minutes=93, model="Poisson"),
    event("win.chance", 4_060, "clock:46/home", "home", win=0.72, draw=0.2, lose=0.08, minutes=48, model="Poisson"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return small_store(tmp_path_factory.mktemp("analysed") / "store", extra=EXTRA)


@pytest.fixture(scope="module")
def match(store: Path) -> AnalysedMatch:
    return read_analysed(store)


def rows_of(match: AnalysedMatch, name: str, **values) -> list[dict[str, object]]:
    """Rows of a chart as records."""
    return CHARTS[name].function(match, Selection(**values)).table.to_dict("records")


def notes_of(match: AnalysedMatch, name: str, **values) -> dict[str, object]:
    return dict(CHARTS[name].function(match, Selection(**values)).notes)


def behind(match: AnalysedMatch, rows) -> list[str]:
    """Table and player of some actions."""
    return [f"{one.table} {one.player}" for one in match.actions.loc[list(rows)].itertuples()]


def test_shots_attack_to_the_right_in_both_halves(match):
    goal, saved = rows_of(match, "shot_map")
    assert (goal["x_m"], goal["y_m"], goal["xg"], goal["outcome"]) == (45.0, 2.0, 0.3, "goal")
    assert (saved["x_m"], saved["y_m"], saved["outcome"]) == (40.0, 0.0, "saved")
    assert notes_of(match, "shot_map", team="home") == {"home": {"shots": 2, "goals": 1, "xg": 0.3}}
    assert behind(match, goal["rows"]) == ["shots home_9"]


def test_the_selection_narrows_by_time_score_zone_and_player(match):
    def found(**values) -> list[float]:
        return [row["x_m"] for row in rows_of(match, "shot_map", **values)]

    assert found(periods=(2,)) == found(score="ahead") == found(begin_us=SECOND_US) == [40.0]
    assert found(score="level") == found(end_us=SECOND_US) == found(zone=(42.0, 53.0, -5.0, 5.0)) == [45.0]
    assert found(score="behind") == found(players=("home_7",)) == found(team="away") == []
    # Of the other team, the state is that of the row's own team unless one is chosen.
    assert [row["player"] for row in rows_of(match, "passes", score="behind")] == ["away_7"]


def test_the_race_adds_chances_over_playing_time(match):
    first, second = rows_of(match, "xg_race")
    assert (first["total"], first["at_s"], bool(first["goal"])) == (0.3, 11.0, True)
    assert second["total"] == 0.3
    assert second["at_s"] == pytest.approx(2_780 + 22)  # half-time does not count
    ((team, at_s),) = notes_of(match, "xg_race")["own_goals"]
    assert (team, at_s) == ("home", pytest.approx(2_780 + 46 * 60))


def test_the_chance_to_win_is_over_playing_time_and_leads_to_the_goal_that_changed_it(match):
    before, after, second = rows_of(match, "win_chance")
    assert [(row["home"], row["draw"], row["away"]) for row in (before, after)] == [(0.45, 0.25, 0.3), (0.7, 0.2, 0.1)]
    assert (before["at_s"], before["rows"], second["at_s"]) == (5.0, [], pytest.approx(2_780 + 60))
    assert behind(match, after["rows"]) == ["goals home_9"]
    # Of which team it is, what it did and where has no meaning for it; time and score have.
    assert len(rows_of(match, "win_chance", team="away", zone=(0.0, 1.0, 0.0, 1.0), phase="in")) == 3
    assert rows_of(match, "win_chance", periods=(2,))[0]["ts_us"] == second["ts_us"]


def test_a_network_has_average_places_and_links(match):
    rows = rows_of(match, "pass_network", team="home")
    nodes = {row["player"]: row for row in rows if row["kind"] == "node"}
    assert (nodes["home_9"]["x_m"], nodes["home_9"]["y_m"], nodes["home_9"]["n"]) == (22.5, 1.0, 2)
    assert (nodes["home_7"]["x_m"], nodes["home_7"]["y_m"], nodes["home_7"]["shirt"]) == (19.5, 19.0, 7)
    links = [(row["player"], row["receiver"], row["n"]) for row in rows if row["kind"] == "link"]
    assert sorted(links) == [("home_7", "home_9", 1), ("home_9", "home_7", 1)]
    assert len(behind(match, nodes["home_9"]["rows"])) == 2


def test_sonar_flow_and_matrix_of_passes(match):
    sectors = {row["player"]: (row["sector"], row["n"], row["complete"]) for row in rows_of(match, "pass_sonar")}
    assert sectors == {"home_9": (3, 1, 1), "home_7": (6, 1, 1)}
    first, cross = rows_of(match, "pass_flow", team="home")
    assert (first["column"], first["line"], first["dx_m"], first["dy_m"], first["n"]) == (3, 2, -6.0, 8.0, 1)
    assert (cross["column"], cross["dy_m"]) == (5, -28.0)
    pairs = {(row["shirt"], row["receiver_shirt"]): row["n"] for row in rows_of(match, "pass_matrix")}
    assert pairs == {(9, 7): 1, (7, 9): 1}


def test_progressive_and_line_breaking_passes(match):
    (forward,) = rows_of(match, "progressive")
    assert (forward["player"], forward["gain_m"]) == ("home_7", 12.0)
    (through,) = rows_of(match, "line_breaking")
    assert (through["lines_broken"], through["end_y_m"]) == (1, 2.0)
    assert len(rows_of(match, "passes")) == 3
    assert notes_of(match, "passes")["away"] == {"passes": 1, "complete": 0}


def test_possession_and_territory_by_stretch(match):
    rows = rows_of(match, "possession", step_min=15)
    seconds = {(row["stretch"], row["team"]): row["seconds"] for row in rows}
    assert seconds["0-15", "home"] == pytest.approx(12.0)
    assert seconds["0-15", "away"] == 0.0
    second = {team: seconds["45-60", team] for team in ("home", "away")}
    share = {row["team"]: row["share"] for row in rows if row["stretch"] == "45-60"}
    assert share["home"] == pytest.approx(second["home"] / sum(second.values()))
    assert {row["stretch"] for row in rows_of(match, "possession")} == {"0-5", "45-50"}
    # The cross ends in the last third, the other pass does not.
    assert [(row["team"], row["n"]) for row in rows_of(match, "territory")] == [("home", 1), ("away", 0)]


def test_momentum_is_of_the_team_that_threatens(match):
    rows = rows_of(match, "momentum")
    # A goal's chance, the cross into the box, and the carry that ends in the last third.
    assert rows[0]["home"] == pytest.approx(0.3 + 0.04 + 0.01)
    assert rows[0]["away"] == 0.0
    assert rows[0]["balance"] > 0
    assert {name.split()[0] for name in behind(match, rows[0]["rows"])} == {"passes", "carries", "shots"}


def test_possessions_as_sequences(match):
    first, *_ = rows_of(match, "sequences")
    assert (first["begin"], first["end"], first["passes"]) == ("kick_off", "goal", 2)
    assert [name.split()[0] for name in behind(match, first["rows"])] == [
        "possessions", "passes", "passes", "carries", "shots",
    ]  # fmt: skip
    assert notes_of(match, "sequences")["home"]["n"] == 2


def test_pressing_and_balls_won(match):
    assert notes_of(match, "pressing") == {"home": None, "away": 1.0}
    (row,) = [row for row in rows_of(match, "pressing", team="away") if row["stretch"] == "45-50"]
    assert (row["passes"], row["actions"]) == (0, 1)
    won = rows_of(match, "regains")
    assert [(row["player"], row["begin"]) for row in won] == [
        ("away_7", "tackle"), ("home_7", "interception"), ("away_1", "won"),
    ]  # fmt: skip
    assert notes_of(match, "regains")["away"] == {"own": 1, "middle": 1, "final": 0}


def test_the_ppda_of_each_team_is_in_its_own_score_and_phase(match):
    # Home leads in the second half. Away lets no pass then and wins a tackle; home intercepts the pass of away.
    whole, behind_, out = (
        notes_of(match, "pressing", periods=(2,), **v) for v in ({}, {"score": "behind"}, {"phase": "out"})
    )
    assert (behind_["away"], behind_["home"]) == (whole["away"], None)
    assert out == whole
    for values in ({"score": "behind"}, {"phase": "out"}, {}):
        figures = {row["figure"]: row for row in rows_of(match, "teams", **values)}
        notes = notes_of(match, "pressing", **values)
        shown = {team: None if np.isnan(figures["PPDA"][team]) else figures["PPDA"][team] for team in notes}
        assert shown == notes


def test_with_a_team_chosen_the_distances_of_both_teams_are_in_its_score(match):
    seen, own, whole = (
        {row["figure"]: row["away"] for row in rows_of(match, "teams", **values)}["Distance"]
        for values in ({"team": "home", "score": "ahead"}, {"score": "behind"}, {})
    )
    assert seen == own < whole


def test_duels_belong_to_both_players(match):
    assert notes_of(match, "duel_map")["home"] == {"ground": 0, "loose": 0, "aerial": 1, "take-on": 1}
    found = {row["player"]: row for row in rows_of(match, "duels")}
    assert (found["home_9"]["n"], found["home_9"]["won"], found["home_9"]["aerial won"]) == (2, 1, 1)
    assert (found["away_7"]["n"], found["away_7"]["won"], found["away_7"]["take-on won"]) == (3, 1, 0)
    assert len(rows_of(match, "duel_map", players=("away_7",))) == 3


def test_running_is_that_of_the_table_in_zones_of_both_kinds(match):
    mine = {row["player"]: row for row in rows_of(match, "running")}
    table = match.tables["running"].groupby("player").distance_m.sum()
    assert {player: row["distance_m"] for player, row in mine.items()} == pytest.approx(dict(table), rel=0.01)
    walker, runner = mine["away_1"], mine["home_9"]
    assert walker["zone_1_m"] == pytest.approx(walker["distance_m"])
    assert runner["zone_4_m"] == pytest.approx(runner["distance_m"], rel=0.05)
    debs = {row["player"]: row for row in rows_of(match, "running", zones="debs")}
    assert debs["away_1"]["zone_2_m"] == pytest.approx(walker["distance_m"])
    assert debs["home_9"]["zone_5_m"] > 0
    over = rows_of(match, "running_time")
    assert {row["stretch"] for row in over} == {"0-5", "45-50"}
    assert sum(row["distance_m"] for row in over) == pytest.approx(sum(row["distance_m"] for row in mine.values()))
    assert [row["sprints"] for row in over if row["team"] == "home"] == [1, 0]


def test_a_class_of_running_that_is_too_short_counts_to_the_next():
    classes, seconds = np.array([1, 1, 2, 1, 1, 3]), np.array([0.6, 0.6, 0.4, 0.8, 0.4, 0.2])
    assert lasting(classes, seconds, np.zeros(6)).tolist() == [1, 1, 1, 1, 1, 3]
    # The last one of a player has none to follow it.
    assert lasting(np.array([2, 1]), np.array([0.4, 2.0]), np.array([0, 1])).tolist() == [2, 1]


def test_heat_maps_count_time_and_actions(match):
    walked = rows_of(match, "heat_map", players=("away_1",), periods=(2,), grid="8x13")
    assert sum(row["share"] for row in walked) == pytest.approx(1.0)
    assert {row["line"] for row in walked} == {walked[0]["line"]}
    assert sum(row["amount"] for row in walked) == pytest.approx(60.0, abs=0.3)
    held = sum(row["amount"] for row in rows_of(match, "heat_map", team="home", phase="in"))
    free = sum(row["amount"] for row in rows_of(match, "heat_map", team="home", phase="out"))
    assert min(held, free) > 0
    assert held + free == pytest.approx(sum(row["amount"] for row in rows_of(match, "heat_map", team="home")))
    touched = rows_of(match, "touch_map", players=("home_7",))
    assert sum(row["amount"] for row in touched) == 4  # a pass, a reception, both ends of a carry
    assert {name.split()[0] for row in touched for name in behind(match, row["rows"])} == {"passes", "carries"}


def test_average_positions_need_a_minute(match):
    rows = rows_of(match, "average_positions", team="away")
    assert {row["phase"] for row in rows} == {"out"}  # away has the ball for less than a minute of positions
    walker = next(row for row in rows if row["player"] == "away_7")
    # It attacks to the left in the first half, where most of this time is, and to the right in the second.
    assert abs(walker["y_m"]) < 8.0
    assert (walker["shirt"], bool(walker["goalkeeper"])) == (7, False)


def test_formations_are_those_of_the_chosen_time(match):
    def formations(**values) -> dict[str, str]:
        return notes_of(match, "average_positions", **values)["formations"]

    assert formations() == {"home": "4-4-2, 4-3-3", "away": ""}
    assert formations(periods=(1,), team="home") == {"home": "4-4-2"}
    assert formations(begin_us=4_100 * S, team="home") == {"home": "4-3-3"}


def test_set_plays_have_what_came_of_them(match):
    (kick_off,) = rows_of(match, "set_plays")
    assert (kick_off["restart"], kick_off["shots"], kick_off["player"]) == ("kick_off", 0, "home_9")
    assert notes_of(match, "set_plays")["home"] == {"kick_off": [1, 0, 0]}


def test_numbers_of_teams_and_players_lead_to_their_actions(match):
    figures = {row["figure"]: row for row in rows_of(match, "teams")}
    assert (figures["Shots"]["home"], figures["Shots"]["away"]) == (2, 0)
    assert behind(match, figures["Goals"]["home_rows"]) == ["goals home_9", "goals away_1"]
    assert len(figures["Duels won"]["away_rows"]) == 1
    for row in figures.values():
        counts = row["unit"] == "" and row["digits"] == 0 and row["figure"] != "Lines broken by passes"
        assert not counts or len(row["home_rows"]) == row["home"], row["figure"]
    people = {row["player"]: row for row in rows_of(match, "players")}
    assert people["home_9"]["Shots"] == 2
    assert behind(match, people["home_9"]["rows"]["Won"]) == ["duels home_9"]
    first = {row["figure"]: row["home"] for row in rows_of(match, "teams", periods=(1,))}
    assert (first["Shots"], first["Goals"]) == (1, 1)
    assert first["Distance"] < figures["Distance"]["home"]


def test_a_moment_has_everybody_where_they_stood(store, match):
    shot = int(match.tables["shots"].row.iloc[1])

    def positions(begin_us: int, end_us: int):
        return positions_between(store, begin_us, end_us)

    data = freeze_frame(match, Selection(action=shot), positions)
    assert set(data.table.object_id) == {"ball", *(f"{team}_{n}" for team in ("home", "away") for n in (1, 7, 9))}
    walker = data.table.set_index("object_id").loc["away_1"]
    # At 22 s of the second half he is at x = -8 and y = 3; the shooter attacks towards -x.
    assert (walker.x_m, walker.y_m, bool(walker.goalkeeper)) == (pytest.approx(8.0, abs=0.21), -3.0, True)
    assert (data.notes["x_m"], data.notes["outcome"]) == (40.0, "saved")
    with pytest.raises(SelectionError, match="pass or a shot"):
        freeze_frame(match, Selection(action=10_000), positions)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_obeys_the_selection_and_survives_nothing(name: str, match):
    def numbers(table) -> list[int]:
        found = []
        for column in (one for one in table if one == "rows" or one.endswith("_rows")):
            for rows in table[column]:
                found += [n for part in rows.values() for n in part] if isinstance(rows, dict) else list(rows)
        return found

    first = match.actions.loc[numbers(CHARTS[name].function(match, Selection(end_us=SECOND_US)).table)]
    assert (first.ts_us < SECOND_US).all()
    assert (first.ts_us >= FIRST_US).all()
    empty = CHARTS[name].function(match, Selection(begin_us=9_000 * S, players=("nobody",)))
    assert numbers(empty.table) == []


def test_selections_are_read_and_refused():
    found = parse_selection({"team": "home", "player": "a,b", "period": "1,2", "from_s": "1.5", "zone": "5,1,-2,2"})
    assert found == Selection("home", ("a", "b"), (1, 2), 1_500_000, zone=(1.0, 5.0, -2.0, 2.0))
    for wrong in ({"team": "x"}, {"period": "6"}, {"from_s": "nan"}, {"zone": "1,2"}, {"step": "7"}, {"grid": "1x1"},
                  {"zone": "1,2,3,1e9"}, {"score": "won"}, {"action": "-2"},
                  {"player": ",".join("a" * 50)}):  # fmt: skip
        with pytest.raises(SelectionError, match=next(iter(wrong))):
            parse_selection(wrong)


#: Transitions and presses.
TURNS = [
    event("counterpress.start", 31, "gain:30", "away_7", lost_us=30 * S, seconds=1.0),
    msgspec.structs.replace(event("counterpress.won", 34, "gain:34", "away_9"), causes=("counterpress.start#gain:30",)),
    event("counterpress.start", 51, "gain:50", "home_7", lost_us=50 * S),
    event("counter.end", 40, "chain:34", "away_9", start_us=34 * S, passes=1),
    event("attack.direct", 47, "chain:45", "home", start_us=45 * S, shot=True),
    event("press.team.start", 43, "away:42", "away", since_us=42 * S),
    msgspec.structs.replace(
        event("press.team.end", 48, "away:42", "away", how="over", since_us=46 * S),
        causes=("press.team.start#away:42",),
    ),
    event("recovery.time", 34, "gain:34", "away_9", variant="<5", seconds=4.0),
    event("trigger", 44, "pass:43", "away_7", variant="back pass", cue_us=43 * S, on="home_7"),
    event("trap", 49, "ball:49", "home", variant="sprung"),
]


#: Contacts of both teams, a sequence and a double pass, beside the small match.
HELD = [
    event("play.live", 29, "ball:29", kick_us=29 * S),
    event("hit", 30, "hit:30", "home_9", (0.0, 0.0)),
    event("hit", 31, "hit:31", "home_9", (0.0, 0.0)),
    event("hit", 33, "hit:33", "away_7", (0.0, 0.0)),
    event("hit", 34, "hit:34", "home_7", (0.0, 0.0)),
    event("play.dead", 40.5, "ball:40", variant="touch", place=(0.0, 34.0), since_us=40 * S),
    event("hit", 41, "hit:41", "away_9", (0.0, 34.0)),  # of a dead ball
    event("play.live", 45.3, "ball:45", "away_1", (0.0, 34.0), "throw_in", kick_us=45 * S),
    event("hit", 47, "hit:47", "home_9", (0.0, 0.0)),
    event("sequence.end", 30, "ball:20", "home", passes=2, seconds=11.0, since_us=26 * S),
    event("onetwo", 21, "ball:20", "home_9", mate="home_7", seconds=11.0),
]


@pytest.fixture(scope="module")
def held(tmp_path_factory) -> AnalysedMatch:
    return read_analysed(small_store(tmp_path_factory.mktemp("held") / "store", extra=[*EXTRA, *HELD, *TURNS]))


def test_transitions_have_begin_end_outcome_and_counts(held):
    found = [
        (row["team"], row["kind"], row["outcome"], row["ts_us"] / S, row["end_us"] / S)
        for row in rows_of(held, "transitions")
    ]
    assert sorted(found, key=str) == sorted([
        ("away", "counter-press", "won", 30, 34), ("home", "counter-press", "not won", 50, 51),
        ("away", "counter-attack", None, 34, 40), ("home", "direct attack", "shot", 45, 47),
        ("away", "team press", "over", 42, 46), ("away", "ball won back", "<5", 30, 34),
        ("away", "press trigger", "back pass", 43, 44), ("home", "offside trap", "sprung", 49, 49),
    ], key=str)  # fmt: skip
    assert ["away", "counter-press", "won", 1, 4.0] in notes_of(held, "transitions")["counts"]
    assert [row["kind"] for row in rows_of(held, "transitions", players=("home_7",))] == ["counter-press"]
    assert len(rows_of(held, "transitions", team="away", begin_us=40 * S)) == 2


def test_a_player_has_the_ball_until_the_next_contact_or_a_dead_ball(held):
    stints = [
        (row.player, row.ts_us / S, row.end_us / S, row.hits, row.hit_s)
        for row in held.tables["stints"].itertuples()
        if 30 * S <= row.ts_us < 47 * S
    ]
    assert stints == [
        ("home_9", 30, 33, 2, 1), ("away_7", 33, 34, 1, 0), ("home_7", 34, 40, 1, 0), ("away_1", 45, 47, 1, 0),
    ]  # fmt: skip
    found = {row["player"]: row for row in rows_of(held, "players_with_ball", begin_us=30 * S, end_us=46 * S)}
    assert (found["home_9"]["seconds"], found["home_9"]["hits"], found["home_9"]["share"]) == (3, 2, 3 / 9)
    assert notes_of(held, "players_with_ball", begin_us=30 * S, end_us=46 * S) == {"home": 9, "away": 3}


def test_sequences_and_double_passes_have_their_passes(held):
    double, sequence = sorted(rows_of(held, "chains"), key=lambda row: row["kind"])
    assert (double["kind"], double["passes"], sequence["kind"], sequence["passes"]) == ("double pass", 2, "sequence", 2)
    assert (double["begin_us"], sequence["begin_us"]) == (10 * S, 10 * S)
    assert behind(held, sequence["rows"]) == ["passes home_9", "passes home_7"]
    assert notes_of(held, "chains")["home"] == {"n": 1, "passes": 2.0, "longest": 2, "doubles": 1}
    assert rows_of(held, "chains", players=("home_1",)) == rows_of(held, "chains", team="away") == []


def test_speed_and_height_of_the_ball_over_time(match):
    first, second = rows_of(match, "ball_time")
    assert (first["stretch"], second["stretch"]) == ("0-5", "45-50")
    # The ball rolls half a metre a second at the height of its middle.
    assert (first["speed_m_s"], first["height_m"]) == (pytest.approx(0.5, abs=0.01), pytest.approx(0.1, abs=1e-6))
    assert rows_of(match, "ball_time", begin_us=9_000 * S) == []


def test_differential_pressing_over_time_is_that_of_the_detector(match):
    ball = match.ball.set_index("ts_us")
    (row,) = [row for row in rows_of(match, "shape_time", team="away", end_us=SECOND_US) if row["stretch"] == "0-5"]
    mine = match.tracks[(match.tracks.team == "away") & (match.tracks.ts_us < SECOND_US)]
    had = match.tables["possessions"].query("team == 'home'")
    indices = []
    for ts_us, rows in mine.groupby("ts_us"):
        before = mine[mine.ts_us == ts_us - 200_000].set_index("player")
        is_home = ((had.ts_us <= ts_us) & (ts_us < had.end_us)).any()
        if ts_us - 200_000 not in ball.index or before.empty or not is_home:
            continue
        sign = match.attacks_x("away", int(ts_us))
        place, last = (ball.loc[at, ["x_m", "y_m"]].to_numpy(float) * sign for at in (ts_us, ts_us - 200_000))
        moving = BallState(*place, 0.0, *((place - last) / 0.2), 0.0, 0)
        bodies = [
            BodyState(one.player, "away", "", one.x_m, one.y_m, 0.0, (one.x_m - before.x_m[one.player]) / 0.2,
                      (one.y_m - before.y_m[one.player]) / 0.2)
            for one in rows.itertuples() if one.player in before.index
        ]  # fmt: skip
        indices.append(pressing_index_per_s(moving, tuple(bodies), PressingParameters().nearest_m))
    assert len(indices) > 50
    assert row["press_per_s"] == pytest.approx(np.mean(indices), rel=1e-3)
    assert row["press_per_s"] > 0


def test_the_area_of_a_team_is_that_around_its_outfield_players(match):
    corners = {"p1": (0, 0), "p2": (20, 0), "p3": (20, 10), "p4": (0, 10), "p5": (5, 5), "home_1": (-50, 0)}
    times = [FIRST_US + step * 200_000 for step in range(20)]
    rows = [
        {"team": "home", "player": name, "ts_us": ts_us, "x_m": x_m, "y_m": y_m}
        for ts_us in times for name, (x_m, y_m) in corners.items()
    ]  # fmt: skip
    tracks = pa.Table.from_pylist(rows, TRACKS)
    tables = {name: pa.Table.from_pandas(table.drop(columns="row", errors="ignore"), preserve_index=False)
              for name, table in match.tables.items()}  # fmt: skip
    other = AnalysedMatch(match.sheet, tables, match.spans, lambda: tracks, BALL.empty_table)
    (found,) = rows_of(other, "shape_time", team="home")
    assert found["area_m2"] == pytest.approx(200.0)  # home_1 keeps the goal


#: Values of each part of the selection; in the match by hand each part has one that narrows a chart that obeys it.
PARTS = {
    "team": [{"team": "home"}, {"team": "away"}],
    "players": [{"players": (one,)} for one in ("home_9", "home_7", "away_7", "away_1")],
    "time": [{"periods": (2,)}, {"end_us": SECOND_US}, {"begin_us": 30 * S}],
    "score": [{"score": "ahead"}, {"score": "level"}, {"score": "behind"}],
    "phase": [{"phase": "in"}, {"phase": "out"}],
    "zone": [{"zone": zone} for zone in ((-53, -5, -34, 34), (5, 53, -34, 34), (-53, 53, 3, 34))],
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if n % 3 else ()) for n, name in enumerate(CHARTS)]
)
def test_a_chart_is_narrowed_by_each_part_of_the_selection_but_those_it_names(name: str, held):
    whole = repr(rows_of(held, name))
    narrowed = {
        part for part, given in PARTS.items() if any(repr(rows_of(held, name, **values)) != whole for values in given)
    }
    assert narrowed == {*PARTS} - {*CHARTS[name].whole}


def test_the_score_the_phase_and_the_zone_of_charts_of_positions(match):
    """Home leads in the second half; the ball rolls from x = 0 to 30, away attacks towards +x in the second half."""

    def bars(name: str, **values) -> dict[tuple[str, str], dict[str, object]]:
        return {(row["stretch"], row.get("team", "")): row for row in rows_of(match, name, **values)}

    def stretches(**values) -> set[tuple[str, str]]:
        return {(part, team) for part, team in bars("shape_time", **values)}

    assert stretches(score="behind") == {("45-50", "away")}
    assert stretches(score="ahead", team="home") == {("45-50", "home")}
    # Away presses and home does not while home has the ball.
    assert stretches(phase="out", end_us=SECOND_US) == {("0-5", "away")}
    # The ball rolls towards the goal of away in the first half, and towards that of home in the second.
    assert stretches(zone=(0.5, 53, -34, 34)) == {("45-50", "away")}
    assert stretches(zone=(-53, -0.5, -34, 34)) == {("0-5", "away"), ("45-50", "home")}
    whole, one, other = (
        bars("shape_time", zone=(-53, -0.5, -34, 34), players=players)["0-5", "away"]
        for players in ((), ("away_7",), ("away_1", "away_9"))
    )
    assert whole["press_per_s"] > one["press_per_s"]
    assert bars("shape_time", players=("home_9",), team="away", end_us=SECOND_US) == {}
    assert other["press_per_s"] > 0
    # Home has the ball for 12 s of the first half, and away attacks towards +x when it has it in the second.
    assert set(bars("ball_time", team="away")) == set(bars("ball_time", zone=(0.5, 53, -34, 34), score="behind"))
    assert set(bars("ball_time", phase="in", end_us=SECOND_US)) == {("0-5", "")}
    assert bars("ball_time", phase="out") == {}


def test_values_over_time_lead_to_possessions_actions_and_moments(match):
    (row,) = rows_of(match, "shape_time", team="away", end_us=SECOND_US)
    assert behind(match, row["rows"]) == ["possessions home_9"]
    first, second = rows_of(match, "ball_time")
    assert {name.split()[0] for name in behind(match, first["rows"])} == {"passes", "carries", "shots"}
    assert {name.split()[0] for name in behind(match, second["rows"])} == {"passes", "shots"}
    assert FIRST_US <= first["top_us"] < SECOND_US <= second["high_us"]


def test_goals_stints_and_sequences_lie_where_they_begin(held):
    own, other = (-53.0, -5.0, -34.0, 34.0), (40.0, 53.0, -34.0, 34.0)
    goals = {zone: rows_of(held, "teams", zone=zone)[0] for zone in (own, other)}
    assert [(row["home"], row["away"]) for row in goals.values()] == [(0, 0), (1, 0)]
    assert [rows_of(held, "teams", phase=phase)[0]["home"] for phase in ("in", "out")] == [1, 1]  # the own goal
    # The throw-in is on the right of away, which attacks to the left.
    assert [row["player"] for row in rows_of(held, "players_with_ball", zone=(-1, 1, -35, -33))] == ["away_1"]
    assert [row["player"] for row in rows_of(held, "players_with_ball", zone=(-1, 1, 33, 35))] == []
    assert {row["kind"] for row in rows_of(held, "chains", zone=(-1, 1, -1, 1))} == {"sequence", "double pass"}
    assert rows_of(held, "chains", zone=own) == []

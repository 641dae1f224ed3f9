"""Truth about passes, and what follows from the order of rows: by hand, so that the answer is plain."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from football.pitch import Pitch
from football.truth_kinds import LEVELS
from simulator.records import PERSONS, Row, Vector, object_id, team_of_row
from simulator.truth.chains import add_chains
from simulator.truth.entries import EntryTruth
from simulator.truth.passes import PassTruth
from simulator.truth.pressing import PressingTruth
from simulator.truth.states import add_states
from simulator.truth.truth_table import Lines
from tests.simulator.handmade import Trajectory, along, at, intervals

DIRECTIONS = {1: (1.0, -1.0), 2: (-1.0, 1.0)}
PLAYING = np.arange(PERSONS) < 32


class Story:
    """Rows as play would note them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def note(
        self, kind: str, t_s: float, person: int, position=(0.0, 0.0), variant: str = "", causes=(), **detail
    ) -> int:
        spot: Vector = (*position, 0.11) if len(position) == 2 else position
        self.rows.append(Row(kind, t_s, person, team_of_row(person), spot, variant, detail, tuple(causes)))
        return len(self.rows) - 1

    def passed(self, t_s: float, passer: int, start, end, receiver: int, after_s: float = 1.0) -> int:
        """A completed pass."""
        made = self.note("pass.attempt", t_s, passer, start)
        return self.note("pass.complete", t_s + after_s, passer, end, "", (made,), receiver=object_id(receiver))


def qualifiers(
    start, end, persons: dict[int, Trajectory], *, kind: str = "pass.complete", passer: int = 5, sign=(1.0, -1.0),
    ball: Trajectory | None = None, **detail,
) -> dict[str, tuple[str, dict]]:  # fmt: skip
    """Kind -> variant and detail of what is told of one pass from 1.0 to 2.0 s."""
    story, lines, truth = Story(), Lines(), PassTruth(Pitch())
    made = story.note("pass.attempt", 1.0, passer, start, **detail)
    story.note(kind, 2.0, passer, end, "", (made,), receiver="home_9")
    path = ball or along((0.0, *start, 0.11), (1.0, *start, 0.11), (2.0, *end, 0.11), (4.0, *end, 0.11))
    for interval in intervals(4.0, persons, path):
        truth.take(interval, story.rows, PLAYING, sign, lines)
    lines.add_rows(story.rows, 10.0)
    emitted = [r for r in lines.table(LEVELS).to_pylist() if r["kind"] not in ("pass.attempt", kind)]
    attempt = next(r for r in lines.table(LEVELS).to_pylist() if r["kind"] == "pass.attempt")
    assert all(r["ts_us"] == 1_000_000 for r in emitted), "qualifiers are dated at the kick"
    assert all(r["causes"] == [attempt["id"]] for r in emitted)
    return {r["kind"]: (r["variant"], msgspec.json.decode(r["detail"])) for r in emitted}


FAR = {16: at(52.0, 0.0), 17: at(45.0, 5.0), 18: at(45.0, -5.0)}


@pytest.mark.parametrize(
    ("end", "direction"),
    [((10, 3), "forward"), ((-10, 3), "backward"), ((2, 12), "left"), ((2, -12), "right")],
)  # fmt: skip
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_direction_is_that_of_the_attack(end, direction: str, sign: float) -> None:
    got = qualifiers((0.0, 0.0), (end[0] * sign, end[1] * sign), FAR, sign=(sign, -sign))
    assert got["pass.dir"][0] == direction


@pytest.mark.parametrize(("metres", "name"), [(14.9, "short"), (15.1, "medium"), (29.9, "medium"), (30.1, "long")])
def test_length_by_kick_and_end(metres: float, name: str) -> None:
    assert qualifiers((0.0, 0.0), (metres, 0.0), FAR)["pass.len"] == (name, {"length_m": pytest.approx(metres)})


@pytest.mark.parametrize(("z", "name"), [(0.11, "ground"), (0.5, "low"), (2.0, "high")])
def test_height_is_the_highest_of_the_flight_alone(z: float, name: str) -> None:
    def ball(t_s: np.ndarray) -> np.ndarray:
        flying = (t_s > 1.3) & (t_s < 1.7)
        return np.stack([0 * t_s, 0 * t_s, np.where(flying, z, np.where(t_s > 2.5, 9.0, 0.11))], axis=1)

    assert qualifiers((0.0, 0.0), (9.0, 0.0), FAR, ball=ball)["pass.height"][0] == name


@pytest.mark.parametrize("kind", ["cross", "cutback"])
@pytest.mark.parametrize(("start", "side"), [((40, 28), "left"), ((40, -28), "right")])
@pytest.mark.parametrize("ended", ["pass.complete", "pass.out"])
def test_a_cross_is_what_the_player_meant_wherever_it_ends(kind: str, start, side: str, ended: str) -> None:
    assert qualifiers(start, (45, 2), FAR, kind=ended, what=kind)[kind][0] == side
    assert qualifiers(start, (30, 2), FAR, kind=ended, what=kind)[kind][0] == side, "it was blocked"
    assert not {"cross", "cutback"} & set(qualifiers(start, (45, 2), FAR, kind=ended, what="pass"))


def test_a_switch_and_progress_need_to_arrive() -> None:
    assert {"pass.switch", "packing"} <= set(qualifiers((0, -20), (5, 20), FAR))
    lost = qualifiers((0, -20), (5, 20), FAR, kind="pass.intercepted")
    assert set(lost) == {"pass.dir", "pass.len", "pass.height", "offside.line"}


@pytest.mark.parametrize(
    ("start", "end", "progress"),
    [((-50, 0), (-21, 0), False), ((-50, 0), (-19, 0), True), ((-5, 0), (9, 0), False), ((-5, 0), (11, 0), True),
     ((10, 0), (19, 0), False), ((10, 0), (21, 0), True)],
)  # fmt: skip
def test_progress_asks_for_less_the_nearer_the_goal_is(start, end, progress: bool) -> None:
    assert ("progress.pass" in qualifiers(start, end, FAR)) == progress


@pytest.mark.parametrize(
    ("opponents", "band"), [(0, "0"), (1, "1-2"), (2, "1-2"), (3, "3-4"), (4, "3-4"), (5, "5+"), (7, "5+")]
)
def test_packing_counts_who_is_left_behind(opponents: int, band: str) -> None:
    others = {16: at(52.0, 0.0), **{17 + n: at(10.0 + n * 0.1, n * 2.0) for n in range(opponents)}, 30: at(40.0, 0.0)}
    assert qualifiers((0.0, 0.0), (20.0, 0.0), others)["packing"] == (band, {"opponents": opponents})


def test_who_runs_back_is_not_packed_and_who_was_behind_counts_less() -> None:
    back = along((0.0, 10.0, 0.0), (1.2, 10.0, 0.0), (1.9, 40.0, 0.0), (4.0, 40.0, 0.0))
    recovers = along((0.0, -5.0, 0.0), (1.0, -5.0, 0.0), (2.0, 30.0, 0.0), (4.0, 30.0, 0.0))
    others = {16: at(52.0, 0.0), 17: at(10.0, 5.0), 18: back, 19: recovers}
    assert qualifiers((0.0, 0.0), (20.0, 0.0), others)["packing"] == ("0", {"opponents": 0})


def test_a_through_ball_is_meant_and_received_behind_all_but_the_goalkeeper() -> None:
    line = {16: at(51.0, 0.0), 17: at(30.0, 4.0), 18: at(30.5, -4.0), 19: at(15.0, 0.0)}
    assert "pass.through" in qualifiers((20.0, 0.0), (36.0, 1.0), line, what="through")
    assert "pass.through" not in qualifiers((20.0, 0.0), (36.0, 1.0), line, what="pass"), "not meant"
    assert "pass.through" not in qualifiers((20.0, 0.0), (29.0, 1.0), line, what="through"), "not behind it"
    behind = {**line, 16: at(20.0, 0.0), 20: at(51.0, 0.0)}
    assert "pass.through" not in qualifiers((20.0, 0.0), (36.0, 1.0), behind, what="through"), "a player keeps goal"


@pytest.mark.parametrize(
    ("ball_x", "defenders", "line"),
    [(0.0, (40.0, 30.0, 20.0), 30.0), (35.0, (40.0, 30.0, 20.0), 35.0), (-30.0, (40.0, -10.0, -20.0), 0.0)],
)
def test_the_offside_line_is_the_second_last_opponent_the_ball_or_halfway(
    ball_x: float, defenders, line: float
) -> None:
    story, lines, truth = Story(), Lines(), PassTruth(Pitch())
    story.note("pass.attempt", 1.0, 5, (ball_x, 0.0))
    others = {16 + n: at(x, 0.0) for n, x in enumerate(defenders)}
    playing = np.zeros(PERSONS, bool)
    playing[list(others)] = True
    for interval in intervals(2.0, others, at(ball_x, 0.0, 0.11)):
        truth.take(interval, story.rows, playing, (1.0, -1.0), lines)
    (emitted,) = lines.table(LEVELS).to_pylist()
    assert (emitted["kind"], emitted["team"], emitted["x_m"]) == ("offside.line", "home", line)


@pytest.mark.parametrize(("xg", "name"), [(0.01, "<.05"), (0.05, "-.15"), (0.2, "-.35"), (0.76, ">.35")])
def test_the_value_of_a_shot_by_its_class(xg: float, name: str) -> None:
    story, lines, truth = Story(), Lines(), PassTruth(Pitch())
    story.note("shot.attempt", 1.0, 5, (40.0, 0.0), xg=xg)
    for interval in intervals(2.0, FAR, at(40.0, 0.0, 0.11)):
        truth.take(interval, story.rows, PLAYING, (1.0, -1.0), lines)
    assert [(r["kind"], r["variant"]) for r in lines.table(LEVELS).to_pylist()] == [("shot.xg", name)]


# -- from the order of rows ----------------------------------------------------------------------------------------


def chained(story: Story, until_s: float = 1e6) -> list[tuple[str, str, float, dict]]:
    lines = Lines()
    add_chains(story.rows, until_s, 105.0, DIRECTIONS, lines)
    return [
        (r["kind"], r["variant"], r["ts_us"] / 1e6, msgspec.json.decode(r["detail"]))
        for r in lines.table(LEVELS).to_pylist()
    ]


def kinds(emitted, *wanted: str):
    return [t for t in emitted if t[0] in wanted]


def test_contacts_of_opponents_within_a_tenth_of_a_second_are_a_contest_and_the_next_one_begins_anew() -> None:
    story = Story()
    for t_s, person in ((1.0, 5), (1.09, 20), (1.15, 5), (2.0, 5), (2.05, 6), (3.0, 20), (3.11, 5)):
        story.note("hit", t_s, person)
    assert kinds(chained(story), "contest.contact") == [("contest.contact", "", 1.0, {"other": object_id(20)})]


def test_a_one_two_comes_back_within_five_seconds() -> None:
    story = Story()
    story.passed(1.0, 3, (0, 0), (10, 0), 7)
    story.passed(2.5, 7, (10, 0), (20, 0), 3)
    got = kinds(chained(story), "onetwo", "sequence.step", "sequence.end")
    assert [(k, round(t, 2)) for k, _, t, _ in got] == [("onetwo", 3.5), ("sequence.end", 3.5), ("sequence.step", 3.5)]
    slow = Story()
    slow.passed(1.0, 3, (0, 0), (10, 0), 7)
    slow.passed(6.5, 7, (10, 0), (20, 0), 3)
    assert not kinds(chained(slow), "onetwo")
    assert kinds(chained(slow), "sequence.step")


def test_a_sequence_ends_with_another_receiver_a_pause_or_a_lost_pass() -> None:
    story = Story()
    for n in range(4):
        story.passed(1.0 + 2 * n, 3 + n, (n, 0), (n + 1, 0), 4 + n)
    made = story.note("pass.attempt", 9.5, 7, (4, 0))
    story.note("pass.intercepted", 10.0, 7, (4, 4), "", (made,), receiver="away_5")
    got = kinds(chained(story), "sequence.step", "sequence.end")
    assert [t[0] for t in got] == ["sequence.step"] * 3 + ["sequence.end"]
    assert got[-1][2:] == (10.0, {"passes": 4})
    other = Story()
    other.passed(1.0, 3, (0, 0), (1, 0), 4)
    other.passed(3.0, 9, (0, 0), (1, 0), 5)  # not he who got it
    assert not kinds(chained(other), "sequence.step")


def test_a_goalkeeper_who_holds_on_is_warned_and_then_offends() -> None:
    story = Story()
    story.note("gk.catch", 1.0, 0)
    story.note("hit", 10.0, 0)
    story.note("gk.catch", 20.0, 0)
    story.note("hit", 26.0, 0)
    story.note("gk.catch", 30.0, 16)
    story.note("play.dead", 32.0, -1)
    got = kinds(chained(story), "gk.hold_warn", "gk.hold_offence")
    assert [(k, t) for k, _, t, _ in got] == [("gk.hold_warn", 4.0), ("gk.hold_offence", 9.0), ("gk.hold_warn", 23.0)]


def test_time_is_live_or_lost_and_adds_up() -> None:
    story = Story()
    for t_s, kind, variant in [(2, "play.live", "kick_off"), (12, "play.dead", "touch"), (20, "play.live", "throw_in"),
                               (50, "play.dead", "goal"), (90, "play.live", "kick_off")]:  # fmt: skip
        story.note(kind, t_s, -1, variant=variant)
    got = kinds(chained(story), "time.live", "time.lost")
    assert [(k, v, d["seconds"]) for k, v, _, d in got] == [
        ("time.live", "", 10.0), ("time.lost", "throw-in", 8.0), ("time.live", "", 30.0), ("time.lost", "goal", 40.0),
    ]  # fmt: skip


def attack(gain_x: float, shot_s: float, passes: int, *, side: float = 1.0, kind: str = "possession.gain") -> list:
    """A gain at x, so many passes straight up, a shot near the goal."""
    story = Story()
    story.note("period.start", 0.0, -1, variant="1")
    story.note("possession.gain", 0.5, 20, (gain_x * side, 0), "hit")
    story.note(kind, 1.0, 3, (gain_x * side, 0), "hit" if kind == "possession.gain" else "")
    for n in range(passes):
        story.passed(1.0 + n * 0.5, 3, (gain_x * side, 0), (gain_x * side, 0), 4, 0.2)
    story.note("hit", shot_s - 0.5, 4, (30.0 * side, 0))
    story.note("hit", shot_s, 4, (40.0 * side, 0))
    story.note("shot.attempt", shot_s, 4, (40.0 * side, 0))
    return chained(story)


def test_attacks_are_built_up_direct_or_counters() -> None:
    assert [t[0] for t in kinds(attack(-20.0, 9.0, 2), "attack.direct", "attack.buildup", "counter.start")] == [
        "counter.start", "attack.direct",
    ]  # fmt: skip
    assert [t[0] for t in kinds(attack(-20.0, 40.0, 12), "attack.direct", "attack.buildup", "counter.end")] == [
        "attack.buildup"
    ]
    assert not kinds(attack(30.0, 3.0, 1), "attack.direct", "counter.start"), "began in the last third"
    restart = kinds(attack(-20.0, 9.0, 2, kind="restart.free_kick"), "counter.start", "attack.direct")
    assert [t[0] for t in restart] == ["attack.direct"], "nobody counters from a free kick"


def test_chains_begin_and_end_and_the_way_back_to_the_ball_is_timed() -> None:
    story = Story()
    story.note("possession.gain", 1.0, 3, variant="hit")
    story.note("possession.gain", 4.0, 20, variant="hit")
    story.note("possession.gain", 8.0, 5, variant="touch")
    story.note("foul", 9.0, 20, advantage=True)
    story.note("out", 12.0, 5)
    got = kinds(chained(story), "chain.start", "chain.end", "recovery.time")
    assert [(k, v, t) for k, v, t, _ in got] == [
        ("chain.start", "", 1.0), ("chain.end", "loss", 4.0), ("chain.start", "", 4.0), ("chain.end", "loss", 8.0),
        ("chain.start", "", 8.0), ("recovery.time", "<5", 8.0), ("chain.end", "out", 12.0),
    ]  # fmt: skip
    assert next(d for k, _, _, d in got if k == "recovery.time") == {"seconds": 4.0}


@pytest.mark.parametrize(("period", "end_x", "progress"), [("1", 30.0, True), ("1", 15.0, False), ("2", -30.0, True)])
def test_a_carry_is_progress_as_a_pass_is(period: str, end_x: float, progress: bool) -> None:
    story = Story()
    story.note("period.start", 0.0, -1, variant=period)
    story.note("carry.start", 1.0, 3, (math.copysign(10.0, end_x), 0.0))
    story.note("carry.end", 4.0, 3, (end_x, 0.0))
    assert bool(kinds(chained(story), "progress.carry")) == progress


def test_a_free_kick_at_the_goal_is_one_chain_and_dead_time_is_no_recovery() -> None:
    story = Story()
    story.note("possession.gain", 1.0, 20, variant="hit")
    story.note("play.dead", 2.0, -1, variant="whistle")
    story.note("possession.gain", 30.0, 5, variant="restart")
    story.note("shot.attempt", 30.0, 5)
    story.note("restart.free_kick", 30.0, 5)
    story.note("possession.gain", 31.0, 20, variant="hit")
    got = kinds(chained(story), "chain.start", "chain.end", "recovery.time")
    assert [(k, t) for k, _, t, _ in got] == [
        ("chain.start", 1.0), ("chain.end", 2.0), ("chain.end", 30.0), ("chain.start", 30.0), ("chain.start", 31.0),
    ]  # fmt: skip


def test_a_shot_that_becomes_a_goal_ends_its_chain_as_one_and_a_goal_against_does_not() -> None:
    story = Story()
    story.note("possession.gain", 1.0, 3, variant="hit")
    story.note("shot.attempt", 2.0, 3, (40.0, 0.0), outcome="goal")
    story.note("possession.gain", 30.0, 3, variant="hit")
    story.note("goal.own", 31.0, 20)
    assert [(v, t) for _, v, t, _ in kinds(chained(story), "chain.end")] == [("goal", 2.0), ("out", 31.0)]


def states(story: Story) -> list[tuple[str, str, str, float]]:
    lines = Lines()
    add_states(story.rows, 100.0, lines)
    return [(r["kind"], r["variant"], r["team"], r["ts_us"] / 1e6) for r in lines.table(LEVELS).to_pylist()]


def test_goals_that_stand_and_players_sent_off_make_the_state_of_the_game() -> None:
    story = Story()
    story.note("goal.scored", 10.0, 3)
    off = story.note("goal.scored", 20.0, 3)
    story.note("goal.disallowed", 21.0, 32, causes=(off,))
    story.note("goal.own", 30.0, 20)
    story.note("sendoff", 40.0, 4)
    assert sorted(states(story)) == [
        ("state.men", "down", "home", 40.0), ("state.men", "up", "away", 40.0),
        ("state.score", "lead1", "home", 10.0), ("state.score", "level", "away", 30.0),
    ]  # fmt: skip


def test_an_entry_lies_between_two_contacts_of_the_team_that_attacks() -> None:
    """The ball rolls at 10 m/s from halfway towards +x: into the third at 1.75 s, the area at 3.6 s."""

    def rolled(*contacts: tuple[float, int]) -> list[tuple[str, str, float]]:
        story, lines, truth = Story(), Lines(), EntryTruth(Pitch())
        story.note("play.live", 0.1, 3)
        for t_s, person in contacts:
            story.note("hit", t_s, person)
        ball = lambda t_s: np.stack([10.0 * t_s, np.full_like(t_s, 12.0), np.full_like(t_s, 0.11)], axis=-1)  # noqa: E731
        for interval in intervals(5.0, FAR, ball):
            truth.take(interval)
        truth.finish(story.rows, 10.0, DIRECTIONS, lines)
        found = lines.table(LEVELS).to_pylist()
        return [(r["variant"], msgspec.json.decode(r["detail"])["how"], r["ts_us"] / 1e6) for r in found]

    assert rolled((0.2, 3), (4.0, 4)) == [
        ("third, left half-space", "pass", pytest.approx(1.76, abs=0.03)),
        ("box, left half-space", "pass", pytest.approx(3.6, abs=0.03)),
    ]
    assert rolled((0.2, 3), (2.0, 3))[0][1] == "carry"
    assert rolled((0.2, 3), (2.0, 20), (4.0, 3)) == []
    assert rolled((0.2, 20), (4.0, 20)) == [], "not the zone that they attack"
    assert rolled((4.0, 3)) == []


def test_every_contact_has_its_body_part() -> None:
    story = Story()
    for n, limb in enumerate(("left_foot", "head", "chest", "right_hand", "body")):
        story.note("hit", 1.0 + n, 3, variant=limb)
    assert [v for _, v, _, _ in kinds(chained(story), "bodypart")] == [
        "left foot",
        "head",
        "chest",
        "right hand",
        "other",
    ]


def test_nothing_is_told_of_what_comes_after_the_end() -> None:
    story = Story()
    story.note("hit", 1.0, 3, variant="head")
    story.note("hit", 9.0, 3, variant="head")
    assert len(chained(story, 5.0)) == 1
    lines = Lines()
    lines.add_rows(story.rows, 5.0)
    assert len(lines) == 1


def test_stops_and_goals_have_the_variants_of_the_detectors() -> None:
    story, lines = Story(), Lines()
    story.note("play.live", 1.0, 5, variant="kick_off")
    story.note("play.dead", 2.0, -1, variant="whistle")
    story.note("play.live", 3.0, 5, variant="free_kick")
    story.note("goal.scored", 4.0, 5, (-52.6, 0.0))
    over = story.note("out", 4.5, 5, variant="left touch")
    story.note("pass.out", 4.5, 5, variant="wide left", causes=(over,))
    lines.add_rows(story.rows, 5.0)
    emitted = [(r["variant"], msgspec.json.decode(r["detail"])) for r in lines.table(LEVELS).to_pylist()]
    assert emitted == [("start", {"restart": "kick_off"}), ("stop", {}), ("stop", {"restart": "free_kick"}),
                       ("left", {}), ("left touch", {}), ("left touch", {})]  # fmt: skip


def test_times_of_play_leave_in_microseconds_and_woodwork_under_its_name() -> None:
    story, lines = Story(), Lines()
    story.note("woodwork", 1.0, 3, (52.5, 3.7, 1.0), "near post")
    story.note("offside.offence", 2.0, 3, pass_s=1.25, held_s=2.0)
    lines.add_rows(story.rows, 5.0)
    one, two = lines.table(LEVELS).to_pylist()
    assert (one["kind"], one["level"]) == ("ball.woodwork", 2)
    assert msgspec.json.decode(two["detail"]) == {"pass_us": 1_250_000, "held_s": 2.0}
    assert not math.isnan(two["x_m"])


def pressed(persons: dict[int, Trajectory], *notes: tuple[str, float, int]) -> list[tuple[str, str, float]]:
    """Return kind, player or team, and second of the truth of pressing; the ball lies at the centre."""
    story, lines, truth = Story(), Lines(), PressingTruth()
    story.note("play.live", 0.1, 3)
    for kind, t_s, person in notes:
        story.note(kind, t_s, person, variant="hit")
    for interval in intervals(6.0, persons, at(0.0, 0.0, 0.11)):
        truth.take(interval, PLAYING)
    truth.finish(story.rows, 10.0, DIRECTIONS, lines)
    return [(r["kind"], r["player"] or r["team"], r["ts_us"] / 1e6) for r in lines.table(LEVELS).to_pylist()]


def test_a_loser_who_closes_in_counter_presses_and_one_ahead_of_the_ball_runs_back() -> None:
    turnover = ("possession.gain", 1.0, 5), ("possession.gain", 2.0, 20)
    close, back = along((2.0, 6.0, 0.0), (3.5, 0.0, 0.0)), along((2.5, 40.0, 0.0), (6.0, 19.0, 0.0))
    assert pressed({5: close, 8: back}, *turnover, ("possession.gain", 4.0, 5)) == [
        ("run.recovery", "home_9", 2.6), ("counterpress.start", "home_6", 2.8), ("counterpress.won", "home_6", 4.0),
    ]  # fmt: skip
    walks = along((2.0, 3.5, 0.0), (6.0, 0.0, 0.0))
    assert pressed({5: walks, 0: back}, *turnover, ("possession.gain", 4.0, 5)) == []


def test_three_who_close_in_press_until_the_ball_changes_teams() -> None:
    three = {n: along((1.0, 15.0, n - 6.0), (5.0, 1.0, 0.0)) for n in (5, 6, 7)}
    assert pressed(three, ("possession.gain", 0.5, 20), ("possession.gain", 3.0, 5)) == [
        ("press.team.start", "home", pytest.approx(1.0, abs=0.21)), ("press.team.end", "home", 3.0),
    ]  # fmt: skip
    assert pressed({n: three[n] for n in (5, 6)}, ("possession.gain", 0.5, 20)) == []


def test_the_second_ball_is_the_next_gain_of_another_player() -> None:
    header, own = ("aerial.won", 2.0, 5), ("possession.gain", 2.0, 5)
    assert pressed({}, header, own, ("possession.gain", 3.0, 20)) == [("secondball", "away_5", 3.0)]
    assert pressed({}, header, own, ("possession.gain", 5.1, 20)) == []

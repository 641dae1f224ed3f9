"""The truth of played matches: borne out by the noiseless track, consistent in itself, the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import strategies as st

from football.tables import EVENTS
from football.truth_kinds import KINDS, as_markdown
from football.update_stream import EventRecord
from simulator.physics.limbs import limb_paths
from simulator.play.match import Match
from simulator.play.match_sheet import sheet_of
from simulator.play.squads import MatchSettings
from simulator.records import FOUR_LIMBS, PERSONS, STEP_S, TICK_S, Col, Contact, PlayedInterval, object_id
from simulator.truth.match_truth import FRAMES, Truth, records_of, write_truth
from tests.examples import in_two_lengths

DOCS = Path(__file__).resolve().parents[3] / "docs" / "simulator.md"
ROWS = {object_id(person): person for person in range(PERSONS)}
SEEDS = (9, 11)
#: With a goal after some 27 seconds.
GOAL_SEEDS = (96, 122)
SECONDS = 240.0


@dataclass
class Played:
    """A match with its stretches and its truth."""

    match: Match
    intervals: list[PlayedInterval]
    truth: pa.Table
    frames: pa.Table
    records: tuple[EventRecord, ...]

    def of(self, *kinds: str) -> list[EventRecord]:
        return [r for r in self.records if r.kind in kinds]

    def at(self, ts_us: int) -> PlayedInterval:
        return next(s for s in self.intervals if s.begin_s <= ts_us / 1e6 < s.end_s)

    def ball(self, ts_us: int) -> np.ndarray:
        """Centre of the ball in play."""
        part = self.at(ts_us)
        step = min(round((ts_us / 1e6 - part.begin_s) / STEP_S), len(part.active) - 1)
        return part.balls[part.active[step], step]

    def limb(self, ts_us: int, player: str, limb: str) -> np.ndarray:
        return limb_paths(self.at(ts_us), ROWS[player], limb, np.array([ts_us / 1e6]))[0]

    def body(self, ts_us: int, player: str) -> np.ndarray:
        part = self.at(ts_us)
        tick = round((ts_us / 1e6 - part.ticks_s[0]) / TICK_S)
        return part.persons[tick, ROWS[player], [Col.X, Col.Y]]


def play(seed: int, seconds: float, every_s: float = 4.0, **wanted: object) -> Played:
    settings = MatchSettings(seed=seed, **wanted)  # type: ignore[arg-type]
    match = Match(settings)
    truth = Truth(sheet_of(settings, match.squads), match)
    parts = []
    for part in match.intervals(seconds, every_s):
        truth.take(part)
        parts.append(part)
    table, frames = truth.finish()
    return Played(match, parts, table, frames, records_of(table))


@lru_cache(maxsize=4)
def played(seed: int) -> Played:
    return play(seed, SECONDS)


@pytest.fixture(params=[SEEDS[0], pytest.param(SEEDS[1], marks=pytest.mark.slow)])
def match(request: pytest.FixtureRequest) -> Played:
    return played(request.param)


def test_every_kind_has_a_definition_and_the_page_shows_it(match: Played) -> None:
    assert {r.kind for r in match.records} <= set(KINDS)
    assert all(r.level == KINDS[r.kind].level for r in match.records)
    assert as_markdown() in DOCS.read_text(encoding="utf-8")


def test_the_list_has_the_columns_of_the_products_own_and_is_in_order(match: Played) -> None:
    assert match.truth.schema == EVENTS
    assert match.frames.schema == FRAMES
    times = [r.ts_us for r in match.records]
    assert times == sorted(times)
    assert [r.id for r in match.records] == [f"truth#{n}" for n in range(len(times))]
    known = {r.id for r in match.records}
    assert all(cause in known for r in match.records for cause in r.causes)
    assert times[0] >= 0
    assert times[-1] < SECONDS * 1e6
    assert len(match.records) > 4 * SECONDS


def test_the_ball_is_always_somewhere_and_in_one_place(match: Played) -> None:
    before = None
    for part in match.intervals:
        path = part.balls[part.active, np.arange(len(part.active))]
        assert np.isfinite(path).all()
        same = np.diff(part.active) == 0
        steps = np.linalg.norm(np.diff(path, axis=0), axis=1)[same]
        assert steps.max() < 45.0 * STEP_S
        if before is not None and before[1] == part.active[0]:
            assert np.linalg.norm(path[0] - before[0]) < 45.0 * STEP_S
        before = path[-1], part.active[-1]
        # A ball that comes down hard gives way by two or three centimetres, one trapped against the ground by five.
        assert path[:, 2].min() > 0.05


def test_every_contact_of_the_list_has_a_limb_at_the_ball(match: Played) -> None:
    contacts: dict[tuple[int, str], Contact] = {
        (round(c.t_s * 1e6), object_id(c.person)): c for part in match.intervals for c in part.contacts
    }
    emitted = match.of("hit", "touch")
    assert len(emitted) > 60
    for record in emitted:
        contact = contacts[record.ts_us, record.player]
        assert contact.limb == record.variant
        assert np.linalg.norm(match.ball(record.ts_us) - contact.position) < 0.03
        if contact.limb in FOUR_LIMBS:
            gap = np.linalg.norm(match.limb(record.ts_us, record.player, contact.limb) - match.ball(record.ts_us))
            assert gap < 0.2, record
        assert np.hypot(*(match.body(record.ts_us, record.player) - match.ball(record.ts_us)[:2])) < 3.2, record


def test_every_pass_begins_with_a_contact_and_a_complete_one_ends_with_the_receivers(match: Played) -> None:
    touched = {(r.ts_us, r.player) for r in match.of("hit", "touch")}
    passes = match.of("pass.attempt")
    assert len(passes) > 25
    assert all((r.ts_us, r.player) in touched for r in passes)
    for record in match.of("pass.complete", "pass.intercepted"):
        receiver = str(record.detail["receiver"])
        assert (record.ts_us, receiver) in touched, record
        assert receiver.startswith(record.team) == (record.kind == "pass.complete")
        attempt = next(r for r in passes if r.id in record.causes)
        assert attempt.player == record.player
        assert attempt.ts_us < record.ts_us
        between = [r for r in match.of("hit", "touch") if attempt.ts_us < r.ts_us < record.ts_us]
        deflected = {(r.ts_us, r.player) for r in match.of("deflection")}
        assert all(r.player == attempt.player or (r.ts_us, r.player) in deflected for r in between), record


def test_every_out_has_the_whole_ball_over_its_line(match: Played) -> None:
    crossed = {(r.variant.removesuffix(" out"), r.ts_us) for r in match.of("ball.crossed") if r.variant.endswith("out")}
    for record in match.of("out", "goal.candidate"):
        beyond_x, beyond_y = abs(record.x_m or 0.0) - 52.5, abs(record.y_m or 0.0) - 34.0
        assert max(beyond_x, beyond_y) == pytest.approx(0.11, abs=0.005)
        ends = {"left touch", "right touch", "left goal", "right goal"}
        same = [n for n, t in crossed if abs(t - record.ts_us) <= 1000 and any(n.startswith(e) for e in ends)]
        assert same, record
        end = record.variant.split()[0]
        assert any(n.startswith(end) for n in same)


def test_goals_are_balls_in_goal_and_make_the_score() -> None:
    with_goals = (match for seed in GOAL_SEEDS if (match := play(seed, 32.0)).of("goal.scored"))
    match = next(with_goals, None)
    assert match is not None, f"none of the seeds {GOAL_SEEDS} has a goal any more: choose another"
    inside = [r.ts_us for r in match.of("ball.in_goal")]
    score = Counter()
    for goal in match.of("goal.scored", "goal.own"):
        assert any(abs(t - goal.ts_us) <= 1000 for t in inside)
        score[goal.team] += 1
        assert (score["home"], score["away"]) == (goal.detail["home"], goal.detail["away"])
    last = match.frames.slice(match.frames.num_rows - 1).to_pylist()[0]
    void = Counter(r.team for r in match.of("goal.disallowed"))
    assert (last["home"], last["away"]) == tuple(score[t] - void[t] for t in ("home", "away"))


def test_offsides_are_offside_by_the_true_places(match: Played) -> None:
    lines = {r.ts_us: r for r in match.of("offside.line")}
    for record in match.of("offside.offence"):
        line = lines[int(record.detail["pass_us"])]  # type: ignore[arg-type]
        path = 1.0 if _attacks_x(match, record.ts_us) == record.team else -1.0
        at = match.body(line.ts_us, record.player)[0] * path
        # A foot or the head may be this far ahead of the body's middle (Law 11).
        assert at > (line.x_m or 0.0) * path - 0.9, record
        assert line.team == record.team


def test_at_every_pass_and_shot_all_mates_beyond_the_line_are_in_an_offside_position(match: Played) -> None:
    positions = {(r.ts_us, r.player): r for r in match.of("offside.position")}
    ids = {r.id for r in match.of("pass.attempt", "shot.attempt")}
    assert len(positions) > len(match.of("offside.offence"))
    assert all(ids & {*r.causes} and (r.detail["beyond_m"] or 0) > 0 for r in positions.values())
    clear = 0
    for line in match.of("offside.line"):
        path = 1.0 if _attacks_x(match, line.ts_us) == line.team else -1.0
        kicker = next(r.player for r in match.of("pass.attempt") if r.ts_us == line.ts_us)
        for player in sorted(object_id(row) for row in match.match.on_pitch):
            if player.startswith(line.team) and player != kicker:
                beyond_m = (match.body(line.ts_us, player)[0] - (line.x_m or 0.0)) * path
                clear += beyond_m > 0.9
                # By less, the extent of the bodies decides (Law 11).
                assert abs(beyond_m) < 0.9 or (beyond_m > 0.0) == ((line.ts_us, player) in positions), (line, player)
    assert clear


def test_an_offence_is_by_a_player_in_an_offside_position(match: Played) -> None:
    positions = {r.id: r for r in match.of("offside.position")}
    for record in match.of("offside.offence"):
        (cause,) = [positions[c] for c in record.causes if c in positions]
        assert (cause.player, cause.ts_us) == (record.player, record.detail["pass_us"])


def _attacks_x(match: Played, ts_us: int) -> str:
    return str(match.frames["attacks_positive_x"][min(ts_us // 40_000, match.frames.num_rows - 1)].as_py())


def test_near_and_not_near_hold_by_the_true_limbs(match: Played) -> None:
    emitted = match.of("near", "not_near")
    assert len(emitted) > 100
    # Who is near at the beginning was so before.
    for record in [r for r in emitted if r.ts_us][::7]:
        gap = float(np.linalg.norm(match.limb(record.ts_us, record.player, record.variant) - match.ball(record.ts_us)))
        assert gap == pytest.approx(1.0 if record.kind == "near" else 1.2, abs=0.06), record
    state: dict[tuple[str, str], str] = {}
    for record in emitted:
        key = record.player, record.variant
        assert state.get(key, "not_near") != record.kind, record
        state[key] = record.kind


def test_what_enters_leaves_and_what_begins_ends(match: Played) -> None:
    pairs = {"pz.enter": "pz.leave", "area.enter": "area.leave", "sprint.start": "sprint.end",
             "jump.take_off": "jump.land", "play.live": "play.dead", "possession.gain": "possession.loss"}  # fmt: skip
    for begin, end in pairs.items():
        open_now: Counter[tuple[str, str]] = Counter()
        for record in match.of(begin, end):
            key = (record.player, record.variant if begin.startswith("area") else "")
            if begin.startswith("play."):
                key = ("", "")
            open_now[key] += 1 if record.kind == begin else -1
            # Who was inside at the start was never told to enter.
            assert -1 <= open_now[key] <= 1, record


def test_frames_say_when_the_ball_is_in_play_and_whose_it_is(match: Played) -> None:
    rows = match.frames.to_pylist()
    assert [r["ts_us"] for r in rows] == list(range(0, int(SECONDS * 1e6), 40_000))
    live = [r for r in rows if r["in_play"]]
    assert 0.2 * len(rows) < len(live) < len(rows)
    thrown = [r.ts_us for r in match.of("restart.throw_in")]
    for row in live[::10]:
        x, y, _ = match.ball(row["ts_us"])
        assert abs(x) <= 52.63
        # A throw leaves the hands behind the line.
        assert abs(y) <= (34.8 if any(0 <= row["ts_us"] - t <= 1_000_000 for t in thrown) else 34.13)
    assert {r["control"] for r in rows} <= {"home", "away", "in contest", "dead"}
    assert all((r["team"] == r["control"]) == (r["control"] in ("home", "away")) for r in rows)
    assert all(r["player"] == "" for r in rows if not r["in_play"])
    spans = [(r.ts_us, r.kind) for r in match.of("play.live", "play.dead")]
    for (since, kind), (until, _) in zip(spans, [*spans[1:], (int(SECONDS * 1e6), "")], strict=True):
        inside = [r["in_play"] for r in rows if since < r["ts_us"] < until]
        assert set(inside) <= {kind == "play.live"}


#: What may follow a stop: after a goal that is not given play goes on with a free kick.
FOLLOWS = {
    "start": {"kick_off"},
    "touch": {"throw_in"},
    "goal line": {"corner", "goal_kick"},
    "goal": {"kick_off", "free_kick"},
    "stop": {"free_kick", "penalty", "dropped", "kick_off"},
}


def test_a_stop_is_followed_by_the_restart_that_the_laws_ask_for(match: Played) -> None:
    check_restarts(match.records)


def check_restarts(records: Sequence[EventRecord]) -> None:
    stops = [r for r in records if r.kind in ("play.dead", "play.live")]
    assert all(a.kind != b.kind for a, b in pairwise(stops))
    restarts = {r.ts_us: r for r in records if r.kind.startswith("restart.")}
    whistles = [r.ts_us for r in records if r.kind == "period.end"]
    since_us = 0
    for record in stops:
        if record.kind == "play.live":
            restart = restarts[record.ts_us]
            assert restart.kind == f"restart.{record.detail['restart']}"
            # A ball that is out when a half ends is not thrown in any more.
            halves = {"kick_off"} if any(since_us <= us <= record.ts_us for us in whistles) else None
            assert record.detail["restart"] in (halves or FOLLOWS[record.variant]), record
        since_us = record.ts_us
    assert all(r.detail["seconds"] > 0 for r in records if r.kind == "time.lost")  # type: ignore[operator]
    outs = {r.ts_us: r for r in records if r.kind == "out"}
    for dead, live in pairwise(stops):
        if dead.ts_us in outs and live.detail["restart"] in ("throw_in", "corner", "goal_kick"):
            assert restarts[live.ts_us].team != outs[dead.ts_us].team, "the other team brings it back"


def test_people_run_and_balls_fly_as_their_velocities_say(match: Played) -> None:
    for part in match.intervals:
        check_motion(part)


def check_motion(part: PlayedInterval) -> None:
    path = part.balls[part.active, np.arange(len(part.active))]
    same = np.diff(part.active) == 0
    moved_m_s = np.diff(path, axis=0) / STEP_S
    assert np.linalg.norm(moved_m_s - part.ball_velocity[:-1], axis=1)[same].max() < 6.0
    assert np.linalg.norm(part.ball_velocity, axis=1).max() < 45.0
    ran = np.hypot(*np.diff(part.persons[:, :, [Col.X, Col.Y]], axis=0).transpose(2, 0, 1)) / TICK_S
    assert np.nanmax(ran) < 10.5
    own = np.hypot(part.persons[:, :, Col.VX], part.persons[:, :, Col.VY])
    assert np.nanmax(own) < 10.5
    assert np.nanmax(np.abs(part.persons[:, :, Col.X])) < 60.0
    assert np.nanmax(np.abs(part.persons[:, :, Col.Y])) < 42.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_match_is_sound(seed: int) -> None:
    """Every stretch is looked at as it comes: a whole match does not stay in memory."""
    settings = MatchSettings(seed=seed)
    match = Match(settings)
    truth = Truth(sheet_of(settings, match.squads), match)
    for part in match.intervals(7200.0):
        truth.take(part)
        check_motion(part)
    table, frames = truth.finish()
    records = records_of(table)
    check_restarts(records)
    assert match.is_over
    assert {r.kind for r in records} <= set(KINDS)
    touched = {(r.ts_us, r.player) for r in records if r.kind in ("hit", "touch")}
    for record in records:
        if record.kind in ("pass.attempt", "shot.attempt"):
            assert (record.ts_us, record.player) in touched, record
        elif record.kind in ("pass.complete", "pass.intercepted"):
            assert (record.ts_us, record.detail["receiver"]) in touched, record
    halves = [r.variant for r in records if r.kind in ("period.start", "period.end")]
    assert halves == ["1", "1", "2", "2"]
    sides = set(frames.filter(pc.equal(frames["period"], 1))["attacks_positive_x"].to_pylist())
    other = set(frames.filter(pc.equal(frames["period"], 2))["attacks_positive_x"].to_pylist())
    assert (sides, other) == ({"home"}, {"away"})
    goals = Counter(r.team for r in records if r.kind in ("goal.scored", "goal.own"))
    goals.subtract(Counter(r.team for r in records if r.kind == "goal.disallowed"))
    assert (goals["home"], goals["away"]) == match.score


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(tmp_path: Path) -> None:
    files = {}
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        made = play(seed, 30.0)
        (tmp_path / name).mkdir()
        write_truth(tmp_path / name, made.truth, made.frames)
        files[name] = [(tmp_path / name / f"{f}.parquet").read_bytes() for f in ("truth", "frames")]
    assert files["one"] == files["two"]
    assert files["one"][0] != files["three"][0]


@pytest.mark.parametrize("every_s", [pytest.param(0.5, marks=pytest.mark.slow), 1.7])
def test_truth_does_not_depend_on_how_the_match_is_cut(every_s: float) -> None:
    assert play(5, 40.0, every_s).truth.equals(play(5, 40.0).truth)


@in_two_lengths(2, 8, seed=st.integers(0, 2**31))
def test_any_seed_plays_and_its_truth_is_sound(seed: int) -> None:
    match = play(seed, 45.0)
    assert {r.kind for r in match.records} <= set(KINDS)
    test_every_out_has_the_whole_ball_over_its_line(match)
    assert all(r.ts_us in {h.ts_us for h in match.of("hit", "touch")} for r in match.of("pass.attempt"))

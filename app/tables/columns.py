"""Names, types and meanings of the analyst's tables; ``docs/tables.md`` is made from them.

Every table begins with the columns of ``WHEN`` and of its actor. Lengths are metres, from the centre spot as in
``touchline events``; a position times ``attacks_x`` points towards the goal that the team attacks. A value that the
input does not show is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa


class Column(NamedTuple):
    """A column: name, type, and what it holds."""

    name: str
    type: pa.DataType
    text: str


class FlatTable(NamedTuple):
    """A table: name, what a row is, its columns, the kinds of events that it is made from."""

    name: str
    row: str
    columns: tuple[Column, ...]
    kinds: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The columns as an Arrow schema."""
        return pa.schema([(column.name, column.type) for column in self.columns])


_TEXT, _NUMBER, _COUNT, _TIME, _FLAG = pa.string(), pa.float64(), pa.int32(), pa.int64(), pa.bool_()
_SHIRT, _SIGN = pa.int32(), pa.int8()

#: Columns of the moment at which a row begins.
WHEN = (
    Column("ts_us", _TIME, "event time of its begin, microseconds from the begin of the stream"),
    Column("period", _SIGN, "1, 2: halves; 3, 4: extra time; 5: shoot-out; null before the first kick-off"),
    Column("period_s", _NUMBER, "seconds since the kick-off of the period"),
    Column("clock", _TEXT, "match clock, `61:05`; in added time `45+1:05`"),
    Column("quarter_hour", _TEXT, "`0-15`, `15-30`, `30-45` with its added time, `45-60` and so on"),
)  # fmt: skip


def _actor(what: str) -> tuple[Column, ...]:
    return (
        Column("team", _TEXT, "`home` or `away`"),
        Column("team_name", _TEXT, "name of that team on the match sheet"),
        Column("player", _TEXT, f"object id of {what}"),
        Column("shirt", _SHIRT, "shirt number of that player"),
        Column("name", _TEXT, "name of that player"),
        Column("attacks_x", _SIGN, "1 if the team attacks towards +x then, -1 if towards -x"),
    )


def _person(player: str, shirt: str, name: str, what: str) -> tuple[Column, ...]:
    return (
        Column(player, _TEXT, f"object id of {what}"),
        Column(shirt, _SHIRT, "shirt number of that player"),
        Column(name, _TEXT, "name of that player"),
    )


_ID = Column("id", _TEXT, "id of the event that the row stands for; `touchline explain` takes it")
_START = (
    Column("start_x_m", _NUMBER, "where it begins"),
    Column("start_y_m", _NUMBER, "where it begins; +y is left for a team that attacks towards +x"),
)
_END_TIME = Column("end_us", _TIME, "event time of its end")
_END = (Column("end_x_m", _NUMBER, "where it ends"), Column("end_y_m", _NUMBER, "where it ends"))
_PRESSED = Column("under_pressure", _FLAG, "the pressing index of 10.1 was over its threshold at the begin")
_PART = Column("body_part", _TEXT, "part of the body (5.3); `other` where no part fits or the input shows no limbs")
_RESTART = Column("restart", _TEXT, "restart that it is, such as `corner`; null in open play")
_SURE = Column("confidence", _NUMBER, "chance that the event stands and is right, 0 to 1")
_SPEED = Column("speed_m_s", _NUMBER, "speed of the ball as it left")
_LINES = Column("lines_broken", _COUNT, "lines of the opponents that it went past (8.9)")

PASSES = FlatTable(
    "passes",
    "a pass attempt",
    (
        _ID, *WHEN, *_actor("the passer"), _END_TIME, *_START, *_END,
        Column("outcome", _TEXT, "`complete`, `intercepted`, `out`; null if none was seen"),
        Column("interception", _FLAG, "an opponent moved into its line and played it (7.8); an `intercepted` pass "
               "without it went to an opponent"),
        *_person("receiver", "receiver_shirt", "receiver_name", "who gained the ball, of either team"),
        *_person("target", "target_shirt", "target_name", "the mate whom the pass seemed to be for, at the kick"),
        Column("length_m", _NUMBER, "length over the ground"),
        Column("angle_rad", _NUMBER, "angle to the attacking direction, positive to the left"),
        Column("direction", _TEXT, "`forward`, `backward`, `left`, `right` (8.1)"),
        Column("length", _TEXT, "`short`, `medium`, `long` (8.2)"),
        Column("height", _TEXT, "`ground`, `low`, `high` (8.3); null without ball height"),
        _SPEED, _PART, _PRESSED, _RESTART,
        Column("xc", _NUMBER, "chance at the kick that a mate controls it (8.11)"),
        Column("cross", _TEXT, "`cross` or `cutback` (8.4); null if neither"),
        Column("through_ball", _FLAG, "received behind the last line (8.5)"),
        Column("switch", _FLAG, "a switch of play (8.6)"),
        Column("progressive", _FLAG, "brings the ball much nearer to the goal (8.7)"),
        Column("gain_m", _NUMBER, "metres nearer to the goal, of a progressive one"),
        Column("packing", _COUNT, "opponents left behind, negative if played back (8.8); of complete ones"),
        _LINES,
        Column("key_pass", _FLAG, "the last pass before a shot (8.12)"),
        Column("assist", _FLAG, "the last pass before a goal (8.12)"),
        _SURE,
    ),
    (
        "pass.attempt", "pass.complete", "pass.intercepted", "pass.out", "pass.dir", "pass.len", "pass.height", "cross",
        "cutback", "pass.through", "pass.switch", "pass.xc", "progress.pass", "packing", "linebreak", "keypass",
        "assist", "interception", "shot.attempt", "goal.scored",
    ),
)  # fmt: skip

SHOTS = FlatTable(
    "shots",
    "a shot, or a kick that looked like a pass and went in, which has no `xg`",
    (
        _ID, *WHEN, *_actor("the shooter"), _END_TIME, *_START, *_END,
        Column("outcome", _TEXT, "`goal`, `saved`, `blocked`, `deflected`, `post`, `wide left`, `wide right`, `over`; "
               "null if none was seen"),
        Column("on_target", _FLAG, "a goal or a save; where no outcome was seen, as predicted at the kick"),
        Column("xg", _NUMBER, "chance of a goal at the kick, 0 to 1 (8.10)"),
        Column("model", _TEXT, "which formula gave it: `foot`, `head`, `free kick`, `penalty`"),
        Column("distance_m", _NUMBER, "from the middle of the goal"),
        Column("angle_deg", _NUMBER, "visible width of the goal"),
        Column("defenders", _COUNT, "opponents in the triangle of ball and posts"),
        Column("keeper", _FLAG, "the goalkeeper stands in that triangle"),
        Column("nearest_opponent_m", _NUMBER, "distance of the nearest opponent"),
        Column("goal_y_m", _NUMBER, "where the ball as it left would cross the goal line"),
        Column("goal_z_m", _NUMBER, "how high it would be there"),
        _SPEED, _PART, _PRESSED, _RESTART,
        *_person("stopped_by", "stopped_by_shirt", "stopped_by_name", "who saved, blocked or deflected it"),
        Column("save", _TEXT, "`caught`, `parried`, `punched`, `body`"),
        *_person("assisted_by", "assisted_by_shirt", "assisted_by_name", "who played the last pass before it (8.12)"),
        _SURE,
    ),
    (
        "shot.attempt", "shot.saved", "shot.blocked", "shot.deflected", "shot.off", "shot.post", "shot.xg", "keypass",
        "goal.scored", "pass.attempt",
    ),
)  # fmt: skip

GOALS = FlatTable(
    "goals",
    "a goal that stands",
    (
        _ID, *WHEN, *_actor("the scorer; of an own goal the defender"),
        Column("own", _FLAG, "an own goal: `team` gets it, `player` is of the other team"),
        Column("shot", _TEXT, "`id` of the shot in `shots`; null if no shot was seen"),
        *_person("assisted_by", "assisted_by_shirt", "assisted_by_name", "who gave the assist (8.12)"),
        Column("home_goals", _COUNT, "score of the home team after it"),
        Column("away_goals", _COUNT, "score of the away team after it"),
        _SURE,
    ),
    ("goal.scored", "goal.own", "assist", "shot.attempt", "pass.attempt"),
)  # fmt: skip

CARRIES = FlatTable(
    "carries",
    "a carry of 3 m or more (6.10)",
    (
        _ID, *WHEN, *_actor("the carrier"), _END_TIME, *_START, *_END,
        Column("seconds", _NUMBER, "duration"),
        Column("distance_m", _NUMBER, "metres run with the ball"),
        _PRESSED,
        Column("outcome", _TEXT, "what the carrier did next: `pass`, `shot`, `lost` to an opponent, `dead` ball, "
               "or null: he released the ball otherwise"),
        Column("progressive", _FLAG, "brings the ball much nearer to the goal (8.7)"),
        Column("gain_m", _NUMBER, "metres nearer to the goal, of a progressive one"),
        Column("packing", _COUNT, "opponents left behind (8.8)"),
        _LINES,
        Column("take_ons_won", _COUNT, "opponents passed on the way (7.12)"),
        Column("take_ons_lost", _COUNT, "opponents who took the ball (7.12)"),
        _SURE,
    ),
    (
        "carry.end", "progress.carry", "packing.carry", "linebreak", "takeon.won", "takeon.lost", "pass.attempt",
        "shot.attempt", "possession.loss",
    ),
)  # fmt: skip

DUELS = FlatTable(
    "duels",
    "a duel, an aerial duel or a take-on",
    (
        _ID, *WHEN, *_actor("who had the ball; of a loose one, who played it first; of an aerial one, who jumped"),
        Column("type", _TEXT, "`ground`, `loose` (6.8), `aerial` (6.9), `take-on` (7.12)"),
        *_person("opponent", "opponent_shirt", "opponent_name", "the opponent"),
        *_START,
        Column("won", _FLAG, "`player` won it; null if nobody did"),
        Column("winner", _TEXT, "object id of the winner"),
        Column("winner_team", _TEXT, "team of the winner"),
        Column("tackle", _TEXT, "`won` or `lost`, from the opponent's side (7.13); null if it was no tackle"),
        _SURE,
    ),
    (
        "duel.start", "duel.end", "aerial.start", "aerial.won", "takeon.won", "takeon.lost", "tackle.won",
        "tackle.lost",
    ),
)  # fmt: skip

POSSESSIONS = FlatTable(
    "possessions",
    "a time in which one team has the ball, until the other has it or it is dead (6.3); a contest that the same team "
    "wins does not end it",
    (
        Column("possession", _COUNT, "number within the match, from 1"),
        *WHEN, *_actor("the first player who had the ball"), _END_TIME, *_START, *_END,
        Column("seconds", _NUMBER, "duration"),
        Column("begin", _TEXT, "restart that began it, such as `throw_in`; `recovery`, `interception`, `tackle` or "
               "`won` otherwise"),
        Column("end", _TEXT, "`goal`, `shot`, `lost`, or what made the ball dead: `touch`, `goal line`, `stop`; "
               "null where the record ends"),
        Column("passes", _COUNT, "pass attempts"),
        Column("passes_complete", _COUNT, "complete ones"),
        Column("carries", _COUNT, "carries"),
        Column("shots", _COUNT, "shots"),
        Column("xg", _NUMBER, "sum of their chances"),
        Column("players", _COUNT, "different players who gained the ball"),
        Column("gain_m", _NUMBER, "metres from begin to end in the attacking direction"),
        Column("final_third", _FLAG, "a pass, carry or shot of it began or ended in the last third"),
        Column("box", _FLAG, "the same of the opponents' penalty area"),
    ),
    (
        "team.possession", "possession.gain", "play.dead", "play.live", "recovery", "interception", "tackle.won",
        *PASSES.kinds, *SHOTS.kinds, *GOALS.kinds, *CARRIES.kinds,
    ),
)  # fmt: skip

SPRINTS = FlatTable(
    "sprints",
    "a sprint (3.2)",
    (
        _ID, *WHEN, *_actor("the runner"), _END_TIME, *_START, *_END,
        Column("seconds", _NUMBER, "duration"),
        Column("top_m_s", _NUMBER, "top speed"),
        _SURE,
    ),
    ("sprint.start", "sprint.end"),
)  # fmt: skip

RUNNING = FlatTable(
    "running",
    "a player in a period and quarter of an hour; from positions, 25 a second",
    (
        *(column for column in WHEN if column.name in ("period", "quarter_hour")),
        *(column for column in _actor("the runner") if column.name != "attacks_x"),
        Column("seconds", _NUMBER, "time for which there are positions"),
        Column("distance_m", _NUMBER, "metres run"),
        Column("zone_1_m", _NUMBER, "of them below 7 km/h (zones of FIFA's match reports)"),
        Column("zone_2_m", _NUMBER, "from 7 to 15 km/h"),
        Column("zone_3_m", _NUMBER, "from 15 to 20 km/h"),
        Column("zone_4_m", _NUMBER, "from 20 to 25 km/h"),
        Column("zone_5_m", _NUMBER, "at 25 km/h and more"),
        Column("top_m_s", _NUMBER, "99.9th percentile of the speed: single positions jump"),
        Column("mean_x_m", _NUMBER, "average position"),
        Column("mean_y_m", _NUMBER, "average position"),
        Column("sprints", _COUNT, "sprints (3.2)"),
    ),
    ("sprint.start", "sprint.end"),
)  # fmt: skip

#: Kinds whose events state numbers that grow, or are a value; heat maps have cells, and no number.
STATISTIC_KINDS = (
    "stat.running", "stat.possession", "stat.pass", "stat.shot", "stat.xg", "stat.setplay", "stat.network", "value.xt",
    "stat.ppda", "stat.tilt", "load.metabolic", "load.hsr", "load.sprints", "fatigue.flag", "win.chance", "value.vaep",
    "rating.step",
)  # fmt: skip

STATISTICS = FlatTable(
    "statistics",
    "a number that an event of level 14 or a rating (15.10) states; the newest row of the same statistic, variant, "
    "team, player, receiver and measure up to an instant counts then",
    (
        _ID,
        *WHEN,
        *_actor("the player; null for a team"),
        Column("statistic", _TEXT, "kind of the event, such as `stat.pass`"),
        Column("variant", _TEXT, "variant of the event, such as `direction`"),
        *_person("receiver", "receiver_shirt", "receiver_name", "the receiver, of `stat.network`"),
        Column("how", _TEXT, "the action that is valued: `pass`, `carry`, `shot` and so on"),
        Column("measure", _TEXT, "name of the number; [detectors](detectors.md) says what it is, its end the unit"),
        Column("value", _NUMBER, "the number; 1 and 0 for yes and no"),
        Column("model", _TEXT, "what it was computed by, and whether that was fitted on simulated matches"),
    ),
    STATISTIC_KINDS,
)

#: Tables in the order of the dictionary.
TABLES = {
    table.name: table for table in (PASSES, SHOTS, GOALS, CARRIES, DUELS, POSSESSIONS, SPRINTS, RUNNING, STATISTICS)
}  # fmt: skip

#: Kinds that every table reads: the clock, the directions, and what adorns an action.
SHARED_KINDS = ("period.start", "period.end", "direction", "bodypart", "press.under", "press.released")

RESTARTS = ("kick_off", "throw_in", "corner", "goal_kick", "free_kick", "penalty", "dropped")


def kinds_of(names: Sequence[str]) -> tuple[str, ...]:
    """Kinds of events that tables are made from."""
    own = {kind for name in names for kind in TABLES[name].kinds}
    return tuple(sorted(own | {*SHARED_KINDS, *(f"restart.{one}" for one in RESTARTS)}))

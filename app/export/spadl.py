"""SPADL and Atomic-SPADL: the action languages of socceraction (Decroos et al. 2019, 2020).

Places are on a pitch of 105 x 68 m with the origin in a corner; the home team plays from left to right in both halves,
the away team from right to left. Carries are ``dribble``, times are seconds of the period.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from app.export.actions import PLACELESS, Action, ExportError, Match

LENGTH_M, WIDTH_M = 105.0, 68.0

# fmt: off
#: Names in the order of their numbers, as ``socceraction.spadl.config`` (1.5.3) has them.
TYPES = (
    "pass", "cross", "throw_in", "freekick_crossed", "freekick_short", "corner_crossed", "corner_short", "take_on",
    "foul", "tackle", "interception", "shot", "shot_penalty", "shot_freekick", "keeper_save", "keeper_claim",
    "keeper_punch", "keeper_pick_up", "clearance", "bad_touch", "non_action", "dribble", "goalkick",
)
#: Those of ``socceraction.atomic.spadl.config``.
ATOMIC_TYPES = (
    *TYPES, "receival", "interception", "out", "offside", "goal", "owngoal", "yellow_card", "red_card", "corner",
    "freekick",
)
RESULTS = ("fail", "success", "offside", "owngoal", "yellow_card", "red_card")
BODY_PARTS = ("foot", "head", "other", "head/other", "foot_left", "foot_right")
# fmt: on

_OF_KIND = {
    "carry": "dribble", "take_on": "take_on", "tackle": "tackle", "interception": "interception",
    "clearance": "clearance", "save": "keeper_save", "claim": "keeper_claim", "punch": "keeper_punch",
    "pick_up": "keeper_pick_up", "own_goal": "bad_touch", "foul": "foul",
}  # fmt: skip

#: A second yellow card is a red one there.
_CARDS = {"yellow": "yellow_card", "second yellow": "red_card", "red": "red_card"}

_FAILED = ("lost", "intercepted", "out", "")

_BODY = {"left foot": "foot_left", "right foot": "foot_right", "head": "head"}

#: Atomic types that several types of SPADL become.
_SIMPLER = {
    "corner_crossed": "corner", "corner_short": "corner", "freekick_crossed": "freekick", "freekick_short": "freekick",
    "shot_freekick": "freekick",
}  # fmt: skip

_HEAD = [("game_id", pa.string()), ("original_event_id", pa.string()), ("action_id", pa.int64())]
_WHO = [
    ("period_id", pa.int64()),
    ("time_seconds", pa.float64()),
    ("team_id", pa.string()),
    ("player_id", pa.string()),
]
_NAMED = [("bodypart_id", pa.int64()), ("bodypart_name", pa.string()), ("type_id", pa.int64())]
_PLACES = [(name, pa.float64()) for name in ("start_x", "start_y", "end_x", "end_y")]
_RESULT = [("type_name", pa.string()), ("result_id", pa.int64()), ("result_name", pa.string())]

SPADL = pa.schema([*_HEAD, *_WHO, *_PLACES, *_NAMED, *_RESULT])

_VECTOR = [(name, pa.float64()) for name in ("x", "y", "dx", "dy")]
ATOMIC = pa.schema([*_HEAD, *_WHO, *_VECTOR, *_NAMED, ("type_name", pa.string())])


def spadl_table(match: Match) -> pa.Table:
    """The actions as a table of SPADL, which ``SPADLSchema`` of socceraction accepts."""
    rows = []
    for action in _listed(match):
        (x, y), (end_x, end_y) = _place(match, action, action.start), _place(match, action, action.end)
        kind, result, body = spadl_type(action), _result(action), _body(action)
        rows.append(
            {
                **_head(match, action, len(rows)), "start_x": x, "start_y": y, "end_x": end_x, "end_y": end_y,
                "type_id": TYPES.index(kind), "type_name": kind, "result_id": RESULTS.index(result),
                "result_name": result, "bodypart_id": BODY_PARTS.index(body), "bodypart_name": body,
            }
        )  # fmt: skip
    return pa.Table.from_pylist(rows, SPADL)


def atomic_table(match: Match) -> pa.Table:
    """The actions as a table of Atomic-SPADL: what became of a pass or a shot is an action of its own."""
    rows = []
    for action, team, player, place, vector, kind, after_us in _atoms(match):
        at = action._replace(team=team, player=player, period_s=round(action.period_s + after_us * 1e-6, 3))
        (x, y), body = _place(match, at, place), _body(action)
        end_x, end_y = _place(match, at, (place[0] + vector[0], place[1] + vector[1]))
        rows.append(
            {
                **_head(match, at, len(rows)), "x": x, "y": y, "dx": end_x - x, "dy": end_y - y,
                "type_id": ATOMIC_TYPES.index(kind), "type_name": kind, "bodypart_id": BODY_PARTS.index(body),
                "bodypart_name": body,
            }
        )  # fmt: skip
    return pa.Table.from_pylist(rows, ATOMIC)


def write_table(table: pa.Table, out: Path) -> None:
    """Write a table as Parquet or CSV, by the end of the file's name.

    Raises:
        ExportError: another name.
        OSError: it cannot be written.
    """
    if out.suffix == ".parquet":
        pq.write_table(table, out)
    elif out.suffix == ".csv":
        pc.write_csv(table, out, pc.WriteOptions(quoting_style="needed"))
    else:
        raise ExportError(f"--out {out}: a file that ends in .parquet or .csv")


def spadl_type(action: Action) -> str:
    """The type of an action."""
    row, restart = action.row, action.row.get("restart")
    if action.kind == "shot":
        return {"penalty": "shot_penalty", "free_kick": "shot_freekick"}.get(str(restart), "shot")
    if action.kind != "pass":
        return _OF_KIND[action.kind]
    if restart in ("corner", "free_kick"):
        crossed = row.get("cross") is not None or (restart == "corner" and row.get("height") == "high")
        return ("corner" if restart == "corner" else "freekick") + ("_crossed" if crossed else "_short")
    own = {"throw_in": "throw_in", "goal_kick": "goalkick"}.get(str(restart))
    return own or ("cross" if row.get("cross") == "cross" else "pass")


def _listed(match: Match) -> list[Action]:
    """The actions that SPADL has: of cards only those for a foul, no substitutions."""
    return [action for action in match.actions if action.kind not in PLACELESS]


def _result(action: Action) -> str:
    if action.kind == "own_goal":
        return "owngoal"
    if action.kind == "shot":
        return "success" if action.outcome == "goal" else "fail"
    if action.kind == "foul":
        return _CARDS.get(action.outcome, "fail")
    if action.kind in ("pass", "take_on", "tackle"):
        return "offside" if action.outcome == "offside" else "fail" if action.outcome in _FAILED else "success"
    return "success"


def _body(action: Action) -> str:
    if action.row.get("restart") == "throw_in" or action.kind in ("save", "claim", "punch", "pick_up"):
        return "other"
    part = str(action.row.get("body_part") or "")
    return _BODY.get(part, "other" if "hand" in part or part == "chest" else "foot")


def _head(match: Match, action: Action, number: int) -> dict[str, object]:
    return {
        "game_id": match.events.sheet.match_id, "original_event_id": action.id, "action_id": number,
        "period_id": action.period, "time_seconds": max(0.0, action.period_s), "team_id": action.team,
        "player_id": action.player,
    }  # fmt: skip


def _place(match: Match, action: Action, place: tuple[float, float]) -> tuple[float, float]:
    """A place on the pitch of SPADL, on which the home team attacks to the right."""
    home = action.attacks_x if action.team == "home" else -action.attacks_x
    sheet = match.events.sheet
    x = (place[0] * home / sheet.length_m + 0.5) * LENGTH_M
    y = (place[1] * home / sheet.width_m + 0.5) * WIDTH_M
    return min(max(x, 0.0), LENGTH_M), min(max(y, 0.0), WIDTH_M)


_Atom = tuple[Action, str, str, tuple[float, float], tuple[float, float], str, int]


def _atoms(match: Match) -> Iterator[_Atom]:
    """Of each atomic action: action, team, player, place, vector, type, microseconds after the action's begin."""
    actions = _listed(match)
    for index, action in enumerate(actions):
        kind = spadl_type(action)
        vector = (action.end[0] - action.start[0], action.end[1] - action.start[1])
        yield action, action.team, action.player, action.start, vector, _SIMPLER.get(kind, kind), 0
        following = actions[index + 1] if index + 1 < len(actions) else None
        if (end := _end_of(action, following)) is not None:
            team, player, ended = end
            yield action, team, player, action.end, (0.0, 0.0), ended, action.end_us - action.ts_us


def _end_of(action: Action, following: Action | None) -> tuple[str, str, str] | None:
    """Team, player and type of what became of an action; None if another action of the list says it."""
    if action.kind == "own_goal":
        return action.team, action.player, "owngoal"
    if action.kind == "foul":
        card = _CARDS.get(action.outcome)
        return (action.team, action.player, card) if card else None
    if action.kind == "shot":
        ended = "goal" if action.outcome == "goal" else "out" if action.outcome in _OFF else None
        return (action.team, action.player, ended) if ended else None
    if action.kind != "pass":
        return None
    if action.outcome in ("out", "offside"):
        return action.team, action.player, action.outcome
    receiver = str(action.row.get("receiver") or "")
    if action.outcome == "complete":
        return action.team, receiver, "receival"
    taken = following is not None and following.kind in ("interception", "tackle", "save", "claim", "punch", "pick_up")
    if action.outcome == "intercepted" and receiver and not taken:
        return "away" if action.team == "home" else "home", receiver, "interception"
    return None


_OFF = ("wide left", "wide right", "over")

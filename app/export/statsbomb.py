"""Event data like StatsBomb's: ``events.json`` and ``lineups.json`` as its open data has them.

Places are yards on a pitch of 120 x 80 with the origin at the top left, and every action is played to the right. Its
areas are 18 and 6 yards deep whatever the size of the real pitch, so kloppy converts each place between the lines. Ids
are numbers and UUIDs there; ``touchline_id`` keeps ours. A team's formation is the first that was found (12.13), 4-4-2
without one. Positions of players are not known: a line-up has the goalkeeper as such, all others as centre midfield.
Reference: StatsBomb Open Data Specification 1.1; kloppy (``statsbomb.load``) reads it.
"""

from __future__ import annotations

import uuid
from bisect import bisect_right
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from kloppy.domain import Point, Provider, build_coordinate_system

from app.export.actions import PLACELESS, Action, ExportError, Match, Place
from app.tables.actions import carries, passes, shots
from app.tables.possessions import possessions
from football.match_sheet import Player

EVENTS_FILE, LINEUPS_FILE = "events.json", "lineups.json"

_TEAM_IDS = {"home": 1, "away": 2}

_TYPES = {
    "pass": (30, "Pass"), "carry": (43, "Carry"), "shot": (16, "Shot"), "take_on": (14, "Dribble"),
    "tackle": (4, "Duel"), "interception": (10, "Interception"), "clearance": (9, "Clearance"),
    "own_goal": (20, "Own Goal Against"), "foul": (22, "Foul Committed"), "card": (24, "Bad Behaviour"),
    "substitution": (19, "Substitution"),
    "save": (23, "Goal Keeper"), "claim": (23, "Goal Keeper"), "punch": (23, "Goal Keeper"),
    "pick_up": (23, "Goal Keeper"),
}  # fmt: skip

_KEEPER = {"save": (33, "Shot Saved"), "claim": (25, "Collected"), "punch": (30, "Punch"), "pick_up": (25, "Collected")}

_BODY = {
    "left foot": (38, "Left Foot"), "right foot": (40, "Right Foot"), "head": (37, "Head"), "chest": (36, "Chest"),
    "left hand": (39, "Left Hand"), "right hand": (41, "Right Hand"), "other": (70, "Other"),
}  # fmt: skip

_PASS_TYPES = {
    "corner": (61, "Corner"), "free_kick": (62, "Free Kick"), "goal_kick": (63, "Goal Kick"),
    "kick_off": (65, "Kick Off"), "throw_in": (67, "Throw-in"),
}  # fmt: skip

_PASS_OUTCOMES = {"intercepted": (9, "Incomplete"), "out": (75, "Out"), "offside": (76, "Pass Offside")}

#: By how a possession began.
_PATTERNS = {
    "corner": (2, "From Corner"), "free_kick": (3, "From Free Kick"), "throw_in": (4, "From Throw In"),
    "goal_kick": (7, "From Goal Kick"), "kick_off": (9, "From Kick Off"),
}  # fmt: skip

_SHOT_OUTCOMES = {
    "goal": (97, "Goal"), "saved": (100, "Saved"), "blocked": (96, "Blocked"), "deflected": (96, "Blocked"),
    "post": (99, "Post"),
}  # fmt: skip

_SHOT_TYPES = {"penalty": (88, "Penalty"), "free_kick": (62, "Free Kick"), "corner": (61, "Corner")}

_CARDS = {"yellow": (7, "Yellow Card"), "second yellow": (6, "Second Yellow"), "red": (5, "Red Card")}

_HEIGHTS = {"ground": (1, "Ground Pass"), "low": (2, "Low Pass"), "high": (3, "High Pass")}


def write_statsbomb(match: Match, out: Path) -> None:
    """Write both files into a folder.

    Raises:
        ExportError: a team has no player on the sheet.
        OSError: they cannot be written.
    """
    players = {team: [p for p in match.events.sheet.players if p.team == team] for team in _TEAM_IDS}
    if not all(players.values()):
        raise ExportError("the match sheet names no player of a team, and StatsBomb's format needs line-ups")
    ids = {player.object_id: number for number, player in enumerate((*players["home"], *players["away"]), 1)}
    writer = _Writer(match, ids)
    encode = msgspec.json.Encoder(order="sorted").encode
    (out / EVENTS_FILE).write_bytes(msgspec.json.format(encode(writer.events(players)), indent=1))
    (out / LINEUPS_FILE).write_bytes(msgspec.json.format(encode(writer.lineups(players)), indent=1))


class _Writer:
    """Events and line-ups of a match.

    Args:
        match: the match.
        ids: number of each player.
    """

    def __init__(self, match: Match, ids: dict[str, int]) -> None:
        self._match, self._ids = match, ids
        self._pitch = build_coordinate_system(Provider.STATSBOMB).pitch_dimensions
        self._names = {p.object_id: p.name or p.object_id for p in match.events.sheet.players}
        events = match.events
        had = possessions(events, passes(events), carries(events), shots(events))
        self._possessions = [(int(str(row["ts_us"])), str(row["team"]), str(row["begin"])) for row in had]
        shapes = sorted(events.of("formation"), key=lambda event: event.ts_us, reverse=True)
        self._formations = {event.team: int(digits) for event in shapes if (digits := _digits(event.variant))}

    def lineups(self, players: dict[str, list[Player]]) -> list[dict[str, Any]]:
        """The content of ``lineups.json``."""
        return [
            {
                "team_id": _TEAM_IDS[team], "team_name": self._match.events.team_name(team),
                "lineup": [
                    {
                        "player_id": self._ids[player.object_id], "player_name": self._names[player.object_id],
                        "jersey_number": player.shirt or 0, "touchline_id": player.object_id,
                    }
                    for player in listed
                ],
            }
            for team, listed in players.items()
        ]  # fmt: skip

    def events(self, players: dict[str, list[Player]]) -> list[dict[str, Any]]:
        """The content of ``events.json``: line-ups, then each period with its begin and end."""
        found = [self._starting(team, listed) for team, listed in players.items()]
        clock = self._match.events.clock
        last_us = max(action.end_us for action in self._match.actions) + 1
        for number, begin_us, end_us in clock.spans(last_us):
            actions = [action for action in self._match.actions if action.period == number]
            seconds = max([(end_us - begin_us) * 1e-6, *((a.end_us - begin_us) * 1e-6 for a in actions)])
            found += [self._half((18, "Half Start"), number, 0.0, team, begin_us) for team in _TEAM_IDS]
            found += [self._event(action) for action in actions if self._is_known(action)]
            found += [self._half((34, "Half End"), number, seconds, team, end_us) for team in _TEAM_IDS]
        return [{"index": index, **event} for index, event in enumerate(found, 1)]

    def _is_known(self, action: Action) -> bool:
        return {action.player, action.row.get("replacement") or action.player} <= self._ids.keys()

    def _starting(self, team: str, players: list[Player]) -> dict[str, Any]:
        listed = [
            {
                "player": self._player(player.object_id), "jersey_number": player.shirt or 0,
                "position": _named((1, "Goalkeeper") if player.goalkeeper else (14, "Center Midfield")),
            }
            for player in players
            if player.starts
        ]  # fmt: skip
        event = self._basis((35, "Starting XI"), 1, 0.0, team, f"lineup/{team}", 0)
        return {**event, "tactics": {"formation": self._formations.get(team, 442), "lineup": listed}}

    def _half(self, kind: tuple[int, str], number: int, seconds: float, team: str, ts_us: int) -> dict[str, Any]:
        return self._basis(kind, number, seconds, team, f"{kind[1]}/{number}/{team}", ts_us)

    def _possession(self, team: str, ts_us: int) -> dict[str, Any]:
        """The newest possession at an event time; before the first one, the first, as the event's team has it."""
        number = bisect_right(self._possessions, ts_us, key=itemgetter(0)) - 1
        _, owner, began = self._possessions[number] if number >= 0 else (ts_us, team, "")
        return {
            "possession": max(number, 0) + 1, "possession_team": self._side(owner),
            "play_pattern": _named(_PATTERNS.get(began, (1, "Regular Play"))),
        }  # fmt: skip

    def _side(self, team: str) -> dict[str, Any]:
        return {"id": _TEAM_IDS[team], "name": self._match.events.team_name(team)}

    def _basis(
        self, kind: tuple[int, str], period: int, seconds: float, team: str, name: str, ts_us: int
    ) -> dict[str, Any]:
        minutes, rest = divmod(max(0.0, seconds), 60.0)
        hours, minutes = divmod(int(minutes), 60)
        first = (0, 45, 90, 105, 120)[period - 1]
        return {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"touchline:{self._match.events.sheet.match_id}/{name}")),
            "period": period, "timestamp": f"{hours:02d}:{minutes:02d}:{rest:06.3f}",
            "minute": first + int(seconds // 60), "second": int(seconds % 60), "type": _named(kind),
            "team": self._side(team), **self._possession(team, ts_us),
        }  # fmt: skip

    def _event(self, action: Action) -> dict[str, Any]:
        event = self._basis(_TYPES[action.kind], action.period, action.period_s, action.team, action.id, action.ts_us)
        event |= {
            "touchline_id": action.id, "player": self._player(action.player),
            "duration": round((action.end_us - action.ts_us) * 1e-6, 3),
        }  # fmt: skip
        if action.kind not in PLACELESS:
            event["location"] = self._place(action, action.start)
        if action.row.get("under_pressure"):
            event["under_pressure"] = True
        own = getattr(self, f"_{action.kind}", None)
        return event | (own(action) if own else {})

    def _pass(self, action: Action) -> dict[str, Any]:
        row = action.row
        given: dict[str, Any] = {"end_location": self._place(action, action.end)}
        if isinstance(row.get("length_m"), float):
            given["length"] = round(row["length_m"] / 0.9144, 2)  # type: ignore[operator]
        if isinstance(row.get("angle_rad"), float):
            given["angle"] = -row["angle_rad"]  # type: ignore[operator]
        receiver = str(row.get("receiver") or "")
        if action.outcome == "complete" and receiver in self._ids:
            given["recipient"] = self._player(receiver)
        else:
            given["outcome"] = _named(_PASS_OUTCOMES.get(action.outcome, (77, "Unknown")))
        for name, value in (
            ("height", _HEIGHTS.get(str(row.get("height")))), ("body_part", _BODY.get(str(row.get("body_part")))),
            ("type", _PASS_TYPES.get(str(row.get("restart")))),
            ("technique", (108, "Through Ball") if row.get("through_ball") else None),
        ):  # fmt: skip
            if value:
                given[name] = _named(value)
        flags = {
            "cross": row.get("cross") == "cross", "cut_back": row.get("cross") == "cutback",
            "switch": row.get("switch"), "shot_assist": row.get("key_pass"), "goal_assist": row.get("assist"),
        }  # fmt: skip
        return {"pass": given | {name: True for name, value in flags.items() if value}}

    def _shot(self, action: Action) -> dict[str, Any]:
        row = action.row
        given: dict[str, Any] = {
            "end_location": self._place(action, action.end),
            "outcome": _named(_SHOT_OUTCOMES.get(action.outcome, (98, "Off T"))),
            "type": _named(_SHOT_TYPES.get(str(row.get("restart")), (87, "Open Play"))),
            "body_part": _named(_BODY.get(str(row.get("body_part")), (70, "Other"))),
        }
        if row.get("xg") is not None:
            given["statsbomb_xg"] = row["xg"]
        return {"shot": given}

    def _carry(self, action: Action) -> dict[str, Any]:
        return {"carry": {"end_location": self._place(action, action.end)}}

    def _take_on(self, action: Action) -> dict[str, Any]:
        return {"dribble": {"outcome": _named((8, "Complete") if action.outcome == "won" else (9, "Incomplete"))}}

    def _tackle(self, action: Action) -> dict[str, Any]:
        outcome = (4, "Won") if action.outcome == "won" else (13, "Lost In Play")
        return {"duel": {"type": _named((11, "Tackle")), "outcome": _named(outcome)}}

    def _interception(self, action: Action) -> dict[str, Any]:
        outcome = (17, "Success Out") if action.outcome == "to out" else (4, "Won")
        return {"interception": {"outcome": _named(outcome)}}

    def _foul(self, action: Action) -> dict[str, Any]:
        given: dict[str, Any] = {"type": _named((24, "Handball"))} if action.row.get("handball") else {}
        if action.outcome in _CARDS:
            given["card"] = _named(_CARDS[action.outcome])
        return {"foul_committed": given}

    def _card(self, action: Action) -> dict[str, Any]:
        return {"bad_behaviour": {"card": _named(_CARDS[action.outcome])}}

    def _substitution(self, action: Action) -> dict[str, Any]:
        on = self._player(str(action.row["replacement"]))
        return {"substitution": {"outcome": _named((103, "Tactical")), "replacement": on}}

    def _keeper(self, action: Action) -> dict[str, Any]:
        return {"goalkeeper": {"type": _named(_KEEPER[action.kind])}}

    _save = _claim = _punch = _pick_up = _keeper

    def _player(self, object_id: str) -> dict[str, Any]:
        return {"id": self._ids[object_id], "name": self._names[object_id]}

    def _place(self, action: Action, place: Place) -> list[float]:
        """Yards from the top left, played to the right. A place is a square of a tenth of a yard, named by its end."""
        sheet, sign = self._match.events.sheet, action.attacks_x
        x_m = min(max(sheet.length_m / 2 + place[0] * sign, 0.0), sheet.length_m)
        y_m = min(max(sheet.width_m / 2 - place[1] * sign, 0.0), sheet.width_m)
        at = self._pitch.from_metric_base(Point(x_m, y_m), sheet.length_m, sheet.width_m)
        return [round(min(max(at.x, 0.0), 119.9) + 0.05, 1), round(min(max(at.y, 0.0), 79.9) + 0.05, 1)]


def _digits(shape: str) -> str:
    """A formation as StatsBomb numbers it; a store may be of anybody, and then this is empty."""
    # StatsBomb has no 5-2-3: with its wing-backs in midfield it is this.
    digits = "343" if shape == "5-2-3" else shape.replace("-", "")
    return digits if digits.isascii() and digits.isdecimal() and len(digits) <= 5 else ""


def _named(value: tuple[int, str]) -> dict[str, Any]:
    return {"id": value[0], "name": value[1]}

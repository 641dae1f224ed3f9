"""The actions of a match in order of time, as formats of event data list them.

Passes, carries, shots and take-ons come from the analyst's tables; interceptions, tackles, clearances, actions of
goalkeepers and own goals from their events; fouls, cards and substitutions from ``app.export.discipline``. An action
needs a period, a player and a place: the formats have no way to leave them out. Only cards and substitutions need no
place.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from app.export.discipline import DISCIPLINE_KINDS, discipline
from app.tables.actions import carries, duels, goals, passes, shots
from app.tables.clock import whole
from app.tables.columns import CARRIES, DUELS, GOALS, PASSES, POSSESSIONS, SHOTS, kinds_of
from app.tables.match_events import MatchEvents, Row, anchor_of, kick_us, number, read_match_events
from football.errors import UserError
from football.update_stream import EventRecord
from replay.match_store import read_run

Place = tuple[float, float]

#: Actions that stand for one event of the ball each, with the kind of that event; own goals come from the table.
_FROM_EVENTS = {
    "interception": "interception", "clearance": "clearance", "shot.saved": "save", "gk.claim": "claim",
    "gk.smother": "claim", "gk.punch": "punch", "gk.pickup": "pick_up", "tackle.won": "tackle", "tackle.lost": "tackle",
}  # fmt: skip

#: At one instant a defender wins the ball before he plays it.
_RANKS = (
    "interception",
    "tackle",
    "save",
    "claim",
    "punch",
    "pick_up",
    "take_on",
    "clearance",
    "pass",
    "carry",
    "shot",
)

#: Kinds without a place.
PLACELESS = ("card", "substitution")


class ExportError(UserError, ValueError):
    """A match that a format cannot hold, or a format that does not exist; the message says what is missing."""


class Action(NamedTuple):
    """An action of a player.

    Attributes:
        kind: ``pass``, ``carry``, ``shot``, ``take_on``, ``tackle``, ``interception``, ``clearance``, ``save``,
            ``claim``, ``punch``, ``pick_up``, ``own_goal``, ``foul``, ``card`` or ``substitution``.
        id: of the event.
        ts_us, end_us: event times.
        period, period_s: of the begin, on the match clock.
        team, player: the actor; of an own goal the defender's.
        attacks_x: 1 if the team attacks towards +x, -1 if not; 1 for the home team where it is unknown.
        start, end: metres from the centre spot; the same of an action at one place. Kinds of ``PLACELESS`` have zeros.
        outcome: as the table or the kind says: ``complete``, ``goal``, ``won``, ``lost`` and so on.
        row: further values: the row of the table, or what is known of the event.
    """

    kind: str
    id: str
    ts_us: int
    end_us: int
    period: int
    period_s: float
    team: str
    player: str
    attacks_x: int
    start: Place
    end: Place
    outcome: str
    row: Row


class Match(NamedTuple):
    """A match as formats need it.

    Attributes:
        events: with the sheet and the clock.
        actions: in order of time.
        patterns: the matches of patterns that the match was played with, in order of time.
    """

    events: MatchEvents
    actions: tuple[Action, ...]
    patterns: tuple[EventRecord, ...] = ()


def read_match(folder: Path) -> Match:
    """Read the actions of a match store.

    Raises:
        StoreError: not a match store, or damaged.
        ExportError: it has no action.
    """
    names = [table.name for table in (PASSES, SHOTS, GOALS, CARRIES, DUELS, POSSESSIONS)]
    kinds = (*kinds_of(names), *_FROM_EVENTS, *DISCIPLINE_KINDS, "offside.offence", "formation")
    settings = read_run(folder).get("settings")
    patterns = [f"pattern.{name}" for name in settings.get("patterns", ())] if isinstance(settings, dict) else []
    events = read_match_events(folder, (*kinds, *patterns))
    actions = sorted(_actions(events), key=_order)
    if not actions:
        raise ExportError(f"{folder}: no pass, shot or other action to export")
    found = sorted(events.of(*patterns), key=lambda event: (event.ts_us, event.id))
    return Match(events, tuple(actions), tuple(found))


def _order(action: Action) -> tuple[int, int, str]:
    return action.ts_us, _RANKS.index(action.kind) if action.kind in _RANKS else len(_RANKS), action.id


def _actions(match: MatchEvents) -> Iterable[Action]:
    cleared = {anchor_of(event) for event in match.of("clearance")}
    offside = {kick_us(event) for event in match.of("offside.offence")}
    for row in passes(match):
        if str(row["id"]).partition("#")[2] not in cleared:
            late = whole(row["ts_us"], 0) in offside  # type: ignore[arg-type]
            yield from _of_row(match, "pass", {**row, "outcome": "offside"} if late else row)
    for row in carries(match):
        yield from _of_row(match, "carry", row)
    for row in shots(match):
        yield from _of_row(match, "shot", row)
    for row in duels(match):
        if row["type"] == "take-on":
            yield from _of_row(match, "take_on", {**row, "outcome": "won" if row["won"] else "lost"})
    for row in goals(match):
        if row["own"]:
            player = str(row["player"] or "")
            event = next(goal for goal in match.of("goal.own") if goal.id == row["id"])
            place = {"start_x_m": event.x_m, "start_y_m": event.y_m, "outcome": "own goal"}
            yield from _of_row(match, "own_goal", {**row, **place, "team": match.team_of(player)})
    for kind, name in _FROM_EVENTS.items():
        for event in match.of(kind):
            yield from _of_event(match, name, event)
    for name, row in discipline(match):
        yield from _of_row(match, name, row)


def _of_event(match: MatchEvents, kind: str, event: EventRecord) -> Iterable[Action]:
    row: Row = {
        "id": event.id, **match.when(event.ts_us), **match.actor(event.team, event.player, event.ts_us),
        "start_x_m": event.x_m, "start_y_m": event.y_m, "end_us": event.ts_us,
        "end_x_m": number(event, "end_x_m"), "end_y_m": number(event, "end_y_m"),
        "outcome": event.kind.removeprefix("tackle.") if kind == "tackle" else event.variant,
        "body_part": match.body_part(anchor_of(event)), "to": event.detail.get("to"),
    }  # fmt: skip
    return _of_row(match, kind, row)


def _of_row(match: MatchEvents, kind: str, row: Row) -> Iterable[Action]:
    start, end = _place(row, "start_x_m", "start_y_m"), _place(row, "end_x_m", "end_y_m")
    team, player = row["team"], row["player"]
    if kind in PLACELESS:
        start = (0.0, 0.0)
    if row["period"] is None or start is None or team not in ("home", "away") or not player:
        return
    ts_us = whole(row["ts_us"], 0)  # type: ignore[arg-type]
    attacks_x = match.attacks_x(str(team), ts_us) or (1 if team == "home" else -1)
    yield Action(
        kind, str(row["id"]), ts_us, max(ts_us, whole(row.get("end_us"), ts_us)),  # type: ignore[arg-type]
        int(row["period"]), float(row["period_s"]), str(team), str(player), attacks_x,  # type: ignore[call-overload, arg-type]
        start, end or start, str(row.get("outcome") or ""), row,
    )  # fmt: skip


def _place(row: Row, x: str, y: str) -> Place | None:
    at = row.get(x), row.get(y)
    return at if isinstance(at[0], float) and isinstance(at[1], float) else None  # type: ignore[return-value]

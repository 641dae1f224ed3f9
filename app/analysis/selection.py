"""The selection that all charts of the analyst's room obey: team, players, time, state of the score, phase, zone.

Team and players say whom a chart is about. Time, score, phase and zone say which rows count, of both teams: a chart
about the pressing of one team needs the passes of the other. The few parts that have no meaning for a chart are named
in ``app.analysis.registry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from football.errors import UserError

Team = Literal["", "home", "away"]
Score = Literal["", "ahead", "level", "behind"]
Grid = Literal["8x13", "16x25", "32x50", "64x100"]
Zones = Literal["fifa", "debs"]
Phase = Literal["", "in", "out"]

#: Minutes of a bin of the charts over time.
STEPS_MIN = (1, 5, 15)

_PLAYERS_MAX = 40
_METRES_MAX = 200.0
_SECONDS_MAX = 1e7


class SelectionError(UserError, ValueError):
    """A selection with a value that cannot be used; the message names it."""


class Selection(msgspec.Struct, frozen=True):
    """The part of a match that a chart shows, and how.

    Attributes:
        team: whom it is about; empty for both.
        players: object ids whom it is about; empty for all.
        periods: 1 to 5; empty for all.
        begin_us, end_us: stretch of event time, the end excluded.
        score: state of the score for the chosen team, or for the team of each row if none is chosen.
        phase: while the same team has the ball (``in``) or has not (``out``); empty for all.
        zone: low and high x, low and high y in metres, as the team of a row attacks to the right; a row begins in it.
        step_min: minutes of a bin of charts over time.
        grid: cells of heat maps along and across, as DEBS 2013 Q3 counts them (across x along).
        zones: zones of speed: those of FIFA's match reports, or the classes of DEBS 2013 Q1.
        action: number of the action that a chart of one moment shows; -1 for none.
    """

    team: Team = ""
    players: tuple[str, ...] = ()
    periods: tuple[int, ...] = ()
    begin_us: int | None = None
    end_us: int | None = None
    score: Score = ""
    phase: Phase = ""
    zone: tuple[float, float, float, float] | None = None
    step_min: int = 5
    grid: Grid = "16x25"
    zones: Zones = "fifa"
    action: int = -1


def parse_selection(values: Mapping[str, str]) -> Selection:
    """Read a selection from the parameters of an address.

    Args:
        values: ``team``, ``player`` (with commas), ``period`` (with commas), ``from_s`` and ``to_s`` (event time),
            ``score``, ``zone`` (``x0,x1,y0,y1``), ``step``, ``grid``, ``zones``, ``phase``, ``action``; others are
            ignored.

    Raises:
        SelectionError: a value cannot be used.
    """
    begin_s, end_s = (_number(values, name) for name in ("from_s", "to_s"))
    zone = _zone(values.get("zone", ""))
    return Selection(
        team=_one_of(values, "team", get_args(Team), ""), players=_players(values.get("player", "")),
        periods=tuple(_whole("period", text, range(1, 6)) for text in _split(values.get("period", ""))),
        begin_us=_us(begin_s), end_us=_us(end_s),
        score=_one_of(values, "score", get_args(Score), ""), zone=zone,
        step_min=_whole("step", values.get("step") or "5", STEPS_MIN),
        grid=_one_of(values, "grid", get_args(Grid), "16x25"), zones=_one_of(values, "zones", get_args(Zones), "fifa"),
        phase=_one_of(values, "phase", get_args(Phase), ""),
        action=_whole("action", values.get("action") or "-1", range(-1, 1_000_000)),
    )  # fmt: skip


def _split(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _players(text: str) -> tuple[str, ...]:
    found = tuple(_split(text))
    if len(found) > _PLAYERS_MAX:
        raise SelectionError(f"player: more than {_PLAYERS_MAX} players")
    return found


def _one_of(values: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:  # type: ignore[misc]
    value = values.get(name) or default
    if value not in allowed:
        raise SelectionError(f"{name}: one of {', '.join(filter(None, allowed))}")
    return value


def _whole(name: str, text: str, allowed: range | tuple[int, ...]) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise SelectionError(f"{name}: a whole number") from error
    if value not in allowed:
        limits = f"{allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(str, allowed))
        raise SelectionError(f"{name}: {limits}")
    return value


def _number(values: Mapping[str, str], name: str, most: float = _SECONDS_MAX) -> float | None:
    text = values.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise SelectionError(f"{name}: a number") from error
    if not abs(value) <= most:
        raise SelectionError(f"{name}: a number of at most {most:g}")
    return value


def _us(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e6)


def _zone(text: str) -> tuple[float, float, float, float] | None:
    if not text:
        return None
    parts = text.split(",")
    if len(parts) != 4:
        raise SelectionError("zone: four numbers x0,x1,y0,y1 in metres")
    found = [_number({"zone": part}, "zone", _METRES_MAX) for part in parts]
    x0_m, x1_m, y0_m, y1_m = (0.0 if value is None else value for value in found)
    return min(x0_m, x1_m), max(x0_m, x1_m), min(y0_m, y1_m), max(y0_m, y1_m)

"""Rows of ``possessions``: which team had the ball, from when to when, and what it did with it.

``team.possession`` (6.3) says whose ball it is from each change on. A stretch that is in contest belongs to the team
that had the ball before. The stretches of one team that only a contest divides are one possession.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from app.tables.clock import whole
from app.tables.columns import kinds_of
from app.tables.match_events import MatchEvents, Row, anchor_of, variant
from football.pitch import pitch_of
from football.update_stream import EventRecord

#: A shot ends the possession if the ball is lost or dead this soon after it.
_SHOT_ENDS_US = 5_000_000


class _Stretch(NamedTuple):
    """One team's time with the ball; ``end`` is the event that ended it, None where the record ends."""

    team: str
    begin: EventRecord
    begin_us: int
    end: EventRecord | None
    end_us: int


def possessions(match: MatchEvents, passes: list[Row], carries: list[Row], shots: list[Row]) -> list[Row]:
    """The rows of ``possessions``, from those of what was done in them."""
    doings = {"pass": passes, "carry": carries, "shot": shots}
    times = {name: [whole(row["ts_us"], 0) for row in rows] for name, rows in doings.items()}  # type: ignore[arg-type]
    gains = sorted(match.of("possession.gain"), key=lambda event: event.ts_us)
    gained_us = [event.ts_us for event in gains]
    rows: list[Row] = []
    for stretch in _stretches(match):
        low, high = stretch.begin_us, stretch.end_us
        chosen = {
            name: [
                row for row in doings[name][bisect_left(at, low) : bisect_left(at, high)] if row["team"] == stretch.team
            ]
            for name, at in times.items()
        }
        had = [
            event.player
            for event in gains[bisect_left(gained_us, low) : bisect_right(gained_us, high - 1)]
            if event.team == stretch.team
        ]
        rows.append({"possession": len(rows) + 1, **_row(match, stretch, chosen, {stretch.begin.player, *had})})
    return rows


def seconds_held(match: MatchEvents) -> dict[str, float]:
    """Time in which each team had the ball: the sum of its possessions."""
    held_us = {"home": 0, "away": 0}
    for stretch in _stretches(match):
        held_us[stretch.team] += stretch.end_us - stretch.begin_us
    return {team: us * 1e-6 for team, us in held_us.items()}


def _row(match: MatchEvents, stretch: _Stretch, chosen: dict[str, list[Row]], players: set[str]) -> Row:
    begin, end, team = stretch.begin, stretch.end, stretch.team
    attacks_x = match.attacks_x(team, stretch.begin_us)
    where = (match.at("play.dead", _contact(end)) or end) if end else None
    start, stop = (begin.x_m, begin.y_m), (where.x_m, where.y_m) if where else (None, None)
    gain = (stop[0] - start[0]) * attacks_x if attacks_x and stop[0] is not None and start[0] is not None else None
    places = [
        (row.get(x), row.get(y))
        for rows in chosen.values()
        for row in rows
        for x, y in (("start_x_m", "start_y_m"), ("end_x_m", "end_y_m"))
    ]
    return {
        **match.when(stretch.begin_us), **match.actor(team, begin.player, stretch.begin_us),
        "end_us": stretch.end_us, "start_x_m": start[0], "start_y_m": start[1], "end_x_m": stop[0], "end_y_m": stop[1],
        "seconds": round((stretch.end_us - stretch.begin_us) * 1e-6, 3), "begin": _begin(match, stretch),
        "end": _ending(match, stretch, chosen["shot"]), "passes": len(chosen["pass"]),
        "passes_complete": sum(row["outcome"] == "complete" for row in chosen["pass"]),
        "carries": len(chosen["carry"]), "shots": len(chosen["shot"]),
        "xg": round(sum(float(row["xg"] or 0.0) for row in chosen["shot"]), 4),  # type: ignore[arg-type]
        "players": len(players), "gain_m": None if gain is None else round(gain, 2),
        "final_third": _reached(match, places, attacks_x, box=False),
        "box": _reached(match, places, attacks_x, box=True),
    }  # fmt: skip


def _reached(
    match: MatchEvents, places: Sequence[tuple[object, object]], attacks_x: int | None, *, box: bool
) -> bool | None:
    """True if a place lies in the last third or in the opponents' penalty area; None without a direction."""
    if attacks_x is None:
        return None
    pitch = pitch_of(match.sheet)
    known = [(x * attacks_x, y) for x, y in places if isinstance(x, float) and isinstance(y, float)]
    if box:
        return any(pitch.in_penalty_area(x, y, "right") for x, y in known)
    return any(x >= match.sheet.length_m / 6 for x, _ in known)


def _stretches(match: MatchEvents) -> list[_Stretch]:
    changes = sorted(match.of("team.possession"), key=lambda event: event.ts_us)
    # Other tables read other kinds: the end of the record must not depend on them.
    last_us = max((event.ts_us for event in match.of(*kinds_of(("possessions",)))), default=0)
    found: list[_Stretch] = []
    held: EventRecord | None = None
    for change in changes:
        if change.variant == "in contest" or (held is not None and change.variant == held.variant):
            continue
        if held is not None:
            end_us = whole(change.detail.get("since_us"), change.ts_us)
            found.append(_Stretch(held.variant, held, _begin_us(match, held), change, end_us))
        held = change if change.variant in ("home", "away") else None
    if held is not None:
        found.append(_Stretch(held.variant, held, _begin_us(match, held), None, last_us))
    return [stretch for stretch in found if stretch.end_us > stretch.begin_us]


def _begin_us(match: MatchEvents, change: EventRecord) -> int:
    """A restart is known when the ball has left its spot; the possession begins at the kick."""
    live = match.at("play.live", _contact(change))
    return whole(live.detail.get("kick_us"), change.ts_us) if live else change.ts_us


def _contact(change: EventRecord) -> str:
    """The anchor of the contact that changed it: the id also has the time of the change."""
    return anchor_of(change).rpartition(":")[0]


def _begin(match: MatchEvents, stretch: _Stretch) -> str:
    name = _contact(stretch.begin)
    if match.at("play.live", name):
        return match.restart(stretch.begin.player, stretch.begin_us) or "restart"
    for kind in ("interception", "recovery"):
        if (event := match.at(kind, name)) and event.team == stretch.team:
            return kind
    won = (event for event in match.of("tackle.won") if anchor_of(event).partition("/")[0] == name)
    return "tackle" if any(event.team == stretch.team for event in won) else "won"


def _ending(match: MatchEvents, stretch: _Stretch, shots_of_it: Sequence[Row]) -> str | None:
    """Name of what ended it; a shot does if nothing of this team follows it for long."""
    if stretch.end is None:
        return None
    if shots_of_it and stretch.end_us - whole(shots_of_it[-1]["ts_us"], 0) <= _SHOT_ENDS_US:  # type: ignore[arg-type]
        return "goal" if shots_of_it[-1]["outcome"] == "goal" else "shot"
    if stretch.end.variant != "dead":
        return "lost"
    return variant(match.at("play.dead", _contact(stretch.end))) or "stop"

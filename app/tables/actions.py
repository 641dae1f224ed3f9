"""Rows of what players do with the ball: passes, shots, goals, carries, duels, sprints."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from app.tables.clock import whole
from app.tables.match_events import (
    MatchEvents,
    Row,
    anchor_of,
    count,
    flag,
    kick_us,
    number,
    speed_m_s,
    text,
    variant,
)
from football.update_stream import EventRecord

#: A goal belongs to the scorer's last shot if that is not older: a shot over the whole pitch takes 4 s.
_SHOT_TO_GOAL_US = 6_000_000

#: What a carrier does next begins at his last contact; a possession ends when the ball is gained or dead.
_NEXT_US = 100_000


def passes(match: MatchEvents) -> list[Row]:
    """The rows of ``passes``."""
    key, assists = _passes_before(match, "keypass"), _passes_before(match, "assist")
    lines, intercepted, scored = _lines_broken(match, "pass"), _intercepted(match), {*goal_shots(match).values()}
    rows = []
    for attempt in match.of("pass.attempt"):
        if attempt.id in scored:
            continue
        name = anchor_of(attempt)
        end = _first(match, name, ("pass.complete", "pass.intercepted", "pass.out"))
        progress = match.at("progress.pass", name)
        cross = _first(match, name, ("cross", "cutback"))
        known = (attempt.player, kick_us(attempt))
        rows.append(
            {
                **_action(match, attempt, name), **_end(end),
                "outcome": end.kind.removeprefix("pass.") if end else None, "interception": attempt.id in intercepted,
                **match.person("receiver", text(end, "receiver")),
                **match.person("target", text(attempt, "receiver")),
                "length_m": _distance(attempt, end),
                "angle_rad": number(match.at("pass.dir", name), "angle_rad"),
                "direction": variant(match.at("pass.dir", name)),
                "length": variant(match.at("pass.len", name)),
                "height": variant(match.at("pass.height", name)),
                "xc": number(match.at("pass.xc", name), "xc"),
                "cross": cross.kind if cross else None,
                "through_ball": match.at("pass.through", name) is not None,
                "switch": match.at("pass.switch", name) is not None,
                "progressive": progress is not None, "gain_m": number(progress, "gain_m"),
                "packing": count(match.at("packing", name), "opponents"),
                "lines_broken": lines[name],
                "key_pass": known in key, "assist": known in assists,
            }
        )  # fmt: skip
    return rows


def _intercepted(match: MatchEvents) -> set[str]:
    """Ids of the passes that were intercepted: of each interception the passer's newest one."""
    made: dict[str, list[EventRecord]] = defaultdict(list)
    for attempt in match.of("pass.attempt"):
        made[attempt.player].append(attempt)
    found = set()
    for event in match.of("interception"):
        own = made.get(text(event, "passer") or "", [])
        index = bisect_right(own, event.ts_us, key=lambda attempt: attempt.ts_us) - 1
        if index >= 0:
            found.add(own[index].id)
    return found


def shots(match: MatchEvents) -> list[Row]:
    """The rows of ``shots``."""
    passers = {anchor_of(event): event.player for event in match.of("keypass")}
    scored = {shot: goal for goal, shot in goal_shots(match).items()}
    goals = {goal.id: goal for goal in match.of("goal.scored")}
    rows = []
    kicks = (kick for kick in match.of("pass.attempt") if kick.id in scored)
    for attempt in sorted((*match.of("shot.attempt"), *kicks), key=lambda event: event.ts_us):
        name = anchor_of(attempt)
        goal = goals.get(scored.get(attempt.id, ""))
        if goal:  # the scorer kicked it, whoever it was first taken for
            attempt = msgspec.structs.replace(attempt, team=goal.team, player=goal.player)
        saved = match.at("shot.saved", name)
        other = _first(match, name, ("shot.blocked", "shot.off", "shot.post", "shot.deflected"))
        end = goal or saved or other
        value = match.at("shot.xg", name)
        outcome = "goal" if goal else "saved" if saved else _shot_outcome(other)
        stopper = saved.player if saved and not goal else text(other, "by") if other and not goal else None
        rows.append(
            {
                **_action(match, attempt, name), **_end(end), "outcome": outcome,
                "on_target": outcome in ("goal", "saved") if outcome else flag(attempt, "on_target"),
                "xg": number(value, "xg"), "model": text(value, "model"),
                "distance_m": number(value, "distance_m"), "angle_deg": number(value, "angle_deg"),
                "defenders": count(value, "defenders"), "keeper": flag(value, "keeper"),
                "nearest_opponent_m": number(value, "pressure_m"),
                "goal_y_m": number(attempt, "goal_y_m"), "goal_z_m": number(attempt, "goal_z_m"),
                **match.person("stopped_by", stopper), "save": variant(saved) if not goal else None,
                **match.person("assisted_by", passers.get(name)),
            }
        )  # fmt: skip
    return rows


def goals(match: MatchEvents) -> list[Row]:
    """The rows of ``goals``, with the score after each."""
    of_goal = goal_shots(match)
    passers = {anchor_of(event): event.player for event in match.of("assist")}
    score: Counter[str] = Counter()
    rows = []
    for goal in sorted(match.of("goal.scored", "goal.own"), key=lambda event: event.ts_us):
        ts_us = whole(goal.detail.get("since_us"), goal.ts_us)
        score[goal.team] += 1
        rows.append(
            {
                "id": goal.id, **match.when(ts_us), **match.actor(goal.team, goal.player, ts_us),
                "own": goal.kind == "goal.own", "shot": of_goal.get(goal.id),
                **match.person("assisted_by", passers.get(anchor_of(goal))),
                "home_goals": score["home"], "away_goals": score["away"], "confidence": goal.confidence,
            }
        )  # fmt: skip
    return rows


def goal_shots(match: MatchEvents) -> Mapping[str, str]:
    """The id of the shot of each goal, by the id of the goal: the scorer's last shot before it.

    Without one, the scorer's last kick: it went in, so it was a shot, whatever it looked like as it left. Without that,
    the last kick of all: in a crowd another player may be taken for the kicker, and the goal knows better.
    """
    found: dict[str, str] = {}
    kicks = sorted(match.of("pass.attempt", "shot.attempt"), key=lambda event: event.ts_us)
    for goal in match.of("goal.scored"):
        ts_us = whole(goal.detail.get("since_us"), goal.ts_us)
        before = [kick for kick in kicks if 0 <= ts_us - kick_us(kick) <= _SHOT_TO_GOAL_US]
        own = [kick for kick in before if kick.player == goal.player != ""]
        shots_of_him = [kick for kick in own if kick.kind == "shot.attempt"]
        if chosen := shots_of_him or own or before:
            found[goal.id] = chosen[-1].id
    return found


def carries(match: MatchEvents) -> list[Row]:
    """The rows of ``carries``."""
    lines = _lines_broken(match, "carry")
    next_actions = _next_actions(match)
    won, lost = (_times(match.of(kind)) for kind in ("takeon.won", "takeon.lost"))
    rows = []
    for end in match.of("carry.end"):
        name = anchor_of(end)
        seconds = number(end, "seconds_s")
        begin_us = end.ts_us - round(1e6 * seconds) if seconds is not None and 0 <= seconds < 1e4 else end.ts_us
        progress = match.at("progress.carry", name)
        rows.append(
            {
                "id": end.id, **match.when(begin_us), **match.actor(end.team, end.player, begin_us),
                "start_x_m": number(end, "from_x_m"), "start_y_m": number(end, "from_y_m"), **_end(end),
                "seconds": seconds, "distance_m": number(end, "distance_m"),
                "under_pressure": match.under_pressure(end.player, begin_us),
                "outcome": _next_action(next_actions.get(end.player, []), end.ts_us),
                "progressive": progress is not None, "gain_m": number(progress, "gain_m"),
                "packing": count(match.at("packing.carry", name), "opponents"), "lines_broken": lines[name],
                "take_ons_won": _within(won.get(end.player, []), begin_us, end.ts_us),
                "take_ons_lost": _within(lost.get(end.player, []), begin_us, end.ts_us + _NEXT_US),
                "confidence": end.confidence,
            }
        )  # fmt: skip
    return sorted(rows, key=_begin_us)


def duels(match: MatchEvents) -> list[Row]:
    """The rows of ``duels``: ground and loose ones, aerial ones, take-ons."""
    rows = []
    for start, kind in (*((e, "duel.end") for e in match.of("duel.start")), *_aerials(match)):
        name = anchor_of(start)
        end = match.at(kind, name)
        tackle = _first(match, name, ("tackle.lost", "tackle.won"))
        row = _duel(match, start, "aerial" if kind == "aerial.won" else start.variant, end.player if end else "")
        rows.append({**row, "tackle": tackle.kind.removeprefix("tackle.") if tackle else None})
    for event in match.of("takeon.won", "takeon.lost"):
        winner = event.player if event.kind == "takeon.won" else text(event, "other") or ""
        rows.append(_duel(match, event, "take-on", winner))
    return sorted(rows, key=_begin_us)


def _aerials(match: MatchEvents) -> Iterable[tuple[EventRecord, str]]:
    return ((event, "aerial.won") for event in match.of("aerial.start"))


def _duel(match: MatchEvents, event: EventRecord, kind: str, winner: str) -> Row:
    team = event.team or match.team_of(event.player)
    return {
        "id": event.id, **match.when(event.ts_us), **match.actor(team, event.player, event.ts_us), "type": kind,
        **match.person("opponent", text(event, "other")), "start_x_m": event.x_m, "start_y_m": event.y_m,
        "won": winner == event.player if winner else None, "winner": winner or None,
        "winner_team": match.team_of(winner) or None, "confidence": event.confidence,
    }  # fmt: skip


def sprints(match: MatchEvents) -> list[Row]:
    """The rows of ``sprints``; where it began is known if its begin is."""
    begins = {(event.player, event.ts_us): event for event in match.of("sprint.start")}
    rows = []
    for end in match.of("sprint.end"):
        begin_us = whole(end.detail.get("since_us"), end.ts_us)
        begin = begins.get((end.player, begin_us))
        rows.append(
            {
                "id": end.id, **match.when(begin_us), **match.actor(end.team, end.player, begin_us),
                "start_x_m": begin.x_m if begin else None, "start_y_m": begin.y_m if begin else None, **_end(end),
                "seconds": number(end, "seconds"), "top_m_s": number(end, "top_m_s"), "confidence": end.confidence,
            }
        )  # fmt: skip
    return sorted(rows, key=_begin_us)


def _begin_us(row: Row) -> int:
    return whole(row["ts_us"], 0)  # type: ignore[arg-type]


def _action(match: MatchEvents, event: EventRecord, name: str) -> Row:
    """Columns that a pass and a shot have in common: begin, actor, contact."""
    ts_us = event.ts_us
    return {
        "id": event.id, **match.when(ts_us), **match.actor(event.team, event.player, ts_us),
        "start_x_m": event.x_m, "start_y_m": event.y_m, "speed_m_s": speed_m_s(event),
        "body_part": match.body_part(name), "under_pressure": match.under_pressure(event.player, ts_us),
        "restart": match.restart(event.player, ts_us), "confidence": event.confidence,
    }  # fmt: skip


def _end(event: EventRecord | None) -> Row:
    return {"end_us": event.ts_us, "end_x_m": event.x_m, "end_y_m": event.y_m} if event else {}


def _distance(begin: EventRecord, end: EventRecord | None) -> float | None:
    if end is None or None in (begin.x_m, begin.y_m, end.x_m, end.y_m):
        return None
    return round(math.hypot(end.x_m - begin.x_m, end.y_m - begin.y_m), 2)  # type: ignore[operator]


def _first(match: MatchEvents, anchor: str, kinds: Iterable[str]) -> EventRecord | None:
    return next((found for kind in kinds if (found := match.at(kind, anchor)) is not None), None)


def _shot_outcome(event: EventRecord | None) -> str | None:
    if event is None:
        return None
    return event.variant or None if event.kind == "shot.off" else event.kind.removeprefix("shot.")


def _passes_before(match: MatchEvents, kind: str) -> set[tuple[str, int]]:
    """Passer and time of the kick of each pass that led to a shot or goal."""
    return {(event.player, kick_us(event)) for event in match.of(kind)}


def _lines_broken(match: MatchEvents, by: str) -> Counter[str]:
    """The number of broken lines of each pass or carry, by its anchor, which the line follows in the id."""
    events = (event for event in match.of("linebreak") if text(event, "by") == by)
    return Counter(anchor_of(event).rpartition("/")[0].removesuffix("/carry") for event in events)


def _times(events: Iterable[EventRecord]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for event in events:
        found.setdefault(event.player, []).append(event.ts_us)
    return {player: sorted(times) for player, times in found.items()}


def _within(times: list[int], begin_us: int, end_us: int) -> int:
    return bisect_right(times, end_us) - bisect_left(times, begin_us)


def _next_actions(match: MatchEvents) -> dict[str, list[tuple[int, str]]]:
    """Of each player, times at which a carry may end and what then happens, in order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for event in match.of("shot.attempt", "pass.attempt", "possession.loss"):
        name = event.kind.partition(".")[0]
        what = name if name != "possession" else "dead" if event.variant == "dead" else "lost"
        found.setdefault(event.player, []).append((event.ts_us, what))
    return {player: sorted(rows) for player, rows in found.items()}


def _next_action(actions: list[tuple[int, str]], end_us: int) -> str | None:
    """Name of what follows a carry: a pass or a shot begins at its last contact, a loss comes later."""
    index = bisect_left(actions, (end_us - _NEXT_US, ""))
    return actions[index][1] if index < len(actions) else None

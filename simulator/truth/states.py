"""Truth of 13.5 and 13.6: the state of the game after each goal and sending-off, and whose the momentum is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from football.pitch import PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M, Pitch
from simulator.records import Row
from simulator.truth.truth_table import NOWHERE, Lines

#: 13.6: time in which a weight fades, weights of progress and of a gain in the area, least lead, time that it holds.
FADE_S, PROGRESS, TOUCH, LEAST, HOLD_S = 180.0, 0.02, 0.05, 0.05, 60.0


def add_states(rows: Sequence[Row], until_s: float, lines: Lines) -> None:
    """Add the lines that follow from goals and sendings-off.

    Args:
        rows: of the whole match; those before ``until_s`` count.
        lines: receives the lines.
    """
    void = {cause for row in rows if row.kind == "goal.disallowed" and row.t_s < until_s for cause in row.causes}
    goals = {"home": 0, "away": 0}
    off = {"home": 0, "away": 0}
    for index in sorted(range(len(rows)), key=lambda i: (rows[i].t_s, i)):
        row = rows[index]
        if row.t_s >= until_s:
            continue
        if row.kind in ("goal.scored", "goal.own") and index not in void:
            goals[row.team] += 1
            lead = goals["home"] - goals["away"]
            leader = "home" if lead > 0 else "away" if lead < 0 else row.team
            variant = ("level", "lead1", "lead2+")[min(abs(lead), 2)]
            lines.add("state.score", row.t_s, -1, NOWHERE, variant, team=leader, detail={**goals}, causes=(-1 - index,))
        elif row.kind == "sendoff":
            off[row.team] += 1
            for team, other in (("home", "away"), ("away", "home")):
                more = off[team] - off[other]
                variant = "level" if not more else "down" if more > 0 else "up"
                lines.add("state.men", row.t_s, -1, NOWHERE, variant, team=team, detail={**off}, causes=(-1 - index,))


def add_momentum(
    pitch: Pitch, rows: Sequence[Row], until_s: float, attacks: Mapping[int, tuple[float, float]], lines: Lines
) -> None:
    """Add the turns of the balance of chances, progress and gains in the area (13.6).

    Args:
        pitch: of the match.
        rows: of the whole match; those before ``until_s`` count.
        attacks: period -> (home's, away's) direction of attack, +1 towards +x.
        lines: has the progress already, and receives the lines.
    """
    weights = [(line.t_s, line.team, PROGRESS) for line in lines.of("progress.pass", "progress.carry")]
    weights += _of_rows(pitch, rows, until_s, attacks)
    lead, at_s, shown, leads, since_s = 0.0, 0.0, "", "", 0.0
    for t_s, team, weight in sorted(weights):
        lead = lead * math.exp((at_s - t_s) / FADE_S) + (weight if team == "home" else -weight)
        at_s, now = t_s, "" if abs(lead) < LEAST else "home" if lead > 0.0 else "away"
        if now in ("", shown):
            leads = ""
            continue
        since_s = since_s if now == leads else t_s
        leads = now
        if t_s - since_s >= HOLD_S:
            shown, leads = now, ""
            lines.add("momentum.shift", t_s, -1, NOWHERE, team=now, detail={"lead": round(abs(lead), 3)})


def _of_rows(
    pitch: Pitch, rows: Sequence[Row], until_s: float, attacks: Mapping[int, tuple[float, float]]
) -> list[tuple[float, str, float]]:
    """Time, team and weight of shots and of gains in the opponents' area; every minute has the weight 0."""
    found: list[tuple[float, str, float]] = []
    period, begin_s = 1, 0.0
    for row in sorted(rows, key=lambda one: one.t_s):
        if row.t_s >= until_s:
            break
        if row.kind == "period.start" and row.variant.isdecimal():
            period, begin_s = int(row.variant), row.t_s
            end_s = min((one.t_s for one in rows if one.kind == "period.end" and one.t_s > begin_s), default=until_s)
            minutes = int((min(end_s, until_s) - begin_s) / 60.0)
            found += [(begin_s + 60.0 * minute, "", 0.0) for minute in range(1, minutes + 1)]
        elif row.kind == "shot.attempt" and isinstance(xg := row.detail.get("xg"), int | float):
            found.append((row.t_s, row.team, float(xg)))
        elif row.kind == "possession.gain":
            sign = attacks.get(period, (1.0, -1.0))[0 if row.team == "home" else 1]
            deep_m = pitch.half_length_m - sign * row.position[0]
            if 0.0 <= deep_m <= PENALTY_AREA_DEPTH_M and abs(row.position[1]) <= PENALTY_AREA_HALF_WIDTH_M:
                found.append((row.t_s, row.team, TOUCH))
    return found

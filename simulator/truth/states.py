"""Truth of 13.5: the state of the game after each goal that stands and each sending-off."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.records import Row
from simulator.truth.truth_table import NOWHERE, Lines


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

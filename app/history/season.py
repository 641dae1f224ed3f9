"""Figures of many matches: by team, by player, by match, in SQL over the analyst's tables.

A team and a player are who they are on the match sheets: by name, a player with his team.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from app.history.engines import Ask

_SIDES = """
        SELECT match, 'home' AS team, home AS name, away AS opponent FROM matches
        UNION ALL SELECT match, 'away', away, home FROM matches"""

_OF_MATCH = f"""
    WITH sides AS ({_SIDES}),
    passed AS (
        SELECT match, team, count(*) AS passes, sum(CASE WHEN outcome = 'complete' THEN 1 ELSE 0 END) AS complete,
            sum(CASE WHEN progressive THEN 1 ELSE 0 END) AS progressive
        FROM passes GROUP BY match, team),
    shot AS (
        SELECT match, team, count(*) AS shots, sum(coalesce(xg, 0)) AS xg,
            sum(CASE WHEN on_target THEN 1 ELSE 0 END) AS on_target
        FROM shots GROUP BY match, team),
    scored AS (SELECT match, team, count(*) AS goals FROM goals GROUP BY match, team),
    had AS (
        SELECT match, team, sum(seconds) / sum(sum(seconds)) OVER (PARTITION BY match) AS possession
        FROM possessions GROUP BY match, team),
    ran AS (SELECT match, team, sum(distance_m) / 1000 AS km FROM running GROUP BY match, team)
    SELECT s.match, s.team, s.name, s.opponent, coalesce(g.goals, 0) AS goals, coalesce(a.goals, 0) AS against,
        coalesce(t.xg, 0) AS xg, coalesce(o.xg, 0) AS xg_against, coalesce(t.shots, 0) AS shots,
        coalesce(t.on_target, 0) AS on_target, h.possession, coalesce(p.passes, 0) AS passes,
        p.complete / nullif(p.passes, 0) AS pass_share, coalesce(p.progressive, 0) AS progressive, r.km
    FROM sides s
    LEFT JOIN passed p ON p.match = s.match AND p.team = s.team
    LEFT JOIN shot t ON t.match = s.match AND t.team = s.team
    LEFT JOIN shot o ON o.match = s.match AND o.team <> s.team
    LEFT JOIN scored g ON g.match = s.match AND g.team = s.team
    LEFT JOIN scored a ON a.match = s.match AND a.team <> s.team
    LEFT JOIN had h ON h.match = s.match AND h.team = s.team
    LEFT JOIN ran r ON r.match = s.match AND r.team = s.team
"""

_OF_PLAYER = """
    WITH ran AS (
        SELECT match, player, sum(seconds) / 60 AS minutes, sum(distance_m) / 1000 AS km, sum(sprints) AS sprints,
            3.6 * max(top_m_s) AS top_km_h
        FROM running GROUP BY match, player),
    passed AS (
        SELECT match, player, count(*) AS passes, sum(CASE WHEN outcome = 'complete' THEN 1 ELSE 0 END) AS complete,
            sum(CASE WHEN progressive THEN 1 ELSE 0 END) AS progressive,
            sum(CASE WHEN key_pass THEN 1 ELSE 0 END) AS key_passes,
            sum(CASE WHEN assist THEN 1 ELSE 0 END) AS assists
        FROM passes GROUP BY match, player),
    shot AS (SELECT match, player, count(*) AS shots, sum(coalesce(xg, 0)) AS xg FROM shots GROUP BY match, player),
    scored AS (SELECT match, player, count(*) AS goals FROM goals WHERE NOT own GROUP BY match, player)
    SELECT p.match, p.team, p.player, p.name, p.shirt,
        CASE WHEN p.team = 'home' THEN m.home ELSE m.away END AS team_name,
        CASE WHEN p.team = 'home' THEN m.away ELSE m.home END AS opponent, r.minutes, coalesce(g.goals, 0) AS goals,
        coalesce(k.assists, 0) AS assists, coalesce(s.xg, 0) AS xg, coalesce(s.shots, 0) AS shots,
        coalesce(k.passes, 0) AS passes, k.complete / k.passes AS pass_share,
        coalesce(k.progressive, 0) AS progressive, coalesce(k.key_passes, 0) AS key_passes, r.km, r.sprints, r.top_km_h
    FROM players p
    JOIN matches m ON m.match = p.match
    LEFT JOIN ran r ON r.match = p.match AND r.player = p.player
    LEFT JOIN passed k ON k.match = p.match AND k.player = p.player
    LEFT JOIN shot s ON s.match = p.match AND s.player = p.player
    LEFT JOIN scored g ON g.match = p.match AND g.player = p.player
    WHERE p.team IN ('home', 'away') AND (r.player IS NOT NULL OR k.player IS NOT NULL)
"""

#: Queries by name; DuckDB runs them.
SEASON: Final[Mapping[str, str]] = {
    "matches": f"{_OF_MATCH} ORDER BY s.match, s.team DESC",
    "teams": f"""
        SELECT name, count(*) AS played, sum(CASE WHEN goals > against THEN 1 ELSE 0 END) AS won,
            sum(CASE WHEN goals = against THEN 1 ELSE 0 END) AS drawn,
            sum(CASE WHEN goals < against THEN 1 ELSE 0 END) AS lost, sum(goals) AS goals, sum(against) AS against,
            sum(xg) AS xg, sum(xg_against) AS xg_against, avg(shots) AS shots, avg(possession) AS possession,
            avg(passes) AS passes, avg(pass_share) AS pass_share, avg(progressive) AS progressive, avg(km) AS km
        FROM ({_OF_MATCH}) AS rows GROUP BY name
        ORDER BY 3 * sum(CASE WHEN goals > against THEN 1 ELSE 0 END)
            + sum(CASE WHEN goals = against THEN 1 ELSE 0 END) DESC, sum(goals) - sum(against) DESC, name
    """,
    "appearances": f"{_OF_PLAYER} ORDER BY p.match, p.team DESC, p.name",
    "players": f"""
        SELECT any_value(player) AS player, name, any_value(shirt) AS shirt, team_name, count(*) AS played,
            sum(minutes) AS minutes, sum(goals) AS goals, sum(assists) AS assists, sum(xg) AS xg, sum(shots) AS shots,
            sum(passes) AS passes, sum(pass_share * passes) / nullif(sum(passes), 0) AS pass_share,
            sum(progressive) AS progressive, sum(key_passes) AS key_passes,
            90 * sum(km) / nullif(sum(minutes), 0) AS km_per_90,
            90 * sum(sprints) / nullif(sum(minutes), 0) AS sprints_per_90, max(top_km_h) AS top_km_h
        FROM ({_OF_PLAYER}) AS rows GROUP BY name, team_name
        ORDER BY goals DESC, xg DESC, name
    """,
}


def season(ask: Ask, name: str) -> pa.Table:
    """The figures of a season: a row for each team, player, team in a match (``matches``) or player in one.

    Args:
        ask: DuckDB over the matches (:func:`app.history.engines.ask_duckdb`).
        name: of ``SEASON``.

    Raises:
        StoreError: a match is damaged.
    """
    table = ask(SEASON[name])
    # DuckDB adds whole numbers up to ones of 128 bits, which Arrow knows as decimals.
    wide = [field.name for field in table.schema if pa.types.is_decimal(field.type)]
    for column in wide:
        table = table.set_column(table.column_names.index(column), column, table[column].cast(pa.int64()))
    return table

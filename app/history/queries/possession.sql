-- Possession: seconds in which each team has the ball, and its share of the time in which one of them has it.
WITH spells AS (
    SELECT e.match, e.variant,
        lead(e.ts_us, 1, m.end_us) OVER (PARTITION BY e.match ORDER BY e.ts_us, e.id) - e.ts_us AS length_us
    FROM events e JOIN matches m ON m.match = e.match
    WHERE e.kind = 'team.possession'
)
SELECT match, variant AS team,
    round(sum(length_us) / 1e6, 2) AS seconds,
    round(100.0 * sum(length_us) / sum(sum(length_us)) OVER (PARTITION BY match), 1) AS percent
FROM spells
WHERE variant IN ('home', 'away')
GROUP BY match, variant
ORDER BY match, team

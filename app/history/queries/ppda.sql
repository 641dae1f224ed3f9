-- PPDA: passes that a team lets the opponent make, for each of its own defensive actions, where it presses: in the
-- sixty percent of the pitch that are furthest from its own goal. Defensive actions: tackles (won or lost) and
-- interceptions. Small is high pressing.
WITH placed AS (
    SELECT e.match, e.kind, e.team, m.length_m,
        -- Along the pitch, in the direction in which the event's team attacks.
        CASE WHEN e.team = d.team THEN e.x_m ELSE -e.x_m END AS along_m
    FROM events e
    JOIN matches m ON m.match = e.match
    JOIN attacks d ON d.match = e.match AND e.ts_us >= d.begin_us AND e.ts_us < d.end_us
    WHERE e.kind IN ('pass.attempt', 'tackle.won', 'tackle.lost', 'interception')
),
counted AS (
    SELECT match, CASE WHEN kind <> 'pass.attempt' THEN team WHEN team = 'home' THEN 'away' ELSE 'home' END AS team,
        CASE WHEN kind = 'pass.attempt' THEN 1 ELSE 0 END AS pass
    FROM placed
    WHERE (kind = 'pass.attempt' AND along_m <= 0.1 * length_m) OR (kind <> 'pass.attempt' AND along_m >= -0.1 * length_m)
)
SELECT match, team, sum(pass) AS passes_let, count(*) - sum(pass) AS actions,
    round(CAST(sum(pass) AS DOUBLE) / nullif(count(*) - sum(pass), 0), 2) AS ppda
FROM counted
GROUP BY match, team
ORDER BY match, team

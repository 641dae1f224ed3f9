-- Shots, one by one: who, when, from where, how good the chance was, and what became of it: the first outcome within
-- ten seconds and before the next shot.
WITH shots AS (
    SELECT match, id, ts_us, team, player, x_m, y_m,
        lead(ts_us, 1, 4611686018427387904) OVER (PARTITION BY match ORDER BY ts_us, id) AS next_us
    FROM events WHERE kind = 'shot.attempt'
),
outcomes AS (
    SELECT s.match, s.id, o.kind, row_number() OVER (PARTITION BY s.match, s.id ORDER BY o.ts_us, o.id) AS nth
    FROM shots s
    JOIN events o ON o.match = s.match AND o.ts_us >= s.ts_us AND o.ts_us < s.next_us AND o.ts_us < s.ts_us + 10000000
        AND o.kind IN ('goal.scored', 'goal.own', 'shot.saved', 'shot.off', 'shot.blocked', 'shot.woodwork')
),
chances AS (
    SELECT match, player, ts_us, max(CAST(get_json_object(detail, '$.xg') AS DOUBLE)) AS xg
    FROM events WHERE kind = 'shot.xg' GROUP BY match, player, ts_us
)
SELECT s.match, round(s.ts_us / 1e6, 2) AS at_s, s.team, s.player,
    round(s.x_m, 1) AS x_m, round(s.y_m, 1) AS y_m, c.xg, coalesce(o.kind, 'open') AS outcome
FROM shots s
LEFT JOIN outcomes o ON o.match = s.match AND o.id = s.id AND o.nth = 1
LEFT JOIN chances c ON c.match = s.match AND c.player = s.player AND c.ts_us = s.ts_us
ORDER BY s.match, s.ts_us, s.id

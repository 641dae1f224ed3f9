-- Passes of each player in each match: tried, completed, share, metres of the completed ones.
-- The outcome of a pass carries the passer; `kick_us` of its detail ties it to its attempt.
SELECT a.match, a.team, a.player, p.name,
    count(*) AS passes,
    count(o.kind) AS completed,
    round(100.0 * count(o.kind) / count(*), 1) AS percent,
    round(coalesce(sum(CAST(get_json_object(o.detail, '$.length_m') AS DOUBLE)), 0), 1) AS metres
FROM events a
LEFT JOIN events o ON o.match = a.match AND o.kind = 'pass.complete' AND o.player = a.player
    AND CAST(get_json_object(o.detail, '$.kick_us') AS BIGINT) = CAST(get_json_object(a.detail, '$.kick_us') AS BIGINT)
LEFT JOIN players p ON p.match = a.match AND p.player = a.player
WHERE a.kind = 'pass.attempt'
GROUP BY a.match, a.team, a.player, p.name
ORDER BY a.match, a.team, passes DESC, a.player

-- Metres that each player ran, from the fused positions: sum of speed times the step to the next position.
WITH steps AS (
    SELECT match, object_id, team, sqrt(vx_m_s * vx_m_s + vy_m_s * vy_m_s) AS speed_m_s,
        lead(ts_us) OVER (PARTITION BY match, object_id ORDER BY ts_us) - ts_us AS step_us
    FROM positions WHERE object_id <> 'ball'
)
SELECT match, object_id AS player, team,
    round(sum(speed_m_s * step_us) / 1e6, 0) AS metres,
    round(max(speed_m_s), 1) AS top_m_s
FROM steps
WHERE step_us <= 200000
GROUP BY match, object_id, team
ORDER BY match, metres DESC, player

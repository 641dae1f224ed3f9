-- Restarts by kind and team: how many, and how long the ball had rested before them.
SELECT match, substr(kind, 9) AS restart, team, count(*) AS taken,
    round(avg(CAST(get_json_object(detail, '$.rest_s') AS DOUBLE)), 2) AS rest_s
FROM events
WHERE kind LIKE 'restart.%'
GROUP BY match, substr(kind, 9), team
ORDER BY match, restart, team

-- Time in play and lost, by what it was lost for: seconds of all stretches, by `time.live` and `time.lost`.
SELECT match, CASE WHEN kind = 'time.live' THEN 'in play' ELSE variant END AS what,
    count(*) AS stretches,
    round(sum(CAST(get_json_object(detail, '$.seconds') AS DOUBLE)), 2) AS seconds
FROM events
WHERE kind IN ('time.live', 'time.lost')
GROUP BY match, CASE WHEN kind = 'time.live' THEN 'in play' ELSE variant END
ORDER BY match, seconds DESC, what

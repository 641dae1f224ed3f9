-- How long after it happened an event was first told, by kind, over all matches (arrival clock): median and worst.
SELECT kind, count(*) AS events,
    round(median(detected_us - ts_us) / 1000, 1) AS median_ms,
    round(max(detected_us - ts_us) / 1000.0, 1) AS worst_ms
FROM events
WHERE kind IN ('hit', 'pass.attempt', 'pass.complete', 'shot.attempt')
GROUP BY kind
ORDER BY kind

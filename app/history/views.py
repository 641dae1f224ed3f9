"""Views over the tables of an archive, in SQL of DuckDB and Spark.

``updates`` and ``positions`` are the rows of the parts, with the name of their match. ``events`` is the consolidated
list, which :func:`replay.event_list.consolidated_events` gives of one match: of each event its latest assertion, if
more of it was asserted than withdrawn; ``detected_us`` is when it was first asserted of those times at which it stands
without a gap. ``attacks`` has the team that attacks towards +x, with begin and end.
"""

from __future__ import annotations

from collections.abc import Mapping

from football.tables import EVENTS

#: Columns of the consolidated list that an assertion brings with it.
_CARRIED = tuple(name for name in EVENTS.names if name not in ("state", "detected_us"))

_STANDING = """
    SELECT u.*,
        sum(diff) OVER of_event AS standing,
        row_number() OVER (PARTITION BY match, id, diff ORDER BY seq DESC) AS latest,
        lag(diff) OVER in_order AS before_diff,
        lag(emitted_us) OVER in_order AS before_us
    FROM updates u
    WINDOW of_event AS (PARTITION BY match, id), in_order AS (PARTITION BY match, id ORDER BY seq)
"""

_EVENTS = f"""
    WITH ranked AS ({_STANDING}),
    since AS (
        SELECT match, id, max(emitted_us) AS detected_us FROM ranked
        WHERE standing > 0 AND diff > 0
            AND (before_diff IS NULL OR (before_diff < 0 AND before_us < emitted_us))
        GROUP BY match, id
    )
    SELECT ranked.match, {", ".join(f"ranked.{name}" for name in _CARRIED)},
        CASE WHEN matches.ended OR ranked.ts_us + coalesce(ranked.lag_us, 0) < matches.frontier_us
            THEN 'confirmed' ELSE 'tentative' END AS state,
        since.detected_us
    FROM ranked
    JOIN since ON since.match = ranked.match AND since.id = ranked.id
    JOIN matches ON matches.match = ranked.match
    WHERE ranked.standing > 0 AND ranked.diff > 0 AND ranked.latest = 1
"""

_ATTACKS = """
    SELECT match, ts_us AS begin_us, team,
        coalesce(lead(ts_us) OVER (PARTITION BY match ORDER BY ts_us), 4611686018427387904) AS end_us
    FROM events WHERE kind = 'direction'
"""

#: Views in the order in which they are made; each may use those before it, ``matches`` and ``players``.
VIEWS: Mapping[str, str] = {"events": _EVENTS, "attacks": _ATTACKS}

"""The parts of the timeline that are drawn on the pitch: passes and shots as strokes, restarts as markers.

An attempt and its outcome are two events. A stroke joins them: it begins where the attempt was made and ends where
the outcome happened. Until an outcome is known it has no end, and the page draws it to the ball. The two events
belong together if the outcome names the attempt among its causes, or if both have the same anchor (the part of the id
behind ``#``).

A broken line (8.9) names the pass or carry that went past it: its mark has the way of the ball, and where the line was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from football.kind_names import kind_name, variant_name
from football.lifecycle import Entry, Lifecycle, State
from football.update_stream import EventRecord

#: Event time for which a mark stays on the pitch, by shape.
WINDOW_US: Final = {"pass": 9_000_000, "shot": 14_000_000, "restart": 14_000_000, "break": 14_000_000}

_ATTEMPT: Final = "pass.attempt"
_PASS_OUTCOMES: Final = frozenset({"pass.complete", "pass.intercepted", "pass.out"})
_SHOT_OUTCOMES: Final = frozenset(
    {"shot.blocked", "shot.deflected", "shot.saved", "shot.off", "shot.post", "goal.scored", "goal.own"}
)
_BREAK: Final = "linebreak"
#: Where what breaks a line began, in its detail.
_BEGINS: Final = {"pass.complete": ("start_x_m", "start_y_m"), "carry.end": ("from_x_m", "from_y_m")}


def line_of(record: EventRecord) -> str:
    """Return the line of the list on which an event is shown: a pass and its outcome share one.

    >>> from dashboard.demo import demo_event
    >>> line_of(demo_event("pass.out", 2, "ball:2", causes=("pass.attempt#ball:1",)))
    'pass#ball:1'
    >>> line_of(demo_event("out", 3, "ball:3"))
    'out#ball:3'
    """
    if record.kind != _ATTEMPT and record.kind not in _PASS_OUTCOMES:
        return record.id
    attempt = next((cause for cause in record.causes if cause.startswith(_ATTEMPT + "#")), record.id)
    return "pass#" + attempt.partition("#")[2]


class Mark(msgspec.Struct, frozen=True, gc=False):
    """One drawn thing, from ``ts_us`` until ``until_us`` of event time.

    ``to_x_m``, ``to_y_m`` are None for markers and for strokes without an outcome yet. ``line_x_m`` is where a broken
    line of the opponents was.
    """

    shape: Literal["pass", "shot", "restart", "break"]
    id: str
    state: State
    team: str
    ts_us: int
    until_us: int
    x_m: float
    y_m: float
    to_x_m: float | None = None
    to_y_m: float | None = None
    outcome: str = ""
    label: str = ""
    line_x_m: float | None = None


def marks(timeline: Lifecycle, now_us: int) -> list[Mark]:
    """Return the marks to draw at ``now_us``, oldest first within each shape."""
    passes = timeline.recent("passes", now_us - WINDOW_US["pass"])
    shots = timeline.recent("shots", now_us - WINDOW_US["shot"])
    restarts = timeline.recent("restarts", now_us - WINDOW_US["restart"])
    return [
        *_strokes("pass", _ATTEMPT, passes, _PASS_OUTCOMES),
        *_strokes("shot", "shot.attempt", shots, _SHOT_OUTCOMES),
        *_markers(restarts),
        *_breaks(timeline, timeline.recent("qualifiers", now_us - WINDOW_US["break"])),
    ]


def _strokes(
    shape: Literal["pass", "shot"], attempt_kind: str, entries: list[Entry], outcome_kinds: frozenset[str]
) -> Iterable[Mark]:
    ends: dict[str, Entry] = {}
    for entry in entries:
        if entry.record.kind in outcome_kinds and entry.state != "withdrawn":
            ends.update(dict.fromkeys((*entry.record.causes, _anchor(entry)), entry))
    for entry in entries:
        start = entry.record
        if start.kind != attempt_kind or start.x_m is None or start.y_m is None:
            continue
        end = None if entry.state == "withdrawn" else ends.get(start.id) or ends.get(_anchor(entry))
        yield Mark(
            shape,
            start.id,
            end.state if end else entry.state,
            start.team,
            start.ts_us,
            start.ts_us + WINDOW_US[shape],
            start.x_m,
            start.y_m,
            end.record.x_m if end else None,
            end.record.y_m if end else None,
            end.record.kind if end else "",
            kind_name(end.record.kind if end else start.kind),
        )


def _markers(entries: list[Entry]) -> Iterable[Mark]:
    for entry in entries:
        record = entry.record
        if record.kind.startswith("restart.") and record.x_m is not None and record.y_m is not None:
            yield Mark(
                "restart",
                record.id,
                entry.state,
                record.team,
                record.ts_us,
                record.ts_us + WINDOW_US["restart"],
                record.x_m,
                record.y_m,
                label=kind_name(record.kind),
            )


def _breaks(timeline: Lifecycle, entries: list[Entry]) -> Iterable[Mark]:
    for entry in entries:
        record = entry.record
        line_x_m = record.detail.get("line_x_m")
        if record.kind != _BREAK or not isinstance(line_x_m, float) or record.x_m is None or record.y_m is None:
            continue
        begin = _begin_m(timeline, record)
        if begin is not None:
            yield Mark(
                "break",
                record.id,
                entry.state,
                record.team,
                record.ts_us,
                record.ts_us + WINDOW_US["break"],
                *begin,
                record.x_m,
                record.y_m,
                label=variant_name(_BREAK, record.variant),
                line_x_m=line_x_m,
            )


def _begin_m(timeline: Lifecycle, record: EventRecord) -> tuple[float, float] | None:
    """Return where the pass or carry that broke a line began; None if it is no longer stored."""
    for cause in record.causes:
        kind = cause.partition("#")[0]
        entry = timeline.get(cause, kind) if kind in _BEGINS else None
        if entry is not None:
            x_m, y_m = (entry.record.detail.get(name) for name in _BEGINS[kind])
            if isinstance(x_m, float) and isinstance(y_m, float):
                return x_m, y_m
    return None


def _anchor(entry: Entry) -> str:
    """Return the anchor of an event with its ``#``, so that it never equals an id."""
    return "#" + entry.record.id.partition("#")[2]

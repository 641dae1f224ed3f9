"""An explanation as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from app.explain.reasons import Explanation, HistoryEntry
from app.explain.tree import Node, Number, Position
from detectors.confidence import Row
from detectors.margins import Margin
from football.payloads import Scalar
from football.update_stream import EventRecord

#: Limit of the names in the list of events that a detector held before an event.
_HELD_MAX = 6


def lines(explanation: Explanation, *, everything: bool = False) -> Iterator[str]:
    """An explanation as text: the history, then the event with its causes, each level further to the right.

    Args:
        explanation: of an event.
        everything: also parameters that were not compared.
    """
    yield "History:"
    yield from map(_history_line, explanation.history)
    for note in explanation.notes:
        yield f"Note: {note}"
    if explanation.played_us is not None:
        begin_us, end_us = explanation.played_us
        yield f"Played once more: {begin_us / 1e6:.0f} to {end_us / 1e6:.0f} s"
    yield "Why:"
    yield from _node(explanation.event, 0, everything)


def _history_line(entry: HistoryEntry) -> str:
    arrived = ""
    if entry.packets:
        age_ms = (entry.now_us - entry.oldest_us) / 1e3
        arrived = f", on {entry.packets} packets, the oldest {entry.oldest}, {age_ms:.1f} ms after it was measured"
    arrived += "".join(f", on the officials' {line}" for line in entry.officials)
    changes = "; ".join(f"{name} {old} -> {new}" for name, (old, new) in entry.changed.items())
    return f"{entry.now_us / 1e6:11.3f} s  {entry.what}{': ' + changes if changes else ''}{arrived}"


def _node(node: Node, depth: int, everything: bool) -> Iterator[str]:
    pad = "    " * depth
    if node.above:
        yield f"{pad}{node.id} (explained above)"
        return
    if not node.ts_us and node.event is None:
        yield f"{pad}{node.id} (an inner event, which the log does not have)"
        return
    yield f"{pad}{node.id}  {node.ts_us / 1e6:.3f} s  {_about(node.event)}".rstrip()
    by = f"{node.number} {node.detector}" if node.detector else "no detector that is known"
    on = f", on {node.on}" if node.on else " (from the log)" if node.from_log else ""
    yield f"{pad}  by {by}{on}"
    if node.calibrated is not None:
        yield f"{pad}  {_calibrated(node.calibrated, node.own_confidence)}"
    for margin in node.margins:
        yield f"{pad}  {_margin(margin)}"
    if node.event is not None and node.event.detail:
        yield f"{pad}  detail: {', '.join(f'{name} {_scalar(value)}' for name, value in node.event.detail.items())}"
    if everything and (others := _others(node)):
        yield f"{pad}  set besides: {others}"
    if node.held:
        more = len(node.held) - _HELD_MAX
        names = ", ".join(node.held[-_HELD_MAX:]) + (f" and {more} older" if more > 0 else "")
        yield f"{pad}  held before: {names}"
    for position in node.positions:
        yield f"{pad}  {_position(position)}"
    for cause in node.causes:
        yield from _node(cause, depth + 1, everything)


def _scalar(value: Scalar) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _about(event: EventRecord | None) -> str:
    if event is None:
        return ""
    about = " ".join(filter(None, (event.variant, event.player or event.team)))
    location = "" if event.x_m is None or event.y_m is None else f"at {event.x_m:.2f}, {event.y_m:.2f} m"
    confidence = "" if event.confidence == 1.0 else f"confidence {event.confidence:g}"
    return "  ".join(filter(None, (about, location, confidence)))


def _calibrated(row: Row, own: float) -> str:
    which = f" with {' and '.join(row.where)}" if row.where else ""
    counted = f"of {row.samples} such events{which} in simulated matches, this share stood and was right"
    return f"confidence {row.chance:g}: {counted}; the rule's own is {own:g}"


def _margin(margin: Margin) -> str:
    value, threshold, over, unit = _shown(margin.value, margin.threshold, margin.margin, margin.unit)
    of = f" ({margin.parameter})" if margin.parameter else ""
    return f"{margin.what}: {value}{unit}, {margin.sense} {threshold}{unit}{of}, margin {over}{unit}"


def _shown(value: float, threshold: float, over: float, unit: str) -> tuple[str, str, str, str]:
    """Microseconds as seconds, shares and counts without a unit."""
    scale, unit = (1e6, " s") if unit == "µs" else (1.0, "" if unit in ("1", "count") else f" {unit}")
    return f"{value / scale:.4g}", f"{threshold / scale:.4g}", f"{over / scale:+.3g}", unit


def _others(node: Node) -> str:
    compared = {margin.parameter for margin in node.margins}
    return ", ".join(_number(number) for number in node.parameters if number.name not in compared)


def _number(number: Number) -> str:
    value, _, _, unit = _shown(number.value, 0.0, 0.0, number.unit)
    return f"{number.name} {value}{unit}"


def _position(position: Position) -> str:
    at = f"{position.object} {position.ts_us / 1e6:.3f} s: {position.x_m:.2f}, {position.y_m:.2f}, {position.z_m:.2f} m"
    raw = position.measured
    if raw is None:
        return at
    return f"{at}, from {raw.packet} {raw.ts_us / 1e6:.4f} s: {raw.x_m:.3f}, {raw.y_m:.3f}, {raw.z_m:.3f} m"

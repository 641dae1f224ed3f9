"""The graph of the detectors, as text for Graphviz and as a picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from detectors.catalogue import DetectorInfo

#: The publishing detector, the consuming one, and the kinds between them.
Edge = tuple[str, str, tuple[str, ...]]

_COLUMN, _ROW, _BOX, _MARGIN = 230, 34, (170, 24), 40
#: Colours of the edges by the level that they come from.
_COLOURS = ("#888", "#4c78a8", "#72b7b2", "#54a24b", "#eeca3b", "#f58518", "#e45756", "#b279a2", "#9d755d", "#666")


def edges(entries: Collection[DetectorInfo]) -> list[Edge]:
    """All edges, by name."""
    result: list[Edge] = []
    for lower in entries:
        for upper in entries:
            kinds = tuple(kind for kind in lower.outputs if kind in upper.inputs)
            if kinds and lower is not upper:
                result.append((lower.kind, upper.kind, kinds))
    return result


def dot(entries: Sequence[DetectorInfo]) -> str:
    """A directed graph in Graphviz' language, a rank for each column of the picture."""
    lines = ["digraph detectors {", "  rankdir=LR; node [shape=box, fontname=sans]; edge [color=gray];"]
    for members in _columns(entries).values():
        names = "; ".join(f'"{entry.kind}" [label="{entry.number} {entry.kind}"]' for entry in members)
        lines.append(f"  {{ rank=same; {names} }}")
    lines += [f'  "{a}" -> "{b}" [tooltip="{", ".join(kinds)}"];' for a, b, kinds in edges(entries)]
    return "\n".join([*lines, "}"]) + "\n"


def svg(entries: Sequence[DetectorInfo]) -> str:
    """A picture: a column for each level, or several, each detector near those that feed it."""
    columns = _columns(entries)
    rows = max(map(len, columns.values()))
    corners: dict[str, tuple[float, float]] = {}
    for x, column in enumerate(columns.values()):
        top = (rows - len(column)) / 2
        corners |= {entry.kind: (_MARGIN + x * _COLUMN, _MARGIN + (top + y) * _ROW) for y, entry in enumerate(column)}
    size = _MARGIN * 2 + (len(columns) - 1) * _COLUMN + _BOX[0], _MARGIN * 2 + rows * _ROW
    levels = {entry.kind: entry.level for entry in entries}
    view = f'viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" font-size="11"'
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view}>',
        '<rect width="100%" height="100%" fill="white"/>',
        *(_heading(_MARGIN + x * _COLUMN, level) for x, (level, _) in enumerate(columns)),
        *(_line(corners[a], corners[b], levels[a], kinds) for a, b, kinds in edges(entries)),
        *(_box(corners[entry.kind], entry) for entry in entries),
        "</svg>",
    ]
    return "\n".join(drawn) + "\n"


def _columns(entries: Sequence[DetectorInfo]) -> dict[tuple[int, int], list[DetectorInfo]]:
    """Entries by level and place in the chain of their own level, sorted by the mean place of their feeders."""
    levels = {entry.kind: entry.level for entry in entries}
    feeders: dict[str, list[str]] = {entry.kind: [] for entry in entries}
    for a, b, _ in edges(entries):
        feeders[b].append(a)

    def depth(kind: str) -> int:
        return 1 + max((depth(a) for a in feeders[kind] if levels[a] == levels[kind]), default=0)

    columns: dict[tuple[int, int], list[DetectorInfo]] = {}
    for entry in sorted(entries, key=lambda e: (e.level, depth(e.kind))):
        columns.setdefault((entry.level, depth(entry.kind)), []).append(entry)
    height: dict[str, float] = {}
    for column in columns.values():
        column.sort(key=lambda e: sum(height.get(a, 0.5) for a in feeders[e.kind]) / max(len(feeders[e.kind]), 1))
        height |= {entry.kind: (y + 0.5) / len(column) for y, entry in enumerate(column)}
    return columns


def _heading(x: float, level: int) -> str:
    return f'<text x="{x}" y="22" fill="#555">level {level}</text>'


def _line(start: tuple[float, float], end: tuple[float, float], level: int, kinds: tuple[str, ...]) -> str:
    x0, y0, x1, y1 = start[0] + _BOX[0], start[1] + _BOX[1] / 2, end[0], end[1] + _BOX[1] / 2
    bend = max(30.0, (x1 - x0) / 2)
    colour = _COLOURS[(level - 1) % len(_COLOURS)]
    way = f"M{x0:.0f},{y0:.0f} C{x0 + bend:.0f},{y0:.0f} {x1 - bend:.0f},{y1:.0f} {x1:.0f},{y1:.0f}"
    title = escape(", ".join(kinds))
    return f'<path d="{way}" fill="none" stroke="{colour}" stroke-opacity="0.6"><title>{title}</title></path>'


def _box(corner: tuple[float, float], entry: DetectorInfo) -> str:
    x, y = corner
    width, height = _BOX
    frame = f'<rect x="{x:.0f}" y="{y:.0f}" width="{width}" height="{height}" rx="4" fill="#f4f6f8" stroke="#99a"/>'
    name = f'<text x="{x + 6:.0f}" y="{y + 16:.0f}">{entry.number} {escape(entry.kind)}</text>'
    return f"<g><title>{escape(entry.summary)}</title>{frame}{name}</g>"

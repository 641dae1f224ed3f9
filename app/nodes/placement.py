"""Placement of the detectors of a live match on nodes: by level, or from a file of the user."""

from __future__ import annotations

from pathlib import Path

import msgspec

from football.errors import UserError
from football.untrusted import read_json
from middleware.hierarchy import Hierarchy

#: Detectors up to this level run beside the gate by default: what they read is 36,000 positions a second, what they
#: emit some hundred events.
EDGE_LEVEL = 5


class PlacementError(UserError, ValueError):
    """A placement that does not fit the nodes or the detectors; the message has the reason."""


class _PlacementFile(msgspec.Struct):
    """Output of ``touchline place --json``, as far as it is needed."""

    allocation: dict[str, int | str]


def by_level(hierarchy: Hierarchy, edge: int, count: int) -> dict[str, int]:
    """Place detectors up to level ``edge`` on node 0, at the gate, and spread the others over the rest."""
    if count == 1:
        return {}
    above = [detector.spec for detector in hierarchy.detectors if detector.spec.level > edge]
    per_node = -(-len(above) // (count - 1))
    placement = {detector.spec.name: 0 for detector in hierarchy.detectors}
    return placement | {spec.name: 1 + at // per_node for at, spec in enumerate(above)}


def placement_of(hierarchy: Hierarchy, count: int, file: Path | None) -> dict[str, int]:
    """Return the node of each detector: by level, or as a file says.

    Args:
        hierarchy: the detectors of the match.
        count: number of nodes.
        file: JSON with ``allocation``, node by detector, as ``touchline place --json`` prints it. A node is a number,
            or a name that ends in one. Detectors that it does not name run on node 0.

    Raises:
        PlacementError: it names a detector or a node that there is not.
        UntrustedError: it is no such file.
    """
    if file is None:
        return by_level(hierarchy, EDGE_LEVEL, count)
    known = {detector.spec.name for detector in hierarchy.detectors}
    placement = {}
    for name, node in read_json(file, _PlacementFile).allocation.items():
        if name.startswith("@"):  # gate and sinks of a graph that was measured; they are on node 0
            continue
        if name not in known:
            raise PlacementError(f"{file}: this match has no detector {name}")
        digits = str(node)[len(str(node).rstrip("0123456789")) :]
        if not digits or int(digits) >= count:
            raise PlacementError(f"{file}: {name} is on {node}; the nodes are 0 to {count - 1}")
        placement[name] = int(digits)
    return placement

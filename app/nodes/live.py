"""The nodes of a live match as the stage of its seat uses them: node 0 with the engine, or one of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from app.nodes.engine import NodesEngine
from app.nodes.host import END, serve
from app.nodes.mesh import Mesh
from app.nodes.orders import FOLDER
from app.pipeline.pipeline import PipelineOptions
from football.match_sheet import MatchSheet
from middleware.hierarchy import Hierarchy
from middleware.nodes.node import Node
from middleware.ordering.policy import EngineSettings

#: Makes the engine of a pipeline from hierarchy, settings and watched kinds.
MakeEngine = Callable[[Hierarchy, EngineSettings, tuple[str, ...]], NodesEngine]


class LiveNodes:
    """All nodes of a match, as node 0 sees them, from the beginning of their tasks to the end.

    Args:
        mesh: connections of node 0.
    """

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._engine: NodesEngine | None = None

    def maker(self, placement: Mapping[str, int], store: Path) -> MakeEngine:
        """Return the maker of the match's engine, of which there is one.

        Args:
            placement: node of each detector.
            store: folder of the match.
        """

        def make(hierarchy: Hierarchy, settings: EngineSettings, watch: tuple[str, ...]) -> NodesEngine:
            self._engine = NodesEngine(hierarchy, settings, watch, self._mesh, placement, store / FOLDER)
            return self._engine

        return make

    def cut(self) -> None:
        """Commit all nodes, before the pipeline's snapshot.

        Raises:
            NodeConnectionError: a node is gone.
        """
        if self._engine is not None:
            self._engine.cut()

    def end(self) -> None:
        """End the other nodes, and wait until they know.

        Raises:
            NodeConnectionError: a node is gone.
        """
        for other in self._mesh.others:
            self._mesh.put(other, END)
        self._mesh.drain()


def serve_node(mesh: Mesh, sheet: MatchSheet, options: PipelineOptions, placement: Mapping[str, int]) -> None:
    """Run a node that is not node 0, until node 0 ends it.

    Args:
        mesh: connections of the node.
        sheet: of the match.
        options: of its pipeline.
        placement: node of each detector.

    Raises:
        NodeConnectionError: another node is gone.
    """
    serve(mesh, partial(_make_node, mesh, sheet, options, placement))


def _make_node(mesh: Mesh, sheet: MatchSheet, options: PipelineOptions, placement: Mapping[str, int]) -> Node:
    return Node(mesh.me, options.hierarchy(sheet), options.engine(sheet), placement, tuple(range(mesh.count)))

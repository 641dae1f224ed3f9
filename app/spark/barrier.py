"""Barrier tasks: the nodes of one match are tasks of one stage, which Spark begins, and begins again, together."""

from __future__ import annotations

from pyspark import BarrierTaskContext

from app.nodes.mesh import Mesh, connect, listen


def join_nodes(token: str) -> Mesh:
    """Connects this task to the others of its stage; the number of a node is that of its partition.

    Args:
        token: of the run.

    Raises:
        NodeConnectionError: a task does not answer.
    """
    context, listener = BarrierTaskContext.get(), listen()
    me = context.partitionId()
    answers = context.allGather(f"{me} {listener.getsockname()[1]}")
    ports = {int(node): int(port) for node, port in (answer.split() for answer in answers)}
    return connect(me, ports, listener, token)

"""``touchline explain``: the causes and thresholds of an event, as text or as JSON."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import msgspec
import typer

from app.base.terminal import make_console, waiting
from app.cli.options import Folder, Given
from app.cli.output import print_json
from app.explain.reasons import Explanation
from app.explain.reasons import explain as explain_event
from app.explain.text import lines
from app.explain.tree import Node

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    folder: Folder,
    event: Annotated[str, typer.Argument(help="Id of an event as `touchline events` lists it.")],
    everything: Annotated[
        bool, Given("--all", help="Also list the parameters of each detector that were not compared here.")
    ] = False,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Explains an event: its causes, thresholds and margins down to positions, and its history.

    The match is played once more around the event, with the parameters and detectors that it had. That takes seconds
    where what led to the event is near, and minutes where it lies far back.

    Examples:
        touchline explain matches/demo pass.complete#ball:61128725
    """
    with waiting(make_console(stderr=True), "Reading the log") as line:
        explanation = explain_event(folder, event, line.say)
    if as_json:
        print_json(_plain(explanation))
    else:
        sys.stdout.write("\n".join(lines(explanation, everything=everything)) + "\n")


def _plain(explanation: Explanation) -> dict[str, Any]:
    return {
        "event": _plain_node(explanation.event),
        "history": [msgspec.to_builtins(entry) for entry in explanation.history],
        "notes": explanation.notes,
        "played_us": explanation.played_us,
    }


def _plain_node(node: Node) -> dict[str, Any]:
    """A node as an object, each margin with its value."""
    plain = dict(msgspec.structs.asdict(node))
    plain["event"] = msgspec.to_builtins(node.event)
    plain["margins"] = [{**msgspec.to_builtins(margin), "margin": margin.margin} for margin in node.margins]
    plain["parameters"] = [msgspec.to_builtins(number) for number in node.parameters]
    plain["positions"] = [msgspec.to_builtins(position) for position in node.positions]
    plain["causes"] = [_plain_node(cause) for cause in node.causes]
    return plain

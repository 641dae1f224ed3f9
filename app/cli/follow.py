"""``touchline follow``: the updates of a match from its topic, as they arrive."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec
import typer

from app.cli.options import Given
from app.kafka.follow import follow as follow_topic

app = typer.Typer(add_completion=False)


@app.command()
def follow(
    topic: Annotated[str, typer.Argument(help="kafka://host:port/topic[?match=...] that `live --publish` writes.")],
    idle: Annotated[float | None, Given(help="End after this many seconds without an update. Default: never.")] = None,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Prints the updates of a match as they arrive, until the match is over."""
    for change in follow_topic(topic, idle_s=idle):
        update, event = change.update, change.update.event
        if as_json:
            print(msgspec.json.encode(update).decode(), flush=True)
            continue
        sign = "+" if update.diff > 0 else "-"
        about = " ".join(filter(None, (event.variant, event.team, event.player)))
        print(f"{sign} {timedelta(microseconds=event.ts_us)} {event.kind} {about}", flush=True)

"""``touchline open``: the pages of finished matches in a browser."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Annotated

import typer

from app.base.logs import hide_secrets
from app.base.terminal import make_console
from app.cli.options import Given
from app.operations.secrets import secrets_of
from app.run.signals import stopped_by_signals
from app.settings.resolve import make_settings

app = typer.Typer(add_completion=False)


@app.command()
def open_matches(
    folders: Annotated[list[Path], typer.Argument(help="Match stores, or folders of match stores.")],
    port: Annotated[int, Given(help="Port of the pages, 0 for a free one.", min=0, max=65535)] = 8050,
    host: Annotated[
        str,
        Given(
            help="Network address that the pages listen at. Default 127.0.0.1, this machine only; any other needs a "
            "token: `touchline token create`, or TOUCHLINE_TOKEN."
        ),
    ] = "127.0.0.1",
) -> None:
    """Opens finished matches in the browser: match, replay, analyst's room, API. Ctrl-C ends it.

    With TOUCHLINE_TOKEN set, reading needs that token, too.

    Examples:
        touchline open matches/demo
        touchline open matches --port 8060
    """
    from app.recorded.matches import RecordedMatches
    from app.recorded.serve import addresses, serve_matches

    console, stop = make_console(), threading.Event()
    settings = make_settings({"host": host, "port": port, "token": os.environ.pop("TOUCHLINE_TOKEN", None)})
    hide_secrets(secrets_of(settings))
    matches = RecordedMatches(folders)
    with stopped_by_signals(stop, console, "Stopping"), serve_matches(matches, settings) as server:
        for line in addresses(server.url, list(matches)):
            console.print(line)
        stop.wait()

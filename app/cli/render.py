"""``touchline render``: a film of what a camera saw, drawn from the match store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cameras.film import Film, write_film
from app.cli.options import Folder
from football.errors import UserError
from replay.event_choice import parse_time_us

app = typer.Typer(add_completion=False)

#: Limit of the length of a film.
SECONDS_MAX = 1_800


class RenderError(UserError):
    """A time or a name is wrong; the message says which."""


@app.command()
def render(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="File to write: .mp4, .gif, or .png for the first picture alone.")],
    camera: Annotated[str, typer.Option(help="Name of the camera.")] = "main",
    begin: Annotated[str, typer.Option("--from", help="Time of the match: 10:20, 1:07:30 or seconds.")] = "0",
    end: Annotated[str, typer.Option("--to", help="Time of the match; without it ten seconds later.")] = "",
    width: Annotated[int, typer.Option(help="Width of the picture in pixels.", min=160, max=3840)] = 960,
    fps: Annotated[float, typer.Option(help="Pictures a second.", min=1, max=60)] = 25.0,
    events: Annotated[bool, typer.Option("--events", help="Write time, mode and events into the picture.")] = False,
) -> None:
    """Draws what a camera saw: players, ball, lines and goals, as an MP4 or GIF file.

    Examples:
        touchline render matches/demo --from 10:20 --to 10:45 --out attack.mp4
        touchline render matches/demo --camera main --from 65 --events --out corner.gif
    """
    begin_us = parse_time_us(begin)
    end_us = parse_time_us(end) if end else begin_us + 10_000_000
    if not 0 < end_us - begin_us <= SECONDS_MAX * 1_000_000:
        raise RenderError(f"--from {begin} --to {end}: the end must be later, and by at most {SECONDS_MAX} s")
    film = Film(folder, camera, begin_us, end_us, width, with_events=events)
    count = write_film(film, out, fps)
    print(f"{count} pictures of {film.size[0]} x {film.size[1]} in {out}", file=sys.stderr)

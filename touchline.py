"""Live football intelligence from tracking data, for notebooks and programs.

>>> import touchline
>>> match = touchline.play("sim", seconds=20, seed=7).run()
>>> passes = match.events("pass.complete")

``Match`` opens what a run has recorded, ``play`` plays a source in this process, ``connect`` reads a run and steers its
cameras, ``follow`` reads the topic of a run, ``simulate`` makes a match with its truth, ``score`` compares with a
truth, ``detector`` makes a detector of a function.
docs/python.md describes each with an example.

In a wheel this module is the package that contains all others (decision 033). The build moves import statements only,
so this module names the others by import statements and never by strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.library.api import (
        Client,
        Match,
        Payload,
        Play,
        TouchlineError,
        Update,
        connect,
        detector,
        follow,
        play,
        score,
        simulate,
    )

__all__ = [
    "Client",
    "Match",
    "Payload",
    "Play",
    "TouchlineError",
    "Update",
    "connect",
    "detector",
    "follow",
    "play",
    "score",
    "simulate",
]


def __getattr__(name: str) -> object:
    """Import the library when one of its names is used for the first time, so that the import itself takes no time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from app.library import api

    value = globals()[name] = getattr(api, name)
    return value


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Runs the command ``touchline``."""
    from app.cli.main import main as command

    command()

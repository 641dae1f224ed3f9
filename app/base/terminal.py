"""The terminal: consoles and displays of progress that print every text as it is.

Rich reads text such as ``[red]`` as markup, and ``:smile:`` as a picture. Names of matches and files come from outside,
and may look like either; a wrong tag among them would even raise an error and end a run. So all of Touchline's consoles
and displays of progress are made here, and neither reads markup. Colour is given by ``rich.text.Text`` or a style.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from rich.console import Console
from rich.progress import Progress, ProgressColumn, TextColumn
from rich.status import Status
from rich.text import Text


def make_console(*, stderr: bool = False, width: int | None = None, file: IO[str] | None = None) -> Console:
    """A console that prints texts as they are.

    Args:
        stderr: writes to stderr instead of stdout.
        width: in characters; None for that of the terminal.
        file: written to instead.
    """
    return Console(stderr=stderr, width=width, file=file, markup=False, emoji=False)


def make_progress(console: Console, *columns: ProgressColumn, disable: bool = False) -> Progress:
    """A display of tasks that vanishes at its end: the description of each, then ``columns``."""
    described = plain_column("{task.description}")
    return Progress(described, *columns, console=console, transient=True, disable=disable)


def plain_column(text: str) -> TextColumn:
    """A column of a display of progress; ``text`` is a format of ``task``, whose result is printed as it is."""
    return TextColumn(text, markup=False)


class Waiting:
    """A line that says what a program is doing; :meth:`say` replaces it."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def say(self, text: str) -> None:
        """Show another text."""
        self._status.update(Text(text))


@contextmanager
def waiting(console: Console, text: str) -> Iterator[Waiting]:
    """Shows a moving mark and a text on a terminal while the context lasts."""
    with Status(Text(text), console=console) as status:
        yield Waiting(status)

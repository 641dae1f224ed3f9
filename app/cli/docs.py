"""The reference page of the command line: ``python -m app.cli.docs > docs/cli.md``.

The page is made from the tree of commands itself, so a new command or option needs no line here; a test compares the
page with the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from app.cli.main import LazyCommand, app

_HEAD = """# The command line

Every command of `./touchline`, made by `python -m app.cli.docs > docs/cli.md`; do not edit. An option without a default
here either has it in its description or needs none. Options of `live` may also stand in a settings file or in the
environment: [operation](operation.md).

Errors that the user can mend are one line on stderr and exit code 2.

"""


def markdown() -> str:
    """The page: a table of the commands, then a section a command with its arguments and options."""
    commands = list(_commands(get_command(app), "touchline"))
    index = [f"| [`{name}`](#{name.replace(' ', '-')}) | {_sentence(command.help)} |" for name, command in commands]
    table = ["| command | what it does |", "|---|---|", *index]
    return _HEAD + "\n".join(table) + "\n" + "".join(_section(name, command) for name, command in commands)


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every visible command below ``command`` with its full name, groups before their commands."""
    for part, child in sorted(getattr(command, "commands", {}).items()):
        if not child.hidden:
            full = f"{name} {part}"
            child = child.load() if isinstance(child, LazyCommand) else child
            yield full, child
            yield from _commands(child, full)


def _section(name: str, command: Any) -> str:
    rows = [_row(parameter) for parameter in command.params if not parameter.hidden and parameter.name != "help"]
    table = ["", "| argument or option | default | description |", "|---|---|---|", *rows] if rows else []
    return "\n".join(["", f"## {name}", "", _paragraphs(command.help), *table, ""])


def _row(parameter: Any) -> str:
    if parameter.opts[0].startswith("-"):
        flags = " / ".join(f"`{flag}`" for flag in (*parameter.opts, *parameter.secondary_opts))
    else:
        flags = f"`{parameter.metavar or parameter.name.upper()}`"
    repeated = " (may be repeated)" if parameter.multiple else ""
    return f"| {flags}{repeated} | {_default(parameter)} | {_cell(parameter.help)} |"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value in ("", ()) or callable(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"`{value}`"


def _cell(text: str | None) -> str:
    """Help as one line of a Markdown table; a page would take ``<word>`` outside of code for a tag."""
    parts = " ".join((text or "").split()).replace("|", "\\|").split("`")
    return "`".join(part if index % 2 else part.replace("<", "\\<") for index, part in enumerate(parts))


def _sentence(text: str | None) -> str:
    """The first sentence of a help text."""
    return _cell(text).partition(". ")[0].rstrip(".")


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


if __name__ == "__main__":
    sys.stdout.write(markdown())

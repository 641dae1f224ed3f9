"""The pages and the picture of ``docs/`` that are made from the code: ``python -m app.cli.docs`` writes them all.

The page of the command line is made here, from the tree of commands itself, so a new command or option needs no line
here. A test compares each page with what the code gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from app.base.program import PROGRAM, with_version
from app.cli.detectors import render
from app.cli.main import GROUPS, LazyCommand, app
from app.tables import page as tables
from detectors.parameters import Parameters

DOCS = PROGRAM / "docs"

_HEAD = """# The command line

Every command of `./touchline`, made by `python -m app.cli.docs`; do not edit. An option without a default
here either has it in its description or needs none. Options of `live` may also stand in a settings file or in the
environment: [operation](operation.md).

Errors that the user can mend are one line on stderr and exit code 2. Ctrl-C is exit code 130. A fault of the program is
one line that names the place, and exit code 70; with `TOUCHLINE_TRACEBACK=1` it shows a traceback. Exit code 3 of
`live` and `inspect`: the input is wrong, and what they print says how to mend it ([input](input.md)). Exit code 4 of
`live`: a detector failed.

"""


def generated() -> dict[str, str]:
    """Every file of ``docs/`` that is made from the code: its name there, and its text."""
    parameters = Parameters()
    return {
        "cli.md": markdown(),
        "tables.md": tables.markdown(),
        "detectors.md": render("markdown", parameters),
        "thresholds.md": render("thresholds", parameters),
        "hierarchy.md": render("hierarchy", parameters),
        "images/detectors.svg": render("graph", parameters, picture=True),
    }


def markdown() -> str:
    """The page of the command line: a table of the commands, then for each its examples, arguments and options."""
    commands = dict(_commands(get_command(app), "touchline"))
    table = ["| command | what it does |", "|---|---|"]
    for group, names in GROUPS.items():
        table.append(f"| **{group}** | |")
        shown = {full: command for full, command in commands.items() if full.split()[1] in names}
        table += [f"| [`{full}`](#{full.replace(' ', '-')}) | {_sentence(one.help)} |" for full, one in shown.items()]
    page = _HEAD + "\n".join(table) + "\n" + "".join(_section(name, command) for name, command in commands.items())
    return with_version(page)


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every visible command below ``command`` with its full name, groups before their commands."""
    for part, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            full = f"{name} {part}"
            child = child.load() if isinstance(child, LazyCommand) else child
            yield full, child
            yield from _commands(child, full)


def _section(name: str, command: Any) -> str:
    rows = [_row(parameter) for parameter in command.params if not parameter.hidden and parameter.name != "help"]
    table = ["", "| argument or option | default | description |", "|---|---|---|", *rows] if rows else []
    _, *lines = (command.epilog or "").split("\n\n")
    examples = ["", "```", *lines, "```"] if lines else []
    return "\n".join(["", f"## {name}", "", _paragraphs(command.help), *examples, *table, ""])


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
    for name, text in generated().items():
        (DOCS / name).write_text(text, encoding="utf-8")

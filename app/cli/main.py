"""The command ``touchline``: finds a command's module, imports it, and runs it.

Each command is a module of this folder with a Typer application ``app`` and a function of the module's name, whose
docstring is the help, with examples at its end. A module is imported when its command runs: the list of commands reads
the docstrings only.

No error reaches a user as a traceback. Errors that the user can mend (``football.errors.UserError``) and those of the
file system are one line on stderr and exit code 2; Ctrl-C is exit code 130. Any other error is a fault of the program:
one line that names the place, and exit code 70. With ``TOUCHLINE_TRACEBACK=1`` it shows its traceback.
"""

from __future__ import annotations

import ast
import os
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from app.base.errors import one_line
from app.base.program import PROGRAM, program_version
from football.errors import UserError

_OPERATE = (
    "cameras", "gateway", "doctor", "inspect", "config", "token", "broker", "bundle", "dependencies", "nodes", "place",
    "test",
)  # fmt: skip
_ASK = (
    "events", "updates", "follow", "score", "explain", "review", "whatif", "trace", "query", "compare", "patterns",
    "timecode",
)  # fmt: skip

#: Commands by what they are for, in the order of the help.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Play matches": ("live", "open", "batch", "official", "publish"),
    "Ask what happened": _ASK,
    "Make data and pages": ("report", "export", "simulate", "annotate", "detectors", "order", "render"),
    "Operate": _OPERATE,
}

#: Modules of commands whose name is another one.
_MODULES = {"test": "run_tests", "open": "open_matches"}

#: Each command with its module, in the order of the help.
COMMANDS: Mapping[str, str] = {
    name: f"{__package__}.{_MODULES.get(name, name)}" for names in GROUPS.values() for name in names
}

#: Exit codes: the user's fault; Ctrl-C; a fault of the program.
_MENDABLE, _INTERRUPTED, _FAULT = 2, 130, 70

#: Variable with which a fault of the program shows its traceback.
TRACEBACK = "TOUCHLINE_TRACEBACK"

_EXAMPLES = "Examples:\n"


class LazyCommand(TyperCommand):
    """A command that is imported when it runs."""

    def __init__(self, name: str, group: str) -> None:
        super().__init__(name, help=_docstring(COMMANDS[name].rpartition(".")[2]), rich_help_panel=group)

    def load(self) -> Any:
        """The command, or the group of commands, of the module; its examples follow its options in the help."""
        command = typer.main.get_command(import_module(COMMANDS[str(self.name)]).app)
        for one in (command, *getattr(command, "commands", {}).values()):
            text, lines = examples_of(one.help)
            one.help, one.epilog = text, "\n\n".join(["Examples:", *lines]) if lines else None
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the imported command."""
        return self.load().make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All commands, none of them imported."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: LazyCommand(name, group) for group, names in GROUPS.items() for name in names}


def examples_of(help_text: str | None) -> tuple[str, list[str]]:
    """The help of a command without its examples, and the examples, a line each."""
    text, _, block = (help_text or "").partition(_EXAMPLES)
    return text.strip(), [line.strip() for line in block.splitlines() if line.strip()]


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Live football intelligence: what happens in a match, while it happens, and taken back when it was wrong.",
)


def _docstring(name: str) -> str:
    """The docstring of the function of a module's own name, without an import."""
    module = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    functions = (node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    return ast.get_docstring(next(functions)) or ""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"touchline {program_version()}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show version and commit, and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Entry point of the ``touchline`` command."""
    os.environ["PYTHONSAFEPATH"] = "1"  # processes that this one starts import nothing from their working folder
    try:
        code = app(standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _give_up("stopped", _INTERRUPTED)
    except UserError as error:
        _give_up(one_line(error))
    except OSError as error:
        _give_up(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else one_line(error))
    except Exception as error:
        if hasattr(error, "format_message"):  # Typer's own: a command line that cannot be
            _give_up(error.format_message())
        if os.environ.get(TRACEBACK):
            raise
        _give_up(f"{_fault(error)}; a fault of the program: {TRACEBACK}=1 shows where it comes from", _FAULT)
    raise SystemExit(code if isinstance(code, int) else 0)


def _fault(error: Exception) -> str:
    """The error with the place in the program where it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(PROGRAM) in frame.filename]
    place = f" in {Path(frames[-1].filename).relative_to(PROGRAM)}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}: {one_line(error)}"


def _give_up(reason: str, code: int = _MENDABLE) -> NoReturn:
    print(f"touchline: {reason}", file=sys.stderr)
    raise SystemExit(code)


if __name__ == "__main__":
    main()

"""The command ``touchline``: finds a command's module, imports it, and runs it.

Each command is a module of this folder with a Typer application ``app`` and a function of the module's name, whose
docstring is the help. A module is imported when its command runs: the list of commands reads the docstrings only.

Errors that the user can mend (``football.errors.UserError``) are one line on stderr and exit code 2. Any other error is
a fault of the program and shows its traceback.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from app.base.errors import one_line
from football.errors import UserError

#: Commands in the order of the help, each with its module.
COMMANDS: Mapping[str, str] = {
    name: f"app.cli.{name}"
    for name in (
        "live", "config", "simulate", "official", "events", "updates", "score", "annotate", "detectors", "trace",
        "explain", "order", "publish", "follow", "doctor", "broker", "token", "batch", "query",
    )
} | {"test": "app.cli.run_tests"}  # fmt: skip


class LazyCommand(TyperCommand):
    """A command that is imported when it runs."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=_docstring(COMMANDS[name].rpartition(".")[2]))

    def load(self) -> Any:
        """The command, or the group of commands, of the module."""
        return typer.main.get_command(import_module(COMMANDS[str(self.name)]).app)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the imported command."""
        return self.load().make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All commands, none of them imported."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: LazyCommand(name) for name in COMMANDS}


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
        try:
            typer.echo(f"touchline {version('touchline')}")
        except PackageNotFoundError:
            typer.echo("touchline (not installed)")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Entry point of the ``touchline`` command."""
    os.environ["PYTHONSAFEPATH"] = "1"  # processes that this one starts import nothing from their working folder
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        _give_up("stopped")
    except UserError as error:
        _give_up(one_line(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer's own: a command line that cannot be
            raise
        _give_up(error.format_message())
    raise SystemExit(code if isinstance(code, int) else 0)


def _give_up(reason: str) -> NoReturn:
    print(f"touchline: {reason}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    main()

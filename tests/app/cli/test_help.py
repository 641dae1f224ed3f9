"""The help of commands: groups, examples that can be run; errors of any kind are one line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.main import get_command

from app.cli import main as command_line
from app.cli.main import COMMANDS, GROUPS, LazyCommand, app, examples_of


def commands() -> Iterator[tuple[str, Any]]:
    """Every command, those of groups too, by its full name."""
    for name, lazy in get_command(app).commands.items():
        command = lazy.load()
        inner = getattr(command, "commands", {})
        yield from ((f"{name} {part}", one) for part, one in inner.items()) if inner else [(name, command)]


def test_every_command_stands_in_one_group():
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(set(names)) == sorted(COMMANDS)
    assert {lazy.rich_help_panel for lazy in get_command(app).commands.values()} == set(GROUPS)


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_has_examples_that_its_options_allow(name: str, command: Any):
    assert command.epilog, f"touchline {name} --help has no examples"
    heading, *examples = command.epilog.split("\n\n")
    assert heading == "Examples:"
    for example in examples:
        words = shlex.split(example)
        assert words[: 1 + len(name.split())] == ["touchline", *name.split()]
        with command.make_context(name, words[1 + len(name.split()) :]):
            pass


def test_examples_are_no_part_of_the_text():
    text, examples = examples_of("Does it.\n\nMore.\n\nExamples:\n    touchline a\n    touchline b\n")
    assert (text, examples) == ("Does it.\n\nMore.", ["touchline a", "touchline b"])


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "touchline: stopped"),
        (typer.Abort(), 130, "touchline: stopped"),
        (OSError(28, "No space left on device", "there/file"), 2, "touchline: there/file: No space left on device"),
        (OSError("no buffer"), 2, "touchline: no buffer"),
        (AssertionError(), 70, "touchline: AssertionError in tests/app/cli/test_help.py, line "),
        (KeyError("x"), 70, "touchline: KeyError in tests/app/cli/test_help.py, line "),
    ],
)
def test_no_error_is_a_traceback(error: BaseException, code: int, line: str, monkeypatch, capsys):
    def fail(*, standalone_mode: bool) -> None:
        raise error

    monkeypatch.setattr(command_line, "app", fail)
    monkeypatch.delenv("TOUCHLINE_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == code
    (message,) = capsys.readouterr().err.splitlines()
    assert message.startswith(line)


def test_a_fault_names_its_place_and_shows_its_traceback_on_request(monkeypatch, capsys):
    class Broken(LazyCommand):
        def load(self) -> Any:
            raise AssertionError("never")

    monkeypatch.setattr(command_line, "app", lambda standalone_mode: Broken("events", "").make_context("events", []))
    monkeypatch.delenv("TOUCHLINE_TRACEBACK", raising=False)
    with pytest.raises(SystemExit):
        command_line.main()
    assert "AssertionError in tests/app/cli/test_help.py, line " in capsys.readouterr().err
    monkeypatch.setenv("TOUCHLINE_TRACEBACK", "1")
    with pytest.raises(AssertionError, match="never"):
        command_line.main()

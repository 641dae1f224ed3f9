"""Which errors are a person's to mend, and how they are told: in one line."""

from __future__ import annotations

from football.errors import UserError


def is_problem(error: Exception) -> bool:
    """True if the error says what somebody can do, False if it is a bug of ours."""
    return isinstance(error, UserError)


def one_line(error: Exception) -> str:
    """The error's message without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def why(error: Exception) -> str:
    """In one line, why something else goes on without what raised this: a bug of ours with its type."""
    return one_line(error) if is_problem(error) else f"{type(error).__name__}: {one_line(error)}"

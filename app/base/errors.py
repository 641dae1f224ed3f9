"""Messages of errors, in one line."""

from __future__ import annotations

from football.errors import UserError


def one_line(error: Exception) -> str:
    """The error's message without line breaks; its type's name if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def reason_of(error: Exception) -> str:
    """The reason for which something stops, in one line; the type is named unless the error is a ``UserError``."""
    return one_line(error) if isinstance(error, UserError) else f"{type(error).__name__}: {one_line(error)}"

"""Laws that hypothesis tries with few examples in the default suite, and with more of them in the slow one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Test = Callable[..., None]


def in_two_lengths(few: int, many: int, **drawn: st.SearchStrategy[Any]) -> Callable[[Test], Test]:
    """Makes two tests of one: with ``few`` examples, and with ``many``, which is slow.

    Args:
        few: examples of the default suite.
        many: examples of ``./touchline test --slow``.
        drawn: strategies of some arguments, as ``given`` takes them; the others are pytest's.
    """

    def decorate(test: Test) -> Test:
        @pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])
        def tried(examples: int, **others: Any) -> None:
            settings(max_examples=examples, deadline=None, print_blob=True)(given(**drawn)(test))(**others)

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(tried, name, getattr(test, name))
        others = [one for name, one in inspect.signature(test).parameters.items() if name not in drawn]
        first = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        tried.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
        return tried

    return decorate

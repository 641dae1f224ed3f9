"""Rubbish for parsers: bytes that were good once, JSON of known names, and how many cases are tried.

Whoever parses what comes from outside may raise what his docstring declares, and nothing else.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

#: Every test of this folder is there twice: short, and with ten thousand cases.
both = pytest.mark.parametrize("cases", [100, pytest.param(10_000, marks=pytest.mark.slow)])


def fewer(cases: int, times: int = 4) -> int:
    """Of what is slow the short form is so many times shorter."""
    return cases if cases >= 1_000 else cases // times


#: What all cases of a test may take besides what is taken already: rubbish of some hundred bytes needs no more.
_MEMORY_BYTES = 4 << 30


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Within, who makes much out of little runs into a ``MemoryError`` instead of taking the machine's memory."""
    statm = Path("/proc/self/statm")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    if statm.exists():
        taken_bytes = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken_bytes + _MEMORY_BYTES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def hold(cases: int, strategy: st.SearchStrategy[Any], body: Callable[[Any], object]) -> None:
    """Runs ``body`` with so many values; hypothesis makes the one that fails small."""

    @settings(
        max_examples=cases, deadline=None, database=None, derandomize=cases < 1_000,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def run(value: Any) -> None:
        body(value)

    with bounded_memory():
        run()


def refusal(kinds: type[Exception] | tuple[type[Exception], ...], call: Callable[[], object]) -> str | None:
    """Message of a call that raises one of ``kinds``; None if it does not. Any other error goes through."""
    try:
        call()
    except kinds as error:
        return str(error) or type(error).__name__
    return None


@st.composite
def mangled(draw: st.DrawFn, good: Sequence[bytes]) -> bytes:
    """One of ``good`` with bytes changed, cut out, doubled, or put in; sometimes just any bytes."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300))
    content = bytearray(draw(st.sampled_from(good)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        match draw(st.integers(0, 4)):
            case 0:
                content[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del content[at : at + draw(st.integers(1, 40))]
            case 2:
                content[at:at] = draw(st.binary(min_size=1, max_size=8))
            case 3:
                content[at:at] = content[at : at + draw(st.integers(1, 40))]
            case 4:
                del content[at:]
    return bytes(content)


def changed_text(good: Sequence[str]) -> st.SearchStrategy[str]:
    """As :func:`mangled`, for text; numbers and words are swapped for extreme ones now and then."""

    @st.composite
    def swapped(draw: st.DrawFn) -> str:
        text = draw(st.sampled_from(good))
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(text)))
            size = draw(st.integers(0, 12))
            text = text[:at] + draw(st.sampled_from(WORDS) | st.text(max_size=6)) + text[at + size :]
        return text

    return swapped() | mangled([text.encode() for text in good]).map(lambda raw: raw.decode("utf-8", "replace"))


WORDS = (
    "", "0", "-1", "1e999", "-1e999", "nan", "inf", "9" * 25, "-" + "9" * 25, "0.1", "true", "null", "{}", "[]", '""',
    '"', "\n", "\r\n", "\0", ",", ";", ":", "=", "#", "'", "\\", "\\u0000",
    "é", "\u202e", "1970-01-01", "0x10", "1_000", "../..", "%00",
)  # fmt: skip

NUMBERS = (
    st.integers(-5, 5)
    | st.sampled_from([2**31, -(2**31), 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 1e308, -1e308, 5e-324])
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.floats(-200, 200)
)


def json_like(names: Sequence[str], leaves: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[Any]:
    """JSON values whose objects have fields of these names; leaves are of any type."""
    some = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    leaf = (leaves or st.nothing()) | some | st.text(max_size=12)
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(list(names)), inner, max_size=8),
        max_leaves=20,
    )

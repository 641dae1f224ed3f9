"""Calibrated confidence: the chance that an event stands and is right, by its kind, its input and its circumstances.

A rule knows only whether it is certain or guesses. How often events of a kind are withdrawn, altered or wrong shows in
matches whose truth is known. ``detectors/confidence.toml`` has the share of those that stood and were right, as
``python -m bench.confidence --learn`` counts it in ragged simulated matches. A row applies to one kind and one input,
and to the events that meet its conditions; the first row that applies decides. Where no row does (a kind that was too
rare, an official's decision), the rule's own confidence is published.

Rules read the confidences of other rules, never the calibrated one: it belongs to what is published.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from football.match_sheet import Quality
from football.payloads import EventPayload, Scalar

#: The table that is shipped.
TABLE: Final = Path(__file__).with_name("confidence.toml")

#: Inputs that are calibrated apart.
RADIO, OPTICAL, OPTICAL_FLAT = "radio", "optical", "optical without height"

_CONDITION: Final = re.compile(r"^(\w+) (<|>=) (-?[0-9.e+-]+)$|^(\w+) = (.*)$")
_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {"<": operator.lt, ">=": operator.ge}


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the table.

    Attributes:
        kind: of the events.
        tracking: one of ``RADIO``, ``OPTICAL``, ``OPTICAL_FLAT``.
        chance: share of the samples that stood and were right, 0..1.
        samples: their number.
        where: conditions, all of which hold: ``NAME < NUMBER``, ``NAME >= NUMBER`` or ``NAME = TEXT``. A name is
            ``confidence`` (the rule's own), ``variant``, or one of the payload's detail.
    """

    kind: str
    tracking: str
    chance: float
    samples: int
    where: tuple[str, ...] = ()


def input_of(quality: Quality) -> str:
    """The input that a match counts as."""
    if quality.kind == "rtls":
        return RADIO
    return OPTICAL if quality.ball_height else OPTICAL_FLAT


def circumstance(payload: EventPayload, name: str) -> Scalar:
    """A circumstance of an event by its name, None if it has none of that name."""
    if name == "confidence":
        return payload.confidence
    return payload.variant if name == "variant" else payload.detail.get(name)


def condition(text: str) -> Callable[[EventPayload], bool]:
    """A condition of a row as a function.

    Raises:
        ValueError: it is not one.
    """
    parts = _CONDITION.match(text)
    if parts is None:
        raise ValueError(f"no condition: {text!r}; write NAME < NUMBER, NAME >= NUMBER or NAME = TEXT")
    name, sign, number, text_name, value = parts.groups()
    if text_name is not None:
        return lambda payload: circumstance(payload, text_name) == value
    compare, bound = _COMPARE[sign], float(number)

    def holds(payload: EventPayload) -> bool:
        found = circumstance(payload, name)
        return isinstance(found, int | float) and compare(found, bound)

    return holds


class InputCalibration:
    """The rows of one input, by kind."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: dict[str, list[tuple[tuple[Callable[[EventPayload], bool], ...], Row]]] = defaultdict(list)
        for row in rows:
            self._rows[row.kind].append((tuple(map(condition, row.where)), row))

    def row(self, kind: str, payload: EventPayload) -> Row | None:
        """The row that applies to an event."""
        for conditions, row in self._rows.get(kind, ()):
            if all(holds(payload) for holds in conditions):
                return row
        return None

    def confidence(self, kind: str, payload: EventPayload) -> float:
        """The chance that an event stands and is right; the rule's own confidence if no row applies.

        What officials have decided has theirs, which is 1.
        """
        row = None if payload.detail.get("official") else self.row(kind, payload)
        return payload.confidence if row is None else row.chance


class Calibration:
    """The whole table.

    Raises:
        ValueError: a condition that is none.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        self._inputs = {
            name: InputCalibration([row for row in rows if row.tracking == name])
            for name in (RADIO, OPTICAL, OPTICAL_FLAT)
        }

    def of(self, input_name: str) -> InputCalibration:
        """The rows of one input."""
        return self._inputs[input_name]


def read_table(text: str) -> tuple[Row, ...]:
    """The rows of a table as TOML.

    Raises:
        ValueError: it is not such a table.
    """
    return tuple(msgspec.convert(msgspec.toml.decode(text)["row"], list[Row]))


@lru_cache(maxsize=1)
def calibration() -> Calibration:
    """The table that is shipped."""
    return Calibration(read_table(TABLE.read_text("utf-8")))

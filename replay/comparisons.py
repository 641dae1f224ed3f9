"""The last comparison of a match with the event data of another provider: ``comparison.json`` in its store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from football.errors import UserError
from football.untrusted import LISTING_BYTES_MAX, UntrustedError, read_json

FILE: Final = "comparison.json"


class ComparisonError(UserError, ValueError):
    """The comparison cannot be read or written; the message has the reason."""


class Disagreement(msgspec.Struct, frozen=True):
    """An action that only one side has, or about which both differ.

    Attributes:
        about: ``ours only``, ``theirs only``, or what differs: ``time``, ``player``, ``place``, ``outcome``.
        kind, period: of the action.
        event_us: event time; of an action that only they have, where it would be in our match.
        ours, theirs: ids; empty where there is none.
        our_player, their_player: object id, and the provider's name.
        seconds: how much later they have it, the shift of the clocks taken off; None without a pair.
        metres: distance of the places; None without both.
    """

    about: tuple[str, ...]
    kind: str
    period: int
    event_us: int
    ours: str
    theirs: str
    our_player: str
    their_player: str
    seconds: float | None = None
    metres: float | None = None


class KindFigures(msgspec.Struct, frozen=True):
    """Numbers of actions of a kind: on each side, and paired."""

    ours: int
    theirs: int
    paired: int


class Comparison(msgspec.Struct, frozen=True):
    """A comparison.

    Attributes:
        provider: of the other events.
        shifts_s: by period, how far their clock is ahead.
        kinds: figures by kind.
        agreeing: number of pairs without a disagreement.
        disagreements: in order of time.
    """

    provider: str
    shifts_s: dict[int, float]
    kinds: dict[str, KindFigures]
    agreeing: int
    disagreements: list[Disagreement]


def read_comparison(folder: Path) -> Comparison | None:
    """Read the comparison of a store; None if none was kept.

    Raises:
        ComparisonError: the file is damaged.
    """
    try:
        return read_json(folder / FILE, Comparison, LISTING_BYTES_MAX)
    except FileNotFoundError:
        return None
    except (OSError, UntrustedError) as error:
        raise ComparisonError(f"{folder / FILE}: {error}") from error


def keep_comparison(folder: Path, comparison: Comparison) -> None:
    """Replace the comparison of a store.

    Raises:
        ComparisonError: the file cannot be written.
    """
    draft = folder / f"{FILE}.draft"
    try:
        draft.write_bytes(msgspec.json.encode(comparison))
        os.replace(draft, folder / FILE)
    except OSError as error:
        raise ComparisonError(f"{folder / FILE}: {error}") from error

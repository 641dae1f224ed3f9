"""The chance that a tentative event stands, by kind and age. ``camera/chances.toml`` has the measured table.

An engine that speculates asserts events early and withdraws some of them. Of each kind a share ``stands``; a wrong one
is withdrawn after ``settles_ms`` in the mean. If withdrawals come at random at that rate, then by Bayes an event that
has survived the time t stands with the chance ``s / (s + (1 - s) exp(-t / settles))``: it grows from s to 1. A
confidence of the event that is lower than s takes its place: it is counted, too, and knows more of the event.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from football.errors import UserError
from football.untrusted import UntrustedError, read_toml

PACKAGED = Path(__file__).parent / "chances.toml"


class ChancesError(UserError, ValueError):
    """A table of chances is wrong; the message names file, kind and reason."""


class Chance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of one kind: the share of events that stand, and the mean time until a wrong one is withdrawn."""

    stands: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.5
    settles_ms: Annotated[float, Meta(gt=0.0, le=10_000.0)] = 300.0

    def after(self, age_us: int, confidence: float = 1.0) -> float:
        """Return the chance that an event stands which has survived ``age_us`` since it was asserted."""
        stands = min(self.stands, confidence)
        if stands <= 0.0:
            return 0.0
        left = (1 - stands) * math.exp(-max(0, age_us) / (1000 * self.settles_ms))
        return stands / (stands + left)


class Chances(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Chances by kind, and that of all others."""

    other: Chance = Chance()
    kinds: Mapping[str, Chance] = {}

    def of(self, kind: str) -> Chance:
        """Return the chance of a kind, else of its first word, else of all others."""
        return self.kinds.get(kind) or self.kinds.get(kind.partition(".")[0]) or self.other


#: Believes every event.
CERTAIN = Chances(Chance(1.0))


def load_chances(path: Path = PACKAGED) -> Chances:
    """Load a table of chances.

    Raises:
        ChancesError: the file cannot be read, or a key is unknown or wrong.
    """
    try:
        return msgspec.convert(read_toml(path), Chances)
    except OSError as error:
        raise ChancesError(f"{path}: cannot be read: {error}") from error
    except (UntrustedError, msgspec.ValidationError) as error:
        raise ChancesError(f"{path}: {error}") from error

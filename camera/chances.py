"""The chance that a tentative event stands, by its confidence and age. ``camera/chances.toml`` has measured times.

An engine that speculates asserts events early and withdraws some of them. The confidence s of an event is the share of
events like it that stand (decision 037). A wrong one is withdrawn after ``settles_ms`` in the mean. If withdrawals come
at random at that rate, then by Bayes an event that has survived the time t stands with the chance
``s / (s + (1 - s) exp(-t / settles))``: it grows from s to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from football.errors import UserError
from football.untrusted import UntrustedError, read_toml
from football.update_stream import EventRecord

PACKAGED = Path(__file__).parent / "chances.toml"

#: Returns the chance that an event stands which was asserted a time (us) ago.
Chance = Callable[[EventRecord, int], float]
Milliseconds = Annotated[float, Meta(gt=0.0, le=10_000.0)]


class ChancesError(UserError, ValueError):
    """A table of chances is wrong; the message names file, key and reason."""


class Chances(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How chances grow.

    Attributes:
        settles_ms: mean time until a wrong event is withdrawn, by kind, or by the first word of kinds.
        other_ms: the same of all other kinds.
    """

    settles_ms: Mapping[str, Milliseconds] = {}
    other_ms: Milliseconds = 300.0

    def of(self, event: EventRecord, age_us: int) -> float:
        """Return the chance that an event stands which was asserted ``age_us`` ago."""
        stands = event.confidence
        if stands <= 0.0:
            return 0.0
        return stands / (stands + (1 - stands) * math.exp(-max(0, age_us) / (1000 * self._settles_ms(event.kind))))

    def _settles_ms(self, kind: str) -> float:
        return self.settles_ms.get(kind) or self.settles_ms.get(kind.partition(".")[0]) or self.other_ms


def certain(event: EventRecord, age_us: int) -> float:
    """Believe every event."""
    return 1.0


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

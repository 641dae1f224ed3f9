"""Event data of other providers, read by kloppy: actions on the ball in our terms.

Places are metres from the centre spot, and every team attacks towards +x. Times are seconds of the period.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from football.errors import TrackingError
from football.match_sheet import MatchSheet, Team
from football.untrusted import UntrustedError
from football.untrusted_files import check_expanded

#: provider -> (kloppy module, its loader, names of the files it takes).
PROVIDERS: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "statsbomb": ("statsbomb", "load", ("event_data", "lineup_data")),
    "opta": ("opta", "load", ("f7_data", "f24_data")),
    "wyscout": ("wyscout", "load", ("event_data",)),
    "sportec": ("sportec", "load_event", ("event_data", "meta_data")),
}
#: Kinds of action that both sides name alike, by kloppy's type.
KINDS: Final = {
    "PASS": "pass", "SHOT": "shot", "TAKE_ON": "take_on", "CARRY": "carry", "CLEARANCE": "clearance",
    "INTERCEPTION": "interception",
}  # fmt: skip
_METRES: Final = "secondspectrum"
_EVENTS_MAX: Final = 20_000
_GOOD: Final = ("COMPLETE", "GOAL")


class OtherAction(NamedTuple):
    """An action of a provider.

    Attributes:
        kind, id: kind as :class:`app.export.actions.Action` has it, and the provider's id.
        period, period_s: period and time in it.
        team, player, name: side, object id of our match sheet (empty if nobody has that shirt or name), his name.
        x_m, y_m: place; None without one.
        is_good: pass complete, shot a goal; None where the provider does not say.
    """

    kind: str
    id: str
    period: int
    period_s: float
    team: Team
    player: str
    name: str
    x_m: float | None
    y_m: float | None
    is_good: bool | None


def read_other(provider: str, paths: Sequence[Path], sheet: MatchSheet) -> list[OtherAction]:
    """Read the files of a provider.

    Args:
        provider: a key of ``PROVIDERS``.
        paths: its files, in the order of ``PROVIDERS``.
        sheet: players are found on it by team and shirt, else by name.

    Raises:
        TrackingError: unknown provider, another number of files, or kloppy cannot read them.
    """
    if provider not in PROVIDERS:
        raise TrackingError(f"no provider {provider} of events; known: {', '.join(PROVIDERS)}")
    module, function, names = PROVIDERS[provider]
    if len(paths) != len(names):
        raise TrackingError(f"{provider}: give {len(names)} files: {', '.join(names)}")
    for path in paths:
        try:
            if not path.is_file():
                raise TrackingError(f"{path}: no such file")
            check_expanded(path)
        except (OSError, UntrustedError) as error:
            raise TrackingError(f"{path}: {error}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loader = getattr(importlib.import_module(f"kloppy.{module}"), function)
            files = dict(zip(names, map(str, paths), strict=True))
            dataset = loader(**files, coordinates=_METRES).transform(to_orientation="ACTION_EXECUTING_TEAM")
            found = [_action(event, sheet) for event in dataset.events[:_EVENTS_MAX] if _kind(event)]
    except Exception as error:  # kloppy raises what its parsers raise
        label = ", ".join(map(str, paths))
        raise TrackingError(f"{label}: kloppy cannot read it: {type(error).__name__}: {error}") from error
    return sorted(found, key=lambda one: (one.period, one.period_s))


def _kind(event: Any) -> str:
    """Kind of an event; empty for one that is not compared. An own goal, which kloppy calls a shot, is none."""
    is_own = getattr(event.result, "name", "") == "OWN_GOAL"
    return "" if is_own else KINDS.get(event.event_type.name, "")


def _action(event: Any, sheet: MatchSheet) -> OtherAction:
    ground = getattr(getattr(event.team, "ground", None), "value", "")
    team: Team = "home" if ground == "home" else "away" if ground == "away" else ""
    result = getattr(event.result, "name", "")
    place = event.coordinates
    known = place is not None and math.isfinite(place.x) and math.isfinite(place.y)
    x_m, y_m = (round(float(place.x), 2), round(float(place.y), 2)) if known else (None, None)
    name = str(getattr(event.player, "name", None) or "")
    shirt = getattr(event.player, "jersey_no", None)
    player = next(_players(sheet, team, shirt, name), "")
    period_s = event.timestamp.total_seconds()
    is_good = result in _GOOD if result and _kind(event) in ("pass", "shot") else None
    return OtherAction(
        _kind(event), str(event.event_id), int(event.period.id), period_s, team, player, name, x_m, y_m, is_good
    )


def _players(sheet: MatchSheet, team: Team, shirt: object, name: str) -> Iterator[str]:
    """Object ids of who may be meant: by shirt, then by name."""
    mine = [one for one in sheet.players if one.team == team]
    yield from (one.object_id for one in mine if shirt is not None and one.shirt == shirt)
    yield from (one.object_id for one in mine if name and one.name == name)

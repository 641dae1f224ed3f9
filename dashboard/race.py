"""The race of the teams: expected goals, momentum minute by minute, and the chance to win, from the update log.

All follow the log in both directions: a withdrawn shot leaves the race, an amended one has its new value. Momentum is
the balance of detector 13.6 (``detectors.tactics.momentum``) without touches in the area: values of shots and of
progressive passes and carries, each fading, home less away. The chance to win is that of detector 14.12.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import msgspec

from detectors.tactics.momentum import MomentumParameters
from football.update_stream import EventRecord, UpdateRecord

_XG: Final = "shot.xg"
_WIN: Final = "win.chance"
_KINDS: Final = (_XG, "progress.pass", "progress.carry", _WIN)
_MINUTE_US: Final = 60_000_000
#: Minutes that are shown; a stream that claims a longer match is cut.
_MINUTES_MAX: Final = 180


class Race(msgspec.Struct, frozen=True):
    """The race so far.

    Attributes:
        shots: event time in us, team and expected goals of each shot, oldest first.
        momentum: balance at the end of each minute since event time 0, in expected goals, positive for home.
        win: event time in us, chance (0 to 1) that home wins and that away wins, oldest first; the rest is a draw.
    """

    shots: list[tuple[int, str, float]]
    momentum: list[float]
    win: list[tuple[int, float, float]]


class RaceKeeper:
    """Holds the events of the race that are asserted now.

    Args:
        parameters: weights of momentum.
    """

    def __init__(self, parameters: MomentumParameters | None = None) -> None:
        self._parameters = parameters or MomentumParameters()
        self._held: dict[str, EventRecord] = {}
        self._race: Race | None = None
        self._minute = 0

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Take the next updates of the log; it ignores all other kinds."""
        for update in updates:
            event = update.event
            if event.kind not in _KINDS:
                continue
            if update.diff > 0:
                self._held[event.id] = event
            elif self._held.get(event.id) == event:
                del self._held[event.id]
            self._race = None

    def race(self, now_us: int) -> Race:
        """Return the race up to an arrival time; it is computed again once a minute, and when an event has changed."""
        minute = max(0, min(_MINUTES_MAX, now_us // _MINUTE_US))
        if self._race is None or minute != self._minute:
            self._minute = minute
            self._race = self._computed(minute)
        return self._race

    def _computed(self, minutes: int) -> Race:
        events = sorted(self._held.values(), key=lambda event: (event.ts_us, event.id))
        shots = [(event.ts_us, event.team, round(_share(event, "xg"), 3)) for event in events if event.kind == _XG]
        # Each chance is an event of either team with the same figures.
        chances = [event for event in events if event.kind == _WIN and event.team == "home"]
        win = [(event.ts_us, _share(event, "win"), _share(event, "lose")) for event in chances]
        momentum, lead, at_us, next_event = [], 0.0, 0, 0
        for minute in range(1, minutes + 1):
            while next_event < len(events) and events[next_event].ts_us < minute * _MINUTE_US:
                event = events[next_event]
                lead = self._faded(lead, event.ts_us - at_us) + self._weight(event)
                at_us, next_event = max(at_us, event.ts_us), next_event + 1
            momentum.append(round(self._faded(lead, minute * _MINUTE_US - at_us), 3))
        return Race(shots, momentum, win)

    def _faded(self, lead: float, passed_us: int) -> float:
        return lead * math.exp(-max(0, passed_us) / self._parameters.fade_us)

    def _weight(self, event: EventRecord) -> float:
        sign = {"home": 1.0, "away": -1.0}.get(event.team, 0.0)
        if event.kind == _WIN:
            return 0.0
        return sign * (_share(event, "xg") if event.kind == _XG else self._parameters.progress_share)


def _share(event: EventRecord, name: str) -> float:
    value = event.detail.get(name)
    return float(value) if isinstance(value, int | float) else 0.0

"""How soon a camera answers events, and how far it moves for wrong ones. Pure, bounded memory.

Of each event that pulls, the scores remember where its subject is. *Reaction* is the time from the event to the first
tick at which the camera turns towards it, *arrival* the time until the subject is in the picture; an event
whose subject is in the picture from the beginning has neither. Both count on the stream's clock, and are negative if
the camera was there before the event. *Wasted* is the path that the camera turned, towards the subject, while
an event that was withdrawn later was the heaviest.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import msgspec
import numpy as np

from camera.head import Pose
from camera.interest import Cause
from camera.mount import Mount
from football.update_stream import UpdateRecord

#: Limit of the events that are watched, and of the times that are remembered.
WATCHED_MAX, TIMES_MAX = 64, 2_000
#: A camera turns towards a subject from this speed on.
TURNS_DEG_S = 0.5


class _Watched(msgspec.Struct):
    """An event, and how far the camera has answered it."""

    ts_us: int
    was_framed: bool
    reaction_us: int | None = None
    arrival_us: int | None = None
    path_deg: float = 0.0


class EventScores:
    """Scores of one camera.

    Args:
        mount: position and heading of the camera.
        aspect: width by height of its pictures.

    Attributes:
        mount: may be replaced.
    """

    def __init__(self, mount: Mount, aspect: float) -> None:
        self.mount, self._aspect = mount, aspect
        self._watched: OrderedDict[str, _Watched] = OrderedDict()
        self._reactions_ms: list[float] = []
        self._arrivals_ms: list[float] = []
        self._last: Pose | None = None
        self._path_deg = self._wasted_deg = self._seconds = 0.0
        self._withdrawn: OrderedDict[str, _Watched] = OrderedDict()
        self._wasted_events = 0

    def tick(self, stream_us: int, pose: Pose, causes: tuple[Cause, ...], dt_s: float) -> None:
        """Take the pose of the camera at a tick.

        Args:
            stream_us: the stream's clock.
            pose: of the head, or the planned one.
            causes: events that pull, the heaviest first.
            dt_s: time since the last tick.
        """
        last, self._last = self._last or pose, pose
        step = (pose.pan_deg - last.pan_deg, pose.tilt_deg - last.tilt_deg)
        self._path_deg += math.hypot(*step)
        self._seconds += dt_s
        for rank, cause in enumerate(causes):
            framed = self.mount.in_picture(pose, self._aspect, cause.x_m, cause.y_m, 0.0, 0.1)
            one = self._watched.get(cause.event_id)
            if one is None:
                one = self._watched[cause.event_id] = _Watched(cause.ts_us, framed)
                while len(self._watched) > WATCHED_MAX:
                    self._done(self._watched.popitem(last=False)[1])
            aim = self.mount.aim(cause.x_m, cause.y_m)
            off = (aim[0] - pose.pan_deg, aim[1] - pose.tilt_deg)
            towards_deg = (step[0] * off[0] + step[1] * off[1]) / max(math.hypot(*off), 1e-6)
            if one.reaction_us is None and towards_deg > TURNS_DEG_S * dt_s > 0:
                one.reaction_us = stream_us - one.ts_us
            if one.arrival_us is None and framed:
                one.arrival_us = stream_us - one.ts_us
            if rank == 0:
                one.path_deg += max(0.0, towards_deg)

    def take_update(self, update: UpdateRecord) -> None:
        """Take an update: the path towards a withdrawn event is wasted, unless the event is asserted again."""
        event_id = update.event.id
        if update.diff < 0 and (one := self._watched.pop(event_id, None)):
            self._withdrawn[event_id] = one
            while len(self._withdrawn) > WATCHED_MAX:
                self._wasted_deg += self._withdrawn.popitem(last=False)[1].path_deg
                self._wasted_events += 1
        elif update.diff > 0 and (one := self._withdrawn.pop(event_id, None)):
            self._watched[event_id] = one

    def figures(self) -> dict[str, float]:
        """Return ``reaction_p50_ms``, ``reaction_p95_ms`` and the same of ``arrival``, of the events that stand and
        whose subject was not in the picture; ``wasted_deg_per_min``, ``wasted_share`` (of the whole path);
        ``withdrawn_pulls``. Times are left out while there are none.
        """
        reactions, arrivals = list(self._reactions_ms), list(self._arrivals_ms)
        for one in self._watched.values():
            _add(one, reactions, arrivals)
        wasted_deg = self._wasted_deg + sum(one.path_deg for one in self._withdrawn.values())
        figures = {
            "withdrawn_pulls": float(self._wasted_events + len(self._withdrawn)),
            "wasted_deg_per_min": wasted_deg / max(self._seconds / 60, 1e-9),
            "wasted_share": wasted_deg / max(self._path_deg, 1e-9),
        }
        for name, values in (("reaction", reactions), ("arrival", arrivals)):
            if values:
                figures[f"{name}_p50_ms"] = float(np.quantile(values, 0.5))
                figures[f"{name}_p95_ms"] = float(np.quantile(values, 0.95))
        return figures

    def _done(self, one: _Watched) -> None:
        _add(one, self._reactions_ms, self._arrivals_ms)
        del self._reactions_ms[:-TIMES_MAX], self._arrivals_ms[:-TIMES_MAX]


def _add(one: _Watched, reactions_ms: list[float], arrivals_ms: list[float]) -> None:
    """Add the times of an event, in milliseconds, unless its subject was in the picture from the beginning."""
    if one.was_framed:
        return
    if one.reaction_us is not None:
        reactions_ms.append(one.reaction_us / 1000)
    if one.arrival_us is not None:
        arrivals_ms.append(one.arrival_us / 1000)

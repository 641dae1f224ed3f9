"""The path of a possession chain: where its team has played the ball, and how far upfield.

Distances are of the contacts of the team, from one to the next, as the team sees the pitch: x grows towards the
opponents' goal, from -half a length to half a length.
"""

from __future__ import annotations

import math

import msgspec

from football.match_sheet import Team
from football.payloads import EventPayload, payload_of
from football.pitch import Pitch
from middleware.events import Event

#: What :func:`followed` reads.
INPUTS = ("direction", "hit", "touch", "pass.complete", "chain.start", "chain.end")


class ChainPath(msgspec.Struct, frozen=True, gc=False):
    """A chain under way.

    Attributes:
        start: its ``chain.start``.
        towards: +1 if its team attacks towards +x, else -1.
        begin_x_m: where it began, upfield.
        x_m, y_m: its newest contact, upfield.
        length_m: length of the path over the contacts.
        forward_m: metres upfield on it, without those back.
        passes: completed.
        in_area: True if the newest contact is in the opponents' penalty area.
    """

    start: Event
    towards: float
    begin_x_m: float
    x_m: float
    y_m: float
    length_m: float = 0.0
    forward_m: float = 0.0
    passes: int = 0
    in_area: bool = False

    @property
    def gained_m(self) -> float:
        """How far upfield the newest contact is of the start."""
        return self.x_m - self.begin_x_m


def followed(path: ChainPath | None, event: Event, pitch: Pitch, attacks_x: Team) -> ChainPath | None:
    """The path after an event; None without a chain, or if nobody knows the directions of attack."""
    if event.kind in ("direction", "chain.end"):
        return path
    payload = payload_of(event)
    if event.kind == "chain.start":
        if not attacks_x or payload.x_m is None or payload.y_m is None:
            return None
        towards = 1.0 if payload.team == attacks_x else -1.0
        x_m, y_m = towards * payload.x_m, towards * payload.y_m
        return ChainPath(event, towards, x_m, x_m, y_m, in_area=is_in_area(pitch, x_m, y_m))
    if path is None or payload_of(path.start).team != payload.team or event.ts_us <= path.start.ts_us:
        return path
    if event.kind == "pass.complete":
        return msgspec.structs.replace(path, passes=path.passes + 1)
    return _moved(path, payload, pitch)


def _moved(path: ChainPath, contact: EventPayload, pitch: Pitch) -> ChainPath:
    if contact.x_m is None or contact.y_m is None:
        return path
    x_m, y_m = path.towards * contact.x_m, path.towards * contact.y_m
    return msgspec.structs.replace(
        path,
        x_m=x_m,
        y_m=y_m,
        length_m=path.length_m + math.hypot(x_m - path.x_m, y_m - path.y_m),
        forward_m=path.forward_m + max(x_m - path.x_m, 0.0),
        in_area=is_in_area(pitch, x_m, y_m),
    )


def is_in_area(pitch: Pitch, x_m: float, y_m: float) -> bool:
    """True if a place, upfield, is in the opponents' penalty area."""
    return pitch.in_penalty_area(x_m, y_m, "right")

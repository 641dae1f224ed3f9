"""9.1 to 9.6: kick-off, throw-in, corner, goal kick, free kick, penalty kick (IFAB Laws 8, 13 to 17).

Theory of operation
-------------------
Every ``play.live`` is a kick from rest with its place, its taker and what play had died of. One function,
:func:`restart_kind`, gives it exactly one name, so no two of these detectors speak of one kick. A restart is
dated when the ball was kicked, which is a little before it had gone far enough to tell (``horizon_us``).

After a line, the line decides between throw-in and the rest, and the place between corner and goal kick. After
a stop in the field the place decides as well: the crossing may have escaped the tracking.
"""

from __future__ import annotations

import math

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.emission import make_event
from detectors.play.restart_kicks import (
    CENTRE_M,
    CORNER_M,
    PENALTY_MARK_M,
    TAKER_OUTSIDE_M,
    TOUCH_LINE_M,
    Kind,
)
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, published, time_us
from football.pitch import (
    GOAL_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    End,
    Pitch,
    end_of,
    end_sign,
    pitch_of,
)
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class RestartParameters(msgspec.Struct, frozen=True):
    """Thresholds of the restarts.

    Attributes:
        between_kick_offs_us: StreamTeam: two kick-offs are at least a minute apart.
        shot_m, shot_m_s: a free kick from at most this far and at least this fast towards the goal is a shot.
        shot_wide_m: towards the goal means at most this far beside a post.
        cross_m, cross_m_s: one from at most this far, this fast, into the penalty area is a cross. All ours.
        back_us: the kick is at most this long before play is known to be live.
        doubt: confidence if the taker's team itself had put the ball out, so that somebody was mistaken.
    """

    between_kick_offs_us: int = 60_000_000
    shot_m: float = 35.0
    shot_m_s: float = 15.0
    shot_wide_m: float = 2.0
    cross_m: float = 45.0
    cross_m_s: float = 12.0
    back_us: int = 1_500_000
    doubt: float = 0.6


#: Number in the hierarchy and Law of each kind.
KINDS: dict[Kind, tuple[str, str]] = {
    "kick_off": ("9.1", "StreamTeam; IFAB Law 8"),
    "throw_in": ("9.2", "IFAB Law 15"),
    "corner": ("9.3", "IFAB Law 17"),
    "goal_kick": ("9.4", "IFAB Law 16"),
    "free_kick": ("9.5", "IFAB Law 13; StreamTeam; SPADL"),
    "penalty": ("9.6", "IFAB Law 14"),
}
#: Variants of the kinds that have any.
VARIANTS: dict[Kind, tuple[str, ...]] = {
    "corner": ("left", "right"),
    "free_kick": ("direct shot", "crossed", "short"),
}


class Restart:
    """One of 9.1-9.6: ``restart.<kind>``; team and player are the taker's, the place is the ball's.

    ``variant`` is ``left`` or ``right`` of a corner kick as its taker's team attacks, ``direct shot``,
    ``crossed`` or ``short`` of a free kick. ``detail.after`` says what play had died of.
    """

    def __init__(self, sheet: MatchSheet, kind: Kind, parameters: RestartParameters | None = None) -> None:
        self.parameters = parameters or RestartParameters()
        self.kind = kind
        self.pitch = pitch_of(sheet)
        number, source = KINDS[kind]
        self.spec = Spec(
            name=f"restart_{kind}",
            number=number,
            level=9,
            inputs=("play.live",),
            outputs=(f"restart.{kind}",),
            horizon_us=self.parameters.back_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source=source,
            team_variants={f"restart.{kind}": VARIANTS.get(kind, ("",))},
        )

    def initial(self) -> int:
        """Time of the last restart of this kind; long ago."""
        return -(2**62)

    def step(self, state: int, event: Event) -> Step[int]:
        """Names the kick; speaks if the name is its own."""
        payload = published(event)
        if restart_kind(self.pitch, payload) != self.kind:
            return state, NOTHING
        kick_us = time_us(payload, "kick_us")
        ts_us = max(kick_us, event.ts_us - self.spec.horizon_us)
        if self.kind == "kick_off" and ts_us - state < self.parameters.between_kick_offs_us:
            return state, NOTHING
        told = msgspec.structs.replace(
            payload,
            variant=self._variant(payload),
            confidence=self._confidence(payload),
            detail={"after": payload.variant, "rest_s": payload.detail["rest_s"], "out_by": payload.detail["out_by"]},
        )
        return ts_us, (make_event(self.spec.outputs[0], ts_us, event.source, told, causes=(event.id,)),)

    def _variant(self, payload: EventPayload) -> str:
        x_m, y_m = place(payload)
        if self.kind == "corner":
            return "left" if x_m * y_m > 0 else "right"
        return free_kick_variant(self.pitch, payload, self.parameters) if self.kind == "free_kick" else ""

    def _confidence(self, payload: EventPayload) -> float:
        """A restart after a line belongs to those who did not touch the ball last."""
        mistaken = payload.variant in ("touch", "goal line") and payload.team == payload.detail["out_by"]
        return self.parameters.doubt if mistaken else payload.confidence


def restart_kind(pitch: Pitch, live: EventPayload) -> Kind:
    """The one name of the kick that a ``play.live`` tells of; empty if there was none (play just went on)."""
    if live.detail["fallback"]:
        return ""
    x_m, y_m = place(live)
    if live.detail["kick_off_shape"] and math.hypot(x_m, y_m) <= CENTRE_M:
        return "kick_off"
    if live.variant == "touch":
        return "throw_in"
    corner = pitch.corner_distance_m(x_m, y_m) <= CORNER_M
    if live.variant == "goal line":
        return "corner" if corner else "goal_kick"
    if _thrown(pitch, live, y_m):
        return "throw_in"
    if corner:
        return "corner"
    return _stopped_kind(pitch, live, x_m, y_m)


def _stopped_kind(pitch: Pitch, live: EventPayload, x_m: float, y_m: float) -> Kind:
    end = end_of(x_m)
    mark_x_m, mark_y_m = pitch.penalty_mark(end)
    defends = live.team == opponents_of(_attackers(live, end))
    at_mark = math.hypot(x_m - mark_x_m, y_m - mark_y_m) <= PENALTY_MARK_M
    if at_mark and not defends and live.detail["penalty_shape"]:
        return "penalty"
    if live.variant == "goal" and pitch.in_goal_area(x_m, y_m, end) and defends:
        return "goal_kick"
    return "free_kick"


def _thrown(pitch: Pitch, live: EventPayload, y_m: float) -> bool:
    """Whether a ball at the touchline was taken by somebody who stood outside, on the same side."""
    taker_y_m = live.detail["taker_y_m"]
    if not isinstance(taker_y_m, float) or pitch.half_width_m - abs(y_m) > TOUCH_LINE_M:
        return False
    return taker_y_m * y_m > 0 and abs(taker_y_m) >= pitch.half_width_m + TAKER_OUTSIDE_M


def free_kick_variant(pitch: Pitch, live: EventPayload, p: RestartParameters) -> str:
    """``direct shot``, ``crossed`` or ``short``: where the ball goes, as far as its first metres tell."""
    x_m, y_m = place(live)
    vx, vy = live.detail["vx_m_s"], live.detail["vy_m_s"]
    assert isinstance(vx, float)
    assert isinstance(vy, float)
    attacks_x = live.detail["attacks_x"]
    end: End = end_of(vx) if not attacks_x else ("right" if live.team == attacks_x else "left")
    speed_m_s = math.hypot(vx, vy)
    towards = vx * end_sign(end)
    if towards <= 0.0:
        return "short"
    distance_m = pitch.goal_distance_m(x_m, y_m, end)
    at_goal_line_y_m = y_m + vy / towards * pitch.depth_m(x_m, end)
    aimed = abs(at_goal_line_y_m) <= GOAL_HALF_WIDTH_M + p.shot_wide_m
    if distance_m <= p.shot_m and speed_m_s >= p.shot_m_s and aimed:
        return "direct shot"
    at_front_y_m = y_m + vy / towards * max(pitch.depth_m(x_m, end) - PENALTY_AREA_DEPTH_M, 0.0)
    into_area = min(abs(at_goal_line_y_m), abs(at_front_y_m)) <= PENALTY_AREA_HALF_WIDTH_M
    return "crossed" if distance_m <= p.cross_m and speed_m_s >= p.cross_m_s and into_area else "short"


def place(payload: EventPayload) -> tuple[float, float]:
    """Place of a fact that has one."""
    assert payload.x_m is not None
    assert payload.y_m is not None
    return payload.x_m, payload.y_m


def _attackers(live: EventPayload, end: End) -> Team:
    """Team that attacks an end, empty if unknown."""
    attacks_x = live.detail["attacks_x"]
    team: Team = "home" if attacks_x == "home" else "away" if attacks_x == "away" else ""
    return team if end == "right" else opponents_of(team)

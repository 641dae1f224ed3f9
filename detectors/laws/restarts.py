"""9.1 to 9.7: kick-off, throw-in, corner, goal, free and penalty kick, dropped ball (IFAB Laws 8, 13 to 17).

Theory of operation
-------------------
Every ``play.live`` (6.4) is a kick from rest, with its position, its taker and the cause of the stoppage that it ends.
:func:`~detectors.play.restart_kicks.restart_kind` gives it exactly one kind, by the first row of this table that fits.
The cause and the position of the kick decide, not the team that touched the ball last. If the taker's own team had put
the ball out, only the confidence is lower (``doubt``).

| restart | cause of the stoppage | the ball lies | further conditions |
|---|---|---|---|
| kick-off | any | within ``centre_m`` of the centre spot | each team in its half, one team around the spot |
| free kick | touchline | at least ``kick_inside_m`` inside | the taker is inside, too |
| throw-in | touchline | elsewhere | |
| corner kick | goal line | within ``corner_m`` of a corner | not by the defenders of that end |
| goal kick | goal line | elsewhere | not beside the flag |
| corner kick | stop or goal | within ``arc_m`` of a corner | not by the defenders of that end |
| throw-in | stop or goal | within ``touch_line_m`` of a touchline | the taker is outside, or nobody saw the stop |
| dropped ball | stop | anywhere | the referee held it, nobody near, and let it fall |
| corner kick | stop or goal | within ``corner_m`` of a corner | not by the defenders of that end |
| penalty kick | stop or goal | within ``penalty_mark_m`` of a mark | few in that area; not by its defenders [1] |
| goal kick | goal, or a stop that nobody saw | in the goal area of the taker's team | |
| free kick | stop or goal | elsewhere | |
| free kick | goal line | within ``corner_m`` of a corner | by the defenders of that end |

[1] In a shoot-out both teams kick at one goal; all others are in the centre circle (Law 10.3).

A *stop* is a stoppage without a crossing, as after a foul. The distances are the parameters ``restart_kick``
(:class:`~detectors.play.restart_kicks.RestartKickParameters`). Before this table applies, 5.10 has checked that a
restart may be taken there at all (:func:`~detectors.play.restart_kicks.may_restart`): after ``touch`` a kick is a
restart only near that touchline. After a stop, a kick from a corner is a corner kick and a throw at the touchline is a
throw-in, because the track may have missed the crossing. If 5.10 saw no kick from rest (``fallback``), there is no
restart event.

A restart is dated at its kick. It is known a little later, when the ball has moved far enough (``horizon_us``).
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, at_most, is_over
from detectors.emission import make_event
from detectors.play.restart_kicks import NAMES, Kind, RestartKickParameters, restart_kind
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, location_m, number, payload_of, time_us
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
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class RestartParameters(msgspec.Struct, frozen=True):
    """Variants, confidence and dating of restarts; their distances are the parameters ``restart_kick``.

    Attributes:
        between_kick_offs_us: least time between two kick-offs, unless the ball was in a goal meanwhile.
        shot_m: greatest distance from the goal of a free kick that is a direct shot.
        shot_m_s: least speed of a direct shot.
        shot_wide_m: a direct shot aims at most this far outside a post.
        cross_m: greatest distance from the goal of a free kick that is crossed.
        cross_m_s: least speed of a crossed free kick.
        back_us: for the detectors above, a restart is dated at most this long before it is known.
        doubt: confidence of a restart if the taker's own team had put the ball out.
    """

    between_kick_offs_us: Annotated[
        int, reason("Ours: a goal from the kick-off and the next line-up take longer; StreamTeam has a minute.")
    ] = 15_000_000
    shot_m: Annotated[float, reason("Ours.")] = 35.0
    shot_m_s: Annotated[float, reason("Ours.")] = 15.0
    shot_wide_m: Annotated[float, reason("Ours.")] = 2.0
    cross_m: Annotated[float, reason("Ours.")] = 45.0
    cross_m_s: Annotated[float, reason("Ours.")] = 12.0
    back_us: Annotated[int, reason("As phase.rest.travel_us.")] = 1_500_000
    doubt: Annotated[float, reason("Ours: the detectors were wrong about the last touch or about the taker.")] = 0.6


#: Number in the hierarchy and Law of each kind.
KINDS: dict[Kind, tuple[str, str]] = {
    "kick_off": ("9.1", "StreamTeam; IFAB Law 8"),
    "throw_in": ("9.2", "IFAB Law 15"),
    "corner": ("9.3", "IFAB Law 17"),
    "goal_kick": ("9.4", "IFAB Law 16"),
    "free_kick": ("9.5", "IFAB Law 13 (2025/26); StreamTeam; SPADL"),
    "penalty": ("9.6", "IFAB Law 14"),
    "dropped": ("9.7", "IFAB Law 8"),
}
#: Variants of the kinds that have any.
VARIANTS: dict[Kind, tuple[str, ...]] = {
    "corner": ("left", "right"),
    "free_kick": ("direct shot", "crossed", "short"),
}


_RULE = """It is the kick from rest that ends a stoppage (5.10); a stoppage whose kick was not seen has no restart.
Cause of the stoppage and position of the ball decide; a *stop* is a stoppage without a crossing, as after a foul. Of
all restarts (9.1 to 9.7) the first one that fits counts: kick-off, throw-in, dropped ball, corner, penalty, goal kick,
free kick. Who touched the ball last does not decide: if it was a mate of the taker, the confidence is lower. Lengths
such as ``corner_m`` are parameters of ``restart_kick``."""
_SHOOT_OUT = "[1] In a shoot-out both teams kick at one goal; all others are in the centre circle (Law 10.3)."
_PAYLOAD = """``ts_us`` is the kick. ``team`` and ``player``
are the taker's, the position is the ball's before the kick. {variant}``detail``: ``after`` (cause of the stoppage:
touch, goal line, goal or stop), ``rest_s`` (seconds of rest before the kick), ``out_by`` (``home`` or ``away``, who put
the ball out, or empty){more}."""
#: What else the detail of some kinds has, and its meaning.
_MORE: dict[Kind, tuple[str, str]] = {
    "penalty": ("shoot_out", ", ``shoot_out`` (true of a kick of a shoot-out)"),
    "free_kick": (
        "indirect",
        ", ``indirect`` (true if the officials said so, by an offside or a foul of that variant)",
    ),
}
#: Meaning of the variants of the kinds that have any.
_VARIANT_MEANINGS: dict[Kind, str] = {
    "corner": "``variant`` is the corner, ``left`` or ``right`` as the taker's team attacks. ",
    "free_kick": "``variant`` is ``direct shot``, ``crossed`` or ``short``, by the ball's first metres. ",
}


class Restart:
    """One of 9.1 to 9.7: ``restart.<kind>``: the kick that brings the ball into play; see the table above."""

    def __init__(
        self,
        sheet: MatchSheet,
        kind: Kind,
        parameters: RestartParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or RestartParameters()
        self.kick = kick or RestartKickParameters()
        self.kind = kind
        self.pitch = pitch_of(sheet)
        number_, source = KINDS[kind]
        #: What the catalogue shows instead of the docstring: that of the kind, with its rows of the table.
        more = _MORE.get(kind, ("", ""))
        payload = _PAYLOAD.format(variant=_VARIANT_MEANINGS.get(kind, ""), more=more[1])
        notes = (_SHOOT_OUT,) if kind == "penalty" else ()
        parts = (f"{number_}: the {NAMES[kind]}.", _RULE, conditions(kind), *notes, payload)
        self.description = "\n\n".join(parts)
        self.spec = Spec(
            name=f"restart_{kind}",
            number=number_,
            level=9,
            inputs=("play.live",),
            outputs=(f"restart.{kind}",),
            horizon_us=self.parameters.back_us,
            amends=(f"restart.{kind}",),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source=source,
            team_variants={f"restart.{kind}": VARIANTS.get(kind, ("",))},
            details={f"restart.{kind}": ("after", "rest_s", "out_by", *more[:1] * (kind in _MORE))},
            known={
                f"restart.{kind}": Known(
                    "when play is known to be live again (6.4), some tenths of a second after the kick"
                )
            },
        )

    def initial(self) -> int:
        """Time of the last restart of this kind; long ago."""
        return -(2**62)

    def step(self, state: int, event: Event) -> Step[int]:
        """Publish the kick if it is of this kind."""
        payload = payload_of(event)
        if restart_kind(self.pitch, payload, self.kick) != self.kind:
            return state, NOTHING
        kick_us, back_us = time_us(payload, "kick_us"), self.parameters.back_us
        what = "time from the kick until it was known"
        in_time = not is_over(what, event.ts_us - kick_us, back_us, "restart.back_us")
        ts_us = kick_us if in_time else event.ts_us - back_us
        if self.kind == "kick_off" and state > -(2**61) and payload.variant != "goal":
            what, least_us = "time since the kick-off before", self.parameters.between_kick_offs_us
            if not at_least(what, ts_us - state, least_us, "restart.between_kick_offs_us"):
                return state, NOTHING
        restart = msgspec.structs.replace(
            payload,
            variant=self._variant(payload),
            confidence=self._confidence(payload),
            detail=self._detail(payload),
        )
        # A kick that was known late is shown at its time, though detectors above cannot be told so far back.
        dated_us = None if in_time else kick_us
        kind = self.spec.outputs[0]
        return ts_us, (make_event(kind, ts_us, event.source, restart, causes=(event.id,), dated_us=dated_us),)

    def _detail(self, payload: EventPayload) -> dict[str, Scalar]:
        detail = {"after": payload.variant, "rest_s": payload.detail["rest_s"], "out_by": payload.detail["out_by"]}
        return detail | ({name: payload.detail[name] for name in _MORE.get(self.kind, ())[:1]})

    def _variant(self, payload: EventPayload) -> str:
        x_m, y_m = location_m(payload)
        if self.kind == "corner":
            return "left" if x_m * y_m > 0 else "right"
        return free_kick_variant(self.pitch, payload, self.parameters) if self.kind == "free_kick" else ""

    def _confidence(self, payload: EventPayload) -> float:
        """Return ``doubt`` if the taker's own team had put the ball out, else the confidence of the kick."""
        own_out = payload.variant in ("touch", "goal line") and payload.team == payload.detail["out_by"]
        return self.parameters.doubt if own_out else payload.confidence


def conditions(kind: Kind) -> str:
    """The rows of a kind in the table above, with its head."""
    rows = [line for line in (__doc__ or "").splitlines() if line.startswith("|")]
    return "\n".join((*rows[:2], *(row for row in rows[2:] if row.startswith(f"| {NAMES[kind]} |"))))


def free_kick_variant(pitch: Pitch, live: EventPayload, p: RestartParameters) -> str:
    """The variant of a free kick, by the direction and speed of the ball over its first metres."""
    x_m, y_m = location_m(live)
    vx_m_s, vy_m_s = number(live, "vx_m_s"), number(live, "vy_m_s")
    attacks_x = live.detail["attacks_x"]
    end: End = end_of(vx_m_s) if not attacks_x else ("right" if live.team == attacks_x else "left")
    speed_m_s = math.hypot(vx_m_s, vy_m_s)
    towards_m_s = vx_m_s * end_sign(end)
    if towards_m_s <= 0.0:
        return "short"
    distance_m, depth_m = pitch.goal_distance_m(x_m, y_m, end), pitch.depth_m(x_m, end)
    at_goal_line_m = abs(y_m + vy_m_s / towards_m_s * depth_m)
    at_front_m = abs(y_m + vy_m_s / towards_m_s * max(depth_m - PENALTY_AREA_DEPTH_M, 0.0))
    goal, speed, about = "the ball from the goal", "speed of the ball", "direct shot"
    wide_m, line = GOAL_HALF_WIDTH_M + p.shot_wide_m, "distance from the goal's middle at the line"
    if (
        at_most(goal, distance_m, p.shot_m, "restart.shot_m", about)
        and at_least(speed, speed_m_s, p.shot_m_s, "restart.shot_m_s", about)
        and at_most(line, at_goal_line_m, wide_m, "restart.shot_wide_m", about)
    ):
        return about
    about, into_area = "crossed", min(at_goal_line_m, at_front_m) <= PENALTY_AREA_HALF_WIDTH_M
    if (
        at_most(goal, distance_m, p.cross_m, "restart.cross_m", about)
        and at_least(speed, speed_m_s, p.cross_m_s, "restart.cross_m_s", about)
        and into_area
    ):
        return about
    return "short"

"""2.8 and 2.9: detect that the whole ball crosses a line, enters a goal or passes over its bar (IFAB Laws 1, 9, 10).

Theory of operation
-------------------
The lines parallel to an axis cut that axis into bands. Of each axis only the ball's band is kept, with a
deadband around every line: outwards a line is passed when the whole ball is beyond its outer edge (centre one
radius past it), inwards when the centre is back at that edge. So a ball that lies on a line does not
flicker, and the usual sample, which changes no band, costs four comparisons.

Time and location of a crossing are interpolated between the two samples around it, which
back-sets the event by at most one sample. A provider that repairs its ball track makes it jump. Such a
crossing is real (the ball is on the other side now) but its time and location are not: low confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, NamedTuple, cast

import msgspec

from detectors.decisions import below, is_over, is_recording, is_under, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.constants import BALL_RADIUS_M, BALL_SPEED_MAX_M_S, BALL_STEP_MAX_M_S
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Scalar, ball_of
from football.pitch import (
    BAR_HEIGHT_M,
    CIRCLE_RADIUS_M,
    ENDS,
    GOAL_AREA_DEPTH_M,
    GOAL_AREA_HALF_WIDTH_M,
    GOAL_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    Pitch,
    end_of,
    pitch_of,
)
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Variants of ``ball.crossed`` that take the ball off the field, with the four names that ``out`` uses.
OUT_LINES: Mapping[str, str] = {
    "left touch out": "left touch",
    "right touch out": "right touch",
    **{
        f"{end} {part} out": f"{end} goal line"
        for end in ("left", "right")
        for part in ("goal line +y", "goal line -y", "goal mouth")
    },
}
#: Variants of ``ball.crossed`` that bring it back on.
IN_LINES: frozenset[str] = frozenset(name.removesuffix(" out") + " in" for name in OUT_LINES)

#: All variants of ``ball.crossed``: 14 lines x 2 senses.
CROSSINGS: tuple[str, ...] = (
    *OUT_LINES,
    *sorted(IN_LINES),
    *(
        f"{end} {area} {sense}"
        for end in ENDS
        for area in ("penalty front", "goal area front")
        for sense in ("out", "in")
    ),
    "halfway +x",
    "halfway -x",
    "centre circle out",
    "centre circle in",
)


#: A slower ball stands, for all that its track tells; and a time that no ball needs.
_STANDS_M_S, _NEVER_US = 0.5, 2**40


class LineParameters(msgspec.Struct, frozen=True):
    """Thresholds of the line detectors.

    Attributes:
        radius_m: distance of the ball's centre past a line's outer edge when the whole ball has crossed.
        jump_speed_m_s: speed between two samples above which the provider moved the ball.
        jump_confidence: confidence of a crossing within such a jump.
        doubt_confidence: confidence of a ball in goal whose height is unknown or that touches post or bar.
    """

    radius_m: Annotated[float, reason("Law 2")] = BALL_RADIUS_M
    jump_speed_m_s: Annotated[float, reason("as conditioning.ball_speed_max_m_s")] = BALL_STEP_MAX_M_S
    jump_confidence: Annotated[float, reason("ours")] = 0.3
    doubt_confidence: Annotated[float, reason("ours")] = 0.5


class _Line(msgspec.Struct, frozen=True):
    """A line across an axis: passed upwards above ``high``, downwards below ``low``; names per sense."""

    low: float
    high: float
    up: str
    down: str
    half_span_m: float


class LineState(msgspec.Struct, frozen=True, gc=False):
    """The newest sample, the first one at its position, the ball's bands along x and y, and is it in the circle?"""

    last: Event
    first: Event
    x_band: int
    y_band: int
    in_circle: bool


class LineCrossing:
    """2.8: ``ball.crossed`` for 14 lines x 2 senses; ``variant`` is line and sense (``left touch out``).

    ``out`` leaves the field, an area or the circle; the halfway line has the senses ``+x`` and ``-x``. The
    payload has the interpolated position of the ball's centre; ``detail``: ``gap_us`` (time between the two samples),
    ``speed_m_s`` (of the ball from one to the other, at most that of the fastest ball), ``jump`` (true if no ball is so
    fast), ``since_us`` (time of the crossing also after a gap: there the interpolated one, or an earlier one if the
    ball goes on as it was seen). A position that is repeated until the ball jumps is a gap, too.
    """

    def __init__(self, sheet: MatchSheet, parameters: LineParameters | None = None) -> None:
        self.parameters = parameters or LineParameters()
        self.pitch = pitch_of(sheet)
        self._x_lines = _lines_along_x(self.pitch, self.parameters.radius_m)
        self._y_lines = _lines_along_y(self.pitch, self.parameters.radius_m)
        self._x_edges = _edges(self._x_lines)
        self._y_edges = _edges(self._y_lines)
        self._circle_out_m2 = (CIRCLE_RADIUS_M + self.parameters.radius_m) ** 2
        self._circle_in_m2 = CIRCLE_RADIUS_M**2
        self.spec = Spec(
            name="line_crossing",
            number="2.8",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.crossed",),
            horizon_us=sample_horizon_us(sheet),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Laws 1, 2, 9; paper 004 IV-B",
            variants={"ball.crossed": CROSSINGS},
            details={"ball.crossed": ("speed_m_s", "gap_us", "jump", "since_us")},
        )
        self._way = _Way(self.pitch, self.parameters.radius_m, self.spec.horizon_us)

    def initial(self) -> LineState | None:
        """No sample yet."""
        return None

    def step(self, state: LineState | None, event: Event) -> Step[LineState | None]:
        """Compare the bands of this sample with those of the one before."""
        ball = cast(BallState, event.payload)
        x_m, y_m = ball.x_m, ball.y_m
        distance_m2 = x_m * x_m + y_m * y_m
        if state is None:
            in_circle = distance_m2 <= self._circle_in_m2
            return LineState(event, event, _band(self._x_lines, x_m), _band(self._y_lines, y_m), in_circle), NOTHING
        first = state.first if _is_repeated(state.last, ball) else event
        x_low, x_high = self._x_edges[state.x_band]
        y_low, y_high = self._y_edges[state.y_band]
        in_circle = distance_m2 <= (self._circle_out_m2 if state.in_circle else self._circle_in_m2)
        if x_low <= x_m <= x_high and y_low <= y_m <= y_high and in_circle == state.in_circle:
            return LineState(event, first, state.x_band, state.y_band, in_circle), NOTHING
        return self._crossed(state, event, ball, in_circle)

    def _crossed(self, state: LineState, event: Event, ball: BallState, in_circle: bool) -> Step[LineState | None]:
        before = ball_of(state.last)
        x_band, y_band = state.x_band, state.y_band
        found: list[tuple[float, str]] = []
        x_band = _walk(self._x_lines, x_band, before.x_m, ball.x_m, before.y_m, ball.y_m, found)
        y_band = _walk(self._y_lines, y_band, before.y_m, ball.y_m, before.x_m, ball.x_m, found)
        if in_circle != state.in_circle:
            limit_m2 = self._circle_out_m2 if state.in_circle else self._circle_in_m2
            share = _circle_share(before, ball, math.sqrt(limit_m2), state.in_circle)
            found.append((share, "centre circle in" if in_circle else "centre circle out"))
        found.sort()
        out = [self._event(state, event, share, name) for share, name in found]
        return LineState(event, event, x_band, y_band, in_circle), out

    def _event(self, state: LineState, now: Event, share: float, name: str) -> Event:
        ts_us, ball = between(state.last, now, share, self.spec.horizon_us)
        speed_m_s, gap_us = _travel(state.last, now)
        limit_m_s = self.parameters.jump_speed_m_s
        jumped = is_over("speed over the line", speed_m_s, limit_m_s, "lines.jump_speed_m_s", name)
        since_us = self._way.crossed_us(state, now, share, ts_us, name, jumped=jumped)
        payload = EventPayload(
            variant=name,
            x_m=ball[0],
            y_m=ball[1],
            z_m=ball[2],
            confidence=self.parameters.jump_confidence if jumped else 1.0,
            detail={
                "speed_m_s": round(min(speed_m_s, BALL_SPEED_MAX_M_S), 3),
                "gap_us": gap_us,
                "jump": jumped,
                "since_us": since_us,
            },
        )
        return make_event("ball.crossed", ts_us, f"{now.source}:{now.ts_us}/{name}", payload)


class GoalMouthState(msgspec.Struct, frozen=True, gc=False):
    """The newest sample, the first one at its position, and whether the whole ball is behind a goal line."""

    last: Event
    first: Event
    behind: bool


class GoalMouth:
    """2.9: ``ball.in_goal`` and ``ball.over_bar``, variant ``left`` or ``right`` (Law 10: the whole ball).

    Between the posts, the ball is in the goal if it crossed below the bar. No ball can pass where post or bar
    are; one measured there counts as the nearer possibility, with little confidence. ``detail``: ``since_us`` as of
    2.8.
    """

    def __init__(self, sheet: MatchSheet, parameters: LineParameters | None = None) -> None:
        self.parameters = parameters or LineParameters()
        self._has_height = sheet.quality.ball_height
        pitch = pitch_of(sheet)
        self._edge_m = pitch.half_length_m
        self._past_m = self._edge_m + self.parameters.radius_m
        self.spec = Spec(
            name="goal_mouth",
            number="2.9",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.in_goal", "ball.over_bar"),
            horizon_us=sample_horizon_us(sheet),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Laws 1, 10",
            needs="ball height; without it every ball between the posts is a doubtful ball in goal",
            variants=dict.fromkeys(("ball.in_goal", "ball.over_bar"), ENDS),
            details=dict.fromkeys(("ball.in_goal", "ball.over_bar"), ("since_us",)),
        )
        self._way = _Way(pitch, self.parameters.radius_m, self.spec.horizon_us)

    def initial(self) -> GoalMouthState | None:
        """No sample yet."""
        return None

    def step(self, state: GoalMouthState | None, event: Event) -> Step[GoalMouthState | None]:
        """Judge the samples around the instant at which the whole ball has passed a goal line."""
        ball = cast(BallState, event.payload)
        out_m = abs(ball.x_m)
        if state is None:
            return GoalMouthState(event, event, out_m > self._past_m), NOTHING
        behind = out_m > (self._edge_m if state.behind else self._past_m)
        if not behind or state.behind:
            return GoalMouthState(event, state.first if _is_repeated(state.last, ball) else event, behind), NOTHING
        return GoalMouthState(event, event, True), self._look(state, event, ball)

    def _look(self, state: GoalMouthState, event: Event, ball: BallState) -> tuple[Event, ...]:
        from_x_m, line_m = ball_of(state.last).x_m, math.copysign(self._past_m, ball.x_m)
        share = (line_m - from_x_m) / (ball.x_m - from_x_m)
        if not 0.0 <= share <= 1.0:
            return NOTHING
        ts_us, (x_m, y_m, z_m) = between(state.last, event, share, self.spec.horizon_us)
        if not below("the ball from the goal's middle", abs(y_m), GOAL_HALF_WIDTH_M, unit="m"):
            return NOTHING
        over = self._has_height and not is_under("height of the ball", z_m, BAR_HEIGHT_M, unit="m")
        end = end_of(x_m)
        jumped = _travel(state.last, event)[0] > self.parameters.jump_speed_m_s
        confidence = self.parameters.jump_confidence if jumped else self._confidence(y_m, z_m, over)
        since_us = self._way.crossed_us(state, event, share, ts_us, f"{end} goal mouth out", jumped=jumped)
        detail: dict[str, Scalar] = {"since_us": since_us}
        payload = EventPayload(end, x_m=x_m, y_m=y_m, z_m=z_m, confidence=confidence, detail=detail)
        kind = "ball.over_bar" if over else "ball.in_goal"
        return (make_event(kind, ts_us, f"{event.source}:{event.ts_us}", payload),)

    def _confidence(self, y_m: float, z_m: float, over: bool) -> float:
        radius_m = self.parameters.radius_m
        clear_of_posts = abs(y_m) < GOAL_HALF_WIDTH_M - radius_m
        clear_of_bar = z_m > BAR_HEIGHT_M + radius_m if over else z_m < BAR_HEIGHT_M - radius_m
        sure = clear_of_posts and clear_of_bar and self._has_height
        return 1.0 if sure else self.parameters.doubt_confidence


def sample_horizon_us(sheet: MatchSheet) -> int:
    """How far a crossing may be dated back: two nominal ball samples, so that one may be missing."""
    return math.ceil(2e6 / sheet.quality.ball_hz)


def between(before: Event, now: Event, share: float, horizon_us: int) -> tuple[int, tuple[float, float, float]]:
    """Time and position of the ball at ``share`` (0..1) of the path between two samples.

    Past ``horizon_us`` the time is cut: after a longer gap it is unknown anyway.
    """
    first, last = ball_of(before), ball_of(now)
    ts_us = before.ts_us + round((now.ts_us - before.ts_us) * share)
    position = (
        first.x_m + (last.x_m - first.x_m) * share,
        first.y_m + (last.y_m - first.y_m) * share,
        first.z_m + (last.z_m - first.z_m) * share,
    )
    return max(ts_us, now.ts_us - horizon_us), position


class _Way(NamedTuple):
    """The way of a ball that is not seen, to the time at which it crosses a line.

    Attributes:
        pitch: the pitch.
        radius_m: distance of the ball's centre past a line when the whole ball has crossed.
        horizon_us: a longer time between two samples is a gap.
    """

    pitch: Pitch
    radius_m: float
    horizon_us: int

    def crossed_us(
        self, state: LineState | GoalMouthState, now: Event, share: float, ts_us: int, name: str, *, jumped: bool
    ) -> int:
        """When the ball crossed a line, at ``share`` of the path between two samples.

        Args:
            state: of the detector, before the sample ``now``.
            now: the first sample beyond the line.
            share: of the path, at the line.
            ts_us: the interpolated time.
            name: of the crossing.
            jumped: True if no ball is so fast from one sample to the other.

        Returns:
            ``ts_us``; after a gap when a ball that goes on as it was seen is out, if that is earlier.
        """
        seen, on_us = state.last, self._rolls_us(ball_of(state.last), name)
        if jumped and (first_us := self._rolls_us(ball_of(state.first), name)) < _NEVER_US:
            seen, on_us = state.first, first_us  # Its position was repeated since.
        gap_us = now.ts_us - seen.ts_us
        return seen.ts_us + min(round(gap_us * share), on_us) if gap_us > self.horizon_us else ts_us

    def _rolls_us(self, ball: BallState, name: str) -> int:
        """Time after which a ball that goes on as it was seen is out over a line; longer than any gap if never."""
        if name not in OUT_LINES:
            return _NEVER_US
        if "touch" in name:
            return leaves_us(ball.y_m, ball.vy_m_s, self.pitch.half_width_m + self.radius_m)
        return leaves_us(ball.x_m, ball.vx_m_s, self.pitch.half_length_m + self.radius_m)


def leaves_us(at_m: float, v_m_s: float, line_m: float) -> int:
    """Time after which a ball that goes on is beyond ``line_m``, on its side of the pitch; longer than any if never."""
    out_m_s = math.copysign(v_m_s, v_m_s * at_m)
    if out_m_s <= _STANDS_M_S:
        return _NEVER_US
    return round(1e6 * max(line_m - abs(at_m), 0.0) / out_m_s)


def _is_repeated(before: Event, ball: BallState) -> bool:
    first = ball_of(before)
    return first.x_m == ball.x_m and first.y_m == ball.y_m


def _travel(before: Event, now: Event) -> tuple[float, int]:
    """Speed over ground (m/s) that two samples imply, and the time between them (us)."""
    first, last = ball_of(before), ball_of(now)
    gap_us = max(now.ts_us - before.ts_us, 1)
    return math.hypot(last.x_m - first.x_m, last.y_m - first.y_m) * 1e6 / gap_us, gap_us


def _lines_along_x(pitch: Pitch, radius_m: float) -> tuple[_Line, ...]:
    """The lines x = const from left to right; ``half_span_m`` is how far they reach to both sides."""
    end_m, width_m = pitch.half_length_m, pitch.half_width_m + radius_m
    areas = (
        ("goal area front", end_m - GOAL_AREA_DEPTH_M, GOAL_AREA_HALF_WIDTH_M),
        ("penalty front", end_m - PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M),
    )
    left = [_Line(-end_m - radius_m, -end_m, "left goal in", "left goal out", width_m)]
    left += [_Line(-x, -x + radius_m, f"left {n} out", f"left {n} in", span) for n, x, span in areas]
    areas = areas[::-1]
    right = [_Line(x - radius_m, x, f"right {n} in", f"right {n} out", span) for n, x, span in areas]
    right += [_Line(end_m, end_m + radius_m, "right goal out", "right goal in", width_m)]
    return (*left, _Line(-radius_m, radius_m, "halfway +x", "halfway -x", width_m), *right)


def _lines_along_y(pitch: Pitch, radius_m: float) -> tuple[_Line, ...]:
    side_m, end_m = pitch.half_width_m, pitch.half_length_m + radius_m
    return (
        _Line(-side_m - radius_m, -side_m, "right touch in", "right touch out", end_m),
        _Line(side_m, side_m + radius_m, "left touch out", "left touch in", end_m),
    )


def _edges(lines: tuple[_Line, ...]) -> tuple[tuple[float, float], ...]:
    """Of each band the coordinates within which the ball stays in it."""
    lows = (-math.inf, *(line.low for line in lines))
    highs = (*(line.high for line in lines), math.inf)
    return tuple(zip(lows, highs, strict=True))


def _band(lines: tuple[_Line, ...], coordinate_m: float) -> int:
    """Band of a first sample: of a ball on a line the side where it belongs to the area."""
    return sum(coordinate_m > (line.high if line.up.endswith("out") else line.low) for line in lines)


def _walk(
    lines: tuple[_Line, ...],
    band: int,
    from_m: float,
    to_m: float,
    across_from_m: float,
    across_to_m: float,
    found: list[tuple[float, str]],
) -> int:
    """Pass line after line from ``band``; append (share of the path, variant) of each; return the new band."""
    while band < len(lines) and to_m > lines[band].high:
        _cross(lines[band], True, (from_m, to_m, across_from_m, across_to_m), found)
        band += 1
    while band > 0 and to_m < lines[band - 1].low:
        _cross(lines[band - 1], False, (from_m, to_m, across_from_m, across_to_m), found)
        band -= 1
    return band


def _cross(line: _Line, upwards: bool, path: tuple[float, float, float, float], found: list[tuple[float, str]]) -> None:
    """Append the crossing of a line, if the ball passes it within its span."""
    from_m, to_m, across_from_m, across_to_m = path
    at_m, name = (line.high, line.up) if upwards else (line.low, line.down)
    share = (at_m - from_m) / (to_m - from_m) if to_m != from_m else 1.0
    share = min(max(share, 0.0), 1.0)
    across_m = across_from_m + (across_to_m - across_from_m) * share
    if abs(across_m) > line.half_span_m:
        return
    name = goal_line_part(name, across_m)
    found.append((share, name))
    if is_recording():
        passed_m = to_m - line.low if upwards else line.high - to_m
        if name.endswith(" in"):
            note("the ball's centre within the line", passed_m - (line.high - line.low), "at least", 0.0, "", name, "m")
        else:
            note(
                "the ball's centre beyond the line", passed_m, "at least", line.high - line.low, "lines.radius_m", name
            )


def goal_line_part(name: str, y_m: float) -> str:
    """A goal line has three parts: the mouth and the stretches to its +y and -y."""
    end, _, sense = name.partition(" goal ")
    if sense not in ("in", "out"):
        return name
    if abs(y_m) < GOAL_HALF_WIDTH_M:
        return f"{end} goal mouth {sense}"
    return f"{end} goal line {'+y' if y_m > 0 else '-y'} {sense}"


def _circle_share(before: BallState, now: BallState, radius_m: float, leaves: bool) -> float:
    """Share of the straight path between two samples at which it passes the circle of ``radius_m``."""
    dx, dy = now.x_m - before.x_m, now.y_m - before.y_m
    a = dx * dx + dy * dy
    half_b = before.x_m * dx + before.y_m * dy
    c = before.x_m**2 + before.y_m**2 - radius_m**2
    root = half_b * half_b - a * c
    if a == 0.0 or root < 0.0:
        return 1.0
    share = (-half_b + math.sqrt(root) * (1.0 if leaves else -1.0)) / a
    return min(max(share, 0.0), 1.0)

"""Draws what a camera sees: grass, lines, goals, players and ball, from a mount and a pose. Pure, with Pillow.

Theory of operation
-------------------
Everything is a polygon in pitch metres. Its corners go into the camera's own axes (``Mount.in_camera``), the part
behind ``NEAR_M`` is cut off, and the rest is divided by its depth. The picture is drawn at ``SAMPLES`` times its size
and made smaller, so that edges are smooth. Players and ball are drawn from the farthest to the nearest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import msgspec
from PIL import Image, ImageDraw, ImageFont

from camera.head import Pose
from camera.mount import Mount, Vector
from football import pitch as laws

NEAR_M = 0.5
SAMPLES = 2
LINE_M, POST_M = 0.12, 0.12
STRIPE_M, SURROUND_M = 5.25, 25.0
BODY_M, SHOULDERS_M, HEAD_M = 1.8, 0.5, 0.24
BALL_M = 0.22
#: The ball is drawn at least this wide, in pixels of the picture: broadcast cameras show it brighter than it is.
BALL_PX_MIN = 5.0
NET_DEPTH_M = 2.0

SKY, STAND, SURROUND = "#8fa7b8", "#3b4650", "#2c5f34"
GRASS = ("#3a7d44", "#34723e")
WHITE, SHADOW, SKIN, BALL, TEXT = "#f2f2ee", "#24502c", "#d9a37e", "#ffffff", "#ffffff"
COLOURS = {"home": "#f2b23e", "away": "#5db2f5", "": "#1b1b1b"}
KEEPERS = {"home": "#ac38fa", "away": "#eaf5bc"}


class Figure(msgspec.Struct, frozen=True):
    """A player or another person on the pitch: feet in metres, ``home``, ``away`` or empty, number of the shirt."""

    x_m: float
    y_m: float
    team: str
    label: str = ""
    goalkeeper: bool = False


class Scene(msgspec.Struct, frozen=True):
    """Everything at one instant."""

    figures: tuple[Figure, ...]
    ball: Vector | None = None


class Canvas:
    """A picture of one pose.

    Args:
        mount: of the camera.
        pose: of its head.
        size: width and height in pixels.
        pitch_m: length and width of the pitch.
    """

    def __init__(self, mount: Mount, pose: Pose, size: tuple[int, int], pitch_m: tuple[float, float]) -> None:
        self._mount, self._pose, self._size, self._pitch_m = mount, pose, size, pitch_m
        self._width, self._height = size[0] * SAMPLES, size[1] * SAMPLES
        self._focal = self._width / 2 / math.tan(math.radians(pose.width_deg / 2))
        self._image = Image.new("RGB", (self._width, self._height), SKY)
        self._draw = ImageDraw.Draw(self._image)

    def picture(self, scene: Scene) -> Image.Image:
        """Return the picture of a scene."""
        self._ground()
        for line in pitch_lines(*self._pitch_m):
            self._polyline(line, LINE_M)
        for side in (-1, 1):
            self._goal(side)
        things: list[tuple[float, Figure | Vector]] = [
            (self._camera((figure.x_m, figure.y_m, 0.0))[2], figure) for figure in scene.figures
        ]
        if scene.ball is not None:
            things.append((self._camera(scene.ball)[2], scene.ball))
        for _, thing in sorted(things, key=lambda item: -item[0]):
            if isinstance(thing, Figure):
                self._figure(thing)
            else:
                self._ball(thing)
        return self._image.resize(self._size, Image.Resampling.BOX)

    def seen(self, point: Vector) -> tuple[float, float] | None:
        """Return the pixel of a point in the finished picture; None behind the camera."""
        x, y, ahead_m = self._camera(point)
        return None if ahead_m < NEAR_M else tuple(value / SAMPLES for value in self._pixel((x, y, ahead_m)))  # type: ignore[return-value]

    # -- projection

    def _camera(self, point: Vector) -> Vector:
        return self._mount.in_camera(self._pose.pan_deg, self._pose.tilt_deg, point)

    def _pixel(self, point: Vector) -> tuple[float, float]:
        x, y, ahead_m = point
        return self._width / 2 + self._focal * x / ahead_m, self._height / 2 - self._focal * y / ahead_m

    def _polygon(self, points: Sequence[Vector], colour: str) -> None:
        seen = _in_front([self._camera(point) for point in points])
        if len(seen) >= 3:
            self._draw.polygon([self._pixel(point) for point in seen], fill=colour)

    def _polyline(self, points: Sequence[Vector], thick_m: float) -> None:
        """Draw lines on the grass as wide as they are, at least a pixel."""
        for (ax, ay, az), (bx, by, bz) in itertools.pairwise(points):
            length_m = math.hypot(bx - ax, by - ay) or 1.0
            dx, dy = -(by - ay) / length_m * thick_m / 2, (bx - ax) / length_m * thick_m / 2
            quad = ((ax + dx, ay + dy, az), (bx + dx, by + dy, bz), (bx - dx, by - dy, bz), (ax - dx, ay - dy, az))
            self._polygon(quad, WHITE)
            self._segment((ax, ay, az), (bx, by, bz), WHITE, SAMPLES)

    def _segment(self, begin: Vector, end: Vector, colour: str, width_px: float) -> None:
        seen = _in_front([self._camera(begin), self._camera(end)], closed=False)
        if len(seen) == 2:
            self._draw.line([self._pixel(point) for point in seen], fill=colour, width=max(1, round(width_px)))

    # -- things

    def _ground(self) -> None:
        x, y = self._pitch_m[0] / 2, self._pitch_m[1] / 2
        far = 400.0
        self._polygon([(-far, -far, 0), (far, -far, 0), (far, far, 0), (-far, far, 0)], STAND)
        wide, deep = x + SURROUND_M / 3, y + SURROUND_M / 3
        self._polygon([(-wide, -deep, 0), (wide, -deep, 0), (wide, deep, 0), (-wide, deep, 0)], SURROUND)
        count = round(2 * x / STRIPE_M)
        for index in range(count):
            left, right = -x + 2 * x * index / count, -x + 2 * x * (index + 1) / count
            self._polygon([(left, -y, 0), (right, -y, 0), (right, y, 0), (left, y, 0)], GRASS[index % 2])

    def _goal(self, side: int) -> None:
        x, half, bar = side * self._pitch_m[0] / 2, laws.GOAL_HALF_WIDTH_M, laws.BAR_HEIGHT_M
        back = x + side * NET_DEPTH_M
        for share in [n / 8 for n in range(9)]:
            y, z = -half + 2 * half * share, bar * share
            self._segment((x, y, bar), (back, y, 0), "#9fb0a8", 1)
            self._segment((back, -half, z * 0.6), (back, half, z * 0.6), "#9fb0a8", 1)
        ahead_m = max(NEAR_M, self._camera((x, 0, 0))[2])
        post_px = max(2.0, self._focal * POST_M / ahead_m)
        for begin, end in (
            ((x, -half, 0), (x, -half, bar)),
            ((x, half, 0), (x, half, bar)),
            ((x, -half, bar), (x, half, bar)),
        ):
            self._segment(begin, end, WHITE, post_px)

    def _figure(self, figure: Figure) -> None:
        feet = self._camera((figure.x_m, figure.y_m, 0.0))
        crown = self._camera((figure.x_m, figure.y_m, BODY_M))
        if min(feet[2], crown[2]) < NEAR_M:
            return
        (fx, fy), (cx, cy) = self._pixel(feet), self._pixel(crown)
        scale = self._focal / feet[2]
        half, head = max(1.5, SHOULDERS_M / 2 * scale), max(1.0, HEAD_M / 2 * scale)
        colour = COLOURS.get(figure.team, COLOURS[""])
        colour = KEEPERS.get(figure.team, colour) if figure.goalkeeper else colour
        self._draw.ellipse((fx - half * 1.3, fy - half * 0.35, fx + half * 1.3, fy + half * 0.35), fill=SHADOW)
        hip, neck = 0.5, 0.86  # shares of the height

        def at(share: float) -> tuple[float, float]:
            return fx + (cx - fx) * share, fy + (cy - fy) * share

        for sideways in (-0.5, 0.5):
            (x0, y0), (x1, y1) = at(0.0), at(hip)
            leg = (x0 + sideways * half, y0, x1 + sideways * half, y1)
            self._draw.line(leg, fill=SKIN, width=max(1, round(half * 0.7)))
        (hx, hy), (nx, ny) = at(hip * 0.85), at(neck)
        box = (min(hx, nx) - half, min(hy, ny), max(hx, nx) + half, max(hy, ny))
        self._draw.rounded_rectangle(box, radius=half * 0.5, fill=colour)
        mx, my = at(0.93)
        self._draw.ellipse((mx - head, my - head, mx + head, my + head), fill=SKIN)
        if figure.label and scale > 40:
            tx, ty = at((hip + neck) / 2)
            self._draw.text((tx, ty), figure.label, fill=TEXT, anchor="mm", font=font(round(0.32 * scale)))

    def _ball(self, ball: Vector) -> None:
        ground, air = self._camera((ball[0], ball[1], 0.0)), self._camera(ball)
        if min(ground[2], air[2]) < NEAR_M:
            return
        radius = max(BALL_PX_MIN * SAMPLES, BALL_M * self._focal / air[2]) / 2
        (gx, gy), (bx, by) = self._pixel(ground), self._pixel(air)
        self._draw.ellipse((gx - radius, gy - radius * 0.4, gx + radius, gy + radius * 0.4), fill=SHADOW)
        by -= radius  # a position is that of the ball's lowest point on the grass
        self._draw.ellipse((bx - radius, by - radius, bx + radius, by + radius), fill=BALL, outline="#202020")


def font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of all texts."""
    return ImageFont.load_default(max(6, size_px))


def pitch_lines(length_m: float, width_m: float) -> Iterator[list[Vector]]:
    """Yield the lines of a pitch as chains of points (Law 1)."""
    x, y = length_m / 2, width_m / 2
    yield [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0), (-x, -y, 0)]
    yield [(0, -y, 0), (0, y, 0)]
    yield _arc(0, 0, laws.CIRCLE_RADIUS_M, 0, 360)
    for side in (-1, 1):
        for deep, half in (
            (laws.PENALTY_AREA_DEPTH_M, laws.PENALTY_AREA_HALF_WIDTH_M),
            (laws.GOAL_AREA_DEPTH_M, laws.GOAL_AREA_HALF_WIDTH_M),
        ):
            edge = side * (x - deep)
            yield [(side * x, -half, 0), (edge, -half, 0), (edge, half, 0), (side * x, half, 0)]
        spot = side * (x - laws.PENALTY_MARK_DISTANCE_M)
        yield [(spot - 0.1, 0, 0), (spot + 0.1, 0, 0)]
        beyond = laws.PENALTY_AREA_DEPTH_M - laws.PENALTY_MARK_DISTANCE_M
        reach = math.degrees(math.acos(beyond / laws.CIRCLE_RADIUS_M))
        middle = 180 if side > 0 else 0
        yield _arc(spot, 0, laws.CIRCLE_RADIUS_M, middle - reach, middle + reach)
        for half in (-1, 1):
            begin = {(-1, -1): 0, (1, -1): 90, (1, 1): 180, (-1, 1): 270}[side, half]
            yield _arc(side * x, half * y, laws.CORNER_ARC_RADIUS_M, begin, begin + 90)


def _arc(x_m: float, y_m: float, radius_m: float, begin_deg: float, end_deg: float) -> list[Vector]:
    count = max(6, round(abs(end_deg - begin_deg) / 6))
    angles = [math.radians(begin_deg + (end_deg - begin_deg) * n / count) for n in range(count + 1)]
    return [(x_m + radius_m * math.cos(a), y_m + radius_m * math.sin(a), 0.0) for a in angles]


def _in_front(points: list[Vector], closed: bool = True) -> list[Vector]:
    """Return the part of a polygon, or of a segment, that is ``NEAR_M`` or more ahead."""
    out: list[Vector] = []
    followers = points[1:] + points[:1] if closed else points[1:]
    for a, b in zip(points, followers, strict=False):
        if a[2] >= NEAR_M:
            out.append(a)
        if (a[2] >= NEAR_M) != (b[2] >= NEAR_M):
            s = (NEAR_M - a[2]) / (b[2] - a[2])
            out.append((a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), NEAR_M))
    if not closed and points[-1][2] >= NEAR_M:
        out.append(points[-1])
    return out

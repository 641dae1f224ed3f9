"""A film of the pitch from above: players, ball with its height, and the time of the match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from app.cameras.film import FilmError
from camera.picture import font
from dashboard.operator_page import pitch_lines
from football.match_sheet import MatchSheet
from replay.event_choice import format_time
from replay.match_store import read_sheet_of
from replay.position_index import BALL, PositionIndex

_MARGIN_M: Final = 4.0
_GAP_US: Final = 500_000
_GRASS, _LINE, _EDGE = "#17342b", "#9fb8ab", "#0a1210"
_TEAM: Final = {"home": ("#f2b23e", "#241800"), "away": ("#5db2f5", "#04192b")}
_OTHER: Final = ("#c9d3da", "#10161b")


class PitchFilm:
    """The pictures of a stretch of a match; :func:`app.cameras.film.write_film` writes them.

    Args:
        folder: match store.
        begin_us, end_us: of the stretch, event time.
        width_px: of the picture; its height follows from the pitch.

    Raises:
        FilmError: there are no positions in this stretch.
        StoreError: no match store.
    """

    def __init__(self, folder: Path, begin_us: int, end_us: int, width_px: int) -> None:
        sheet = read_sheet_of(folder)
        self.begin_us, self.end_us = begin_us, end_us
        half_x, half_y = sheet.length_m / 2 + _MARGIN_M, sheet.width_m / 2 + _MARGIN_M
        self._scale = width_px / (2 * half_x)
        self.size = (2 * round(width_px / 2), 2 * round(half_y * self._scale))
        self._shirts = _shirts(sheet)
        self._stretch = PositionIndex(folder).stretch(begin_us - _GAP_US, end_us + _GAP_US)
        if not len(self._stretch.ts_us):
            raise FilmError(f"there are no positions from {format_time(begin_us)} to {format_time(end_us)}")
        self._ground = Image.new("RGB", self.size, _GRASS)
        pen = ImageDraw.Draw(self._ground)
        for line in pitch_lines(sheet).lines:
            pen.line([self._pixel(x, y) for x, y in line], fill=_LINE, width=max(1, round(0.13 * self._scale)))

    def pictures(self, fps: float) -> Iterator[Image.Image]:
        """Yield the pictures, ``fps`` a second."""
        for index in range(max(1, round((self.end_us - self.begin_us) / 1e6 * fps))):
            yield self.picture(self.begin_us + round(index * 1e6 / fps))

    def picture(self, ts_us: int) -> Image.Image:
        """Return the picture of the newest frame at an instant."""
        image = self._ground.copy()
        pen = ImageDraw.Draw(image)
        times = self._stretch.ts_us
        at = max(0, int(np.searchsorted(times, ts_us, "right")) - 1)
        if abs(int(times[at]) - ts_us) <= _GAP_US:
            for column in reversed(range(len(self._stretch.objects))):  # the ball, which is the first, above all
                self._draw(pen, at, column)
        size = max(11, self.size[1] // 28)
        pen.text((size // 2, size // 2), format_time(ts_us)[:-4], fill="#ffffff", font=font(size))
        return image

    def _draw(self, pen: ImageDraw.ImageDraw, at: int, column: int) -> None:
        stretch = self._stretch
        x_m, y_m = float(stretch.x_m[at, column]), float(stretch.y_m[at, column])
        if np.isnan(x_m) or np.isnan(y_m):
            return
        x, y = self._pixel(x_m, y_m)
        if stretch.objects[column] == BALL:
            height_m = max(0.0, float(np.nan_to_num(stretch.z_m[at, column])))
            lift, radius = 0.8 * self._scale * height_m, max(2.5, 0.5 * self._scale)
            pen.line([(x, y), (x, y - lift)], fill="#ffffff")
            pen.ellipse(_box(x, y - lift, radius), fill="#ffffff", outline=_EDGE)
            return
        radius = max(5.0, 1.1 * self._scale)
        fill, ink = _TEAM.get(stretch.teams[column], _OTHER)
        pen.ellipse(_box(x, y, radius), fill=fill, outline=_EDGE)
        shirt = self._shirts.get(stretch.objects[column], "")
        pen.text((x, y), shirt, fill=ink, font=font(round(1.1 * radius)), anchor="mm")

    def _pixel(self, x_m: float, y_m: float) -> tuple[float, float]:
        return self.size[0] / 2 + x_m * self._scale, self.size[1] / 2 - y_m * self._scale


def _shirts(sheet: MatchSheet) -> dict[str, str]:
    return {player.object_id: "" if player.shirt is None else str(player.shirt) for player in sheet.players}


def _box(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return x - radius, y - radius, x + radius, y + radius

"""A film of what a camera saw, from the tables of a match store: poses, positions, events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from imageio_ffmpeg import write_frames
from PIL import Image, ImageDraw

from camera.framing import is_among
from camera.head import Pose
from camera.mount import Mount
from camera.picture import Canvas, Figure, Scene, font
from camera.recorded import RecordedCamera, read_cameras
from football.errors import UserError
from football.kind_names import kind_name
from replay.event_choice import format_time
from replay.event_list import consolidated_events
from replay.match_store import read_sheet_of, read_table

#: A gap of an object's positions that is bridged.
GAP_US = 500_000
#: Margin around the film within which poses and positions are read.
MARGIN_US = 1_000_000
#: How long an event is shown, and the kinds that are, or their first words.
SHOWN_US = 2_500_000
KINDS = ("shot", "goal", "restart", "out", "pass.complete", "offside.offence", "foul", "card", "save")
#: A GIF has at most this many pictures a second: players of GIFs round shorter times up.
GIF_FPS_MAX = 12.5


class FilmError(UserError, ValueError):
    """There is nothing to draw; the message says what is missing."""


class Film:
    """The pictures of a camera in a stretch of a match.

    Args:
        folder: match store.
        camera: name.
        begin_us, end_us: of the stretch, event time.
        width_px: of the picture; its height follows from the camera.
        with_events: writes time, mode and events into the picture.

    Raises:
        FilmError: no such camera, or no rows of it in this stretch.
        RecordedCamerasError: the store has no cameras.
        StoreError: no match store.
    """

    def __init__(
        self, folder: Path, camera: str, begin_us: int, end_us: int, width_px: int, with_events: bool = False
    ) -> None:
        sheet, cameras = read_sheet_of(folder), read_cameras(folder)
        if camera not in cameras:
            raise FilmError(f"{folder}: no camera {camera}; there are {', '.join(cameras)}")
        self._stood = cameras[camera]
        self.camera: RecordedCamera = self._stood[-1]
        self.begin_us, self.end_us = begin_us, end_us
        even = 2 * round(width_px / 2)
        self.size = (even, 2 * round(even / self.camera.aspect / 2))
        self.pitch_m = (sheet.length_m, sheet.width_m)
        self._players = {player.object_id: player for player in sheet.players}
        rows = read_table(folder, "camera")
        rows = rows.filter(pc.equal(rows["head"], camera))
        self._rows = _within(rows, begin_us, end_us).sort_by("ts_us")
        if not self._rows.num_rows:
            raise FilmError(f"{folder}: camera {camera} has no rows from {format_time(begin_us)} on")
        self._row_times = self._rows["ts_us"].to_numpy()
        self._paths = _paths(_within(read_table(folder, "positions"), begin_us, end_us))
        self._events: list[tuple[int, str]] = []
        if with_events:
            events = _within(consolidated_events(folder), begin_us - SHOWN_US, end_us)
            columns = (events[name].to_pylist() for name in ("ts_us", "kind", "team", "player"))
            for ts_us, kind, team, player in zip(*columns, strict=True):
                if is_among(kind, KINDS):
                    named = self._players[player].name or player if player in self._players else team or ""
                    self._events.append((ts_us, f"{kind_name(kind)}  {named}".rstrip()))
        self._with_text = with_events

    def pictures(self, fps: float) -> Iterator[Image.Image]:
        """Yield the pictures, ``fps`` a second."""
        for index in range(max(1, round((self.end_us - self.begin_us) / 1e6 * fps))):
            yield self.picture(self.begin_us + round(index * 1e6 / fps))

    def picture(self, ts_us: int) -> Image.Image:
        """Return the picture at an instant; dimmed, from the last known pose, while the head does not answer."""
        pose, mode, known = self._pose(ts_us)
        image = Canvas(self.mount(ts_us), pose, self.size, self.pitch_m).picture(self.scene(ts_us))
        if not known:
            image = Image.blend(image, Image.new("RGB", image.size), 0.5)
        if self._with_text:
            self._write(image, ts_us, mode)
        return image

    def scene(self, ts_us: int) -> Scene:
        """Return the players and the ball at an instant, between their positions."""
        figures, ball = [], None
        for object_id, (times, places, team) in self._paths.items():
            place = _place(times, places, ts_us)
            if place is None:
                continue
            if object_id == "ball":
                ball = (float(place[0]), float(place[1]), max(0.0, float(np.nan_to_num(place[2]))))
                continue
            player = self._players.get(object_id)
            label = str(player.shirt) if player is not None and player.shirt is not None else ""
            keeper = player is not None and player.goalkeeper
            figures.append(Figure(float(place[0]), float(place[1]), team, label, keeper))
        return Scene(tuple(figures), ball)

    def mount(self, ts_us: int) -> Mount:
        """Return the mount that the camera had at an instant."""
        wall_us = self._rows["wall_us"][self._row_at(ts_us)].as_py()
        return next((one for one in reversed(self._stood) if one.since_us <= wall_us), self._stood[0]).mount

    def _row_at(self, ts_us: int) -> int:
        return min(len(self._row_times) - 1, int(np.searchsorted(self._row_times, ts_us)))

    def _pose(self, ts_us: int) -> tuple[Pose, str, bool]:
        """Return the pose at an instant, the mode, and False if the head did not answer then."""
        at = self._row_at(ts_us)
        mode = self._rows["mode"][at].as_py()
        known = self._rows["achieved_pan_deg"][at].as_py() is not None
        while at > 0 and self._rows["achieved_pan_deg"][at].as_py() is None:
            at -= 1
        names = ("achieved_pan_deg", "achieved_tilt_deg", "achieved_width_deg")
        pan, tilt, width = (self._rows[name][at].as_py() for name in names)
        if pan is None:
            names = ("planned_pan_deg", "planned_tilt_deg", "planned_width_deg")
            pan, tilt, width = (self._rows[name][at].as_py() for name in names)
        return Pose(pan, tilt, width), mode, known

    def _write(self, image: Image.Image, ts_us: int, mode: str) -> None:
        draw = ImageDraw.Draw(image)
        size = max(11, self.size[1] // 32)
        lines = [text for at_us, text in self._events if 0 <= ts_us - at_us < SHOWN_US][-4:]
        head = f"{self.camera.name}  {format_time(ts_us)[:-4]}  {mode}"
        edge = {"stroke_width": max(1, size // 10), "stroke_fill": "#101418"}
        draw.text((size, size), head, fill="#ffffff", font=font(size), **edge)
        for row, text in enumerate(reversed(lines)):
            at = (size, self.size[1] - (row + 2) * round(1.4 * size))
            draw.text(at, text, fill="#ffe9a8", font=font(size), **edge)


class Pictures(Protocol):
    """The pictures of a film, all of one size.

    Attributes:
        begin_us: event time of the first one.
        size: width and height in pixels, both even.
    """

    begin_us: int
    size: tuple[int, int]

    def picture(self, ts_us: int) -> Image.Image:
        """Return the picture at an instant."""
        ...

    def pictures(self, fps: float) -> Iterator[Image.Image]:
        """Yield the pictures, ``fps`` a second."""
        ...


def write_film(film: Pictures, out: Path, fps: float) -> int:
    """Write a film as MP4 (H.264) or GIF, or its first picture as PNG, by the ending of the file's name.

    Returns:
        the number of pictures.

    Raises:
        FilmError: another ending, or a file that cannot be written.
    """
    kind = out.suffix.lower()
    if kind not in (".mp4", ".gif", ".png"):
        raise FilmError(f"{out}: the name must end in .mp4, .gif or .png")
    if kind == ".png":
        film.picture(film.begin_us).save(out)
        return 1
    if kind == ".gif":
        rate = min(fps, GIF_FPS_MAX)
        pictures = [picture.quantize(64) for picture in film.pictures(rate)]
        duration = round(1000 / rate)
        pictures[0].save(out, save_all=True, append_images=pictures[1:], duration=duration, loop=0)
        return len(pictures)
    writer = write_frames(str(out), film.size, fps=fps, macro_block_size=2, ffmpeg_log_level="error")
    count = 0
    try:
        writer.send(None)
        for picture in film.pictures(fps):
            writer.send(picture.tobytes())
            count += 1
    except OSError as error:
        raise FilmError(f"{out}: {error}") from error
    finally:
        writer.close()
    return count


def _within(table: pa.Table, begin_us: int, end_us: int) -> pa.Table:
    times = table["ts_us"]
    after = pc.greater_equal(times, begin_us - MARGIN_US)
    return table.filter(pc.and_(after, pc.less_equal(times, end_us + MARGIN_US)))


def _paths(positions: pa.Table) -> dict[str, tuple[np.ndarray, np.ndarray, str]]:
    """Return by object its times, its places (n x 3) and its team."""
    out = {}
    positions = positions.sort_by("ts_us")
    for object_id in pc.unique(positions["object_id"]).to_pylist():
        rows = positions.filter(pc.equal(positions["object_id"], object_id))
        places = np.stack([rows[name].to_numpy(zero_copy_only=False) for name in ("x_m", "y_m", "z_m")], axis=1)
        out[object_id] = (rows["ts_us"].to_numpy(), places, rows["team"][0].as_py() or "")
    return out


def _place(times: np.ndarray, places: np.ndarray, ts_us: int) -> np.ndarray | None:
    """Return the place between the two positions around an instant; None in a gap."""
    after = int(np.searchsorted(times, ts_us))
    if after in (0, len(times)):
        near = min(after, len(times) - 1)
        return places[near] if abs(int(times[near]) - ts_us) <= GAP_US // 2 else None
    before_us, after_us = int(times[after - 1]), int(times[after])
    if after_us - before_us > GAP_US:
        return None
    share = (ts_us - before_us) / (after_us - before_us)
    return places[after - 1] + share * (places[after] - places[after - 1])

"""Which moment of a match a video shows: ``video.json`` in the folder of its store, next to the notes.

A video is a file of whoever looks at the match; it stays there. The store has its name and at most two marks: pairs of
event time and time of the video. One mark gives the offset, two also the drift between both clocks.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Annotated, Final

import msgspec

from football.errors import UserError
from football.untrusted import Int64, UntrustedError, is_text, read_json

FILE: Final = "video.json"
#: Videos of one match; a further one displaces the one that was marked first.
VIDEOS_MAX: Final = 20
MARKS_MAX: Final = 2
#: Two marks are so far apart, or their small errors would be a large drift; and a drift is at most this share.
APART_US: Final = 10_000_000
DRIFT_MAX: Final = 0.1
_NAME_MAX: Final = 200

_lock = threading.Lock()


class VideoMarksError(UserError, ValueError):
    """The marks cannot be read or written; the message has the reason."""


class VideoMark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The video shows an event time at a time of its own, both in microseconds."""

    event_us: Int64
    video_us: Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class VideoMarks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Marks of the video of a file name, in order of event time.

    Raises:
        ValueError: too many marks, two that are too near, or clocks that cannot be those of one match.
    """

    name: str
    marks: tuple[VideoMark, ...]

    def __post_init__(self) -> None:
        if not self.name or not is_text(self.name, _NAME_MAX):
            raise ValueError("a name of a file that is empty, too long, or has control characters")
        if len(self.marks) > MARKS_MAX:
            raise ValueError(f"at most {MARKS_MAX} marks")
        if len(self.marks) == MARKS_MAX:
            first, last = self.marks
            event_us, video_us = last.event_us - first.event_us, last.video_us - first.video_us
            if event_us < APART_US:
                raise ValueError(f"marks in order of time, {APART_US // 1_000_000} s apart at least")
            if abs(video_us / event_us - 1.0) > DRIFT_MAX:
                raise ValueError("these marks are not of one match: the clocks run apart by more than a tenth")


def read_marks(folder: Path) -> list[VideoMarks]:
    """Read the marks of all videos of a store; none if it has no such file.

    Raises:
        VideoMarksError: the file is damaged.
    """
    try:
        return read_json(folder / FILE, list[VideoMarks])
    except FileNotFoundError:
        return []
    except (OSError, UntrustedError) as error:
        raise VideoMarksError(f"{folder / FILE}: {error}") from error


def write_marks(folder: Path, marks: VideoMarks) -> None:
    """Replace the marks of a video; without any it is forgotten.

    Raises:
        VideoMarksError: the file cannot be read or written.
    """
    with _lock:
        videos = [one for one in read_marks(folder) if one.name != marks.name]
        videos += [marks] if marks.marks else []
        draft = folder / f"{FILE}.draft"
        try:
            draft.write_bytes(msgspec.json.encode(videos[-VIDEOS_MAX:]))
            os.replace(draft, folder / FILE)
        except OSError as error:
            raise VideoMarksError(f"{folder / FILE}: {error}") from error

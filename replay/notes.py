"""Bookmarks, clips and notes of people about a match: the file ``notes.json`` in the folder of its store.

A bookmark is a note of one moment, a clip one of a stretch. A playlist is the notes that name it, in their order in the
file. The file is replaced as a whole, so a reader finds the state before or after a change.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from football.errors import UserError
from football.house_time import HouseTime, code_of
from football.untrusted import Int64, UntrustedError, is_text, read_json

FILE: Final = "notes.json"
NOTES_MAX: Final = 2_000
TEXT_MAX: Final = 500
_NAME_MAX: Final = 80
#: Longest clip.
CLIP_US_MAX: Final = 600_000_000

_lock = threading.Lock()


class NotesError(UserError, ValueError):
    """The notes cannot be read or changed; the message has the reason."""


class NoNoteError(NotesError, LookupError):
    """There is no note of an id."""


class Clip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch or a moment, with what a person writes about it.

    Attributes:
        begin_us, end_us: event time; equal for a bookmark.
        text: the note.
        playlist: name of its playlist; empty for none.

    Raises:
        ValueError: a clip that ends before it begins or is too long, or a text that is.
    """

    begin_us: Int64
    end_us: Int64
    text: str = ""
    playlist: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.end_us - self.begin_us <= CLIP_US_MAX:
            raise ValueError(f"a clip ends after it begins, by {CLIP_US_MAX // 60_000_000} minutes at most")
        if not is_text(self.text, TEXT_MAX) or not is_text(self.playlist, _NAME_MAX):
            raise ValueError("a text that is too long, or has control characters")


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note as the file has it: id, clip, name of the token that wrote it, wall time of the last change in seconds."""

    id: str
    clip: Clip
    author: str
    changed_s: float


def read_notes(folder: Path) -> list[Note]:
    """Read the notes of a store; none if it has no such file.

    Raises:
        NotesError: the file is damaged.
    """
    try:
        notes = read_json(folder / FILE, list[Note])
    except FileNotFoundError:
        return []
    except (OSError, UntrustedError) as error:
        raise NotesError(f"{folder / FILE}: {error}") from error
    return notes


def add_note(folder: Path, clip: Clip, author: str, wall_s: float) -> Note:
    """Add a note at the end of the file.

    Raises:
        NotesError: there are too many, or the file cannot be read or written.
    """
    note = Note(secrets.token_hex(6), clip, author, wall_s)
    with _changing(folder) as notes:
        if len(notes) >= NOTES_MAX:
            raise NotesError(f"there are {NOTES_MAX} notes already")
        notes.append(note)
    return note


def change_note(folder: Path, name: str, clip: Clip, author: str, wall_s: float) -> Note:
    """Replace a note, at its place.

    Raises:
        NoNoteError: there is no such note.
        NotesError: the file cannot be read or written.
    """
    note = Note(name, clip, author, wall_s)
    with _changing(folder) as notes:
        notes[_index(notes, name)] = note
    return note


def remove_note(folder: Path, name: str) -> None:
    """Remove a note. Errors as in :func:`change_note`."""
    with _changing(folder) as notes:
        del notes[_index(notes, name)]


def _index(notes: Sequence[Note], name: str) -> int:
    found = next((at for at, note in enumerate(notes) if note.id == name), None)
    if found is None:
        raise NoNoteError(f"there is no note {name}")
    return found


@contextmanager
def _changing(folder: Path) -> Iterator[list[Note]]:
    with _lock:
        notes = read_notes(folder)
        yield notes
        draft = folder / f".{FILE}.{os.getpid()}"
        try:
            with draft.open("wb") as stream:
                stream.write(msgspec.json.format(msgspec.json.encode(notes)) + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(folder / FILE)
        except OSError as error:
            raise NotesError(f"{folder / FILE}: {error.strerror or error}") from error
        finally:
            draft.unlink(missing_ok=True)


def edit_list(notes: Sequence[Note], title: str, house: HouseTime) -> str:
    """Return clips as an edit decision list (CMX 3600), one event after the other; bookmarks last a second.

    Timecodes of the source are those of the house. Each clip has its note as a comment.

    Args:
        notes: the clips.
        title: of the list.
        house: house time; where it knows no timecode, event time stands for it.
    """
    if house.timecode(0) == "":
        house = msgspec.structs.replace(house, anchor_code=code_of(0, house.rate))
    drops = "DROP" if house.rate.endswith("df") else "NON-DROP"
    lines, at = [f"TITLE: {title}", f"FCM: {drops} FRAME"], 0
    for number, note in enumerate(notes, 1):
        end_us = note.clip.end_us if note.clip.end_us > note.clip.begin_us else note.clip.begin_us + 1_000_000
        begin, end = house.frame(note.clip.begin_us) or 0, house.frame(end_us) or 0
        length = max(1, end - begin)
        codes = " ".join(code_of(frame, house.rate) for frame in (begin, begin + length, at, at + length))
        lines += [f"{number:03d}  AX       V     C        {codes}", f"* FROM CLIP NAME: {note.clip.text or note.id}"]
        at += length
    return "\n".join(lines) + "\n"

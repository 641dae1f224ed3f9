"""Routes of the notes of a match: bookmarks, clips, playlists, marks of videos; films, edit decision lists."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.limits import one_of
from app.api.orders import OperatorRequest
from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedMatch
from dashboard.access import audit, grant_of
from football.house_time import HouseTime
from football.untrusted import decode_json
from replay.house_times import read_house_time
from replay.notes import Clip, Note, add_note, change_note, edit_list, read_notes, remove_note
from replay.video_marks import VideoMark, VideoMarks, read_marks, write_marks

#: Longest film of one answer, in seconds, and its pictures a second.
FILM_S_MAX: Final = 60
_FPS: Final = 25
_WIDTH_PX: Final = 960
_MEDIA: Final = {"mp4": "video/mp4", "gif": "image/gif"}
_NUMBER_MAX: Final = 2**53

STRUCTS: Final = (list[Note], Clip, VideoMarks, HouseTime)

_EXAMPLE: Final = Note(
    "5f3a91c2b7d0", Clip(61_000_000, 66_000_000, "Press after the throw-in", "pressing"), "anna", 0.0
)
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Clip"}}},
    }
}

_MARKED: Final = VideoMarks("tactical.mp4", (VideoMark(61_000_000, 734_200_000),))
_MARKS_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/VideoMarks"}}},
    }
}

_HOUSE: Final = HouseTime(1_795_460_400_000_000, 1_500, "25", 3_600)

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_Id = Annotated[str, PathValue(description="Id of the note.", max_length=40)]
_Time = Annotated[int, Query(ge=-_NUMBER_MAX, le=_NUMBER_MAX, description="Event time in us.")]


def notes_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the routes of notes below ``/matches``.

    Args:
        matches: by id; may grow.
    """
    router, filming = APIRouter(prefix="/matches", tags=["notes"]), threading.BoundedSemaphore(1)

    def folder_of(name: str) -> Path:
        if name not in matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(matches) or 'none'}")
        return matches[name].folder

    @router.get("/{match}/notes", responses=answer(list[Note], [_EXAMPLE]) | refusals(404))
    def notes(match: _Name) -> Response:
        """Return the notes, in the order of their playlists."""
        return as_json(read_notes(folder_of(match)))

    @router.post("/{match}/notes", responses=answer(Note, _EXAMPLE) | refusals(404, 413), openapi_extra=_BODY)
    async def add(match: _Name, request: OperatorRequest) -> Response:
        """Add a note. A bookmark has one moment as begin and end."""
        clip = decode_json(await request.body(), Clip)
        note = add_note(folder_of(match), clip, *_author(request))
        return _audited(request, "note added", match, note)

    @router.put("/{match}/notes/{name}", responses=answer(Note, _EXAMPLE) | refusals(404, 413), openapi_extra=_BODY)
    async def change(match: _Name, name: _Id, request: OperatorRequest) -> Response:
        """Replace a note."""
        clip = decode_json(await request.body(), Clip)
        note = change_note(folder_of(match), name, clip, *_author(request))
        return _audited(request, "note changed", match, note)

    @router.delete("/{match}/notes/{name}", responses=answer(list[Note], []) | refusals(404))
    def remove(match: _Name, name: _Id, request: OperatorRequest) -> Response:
        """Remove a note; return those that remain."""
        remove_note(folder_of(match), name)
        audit("note removed", grant_of(request), request, match=match, note=name)
        return as_json(read_notes(folder_of(match)))

    @router.get("/{match}/video", responses=answer(list[VideoMarks], [_MARKED]) | refusals(404))
    def videos(match: _Name) -> Response:
        """Return which moment the videos of viewers show, by the names of their files."""
        return as_json(read_marks(folder_of(match)))

    @router.put("/{match}/video", responses=answer(VideoMarks, _MARKED) | refusals(404, 413), openapi_extra=_MARKS_BODY)
    async def mark_video(match: _Name, request: OperatorRequest) -> Response:
        """Replace the marks of a video; without any it is forgotten."""
        marks = decode_json(await request.body(), VideoMarks)
        write_marks(folder_of(match), marks)
        audit("video marked", grant_of(request), request, match=match, video=marks.name)
        return as_json(marks)

    text = {200: {"description": "An edit decision list.", "content": {"text/plain": {}}}}

    @router.get("/{match}/playlist.edl", responses=text | refusals(404))
    def playlist(
        match: _Name,
        name: Annotated[str, Query(max_length=80)] = "",
        rate: Annotated[str, Query(max_length=8, description="Rate of timecodes; default that of house time.")] = "",
    ) -> Response:
        """Return the notes of a playlist, or all notes, as CMX 3600, in timecodes of the house where they are known."""
        folder = folder_of(match)
        chosen = [note for note in read_notes(folder) if name in ("", note.clip.playlist)]
        house = read_house_time(folder) or HouseTime()
        house = msgspec.structs.replace(house, rate=rate) if rate else house
        return _attached(edit_list(chosen, name or match, house).encode(), "text/plain; charset=utf-8", "playlist.edl")

    @router.get("/{match}/house", responses=answer(HouseTime, _HOUSE) | refusals(404))
    def house_time(match: _Name) -> Response:
        """Return how event time stands to UTC and to the timecode of the house; empty fields where nobody knows it."""
        return as_json(read_house_time(folder_of(match)) or HouseTime())

    film_answer = {200: {"description": "A film.", "content": {media: {} for media in _MEDIA.values()}}}

    @router.get("/{match}/film", responses=film_answer | refusals(404, 503))
    def film(match: _Name, begin_us: _Time, end_us: _Time, form: Literal["mp4", "gif"] = "mp4") -> Response:
        """Draw a stretch of the match from above, as a film of a minute at most."""
        folder = folder_of(match)
        if not 0 < end_us - begin_us <= FILM_S_MAX * 1_000_000:
            raise HTTPException(400, f"a film ends after it begins, by {FILM_S_MAX} s at most")
        with one_of(filming, "another film is being drawn; ask again"):
            return _attached(_drawn(folder, begin_us, end_us, form), _MEDIA[form], f"clip.{form}")

    return router


def _drawn(folder: Path, begin_us: int, end_us: int, form: str) -> bytes:
    from app.cameras.film import write_film  # brings the libraries of films
    from app.cameras.pitch_film import PitchFilm

    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / f"clip.{form}"
        write_film(PitchFilm(folder, begin_us, end_us, _WIDTH_PX), out, _FPS)
        return out.read_bytes()


def _author(request: Request) -> tuple[str, float]:
    return grant_of(request).name, time.time()


def _audited(request: Request, what: str, match: str, note: Note) -> Response:
    audit(what, grant_of(request), request, match=match, note=note.id)
    return as_json(note)


def _attached(content: bytes, media: str, name: str) -> Response:
    return Response(content, 200, {"Content-Disposition": f'attachment; filename="{name}"'}, media)

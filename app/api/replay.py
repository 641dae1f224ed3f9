"""Routes of the replay of a match: span, positions in chunks, timeline as believed at any arrival time, explanations.

They read the store only, so a running match can be replayed as far as it is committed.
"""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
from fastapi import APIRouter, HTTPException, Query
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.answers import Explained, ReplaySpan, Timeline
from app.api.limits import one_of
from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedMatch
from app.api.timeline import TimelineReader
from dashboard.families import FAMILIES, FAMILY_NAMES
from dashboard.operator_page import pitch_lines
from football.errors import UserError
from replay.comparisons import Comparison, read_comparison
from replay.match_store import commits_state
from replay.position_index import PositionIndex, Stretch

#: Length of a chunk of positions, and what it has of its neighbours, so that a viewer draws across its ends.
CHUNK_US: Final = 10_000_000
_MARGIN_US: Final = 500_000
#: Largest number of a chunk: a day.
_CHUNK_MAX: Final = 8_640
#: Matches that stay open, with their index and timeline; and explanations that stay in memory.
_OPEN_MAX: Final = 8
_EXPLAINED_MAX: Final = 64
_ID_CHARACTERS_MAX: Final = 300

STRUCTS: Final = (ReplaySpan, Timeline, Explained, Comparison)

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]

_COMPARED: Final = Comparison("statsbomb", {1: 0.4}, {}, 812, [])
_SPAN: Final = ReplaySpan(0, 5_400_000_000, CHUNK_US, 5_401_000_000, 180, True, [], [])


class ReplayReader:
    """Reads what the replay of one match shows. Thread safe."""

    def __init__(self, served: ServedMatch) -> None:
        self._served = served
        self._lock, self._state = threading.Lock(), commits_state(served.folder)
        self._positions = PositionIndex(served.folder)
        self._timeline = TimelineReader(served.folder)
        threading.Thread(target=self._read_ahead, name="positions of a replay", daemon=True).start()

    def _read_ahead(self) -> None:
        """Read all positions, so that no seek waits for a file; a seek meanwhile reads its own window."""
        with suppress(UserError, OSError):  # a damaged window is refused when somebody asks for it
            self._positions.read_all()

    def _refresh(self) -> None:
        """Take in what was committed since. The state is read first: what is committed meanwhile is taken in next."""
        with self._lock:
            if (state := commits_state(self._served.folder)) != self._state:
                self._positions.refresh()
                self._timeline.refresh()
                self._state = state

    def span(self) -> ReplaySpan:
        """Return what a viewer needs first; of a running match a viewer asks again as it grows."""
        self._refresh()
        feed = self._served.feed
        begin_us, end_us = self._positions.bounds_us() or self._timeline.bounds_us()
        lines_m = pitch_lines(feed.sheet()).lines
        families = [(one.name, one.label, one.shown) for one in FAMILIES]
        windows, ended = self._timeline.windows(), self._timeline.ended()
        return ReplaySpan(begin_us, end_us, CHUNK_US, feed.now_us(), windows, ended, lines_m, families)

    def chunk(self, number: int) -> bytes:
        """Return the positions of a chunk; see :func:`packed`."""
        self._refresh()
        begin_us = number * CHUNK_US
        return packed(self._positions.stretch(begin_us - _MARGIN_US, begin_us + CHUNK_US + _MARGIN_US))

    def timeline(
        self, families: Sequence[str], arrival_us: int | None, begin_us: int | None, end_us: int | None
    ) -> Timeline:
        """Return the timeline; see :meth:`TimelineReader.read`."""
        self._refresh()
        return self._timeline.read(families, arrival_us, begin_us, end_us)


def packed(stretch: Stretch) -> bytes:
    """Return a stretch as bytes, all little-endian.

    Length of the header (uint32), header (JSON: ``objects``, ``teams``, ``frames``) filled with blanks so that what
    follows begins at a multiple of eight, event times in us (float64 a frame), x and then y in cm (int16, a row a
    frame), height of the first object in cm (int16 a frame). -32768 stands for no position.
    """
    header = msgspec.json.encode({"objects": stretch.objects, "teams": stretch.teams, "frames": len(stretch.ts_us)})
    header += b" " * (-(4 + len(header)) % 8)
    height = stretch.z_m[:, :1] if stretch.objects else stretch.z_m
    arrays = [stretch.ts_us.astype("<f8"), *map(_centimetres, (stretch.x_m, stretch.y_m, height))]
    return b"".join([struct.pack("<I", len(header)), header, *(array.tobytes() for array in arrays)])


def _centimetres(metres: np.ndarray) -> np.ndarray:
    cm = np.clip(np.rint(np.nan_to_num(metres, nan=-1e9) * 100), -32768, 32767)
    return cm.astype("<i2")


class Replays:
    """The readers of the matches that were asked for last, and the newest explanations. Thread safe."""

    def __init__(self, matches: Mapping[str, ServedMatch]) -> None:
        self._matches = matches
        self._lock = threading.Lock()
        self._readers: OrderedDict[str, ReplayReader] = OrderedDict()
        self._explained: OrderedDict[tuple[Path, str], Explained] = OrderedDict()

    def served(self, name: str) -> ServedMatch:
        """Return a match. Raises HTTPException 404 for another id."""
        if name not in self._matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(self._matches) or 'none'}")
        return self._matches[name]

    def reader(self, name: str) -> ReplayReader:
        """Return the reader of a match; the first request opens it."""
        served = self.served(name)
        with self._lock:
            if name not in self._readers:
                self._readers[name] = ReplayReader(served)
                if len(self._readers) > _OPEN_MAX:
                    self._readers.popitem(last=False)
            self._readers.move_to_end(name)
            return self._readers[name]

    def explained(self, name: str, event: str) -> Explained | None:
        """Return an explanation that was made before."""
        return self._explained.get((self.served(name).folder, event))

    def explain(self, name: str, event: str) -> Explained:
        """Return why an event was reported; the match is played once more around it."""
        from app.explain.reasons import explain  # brings the engine, which no other route needs
        from app.explain.text import lines

        folder = self.served(name).folder
        found = Explained(event, list(lines(explain(folder, event, lambda text: None))))
        self._explained[folder, event] = found
        if len(self._explained) > _EXPLAINED_MAX:
            self._explained.popitem(last=False)
        return found


def replay_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the routes of replays below ``/matches``.

    Args:
        matches: by id; may grow.
    """
    router, replays = APIRouter(prefix="/matches", tags=["replay"]), Replays(matches)
    playing, reading = threading.BoundedSemaphore(1), threading.BoundedSemaphore(4)
    chunk_answer = {200: {"description": "Positions as bytes.", "content": {"application/octet-stream": {}}}}

    @router.get("/{match}/replay", responses=answer(ReplaySpan, _SPAN) | refusals(404))
    def span(match: _Name) -> Response:
        """Return from when to when there are positions, the lines of the pitch, and who attacks where."""
        return as_json(replays.reader(match).span())

    @router.get("/{match}/replay/chunk", responses=chunk_answer | refusals(404))
    def chunk(match: _Name, number: Annotated[int, Query(ge=-_CHUNK_MAX, le=_CHUNK_MAX)]) -> Response:
        """Return the positions of ten seconds, of the chunk of that number; chunk 0 begins at event time 0."""
        content = replays.reader(match).chunk(number)
        return Response(content, 200, {"Cache-Control": "no-store"}, "application/octet-stream")

    @router.get(
        "/{match}/replay/timeline", responses=answer(Timeline, Timeline(0, False, [], [], [])) | refusals(404, 503)
    )
    def timeline(
        match: _Name,
        families: Annotated[str, Query(description="Families of kinds, with commas.", max_length=200)] = "",
        arrival_us: Annotated[int | None, Query(ge=-(2**53), le=2**53, description="As believed then.")] = None,
        begin_us: Annotated[int | None, Query(ge=-(2**53), le=2**53)] = None,
        end_us: Annotated[int | None, Query(ge=-(2**53), le=2**53)] = None,
    ) -> Response:
        """Return the events of some families with their states, withdrawn ones included, and what the pitch shows."""
        names = tuple(filter(None, families.split(",")))
        if unknown := set(names) - set(FAMILY_NAMES):
            raise HTTPException(400, f"no family {', '.join(sorted(unknown))}; there are {', '.join(FAMILY_NAMES)}")
        with one_of(reading, "too many clients ask for timelines; ask again"):
            return as_json(replays.reader(match).timeline(names, arrival_us, begin_us, end_us))

    @router.get("/{match}/comparison", responses=answer(Comparison, _COMPARED) | refusals(404))
    def comparison(match: _Name) -> Response:
        """Return the comparison with a provider's event data that `touchline compare --keep` has stored."""
        if (found := read_comparison(replays.served(match).folder)) is None:
            raise HTTPException(404, "no comparison is kept: `touchline compare STORE FILES --keep` makes one")
        return as_json(found)

    @router.get("/{match}/explanation", responses=answer(Explained, Explained("out#1", [])) | refusals(404, 503))
    def explanation(
        match: _Name, event: Annotated[str, Query(description="Id of the event.", max_length=_ID_CHARACTERS_MAX)]
    ) -> Response:
        """Explain an event: causes, thresholds, margins, positions, history. It may take seconds, or minutes."""
        if (known := replays.explained(match, event)) is not None:
            return as_json(known)
        with one_of(playing, "another event is being explained; ask again"):
            return as_json(replays.explain(match, event))

    return router

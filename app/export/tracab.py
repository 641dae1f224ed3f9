"""TRACAB: a text line a frame with all positions in centimetres, and a description in XML.

TRACAB has no way to say that the ball is lost: such a frame has the last known position, and counts as dead. Nor can it
leave out who has the ball; before anybody is known to have it, that is the home team. The day of the match is unknown.
Reference: TRACAB, File Format Description; kloppy (``tracab.load``) reads it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from app.export.frames import RATE_HZ, Frames, known, shirts
from app.export.xml_document import add, write_xml
from app.tables.match_events import MatchEvents
from football.match_sheet import Player
from football.update_stream import EventRecord

METADATA_FILE, POSITIONS_FILE = "metadata.xml", "positions.dat"

_TEAMS = {"home": 1, "away": 0}


def write_tracab(match: MatchEvents, frames: Frames, out: Path, progress: Callable[[float], None]) -> None:
    """Write both files into a folder.

    Raises:
        OSError: they cannot be written.
    """
    numbers = shirts(frames.players)
    write_xml(_metadata(match, frames, numbers), out / METADATA_FILE)
    owner = _Steps((e.ts_us, "H" if e.variant == "home" else "A") for e in _owned(match))
    state = _Steps((e.ts_us, "Alive" if e.kind == "play.live" else "Dead") for e in match.of("play.live", "play.dead"))
    heads = [f"{_TEAMS[p.team]},{index},{numbers[p.object_id]}" for index, p in enumerate(frames.players, 1)]
    centimetres = np.round(frames.places * 100.0)
    ball = "0,0,0,0.00"
    with (out / POSITIONS_FILE).open("w", encoding="ascii", newline="\n") as file:
        for index, number in enumerate(frames.numbers):
            places, ts_us = centimetres[index].tolist(), int(number / RATE_HZ * 1e6)
            seen = known(places[0])
            if seen:
                ball = _place(places[0], with_height=True)
            alive = state.at(ts_us, "Alive") if seen else "Dead"
            players = (f"{head},{_place(at)};" for head, at in zip(heads, places[1:], strict=True) if known(at))
            file.write(f"{number}:{''.join(players)}:{ball},{owner.at(ts_us, 'H')},{alive};:\n")
            if index % 1_000 == 0:
                progress(index / len(frames.numbers))


class _Steps:
    """A value that changes at event times."""

    def __init__(self, changes: Iterable[tuple[int, str]]) -> None:
        ordered = sorted(changes)
        self._times, self._values = [ts_us for ts_us, _ in ordered], [value for _, value in ordered]

    def at(self, ts_us: int, default: str) -> str:
        """The value at an event time; the default before the first change."""
        index = bisect_right(self._times, ts_us) - 1
        return self._values[index] if index >= 0 else default


def _owned(match: MatchEvents) -> Iterator[EventRecord]:
    return (event for event in match.of("team.possession") if event.variant in ("home", "away"))


def _place(place: list[float], *, with_height: bool = False) -> str:
    """x, y, with the height if wanted, in centimetres, and speed in metres a second."""
    x, y, z, speed = (0.0 if math.isnan(value) else value for value in place)
    height = f",{z:.0f}" if with_height else ""
    return f"{x:.0f},{y:.0f}{height},{speed / 100:.2f}"


def _names(player: Player) -> tuple[str, str]:
    """First and last name; one that looks like a number is left in the whole name, or readers take it for one."""
    whole = player.name or player.object_id
    first, _, last = whole.partition(" ")
    return (first, last) if last and not last.isdecimal() else ("", whole)


def _metadata(match: MatchEvents, frames: Frames, numbers: dict[str, int]) -> ElementTree.Element:
    root, sheet = ElementTree.Element("root"), match.sheet
    add(root, "GameID", sheet.match_id)
    add(root, "Kickoff", "1970-01-01 00:00:00")
    add(root, "FrameRate", RATE_HZ)
    add(root, "PitchShortSide", round(100 * sheet.width_m))
    add(root, "PitchLongSide", round(100 * sheet.length_m))
    last_us = int(frames.numbers[-1] / RATE_HZ * 1e6)
    spans = {number: (begin_us, end_us) for number, begin_us, end_us in match.clock.spans(last_us)}
    for number in range(1, 6):
        for name, us in zip(("StartFrame", "EndFrame"), spans.get(number, (0, 0)), strict=True):
            add(root, f"Phase{number}{name}", round(us * RATE_HZ * 1e-6))
    seen = np.isfinite(frames.places[:, 1:, 0])
    for team, tag, name in (("home", "HomeTeam", sheet.home), ("away", "AwayTeam", sheet.away)):
        element = add(root, tag)
        add(element, "TeamID", team)
        add(element, "ShortName", name)
        players = add(element, "Players")
        for index, player in enumerate(frames.players):
            if player.team == team:
                one, there = add(players, "item"), np.flatnonzero(seen[:, index])
                first, last = _names(player)
                add(one, "PlayerID", player.object_id)
                add(one, "FirstName", first)
                add(one, "LastName", last)
                add(one, "JerseyNo", numbers[player.object_id])
                add(one, "StartFrameCount", int(frames.numbers[there[0]]) if len(there) else 0)
                add(one, "EndFrameCount", int(frames.numbers[there[-1]]) if len(there) else 0)
    return root

"""FIFA's EPTS transfer format: a description in XML, and a text line a frame with all positions.

Positions are metres from the centre spot, speeds metres a second, at 25 frames a second. Frames outside of the periods
are left out. Reference: FIFA EPTS Standard Data Format, 2017; kloppy (``metrica.load_tracking_epts``) reads it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from app.export.frames import RATE_HZ, Frames, known, shirts
from app.export.xml_document import add, write_xml
from app.tables.match_events import MatchEvents

METADATA_FILE, POSITIONS_FILE = "metadata.xml", "positions.txt"

_PERIODS = ("first_half", "second_half", "first_extra_half", "second_extra_half")

_CHANNELS = ("x", "y", "s")


def write_epts(match: MatchEvents, frames: Frames, out: Path, progress: Callable[[float], None]) -> None:
    """Write both files into a folder.

    Raises:
        OSError: they cannot be written.
    """
    spans = _spans(match, frames)
    chosen = np.zeros(len(frames.numbers), bool)
    for _, first, last in spans:
        chosen |= (frames.numbers >= first) & (frames.numbers <= last)
    ids = _ids(frames)
    write_xml(_metadata(match, frames, ids, spans, frames.numbers[chosen]), out / METADATA_FILE)
    with (out / POSITIONS_FILE).open("w", encoding="ascii", newline="\n") as file:
        indices = np.flatnonzero(chosen)
        for count, index in enumerate(indices):
            places = frames.places[index].tolist()
            players = ";".join(_values(place, (0, 1, 3)) for place in places[1:])
            file.write(f"{frames.numbers[index]}:{players}:{_values(places[0], (0, 1, 2))}\n")
            if count % 1_000 == 0:
                progress(count / len(indices))


def _spans(match: MatchEvents, frames: Frames) -> list[tuple[int, int, int]]:
    """Number, first and last frame of each period."""
    last_us = int(frames.numbers[-1] / RATE_HZ * 1e6)
    return [
        (number, round(begin_us * RATE_HZ * 1e-6), round(end_us * RATE_HZ * 1e-6))
        for number, begin_us, end_us in match.clock.spans(last_us)
        if number <= len(_PERIODS)
    ]


def _values(place: list[float], axes: tuple[int, ...]) -> str:
    if not known(place):
        return ",".join("NaN" for _ in axes)
    return ",".join("NaN" if math.isnan(place[axis]) else f"{place[axis]:.3f}" for axis in axes)


def _ids(frames: Frames) -> list[str]:
    """Ids of the players; numbered ones where an object id could not be part of a name."""
    ids = [player.object_id for player in frames.players]
    plain = all(re.fullmatch(r"[A-Za-z0-9_]+", one) for one in ids)
    return ids if plain else [f"P{number}" for number in range(1, len(ids) + 1)]


def _metadata(
    match: MatchEvents, frames: Frames, ids: list[str], spans: list[tuple[int, int, int]], numbers: np.ndarray
) -> ElementTree.Element:
    root = ElementTree.Element("main")
    metadata = add(root, "Metadata")
    _global_config(match, metadata, spans)
    session = add(add(metadata, "Sessions"), "Session", id="session1")
    add(session, "SessionType", "Match")
    size = add(session, "FieldSize")
    add(size, "Width", f"{match.sheet.length_m:g}")
    add(size, "Height", f"{match.sheet.width_m:g}")
    _people(match, frames, ids, metadata)
    _sensors(ids, metadata)
    _line_format(ids, root, int(numbers[0]) if len(numbers) else 0, int(numbers[-1]) if len(numbers) else 0)
    return root


def _global_config(match: MatchEvents, metadata: ElementTree.Element, spans: list[tuple[int, int, int]]) -> None:
    config = add(metadata, "GlobalConfig")
    add(config, "FileName", match.sheet.match_id)
    add(config, "TrackingType", "Optical" if match.sheet.quality.kind == "optical" else "LPS")
    add(config, "ProviderName", "Touchline")
    add(config, "FrameRate", RATE_HZ)
    values = [
        (f"{_PERIODS[number - 1]}_{end}", frame)
        for number, first, last in spans
        for end, frame in (("start", first), ("end", last))
    ]
    _parameters(config, "ProviderGlobalParameters", values)


def _people(match: MatchEvents, frames: Frames, ids: list[str], metadata: ElementTree.Element) -> None:
    teams = add(metadata, "Teams")
    first_us = match.clock.begins[0][0]
    for team, name in (("home", match.sheet.home), ("away", match.sheet.away)):
        element = add(teams, "Team", id=team)
        add(element, "Name", name)
        attacks_x = match.attacks_x(team, first_us)
        value = {1: "left_to_right", -1: "right_to_left"}.get(attacks_x or 0)
        _parameters(element, "ProviderTeamsParameters", [("attack_direction_first_half", value)] if value else [])
    players, numbers = add(metadata, "Players"), shirts(frames.players)
    for player, name in zip(frames.players, ids, strict=True):
        element = add(players, "Player", id=name, teamId=player.team)
        add(element, "Name", player.name or player.object_id)
        add(element, "ShirtNumber", numbers[player.object_id])
        values = [("object_id", player.object_id), ("position_index", 0 if player.goalkeeper else -1)]
        _parameters(element, "ProviderPlayerParameters", values)


def _sensors(ids: list[str], metadata: ElementTree.Element) -> None:
    sensors = add(add(add(metadata, "Devices"), "Device", id="device1"), "Sensors")
    for sensor, channels, unit in (("position", ("x", "y", "z"), "metres"), ("speed", ("s",), "metres per second")):
        element = add(sensors, "Sensor", id=sensor)
        add(element, "Name", sensor)
        parent = add(element, "Channels")
        for channel in channels:
            one = add(parent, "Channel", id=channel)
            add(one, "Name", channel)
            add(one, "Unit", unit)
    parent = add(metadata, "PlayerChannels")
    for name in ids:
        for channel in _CHANNELS:
            add(parent, "PlayerChannel", id=f"{name}_{channel}", playerId=name, channelId=channel)


def _line_format(ids: list[str], root: ElementTree.Element, first: int, last: int) -> None:
    formats = add(root, "DataFormatSpecifications")
    line = add(formats, "DataFormatSpecification", separator=":", startFrame=first, endFrame=last)
    add(line, "StringRegister", name="frameCount")
    players = add(line, "SplitRegister", separator=";")
    for name in ids:
        register = add(players, "SplitRegister", separator=",")
        for channel in _CHANNELS:
            add(register, "PlayerChannelRef", playerChannelId=f"{name}_{channel}")
    ball = add(line, "SplitRegister", separator=",")
    for channel in ("x", "y", "z"):
        add(ball, "BallChannelRef", channelId=channel)


def _parameters(parent: ElementTree.Element, tag: str, values: list[tuple[str, object]]) -> None:
    element = add(parent, tag)
    for name, value in values:
        parameter = add(element, "ProviderParameter")
        add(parameter, "Name", name)
        add(parameter, "Value", value)

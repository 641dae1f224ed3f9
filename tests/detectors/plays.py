"""The transcripts: scenes told in ``transcripts*.yaml``, made ready for the runners that play them.

A scene names players' and the ball's waypoints; further ``ways`` of single transmitters (a hand, a second ball, a
camera's view of who wears transmitters), times at which one is ``silent``, and what ``officials`` say. ``expect`` are
the rows of all events of the kinds in ``look_at``, in any order. Of a dense kind a row is told when it changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from detectors.arrivals import arrival, frame_arrival, official_arrival
from detectors.catalogue import build_detectors
from detectors.control.scene import Scene
from detectors.signals.smoothed_speed import PlayerSpeeds
from football.match_sheet import MatchSheet, Quality
from football.packets import RAW_KINDS
from football.payloads import EventPayload, Frame
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from replay.formats.officials import FILE, OfficialLine, read
from tests.detectors import stage

FILES = sorted(Path(__file__).parent.glob("transcripts*.yaml"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in yaml.safe_load(file.read_text())]
HANDS = (*stage.RTLS.limbs, "left_hand", "right_hand")
QUALITIES = {
    "optical": stage.OPTICAL,
    "framed": Quality(framed=True),
    "slow": msgspec.structs.replace(stage.OPTICAL, ball_hz=8.0, body_hz=8.0),
    "rtls": stage.RTLS,
    "hands": msgspec.structs.replace(stage.RTLS, ball_hz=200.0, limbs=HANDS),
}

#: What officials say soon is put in order; of a transcript all is.
_REACH_US = 60_000_000


class Story(NamedTuple):
    """A scene on one input: its detectors, its arrivals, and the lines of officials."""

    hierarchy: Hierarchy
    sheet: MatchSheet
    arrivals: list[Arrival]
    lines: list[str]


def story(case: dict[str, Any], quality: str) -> Story:
    """A transcript as an input of a declared quality reports it."""
    players = {"home_1": [(0, -51, 0)], "away_1": [(0, 51.5, 0.4)], **case["players"]}
    declared = QUALITIES[quality]
    sheet = stage.sheet(players, declared)
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(sheet, extra=case.get("extra", ())))
    packets = stage.packets(
        case["ball"], players, case["seconds"], declared, ways=case.get("ways", {}), silent=case.get("silent", ())
    )
    if declared.framed:
        instants = groupby(sorted(packets, key=lambda packet: packet.ts_us), lambda packet: packet.ts_us)
        arrivals = [frame_arrival(list(together), number) for number, (_, together) in enumerate(instants)]
    else:
        arrivals = [arrival(packet) for packet in packets]
    lines = []
    for number, line in enumerate(case.get("officials", ()), 1):
        lines.append(msgspec.json.encode(line).decode())
        arrival_us = round(line["said_s"] * 1e6)
        official = read(OfficialLine(FILE, number, lines[-1]), sheet, arrival_us)
        arrivals.append(official_arrival(official, arrival_us, arrival_us - _REACH_US))
    return Story(hierarchy, sheet, arrivals, lines)


def arrival_us(one: Arrival, story: Story) -> int:
    """Arrival time of a line of officials."""
    return round(msgspec.json.decode(story.lines[one.event.seq - 1])["said_s"] * 1e6)


def rows(events: Iterable[Event], *kinds: str) -> list[tuple[str, str, str]]:
    """(kind, variant, player) of the events of some kinds, sorted; of a dense kind those that differ from the last."""
    found, last = [], dict[str, tuple[str, str, str]]()
    for event in sorted(events, key=lambda e: e.ts_us):
        if event.kind in kinds:
            row = (event.kind, *_row(event.payload))
            if isinstance(event.payload, EventPayload) or last.get(event.kind) != row:
                found.append(row)
            last[event.kind] = row
    return sorted(found)


def _row(payload: object) -> tuple[str, str]:
    if isinstance(payload, Frame):
        ball = ", and the ball" if payload.ball else ""
        return f"{len(payload.players)} players{ball}", ""
    if isinstance(payload, PlayerSpeeds):
        known = [(m_s, name) for m_s, name in zip(payload.m_s.tolist(), payload.names, strict=True) if m_s == m_s]
        fastest_m_s, name = max(known, default=(0.0, ""))
        return f"fastest {3 * round(fastest_m_s / 3)} m/s", name if fastest_m_s >= 1.5 else ""
    if isinstance(payload, Scene):
        return "live" if payload.live else "dead", payload.holder
    assert isinstance(payload, EventPayload), f"a transcript cannot look at {type(payload).__name__}"
    return payload.variant, payload.player

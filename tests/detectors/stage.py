"""A stage for detectors: a scene told as waypoints, sampled as an input of a declared quality would.

The ball and the players go straight from waypoint to waypoint ``(second, x, y[, z])`` and stay where their last one
is. Radio-like qualities give each limb its own transmitter, ten positions a packet, and Gaussian noise.
"""

from __future__ import annotations

import bisect
import random
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet, Player, Quality, team_of
from football.packets import RAW_KINDS, Packet
from football.payloads import EventPayload
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay

Waypoints = Sequence[tuple[float, ...]]

OPTICAL = Quality()
RTLS = Quality(ball_hz=2000.0, body_hz=200.0, limbs=("left_foot", "right_foot"), position_noise_m=0.02, kind="rtls")
#: Metres that a limb is beside the body's middle, and above what it stands on.
LIMB_OFFSET_M = {"left_foot": 0.15, "right_foot": -0.15, "left_hand": 0.3, "right_hand": -0.3}
LIMB_HEIGHT_M = {"left_hand": 0.9, "right_hand": 0.9}

#: Transmitter and seconds from and until when it says nothing.
Silence = tuple[str, float, float]


def sheet(players: Mapping[str, Waypoints], quality: Quality = OPTICAL) -> MatchSheet:
    """A sheet for the players of a scene; home attacks towards +x, and 1 is the goalkeeper."""
    lines = tuple(Player(o, team_of(o, MatchSheet()), goalkeeper=o.endswith("_1")) for o in sorted(players))
    return MatchSheet(attacks_positive_x="home", players=lines, quality=quality)


def place(waypoints: Waypoints, at_s: float) -> tuple[float, float, float]:
    """Position on a path at an instant."""
    i = bisect.bisect_right([w[0] for w in waypoints], at_s)
    if i == 0 or i == len(waypoints):
        x, y, z = (*waypoints[max(0, i - 1)][1:], 0.0)[:3]
        return x, y, z
    before, after = waypoints[i - 1], waypoints[i]
    share = (at_s - before[0]) / (after[0] - before[0])
    a, b = (*before[1:], 0.0)[:3], (*after[1:], 0.0)[:3]
    return tuple(p + (q - p) * share for p, q in zip(a, b, strict=True))  # type: ignore[return-value]


def packets(
    ball: Waypoints,
    players: Mapping[str, Waypoints],
    seconds: float,
    quality: Quality = OPTICAL,
    seed: int = 1,
    ways: Mapping[str, Waypoints] = MappingProxyType({}),
    silent: Sequence[Silence] = (),
) -> Iterator[Packet]:
    """The scene as packets, transmitter after transmitter; ``ways`` are those of single ones, limbs' or others'."""
    random_m = random.Random(seed)
    tracks = {"ball": ball}
    for object_id, waypoints in players.items():
        for limb in quality.limbs:
            aside_m, above_m = LIMB_OFFSET_M[limb], LIMB_HEIGHT_M.get(limb, 0.0)
            tracks[f"{object_id}/{limb}"] = [
                (w[0], w[1], w[2] + aside_m, (w[3] if len(w) > 3 else 0.0) + above_m) for w in waypoints
            ]
        if not quality.limbs:
            tracks[object_id] = waypoints
    for name, waypoints in {**tracks, **ways}.items():
        rate_hz = quality.ball_hz if name.startswith("ball") else quality.body_hz
        pauses = [(from_s, to_s) for of, from_s, to_s in silent if of == name]
        yield from _track(name, waypoints, seconds, rate_hz, quality, random_m, pauses)


def _track(
    name: str,
    waypoints: Waypoints,
    seconds: float,
    rate_hz: float,
    quality: Quality,
    random_m: random.Random,
    pauses: Sequence[tuple[float, float]],
) -> Iterator[Packet]:
    rtls = quality.kind == "rtls"
    size, noise_m = (10, quality.position_noise_m) if rtls else (1, 0.0)
    # Radio transmitters do not share a clock: each starts somewhere within its own period.
    start_s = random_m.random() / rate_hz if rtls else 0.0
    times_s = [start_s + i / rate_hz for i in range(int(seconds * rate_hz))]
    times_s = [t for t in times_s if not any(from_s <= t < to_s for from_s, to_s in pauses)]
    for sequence in range(len(times_s) // size):
        chunk = times_s[sequence * size : (sequence + 1) * size]
        rows = [place(waypoints, t) for t in chunk]
        x, y, z = zip(*rows, strict=True)
        noise = (lambda values: tuple(v + random_m.gauss(0.0, noise_m) for v in values)) if rtls else tuple
        yield Packet(name, sequence, tuple(round(t * 1e6) for t in chunk), noise(x), noise(y), noise(z))


def play(
    ball: Waypoints,
    players: Mapping[str, Waypoints],
    seconds: float,
    quality: Quality = OPTICAL,
    seed: int = 1,
    extra: Sequence[str] = (),
) -> list[Event]:
    """Sparse events of the whole catalogue, and of the detectors asked for, sorted by time."""
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(sheet(players, quality), extra=extra))
    raw = (arrival(p).event for p in packets(ball, players, seconds, quality, seed))
    events = sorted_replay(hierarchy, raw)
    return sorted((e for e in events if isinstance(e.payload, EventPayload)), key=lambda e: e.ts_us)

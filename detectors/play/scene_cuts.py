"""Cuts of the scene: a source leaves out dead time without a gap in its times (part of 5.10).

Recordings whose dead time was cut out, and simulated football, go on with the next frame: nearly everybody is
elsewhere, where he stands for the restart, and so is the ball.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.reasons import reason
from football.payloads import Frame


class CutParameters(msgspec.Struct, frozen=True):
    """When a frame shows that the scene was cut.

    Attributes:
        jump_m: a player has jumped if he is this far from where he was in the frame before, and
        run_m_s: farther than he runs at this speed.
        jumped_share: least share of all players who have jumped.
        players: least number of players.
        gap_us: greatest time between the two frames.
        leaves_m: at a kick-off to which the scene was cut, the ball has left where it lay if it is this far from there.
    """

    jump_m: Annotated[float, reason("As a jump of the input's quality: longer than any error of a position.")] = 3.0
    run_m_s: Annotated[float, reason("As the greatest speed of a player.")] = 12.0
    jumped_share: Annotated[
        float, reason("Ours: exchanged players are two, a team that is tracked anew is half of all.")
    ] = 0.75
    players: Annotated[int, reason("Law 3: fewer than seven a side is no match.")] = 14
    gap_us: Annotated[int, reason("Ours: as players are carried on who are not seen.")] = 300_000
    leaves_m: Annotated[float, reason("Law 8: it is kicked and clearly moves; positions err by decimetres.")] = 0.3


class Scene(msgspec.Struct, frozen=True, gc=False):
    """Where everybody was in the newest frame.

    Attributes:
        at_us: time of that frame.
        names: of those who play.
        packed_xy_m: all x, then all y, as ``Frame.packed_xy_m``.
        moves: False if nobody had moved since the frame before: then tracking stood still, and jumps as it goes on.
    """

    at_us: int = -(2**62)
    names: tuple[str, ...] = ()
    packed_xy_m: bytes = b""
    moves: bool = False


NO_SCENE = Scene()


def seen(scene: Scene, now_us: int, frame: Frame) -> Scene:
    """The scene of a frame."""
    return Scene(now_us, frame.names, frame.packed_xy_m, frame.packed_xy_m != scene.packed_xy_m)


def is_cut(scene: Scene, p: CutParameters, now_us: int, frame: Frame) -> bool:
    """True if the scene was cut between the frame before and this one."""
    count, gap_us = len(frame.players), now_us - scene.at_us
    if not scene.moves or gap_us > p.gap_us or count < p.players or len(scene.packed_xy_m) != len(frame.packed_xy_m):
        return False
    before, now, limit_m = memoryview(scene.packed_xy_m).cast("d"), memoryview(frame.packed_xy_m).cast("d"), p.jump_m
    # Three of them first: every frame passes here.
    for index in (0, count // 2, count - 1):
        if abs(now[index] - before[index]) > limit_m or abs(now[count + index] - before[count + index]) > limit_m:
            break
    else:
        return False
    if scene.names != frame.names:
        return False
    limit_m = max(limit_m, p.run_m_s * gap_us / 1e6)
    moved_m = [math.hypot(now[at] - before[at], now[count + at] - before[count + at]) for at in range(count)]
    share = sum(one > limit_m for one in moved_m) / count
    return at_least("share of the players who jumped", share, p.jumped_share, "phase.cut.jumped_share", "phase.dead")

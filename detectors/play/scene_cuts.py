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
        apart_share: least share of those who jumped elsewhere than as the median of all: if everybody is shifted by
            as much, the camera's calibration has slipped.
        players: least number of players.
        gap_us: greatest time between the two frames.
        moves_m_s: somebody was faster than this before.
        leaves_m: at a kick-off to which the scene was cut, the ball has left where it lay if it is this far from there.
    """

    jump_m: Annotated[float, reason("As a jump of the input's quality: longer than any error of a position.")] = 3.0
    run_m_s: Annotated[float, reason("As the greatest speed of a player.")] = 12.0
    jumped_share: Annotated[
        float, reason("Ours: exchanged players are two, a team that is tracked anew is half of all.")
    ] = 0.75
    apart_share: Annotated[float, reason("Ours: half of all.")] = 0.5
    players: Annotated[int, reason("Law 3: fewer than seven a side is no match.")] = 14
    gap_us: Annotated[int, reason("Ours: as players are carried on who are not seen.")] = 300_000
    moves_m_s: Annotated[float, reason("Ours: a walk is five times as fast.")] = 0.3
    leaves_m: Annotated[float, reason("Law 8: it is kicked and clearly moves; positions err by decimetres.")] = 0.3


def is_cut(before: Frame, now: Frame, gap_us: int, p: CutParameters) -> bool:
    """True if the scene was cut between a frame and the next one, ``gap_us`` later.

    Tracking that stood still jumps as it goes on: then nobody had moved before.
    """
    were, are = before.players, now.players
    count = len(are)
    if gap_us > p.gap_us or count < p.players or len(were) != count:
        return False
    # Three of them first: every frame passes here.
    some = ((were[at], are[at]) for at in (0, count // 2, -1))
    if not any(abs(after.x_m - was.x_m) + abs(after.y_m - was.y_m) > p.jump_m for was, after in some):
        return False
    if before.names != now.names or not any(math.hypot(one.vx_m_s, one.vy_m_s) > p.moves_m_s for one in were):
        return False
    limit_m = max(p.jump_m, p.run_m_s * gap_us / 1e6)
    moves_m = [(after.x_m - was.x_m, after.y_m - was.y_m) for was, after in zip(were, are, strict=True)]
    along_m, across_m = (sorted(axis)[count // 2] for axis in zip(*moves_m, strict=True))
    jumped = sum(math.hypot(x_m, y_m) > limit_m for x_m, y_m in moves_m) / count
    apart = sum(math.hypot(x_m - along_m, y_m - across_m) > limit_m for x_m, y_m in moves_m) / count
    if not at_least("share of the players who jumped", jumped, p.jumped_share, "phase.cut.jumped_share", "phase.dead"):
        return False
    what, path = "share of those who jumped otherwise than most", "phase.cut.apart_share"
    return at_least(what, apart, p.apart_share, path, "phase.dead")

"""Goalkeepers by their places, for files whose match sheet does not name them.

A goalkeeper stays near to his own goal. The median of his places along the pitch is far from the halfway line, farther
than that of any team mate at the same end.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec
import numpy as np

from football.input_quality import InputFinding
from football.match_sheet import TEAMS, MatchSheet
from football.recording import Track

#: Places are compared within blocks of this length: teams change ends, and a goalkeeper may be replaced.
_BLOCK_US = 300_000_000

#: A place counts once in this time; with fewer of them in a block a player is not compared.
_EVERY_US, _LEAST = 1_000_000, 20

#: The median place of a goalkeeper is at least so far from the halfway line, as a share of the pitch, and so much
#: farther than that of any mate at this end, in metres.
_AWAY_SHARE, _BEYOND_M = 1.0 / 3.0, 6.0

#: He is the one in at least this share of the blocks in which he was compared.
_BLOCKS_SHARE = 0.5


def with_goalkeepers(sheet: MatchSheet, tracks: tuple[Track, ...]) -> tuple[MatchSheet, tuple[InputFinding, ...]]:
    """The sheet with the goalkeepers of each team of which it names none, and a finding that names them.

    Without any, the sheet as it is.
    """
    named = {player.team for player in sheet.players if player.goalkeeper}
    teams = {player.object_id: player.team for player in sheet.players if player.team in TEAMS}
    mine = {name: team for name, team in teams.items() if team not in named}
    places = {track.transmitter: _medians(track, sheet) for track in tracks if track.transmitter in mine}
    found: Counter[str] = Counter()
    for team in TEAMS:
        blocks: defaultdict[int, dict[str, float]] = defaultdict(dict)
        for name, medians in places.items():
            if mine[name] == team:
                for block, x_m in medians.items():
                    blocks[block][name] = x_m
        found.update(one for block in blocks.values() if (one := _last(block, sheet.length_m)))
    keepers = {name for name, count in found.items() if count >= _BLOCKS_SHARE * len(places[name])}
    if not keepers:
        return sheet, ()
    players = tuple(
        msgspec.structs.replace(player, goalkeeper=player.goalkeeper or player.object_id in keepers)
        for player in sheet.players
    )
    names = " and ".join(player.name or player.object_id for player in players if player.object_id in keepers)
    text = f"No sheet names the goalkeepers; by their places they are {names}"
    finding = InputFinding("goalkeepers", "note", text, "", "Name others in the match sheet: goalkeeper of a player")
    return msgspec.structs.replace(sheet, players=players), (finding,)


def _medians(track: Track, sheet: MatchSheet) -> dict[int, float]:
    """The median place along the pitch in each block, of a player who is on it."""
    rows = track.line
    rows = rows[np.unique(track.ts_us[rows] // _EVERY_US, return_index=True)[1]]
    inside = (np.abs(track.x_m[rows]) <= sheet.length_m / 2) & (np.abs(track.y_m[rows]) <= sheet.width_m / 2)
    rows = rows[inside]
    blocks = track.ts_us[rows] // _BLOCK_US
    numbers, counts = np.unique(blocks, return_counts=True)
    return {
        int(number): float(np.median(track.x_m[rows[blocks == number]]))
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        if count >= _LEAST
    }


def _last(block: dict[str, float], length_m: float) -> str:
    """The player of a team who is the goalkeeper by the median places of a block; empty if nobody is."""
    name = max(block, key=lambda one: abs(block[one]))
    away_m, sign = abs(block[name]), np.sign(block[name])
    mates_m = max((x_m * sign for one, x_m in block.items() if one != name), default=-away_m)
    return name if away_m >= _AWAY_SHARE * length_m and away_m - mates_m >= _BEYOND_M else ""

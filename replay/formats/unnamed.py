"""Players who are tracked without anybody knowing who they are.

Tracking from pictures gives a player a new id when it finds him again, until it knows him. His team is known. Such
sights are joined to as few players as were seen at once, so that a team does not get hundreds of them: a sight goes on
with the player who was lost near where it begins, shortly before, or with one who has been out of sight for long.
"""

from __future__ import annotations

import math

import numpy as np

from football.input_quality import InputFinding
from football.match_sheet import PLAYERS_MAX, TEAMS, Player, Team
from football.recording import Track, track_order
from football.untrusted import UntrustedError

#: A player is taken for the next sight after he has been out of sight for so long: he may be anywhere by then.
UNSEEN_US = 5_000_000

#: One who was lost more recently is found no farther away than he can have run meanwhile, and a step.
RUN_M_S, STEP_M = 9.0, 1.5

#: Ids of a file before sights are joined.
IDS_MAX = 50_000

#: No squad has more players: more objects of a team are sights.
SQUAD_MAX = 40


def with_unnamed(
    tracks: tuple[Track, ...], sides: dict[str, Team]
) -> tuple[tuple[Track, ...], tuple[Player, ...], tuple[InputFinding, ...]]:
    """As :func:`unnamed_players`, of a table without a match sheet; with a finding if there are any."""
    if not sides:
        return tracks, (), ()
    tracks, players = unnamed_players(tracks, sides, starts=True)
    found = (
        f"{len(sides)} ids are more than squads have, as of a tracker that gives a player another id whenever it has"
        f" lost him: they are joined to {len(players)} players, home_unnamed_1 and so on"
    )
    mend = "Ids that stay with a player say more, and who he is"
    finding = InputFinding("unnamed", "note", found, "", mend)
    return tracks, players, (finding,)


def unnamed_players(
    tracks: tuple[Track, ...], sides: dict[str, Team], *, starts: bool = False
) -> tuple[tuple[Track, ...], tuple[Player, ...]]:
    """Join the tracks of players whom no sheet names.

    Args:
        tracks: those of a recording.
        sides: the teams of those who are not on its sheet; empty of one who has none.
        starts: of these players, True if nobody is known to be on the pitch instead.

    Returns:
        The tracks, with one for each unnamed person instead of his sights, and the players among them
        (``home_unnamed_1`` ...).
    """
    kept = [track for track in tracks if track.transmitter not in sides]
    everybody: tuple[Team, ...] = (*TEAMS, "")
    players: list[Player] = []
    for team in everybody:
        sights = [track for track in tracks if sides.get(track.transmitter) == team]
        for number, joined in enumerate(_joined(sights), 1):
            name = f"{team or 'person'}_unnamed_{number}"
            if team:
                players.append(Player(name, team, starts=starts))
            columns = zip(*((one.ts_us, one.x_m, one.y_m, one.z_m) for one in joined), strict=True)
            kept.append(Track(name, *map(np.concatenate, columns)))
    return tuple(sorted(kept, key=lambda track: track_order(track.transmitter))), tuple(players)


def _joined(sights: list[Track]) -> list[list[Track]]:
    """The sights of each player, in order of time; none of them overlap.

    Raises:
        UntrustedError: more are seen at once than a match sheet has players.
    """
    players: list[list[Track]] = []
    for sight in sorted(sights, key=lambda track: (int(track.ts_us[0]), track.transmitter)):
        free = [(_apart_m(one[-1], sight), n) for n, one in enumerate(players) if one[-1].ts_us[-1] < sight.ts_us[0]]
        apart_m, nearest = min(free, default=(math.inf, 0))
        if apart_m < math.inf:
            players[nearest].append(sight)
        elif len(players) < PLAYERS_MAX:
            players.append([sight])
        else:
            raise UntrustedError(f"more than {PLAYERS_MAX} players of a team at once")
    return players


def _apart_m(last: Track, sight: Track) -> float:
    """How far a sight begins from where a player was lost, if he can be its player; as far as can be if long ago."""
    unseen_s = int(sight.ts_us[0] - last.ts_us[-1]) * 1e-6
    if unseen_s * 1e6 >= UNSEEN_US:
        return RUN_M_S * UNSEEN_US * 1e-6 + STEP_M
    apart_m = math.hypot(sight.x_m[0] - last.x_m[-1], sight.y_m[0] - last.y_m[-1])
    return apart_m if apart_m < RUN_M_S * unseen_s + STEP_M else math.inf

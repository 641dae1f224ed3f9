"""Those who play: at most eleven of each team, by sheet, substitutions, position and movement (Law 3; part of 1.8).

Theory of operation
-------------------
Tracking reports everybody who wears a tag or stands in the picture: substitutes on the bench or warming up behind the
goal, players who were sent off, ball boys, physiotherapists. Only those who play make an offside line, a hull, the
shape of a kick-off. This module decides it once, below all detectors: ``Frame.players`` are those who play,
``Frame.others`` the rest.

A person of a team begins to play when he is inside the lines and his team has a free place. Who was first seen inside,
or has played before, needs no time for that; anybody else must stay for ``on_us``, since trainers cross the pitch, too.
He stops when he has been outside the lines for ``off_us``: who throws or fetches the ball is back sooner. A team has
eleven places. If all are taken, one more gets the place of a mate who is outside, or who has not moved for
``still_us`` (a tag that was taken off, a track that froze). Substitutions need no rule of their own: one goes off, one
comes on. Of more than eleven at once, starters of the match sheet and those who have played for longest go first.

People without a team never play, unless the input knows no team at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec

from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState
from football.pitch import pitch_of

#: Law 3: players of a team on the pitch.
TEAM_PLAYERS = 11


class PlayingParameters(msgspec.Struct, frozen=True):
    """When a person on or beside the pitch counts as a player.

    Attributes:
        look_us: time between two looks.
        edge_m: the pitch reaches this far outside its lines.
        on_us: a person who was first seen outside plays after this time inside the lines.
        off_us: a player who is outside for this long has stopped playing.
        lost_us: the place of a player who is not tracked for this long is free.
        still_m: a player who stays within this distance does not move.
        still_us: a player who has not moved for this long gives way to another one.
    """

    look_us: Annotated[int, reason("Ours: a player at 8 m/s covers 1.6 m in it.")] = 200_000
    edge_m: Annotated[float, reason("The position of a thrower; benches are farther.")] = 1.0
    on_us: Annotated[int, reason("Ours: a warm-up along the touchline steps over it for less.")] = 2_000_000
    off_us: Annotated[
        int,
        reason("Ours: who fetches the ball from behind a goal is back sooner; a substitute takes the place at once."),
    ] = 15_000_000
    lost_us: Annotated[int, reason("Ours: ten times as long as a frame holds a lost player.")] = 2_000_000
    still_m: Annotated[float, reason("Ours: a goalkeeper shifts his feet by more in a minute.")] = 0.5
    still_us: Annotated[int, reason("Ours.")] = 60_000_000


class Member(msgspec.Struct, frozen=True, gc=False):
    """A person of a team.

    Attributes:
        team: his team.
        plays: True if he plays.
        first_us: when he began to play for the first time; -1 if he never did.
        known: True if he has played, or was first seen inside the lines.
        turn_us: who plays is outside since then, who does not is inside since then; -1 if it is not so.
        seen_us: time of the newest look at which he was tracked.
        x_m, y_m, still_us: he has not moved from this position since then.
    """

    team: Team
    plays: bool
    first_us: int
    known: bool
    turn_us: int
    seen_us: int
    x_m: float
    y_m: float
    still_us: int


class Lineup(msgspec.Struct, frozen=True, gc=False):
    """State: everybody seen so far; those of the last look who were tracked, and who of them did not play."""

    members: dict[str, Member] = {}
    names: tuple[str, ...] = ()
    resting: frozenset[str] = frozenset()
    due_us: int = -(2**62)


class WhoPlays:
    """Decides who plays; a pure fold over the people of each frame, without events of its own."""

    def __init__(self, sheet: MatchSheet, parameters: PlayingParameters | None = None) -> None:
        self.parameters = parameters or PlayingParameters()
        self.pitch = pitch_of(sheet)
        self._starters = frozenset(p.object_id for p in sheet.players if p.starts)

    def look(self, lineup: Lineup, now_us: int, bodies: Sequence[BodyState], names: tuple[str, ...]) -> Lineup:
        """The line-up at an instant; nearly always the one before.

        Args:
            lineup: the one before.
            now_us: event time of the frame.
            bodies: everybody who is tracked.
            names: their object ids.
        """
        if now_us < lineup.due_us and names == lineup.names:
            return lineup
        p = self.parameters
        members = dict(lineup.members)
        for body in bodies:
            members[body.object_id] = self._seen(members.get(body.object_id), now_us, body)
        teams: tuple[Team, ...] = ("home", "away") if any(m.team for m in members.values()) else ("",)
        for team in teams:
            self._fill(members, team, now_us)
        resting = frozenset([name for name in names if not members[name].plays])
        return Lineup(members, names, resting, now_us // p.look_us * p.look_us + p.look_us)

    def _seen(self, before: Member | None, now_us: int, body: BodyState) -> Member:
        """A member after one more look at him; who has been outside for long plays no longer."""
        p, x_m, y_m = self.parameters, body.x_m, body.y_m
        if before is None:
            inside = self.pitch.inside(x_m, y_m)
            return Member(body.team, False, -1, inside, now_us if inside else -1, now_us, x_m, y_m, now_us)
        inside = self.pitch.inside(x_m, y_m, p.edge_m if before.known else 0.0)
        plays, turn_us = before.plays, before.turn_us
        if inside == plays:
            turn_us = -1
        elif turn_us < 0:
            turn_us = now_us
        elif plays and now_us - turn_us >= p.off_us:
            plays, turn_us = False, -1
        still_us = before.still_us
        if math.hypot(x_m - before.x_m, y_m - before.y_m) > p.still_m:
            still_us = now_us
        else:
            x_m, y_m = before.x_m, before.y_m
        return Member(before.team, plays, before.first_us, before.known, turn_us, now_us, x_m, y_m, still_us)

    def _fill(self, members: dict[str, Member], team: Team, now_us: int) -> None:
        """Give the free places of a team to those who are inside, and take surplus players off."""
        p, places = self.parameters, TEAM_PLAYERS if team else 2 * TEAM_PLAYERS
        mine = [(name, m) for name, m in members.items() if m.team == team]
        on = [(name, m) for name, m in mine if m.plays and now_us - m.seen_us <= p.lost_us]
        if len(on) > places:
            on.sort(key=_seniority)
            for name, m in on[places:]:
                members[name] = msgspec.structs.replace(m, plays=False, turn_us=-1 if m.turn_us >= 0 else now_us)
            del on[places:]
        waiting = [
            (name, m)
            for name, m in mine
            if not m.plays and m.seen_us == now_us and m.turn_us >= 0 and (m.known or now_us - m.turn_us >= p.on_us)
        ]
        if not waiting:  # nearly always
            return
        on.sort(key=_seniority)
        for name, m in sorted(waiting, key=self._claim):
            outside = [one for one in on if one[1].turn_us >= 0]
            if len(on) >= places:
                idle = outside or [one for one in on if now_us - one[1].still_us >= p.still_us]
                if not idle or now_us - m.still_us >= p.still_us:
                    return
                self._rest(members, on, max(idle, key=_seniority), now_us)
            elif outside and not m.known:
                # A substitute, of a team that is not complete.
                self._rest(members, on, min(outside, key=_turned), now_us)
            first_us = m.first_us if m.first_us >= 0 else now_us
            members[name] = msgspec.structs.replace(m, plays=True, first_us=first_us, known=True, turn_us=-1)
            on.append((name, members[name]))

    def _rest(
        self, members: dict[str, Member], on: list[tuple[str, Member]], leaves: tuple[str, Member], now_us: int
    ) -> None:
        """Let a player give his place to another one."""
        name, m = leaves
        on.remove(leaves)
        members[name] = msgspec.structs.replace(m, plays=False, turn_us=-1 if m.turn_us >= 0 else now_us)

    def _claim(self, entry: tuple[str, Member]) -> tuple[bool, int, bool, str]:
        """Sort key of those who wait: who has played for longest, starters of the sheet, the others."""
        name, m = entry
        return m.first_us < 0, m.first_us, name not in self._starters, name


def _turned(entry: tuple[str, Member]) -> tuple[int, str]:
    return entry[1].turn_us, entry[0]


def _seniority(entry: tuple[str, Member]) -> tuple[int, str]:
    return entry[1].first_us, entry[0]

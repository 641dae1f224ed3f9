"""3.12 (ours): which team attacks towards +x.

Theory of operation
-------------------
Four sources, the later the stronger:

* The match sheet has the direction at the start of the stream.
* A provider may know it for each period; then it counts from the begin of the period on. If he knows only when a
  second half begins, the teams change ends for it (Law 8).
* The teams' line-up for a kick-off shows it: the ball at the centre spot, each team in its own half (Law 8). This is
  how the change of ends is seen, before the first kick of the second half, of extra time, and also in a source that was
  mirrored or has swapped the teams.
* In play positions decide, slowly: once a second the outermost player of each end casts a vote for his team's goal, if
  both are as far apart as goalkeepers. Where both goalkeepers of the sheet are at different ends, they vote, with more
  weight. This is how a stream is read that begins in the middle of a half, without a sheet or with a wrong one. A
  picture of television shows no goalkeepers: there each team's mean place votes, with less weight, for a team stands
  nearer to its own goal.

A first direction that nothing has confirmed before others contradict it was wrong from the beginning: it is amended. A
later one is followed by another.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.bodies.line_up import line_up
from detectors.decisions import at_least, at_most
from detectors.emission import make_event, shown_us
from detectors.reasons import reason
from football.match_sheet import TEAMS, MatchSheet, Period, Team, period_at
from football.payloads import BodyState, EventPayload, Frame, frame_of, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: Periods for which the teams change ends (Law 8); before extra time they toss again.
_ENDS_CHANGED = (2, 4)


class SidesParameters(msgspec.Struct, frozen=True):
    """Limits and weights of what decides the direction.

    Attributes:
        look_every_us: time between looks at the line-up.
        line_up_looks: a line-up decides when it was seen so many times in a row.
        silence_us: after so long without a frame one look suffices: a source may begin a half with the kick itself.
        centre_m: greatest distance of the ball from the centre spot in a line-up.
        centre_players_m: within this distance of the centre spot stand players of one team only.
        halfway_slack_m: players this far beyond the halfway line are in the other half.
        half_players: least number of players in each half.
        vote_every_us: time between votes.
        keeper_votes: weight of a vote of both goalkeepers.
        outer_votes: weight of a vote of the outermost players.
        mean_m: the mean places of two teams of which not all players are seen vote if they are so far apart.
        mean_players: with at least so many of each.
        all_players: with so many in the frame, goalkeepers are among them.
        keepers_apart_m: goalkeepers at different ends are this far apart, along the pitch.
        outside_m: nobody who is tracked farther outside is a goalkeeper.
        first_votes: lead that suffices while the direction is unknown.
        change_votes: lead, counted from nought, that changes the known direction.
        tally_limit: greatest tally for the known direction.
        changed_us: teams who change ends this long before a second half do it for that half.
    """

    look_every_us: Annotated[int, reason("ours: two looks within a second")] = 500_000
    line_up_looks: Annotated[int, reason("ours: one look may have caught a fault of tracking")] = 2
    silence_us: Annotated[int, reason("ours: no fault of a track outlasts it")] = 10_000_000
    centre_m: Annotated[float, reason("as restart_kick.centre_m")] = 3.0
    centre_players_m: Annotated[float, reason("as restart_kick.centre_players_m")] = 5.0
    halfway_slack_m: Annotated[float, reason("as restart_kick.halfway_slack_m")] = 5.0
    half_players: Annotated[int, reason("ours: a picture of the centre circle has as many; play has not")] = 4
    vote_every_us: Annotated[int, reason("ours: positions nearer in time are not independent")] = 1_000_000
    keeper_votes: Annotated[int, reason("ours: the sheet knows them; a change then takes 12 to 18 s")] = 15
    outer_votes: Annotated[int, reason("ours: the mean places of three seconds are as good")] = 3
    mean_m: Annotated[
        float, reason("Simulated matches 693, 703, 706, `broadcast`: 6 m on average, right in 95 to 99 of 100 seconds.")
    ] = 2.0
    mean_players: Annotated[int, reason("as half_players")] = 4
    all_players: Annotated[int, reason("as phase.all_players")] = 20
    keepers_apart_m: Annotated[float, reason("ours: more than half a pitch; one who attacks a corner has no vote")] = (
        60.0
    )
    outside_m: Annotated[
        float, reason("ours; simulated match 688: an unseen player was supposed 15 m behind the goal for minutes")
    ] = 3.0
    first_votes: Annotated[int, reason("ours: three votes of the outermost players")] = 9
    change_votes: Annotated[
        int, reason("ours: a minute, so that no corner kick or celebration does it; half-time lasts 15")
    ] = 180
    tally_limit: Annotated[int, reason("ours: a first half must not outvote the second for long")] = 90
    changed_us: Annotated[int, reason("ours: they come out some minutes before the kick-off")] = 300_000_000


class SidesState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        team: attacks towards +x, as far as is known.
        tally: of the votes, positive for home.
        vote_us: time of the next vote.
        look_us: time of the next look at the line-up.
        lined: team that attacks +x by the newest line-up.
        looks: number of looks in a row that showed it.
        period: the newest one of the source that has begun.
        published: the newest version of the newest direction.
        confirmed: True if votes or a line-up agreed with it.
    """

    team: Team = ""
    tally: int = 0
    vote_us: int = -(2**62)
    look_us: int = -(2**62)
    lined: Team = ""
    looks: int = 0
    period: int = 0
    published: Event | None = None
    confirmed: bool = False


class Direction:
    """3.12: ``direction``; ``EventPayload.team`` attacks towards +x. Emitted when known, and when it changes.

    ``detail``: ``basis``: ``sheet``, ``provider``, ``law`` (the teams change ends), ``line-up`` or ``positions``.
    """

    def __init__(self, sheet: MatchSheet, parameters: SidesParameters | None = None) -> None:
        self.parameters = parameters or SidesParameters()
        self._given: Team = sheet.attacks_positive_x
        self._periods = sheet.periods
        self._pitch = pitch_of(sheet)
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="direction",
            number="3.12",
            level=3,
            inputs=("frame",),
            outputs=("direction",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 8 (line-up); ours",
            amends=("direction",),
            known={
                "direction": Known(
                    "when line-up, sheet, provider or positions show it",
                    "when positions contradict what nothing has confirmed",
                    ("team", "confidence", "basis"),
                ),
            },
            team_variants={"direction": ("",)},
            details={"direction": ("basis",)},
        )

    def initial(self) -> SidesState:
        """Unknown before the first frame, even with a sheet: an event needs a time."""
        return SidesState()

    def step(self, state: SidesState, event: Event) -> Step[SidesState]:
        """Look and vote if it is time."""
        if event.ts_us < state.look_us:
            return state, NOTHING
        p = self.parameters
        silent = 0 <= state.look_us <= event.ts_us - p.silence_us
        state = msgspec.structs.replace(state, look_us=event.ts_us + p.look_every_us)
        period = period_at(self._periods, event.ts_us)
        if period is not None and period.number > state.period:
            return self._begin(msgspec.structs.replace(state, period=period.number), event, period)
        if not state.team and self._given:
            return self._publish(state, event, self._given, 1.0, "sheet")
        frame = frame_of(event)
        state = self._look(state, frame, p.line_up_looks if silent else 1)
        if state.lined and state.looks >= p.line_up_looks:
            at_least("looks in a row", state.looks, p.line_up_looks, "direction.line_up_looks")
            if state.lined == state.team:
                return msgspec.structs.replace(state, tally=0, confirmed=True), NOTHING
            after, out = self._publish(state, event, state.lined, 1.0, "line-up")
            return msgspec.structs.replace(after, confirmed=True), out
        if event.ts_us < state.vote_us:
            return state, NOTHING
        return self._vote(msgspec.structs.replace(state, vote_us=event.ts_us + p.vote_every_us), event, frame)

    def _begin(self, state: SidesState, event: Event, period: Period) -> Step[SidesState]:
        """Follow a period that the source knows, and the sheet at the begin of the first one that it has."""
        if period.attacks_positive_x:
            return self._publish(state, event, period.attacks_positive_x, 1.0, "provider")
        if not state.team:
            return self._publish(state, event, self._given, 1.0, "sheet") if self._given else (state, NOTHING)
        if period.number not in _ENDS_CHANGED or self._has_changed(state, event.ts_us):
            return state, NOTHING
        return self._publish(state, event, "away" if state.team == "home" else "home", 0.9, "law")

    def _has_changed(self, state: SidesState, now_us: int) -> bool:
        """True if the teams were seen to have changed ends just before the period begins."""
        before, what = state.published, "time since the teams stood otherwise"
        return (
            before is not None
            and at_most(what, now_us - before.ts_us, self.parameters.changed_us, "direction.changed_us")
            and payload_of(before).detail["basis"] in ("line-up", "positions")
        )

    def _look(self, state: SidesState, frame: Frame, counts: int) -> SidesState:
        """Count the looks in a row at which the teams stood as for a kick-off; the first one for ``counts``."""
        p, team = self.parameters, ""
        if frame.ball is not None:
            ball = frame.ball
            distances = p.centre_m, p.centre_players_m, p.halfway_slack_m
            team, mine, theirs = line_up(frame, ball.x_m, ball.y_m, *distances)
            team = team if min(mine, theirs) >= p.half_players else ""
        looks = state.looks + 1 if team == state.lined else counts
        lined: Team = "home" if team == "home" else "away" if team == "away" else ""
        return msgspec.structs.replace(state, lined=lined, looks=looks)

    def _vote(self, state: SidesState, event: Event, frame: Frame) -> Step[SidesState]:
        """Count a vote against the known direction; votes for it cancel those."""
        p = self.parameters
        vote = self._ballot(frame)
        tally = state.tally + vote
        winner: Team = "home" if tally > 0 else "away"
        if not state.team:
            if not at_least("votes", abs(tally), p.first_votes, "direction.first_votes"):
                return msgspec.structs.replace(state, tally=tally), NOTHING
            return self._publish(state, event, winner, 0.8, "positions")
        for_it = vote > 0 if state.team == "home" else vote < 0
        state = msgspec.structs.replace(state, confirmed=state.confirmed or for_it)
        if winner == state.team or not at_least("votes", abs(tally), p.change_votes, "direction.change_votes"):
            known = p.tally_limit if state.team == "home" else -p.tally_limit
            tally = min(tally, known) if known > 0 else max(tally, known)
            return msgspec.structs.replace(state, tally=tally), NOTHING
        return self._publish(state, event, winner, 0.95, "positions")

    def _ballot(self, frame: Frame) -> int:
        """Above 0 if home's goal seems to be the left one, below 0 if away's, 0 if undecided."""
        p = self.parameters
        players = [body for body in frame.players if body.team]
        if len(players) < 2:
            return 0
        keepers = sorted((body.x_m, body.team) for body in players if body.object_id in self._keepers)
        if len(keepers) == 2 and keepers[0][1] != keepers[1][1]:
            apart_m = keepers[1][0] - keepers[0][0]
            if at_least("the goalkeepers from each other", apart_m, p.keepers_apart_m, "direction.keepers_apart_m"):
                return p.keeper_votes if keepers[0][1] == "home" else -p.keeper_votes
        players = [body for body in players if self._pitch.inside(body.x_m, body.y_m, p.outside_m)]
        left = min(players, key=lambda body: body.x_m, default=None)
        right = max(players, key=lambda body: body.x_m, default=None)
        what = "the outermost players from each other"
        if (
            left is None
            or right is None
            or left.team == right.team
            or not at_least(what, right.x_m - left.x_m, p.keepers_apart_m, "direction.keepers_apart_m")
        ):
            return self._by_means(players)
        return p.outer_votes if left.team == "home" else -p.outer_votes

    def _by_means(self, players: list[BodyState]) -> int:
        """The vote of the teams' mean places in a picture of television; 0 if all players are seen."""
        p = self.parameters
        home, away = ([body.x_m for body in players if body.team == team] for team in TEAMS)
        if len(players) >= p.all_players or min(len(home), len(away)) < p.mean_players:
            return 0
        apart_m = sum(away) / len(away) - sum(home) / len(home)
        if not at_least("the teams' mean places from each other", abs(apart_m), p.mean_m, "direction.mean_m"):
            return 0
        return 1 if apart_m > 0.0 else -1

    def _publish(self, state: SidesState, event: Event, team: Team, confidence: float, basis: str) -> Step[SidesState]:
        """Publish a direction if it is another one; amend the one before if nothing has confirmed it."""
        if team == state.team:
            return msgspec.structs.replace(state, tally=0), NOTHING
        payload = EventPayload(team=team, confidence=confidence, detail={"basis": basis})
        before = state.published
        if before is None or state.confirmed or basis in ("provider", "law"):
            direction = make_event("direction", event.ts_us, f"{event.source}:{event.ts_us}", payload)
        else:
            dated_us = shown_us(before)
            direction = msgspec.structs.replace(before, ts_us=event.ts_us, payload=payload, dated_us=dated_us)
        after = msgspec.structs.replace(state, team=team, tally=0, published=direction, confirmed=False)
        return after, (direction,)

"""3.12 (ours): which team attacks towards +x.

The match sheet has it for the start of the stream. Without one, and after half-time, positions decide: apart from
corner kicks and scrambles the player nearest to a goal line is the keeper who defends it. Once a second the outermost
player of each end casts a vote; where both are of one team the vote is void.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Frame, frame_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class SidesParameters(msgspec.Struct, frozen=True):
    """How many votes decide.

    Attributes:
        vote_every_us: time between votes.
        first_votes: lead that suffices while the direction is unknown.
        change_votes: lead, counted from nought, that changes the known direction.
        tally_limit: greatest tally for the known direction.
    """

    vote_every_us: Annotated[int, reason("ours: positions nearer in time are not independent")] = 1_000_000
    first_votes: Annotated[int, reason("ours")] = 3
    change_votes: Annotated[
        int, reason("ours: a minute, so that no corner kick or celebration does it; half-time lasts 15")
    ] = 60
    tally_limit: Annotated[int, reason("ours: a first half must not outvote the second for long")] = 30


class SidesState(msgspec.Struct, frozen=True, gc=False):
    """Known direction, the tally (positive for home towards +x), and when the next vote is due."""

    team: Team = ""
    tally: int = 0
    due_us: int = -(2**62)


class Direction:
    """3.12: ``direction``; ``EventPayload.team`` attacks towards +x. Emitted when known, and when it changes."""

    def __init__(self, sheet: MatchSheet, parameters: SidesParameters | None = None) -> None:
        self.parameters = parameters or SidesParameters()
        self._given: Team = sheet.attacks_positive_x
        self.spec = Spec(
            name="direction",
            number="3.12",
            level=3,
            inputs=("frame",),
            outputs=("direction",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"direction": ("",)},
        )

    def initial(self) -> SidesState:
        """Unknown before the first frame, even with a sheet: an event needs a time."""
        return SidesState()

    def step(self, state: SidesState, event: Event) -> Step[SidesState]:
        """Vote if it is time."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        due_us = event.ts_us + self.parameters.vote_every_us
        if not state.team and self._given:
            return SidesState(self._given, 0, due_us), (_direction_event(event, self._given, 1.0, "sheet"),)
        frame = frame_of(event)
        tally = state.tally + _vote(frame)
        winner: Team = "home" if tally > 0 else "away"
        if not state.team:
            if not at_least("votes", abs(tally), self.parameters.first_votes, "direction.first_votes"):
                return SidesState("", tally, due_us), NOTHING
            return SidesState(winner, 0, due_us), (_direction_event(event, winner, 0.8, "positions"),)
        return self._watch(state, tally, winner, event, due_us)

    def _watch(self, state: SidesState, tally: int, winner: Team, event: Event, due_us: int) -> Step[SidesState]:
        """Count votes against the known direction; votes for it cancel them."""
        limit = self.parameters.tally_limit
        if winner == state.team:
            tally = min(tally, limit) if tally > 0 else max(tally, -limit)
            return SidesState(state.team, tally, due_us), NOTHING
        if not at_least("votes", abs(tally), self.parameters.change_votes, "direction.change_votes"):
            return SidesState(state.team, tally, due_us), NOTHING
        return SidesState(winner, 0, due_us), (_direction_event(event, winner, 0.95, "positions"),)


def _vote(frame: Frame) -> int:
    """+1 if home's goal seems to be the left one, -1 if away's, 0 if undecided."""
    players = [p for p in frame.players if p.team]
    if len(players) < 2:
        return 0
    left = min(players, key=lambda p: p.x_m)
    right = max(players, key=lambda p: p.x_m)
    if left.team == right.team:
        return 0
    return 1 if left.team == "home" else -1


def _direction_event(event: Event, team: Team, confidence: float, basis: str) -> Event:
    payload = EventPayload(team=team, confidence=confidence, detail={"basis": basis})
    return make_event("direction", event.ts_us, f"{event.source}:{event.ts_us}", payload)

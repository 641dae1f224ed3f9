"""15.10: ratings: what a player has added so far, for ninety minutes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from detectors.emission import is_version, make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class RatingParameters(msgspec.Struct, frozen=True):
    """How values become a rating.

    Attributes:
        prior_minutes: minutes without value that are added to each player's: the shrinkage.
    """

    prior_minutes: Annotated[int, reason("Ours: after half an hour half of the rating is the player's own.")] = 30


class RatingState(msgspec.Struct, frozen=True, gc=False):
    """State: by player his value so far, and the minute from which on he has played; the minute now."""

    values: Mapping[str, float] = {}
    since: Mapping[str, int] = {}
    minute: int = 0


class PlayerRating:
    """15.10: ``rating.step`` x team: value that a player has added so far for 90 minutes, shrunk towards none.

    The value is the threat of his passes and carries (14.8) and the value of his shots (8.10). It knows nothing of
    defending: ratings compare players of like tasks only. It follows each of these values. ``detail``: ``rating`` (in
    goals for 90 minutes), ``value`` (so far, in goals), ``minutes``.
    """

    def __init__(self, sheet: MatchSheet, parameters: RatingParameters | None = None) -> None:
        self.parameters = parameters or RatingParameters()
        self._teams = {p.object_id: p.team for p in sheet.players}
        self.spec = Spec(
            name="player_rating",
            number="15.10",
            level=15,
            inputs=("value.xt", "shot.xg", "sub.in", "clock.minute"),
            outputs=("rating.step",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours, on Singh's xT and 8.10",
            team_variants={"rating.step": ("",)},
            details={"rating.step": ("rating", "value", "minutes")},
        )

    def initial(self) -> RatingState:
        """No value."""
        return RatingState()

    def step(self, state: RatingState, event: Event) -> Step[RatingState]:
        """Add a value."""
        payload = payload_of(event)
        if event.kind == "clock.minute":
            return RatingState(state.values, state.since, int(number(payload, "minute"))), NOTHING
        if event.annuls or not payload.player or (event.kind == "shot.xg" and is_version(event)):
            return state, NOTHING
        if event.kind == "sub.in":
            since = {**state.since, payload.player: state.minute}
            return msgspec.structs.replace(state, since=since), NOTHING
        added = number(payload, "xg" if event.kind == "shot.xg" else "added_xt")
        values = {**state.values, payload.player: state.values.get(payload.player, 0.0) + added}
        after = msgspec.structs.replace(state, values=values)
        return after, (self._rating(after, payload.player, event),)

    def _rating(self, state: RatingState, player: str, event: Event) -> Event:
        minutes = max(state.minute - state.since.get(player, 0), 0)
        value, p = state.values[player], self.parameters
        detail: dict[str, Scalar] = {
            "rating": round(90.0 * value / (minutes + p.prior_minutes), 3),
            "value": round(value, 4),
            "minutes": minutes,
        }
        payload = EventPayload("", self._teams.get(player, ""), player, detail=detail)
        return make_event("rating.step", event.ts_us, f"{event.kind}:{event.source}", payload, causes=(event.id,))

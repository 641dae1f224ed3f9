"""11.7: second balls: who gains the ball after an aerial duel."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import Scalar, location_m, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class SecondBallParameters(msgspec.Struct, frozen=True):
    """Limits of a second ball.

    Attributes:
        within_us: greatest time from the header to the gain.
        reach_m: greatest distance between them.
    """

    within_us: Annotated[int, reason("Hierarchy 11.7; practice.")] = 3_000_000
    reach_m: Annotated[float, reason("Hierarchy 11.7; practice.")] = 10.0


class SecondBallState(msgspec.Struct, frozen=True, gc=False):
    """State: the aerial duel that was won, until the next gain."""

    won: Event | None = None


class SecondBall:
    """11.7: ``secondball`` x team: the first player but the winner who gains the ball after an aerial duel, near it.

    ``player`` and position are those of the gain, the id derives from the duel. ``detail``: ``won_by`` (who won the
    duel), ``seconds`` and ``distance_m`` (from his header).
    """

    def __init__(self, parameters: SecondBallParameters | None = None) -> None:
        self.parameters = parameters or SecondBallParameters()
        self.spec = Spec(
            name="second_ball",
            number="11.7",
            level=11,
            inputs=("aerial.won", "possession.gain", "play.dead"),
            outputs=("secondball",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="practice of providers",
            needs="aerial duels (6.9)",
            team_variants={"secondball": ("",)},
            details={"secondball": ("won_by", "seconds", "distance_m")},
        )

    def initial(self) -> SecondBallState:
        """No duel."""
        return SecondBallState()

    def step(self, state: SecondBallState, event: Event) -> Step[SecondBallState]:
        """Remember a duel; the next gain of another player decides."""
        if event.kind == "aerial.won":
            return SecondBallState(event), NOTHING
        won = state.won
        if won is None or event.kind == "play.dead":
            return SecondBallState(), NOTHING
        headed, gain = payload_of(won), payload_of(event)
        if event.ts_us <= won.ts_us or gain.player == headed.player:
            return state, NOTHING
        p, since_us = self.parameters, event.ts_us - won.ts_us
        (from_x, from_y), (x_m, y_m) = location_m(headed), location_m(gain)
        away_m = math.hypot(x_m - from_x, y_m - from_y)
        if not (
            at_most("time since the header", since_us, p.within_us, "second_ball.within_us")
            and at_most("distance from the header", away_m, p.reach_m, "second_ball.reach_m")
        ):
            return SecondBallState(), NOTHING
        detail: dict[str, Scalar] = {
            "won_by": headed.player,
            "seconds": round(since_us / 1e6, 3),
            "distance_m": round(away_m, 2),
        }
        payload = msgspec.structs.replace(gain, variant="", detail=detail)
        causes = (won.id, event.id)
        return SecondBallState(), (make_event("secondball", event.ts_us, won.source, payload, causes=causes),)

"""12.6: overloads: a team outnumbers the other near the ball, in a lane of the pitch."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.chains.entries import LANES, strip_of
from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Scene
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, payload_as
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class OverloadParameters(msgspec.Struct, frozen=True):
    """Limits of an overload.

    Attributes:
        more: least number of players more than the opponents.
        reach_m: players farther from the ball do not count.
        hold_us: an overload is published when it has lasted for this long.
    """

    more: Annotated[int, reason("Hierarchy 12.6, ours.")] = 2
    reach_m: Annotated[float, reason("Hierarchy 12.6, ours.")] = 15.0
    hold_us: Annotated[int, reason("Hierarchy 12.6, ours.")] = 1_000_000


class OverloadState(msgspec.Struct, frozen=True, gc=False):
    """State: team and lane of the overload now, since when, and True once it was published."""

    team: Team = ""
    strip: str = ""
    since_us: int = 0
    published: bool = False


class Overload:
    """12.6: ``overload`` x lanes x team: the team with the ball outnumbers the other one near it, in the ball's lane.

    ``variant`` is the lane, as the team sees it. The position is the ball's. ``detail``: ``since_us`` (begin), ``own``
    and ``others`` (players within 15 m of the ball in the lane).
    """

    def __init__(self, parameters: OverloadParameters | None = None) -> None:
        self.parameters = parameters or OverloadParameters()
        self.spec = Spec(
            name="overload",
            number="12.6",
            level=12,
            inputs=("scene",),
            outputs=("overload",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours; lanes of football.areas",
            team_variants={"overload": LANES},
            details={"overload": ("since_us", "own", "others")},
        )

    def initial(self) -> OverloadState:
        """No overload."""
        return OverloadState()

    def step(self, state: OverloadState, event: Event) -> Step[OverloadState]:
        """Count the players near the ball while somebody has it at his feet."""
        scene, p = payload_as(event, Scene), self.parameters
        ball, team = scene.ball, scene.holder_team
        sign = scene.sign(team) if team else 0.0
        if ball is None or not scene.live or not sign:
            return (state if not scene.holder and scene.live else OverloadState()), NOTHING
        strip, reach_m2 = strip_of(sign * ball.y_m), p.reach_m**2
        own, others = (
            sum(
                (b.x_m - ball.x_m) ** 2 + (b.y_m - ball.y_m) ** 2 <= reach_m2 and strip_of(sign * b.y_m) == strip
                for b in scene.team(side)
            )
            for side in (team, opponents_of(team))
        )
        if own - others < p.more:
            return OverloadState(), NOTHING
        same = (team, strip) == (state.team, state.strip)
        since_us = state.since_us if same else event.ts_us
        lasted_us, path = event.ts_us - since_us, "overload.hold_us"
        done = same and state.published
        if done or not at_least("time that it held", lasted_us, p.hold_us, path):
            return (state if done else OverloadState(team, strip, since_us)), NOTHING
        at_least("players more", own - others, p.more, "overload.more")
        detail: dict[str, Scalar] = {"since_us": since_us, "own": own, "others": others}
        payload = EventPayload(strip, team, "", ball.x_m, ball.y_m, detail=detail)
        out = make_event("overload", event.ts_us, f"{team}:{since_us}", payload)
        return OverloadState(team, strip, since_us, True), (out,)

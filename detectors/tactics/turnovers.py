"""11.6, 12.2: what a team does when it has lost the ball: it presses at once, or runs back.

Theory of operation
-------------------
A *turnover* is the gain of a player (6.2) after one of the other team, with the ball in play. The team that lost the
ball is looked at in each scene (9.13) from then on, as long as it has not won the ball back and play goes on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Scene, keepers_of
from detectors.decisions import at_least, at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, BodyState, EventPayload, Scalar, payload_as, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: What the detectors of turnovers read.
INPUTS = ("scene", "possession.gain", "play.dead")


def closing_m_s(body: BodyState, ball: BallState) -> float:
    """Speed of a player towards the ball, over the ground; negative away from it."""
    dx, dy = ball.x_m - body.x_m, ball.y_m - body.y_m
    distance_m = max(math.hypot(dx, dy), 0.1)
    return (body.vx_m_s * dx + body.vy_m_s * dy) / distance_m


class CounterPressParameters(msgspec.Struct, frozen=True):
    """Limits of a counter-press.

    Attributes:
        reach_m: a player of the team that lost the ball is at most this far from it.
        closing_m_s: least speed of that player towards the ball.
        within_us: greatest time from the loss to that instant.
        won_us: the counter-press is won if the team gains the ball at most this long after the loss.
    """

    reach_m: Annotated[float, reason("Hierarchy 11.6; Bauer and Anzer 2021.")] = 3.0
    closing_m_s: Annotated[float, reason("Ours: faster than a walk, as in 12.4.")] = 2.0
    within_us: Annotated[int, reason("Hierarchy 11.6; Bauer and Anzer 2021.")] = 2_000_000
    won_us: Annotated[int, reason("StatsBomb: five seconds.")] = 5_000_000


class CounterPressState(msgspec.Struct, frozen=True, gc=False):
    """State: the team with the ball; the turnover, while its loser may still press or win; the published start."""

    team: Team = ""
    turnover: Event | None = None
    start: Event | None = None


class CounterPress:
    """11.6: ``counterpress.start`` and ``counterpress.won`` x team: a team attacks the ball at once that it lost.

    ``team`` lost the ball; ``player`` of the start is who closes in first, of ``counterpress.won`` who gains the ball.
    Both are named by the turnover. ``detail``: ``lost_us`` (event time of the loss), ``seconds`` (since then); of the
    start also ``distance_m`` and ``closing_m_s`` of that player.
    """

    def __init__(self, parameters: CounterPressParameters | None = None) -> None:
        self.parameters = parameters or CounterPressParameters()
        self.spec = Spec(
            name="counter_press",
            number="11.6",
            level=11,
            inputs=INPUTS,
            outputs=("counterpress.start", "counterpress.won"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Bauer and Anzer 2021; StatsBomb (five seconds)",
            team_variants=dict.fromkeys(("counterpress.start", "counterpress.won"), ("",)),
            details={
                "counterpress.start": ("lost_us", "seconds", "distance_m", "closing_m_s"),
                "counterpress.won": ("lost_us", "seconds"),
            },
        )

    def initial(self) -> CounterPressState:
        """Nobody has the ball."""
        return CounterPressState()

    def step(self, state: CounterPressState, event: Event) -> Step[CounterPressState]:
        """Follow the ball's team; after a turnover, look who closes in."""
        if event.kind == "scene":
            pressing = state.turnover is not None and state.start is None
            return self._look(state, event) if pressing else (state, NOTHING)
        if event.kind == "play.dead":
            return CounterPressState(), NOTHING
        payload = payload_of(event)
        if payload.team == state.team:
            return state, NOTHING
        lost = bool(state.team) and payload.variant != "restart"
        after = CounterPressState(payload.team, event if lost else None)
        return after, self._won(state, event, payload) if lost else NOTHING

    def _look(self, state: CounterPressState, event: Event) -> Step[CounterPressState]:
        scene, turnover, p = payload_as(event, Scene), state.turnover, self.parameters
        if turnover is None or event.ts_us - turnover.ts_us > p.within_us:
            return CounterPressState(state.team), NOTHING
        if scene.ball is None or not scene.live:
            return state, NOTHING
        loser = opponents_of(state.team)
        for body in scene.team(loser):
            away_m = math.hypot(body.x_m - scene.ball.x_m, body.y_m - scene.ball.y_m)
            if away_m > p.reach_m:
                continue
            speed, about = closing_m_s(body, scene.ball), body.object_id
            if not at_least("speed towards the ball", speed, p.closing_m_s, "counter_press.closing_m_s", about):
                continue
            at_most("distance from the ball", away_m, p.reach_m, "counter_press.reach_m", about)
            since_us = event.ts_us - turnover.ts_us
            at_most("time since the loss", since_us, p.within_us, "counter_press.within_us", about)
            detail: dict[str, Scalar] = {
                "lost_us": turnover.ts_us,
                "seconds": round(since_us / 1e6, 3),
                "distance_m": round(away_m, 2),
                "closing_m_s": round(speed, 2),
            }
            sure = payload_of(turnover).confidence
            payload = EventPayload("", loser, body.object_id, body.x_m, body.y_m, None, sure, detail)
            start = make_event("counterpress.start", event.ts_us, turnover.source, payload, causes=(turnover.id,))
            return CounterPressState(state.team, turnover, start), (start,)
        return state, NOTHING

    def _won(self, state: CounterPressState, event: Event, gain: EventPayload) -> tuple[Event, ...]:
        start, turnover = state.start, state.turnover
        if start is None or turnover is None:
            return NOTHING
        since_us = event.ts_us - turnover.ts_us
        if not at_most("time from the loss to the gain", since_us, self.parameters.won_us, "counter_press.won_us"):
            return NOTHING
        detail: dict[str, Scalar] = {"lost_us": turnover.ts_us, "seconds": round(since_us / 1e6, 3)}
        won = msgspec.structs.replace(gain, variant="", detail=detail)
        causes = (start.id, event.id)
        return (make_event("counterpress.won", event.ts_us, turnover.source, won, causes=causes),)


class RecoveryRunParameters(msgspec.Struct, frozen=True):
    """Limits of a recovery run.

    Attributes:
        speed_m_s: least speed towards the own goal.
        hold_us: the run is published when it has lasted for this long.
        within_us: the run begins at most this long after the loss.
        mean_us: of a body that transmitters on its limbs report, the speed is the mean of so long.
    """

    speed_m_s: Annotated[float, reason("Hierarchy 12.2, ours.")] = 5.0
    hold_us: Annotated[int, reason("Ours: a second, as of a sprint (3.2).")] = 1_000_000
    within_us: Annotated[int, reason("Hierarchy 12.2, ours.")] = 10_000_000
    mean_us: Annotated[
        int, reason("Ours: about a stride, in which feet swing by 2 m/s. Seeds 201, 202: F1 0.77 to 0.91.")
    ] = 400_000


class RecoveryRunState(msgspec.Struct, frozen=True, gc=False):
    """State: the team with the ball; the turnover; since when each player runs back; who was published of it; where
    everybody was at the newest looks, as x, if speeds are means."""

    team: Team = ""
    turnover: Event | None = None
    since_us: Mapping[str, int] = {}
    published: frozenset[str] = frozenset()
    looks: tuple[tuple[int, Mapping[str, float]], ...] = ()


class RecoveryRun:
    """12.2: ``run.recovery`` x team: a player who was ahead of the ball runs back fast after his team has lost it.

    Published when the run has lasted for a second, at most once a player and turnover. ``detail``: ``since_us`` (begin
    of the run), ``lost_us`` (event time of the loss), ``speed_m_s`` (towards the own goal, now), ``ahead_m`` (of the
    ball, now; negative once he is goal-side).
    """

    def __init__(self, sheet: MatchSheet, parameters: RecoveryRunParameters | None = None) -> None:
        self.parameters = parameters or RecoveryRunParameters()
        self._keepers = keepers_of(sheet)
        self._means = bool(sheet.quality.limbs)
        self.spec = Spec(
            name="recovery_run",
            number="12.2",
            level=12,
            inputs=INPUTS,
            outputs=("run.recovery",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"run.recovery": ("",)},
            details={"run.recovery": ("since_us", "lost_us", "speed_m_s", "ahead_m")},
        )

    def initial(self) -> RecoveryRunState:
        """Nobody has the ball."""
        return RecoveryRunState()

    def step(self, state: RecoveryRunState, event: Event) -> Step[RecoveryRunState]:
        """Follow the ball's team; after a turnover, look who runs back."""
        if event.kind == "scene":
            seen = self._seen(state, event) if self._means else state
            return (seen, NOTHING) if seen.turnover is None else self._look(seen, event, seen.turnover)
        if event.kind == "play.dead":
            return RecoveryRunState(looks=state.looks), NOTHING
        payload = payload_of(event)
        if payload.team == state.team:
            return state, NOTHING
        lost = bool(state.team) and payload.variant != "restart"
        return RecoveryRunState(payload.team, event if lost else None, looks=state.looks), NOTHING

    def _seen(self, state: RecoveryRunState, event: Event) -> RecoveryRunState:
        """Remember where everybody is."""
        scene = payload_as(event, Scene)
        # A tenth of a second more, so that one look is as old as the time of a mean.
        kept = tuple(one for one in state.looks if event.ts_us - one[0] <= self.parameters.mean_us + 100_000)
        places = {body.object_id: body.x_m for body in (*scene.home, *scene.away)}
        return msgspec.structs.replace(state, looks=(*kept, (event.ts_us, places)))

    def _speed_m_s(self, state: RecoveryRunState, body: BodyState) -> float:
        """Speed of a player along the pitch: the mean since the oldest look, or his own."""
        if len(state.looks) < 2 or body.object_id not in state.looks[0][1]:
            return body.vx_m_s
        (first_us, places), (last_us, _) = state.looks[0], state.looks[-1]
        return (body.x_m - places[body.object_id]) / (last_us - first_us) * 1e6

    def _look(self, state: RecoveryRunState, event: Event, turnover: Event) -> Step[RecoveryRunState]:
        scene, p = payload_as(event, Scene), self.parameters
        loser = opponents_of(state.team)
        sign, begins = scene.sign(loser), event.ts_us - turnover.ts_us <= p.within_us
        if not begins and not state.since_us:
            return RecoveryRunState(state.team, looks=state.looks), NOTHING
        if scene.ball is None or not scene.live or not sign:
            return state, NOTHING
        since_us: dict[str, int] = {}
        published, out, ball_x = state.published, [], scene.ball.x_m
        for body in scene.team(loser):
            back_m_s, name = -sign * self._speed_m_s(state, body), body.object_id
            if back_m_s < p.speed_m_s or name in published or name in self._keepers:
                continue
            begun_us = state.since_us.get(name)
            ahead_m = sign * (body.x_m - ball_x)
            if begun_us is None:
                if begins and ahead_m > 0.0:
                    since_us[name] = event.ts_us
                continue
            since_us[name] = begun_us
            lasted_us, path = event.ts_us - begun_us, "recovery_run.hold_us"
            if not at_least("duration of the run", lasted_us, p.hold_us, path, name):
                continue
            at_least("speed towards the own goal", back_m_s, p.speed_m_s, "recovery_run.speed_m_s", name)
            published |= {name}
            detail: dict[str, Scalar] = {
                "since_us": begun_us,
                "lost_us": turnover.ts_us,
                "speed_m_s": round(back_m_s, 2),
                "ahead_m": round(ahead_m, 2),
            }
            sure = payload_of(turnover).confidence
            payload = EventPayload("", loser, name, body.x_m, body.y_m, None, sure, detail)
            causes = (turnover.id,)
            out.append(make_event("run.recovery", event.ts_us, f"{name}:{begun_us}", payload, causes=causes))
        if since_us == state.since_us and not out:
            return state, NOTHING
        return RecoveryRunState(state.team, turnover, since_us, published, state.looks), out or NOTHING

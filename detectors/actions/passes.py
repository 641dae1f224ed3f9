"""6.7: passes."""

from __future__ import annotations

import math

import msgspec

from detectors.actions.flight import Projection, ShotParameters
from detectors.actions.strike_parameters import StrikeParameters
from detectors.actions.strikes import STRIKE_INPUTS, Strikes, StrikeState
from detectors.actions.undecided import is_seen
from detectors.decisions import is_recording, note
from detectors.play.walls import WallParameters
from detectors.proximity.first_reach import FlightParameters, Reach, first_to_reach
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Frame, Scalar, location_m, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PassAttempt(Strikes):
    """6.7: ``pass.attempt``, dated at the kick; its id derives from the kick's ball state.

    A released kick is a pass unless it is a shot (6.1) or a rebound, or play is dead, or the kicker himself would reach
    the ball first (a dribble). If a team mate plays the dribbled ball next, within ``passed_on_us`` of the kick, it is
    a pass after all, published then. A fast kick that an opponent blocks at once is a pass as well. The position is
    that of the kick. ``detail``: the predicted reception: ``receiver`` (the team mate who would reach the ball first),
    ``receiver_after_s``, ``end_x_m``, ``end_y_m`` (when and where); ``kick_us``, ``released_us`` (event times of kick
    and release); ``vx_m_s``, ``vy_m_s``, ``vz_m_s`` (the ball as it left).
    """

    #: ``explain`` shows no comparison of a shot with a pass.
    _about_shots = "shot.attempt"

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: StrikeParameters | None = None,
        flight: FlightParameters | None = None,
        shot: ShotParameters | None = None,
        wall: WallParameters | None = None,
    ) -> None:
        super().__init__(sheet, parameters, flight, shot, wall)
        self.spec = Spec(
            name="pass_attempt",
            number="6.7",
            level=6,
            inputs=STRIKE_INPUTS,
            outputs=("pass.attempt",),
            horizon_us=self.parameters.dated_back_us,
            parameters=self.all_parameters(),
            source="StreamTeam kickEvent; 000 5.1 (pass); Spearman's time to intercept for the receiver",
            team_variants={"pass.attempt": ("",)},
            details={
                "pass.attempt": (
                    "kick_us",
                    "released_us",
                    "vx_m_s",
                    "vy_m_s",
                    "vz_m_s",
                    "receiver",
                    "receiver_after_s",
                    "end_x_m",
                    "end_y_m",
                )
            },
        )

    def touched(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """Publish a pass that a mate receives from a dribble, or that an opponent blocks at once."""
        after, _ = super().touched(state, event, payload)
        blocked = self.blocked(state, event, payload)
        if blocked is not None:
            kick, struck = blocked
            after = msgspec.structs.replace(after, judged_us=kick.ts_us)
            if self.blocked_shot(state, struck, payload):
                return after, NOTHING
            return after, (self._attempt(event.ts_us, kick, struck, None),)
        if state.waiting is None or state.dead:
            return after, NOTHING
        release = payload_of(state.waiting)
        late = event.ts_us - round(number(release, "kick_us")) > self.parameters.passed_on_us
        if payload.player == release.player or payload.team != release.team or late:
            return after, NOTHING
        took_s = (event.ts_us - state.waiting.ts_us) * 1e-6
        reach = Reach(payload.player, took_s, *location_m(payload))
        return after, (self._attempt(event.ts_us, state.waiting, release, reach),)

    def released(
        self,
        state: StrikeState,
        now_us: int,
        event: Event,
        release: EventPayload,
        frame: Frame,
        shot: Projection | None,
        *,
        restart: bool,
    ) -> Step[StrikeState]:
        """Judge a pass, or a dribble until a mate's contact; the taker of a restart may not play the ball twice."""
        if shot is not None:
            return state, NOTHING
        own, others = first_to_reach(release, frame, self.flight)
        soonest_s = min((reach.after_s for reach in others.values()), default=math.inf)
        # A ball that was not seen to move shows no receiver.
        reach = others.get(release.team) if is_seen(release) else None
        if not restart and self.is_met(state, release):
            return state, (self._attempt(now_us, event, release, reach),)
        own_s = own.after_s if own is not None else math.inf
        # As soon as somebody else counts as first, if it is soon.
        if not restart and (own_s < soonest_s or own_s == soonest_s <= self.parameters.dribbled_s):
            return msgspec.structs.replace(state, waiting=event), NOTHING
        if is_recording() and others and not restart:
            own_s = min(own_s, self.flight.horizon_s)
            note("the kicker at the ball, against the first other", own_s, "at least", soonest_s, unit="s")
        return state, (self._attempt(now_us, event, release, reach),)

    def _attempt(self, now_us: int, event: Event, release: EventPayload, reach: Reach | None) -> Event:
        detail: dict[str, Scalar] = {}
        if reach is not None:
            detail["receiver"] = reach.player
            detail["receiver_after_s"] = round(reach.after_s, 2)
            detail["end_x_m"], detail["end_y_m"] = round(reach.x_m, 2), round(reach.y_m, 2)
        return self.attempt_event("pass.attempt", now_us, event, release, "", detail)

"""6.1: shots."""

from __future__ import annotations

import msgspec

from detectors.actions.flight import UNSEEN, Projection, ShotParameters, misses_closely
from detectors.actions.strike_parameters import StrikeParameters
from detectors.actions.strikes import STRIKE_INPUTS, Strikes, StrikeState
from detectors.play.walls import WallParameters
from detectors.proximity.first_reach import FlightParameters
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Frame, Scalar
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class ShotAttempt(Strikes):
    """6.1: ``shot.attempt``, with ``shot.on_target_pred`` or, of a ball that misses closely, ``shot.off_target_pred``.

    Dated at the kick, named by it; the position is that of the kick. ``detail``: where and when the ball as it left
    would meet the goal line (``goal_y_m``, ``goal_z_m``, ``goal_after_s``), ``on_target``; of a shot that is known by
    the way of its ball (:mod:`detectors.actions.undecided`), where and when it did; ``kick_us`` (event time of
    the kick), ``released_us`` (event time of the release), ``vx_m_s``, ``vy_m_s``, ``vz_m_s`` (the ball as it left).
    A free kick over a wall is a shot though the ball goes far over the goal, or is not seen to move, as tracking
    repeats its position; where it would meet the goal line is not known then.
    """

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
            name="shot_attempt",
            number="6.1",
            level=6,
            inputs=STRIKE_INPUTS,
            outputs=("shot.attempt", "shot.on_target_pred", "shot.off_target_pred"),
            horizon_us=self.parameters.dated_back_us,
            parameters=self.all_parameters(),
            source="DEBS 2013 Q4; 004 (back-setting of the direction)",
            team_variants=dict.fromkeys(("shot.attempt", "shot.on_target_pred", "shot.off_target_pred"), ("",)),
            details=dict.fromkeys(
                ("shot.attempt", "shot.on_target_pred", "shot.off_target_pred"),
                (
                    "kick_us",
                    "released_us",
                    "vx_m_s",
                    "vy_m_s",
                    "vz_m_s",
                    "goal_y_m",
                    "goal_z_m",
                    "goal_after_s",
                    "on_target",
                ),
            ),
        )

    def touched(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """Publish a shot that an opponent blocks or saves before it has left its kicker."""
        after, _ = super().touched(state, event, payload)
        blocked = self.blocked(state, event, payload)
        if blocked is None:
            return after, NOTHING
        kick, struck = blocked
        after = msgspec.structs.replace(after, judged_us=kick.ts_us)
        shot = self.blocked_shot(state, struck, payload)
        return after, self._attempts(event.ts_us, kick, struck, shot) if shot is not None else NOTHING

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
        """Publish a kick that is a shot."""
        return state, self._attempts(now_us, event, release, shot) if shot is not None else NOTHING

    def _attempts(self, now_us: int, event: Event, release: EventPayload, shot: Projection) -> tuple[Event, ...]:
        detail: dict[str, Scalar] = {"on_target": shot.on_target}
        if shot is not UNSEEN:
            detail |= {"goal_y_m": round(shot.y_m, 2), "goal_z_m": round(shot.z_m, 2)}
            detail["goal_after_s"] = round(shot.after_s, 2)
        kinds = ["shot.attempt"]
        if shot.on_target:
            kinds.append("shot.on_target_pred")
        elif misses_closely(shot, self.shot):
            kinds.append("shot.off_target_pred")
        return tuple(self.attempt_event(kind, now_us, event, release, "", detail) for kind in kinds)

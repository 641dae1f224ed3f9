"""5.8: the ball has left the player who hit it.

Theory of operation
-------------------
A kick is dated at its hit. On camera tracking the hit may be missing: the ball was not seen, or its track passes by it.
Then the ball leaves faster than the hit before explains. Its straight path, followed back, passes the kicker where and
when he kicked it. A ball that has just jumped counts once some positions in a row agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import msgspec

from detectors.ball.optical_breaks import fits_optical_breaks
from detectors.ball.trajectory_breaks import possible_velocity
from detectors.contacts.hits import contact_of
from detectors.decisions import above, at_least, at_most
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.break_solver import AIRBORNE_M
from detectors.signals.sampling import ball_sampling
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState, EventPayload, Scalar, frame_of, location_m, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Kind of 5.8.
_RELEASED = "kick.released"


class ReleaseParameters(msgspec.Struct, frozen=True):
    """The ball that leaves its kicker.

    Attributes:
        release_m: distance from the kicker at which the ball is released.
        apart_m: least distance of a released ball from where it was hit. If another player touches it before it is
            ``release_m`` away, it is also the least distance from the kicker.
        piece_us: on camera tracking, a ball that is released within this time has the velocity that level 2 fitted at
            the hit, not that of the newest frames.
        unseen_us: on camera tracking, a ball that left its kicker so much later than he hit it, was kicked once more.
        deviation_m_s: on camera tracking, a ball whose way since the hit differs so much from the fitted velocity went
            another way: it has the velocity of the newest frames, if that differs as much from the one before the hit.
        deviation_factor: the same in standard errors of the change of velocity at the hit.
        steady: on camera tracking, states of the ball since a jump before it counts as released.
        most_us: a ball that is released so long after its kick was played by somebody else since.
    """

    release_m: Annotated[float, reason("StreamTeam's kickDetection")] = 2.25
    apart_m: Annotated[float, reason("the possession zone of 4.2")] = 1.5
    piece_us: Annotated[int, reason("ours: about the time that the fit covers")] = 240_000
    unseen_us: Annotated[int, reason("ours: a player's second contact takes as long")] = 300_000
    deviation_m_s: Annotated[
        float, reason("ours; `ragged`: 95 % of 4,084 releases are within 0.7 m/s, 98 % within 3.2 m/s")
    ] = 5.0
    deviation_factor: Annotated[float, reason("ours: four standard errors are no chance")] = 4.0
    steady: Annotated[int, reason("ours: one more than the states of a short jump to something else")] = 5
    most_us: Annotated[
        int, reason("ours: even a ball that rolls at walking pace is 2.25 m away sooner; one that lay was put down")
    ] = 3_000_000


class ReleaseState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        hits: oldest first. The last one waits for its release. The others are followed by another hit since the newest
            frame, and the next frame shows whether their balls had left.
        frame: the newest frame.
    """

    hits: tuple[Event, ...] = ()
    frame: Event | None = None


class KickReleased:
    """5.8: ``kick.released``: after a hit, the ball is farther than ``release_m`` from its kicker.

    Only a released kick can be a pass or a shot; a dribbler's push is not released. Dated at that instant; the id
    derives from the hit's ball state. ``detail`` has ``kick_us``, ``kick_x_m``, ``kick_y_m``, ``kick_z_m`` of the hit,
    or of a later kick that was not seen, the speeds around the hit (``speed_before_m_s``, ``speed_after_m_s``) and the
    ball's velocity on leaving (``vx_m_s``, ``vy_m_s``, ``vz_m_s``). A new hit replaces the one that waits for its
    release.
    """

    def __init__(self, sheet: MatchSheet, parameters: ReleaseParameters | None = None) -> None:
        self.parameters = parameters or ReleaseParameters()
        self._fitted, self._period_us = fits_optical_breaks(sheet.quality), ball_sampling(sheet.quality).period_us
        self.spec = Spec(
            name="kick_released",
            number="5.8",
            level=5,
            inputs=("frame", "hit.contact"),
            outputs=("kick.released",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam kickDetection",
            team_variants={"kick.released": ("",)},
            details={
                "kick.released": (
                    "kick_us",
                    "kick_x_m",
                    "kick_y_m",
                    "kick_z_m",
                    "speed_before_m_s",
                    "speed_after_m_s",
                    "vx_m_s",
                    "vy_m_s",
                    "vz_m_s",
                )
            },
        )

    def initial(self) -> ReleaseState:
        """No hit yet."""
        return ReleaseState()

    def step(self, state: ReleaseState, event: Event) -> Step[ReleaseState]:
        """Follow the hits, and frame by frame the distance of the ball from its kicker."""
        frame = state.frame
        if event.kind == "hit.contact":
            hits = (*state.hits, contact_of(event).event)
            if frame is None or frame.ts_us < event.ts_us:
                return ReleaseState(hits, frame), NOTHING
            return ReleaseState(hits[-1:], frame), self._left_their_zone(hits, frame)
        if not state.hits:
            return ReleaseState((), event), NOTHING
        out = self._left_their_zone(state.hits, event)
        released = self._released(state.hits[-1], event, self.parameters.release_m, "release.release_m")
        if released is None:
            return ReleaseState(state.hits[-1:], event), out
        return ReleaseState((), event), (*out, released)

    def _left_their_zone(self, hits: Sequence[Event], frame: Event) -> tuple[Event, ...]:
        """Release hits that a hit by another player follows, if the ball had left their zone by the first frame."""
        apart_m = self.parameters.apart_m
        followed = [old for old, new in pairwise(hits) if _player(old) != _player(new)]
        left = [self._released(old, frame, apart_m, "release.apart_m") for old in followed]
        return tuple(released for released in left if released is not None)

    def _leaves(
        self, hit: Event, kicked: EventPayload, ball: BallState, now_us: int
    ) -> tuple[tuple[float, float, float], float]:
        """Velocity of the ball as it leaves, a camera's from the segment after the hit, not from two frames.

        With it comes its speed over ground after the hit.
        """
        flown_us, after_m_s = now_us - hit.ts_us, number(kicked, "speed_after_m_s")
        if not self._fitted or flown_us > self.parameters.piece_us:
            return possible_velocity((ball.vx_m_s, ball.vy_m_s, ball.vz_m_s)), after_m_s
        fallen_m_s = GRAVITY_M_S2 * flown_us * 1e-6 if ball.z_m > AIRBORNE_M else 0.0
        vx, vy, vz = number(kicked, "vx_m_s"), number(kicked, "vy_m_s"), number(kicked, "vz_m_s")
        if self._goes_another_way(kicked, ball, flown_us):
            vx, vy = ball.vx_m_s, ball.vy_m_s
            after_m_s = round(math.hypot(vx, vy), 2)
        return possible_velocity((vx, vy, vz - fallen_m_s)), after_m_s

    def _goes_another_way(self, kicked: EventPayload, ball: BallState, flown_us: int) -> bool:
        """True if the ball has gone another way since the hit than the velocity that was fitted there says.

        A track may hold a wrong position right after a hit. A ball that still goes as it did before the hit is not seen
        since.
        """
        if flown_us <= 0:
            return False
        p, (x_m, y_m), flown_s = self.parameters, location_m(kicked), flown_us * 1e-6
        vx, vy = number(kicked, "vx_m_s"), number(kicked, "vy_m_s")
        before_vx_m_s, before_vy_m_s = vx - number(kicked, "delta_vx_m_s"), vy - number(kicked, "delta_vy_m_s")
        deviation_m_s = math.hypot((ball.x_m - x_m) / flown_s - vx, (ball.y_m - y_m) / flown_s - vy)
        turned_m_s = math.hypot(ball.vx_m_s - before_vx_m_s, ball.vy_m_s - before_vy_m_s)
        least_m_s = max(p.deviation_m_s, p.deviation_factor * number(kicked, "noise_m_s"))
        return min(deviation_m_s, turned_m_s) > least_m_s

    def _steady(self, hit: Event, frame_event: Event) -> int:
        """Least number of states since a jump: few if the ball has not jumped since the hit."""
        return min(self.parameters.steady, (frame_event.ts_us - hit.ts_us) // self._period_us - 1)

    def _kick(self, hit: Event, now_us: int, ball: BallState, kicker: BodyState) -> tuple[int, dict[str, Scalar]]:
        """Time and place of the kick: of the hit, unless the ball flies from where the kicker was at a later time."""
        kicked, p = payload_of(hit), self.parameters
        kick: dict[str, Scalar] = {"kick_x_m": kicked.x_m, "kick_y_m": kicked.y_m}
        dx, dy = ball.x_m - kicker.x_m, ball.y_m - kicker.y_m
        vx, vy = ball.vx_m_s - kicker.vx_m_s, ball.vy_m_s - kicker.vy_m_s
        if not self._fitted or vx * dx + vy * dy <= 0.0:
            return hit.ts_us, kick
        since_s = (vx * dx + vy * dy) / (vx * vx + vy * vy)
        passed_m, left_us = math.hypot(dx - vx * since_s, dy - vy * since_s), now_us - round(1e6 * since_s)
        what, later_us = "time from the hit until the ball left", left_us - hit.ts_us
        if passed_m > p.apart_m or not at_least(what, later_us, p.unseen_us, "release.unseen_us"):
            return hit.ts_us, kick
        x_m, y_m = ball.x_m - since_s * ball.vx_m_s, ball.y_m - since_s * ball.vy_m_s
        return left_us, {"kick_x_m": round(x_m, 3), "kick_y_m": round(y_m, 3)}

    def _released(self, hit: Event, frame_event: Event, distance_m: float, parameter: str) -> Event | None:
        frame, kicked = frame_of(frame_event), payload_of(hit)
        ball = frame.ball
        kicker = next((b for b in frame.players if b.object_id == kicked.player), None)
        if ball is None or kicker is None or (self._fitted and ball.run < self._steady(hit, frame_event)):
            return None
        away_m = math.hypot(ball.x_m - kicker.x_m, ball.y_m - kicker.y_m)
        if not above("the ball from its kicker", away_m, distance_m, parameter, (_RELEASED, hit.source)):
            return None
        (x_m, y_m), apart_m = location_m(kicked), self.parameters.apart_m
        flown_m, what = math.hypot(ball.x_m - x_m, ball.y_m - y_m), "the ball from where it was kicked"
        if not above(what, flown_m, apart_m, "release.apart_m", (_RELEASED, hit.source)):
            return None
        kick_us, place = self._kick(hit, frame_event.ts_us, ball, kicker)
        since_us, what = frame_event.ts_us - kick_us, "time since the kick"
        if not at_most(what, since_us, self.parameters.most_us, "release.most_us", (_RELEASED, hit.source)):
            return None
        (vx, vy, vz), after_m_s = self._leaves(hit, kicked, ball, frame_event.ts_us)
        detail: dict[str, Scalar] = {
            "kick_us": kick_us,
            **place,
            "kick_z_m": kicked.z_m,
            "speed_before_m_s": kicked.detail["speed_before_m_s"],
            "speed_after_m_s": after_m_s,
            "vx_m_s": round(vx, 2),
            "vy_m_s": round(vy, 2),
            "vz_m_s": round(vz, 2),
        }
        payload = EventPayload("", kicked.team, kicked.player, ball.x_m, ball.y_m, ball.z_m, kicked.confidence, detail)
        return make_event("kick.released", frame_event.ts_us, hit.source, payload, causes=hit.causes)


def _player(event: Event) -> str:
    return payload_of(event).player

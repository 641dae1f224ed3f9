"""5.5: a goalkeeper's hands and the ball: catch, parry, punch, drop.

Theory of operation
-------------------
Goalkeepers carry a transmitter on each hand (DEBS 2013). While a hand is within the contact band of the ball they
have a *grip*. It is measured by how the ball moves against the hand, from a reference place that is set anew
whenever it has moved too fast since: calm for ``hold_us``, the ball is caught. A grip that ends sooner was a drop if
it had been calm for a while; else, if the ball's velocity changed in it, a punch or a parry by how the ball left.

A centroid has no hands. There the grip is the ball within reach of the keeper's body, above where feet play it and
below where he reaches, inside a penalty area, and nobody nearer; what follows from it is told with less confidence.
A low ball on centroids may have been saved by hand or foot, and is not told; nor is what happens to a ball that the
keeper had at his feet, unless he takes it up: it hops there, and a mate's pass he may not take with his hands (Law 12).

A dead ball that a keeper fetches is no catch. As 5.10 is of this very level, it is followed here again by the same
code.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.changes import break_spread_us
from detectors.emission import make_event
from detectors.play.phase import PhaseParameters, PhaseState, PlayPhase
from detectors.proximity.near import Closest
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Frame, Scalar, frame_of, number, payload_as, published
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

KINDS = ("gk.catch", "gk.parry", "gk.punch", "gk.drop")
HANDS = ("left_hand", "right_hand")
#: What hands are followed by; the rest of the inputs are 5.10's.
_OF_HANDS = frozenset(("frame", "ball.accel_peak", "ball.closest"))
_NEVER_US = 2**62


class KeeperParameters(msgspec.Struct, frozen=True):
    """Of hierarchy 5.5: ``contact_m``, ``hold_us``, ``relative_m_s``, ``punch_m_s``. The others are ours, no data chose
    them:

    * leave_m, gap_us: a grip ends so far from the hand, for so long; arms swing while a ball is carried.
    * drop_us: calm for so long is a catch that failed; half a hold.
    * punch_low_m: fists meet a ball at the shoulder or above, a dive's hands lower.
    * feet_us: a ball that was low within his reach for so long is at his feet (a shot passes there in 0.1 s).
    * reach_m, low_m, high_m: the ball of a grip on centroids: an arm's length; above where feet play; a leap.
    * guess_confidence: of what centroids tell.
    """

    contact_m: float = 0.35
    leave_m: float = 0.6
    relative_m_s: float = 1.5
    hold_us: int = 300_000
    drop_us: int = 150_000
    gap_us: int = 100_000
    punch_m_s: float = 8.0
    punch_low_m: float = 1.2
    reach_m: float = 0.9
    low_m: float = 0.6
    high_m: float = 2.7
    feet_us: int = 300_000
    guess_confidence: float = 0.6


class Grip(msgspec.Struct, frozen=True, gc=False):
    """A keeper's hand at the ball.

    Attributes:
        player, limb, team: whose; no limb on centroids.
        since_us, last_us: first and newest look at which the ball was in it.
        calm_us: how long the ball has at most been calm in a row.
        from_us, dx_m, dy_m: reference of calm: when it was set, and where the ball lay from the hand.
        told: whether a catch was told.
        place: of the ball when it came, as far as known.
        from_feet: whether it came from his feet; on centroids.
    """

    player: str
    limb: str
    team: Team
    since_us: int
    last_us: int
    from_us: int
    dx_m: float
    dy_m: float
    calm_us: int = 0
    told: bool = False
    place: tuple[float, float, float] | None = None
    from_feet: bool = False


class AtFeet(msgspec.Struct, frozen=True, gc=False):
    """On centroids: at whose feet a low ball is, since when, and the newest look at which it was."""

    player: str
    since_us: int
    last_us: int


class KeeperState(msgspec.Struct, frozen=True, gc=False):
    """State: the grip, if there is one, the newest change of the ball's velocity, and the ball at a keeper's feet."""

    grip: Grip | None = None
    peak: Event | None = None
    feet: AtFeet | None = None


class HandsState(msgspec.Struct, frozen=True, gc=False):
    """State: the hands; play as 5.10 has it, and since when it is dead, far in the future while it is not."""

    hands: KeeperState = KeeperState()
    phase: PhaseState = PhaseState()
    dead_us: int = _NEVER_US


class GoalkeeperHands:
    """5.5: ``gk.catch``, ``gk.parry``, ``gk.punch``, ``gk.drop`` of the goalkeepers that the sheet names, in play.

    Dated at the contact; named by the ball's state at which its velocity changed, as the hit is. ``detail`` has
    ``speed_before_m_s``, ``speed_after_m_s`` over the ground where it changed, ``limb`` where it is known.
    """

    def __init__(
        self, sheet: MatchSheet, parameters: KeeperParameters | None = None, phase: PhaseParameters | None = None
    ) -> None:
        self.parameters = p = parameters or KeeperParameters()
        self._limbs = bool(sheet.quality.limbs)
        self._keepers = frozenset(player.object_id for player in sheet.players if player.goalkeeper)
        self._pitch = pitch_of(sheet)
        self._enter_m = p.contact_m if self._limbs else p.reach_m
        self._leave_m = p.leave_m if self._limbs else p.reach_m + p.leave_m - p.contact_m
        # A change of velocity and the first look at which a hand is at the ball may be a corner apart.
        self._same_us = break_spread_us(sheet)
        self._phase = PlayPhase(sheet, phase)
        self._of_phase = frozenset(self._phase.spec.inputs)
        self.spec = Spec(
            name="goalkeeper_hands",
            number="5.5",
            level=5,
            inputs=(*self._phase.spec.inputs, "ball.closest"),
            outputs=KINDS,
            horizon_us=2 * p.hold_us + p.gap_us + self._same_us,
            parameters={
                **msgspec.structs.asdict(p),
                **{f"phase.{name}": value for name, value in self._phase.spec.parameters.items()},
            },
            source="SPADL keeper actions; DEBS 2013 metadata (hand sensors)",
            team_variants=dict.fromkeys(KINDS, ("",)),
        )

    def initial(self) -> HandsState:
        """No grip; anything may be going on."""
        return HandsState()

    def step(self, state: HandsState, event: Event) -> Step[HandsState]:
        """Follows play, and the hands; of these it tells what was before play died."""
        phase, dead_us = state.phase, state.dead_us
        if event.kind in self._of_phase:
            phase, said = self._phase.step(phase, event)
            for word in said:
                payload = published(word)
                dead_us = round(number(payload, "since_us")) if word.kind == "phase.dead" else _NEVER_US
        hands, out = self._follow(state.hands, event) if event.kind in _OF_HANDS else (state.hands, NOTHING)
        if hands is state.hands and phase is state.phase:
            return state, NOTHING
        return HandsState(hands, phase, dead_us), tuple(found for found in out if found.ts_us < dead_us)

    def _follow(self, state: KeeperState, event: Event) -> Step[KeeperState]:
        """Hands by ``ball.closest``, bodies by ``frame``."""
        if event.kind == "ball.accel_peak":
            return KeeperState(state.grip, event, state.feet), NOTHING
        if event.kind == "ball.closest":
            return self._hand(state, event) if self._limbs else (state, NOTHING)
        if not self._limbs:
            return self._body(state, event)
        if state.grip is None:
            return state, NOTHING
        frame = frame_of(event)
        return self._frame_of_grip(state, state.grip, event.ts_us, frame)

    def _frame_of_grip(self, state: KeeperState, grip: Grip, now_us: int, frame: Frame) -> Step[KeeperState]:
        """Where the ball is; and, as nobody need be near any more, whether the grip has ended."""
        if grip.place is None and frame.ball is not None:
            ball = frame.ball
            grip = msgspec.structs.replace(grip, place=(ball.x_m, ball.y_m, ball.z_m))
            state = KeeperState(grip, state.peak, state.feet)
        return self._gone(state, grip, now_us)

    def _hand(self, state: KeeperState, event: Event) -> Step[KeeperState]:
        closest = payload_as(event, Closest)
        grip = state.grip
        limit_m = self._leave_m if grip else self._enter_m
        for r in closest.candidates:
            mine = r.object_id in self._keepers if grip is None else r.object_id == grip.player
            if mine and r.limb in HANDS and r.distance_m <= limit_m:
                return self._held(state, event.ts_us, (r.object_id, r.limb, r.team), (r.dx_m, r.dy_m), None)
        return (state, NOTHING) if grip is None else self._gone(state, grip, event.ts_us)

    def _body(self, state: KeeperState, event: Event) -> Step[KeeperState]:
        """On centroids: the ball at hand height within reach of a keeper, and of nobody nearer."""
        frame, p = frame_of(event), self.parameters
        ball = frame.ball
        if ball is not None and ball.z_m <= p.high_m:
            x_m, y_m = ball.x_m, ball.y_m
            if self._pitch.in_penalty_area(x_m, y_m, end_of(x_m)):
                body = min(frame.players, key=lambda b: math.hypot(b.x_m - x_m, b.y_m - y_m), default=None)
                if body is not None and body.object_id in self._keepers:
                    dx, dy = x_m - body.x_m, y_m - body.y_m
                    near = math.hypot(dx, dy) <= (self._leave_m if state.grip else self._enter_m)
                    if near and ball.z_m < p.low_m:
                        state = self._at_feet(state, body.object_id, event.ts_us)
                    elif near:
                        who = body.object_id, "", body.team
                        return self._held(state, event.ts_us, who, (dx, dy), (x_m, y_m, ball.z_m))
        return (state, NOTHING) if state.grip is None else self._gone(state, state.grip, event.ts_us)

    def _at_feet(self, state: KeeperState, player: str, now_us: int) -> KeeperState:
        feet = state.feet
        goes_on = feet is not None and feet.player == player and now_us - feet.last_us <= self.parameters.feet_us
        since_us = feet.since_us if feet is not None and goes_on else now_us
        return KeeperState(state.grip, state.peak, AtFeet(player, since_us, now_us))

    def _comes_from_feet(self, state: KeeperState, player: str, now_us: int) -> bool:
        feet, feet_us = state.feet, self.parameters.feet_us
        if feet is None or feet.player != player:
            return False
        return now_us - feet.last_us <= feet_us <= feet.last_us - feet.since_us

    def _held(
        self,
        state: KeeperState,
        now_us: int,
        who: tuple[str, str, Team],
        offset: tuple[float, float],
        place: tuple[float, float, float] | None,
    ) -> Step[KeeperState]:
        """The ball is in the grip at this look."""
        p, grip, (dx_m, dy_m) = self.parameters, state.grip, offset
        if grip is None:
            player, limb, team = who
            low = self._comes_from_feet(state, player, now_us)
            first = Grip(player, limb, team, now_us, now_us, now_us, dx_m, dy_m, place=place, from_feet=low)
            return KeeperState(first, state.peak, state.feet), NOTHING
        if grip.told:
            return KeeperState(msgspec.structs.replace(grip, last_us=now_us), state.peak, state.feet), NOTHING
        if who[1] != grip.limb:
            # The other hand is nearer now; one hand after the other holds the ball all the same.
            grip = msgspec.structs.replace(grip, limb=who[1], dx_m=dx_m, dy_m=dy_m)
        took_us = now_us - grip.from_us
        if math.hypot(dx_m - grip.dx_m, dy_m - grip.dy_m) > p.relative_m_s * max(took_us, p.drop_us) * 1e-6:
            anew = msgspec.structs.replace(grip, last_us=now_us, from_us=now_us, dx_m=dx_m, dy_m=dy_m)
            return KeeperState(anew, state.peak, state.feet), NOTHING
        calm = msgspec.structs.replace(grip, last_us=now_us, calm_us=max(grip.calm_us, took_us))
        if took_us < p.hold_us:
            return KeeperState(calm, state.peak, state.feet), NOTHING
        told = msgspec.structs.replace(calm, told=True)
        return KeeperState(told, state.peak, state.feet), self._tell("gk.catch", calm, state.peak, now_us)

    def _gone(self, state: KeeperState, grip: Grip, now_us: int) -> Step[KeeperState]:
        """The grip has ended once it was lost for ``gap_us``."""
        p, peak = self.parameters, state.peak
        if now_us - grip.last_us < p.gap_us:
            return state, NOTHING
        after = KeeperState(None, peak, state.feet)
        if grip.told or grip.from_feet:
            return after, NOTHING
        if grip.calm_us >= p.drop_us:
            return after, self._tell("gk.drop", grip, peak, now_us)
        if peak is None or not grip.since_us - self._same_us <= peak.ts_us <= grip.last_us + self._same_us:
            return after, NOTHING
        return after, self._tell("gk.punch" if self._is_punch(peak) else "gk.parry", grip, peak, now_us)

    def _is_punch(self, peak: Event) -> bool:
        """Fast, high, and back from where it came: what is only turned aside is parried."""
        payload, p = published(peak), self.parameters
        if payload.z_m is not None and payload.z_m < p.punch_low_m:
            return False
        vx, vy = number(payload, "vx_m_s"), number(payload, "vy_m_s")
        before_x, before_y = vx - number(payload, "delta_vx_m_s"), vy - number(payload, "delta_vy_m_s")
        fast = math.hypot(vx, vy, number(payload, "vz_m_s")) > p.punch_m_s
        return fast and vx * before_x + vy * before_y < 0.0

    def _tell(self, kind: str, grip: Grip, peak: Event | None, now_us: int) -> tuple[Event, ...]:
        """The event, dated and named by the change of velocity if one belongs to the grip."""
        detail: dict[str, Scalar] = {"limb": grip.limb} if grip.limb else {}
        place, ts_us, anchor = grip.place, grip.since_us, f"{grip.player}:{grip.since_us}"
        if peak is not None and abs(peak.ts_us - grip.since_us) <= self._same_us:
            payload = published(peak)
            ts_us, anchor = peak.ts_us, peak.source
            detail |= {name: payload.detail[name] for name in ("speed_before_m_s", "speed_after_m_s")}
            if payload.x_m is not None and payload.y_m is not None and payload.z_m is not None:
                place = payload.x_m, payload.y_m, payload.z_m
        x_m, y_m, z_m = place if place is not None else (None, None, None)
        sure = 1.0 if self._limbs else self.parameters.guess_confidence
        payload = EventPayload("", grip.team, grip.player, x_m, y_m, z_m, sure, detail)
        return (make_event(kind, max(ts_us, now_us - self.spec.horizon_us), anchor, payload),)

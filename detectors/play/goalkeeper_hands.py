"""5.5: a goalkeeper's hands and the ball: catch, parry, punch, drop.

Theory of operation
-------------------
Goalkeepers wear a transmitter on each hand (DEBS 2013). While a hand is within the contact band of the ball they have a
*grip*. It is measured by how the ball moves against the hand, from a reference position that is set anew whenever the
ball has moved too fast since. If the ball is calm for ``hold_us``, it is caught. A grip that ends sooner was a drop if
the ball had been calm for a while. Else, if the ball's velocity changed in it, it was a punch or a parry, by how the
ball left.

A centroid has no hands. There a grip is the ball within reach of the goalkeeper's body, above where feet play it and
below the height of his reach, inside a penalty area, with nobody nearer. A fast ball that turns within his dive, and
leaves slower, is parried, though no sample has it in reach. What follows is published with less confidence. A low ball
may have been saved by hand or foot, and is published only if it came so fast that it was a shot. A ball at the
goalkeeper's feet is not published either, unless he picks it up: it hops there, and he may not take a mate's pass with
his hands (Law 12). Cameras lose a ball in arms. So who has caught it, and soon has it again, has held it since, unless
it was seen elsewhere.

A dead ball that a goalkeeper fetches is no catch: 5.10 says when the ball is dead.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.ball.changes import break_spread_us
from detectors.decisions import at_least, at_most, is_over, is_under
from detectors.emission import make_event
from detectors.proximity.near import Closest
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Frame, Scalar, frame_of, number, payload_as, payload_of, time_us
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

KINDS = ("gk.catch", "gk.parry", "gk.punch", "gk.drop")
HANDS = ("left_hand", "right_hand")
_NEVER_US = 2**62

_OURS = "Ours; chosen without data."
_TURNED = (
    "Contacts of goalkeepers with fast balls in whole generated matches 690, 693 to 695, 698, 700 and 701: parried "
    "balls leave with 3.3 to 12.1 m/s, nearly all others slower, kicks and punches faster."
)


class KeeperParameters(msgspec.Struct, frozen=True):
    """Limits of a goalkeeper's grip.

    Attributes:
        contact_m: a hand this near to the ball begins a grip.
        leave_m: a hand farther from the ball than this ends it.
        relative_m_s: greatest speed of a calm ball against the hand.
        hold_us: a ball that is calm for this long is caught.
        drop_us: a grip that ends after a calm of this long was a drop.
        gap_us: a grip has ended when the ball was out of it for this long.
        again_us: a goalkeeper who has caught the ball, and has it again within this time, has held it since; on
            centroids.
        away_m: unless it was seen so far from him.
        punch_m_s: least speed of a punched ball.
        punch_low_m: least height of a punched ball.
        reach_m: greatest distance of the ball from the body, on centroids.
        low_m: least height of the ball of a grip, on centroids.
        high_m: greatest height of the ball of a grip, on centroids.
        dive_m: greatest distance of a body from a fast ball that turns, though no sample has it in reach; on centroids.
        parry_m_s: least speed of such a ball at hand height, before.
        low_parry_m_s: the same of a lower one.
        turned_m_s: least speed of it afterwards.
        kicked_m_s: a faster one afterwards was kicked or punched.
        parried_m_s: least speed of any ball that was parried, afterwards, on centroids.
        feet_us: a ball that was low within reach for this long is at his feet, on centroids.
        guess_confidence: confidence of what is published on centroids.
    """

    contact_m: Annotated[float, reason("Hierarchy 5.5.")] = 0.35
    leave_m: Annotated[float, reason(f"{_OURS} Arms swing while a ball is carried.")] = 0.6
    relative_m_s: Annotated[float, reason("Hierarchy 5.5.")] = 1.5
    hold_us: Annotated[int, reason("Hierarchy 5.5.")] = 300_000
    drop_us: Annotated[int, reason(f"{_OURS} Half a hold: a catch that failed.")] = 150_000
    gap_us: Annotated[int, reason(f"{_OURS} Arms swing while a ball is carried.")] = 100_000
    again_us: Annotated[
        int, reason("Ours: nobody throws the ball and catches it again so soon, but cameras lose it in arms.")
    ] = 1_500_000
    away_m: Annotated[float, reason("Ours: farther than the error of two positions.")] = 2.5
    punch_m_s: Annotated[float, reason("Hierarchy 5.5.")] = 8.0
    punch_low_m: Annotated[
        float, reason(f"{_OURS} Fists meet a ball at the shoulder or above, a dive's hands lower.")
    ] = 1.2
    reach_m: Annotated[float, reason(f"{_OURS} An arm's length.")] = 0.9
    low_m: Annotated[float, reason(f"{_OURS} Above where feet play it.")] = 0.6
    high_m: Annotated[float, reason(f"{_OURS} A leap.")] = 2.7
    dive_m: Annotated[float, reason("Ours: arms and a lean; the centroid of a diver lags behind his hands.")] = 1.8
    parry_m_s: Annotated[float, reason(_TURNED)] = 9.0
    low_parry_m_s: Annotated[float, reason(f"{_TURNED} Slower low ones may be passes of mates that he plays on.")] = (
        15.0
    )
    turned_m_s: Annotated[float, reason(_TURNED)] = 5.0
    kicked_m_s: Annotated[float, reason(_TURNED)] = 12.5
    parried_m_s: Annotated[float, reason("As turned_m_s: slower balls stay with him.")] = 3.0
    feet_us: Annotated[int, reason(f"{_OURS} A shot passes his feet in 0.1 s.")] = 300_000
    guess_confidence: Annotated[float, reason(_OURS)] = 0.6


class Grip(msgspec.Struct, frozen=True, gc=False):
    """A goalkeeper's hand at the ball.

    Attributes:
        player: the goalkeeper.
        limb: his hand; empty on centroids.
        team: his team.
        since_us: first sample with the ball in the grip.
        last_us: newest sample with the ball in the grip.
        from_us: time at which the reference of calm was set.
        dx_m: position of the ball from the hand then.
        dy_m: position of the ball from the hand then.
        calm_us: longest time for which the ball has been calm.
        reported: True once a catch was published.
        position: of the ball at the first contact, as far as known.
        from_feet: True if the ball was at his feet before; on centroids.
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
    reported: bool = False
    position: tuple[float, float, float] | None = None
    from_feet: bool = False


class AtFeet(msgspec.Struct, frozen=True, gc=False):
    """A low ball at a player's feet, from ``since_us`` to ``last_us``; on centroids."""

    player: str
    since_us: int
    last_us: int


class GripState(msgspec.Struct, frozen=True, gc=False):
    """State of the grip.

    Attributes:
        grip: the grip.
        peak: the newest change of the ball's velocity.
        feet: the ball at a goalkeeper's feet.
        caught: the newest grip that was a catch and has ended.
        fresh: True until the first frame after ``peak``; on centroids.
    """

    grip: Grip | None = None
    peak: Event | None = None
    feet: AtFeet | None = None
    caught: Grip | None = None
    fresh: bool = False


class GoalkeeperState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector: the grip; when the ball became dead, far in the future while it is in play."""

    grips: GripState = GripState()
    dead_us: int = _NEVER_US


class GoalkeeperHands:
    """5.5: ``gk.catch``, ``gk.parry``, ``gk.punch``, ``gk.drop`` of the goalkeepers that the sheet names, in play.

    Dated at the contact; named by the ball's state at which its velocity changed, as the hit is. ``detail``:
    ``speed_before_m_s`` and ``speed_after_m_s`` (of the ball over ground, where its velocity changed), ``limb`` (the
    hand, where it is known).
    """

    def __init__(self, sheet: MatchSheet, parameters: KeeperParameters | None = None) -> None:
        self.parameters = p = parameters or KeeperParameters()
        self._limbs = bool(sheet.quality.limbs)
        self._keepers = frozenset(player.object_id for player in sheet.players if player.goalkeeper)
        self._pitch = pitch_of(sheet)
        self._enter_m = p.contact_m if self._limbs else p.reach_m
        self._leave_m = p.leave_m if self._limbs else p.reach_m + p.leave_m - p.contact_m
        # A change of velocity and the first sample with a hand at the ball may be as far apart as a break is wide.
        self._same_us = break_spread_us(sheet)
        self.spec = Spec(
            name="goalkeeper_hands",
            number="5.5",
            level=5,
            inputs=(
                "frame",
                "ball.accel_peak",
                "phase.dead",
                "phase.live",
                *(("ball.closest",) if self._limbs else ()),
            ),
            outputs=KINDS,
            horizon_us=2 * p.hold_us + p.gap_us + self._same_us,
            parameters=msgspec.structs.asdict(p),
            source="SPADL keeper actions; DEBS 2013 metadata (hand sensors)",
            team_variants=dict.fromkeys(KINDS, ("",)),
            details=dict.fromkeys(
                ("gk.catch", "gk.parry", "gk.punch", "gk.drop"), ("limb", "speed_before_m_s", "speed_after_m_s")
            ),
        )

    def initial(self) -> GoalkeeperState:
        """No grip; nothing is known of play."""
        return GoalkeeperState()

    def step(self, state: GoalkeeperState, event: Event) -> Step[GoalkeeperState]:
        """Follow play, and the grips; publish what happened while the ball was in play."""
        if event.kind == "phase.live":
            return GoalkeeperState(state.grips), NOTHING
        if event.kind == "phase.dead":
            return GoalkeeperState(state.grips, time_us(payload_of(event), "since_us")), NOTHING
        grips, out = self._follow(state.grips, event)
        if grips is state.grips:
            return state, NOTHING
        return GoalkeeperState(grips, state.dead_us), tuple(contact for contact in out if contact.ts_us < state.dead_us)

    def _follow(self, state: GripState, event: Event) -> Step[GripState]:
        """Follow hands by ``ball.closest``, bodies by ``frame``."""
        if event.kind == "ball.accel_peak":
            return GripState(state.grip, event, state.feet, state.caught, fresh=not self._limbs), NOTHING
        if event.kind == "ball.closest":
            return self._follow_limb(state, event)
        if not self._limbs:
            return self._follow_body(state, event)
        if state.grip is None:
            return state, NOTHING
        frame = frame_of(event)
        return self._frame_of_grip(state, state.grip, event.ts_us, frame)

    def _frame_of_grip(self, state: GripState, grip: Grip, now_us: int, frame: Frame) -> Step[GripState]:
        """Add the position of the ball; end the grip if nobody has been near for long enough."""
        if grip.position is None and frame.ball is not None:
            ball = frame.ball
            grip = msgspec.structs.replace(grip, position=(ball.x_m, ball.y_m, ball.z_m))
            state = GripState(grip, state.peak, state.feet, state.caught)
        return self._close_grip(state, grip, now_us)

    def _follow_limb(self, state: GripState, event: Event) -> Step[GripState]:
        closest = payload_as(event, Closest)
        grip = state.grip
        limit_m = self._leave_m if grip else self._enter_m
        for r in closest.candidates:
            mine = r.object_id in self._keepers if grip is None else r.object_id == grip.player
            if mine and r.limb in HANDS and r.distance_m <= limit_m:
                return self._extend_grip(state, event.ts_us, (r.object_id, r.limb, r.team), (r.dx_m, r.dy_m), None)
        return (state, NOTHING) if grip is None else self._close_grip(state, grip, event.ts_us)

    def _follow_body(self, state: GripState, event: Event) -> Step[GripState]:
        """Follow a ball at hand height within reach of a goalkeeper, and of nobody nearer; on centroids."""
        frame, p = frame_of(event), self.parameters
        ball = frame.ball
        if state.fresh and state.peak is not None:
            peak = state.peak
            parried = None if self._is_punch(peak) else self._parried(peak, frame)
            if parried is not None:
                return GripState(feet=state.feet), self._emit("gk.parry", parried, peak, event.ts_us)
            state = GripState(state.grip, peak, state.feet, state.caught)
        if state.caught is not None and ball is not None:
            state = self._forget_catch(state, state.caught, event.ts_us, frame)
        if ball is not None and ball.z_m <= p.high_m:
            x_m, y_m = ball.x_m, ball.y_m
            if self._pitch.in_penalty_area(x_m, y_m, end_of(x_m)):
                body = self._keeper_at(frame, x_m, y_m)
                if body is not None:
                    dx, dy = x_m - body.x_m, y_m - body.y_m
                    near = math.hypot(dx, dy) <= (self._leave_m if state.grip else self._enter_m)
                    if near and ball.z_m < p.low_m:
                        state = self._at_feet(state, body.object_id, event.ts_us)
                    elif near:
                        hand = body.object_id, "", body.team
                        return self._extend_grip(state, event.ts_us, hand, (dx, dy), (x_m, y_m, ball.z_m))
        return (state, NOTHING) if state.grip is None else self._close_grip(state, state.grip, event.ts_us)

    def _parried(self, peak: Event, frame: Frame) -> Grip | None:
        """The grip of a goalkeeper who turns a fast ball aside, though no sample has it in reach; on centroids."""
        p, change, ts_us = self.parameters, payload_of(peak), peak.ts_us
        if (
            change.x_m is None
            or change.y_m is None
            or not self._pitch.in_penalty_area(change.x_m, change.y_m, end_of(change.x_m))
        ):
            return None
        z_m, came_m_s = change.z_m or 0.0, number(change, "speed_before_m_s")
        least = (p.parry_m_s, "keeper.parry_m_s") if z_m >= p.low_m else (p.low_parry_m_s, "keeper.low_parry_m_s")
        if z_m > p.high_m or not at_least("speed of the ball before", came_m_s, *least, about="gk.parry"):
            return None
        left_m_s, what, about = number(change, "speed_after_m_s"), "speed of the ball after", "gk.parry"
        if not at_least(what, left_m_s, p.turned_m_s, "keeper.turned_m_s", about):
            return None
        if not at_most(what, left_m_s, p.kicked_m_s, "keeper.kicked_m_s", about) or left_m_s >= came_m_s:
            return None
        x_m, y_m = change.x_m, change.y_m
        body = self._keeper_at(frame, x_m, y_m)
        if body is None:
            return None
        dx, dy = x_m - body.x_m, y_m - body.y_m
        if not at_most("the ball from the body", math.hypot(dx, dy), p.dive_m, "keeper.dive_m", about):
            return None
        return Grip(body.object_id, "", body.team, ts_us, ts_us, ts_us, dx, dy, position=(x_m, y_m, z_m))

    def _keeper_at(self, frame: Frame, x_m: float, y_m: float) -> BodyState | None:
        """The player nearest to a position, if he is a goalkeeper."""
        body = min(frame.players, key=lambda b: math.hypot(b.x_m - x_m, b.y_m - y_m), default=None)
        return body if body is not None and body.object_id in self._keepers else None

    def _forget_catch(self, state: GripState, caught: Grip, now_us: int, frame: Frame) -> GripState:
        """The state, without the last catch once that is long ago or the ball is seen away from the goalkeeper."""
        body = next((b for b in frame.players if b.object_id == caught.player), None)
        is_away = False
        if body is not None and frame.ball is not None:
            away_m = math.hypot(frame.ball.x_m - body.x_m, frame.ball.y_m - body.y_m)
            is_away = away_m > self.parameters.away_m
        long_ago = state.grip is None and now_us - caught.last_us > self.parameters.again_us
        return GripState(state.grip, state.peak, state.feet) if is_away or long_ago else state

    def _at_feet(self, state: GripState, player: str, now_us: int) -> GripState:
        feet = state.feet
        goes_on = feet is not None and feet.player == player and now_us - feet.last_us <= self.parameters.feet_us
        since_us = feet.since_us if feet is not None and goes_on else now_us
        return GripState(state.grip, state.peak, AtFeet(player, since_us, now_us), state.caught)

    def _comes_from_feet(self, state: GripState, player: str, now_us: int) -> bool:
        feet, feet_us = state.feet, self.parameters.feet_us
        if feet is None or feet.player != player:
            return False
        return now_us - feet.last_us <= feet_us <= feet.last_us - feet.since_us

    def _extend_grip(
        self,
        state: GripState,
        now_us: int,
        hand: tuple[str, str, Team],
        offset: tuple[float, float],
        position: tuple[float, float, float] | None,
    ) -> Step[GripState]:
        """The grip with the ball in it at this sample; ``hand`` is player, limb and team."""
        p, grip, (dx_m, dy_m) = self.parameters, state.grip, offset
        if grip is None:
            player, limb, team = hand
            low = self._comes_from_feet(state, player, now_us)
            last = state.caught
            holds = last is not None and last.player == player and now_us - last.last_us <= p.again_us
            first = Grip(
                player, limb, team, now_us, now_us, now_us, dx_m, dy_m, reported=holds, position=position, from_feet=low
            )
            return GripState(first, state.peak, state.feet, last), NOTHING
        if grip.reported:
            held = msgspec.structs.replace(grip, last_us=now_us)
            return GripState(held, state.peak, state.feet, state.caught), NOTHING
        if hand[1] != grip.limb:
            # The other hand is nearer now: one hand after the other holds the ball.
            grip = msgspec.structs.replace(grip, limb=hand[1], dx_m=dx_m, dy_m=dy_m)
        took_us = now_us - grip.from_us
        if math.hypot(dx_m - grip.dx_m, dy_m - grip.dy_m) > p.relative_m_s * max(took_us, p.drop_us) * 1e-6:
            anew = msgspec.structs.replace(grip, last_us=now_us, from_us=now_us, dx_m=dx_m, dy_m=dy_m)
            return GripState(anew, state.peak, state.feet, state.caught), NOTHING
        calm = msgspec.structs.replace(grip, last_us=now_us, calm_us=max(grip.calm_us, took_us))
        if not at_least("time that the ball is calm", took_us, p.hold_us, "keeper.hold_us", about="gk.catch"):
            return GripState(calm, state.peak, state.feet, state.caught), NOTHING
        caught = msgspec.structs.replace(calm, reported=True)
        after = self._used(GripState(caught, state.peak, state.feet, state.caught), calm)
        return after, self._emit("gk.catch", calm, state.peak, now_us)

    def _close_grip(self, state: GripState, grip: Grip, now_us: int) -> Step[GripState]:
        """End the grip once the ball was out of it for ``gap_us``, and publish what it was."""
        p, peak = self.parameters, state.peak
        if not at_least("time that the ball is out of reach", now_us - grip.last_us, p.gap_us, "keeper.gap_us"):
            return state, NOTHING
        after = GripState(None, peak, state.feet, grip if grip.reported and not self._limbs else state.caught)
        if grip.reported or grip.from_feet:
            return after, NOTHING
        if not is_under("time that the ball was calm", grip.calm_us, p.drop_us, "keeper.drop_us"):
            return self._used(after, grip), self._emit("gk.drop", grip, peak, now_us)
        if peak is None or not grip.since_us - self._same_us <= peak.ts_us <= grip.last_us + self._same_us:
            return after, NOTHING
        what = "gk.punch" if self._is_punch(peak) else "gk.parry"
        if what == "gk.parry" and not self._limbs:
            left_m_s = number(payload_of(peak), "speed_after_m_s")
            if not at_least("speed of the ball after", left_m_s, p.parried_m_s, "keeper.parried_m_s", about=what):
                return after, NOTHING
        return self._used(after, grip), self._emit(what, grip, peak, now_us)

    def _names(self, peak: Event | None, grip: Grip) -> bool:
        """True if a change of velocity belongs to a grip, and names what is published of it."""
        return peak is not None and abs(peak.ts_us - grip.since_us) <= self._same_us

    def _used(self, state: GripState, grip: Grip) -> GripState:
        """The state after an event of a grip: a change of velocity names one event, not that of the next grip, too."""
        return msgspec.structs.replace(state, peak=None) if self._names(state.peak, grip) else state

    def _is_punch(self, peak: Event) -> bool:
        """True of a fast, high ball that goes back towards its origin: one that is only turned aside is parried."""
        payload, p, about = payload_of(peak), self.parameters, "gk.punch"
        if payload.z_m is not None and is_under(
            "height of the ball", payload.z_m, p.punch_low_m, "keeper.punch_low_m", about
        ):
            return False
        vx, vy = number(payload, "vx_m_s"), number(payload, "vy_m_s")
        before_x, before_y = vx - number(payload, "delta_vx_m_s"), vy - number(payload, "delta_vy_m_s")
        speed_m_s = math.hypot(vx, vy, number(payload, "vz_m_s"))
        fast = is_over("speed of the ball after it", speed_m_s, p.punch_m_s, "keeper.punch_m_s", about)
        return fast and vx * before_x + vy * before_y < 0.0

    def _emit(self, kind: str, grip: Grip, peak: Event | None, now_us: int) -> tuple[Event, ...]:
        """The event, dated and named by the change of velocity if one belongs to the grip."""
        detail: dict[str, Scalar] = {"limb": grip.limb} if grip.limb else {}
        position, ts_us, anchor = grip.position, grip.since_us, f"{grip.player}:{grip.since_us}"
        if peak is not None and self._names(peak, grip):
            payload = payload_of(peak)
            ts_us, anchor = peak.ts_us, peak.source
            detail |= {name: payload.detail[name] for name in ("speed_before_m_s", "speed_after_m_s")}
            if payload.x_m is not None and payload.y_m is not None and payload.z_m is not None:
                position = payload.x_m, payload.y_m, payload.z_m
        x_m, y_m, z_m = position if position is not None else (None, None, None)
        confidence = 1.0 if self._limbs else self.parameters.guess_confidence
        payload = EventPayload("", grip.team, grip.player, x_m, y_m, z_m, confidence, detail)
        return (make_event(kind, max(ts_us, now_us - self.spec.horizon_us), anchor, payload),)

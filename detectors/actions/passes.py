"""Level 6: kicks in play that are passes, and what passes and shots share."""

from __future__ import annotations

import math

import msgspec

from detectors.actions.flight import (
    FlightParameters,
    Projection,
    Reach,
    ShotParameters,
    first_to_reach,
    opening_rad,
    shot_projection,
)
from detectors.contacts.contested_contacts import turned_rad
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Frame, Scalar, frame_of, number, published
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class StrikeParameters(msgspec.Struct, frozen=True):
    """``dated_back_us``: passes and shots are dated at their kick; a ball that takes longer to leave its kicker than
    this is dated so much before it leaves (1.2 s is 2.25 m at walking pace).
    ``restart_us``: a release so near in time to a kick from rest is that kick (5.10 allows 1.5 s of travel).
    ``blocked_us``, ``blocked_m_s``: a ball so fast that another player meets so soon after its kick was passed and
    blocked, though it never left its kicker (ours: dribblers touch the ball on at up to 5 m/s).
    ``soon_us``, ``soon_m_s``: where limbs are known, two opponents' contacts so close blur each other's speeds, and no
    dribbler is met so soon; nor does the second one strike: nobody is that quick.
    ``came_m_s``, ``struck_factor``, ``head_m``: an opponent's ball that came so fast and leaves with no more than this
    share of its speed has rebounded, below the head (that of 5.3); whoever strikes it gives it speed. ``poke_us``,
    ``poke_m_s``: one that leaves so slowly so soon after the opponent's own contact was poked away from him. Chosen on
    generated matches, seeds 11 to 30: of 43 rebounds all leave with at most 1.05 times the speed they came with, of 13
    balls that were struck at once with a foot all with 1.3 times or more, the soonest 71 ms after the opponent's;
    headers with any; 11 tackles left at 4.5 to 6.6 m/s, the slowest pass so soon at 8.9. ``flick_rad``: a mate's ball
    that came as fast, is no faster and turns by less came off him, where limbs are known (3 such, no pass).
    ``block_us``: on centroids the speed between two contacts so close in time is not known; the second is a block
    (simple human reaction 0.2 s and a leg's movement)."""

    dated_back_us: int = 1_200_000
    restart_us: int = 1_500_000
    blocked_us: int = 200_000
    blocked_m_s: float = 7.0
    soon_us: int = 60_000
    soon_m_s: float = 5.0
    came_m_s: float = 5.0
    struck_factor: float = 1.15
    flick_rad: float = math.pi / 6
    head_m: float = 1.5
    poke_us: int = 1_100_000
    poke_m_s: float = 7.0
    block_us: int = 350_000


class StrikeState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x; whether play is dead; newest frame; last contacts, newest last; a release that waits: of a
    dead ball for the word that it was the restart, of a live one taken for a dribble for a mate's contact; the kick
    from rest that was judged without a release, as its release may still come; when the kick was whose release, or
    block, was judged last."""

    attacks: Team = ""
    dead: bool = False
    frame: Event | None = None
    contacts: tuple[Event, ...] = ()
    waiting: Event | None = None
    restart: Event | None = None
    judged_us: int | None = None


class Strikes:
    """What pass and shot attempts share: they look at the same kicks and must never both claim one.

    Of a dead ball only the kick counts that brings it to life (5.10): play.live itself is of this level. It is
    known a few metres on, so the release waits for it; where the contact escaped 5.8, the kick from rest serves.

    Args:
        sheet: gives the pitch.
        parameters, flight, shot: typed numbers, see there.
    """

    spec: Spec

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: StrikeParameters | None = None,
        flight: FlightParameters | None = None,
        shot: ShotParameters | None = None,
    ) -> None:
        self.parameters = parameters or StrikeParameters()
        self.flight = flight or FlightParameters()
        self.shot = shot or ShotParameters()
        self.pitch = pitch_of(sheet)
        self._limbs = bool(sheet.quality.limbs)
        self._has_height = sheet.quality.ball_height
        self._block_us = self.parameters.soon_us if sheet.quality.limbs else self.parameters.block_us

    def all_parameters(self) -> dict[str, object]:
        """For the spec."""
        groups = (self.parameters, self.flight, self.shot)
        return {name: value for group in groups for name, value in msgspec.structs.asdict(group).items()}

    def initial(self) -> StrikeState:
        """Nothing known; play is taken as live, as 5.10 does."""
        return StrikeState()

    def step(self, state: StrikeState, event: Event) -> Step[StrikeState]:
        """Frames, phases and contacts are noted; a release in play, or the restart, is judged."""
        kind = event.kind
        if kind == "frame":
            waiting, restart, judged_us = state.waiting, state.restart, state.judged_us
            return StrikeState(state.attacks, state.dead, event, state.contacts, waiting, restart, judged_us), NOTHING
        payload = published(event)
        if kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        if kind == "phase.dead":
            return StrikeState(state.attacks, True, state.frame, (), None), NOTHING
        if kind == "phase.live":
            return self._revived(state, event, payload)
        if kind != "kick.released":
            return self.touched(state, event, payload)
        if state.dead:
            return StrikeState(state.attacks, True, state.frame, state.contacts, event), NOTHING
        kick_us = round(number(payload, "kick_us"))
        after = StrikeState(state.attacks, False, state.frame, state.contacts, judged_us=kick_us)
        if state.judged_us == kick_us or state.frame is None:
            return after, NOTHING
        if self._is_judged(state, payload) or self._is_rebound(state, payload):
            return after, NOTHING
        return self.released(after, event, payload, _people(state.frame), restart=False)

    def touched(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """A contact: ends what was taken for a dribble."""
        contacts = (*state.contacts[-3:], event)
        waiting = state.waiting if state.dead else None
        restart, judged_us = state.restart, state.judged_us
        return StrikeState(state.attacks, state.dead, state.frame, contacts, waiting, restart, judged_us), NOTHING

    def released(
        self, state: StrikeState, event: Event, release: EventPayload, frame: Frame, *, restart: bool
    ) -> Step[StrikeState]:
        """Judges a kick in play, or one that brought the ball into play."""
        raise NotImplementedError

    def _revived(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """The ball is in play: by the release that waits, or by a kick from rest that nobody else saw."""
        if not state.dead:
            # The first kick-off of a stream that began before it: its release is judged as one in play.
            return state, NOTHING
        alive = StrikeState(state.attacks, False, state.frame, state.contacts, None)
        if state.frame is None or payload.detail["fallback"]:
            return alive, NOTHING
        frame, kick_us = _people(state.frame), round(number(payload, "kick_us"))
        if state.waiting is not None:
            release = published(state.waiting)
            if abs(round(number(release, "kick_us")) - kick_us) <= self.parameters.restart_us:
                return self.released(alive, state.waiting, release, frame, restart=True)
        made = _release_of(payload, frame, kick_us)
        if made is None:
            return alive, NOTHING
        judged, out = self.released(alive, event, made, frame, restart=True)
        return msgspec.structs.replace(judged, restart=event), out

    def shot_of(self, state: StrikeState, release: EventPayload, frame: Frame) -> Projection | None:
        """The projection that makes a release a shot. Without a known direction nothing is a shot."""
        if not state.attacks:
            return None
        positive = state.attacks == release.team
        shot = shot_projection(release, frame, positive, self.pitch, self.shot, self.flight)
        if shot is None or (self._has_height and shot.z_m > 0.0):
            return shot
        return shot if self._is_open(release, positive) else None

    def _is_open(self, release: EventPayload, positive: bool) -> bool:
        """Whether the goal is open or close enough for a shot that does not fly into it, as far as is known."""
        x_m, y_m = release.detail.get("kick_x_m", release.x_m), release.detail.get("kick_y_m", release.y_m)
        assert isinstance(x_m, float | int)
        assert isinstance(y_m, float | int)
        away_m = math.hypot(self.pitch.half_length_m - (x_m if positive else -x_m), y_m)
        return away_m <= self.shot.close_m or opening_rad(x_m, y_m, positive, self.pitch) >= self.shot.open_rad

    def named(
        self, kind: str, now_us: int, event: Event, release: EventPayload, variant: str, detail: dict[str, Scalar]
    ) -> Event:
        """An event named by the kick of a release and dated at it."""
        kick_us = round(number(release, "kick_us"))
        x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        way = {name: release.detail[name] for name in ("vx_m_s", "vy_m_s", "vz_m_s")}
        detail = {"kick_us": kick_us, "released_us": event.ts_us, **way, **detail}
        payload = EventPayload(variant, release.team, release.player, x_m, y_m, None, release.confidence, detail)
        ts_us = max(kick_us, now_us - self.parameters.dated_back_us)
        return make_event(kind, ts_us, event.source, payload, causes=(event.id,))

    def blocked(self, state: StrikeState, event: Event, payload: EventPayload) -> tuple[Event, EventPayload] | None:
        """The kick that a contact blocks before it had left its kicker, and what it would have released."""
        kick = state.contacts[-1] if state.contacts else None
        if kick is None or kick.ts_us == state.judged_us or state.dead or state.waiting is not None:
            return None
        if kick.kind != "hit" or event.ts_us - kick.ts_us > self.parameters.blocked_us:
            return None
        made = published(kick)
        vx, vy = number(made, "vx_m_s"), number(made, "vy_m_s")
        came_x = number(payload, "vx_m_s") - number(payload, "delta_vx_m_s")
        came_y = number(payload, "vy_m_s") - number(payload, "delta_vy_m_s")
        # Two contacts so close blur each other in what radio sees: what is known better is faster.
        if self._limbs and math.hypot(came_x, came_y) > math.hypot(vx, vy):
            vx, vy = came_x, came_y
        soon = self._limbs and event.ts_us - kick.ts_us <= self.parameters.soon_us
        least_m_s = self.parameters.soon_m_s if soon else self.parameters.blocked_m_s
        if made.team == payload.team or math.hypot(vx, vy) < least_m_s:
            return None
        kicked: dict[str, Scalar] = {"kick_us": kick.ts_us, "kick_x_m": made.x_m, "kick_y_m": made.y_m}
        way: dict[str, Scalar] = {"speed_after_m_s": math.hypot(vx, vy), "vx_m_s": vx, "vy_m_s": vy}
        release = msgspec.structs.replace(made, detail={**made.detail, **kicked, "kick_z_m": made.z_m, **way})
        return None if self._is_rebound(state, release) else (kick, release)

    def blocked_shot(self, state: StrikeState, struck: EventPayload, block: EventPayload) -> Projection | None:
        """The projection that makes a blocked kick a shot: its own, or that of the ball that goes on to the goal."""
        if state.frame is None:
            return None
        frame = _people(state.frame)
        shot = self.shot_of(state, struck, frame)
        if shot is not None or not state.attacks:
            return shot
        onward = msgspec.structs.replace(block, team=struck.team, player=struck.player)
        shot = self.shot_of(state, onward, frame)
        return shot if shot is not None and shot.on_target else None

    def _is_judged(self, state: StrikeState, release: EventPayload) -> bool:
        """Whether the kick was judged already, as a kick from rest."""
        if state.restart is None:
            return False
        live = published(state.restart)
        apart_us = abs(number(release, "kick_us") - number(live, "kick_us"))
        return live.player == release.player and apart_us <= self.parameters.restart_us

    def _is_rebound(self, state: StrikeState, release: EventPayload) -> bool:
        """Whether another's ball only rebounded from who is taken for its kicker, or was poked away."""
        kick_us, p = number(release, "kick_us"), self.parameters
        before = next((c for c in reversed(state.contacts) if c.ts_us < kick_us), None)
        if before is None:
            return False
        payload = published(before)
        if payload.team == release.team:
            return self._limbs and payload.player != release.player and self._came_off(state, round(kick_us))
        if kick_us - before.ts_us <= self._block_us:
            return True
        came_m_s, left_m_s = number(release, "speed_before_m_s"), number(release, "speed_after_m_s")
        low = release.detail["kick_z_m"] is None or number(release, "kick_z_m") < p.head_m
        if low and kick_us - before.ts_us <= p.poke_us and left_m_s < p.poke_m_s:
            return True
        return low and came_m_s >= p.came_m_s and left_m_s <= p.struck_factor * came_m_s

    def _came_off(self, state: StrikeState, kick_us: int) -> bool:
        """Whether a mate's fast ball goes on as it came, no faster: he did not get out of its way."""
        made, p = next((c for c in state.contacts if c.ts_us == kick_us), None), self.parameters
        if made is None:
            return False
        payload = published(made)
        came_m_s, left_m_s = number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")
        if came_m_s < p.came_m_s or left_m_s > came_m_s or (payload.z_m is not None and payload.z_m >= p.head_m):
            return False
        return turned_rad(payload) < p.flick_rad


def _people(frame_event: Event) -> Frame:
    frame = frame_of(frame_event)
    return frame


def _release_of(live: EventPayload, frame: Frame, kick_us: int) -> EventPayload | None:
    """A kick from rest in the shape of a ``kick.released``: the ball is where the newest frame has it."""
    ball = frame.ball
    if ball is None or not live.player:
        return None
    detail: dict[str, Scalar] = {
        "kick_us": kick_us,
        "kick_x_m": live.x_m,
        "kick_y_m": live.y_m,
        "vx_m_s": ball.vx_m_s,
        "vy_m_s": ball.vy_m_s,
        "vz_m_s": ball.vz_m_s,
    }
    return EventPayload("", live.team, live.player, ball.x_m, ball.y_m, ball.z_m, live.confidence, detail)


#: What passes and shots are judged from.
STRIKE_INPUTS = ("frame", "direction", "hit", "touch", "kick.released", "phase.dead", "phase.live")


class PassAttempt(Strikes):
    """6.7: ``pass.attempt``, dated at the kick, named by the kick's ball state.

    A released kick is a pass unless it is a shot (6.1), a rebound, play is dead, or the kicker himself gets to the ball
    first (a dribble). If a mate plays the dribbled ball next after all, the pass is given then, as long as it can still
    be dated back. A fast ball that an opponent meets at once was a pass as well. ``detail``: the mate who
    gets there first (``receiver``), when and where.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: StrikeParameters | None = None,
        flight: FlightParameters | None = None,
        shot: ShotParameters | None = None,
    ) -> None:
        super().__init__(sheet, parameters, flight, shot)
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
        )

    def touched(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """A mate who plays a dribbled ball next makes it a pass; an opponent who stops a fast one at once, too."""
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
        release = published(state.waiting)
        late = event.ts_us - round(number(release, "kick_us")) > self.parameters.dated_back_us
        if payload.player == release.player or payload.team != release.team or late:
            return after, NOTHING
        assert payload.x_m is not None
        assert payload.y_m is not None
        took_s = (event.ts_us - state.waiting.ts_us) * 1e-6
        reach = Reach(payload.player, took_s, payload.x_m, payload.y_m)
        return after, (self._attempt(event.ts_us, state.waiting, release, reach),)

    def released(
        self, state: StrikeState, event: Event, release: EventPayload, frame: Frame, *, restart: bool
    ) -> Step[StrikeState]:
        """A pass, or a dribble until shown otherwise; who takes a restart may not play the ball twice."""
        if self.shot_of(state, release, frame):
            return state, NOTHING
        own, others = first_to_reach(release, frame, self.flight)
        soonest_s = min((reach.after_s for reach in others.values()), default=math.inf)
        if own is not None and own.after_s <= soonest_s and not restart:
            return msgspec.structs.replace(state, waiting=event), NOTHING
        now_us = state.frame.ts_us if state.frame is not None else event.ts_us
        return state, (self._attempt(max(now_us, event.ts_us), event, release, others.get(release.team)),)

    def _attempt(self, now_us: int, event: Event, release: EventPayload, reach: Reach | None) -> Event:
        detail: dict[str, Scalar] = {}
        if reach is not None:
            detail["receiver"] = reach.player
            detail["receiver_after_s"] = round(reach.after_s, 2)
            detail["end_x_m"], detail["end_y_m"] = round(reach.x_m, 2), round(reach.y_m, 2)
        return self.named("pass.attempt", now_us, event, release, "", detail)

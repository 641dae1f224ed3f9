"""The judgement of kicks that passes (6.7) and shots (6.1) share.

Theory of operation
-------------------
A kick whose ball has left the kicker (``kick.released``, 5.8) is judged once. It is, in this order,

* nothing, if the ball only rebounded from the supposed kicker, who may also have poked it away from an opponent
  (without limb tags a turned ball that goes fast to a mate was played on);
* a shot (6.1), if its projection meets the goal, or misses it where no mate can reach the ball
  (:mod:`detectors.actions.flight`);
* undecided, if its ball may leave over the goal line near the goal. It is a shot if it does and nobody has played it
  before; as soon as somebody does, or after a while, it is judged as follows;
* a dribble, if the kicker himself would reach the ball before anybody else (``first_to_reach``);
* a pass in all other cases. What became of it is decided by 7.6 (:mod:`detectors.outcomes.receptions`).

A kick that an opponent blocks before the ball has left the kicker is judged at the block. While play is dead, only the
kick that brings the ball into play counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from detectors.actions.flight import (
    UNSEEN,
    Projection,
    ShotParameters,
    goes_near,
    opening_rad,
    project_on_goal,
    shot_projection,
)
from detectors.actions.strike_parameters import StrikeParameters
from detectors.actions.undecided import Undecided, UndecidedKicks, is_seen
from detectors.ball.lines import OUT_LINES
from detectors.ball.trajectory_breaks import possible_velocity
from detectors.contacts.contested_contacts import turned_rad
from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import About, at_least, at_most
from detectors.emission import make_event
from detectors.play.walls import WallParameters, wall_before
from detectors.proximity.first_reach import FlightParameters, first_to_reach
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Frame, Scalar, frame_of, location_m, number, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class StrikeState(msgspec.Struct, frozen=True, gc=False):
    """State of the judgement.

    Attributes:
        attacks: team that attacks +x.
        dead: True if play is dead.
        frame: newest frame.
        contacts: newest contacts, oldest first.
        waiting: a release that is not decided yet. Of a dead ball: until it is known to be the restart. Of a ball in
            play: a dribble, which becomes a pass if a team mate has the next contact.
        restart: the kick from rest that was judged without a release, as its release may still arrive.
        judged_us: time of the kick whose release, or block, was judged last.
        attempted_us: time of the kick that was an attempt last.
        undecided: a kick that is a shot only if its ball leaves over the goal line and nobody plays it before.
        live_us: time of the kick that brought the ball into play last; -1 if none is known.
    """

    attacks: Team = ""
    dead: bool = False
    frame: Event | None = None
    contacts: tuple[Event, ...] = ()
    waiting: Event | None = None
    restart: Event | None = None
    judged_us: int | None = None
    attempted_us: int | None = None
    undecided: Undecided | None = None
    live_us: int = -1


class Strikes:
    """The judgement of kicks that pass and shot attempts share, so that no kick is both a pass and a shot.

    While play is dead, only the kick that brings the ball into play counts (5.10). That is known a few metres later, so
    the release waits for it. If 5.8 has missed the contact, the kick from rest takes its place.

    Args:
        sheet: gives the pitch.
        parameters: which kicks may be passes or shots.
        flight: the model of the flight.
        shot: limits of a shot.
        wall: limits of a wall.
    """

    spec: Spec

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: StrikeParameters | None = None,
        flight: FlightParameters | None = None,
        shot: ShotParameters | None = None,
        wall: WallParameters | None = None,
    ) -> None:
        self.parameters = parameters or StrikeParameters()
        self.flight = flight or FlightParameters()
        self.shot = shot or ShotParameters()
        self.wall = wall or WallParameters()
        self.pitch = pitch_of(sheet)
        self._limbs = bool(sheet.quality.limbs)
        self._undecided = UndecidedKicks(self.shot, self.pitch, self._about_shots, limbs=self._limbs)
        self._keepers = frozenset(player.object_id for player in sheet.players if player.goalkeeper)
        self._has_height = sheet.quality.ball_height
        self._block_us = self.parameters.soon_us if sheet.quality.limbs else self.parameters.block_us

    def all_parameters(self) -> dict[str, object]:
        """All parameters by name, for the spec."""
        groups = (self.parameters, self.flight, self.shot, self.wall)
        return {name: value for group in groups for name, value in msgspec.structs.asdict(group).items()}

    def initial(self) -> StrikeState:
        """Nothing known; play counts as live, as in 5.10."""
        return StrikeState()

    def step(self, state: StrikeState, event: Event) -> Step[StrikeState]:
        """Note frames, phases and contacts; judge a release in play, or the restart."""
        undecided = state.undecided
        out: Sequence[Event] = NOTHING
        if event.kind == "frame":
            after = StrikeState(
                state.attacks, state.dead, event, state.contacts, state.waiting, state.restart, state.judged_us,
                state.attempted_us, undecided, state.live_us,
            )  # fmt: skip
            if undecided is None or event.ts_us < undecided.until_us:
                return after, NOTHING
            after, out = self._decide(after, event.ts_us, undecided, None)
        elif event.kind == "ball.crossed":
            if undecided is None or payload_of(event).variant not in OUT_LINES:
                return state, NOTHING
            shot = self._undecided.shot_by(state.attacks, undecided, event)
            after, out = self._decide(state, event.ts_us, undecided, shot)
        else:
            decided: Sequence[Event] = NOTHING
            if undecided is not None and event.kind not in ("direction", "phase.dead"):
                state, decided = self._decide(state, event.ts_us, undecided, None)
            after, out = self._judge(state, event, payload_of(event))
            out = (*decided, *out) if decided else out
        if out:
            attempted_us = round(number(payload_of(out[-1]), "kick_us"))
            after = msgspec.structs.replace(after, attempted_us=attempted_us)
        return after, out

    def _decide(
        self, state: StrikeState, now_us: int, undecided: Undecided, shot: Projection | None
    ) -> Step[StrikeState]:
        """Judge at ``now_us`` an undecided kick: as a shot, or as what it is if it is none."""
        state, event = msgspec.structs.replace(state, undecided=None), undecided.event
        release = payload_of(event) if shot is None else undecided.shot
        after, out = self.released(state, now_us, event, release, undecided.frame, shot, restart=False)
        # What waits while play is dead is the kick that brings the ball into play.
        return msgspec.structs.replace(after, waiting=state.waiting) if state.dead else after, out

    def _judge(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        kind = event.kind
        if kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        if kind == "phase.dead":
            return self._since_then(state, dead=True), NOTHING
        if kind == "phase.live":
            return self._judge_restart(state, event, payload)
        if kind != "kick.released":
            return self.touched(state, event, payload)
        if state.dead:
            return self._since_then(state, dead=True, contacts=state.contacts, waiting=event), NOTHING
        kick_us = round(number(payload, "kick_us"))
        after = self._since_then(state, dead=False, contacts=state.contacts, judged_us=kick_us)
        if state.judged_us == kick_us or state.frame is None:
            return after, NOTHING
        if self._is_stale(state, event, payload):
            return after, NOTHING
        if self._is_judged(state, payload) or self._is_rebound(state, payload):
            return after, NOTHING
        frame = frame_of(state.frame)
        shot = self.shot_of(after, payload, frame)
        if shot is None and not self.is_met(state, payload):
            # A defender who meets a shot deflects it.
            deflects = state.judged_us is not None and kick_us - state.judged_us <= self._block_us
            undecided = self._undecided.begin(state.attacks, event, frame, deflects=deflects)
            if undecided is not None:
                return msgspec.structs.replace(after, undecided=undecided), NOTHING
        return self.released(after, event.ts_us, event, payload, frame, shot, restart=False)

    @staticmethod
    def _since_then(
        state: StrikeState, *, dead: bool, contacts: tuple[Event, ...] = (), waiting: Event | None = None,
        judged_us: int | None = None,
    ) -> StrikeState:  # fmt: skip
        """Keep the direction, the newest frame and the newest attempt of a state; all else is as given."""
        return StrikeState(
            state.attacks, dead, state.frame, contacts, waiting, None, judged_us, state.attempted_us, state.undecided,
            state.live_us,
        )  # fmt: skip

    def touched(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """Store a contact, which ends a dribble."""
        contacts = (*state.contacts[-3:], event)
        return msgspec.structs.replace(state, contacts=contacts, waiting=state.waiting if state.dead else None), NOTHING

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
        """Judge at ``now_us`` a kick in play, or one that brought the ball into play.

        Args:
            state: after it.
            now_us: when it can be judged.
            event: what showed it.
            release: the ball as it left, and its kicker.
            frame: the newest frame then.
            shot: the projection that makes it a shot; None if it is none.
            restart: True if it brought the ball into play.
        """
        raise NotImplementedError

    def _judge_restart(self, state: StrikeState, event: Event, payload: EventPayload) -> Step[StrikeState]:
        """Judge the kick that brought the ball into play: the waiting release, or the kick from rest."""
        state = msgspec.structs.replace(state, live_us=round(number(payload, "kick_us")))
        if not state.dead:
            # The first kick-off of a stream that began before it: its release is judged as one in play.
            return state, NOTHING
        alive = self._since_then(state, dead=False, contacts=state.contacts)
        if state.frame is None or payload.detail["fallback"]:
            return alive, NOTHING
        frame, kick_us = frame_of(state.frame), round(number(payload, "kick_us"))
        # A stop that evidence shows late was not known when its kick was judged as one in play.
        if state.attempted_us is not None and abs(state.attempted_us - kick_us) <= self.parameters.restart_us:
            return msgspec.structs.replace(alive, judged_us=state.attempted_us), NOTHING
        if state.waiting is not None:
            release = payload_of(state.waiting)
            if abs(round(number(release, "kick_us")) - kick_us) <= self.parameters.restart_us:
                return self._restarted(alive, event.ts_us, state.waiting, release, frame)
        # Evidence may show a kick so late that others have played the ball since.
        played_on = "evidence" in payload.detail and event.ts_us - kick_us > self.parameters.restart_us
        struck = None if played_on else _release_of(payload, frame, kick_us)
        if struck is None:
            return alive, NOTHING
        judged, out = self._restarted(alive, event.ts_us, event, struck, frame)
        return msgspec.structs.replace(judged, restart=event), out

    def _restarted(
        self, state: StrikeState, now_us: int, event: Event, release: EventPayload, frame: Frame
    ) -> Step[StrikeState]:
        shot = self.shot_of(state, release, frame, restart=True)
        return self.released(state, now_us, event, release, frame, shot, restart=True)

    #: Properties of the events that comparisons of a shot belong to.
    _about_shots: About = ()

    def shot_of(
        self, state: StrikeState, release: EventPayload, frame: Frame, *, restart: bool = False
    ) -> Projection | None:
        """The projection that makes a release a shot; None without a known attacking direction."""
        if not state.attacks:
            return None
        positive = state.attacks == release.team
        if not is_seen(release):
            return UNSEEN if self._faces_wall(release, frame, positive) else None
        release = self._before_the_line(release, positive)
        shot = shot_projection(release, frame, positive, self.pitch, self.shot, self.flight, self._about_shots)
        in_the_air = self._has_height and shot is not None and shot.z_m > 0.0
        if shot is not None and (in_the_air or self._is_open(release, positive)):
            return shot
        if not restart:
            return None
        # A free kick over a wall may fly long and high: its shot misses by more than one in play.
        onward = project_on_goal(release, positive, self.pitch)
        near = onward is not None and goes_near(onward, self.shot, self._about_shots)
        return onward if near and self._faces_wall(release, frame, positive) else None

    def _faces_wall(self, release: EventPayload, frame: Frame, positive: bool) -> bool:
        """True if so many opponents stand in the wall that a free kick is a shot."""
        x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        opponents, about = (b for b in frame.players if b.team == opponents_of(release.team)), self._about_shots
        wall = wall_before(self.pitch, self.wall, opponents, "right" if positive else "left", x_m, y_m, about)
        return at_least("players in the wall", len(wall), self.shot.wall_players, "shot.wall_players", about)

    def _before_the_line(self, release: EventPayload, positive: bool) -> EventPayload:
        """The release; of a ball that had crossed the goal line by then, with the place of its kick."""
        kick_x_m = release.detail.get("kick_x_m")
        if kick_x_m is None or location_m(release)[0] * (1.0 if positive else -1.0) < self.pitch.half_length_m:
            return release
        x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        z_m = number(release, "kick_z_m") if release.detail.get("kick_z_m") is not None else release.z_m
        return msgspec.structs.replace(release, x_m=x_m, y_m=y_m, z_m=z_m)

    def _is_open(self, release: EventPayload, positive: bool) -> bool:
        """True if the goal is open or close enough for a shot that does not cross its line in the air."""
        if "kick_x_m" in release.detail:
            x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        else:
            x_m, y_m = location_m(release)
        away_m = self.pitch.goal_distance_m(x_m, y_m, "right" if positive else "left")
        if at_most("the kick from the goal", away_m, self.shot.close_m, "shot.close_m", self._about_shots):
            return True
        open_rad, about = opening_rad(x_m, y_m, positive, self.pitch), self._about_shots
        return at_least("angle between the posts", open_rad, self.shot.open_rad, "shot.open_rad", about)

    def attempt_event(
        self, kind: str, now_us: int, event: Event, release: EventPayload, variant: str, detail: dict[str, Scalar]
    ) -> Event:
        """A pass or shot event, dated at the kick of a release; its id derives from the kick."""
        kick_us = round(number(release, "kick_us"))
        x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        velocity = {name: release.detail[name] for name in ("vx_m_s", "vy_m_s", "vz_m_s")}
        detail = {"kick_us": kick_us, "released_us": event.ts_us, **velocity, **detail}
        payload = EventPayload(variant, release.team, release.player, x_m, y_m, None, release.confidence, detail)
        what, back_us = "time from the kick until it was known", self.parameters.dated_back_us
        ts_us = kick_us
        if not at_most(what, now_us - kick_us, back_us, "strike.dated_back_us"):
            ts_us = now_us - back_us
        return make_event(kind, ts_us, event.source, payload, causes=(event.id,))

    def blocked(self, state: StrikeState, event: Event, payload: EventPayload) -> tuple[Event, EventPayload] | None:
        """The kick that a contact blocks before it has left its kicker, and the release that it would have been."""
        kick = state.contacts[-1] if state.contacts else None
        if kick is None or kick.ts_us == state.judged_us or state.dead or state.waiting is not None:
            return None
        what, met_us, most_us = "time from the kick until it was met", event.ts_us - kick.ts_us, "strike.blocked_us"
        if kick.kind != "hit" or not at_most(what, met_us, self.parameters.blocked_us, most_us):
            return None
        struck = payload_of(kick)
        vx, vy = number(struck, "vx_m_s"), number(struck, "vy_m_s")
        in_vx_m_s = number(payload, "vx_m_s") - number(payload, "delta_vx_m_s")
        in_vy_m_s = number(payload, "vy_m_s") - number(payload, "delta_vy_m_s")
        # Two contacts so close blur each other's velocities on radio: the faster one is better known.
        if self._limbs and math.hypot(in_vx_m_s, in_vy_m_s) > math.hypot(vx, vy):
            vx, vy = in_vx_m_s, in_vy_m_s
        p, what, met_us = self.parameters, "time from the kick until it was met", event.ts_us - kick.ts_us
        least = p.blocked_m_s, "strike.blocked_m_s"
        if self._limbs and at_most(what, met_us, p.soon_us, "strike.soon_us"):
            least = p.soon_m_s, "strike.soon_m_s"
        if struck.team == payload.team or not at_least("speed of the kick", math.hypot(vx, vy), *least):
            return None
        kicked: dict[str, Scalar] = {"kick_us": kick.ts_us, "kick_x_m": struck.x_m, "kick_y_m": struck.y_m}
        velocity: dict[str, Scalar] = {"speed_after_m_s": math.hypot(vx, vy), "vx_m_s": vx, "vy_m_s": vy}
        detail = {**struck.detail, **kicked, "kick_z_m": struck.z_m, **velocity}
        release = msgspec.structs.replace(struck, detail=detail)
        return None if self._is_rebound(state, release) else (kick, release)

    def blocked_shot(self, state: StrikeState, struck: EventPayload, block: EventPayload) -> Projection | None:
        """The projection that makes a blocked kick a shot: its own, or that of the ball that goes on to the goal."""
        if state.frame is None:
            return None
        frame = frame_of(state.frame)
        shot = self.shot_of(state, struck, frame)
        if shot is not None or not state.attacks or not is_seen(block):
            return shot
        onward = msgspec.structs.replace(block, team=struck.team, player=struck.player)
        shot = self.shot_of(state, onward, frame)
        return shot if shot is not None and shot.on_target else None

    def _is_stale(self, state: StrikeState, event: Event, release: EventPayload) -> bool:
        """True if another kick than that of the release has sent the ball away, which was not seen.

        That is so if his contact was before the restart, or if his ball leaves him slowly so long after it.
        """
        kick_us, p = round(number(release, "kick_us")), self.parameters
        if kick_us < state.live_us - p.restart_us:
            return True
        speed_m_s = math.hypot(number(release, "vx_m_s"), number(release, "vy_m_s"))
        return event.ts_us - kick_us > p.stale_us and speed_m_s < p.came_m_s

    def _is_judged(self, state: StrikeState, release: EventPayload) -> bool:
        """True if the kick was judged already, as a kick from rest; who takes the restart is known better then."""
        if state.restart is None:
            return False
        live = payload_of(state.restart)
        apart_us = abs(number(release, "kick_us") - number(live, "kick_us"))
        return apart_us == 0 or (live.player == release.player and apart_us <= self.parameters.restart_us)

    def _is_rebound(self, state: StrikeState, release: EventPayload) -> bool:
        """True if the ball rebounded from the supposed kicker, who did not kick it, or was poked away in a tackle."""
        kick_us, p = number(release, "kick_us"), self.parameters
        before = next((c for c in reversed(state.contacts) if c.ts_us < kick_us), None)
        if before is None:
            return False
        payload = payload_of(before)
        if payload.team == release.team:
            return self._limbs and payload.player != release.player and self._glanced_off(state, round(kick_us))
        in_m_s, out_m_s = number(release, "speed_before_m_s"), number(release, "speed_after_m_s")
        # A goalkeeper does not head a high ball but parries it.
        high = release.detail["kick_z_m"] is not None and number(release, "kick_z_m") >= p.head_m
        low = not high or release.player in self._keepers
        if kick_us - before.ts_us <= self._block_us:
            soon = self._limbs or kick_us - before.ts_us < (p.block_kick_us if low else p.block_head_us)
            return soon or (low and not self._is_kicked_on(state, release))
        if low and kick_us - before.ts_us <= p.poke_us and out_m_s < p.poke_m_s:
            return True
        rebounded = low and in_m_s >= p.came_m_s and out_m_s <= p.struck_factor * in_m_s
        return rebounded and not self._is_played_on(state, release)

    def _is_kicked_on(self, state: StrikeState, release: EventPayload) -> bool:
        """True if a ball that an opponent had just touched was kicked to a mate: it was slow, and leaves fast."""
        in_m_s, p = number(release, "speed_before_m_s"), self.parameters
        slow = at_most("speed of the ball before", in_m_s, p.came_m_s, "strike.came_m_s")
        out_m_s, what = number(release, "speed_after_m_s"), "speed of the ball"
        return slow and at_least(what, out_m_s, p.kicked_m_s, "strike.kicked_m_s") and self._is_to_mate(state, release)

    def _is_played_on(self, state: StrikeState, release: EventPayload) -> bool:
        """True if a ball that looks like a rebound was sent to a mate: it is fast, turned, and he is first at it."""
        kick_us, p = round(number(release, "kick_us")), self.parameters
        struck = next((payload_of(c) for c in state.contacts if c.ts_us == kick_us), None)
        if self._limbs or struck is None:
            return False
        fast = at_least("speed of the ball", number(release, "speed_after_m_s"), p.onward_m_s, "strike.onward_m_s")
        if not fast or not at_least("turn of the ball", turned_rad(struck), p.onward_rad, "strike.onward_rad"):
            return False
        return self._is_to_mate(state, release)

    def _is_to_mate(self, state: StrikeState, release: EventPayload) -> bool:
        """True if a mate of the kicker is first at the ball."""
        if state.frame is None:
            return False
        own, others = first_to_reach(release, frame_of(state.frame), self.flight)
        mate = others.pop(release.team, None)
        if mate is None or (own is not None and own.after_s <= mate.after_s):
            return False
        return all(mate.after_s <= rival.after_s for rival in others.values())

    def is_met(self, state: StrikeState, release: EventPayload) -> bool:
        """True if another player has the ball before it is known to have left: a mate, or an opponent a fast one."""
        kick_us = number(release, "kick_us")
        met = next((payload_of(c) for c in state.contacts if c.ts_us > kick_us), None)
        if met is None or met.player == release.player:
            return False
        fast = number(release, "speed_after_m_s") >= self.parameters.blocked_m_s
        return met.team == release.team or fast

    def _glanced_off(self, state: StrikeState, kick_us: int) -> bool:
        """True if a team mate's fast ball glanced off the supposed kicker: no faster, and hardly turned."""
        struck, p = next((c for c in state.contacts if c.ts_us == kick_us), None), self.parameters
        if struck is None:
            return False
        payload = payload_of(struck)
        in_m_s, out_m_s = number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")
        if in_m_s < p.came_m_s or out_m_s > in_m_s or (payload.z_m is not None and payload.z_m >= p.head_m):
            return False
        return turned_rad(payload) < p.flick_rad


def _release_of(live: EventPayload, frame: Frame, kick_us: int) -> EventPayload | None:
    """A kick from rest in the form of a ``kick.released``, with the ball of the newest frame.

    Without a ball in that frame the players have shown the kick; a penalty kick is a shot, whose flight is needed.
    """
    ball = frame.ball
    if not live.player or (ball is None and live.detail["penalty_shape"]):
        return None
    if ball is None:
        x_m, y_m, z_m = live.x_m, live.y_m, live.z_m or 0.0
        vx, vy, vz = number(live, "vx_m_s"), number(live, "vy_m_s"), 0.0
    else:
        x_m, y_m, z_m = ball.x_m, ball.y_m, ball.z_m
        vx, vy, vz = possible_velocity((ball.vx_m_s, ball.vy_m_s, ball.vz_m_s))
    detail: dict[str, Scalar] = {"kick_us": kick_us, "kick_x_m": live.x_m, "kick_y_m": live.y_m}
    detail |= {"vx_m_s": vx, "vy_m_s": vy, "vz_m_s": vz}
    return EventPayload("", live.team, live.player, x_m, y_m, z_m, live.confidence, detail)


#: Inputs of the judgement of passes and shots.
STRIKE_INPUTS = ("frame", "ball.crossed", "direction", "hit", "touch", "kick.released", "phase.dead", "phase.live")

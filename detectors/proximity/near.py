"""Level 4: nearness to the ball: limbs or players within reach, the possession zone, the nearest player.

Theory of operation
-------------------
With limb transmitters the reach is DEBS 2013's: 1 m between limb and ball, in space, judged on every ball state. A
centroid stands for a whole body: half a metre of leg is added, distance is measured over the ground (a header is near),
and a ball above a jumping player's head is not near. Both use the same code; only the source of bodies differs:
``foot.run`` and ``limb.run``, or ``frame``. Limbs far from the ball are not followed, so that their late packets change
no state and nothing is recomputed.

Head, chest and thigh carry no transmitter. They are above the feet, so ``ball.closest`` also names the *trunk* of a
player (no limb): an upright cylinder around the middle between his feet, for balls too high for a foot. 4.1 itself is
about limbs, so a trunk is neither near nor not near.
"""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.decisions import at_least, is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.frame_kernels import players_within
from detectors.signals.sampling import CONTACT_WINDOW_S, ball_sampling
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, BodyState, EventPayload, Frame, LimbRun, LimbState, build_frame, frame_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class NearParameters(msgspec.Struct, frozen=True):
    """Nearness of limbs, players and trunks to the ball.

    Attributes:
        enter_m: distance below which a limb is near.
        leave_m: distance beyond which it is near no longer.
        contact_m: contact band in the payload.
        leg_m: added to both for centroids.
        height_max_m: greatest height of a ball that is near a centroid or trunk.
        stale_us: a limb without samples for so long is left out.
        watch_m: limbs farther from the ball are not followed until their next packet.
        recentre_m: path of the ball after which the followed limbs are chosen anew.
        trunk_low_m: lower balls are played with feet.
        trunk_m: from a body's middle to its skin.
        crown_m: from the feet to the top of a head.
        swift_m_s: speed of a ball that is followed from one frame of a camera to the next, or for 40 ms.
    """

    enter_m: Annotated[float, reason("hierarchy 4.1; DEBS 2013")] = 1.0
    leave_m: Annotated[float, reason("hierarchy 4.1")] = 1.2
    contact_m: Annotated[float, reason("hierarchy 4.1")] = 0.35
    leg_m: Annotated[
        float,
        reason(
            "ours: a boot plays half a metre beside the body's middle; kicks labelled in the Opta clip start within "
            "1.5 m of the centroid"
        ),
    ] = 0.5
    height_max_m: Annotated[float, reason("ours: a jumping header")] = 2.7
    stale_us: Annotated[int, reason("hierarchy 1.7")] = 200_000
    watch_m: Annotated[
        float,
        reason("ours: in the 50 ms between two packets a ball comes 2.1 m nearer at most, a limb 1.5 m"),
    ] = 8.0
    recentre_m: Annotated[float, reason("ours")] = 1.0
    trunk_low_m: Annotated[float, reason("ours")] = 0.6
    trunk_m: Annotated[float, reason("ours: half of a shoulder's width")] = 0.25
    crown_m: Annotated[float, reason("ours: of two players under a high ball the one who jumps must be nearer")] = 1.85
    swift_m_s: Annotated[float, reason("ours: a hard pass; 1 m at 25 Hz")] = 25.0


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A player, trunk or limb near the ball.

    Attributes:
        key: object id, with ``/limb`` of a limb.
        object_id, team, limb: the player; ``limb`` is empty of a centroid or trunk.
        dx_m, dy_m: from it to the ball over the ground.
        distance_m: 4.1's distance; of a trunk that to its skin.
        vx_m_s, vy_m_s: its velocity.
    """

    key: str
    object_id: str
    team: Team
    limb: str
    dx_m: float
    dy_m: float
    distance_m: float
    vx_m_s: float = 0.0
    vy_m_s: float = 0.0


class Closest(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``ball.closest``: the candidates near the ball, nearest first; empty once there is none.

    Centroids within the way of a swift ball from frame to frame are named, too, with the time and the ball's position.
    From these follows who is near a position of a moment later.
    """

    candidates: tuple[Candidate, ...] = ()
    ts_us: int = 0
    ball: tuple[float, float] | None = None


#: A limb farther from the ball along x, or a foot along y, is no candidate; metres.
_REACH_M = 2.0

#: Distance, key and body of a candidate.
Found = tuple[float, str, BodyState]

#: A foot beside the ball: offset from the ball, position, and run.
Foot = tuple[float, float, LimbState, LimbRun]


class NearState(msgspec.Struct, frozen=True, gc=False):
    """State of 4.1.

    Attributes:
        limbs: newest runs of the followed limbs, by key; empty on centroids.
        near: keys that are near, sorted.
        trunk: whether a trunk is near.
        centre: position of the ball when the followed limbs were chosen; None before its first sample.
    """

    limbs: dict[str, LimbRun] = {}
    near: tuple[str, ...] = ()
    trunk: bool = False
    centre: tuple[float, float] | None = None


class Near:
    """4.1: ``near`` and ``not_near`` of limbs or players, and ``ball.closest`` (internal): all near ones.

    ``detail`` of ``near``: ``distance_m`` (from the ball), ``contact`` (true if that is near enough to touch it).
    """

    def __init__(self, sheet: MatchSheet, parameters: NearParameters | None = None) -> None:
        self.parameters = p = parameters or NearParameters()
        self._limbs = limbs = bool(sheet.quality.limbs)
        leg_m = 0.0 if limbs else p.leg_m
        self._enter2_m2, self._leave2_m2 = (p.enter_m + leg_m) ** 2, (p.leave_m + leg_m) ** 2
        way_m = p.swift_m_s * max(ball_sampling(sheet.quality).period_us * 1e-6, CONTACT_WINDOW_S)
        self._swift_m = min(way_m, sheet.length_m + sheet.width_m)  # of a ball that is hardly ever measured
        self._swift2_m2 = (p.leave_m + leg_m + self._swift_m) ** 2
        players_within(build_frame(None, ()), 0.0, 0.0, 0.0)  # loads the kernel before the first frame
        self.spec = Spec(
            name="near_ball",
            number="4.1",
            level=4,
            inputs=("limb.run", "foot.run", "ball.state") if limbs else ("frame",),
            outputs=("not_near", "near", "ball.closest"),
            internal=("ball.closest",),
            parameters=msgspec.structs.asdict(p),
            source="DEBS 2013 Q2; 002/004 'Is Near', 'Is Not Near'",
            team_variants=dict.fromkeys(("not_near", "near"), _limb_names(sheet)),
            details={"near": ("distance_m", "contact")},
        )

    def initial(self) -> NearState:
        """No candidate."""
        return NearState()

    def step(self, state: NearState, event: Event) -> Step[NearState]:
        """Take a limb, or judge what is near the ball."""
        payload = event.payload
        if isinstance(payload, LimbRun):
            return self._follow(state, event.source, payload), NOTHING
        if isinstance(payload, Frame):
            if payload.ball is None:
                return state, NOTHING
            return self._look(state, event.ts_us, payload.ball, *self._players(state, payload.ball, payload))
        ball = cast(BallState, payload)
        state = self._centre(state, ball)
        return self._look(state, event.ts_us, ball, *self._bodies(state, ball, event.ts_us))

    def _follow(self, state: NearState, key: str, run: LimbRun) -> NearState:
        """Follow a limb if it is not far from the ball; without a ball it is far."""
        if state.centre is not None and self._is_watched(state.centre, run):
            return NearState({**state.limbs, key: run}, state.near, state.trunk, state.centre)
        if key not in state.limbs:
            return state
        limbs = {k: limb for k, limb in state.limbs.items() if k != key}
        return NearState(limbs, state.near, state.trunk, state.centre)

    def _is_watched(self, centre: tuple[float, float], run: LimbRun) -> bool:
        watch_m, newest = self.parameters.watch_m, run.states[-1]
        return abs(newest[1] - centre[0]) <= watch_m and abs(newest[2] - centre[1]) <= watch_m

    def _centre(self, state: NearState, ball: BallState) -> NearState:
        """Follow the ball; drop limbs that it has left behind."""
        centre, limit_m = state.centre, self.parameters.recentre_m
        if centre is not None and abs(ball.x_m - centre[0]) <= limit_m and abs(ball.y_m - centre[1]) <= limit_m:
            return state
        centre = ball.x_m, ball.y_m
        limbs = {key: run for key, run in state.limbs.items() if self._is_watched(centre, run)}
        return NearState(limbs, state.near, state.trunk, centre)

    def _players(self, state: NearState, ball: BallState, frame: Frame) -> tuple[list[Found], list[Found]]:
        """The centroids within reach, and those within reach of where the ball may be a frame later."""
        over_m = ball.z_m - self.parameters.height_max_m
        around = frame.nearest
        if over_m > self._swift_m or around is None or around.first_m2 > self._swift2_m2:
            return [], []
        x_m, y_m, leave2, swift2 = ball.x_m, ball.y_m, self._leave2_m2, self._swift2_m2
        found: list[Found] = []
        beyond: list[Found] = []
        for index in players_within(frame, x_m, y_m, swift2):
            body = frame.players[index]
            dx, dy = body.x_m - x_m, body.y_m - y_m
            d2 = dx * dx + dy * dy
            near = over_m <= 0.0 and d2 <= leave2 and (d2 < self._enter2_m2 or body.object_id in state.near)
            (found if near else beyond).append((math.sqrt(d2), body.object_id, body))
        return found, beyond

    def _bodies(self, state: NearState, ball: BallState, now_us: int) -> tuple[list[Found], list[Found]]:
        """The limbs within reach, in space, each where it is now; and the trunks."""
        found: list[Found] = []
        feet: dict[str, list[Foot]] = {}
        p, ball_x_m = self.parameters, ball.x_m
        high = p.trunk_low_m < ball.z_m <= p.height_max_m
        for key, run in state.limbs.items():
            ts_us, x_m, _, _, vx_m_s, _ = run.states[-1]
            age_us = now_us - ts_us
            if age_us >= 0 and (age_us > p.stale_us or abs(x_m + vx_m_s * age_us * 1e-6 - ball_x_m) > _REACH_M):
                continue  # nearly always
            ts_us, x_m, y_m, z_m, vx_m_s, vy_m_s = limb = run.interpolated(now_us)
            if abs(dx := x_m - ball_x_m) > _REACH_M or now_us - ts_us > p.stale_us:
                continue
            dy = y_m - ball.y_m
            if high and "foot" in run.limb and abs(dy) <= _REACH_M:
                feet.setdefault(run.object_id, []).append((dx, dy, limb, run))
            dz = z_m - ball.z_m
            d2 = dx * dx + dy * dy + dz * dz
            if d2 <= self._leave2_m2 and (d2 < self._enter2_m2 or key in state.near):
                body = BodyState(run.object_id, run.team, run.limb, x_m, y_m, z_m, vx_m_s, vy_m_s, run.quality)
                found.append((math.sqrt(d2), key, body))
        return found, [trunk for both in feet.values() if (trunk := self._trunk(ball, both)) is not None]

    def _trunk(self, ball: BallState, feet: list[Foot]) -> Found | None:
        """A player's trunk above the feet, if it is within reach."""
        n = len(feet)
        dx, dy = sum(foot[0] for foot in feet) / n, sum(foot[1] for foot in feet) / n
        over_m = ball.z_m - sum(foot[2][3] for foot in feet) / n - self.parameters.crown_m
        distance_m = math.hypot(max(0.0, math.hypot(dx, dy) - self.parameters.trunk_m), max(0.0, over_m))
        if distance_m >= self.parameters.enter_m:
            return None
        run = feet[0][3]
        vx, vy = sum(foot[2][4] for foot in feet) / n, sum(foot[2][5] for foot in feet) / n
        body = BodyState(run.object_id, run.team, "", ball.x_m + dx, ball.y_m + dy, 0.0, vx, vy)
        return distance_m, run.object_id, body

    def _look(
        self, state: NearState, ts_us: int, ball: BallState, found: list[Found], trunks: list[Found]
    ) -> Step[NearState]:
        if not found and not trunks and not state.near and not state.trunk:
            return state, NOTHING
        found.sort(key=_by_distance)
        near = tuple(sorted(key for _, key, _ in found))
        everybody = sorted((*found, *trunks), key=_by_distance) if trunks else found
        closest = Event("ball.closest", ts_us, "ball", ts_us, self._closest(everybody, ts_us, ball))
        if near == state.near:
            if bool(trunks) != state.trunk:
                state = NearState(state.limbs, near, bool(trunks), state.centre)
            return state, (closest,)
        out = [self._left(key, ts_us, ball) for key in state.near if key not in near]
        out += [self._entered(key, ts_us, ball, body, away_m) for away_m, key, body in found if key not in state.near]
        if is_recording():
            self._note_left(state, near, ts_us, ball, trunks)
        out.append(closest)
        return NearState(state.limbs, near, bool(trunks), state.centre), out

    def _closest(self, found: list[Found], ts_us: int, ball: BallState) -> Closest:
        x_m, y_m = ball.x_m, ball.y_m
        candidates = [
            Candidate(key, b.object_id, b.team, b.limb, x_m - b.x_m, y_m - b.y_m, away_m, b.vx_m_s, b.vy_m_s)
            for away_m, key, b in found
        ]
        return Closest(tuple(candidates)) if self._limbs else Closest(tuple(candidates), ts_us, (x_m, y_m))

    def _left(self, key: str, ts_us: int, ball: BallState) -> Event:
        object_id, _, limb = key.partition("/")
        payload = EventPayload(limb, "", object_id, ball.x_m, ball.y_m, ball.z_m)
        return make_event("not_near", ts_us, f"{key}:{ts_us}", payload)

    def _note_left(
        self, state: NearState, near: tuple[str, ...], ts_us: int, ball: BallState, beyond: list[Found]
    ) -> None:
        """Note the distance of limbs or players that are near no longer, or the height of a ball above them."""
        p = self.parameters
        away_m = {key: distance_m for distance_m, key, _ in beyond}
        limit_m = math.sqrt(self._leave2_m2)
        for key in state.near:
            run, about, distance_m = state.limbs.get(key), f"{key}:{ts_us}", away_m.get(key)
            if run is not None:
                distance_m = math.dist((ball.x_m, ball.y_m, ball.z_m), run.interpolated(ts_us)[1:4])
            if key in near or distance_m is None:
                continue
            if distance_m > limit_m:
                note("distance to the ball", distance_m, "at least", limit_m, "near.leave_m", ("not_near", about))
            elif not self._limbs:
                most_m, anchor = p.height_max_m, ("not_near", about)
                note("height of the ball", ball.z_m, "at least", most_m, "near.height_max_m", anchor)

    def _entered(self, key: str, ts_us: int, ball: BallState, body: BodyState, distance_m: float) -> Event:
        detail = {"distance_m": round(distance_m, 3), "contact": distance_m < self.parameters.contact_m}
        what, limit_m = "distance to the ball, a leg added", math.sqrt(self._enter2_m2)
        note(what, distance_m, "at most", limit_m, "near.enter_m", ("near", f"{key}:{ts_us}"))
        payload = EventPayload(body.limb, body.team, body.object_id, ball.x_m, ball.y_m, ball.z_m, detail=detail)
        return make_event("near", ts_us, f"{key}:{ts_us}", payload)


def _limb_names(sheet: MatchSheet) -> tuple[str, ...]:
    """Names of limbs that may be near: the declared ones, and the hands that goalkeepers wear besides."""
    limbs = sheet.quality.limbs
    return tuple(dict.fromkeys((*limbs, "left_hand", "right_hand"))) if limbs else ("",)


def _by_distance(entry: Found) -> tuple[float, str]:
    return entry[0], entry[1]


class ZoneParameters(msgspec.Struct, frozen=True):
    """The possession zone.

    Attributes:
        enter_m: distance below which a player is in the zone.
        leave_m: distance beyond which the player has left it.
    """

    enter_m: Annotated[float, reason("databallpy's pz_radius; StreamTeam's maxBallPossessionChangeDist")] = 1.5
    leave_m: Annotated[float, reason("ours: hysteresis")] = 1.7


class PossessionZone:
    """4.2: ``pz.enter`` and ``pz.leave``: a player's distance over the ground, so that headers count."""

    def __init__(self, parameters: ZoneParameters | None = None) -> None:
        self.parameters = p = parameters or ZoneParameters()
        self._enter2_m2, self._leave2_m2 = p.enter_m**2, p.leave_m**2
        self.spec = Spec(
            name="possession_zone",
            number="4.2",
            level=4,
            inputs=("frame",),
            outputs=("pz.leave", "pz.enter"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="databallpy; StreamTeam",
            team_variants=dict.fromkeys(("pz.leave", "pz.enter"), ("",)),
        )

    def initial(self) -> tuple[str, ...]:
        """An empty zone. The state is the sorted object ids of the players in it."""
        return ()

    def step(self, state: tuple[str, ...], event: Event) -> Step[tuple[str, ...]]:
        """Judge who is in the zone."""
        frame = frame_of(event)
        ball, around = frame.ball, frame.nearest
        leave2 = self._leave2_m2
        if ball is None or around is None or (around.first_m2 > leave2 and not state):
            return state, NOTHING
        x_m, y_m = ball.x_m, ball.y_m
        enter2 = self._enter2_m2
        inside = []
        for body in frame.players:
            dx, dy = body.x_m - x_m, body.y_m - y_m
            d2 = dx * dx + dy * dy
            if d2 <= leave2 and (d2 < enter2 or body.object_id in state):
                inside.append(body)
        ids = tuple(body.object_id for body in inside)
        if ids == state:
            return state, NOTHING
        out = [_zone_event("pz.leave", event.ts_us, ball, player) for player in state if player not in ids]
        out.extend(
            _zone_event("pz.enter", event.ts_us, ball, body.object_id, body.team)
            for body in inside
            if body.object_id not in state
        )
        if is_recording():
            self._note(frame, ball, {*state} ^ {*ids})
        return ids, out

    def _note(self, frame: Frame, ball: BallState, changed: set[str]) -> None:
        """Note the distances of players who entered or left."""
        p, what = self.parameters, "distance to the ball"
        for body in frame.players:
            if body.object_id in changed:
                away_m = math.sqrt(_away2_m2(body, ball))
                note(what, away_m, "at most", p.enter_m, "possession_zone.enter_m", ("pz.enter", body.object_id))
                note(what, away_m, "at least", p.leave_m, "possession_zone.leave_m", ("pz.leave", body.object_id))


def _zone_event(kind: str, ts_us: int, ball: BallState, player: str, team: Team = "") -> Event:
    payload = EventPayload("", team, player, ball.x_m, ball.y_m, ball.z_m)
    return make_event(kind, ts_us, f"{player}:{ts_us}", payload)


class NearestParameters(msgspec.Struct, frozen=True):
    """Hysteresis of the nearest player: either suffices.

    Attributes:
        margin_m: a new one must be nearer by this.
        hold_us: a new one must be nearest for so long.
    """

    margin_m: Annotated[float, reason("hierarchy 4.3")] = 0.3
    hold_us: Annotated[int, reason("hierarchy 4.3")] = 100_000


class Nearest(msgspec.Struct, frozen=True, gc=False):
    """Of one group: the nearest player; another one who is nearer, and since when."""

    player: str = ""
    challenger: str = ""
    since_us: int = 0


#: Squared distance to the ball, player, team.
Ranked = tuple[float, str, Team]


class NearestPlayer:
    """4.3: ``nearest.changed`` x {overall, home, away}: the nearest player to the ball over the ground.

    ``detail``: ``distance_m`` (from the ball).
    """

    GROUPS = ("overall", "home", "away")

    def __init__(self, parameters: NearestParameters | None = None) -> None:
        self.parameters = parameters or NearestParameters()
        self.spec = Spec(
            name="nearest_player",
            number="4.3",
            level=4,
            inputs=("frame",),
            outputs=("nearest.changed",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="polimi's DEBS 2013 variant (closest player)",
            variants={"nearest.changed": self.GROUPS},
            details={"nearest.changed": ("distance_m",)},
        )

    def initial(self) -> tuple[Nearest, Nearest, Nearest]:
        """No nearest player."""
        return Nearest(), Nearest(), Nearest()

    def step(self, state: tuple[Nearest, Nearest, Nearest], event: Event) -> Step[tuple[Nearest, Nearest, Nearest]]:
        """Find the nearest players; nearly always they are the same."""
        frame = frame_of(event)
        if frame.ball is None or frame.nearest is None:
            return state, NOTHING
        players, around = frame.players, frame.nearest
        best = [players[i] if i >= 0 else None for i in (around.first, around.home, around.away)]
        if not any(
            nearest.challenger or (body is not None and body.object_id != nearest.player)
            for nearest, body in zip(state, best, strict=True)
        ):
            return state, NOTHING
        out: list[Event] = []
        ranked: list[Ranked | None] = [
            (_away2_m2(body, frame.ball), body.object_id, body.team) if body is not None else None for body in best
        ]
        watched = {nearest.player for nearest in state}
        held = {body.object_id: _away2_m2(body, frame.ball) for body in players if body.object_id in watched}
        after = (
            self._challenge(state[0], "overall", ranked[0], held, event, out),
            self._challenge(state[1], "home", ranked[1], held, event, out),
            self._challenge(state[2], "away", ranked[2], held, event, out),
        )
        return after, out or NOTHING

    def _challenge(
        self, nearest: Nearest, group: str, best: Ranked | None, held: dict[str, float], event: Event, out: list[Event]
    ) -> Nearest:
        """Judge another nearest player; ``held`` has the squared distances of the former ones."""
        if best is None or best[1] == nearest.player:
            return Nearest(nearest.player) if nearest.challenger else nearest
        d2, name, team = best
        since_us = nearest.since_us if nearest.challenger == name else event.ts_us
        before_m = math.sqrt(held.get(nearest.player, math.inf))
        p, lead_m, held_us = self.parameters, before_m - math.sqrt(d2), event.ts_us - since_us
        if lead_m >= p.margin_m:
            if math.isfinite(lead_m):
                note("nearer than the former one", lead_m, "at least", p.margin_m, "nearest.margin_m", group)
        elif not at_least("time that it is nearest", held_us, p.hold_us, "nearest.hold_us", group):
            return Nearest(nearest.player, name, since_us)
        payload = EventPayload(group, team, name, detail={"distance_m": round(math.sqrt(d2), 2)})
        out.append(make_event("nearest.changed", event.ts_us, f"{group}:{event.ts_us}", payload))
        return Nearest(name)


def _away2_m2(body: BodyState, ball: BallState) -> float:
    """Squared distance over the ground."""
    dx, dy = body.x_m - ball.x_m, body.y_m - ball.y_m
    return dx * dx + dy * dy

"""Level 1: from limbs and centroids to players, and from several balls to the one in play."""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState, EventPayload, LimbRun
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class FusionParameters(msgspec.Struct, frozen=True):
    """``hold_us``: a limb or a source counts for so long after its sample (1.7). ``period_us``: players are
    given at most 50 times a second. ``quality_floor``: radio below it gives way to a camera's centroid (ours)."""

    hold_us: int = 200_000
    period_us: int = 20_000
    quality_floor: float = 0.3


class Limbs(msgspec.Struct, frozen=True, gc=False):
    """State of one player: newest run of each limb; which source gave him last, and when."""

    limbs: tuple[LimbRun, ...] = ()
    given_us: int = -(2**62)
    source: str = ""


class PlayerFusion:
    """1.5 (and source.switched of 1.7): the limbs of one player, or his centroid, to one position.

    A player is the mean of his feet, or of whatever limbs are known (DEBS 2013). A centroid from a camera
    serves while no limb of quality is fresh: radio wins over optical.

    Looked at is each position of a run, with the newest positions of the other limbs that are not later.
    """

    def __init__(self, parameters: FusionParameters | None = None) -> None:
        self.parameters = parameters or FusionParameters()
        self.spec = Spec(
            name="player_fusion",
            number="1.5",
            level=1,
            inputs=("limb.run", "foot.run", "centroid.state"),
            outputs=("source.switched", "player.state"),
            internal=("player.state",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="DEBS 2013 metadata (mean of the foot sensors); 1.7 for the choice of source: ours",
            needs="limb transmitters",
            keyed=True,
            takes_runs=True,
            variants={"source.switched": ("rtls", "optical")},
            team_variants={"player.state": ("",)},
        )

    def key(self, event: Event) -> str:
        """The player."""
        return event.source.partition("/")[0]

    def initial(self) -> Limbs:
        """Nothing seen."""
        return Limbs()

    def step(self, state: Limbs, event: Event) -> Step[Limbs]:
        """Takes a limb or a centroid."""
        body, p, now_us = event.payload, self.parameters, event.ts_us
        if isinstance(body, LimbRun):
            return self._run(state, body)
        assert isinstance(body, BodyState)
        fresh = state.source == "rtls" and now_us - state.given_us <= p.hold_us
        if fresh or now_us - state.given_us < p.period_us:
            return state, NOTHING
        out: list[Event] = []
        return self._give(state, state.limbs, body, now_us, "optical", out), out

    def _run(self, state: Limbs, run: LimbRun) -> Step[Limbs]:
        """Takes what a packet said of a limb."""
        p, first_us = self.parameters, run.states[0][0]
        others = [o for o in state.limbs if o.limb != run.limb and first_us - o.states[-1][0] <= p.hold_us]
        limbs = (*others, run)
        after = Limbs(limbs, state.given_us, state.source)
        good = [limb for limb in limbs if limb.quality >= p.quality_floor]
        feet = [limb for limb in good if "foot" in limb.limb] or good
        out: list[Event] = []
        for now_us, *_ in run.states if feet else ():
            if now_us - after.given_us >= p.period_us:
                after = self._give(after, limbs, _mean_of_limbs(feet, now_us), now_us, "rtls", out)
        return after, out or NOTHING

    def _give(
        self, state: Limbs, limbs: tuple[LimbRun, ...], body: BodyState, now_us: int, source: str, out: list[Event]
    ) -> Limbs:
        if state.source and state.source != source:
            payload = EventPayload(variant=source, team=body.team, player=body.object_id, x_m=body.x_m, y_m=body.y_m)
            out.append(make_event("source.switched", now_us, f"{body.object_id}:{now_us}", payload))
        out.append(Event("player.state", now_us, body.object_id, now_us, body))
        return Limbs(limbs, now_us, source)


def _mean_of_limbs(limbs: list[LimbRun], now_us: int) -> BodyState:
    """Mean of limbs, each carried on to ``now_us``; their order is that in which they were heard."""
    n, x, y, z, vx, vy, quality = len(limbs), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    for limb in limbs:
        ts_us, limb_x, limb_y, limb_z, limb_vx, limb_vy = limb.at(now_us)
        age_s = (now_us - ts_us) * 1e-6
        x += limb_x + limb_vx * age_s
        y += limb_y + limb_vy * age_s
        z += limb_z
        vx += limb_vx
        vy += limb_vy
        quality = min(quality, limb.quality)
    first = limbs[0]
    return BodyState(first.object_id, first.team, "", x / n, y / n, z / n, vx / n, vy / n, quality)


class BallParameters(msgspec.Struct, frozen=True):
    """``margin_m``: the ball in play is inside the pitch and so much around it (1.6). ``moving_m_s``: another
    ball takes over only when it was struck (2.4's moving). ``silent_us``: a ball unheard for so long is gone."""

    margin_m: float = 2.0
    moving_m_s: float = 4.0
    silent_us: int = 500_000


class Balls(msgspec.Struct, frozen=True, gc=False):
    """State: the active ball, its newest sample, and spare balls that were reported on the pitch."""

    active: str = ""
    newest: Event | None = None
    spares: tuple[str, ...] = ()


class ActiveBall:
    """1.6: which of several balls is in play.

    It is the first one seen on the pitch: spare balls lie beside it. The one that plays stays until it has left the
    pitch by ``margin_m`` or fell silent while another one on the pitch moves as only a struck ball does. (The
    hierarchy's "last hit ball" would need hits, which stand above.)
    """

    def __init__(self, sheet: MatchSheet, parameters: BallParameters | None = None) -> None:
        self.parameters = parameters or BallParameters()
        self._x_max_m = sheet.length_m / 2 + self.parameters.margin_m
        self._y_max_m = sheet.width_m / 2 + self.parameters.margin_m
        self.spec = Spec(
            name="active_ball",
            number="1.6",
            level=1,
            inputs=("ball.sample",),
            outputs=("ball.active_changed", "ball.spare_on_pitch", "ball.state"),
            internal=("ball.state",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="DEBS 2013 metadata: three balls in the first half, four in the second; rule ours",
        )

    def initial(self) -> Balls:
        """No ball yet."""
        return Balls()

    def step(self, state: Balls, event: Event) -> Step[Balls]:
        """Takes a sample of any ball; passes the active one's on."""
        ball = event.payload
        assert isinstance(ball, BallState)
        if event.source == state.active:
            return Balls(state.active, event, state.spares), (_as_state(event, ball),)
        if not state.active:
            if not self._inside(ball):
                return state, NOTHING
            return Balls(event.source, event), (_as_state(event, ball),)
        if self._takes_over(state, event, ball):
            changed = _ball_fact("ball.active_changed", event, ball)
            spares = tuple(s for s in state.spares if s != event.source)
            return Balls(event.source, event, spares), (changed, _as_state(event, ball))
        return self._spare(state, event, ball)

    def _inside(self, ball: BallState) -> bool:
        return abs(ball.x_m) <= self._x_max_m and abs(ball.y_m) <= self._y_max_m

    def _takes_over(self, state: Balls, event: Event, ball: BallState) -> bool:
        assert state.newest is not None
        speed2 = ball.vx_m_s**2 + ball.vy_m_s**2
        if not self._inside(ball) or speed2 < self.parameters.moving_m_s**2:
            return False
        active = state.newest.payload
        assert isinstance(active, BallState)
        silent = event.ts_us - state.newest.ts_us > self.parameters.silent_us
        return silent or not self._inside(active)

    def _spare(self, state: Balls, event: Event, ball: BallState) -> Step[Balls]:
        """A second ball is reported when it enters the pitch, not again until it has left."""
        known, inside = event.source in state.spares, self._inside(ball)
        if known == inside:
            return state, NOTHING
        if not inside:
            return Balls(state.active, state.newest, tuple(s for s in state.spares if s != event.source)), NOTHING
        spare = _ball_fact("ball.spare_on_pitch", event, ball)
        return Balls(state.active, state.newest, tuple(sorted((*state.spares, event.source)))), (spare,)


def _as_state(event: Event, ball: BallState) -> Event:
    return Event("ball.state", event.ts_us, event.source, event.seq, ball)


def _ball_fact(kind: str, event: Event, ball: BallState) -> Event:
    payload = EventPayload(x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, detail={"ball": event.source})
    return make_event(kind, event.ts_us, f"{event.source}:{event.ts_us}", payload)

"""Level 1: from limbs and centroids to players, and from several balls to the one in play."""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.decisions import is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState, EventPayload, LimbRun, ball_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class FusionParameters(msgspec.Struct, frozen=True):
    """How the limbs and centroids of a player become one position.

    Attributes:
        hold_us: how long a limb or a source counts after its sample.
        period_us: time between positions of a player.
        quality_floor: radio of less quality gives way to a camera's centroid.
    """

    hold_us: Annotated[int, reason("hierarchy 1.7")] = 200_000
    period_us: Annotated[int, reason("hierarchy 1.5: at most 50 times a second")] = 20_000
    quality_floor: Annotated[float, reason("ours")] = 0.3


class Limbs(msgspec.Struct, frozen=True, gc=False):
    """State of one player: newest run of each limb; source and time of the newest position."""

    limbs: tuple[LimbRun, ...] = ()
    given_us: int = -(2**62)
    source: str = ""


class PlayerFusion:
    """1.5 (and source.switched of 1.7): the limbs of one player, or his centroid, to one position.

    A player is the mean of his feet, or of whatever limbs are known (DEBS 2013). A centroid from a camera
    serves while no limb of quality is fresh: radio wins over optical. Each position of a run is combined with the
    newest positions of the other limbs that are not later.
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
        """No position yet."""
        return Limbs()

    def step(self, state: Limbs, event: Event) -> Step[Limbs]:
        """Take a run of a limb, or a centroid."""
        p, now_us = self.parameters, event.ts_us
        if event.kind != "centroid.state":
            return self._run(state, cast(LimbRun, event.payload))
        body, silent_us = cast(BodyState, event.payload), now_us - state.given_us
        if (state.source == "rtls" and silent_us <= p.hold_us) or silent_us < p.period_us:
            return state, NOTHING
        note("time since the last radio position", silent_us, "at least", p.hold_us, "player_fusion.hold_us", "optical")
        out: list[Event] = []
        _give(state.source, body, now_us, "optical", out)
        return Limbs(state.limbs, now_us, "optical"), out

    def _run(self, state: Limbs, run: LimbRun) -> Step[Limbs]:
        """Take the run of one limb."""
        p, limb_name, runs, given_us = self.parameters, run.limb, run.states, state.given_us
        oldest_us = runs[0][0] - p.hold_us
        others = [other for other in state.limbs if other.limb != limb_name and other.states[-1][0] >= oldest_us]
        limbs = (*others, run)
        if runs[-1][0] - given_us < p.period_us:  # another limb has given the position
            return Limbs(limbs, given_us, state.source), NOTHING
        good = [limb for limb in limbs if limb.quality >= p.quality_floor]
        feet = [limb for limb in good if "foot" in limb.limb] or good
        if not feet:
            return Limbs(limbs, given_us, state.source), NOTHING
        out: list[Event] = []
        source = state.source
        for limb_state in runs:
            now_us = limb_state[0]
            if now_us - given_us < p.period_us:
                continue
            mean = _mean_of_limbs(feet, now_us)
            if source == "optical":
                note("quality of the limbs", mean.quality, "at least", p.quality_floor, "player_fusion.quality_floor")
            _give(source, mean, now_us, "rtls", out)
            given_us, source = now_us, "rtls"
        return Limbs(limbs, given_us, source), out or NOTHING


def _give(before: str, body: BodyState, now_us: int, source: str, out: list[Event]) -> None:
    """Emit a position of a player; report if its source is another than ``before``."""
    if before and before != source:
        payload = EventPayload(variant=source, team=body.team, player=body.object_id, x_m=body.x_m, y_m=body.y_m)
        out.append(make_event("source.switched", now_us, f"{body.object_id}:{now_us}", payload))
    out.append(Event("player.state", now_us, body.object_id, now_us, body))


def _mean_of_limbs(limbs: list[LimbRun], now_us: int) -> BodyState:
    """Mean of limbs, each extrapolated to ``now_us``; they are in the order in which they arrived."""
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
    """Which of several balls is in play.

    Attributes:
        margin_m: how far outside the lines the ball in play may be.
        moving_m_s: speed from which another ball takes over.
        silent_us: silence after which the ball in play is lost.
    """

    margin_m: Annotated[float, reason("hierarchy 1.6")] = 2.0
    moving_m_s: Annotated[float, reason("hierarchy 2.4: moving, as only a struck ball does")] = 4.0
    silent_us: Annotated[int, reason("ours")] = 500_000


class Balls(msgspec.Struct, frozen=True, gc=False):
    """State: the active ball, its newest sample, and spare balls that were reported on the pitch."""

    active: str = ""
    newest: Event | None = None
    spares: tuple[str, ...] = ()


class ActiveBall:
    """1.6: which of several balls is in play.

    It is the first ball on the pitch: spare balls lie beside it. It stays active until it has left the pitch by
    ``margin_m``, or is silent, while another ball on the pitch moves as only a struck ball does. (The hierarchy's
    "last hit ball" would need hits, which stand above.) ``detail``: ``ball`` (the object id of it).
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
            details=dict.fromkeys(("ball.active_changed", "ball.spare_on_pitch"), ("ball",)),
        )

    def initial(self) -> Balls:
        """No ball yet."""
        return Balls()

    def step(self, state: Balls, event: Event) -> Step[Balls]:
        """Take a sample of any ball; pass on that of the active one."""
        ball = cast(BallState, event.payload)
        if event.source == state.active:
            return Balls(state.active, event, state.spares), (_as_state(event, ball),)
        if not state.active:
            if not self._inside(ball):
                return state, NOTHING
            return Balls(event.source, event), (_as_state(event, ball),)
        if self._takes_over(state, event, ball):
            changed = _ball_event("ball.active_changed", event, ball)
            spares = tuple(s for s in state.spares if s != event.source)
            return Balls(event.source, event, spares), (changed, _as_state(event, ball))
        return self._spare(state, event, ball)

    def _inside(self, ball: BallState) -> bool:
        return abs(ball.x_m) <= self._x_max_m and abs(ball.y_m) <= self._y_max_m

    def _takes_over(self, state: Balls, event: Event, ball: BallState) -> bool:
        p = self.parameters
        speed2 = ball.vx_m_s**2 + ball.vy_m_s**2
        if state.newest is None or not self._inside(ball) or speed2 < p.moving_m_s**2:
            return False
        active, silent_us = ball_of(state.newest), event.ts_us - state.newest.ts_us
        silent = silent_us > p.silent_us
        if not silent and self._inside(active):
            return False
        if is_recording():
            note(
                "speed of the new ball",
                math.sqrt(speed2),
                "at least",
                p.moving_m_s,
                "active_ball.moving_m_s",
                "ball.active_changed",
            )
            if silent:
                note(
                    "time since the old ball's sample",
                    silent_us,
                    "at least",
                    p.silent_us,
                    "active_ball.silent_us",
                    "ball.active_changed",
                )
            else:
                beyond_m = self._beyond_m(active)
                note(
                    "the old ball outside the lines",
                    beyond_m,
                    "at least",
                    p.margin_m,
                    "active_ball.margin_m",
                    "ball.active_changed",
                )
        return True

    def _beyond_m(self, ball: BallState) -> float:
        """How far a ball is outside the lines, metres; negative inside."""
        return max(abs(ball.x_m) - self._x_max_m, abs(ball.y_m) - self._y_max_m) + self.parameters.margin_m

    def _spare(self, state: Balls, event: Event, ball: BallState) -> Step[Balls]:
        """A second ball is reported when it enters the pitch, not again until it has left."""
        known, inside = event.source in state.spares, self._inside(ball)
        if known == inside:
            return state, NOTHING
        if not inside:
            return Balls(state.active, state.newest, tuple(s for s in state.spares if s != event.source)), NOTHING
        spare = _ball_event("ball.spare_on_pitch", event, ball)
        if is_recording():
            beyond_m, margin_m = self._beyond_m(ball), self.parameters.margin_m
            note("the ball outside the lines", beyond_m, "at most", margin_m, "active_ball.margin_m", spare.kind)
        return Balls(state.active, state.newest, tuple(sorted((*state.spares, event.source)))), (spare,)


def _as_state(event: Event, ball: BallState) -> Event:
    return Event("ball.state", event.ts_us, event.source, event.seq, ball)


def _ball_event(kind: str, event: Event, ball: BallState) -> Event:
    payload = EventPayload(x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, detail={"ball": event.source})
    return make_event(kind, event.ts_us, f"{event.source}:{event.ts_us}", payload)

"""3.5 to 3.7: jumps, players on the ground and leg swings, from the positions of limbs.

Theory of operation
-------------------
Each detector follows the feet, or the hands, of one player. They arrive as runs of positions, the densest input. The
state stays the same object wherever it can: it holds not where a limb is but since when it is high, low or fast. A
silent limb counts for ``STALE_US``; then its player is not judged by it. The runs of two limbs overlap by less than a
packet: by so much the older one may be too new.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, TypeVar, cast

import msgspec

from detectors.decisions import at_least, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.sampling import body_sampling
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, LimbRun, LimbState, Scalar
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: As long as player fusion holds a limb (1.7).
STALE_US = 200_000
_NEVER_US = -(2**62)

S = TypeVar("S")

#: A detector's rule for one position: state, whether the limb is a left one, position, run.
Take = Callable[[S, bool, LimbState, LimbRun], Step[S]]


class JumpParameters(msgspec.Struct, frozen=True):
    """Jumps, and the baseline of a foot in stance.

    Attributes:
        rise_m: height of both feet over the baseline.
        hold_us: least time of both feet up.
        look_us: time between steps of the baseline.
        step_down_m: step of the baseline if a foot is below it.
        step_up_m: step of the baseline if a foot is above it.
    """

    rise_m: Annotated[float, reason("hierarchy 3.5")] = 0.12
    hold_us: Annotated[
        int,
        reason(
            "hierarchy 3.5 has 0.12 s; but a kicker has both feet so high for up to 0.2 s (94 of the 99 jumps too many "
            "of a whole simulated match, seed 41), a jumper for 0.27 s or more"
        ),
    ] = 200_000
    look_us: Annotated[int, reason("ours")] = 200_000
    step_down_m: Annotated[float, reason("ours: a single wrong height moves the baseline by one step")] = 0.008
    step_up_m: Annotated[
        float,
        reason("ours: balanced where a fifth of all samples is below, as even a sprinter's feet on the ground are"),
    ] = 0.002


class Feet(msgspec.Struct, frozen=True, gc=False):
    """State of 3.5.

    Attributes:
        base_m: height of a foot in stance; ``look_us`` is the time of its last step.
        left_us, right_us: since when that foot is up; -1 while it is down.
        left_sample_us, right_sample_us: its newest sample while it is up.
        air_us: since when both are up, once that was reported; -1 before.
    """

    base_m: float = math.inf
    look_us: int = _NEVER_US
    left_us: int = -1
    right_us: int = -1
    left_sample_us: int = _NEVER_US
    right_sample_us: int = _NEVER_US
    air_us: int = -1


class Jump:
    """3.5: ``jump.take_off`` and ``jump.land``: both feet are off the ground, higher than a stride lifts them.

    The take-off is dated when both feet have passed the height, the landing when one is below it again;
    ``detail.air_us`` of a landing is the time between.
    """

    def __init__(self, sheet: MatchSheet, parameters: JumpParameters | None = None) -> None:
        self.parameters = p = parameters or JumpParameters()
        sampling = body_sampling(sheet.quality)
        self.spec = Spec(
            name="jump",
            number="3.5",
            level=3,
            inputs=("foot.run",),
            outputs=("jump.land", "jump.take_off"),
            horizon_us=p.hold_us + 2 * sampling.period_us,
            parameters=msgspec.structs.asdict(p),
            source="ours",
            needs="a transmitter on each foot",
            keyed=True,
            takes_runs=True,
            team_variants=dict.fromkeys(("jump.land", "jump.take_off"), ("",)),
            details={"jump.land": ("air_us",)},
        )

    def key(self, event: Event) -> str:
        """The player."""
        return event.source.partition("/")[0]

    def initial(self) -> Feet:
        """No baseline yet."""
        return Feet()

    def step(self, state: Feet, event: Event) -> Step[Feet]:
        """Take a run of a foot."""
        run = cast(LimbRun, event.payload)
        return _fold(self._take, state, run.limb == "left_foot", run)

    def _take(self, state: Feet, left: bool, now: LimbState, run: LimbRun) -> Step[Feet]:
        now_us, z_m = now[0], now[3]
        if now_us - state.look_us >= self.parameters.look_us:
            state = self._look(state, z_m, now_us)
        since_us = state.left_us if left else state.right_us
        if z_m < state.base_m + self.parameters.rise_m:
            return (state, NOTHING) if since_us < 0 else self._down(state, left, now, run)
        return self._up(state, left, since_us if since_us >= 0 else now_us, now, run)

    def _look(self, state: Feet, z_m: float, now_us: int) -> Feet:
        """One step of the baseline; the first foot is taken to stand."""
        p, base_m = self.parameters, state.base_m
        stepped_m = base_m - p.step_down_m if z_m < base_m else base_m + p.step_up_m
        return msgspec.structs.replace(state, base_m=stepped_m if math.isfinite(base_m) else z_m, look_us=now_us)

    def _up(self, state: Feet, left: bool, since_us: int, now: LimbState, run: LimbRun) -> Step[Feet]:
        now_us = now[0]
        if left:
            state = msgspec.structs.replace(state, left_us=since_us, left_sample_us=now_us)
        else:
            state = msgspec.structs.replace(state, right_us=since_us, right_sample_us=now_us)
        off_us = max(state.left_us, state.right_us)
        both = min(state.left_us, state.right_us) >= 0
        if not both or now_us - min(state.left_sample_us, state.right_sample_us) > STALE_US:
            return state, NOTHING
        p, anchor = self.parameters, f"{run.object_id}:{off_us}"
        if state.air_us >= 0 or now_us - off_us < p.hold_us:
            return state, NOTHING
        note("time that both feet are up", now_us - off_us, "at least", p.hold_us, "jump.hold_us", anchor)
        air_us = max(off_us, now_us - self.spec.horizon_us)
        took_off = make_event("jump.take_off", air_us, anchor, _payload_at(now, run))
        return msgspec.structs.replace(state, air_us=air_us), (took_off,)

    def _down(self, state: Feet, left: bool, now: LimbState, run: LimbRun) -> Step[Feet]:
        now_us, air_us = now[0], state.air_us
        if left:
            state = msgspec.structs.replace(state, left_us=-1, air_us=-1)
        else:
            state = msgspec.structs.replace(state, right_us=-1, air_us=-1)
        if air_us < 0:
            return state, NOTHING
        landed, anchor = _payload_at(now, run, air_us=now_us - air_us), f"{run.object_id}:{now_us}"
        note("time in the air", now_us - air_us, "at least", self.parameters.hold_us, "jump.hold_us", anchor)
        return state, (make_event("jump.land", now_us, anchor, landed),)


class DownParameters(msgspec.Struct, frozen=True):
    """Players on the ground.

    Attributes:
        low_m: a lower hand is near the ground.
        speed_m_s: greatest speed of a player who stays.
        hold_us: how long both hands must be low.
        up_m: a higher hand is up again.
        up_us: how long both hands must be up.
    """

    low_m: Annotated[
        float,
        reason(
            "hierarchy 3.6, of both hands instead of the mean of all limbs, which is 0.4 to 0.5 m of a player who "
            "stands with hanging arms"
        ),
    ] = 0.45
    speed_m_s: Annotated[float, reason("hierarchy 3.6")] = 0.5
    hold_us: Annotated[int, reason("hierarchy 3.6")] = 1_000_000
    up_m: Annotated[float, reason("ours")] = 0.6
    up_us: Annotated[int, reason("ours")] = 300_000


class Hands(msgspec.Struct, frozen=True, gc=False):
    """State of 3.6: of each hand whether it is low, since when; time and position since both are; whether reported."""

    left_low: bool = False
    right_low: bool = False
    left_us: int = _NEVER_US
    right_us: int = _NEVER_US
    from_us: int = -1
    x_m: float = 0.0
    y_m: float = 0.0
    reported: bool = False


class PlayerDown:
    """3.6: ``player.down`` and ``player.up``: both hands stay near the ground, and the player where he is.

    ``player.down`` is dated when both hands were low, ``player.up`` when both have stayed up for a moment: a lifted arm
    is not a player who gets up. A player who ties a shoe for so long counts as well.
    """

    def __init__(self, sheet: MatchSheet, parameters: DownParameters | None = None) -> None:
        self.parameters = p = parameters or DownParameters()
        self.spec = Spec(
            name="player_down",
            number="3.6",
            level=3,
            inputs=("limb.run",),
            outputs=("player.up", "player.down"),
            horizon_us=p.hold_us + 2 * body_sampling(sheet.quality).period_us,
            parameters=msgspec.structs.asdict(p),
            source="ours",
            needs="a transmitter on each hand",
            keyed=True,
            takes_runs=True,
            team_variants=dict.fromkeys(("player.up", "player.down"), ("",)),
        )

    def key(self, event: Event) -> str:
        """The player."""
        return event.source.partition("/")[0]

    def initial(self) -> Hands:
        """Upright, as far as known."""
        return Hands()

    def step(self, state: Hands, event: Event) -> Step[Hands]:
        """Take a run of a hand."""
        run = cast(LimbRun, event.payload)
        if run.limb not in ("left_hand", "right_hand"):
            return state, NOTHING
        return _fold(self._take, state, run.limb == "left_hand", run)

    def _take(self, state: Hands, left: bool, now: LimbState, run: LimbRun) -> Step[Hands]:
        was_low = state.left_low if left else state.right_low
        low = now[3] < (self.parameters.up_m if was_low else self.parameters.low_m)
        if low != was_low:
            state = self._moved(state, left, low, now)
        if state.reported:
            return self._rises(state, now, run)
        return self._lies(state, now, run) if state.from_us >= 0 else (state, NOTHING)

    def _moved(self, state: Hands, left: bool, low: bool, now: LimbState) -> Hands:
        now_us, x_m, y_m, _, _, _ = now
        if left:
            state = msgspec.structs.replace(state, left_low=low, left_us=now_us)
        else:
            state = msgspec.structs.replace(state, right_low=low, right_us=now_us)
        if state.left_low and state.right_low:
            return msgspec.structs.replace(state, from_us=now_us, x_m=x_m, y_m=y_m)
        return msgspec.structs.replace(state, from_us=-1)

    def _lies(self, state: Hands, now: LimbState, run: LimbRun) -> Step[Hands]:
        p = self.parameters
        now_us, x_m, y_m, _, _, _ = now
        if math.hypot(x_m - state.x_m, y_m - state.y_m) > p.speed_m_s * p.hold_us * 1e-6:
            return msgspec.structs.replace(state, from_us=now_us, x_m=x_m, y_m=y_m), NOTHING
        held_us = now_us - state.from_us
        if not at_least("time that both hands are low", held_us, p.hold_us, "player_down.hold_us", "player.down"):
            return state, NOTHING
        since_us = max(state.from_us, now_us - self.spec.horizon_us)
        down = make_event("player.down", since_us, f"{run.object_id}:{state.from_us}", _payload_at(now, run))
        return msgspec.structs.replace(state, reported=True), (down,)

    def _rises(self, state: Hands, now: LimbState, run: LimbRun) -> Step[Hands]:
        now_us = now[0]
        up = not state.left_low and not state.right_low
        held_us, least_us = now_us - max(state.left_us, state.right_us), self.parameters.up_us
        if not up or not at_least("time that both hands are up", held_us, least_us, "player_down.up_us", "player.up"):
            return state, NOTHING
        rise = make_event("player.up", now_us, f"{run.object_id}:{now_us}", _payload_at(now, run))
        return msgspec.structs.replace(state, reported=False), (rise,)


class SwingParameters(msgspec.Struct, frozen=True):
    """Leg swings.

    Attributes:
        speed_m_s: least speed of the foot against the body.
        stride_factor: the same as a multiple of the body's speed.
        rearm_m_s: a slower foot may swing again.
        mean_us: time over which a foot's mean velocity is taken.
    """

    speed_m_s: Annotated[float, reason("hierarchy 3.7")] = 9.0
    stride_factor: Annotated[
        float, reason("ours: a runner's foot moves ahead of the body about as fast as the body runs")
    ] = 1.4
    rearm_m_s: Annotated[float, reason("ours")] = 5.0
    mean_us: Annotated[int, reason("ours: a stride")] = 400_000


class Foot(msgspec.Struct, frozen=True, gc=False):
    """A foot: position at the start of the present stride; mean velocity of the last one, if known; if it swings."""

    from_us: int = _NEVER_US
    x_m: float = 0.0
    y_m: float = 0.0
    known: bool = False
    vx_m_s: float = 0.0
    vy_m_s: float = 0.0
    swings: bool = False


class Legs(msgspec.Struct, frozen=True, gc=False):
    """State of 3.7: both feet."""

    left: Foot = Foot()
    right: Foot = Foot()


class LegSwing:
    """3.7: ``leg.swing`` x {left, right}: a foot moves much faster than its body, as before a kick.

    Reported as soon as it is that fast, not at its peak: it is the earliest sign of a kick. The body's velocity is the
    mean of both feet over a stride. ``detail.speed_m_s`` is relative to it.
    """

    def __init__(self, parameters: SwingParameters | None = None) -> None:
        self.parameters = p = parameters or SwingParameters()
        # Below it no foot is fast enough, as far as bodies run forwards.
        self._slow2 = p.rearm_m_s**2
        self.spec = Spec(
            name="leg_swing",
            number="3.7",
            level=3,
            inputs=("foot.run",),
            outputs=("leg.swing",),
            parameters=msgspec.structs.asdict(p),
            source="ours",
            needs="a transmitter on each foot",
            keyed=True,
            takes_runs=True,
            team_variants={"leg.swing": ("left", "right")},
            details={"leg.swing": ("speed_m_s",)},
        )

    def key(self, event: Event) -> str:
        """The player."""
        return event.source.partition("/")[0]

    def initial(self) -> Legs:
        """No stride yet."""
        return Legs()

    def step(self, state: Legs, event: Event) -> Step[Legs]:
        """Take a run of a foot."""
        run = cast(LimbRun, event.payload)
        return _fold(self._take, state, run.limb == "left_foot", run)

    def _take(self, state: Legs, left: bool, now: LimbState, run: LimbRun) -> Step[Legs]:
        p = self.parameters
        now_us, _, _, _, vx_m_s, vy_m_s = now
        foot = state.left if left else state.right
        if now_us - foot.from_us >= p.mean_us:
            foot = _stride(foot, now)
            state = Legs(foot, state.right) if left else Legs(state.left, foot)
        v2 = vx_m_s * vx_m_s + vy_m_s * vy_m_s
        if (v2 < self._slow2 and not foot.swings) or not (state.left.known and state.right.known):
            return state, NOTHING
        body_x, body_y = (state.left.vx_m_s + state.right.vx_m_s) / 2, (state.left.vy_m_s + state.right.vy_m_s) / 2
        speed_m_s = math.hypot(vx_m_s - body_x, vy_m_s - body_y)
        if foot.swings:
            if speed_m_s >= p.rearm_m_s:
                return state, NOTHING
            foot = msgspec.structs.replace(foot, swings=False)
            return (Legs(foot, state.right) if left else Legs(state.left, foot)), NOTHING
        least_m_s = max(p.speed_m_s, p.stride_factor * math.hypot(body_x, body_y))
        if speed_m_s < least_m_s:
            return state, NOTHING
        what, anchor = "speed of the foot against the body", f"{run.object_id}/{run.limb}:{now_us}"
        note(what, speed_m_s, "at least", least_m_s, "leg_swing.speed_m_s", anchor)
        foot = msgspec.structs.replace(foot, swings=True)
        payload = _payload_at(now, run, "left" if left else "right", speed_m_s=round(speed_m_s, 1))
        payload = msgspec.structs.replace(payload, z_m=round(now[3], 2))
        swing = make_event("leg.swing", now_us, anchor, payload)
        return (Legs(foot, state.right) if left else Legs(state.left, foot)), (swing,)


def _fold(take: Take[S], state: S, left: bool, run: LimbRun) -> Step[S]:
    """The fold of a detector's rule over the positions of a run."""
    out = NOTHING
    for now in run.states:
        state, emitted = take(state, left, now, run)
        if emitted:
            out = (*out, *emitted)
    return state, out


def _payload_at(now: LimbState, run: LimbRun, variant: str = "", **detail: Scalar) -> EventPayload:
    """The payload of a player's event at the position of a limb."""
    return EventPayload(variant, run.team, run.object_id, round(now[1], 2), round(now[2], 2), detail=detail)


def _stride(foot: Foot, now: LimbState) -> Foot:
    """Begin the next stride; the mean velocity is known if the foot was not lost for long."""
    now_us, x_m, y_m, _, _, _ = now
    took_s = (now_us - foot.from_us) * 1e-6
    if took_s > 1.0:
        return Foot(now_us, x_m, y_m)
    return Foot(now_us, x_m, y_m, True, (x_m - foot.x_m) / took_s, (y_m - foot.y_m) / took_s, foot.swings)

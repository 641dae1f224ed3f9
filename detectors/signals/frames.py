"""Level 1: everybody at one instant, and the tick of event time.

Theory of operation
-------------------
Samples arrive in order of event time, bodies before the ball. A frame belongs to the instant T of the samples in
progress. It is complete when every live object has given its sample of T, which on optical input is at the ball of T.
Otherwise the first later sample closes the frame, which is dated back to T (within the horizon, else dropped). Radio
transmitters each keep their own time, so there the later sample always closes it. Frames are at least ``period_us``
apart. An object without a sample at T is extrapolated at its last velocity for ``hold_us``, then left out: it is stale
(hierarchy 1.7). Those who play are told apart from benches and other people (:mod:`detectors.signals.playing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, cast

import msgspec

from detectors.reasons import reason
from detectors.signals.playing import Lineup, PlayingParameters, WhoPlays
from detectors.signals.sampling import ball_sampling, body_sampling
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState, Frame, LastSample, Tick, build_frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Before any event. The first instant of a stream is closed by the second: the objects are not known yet.
_NEVER_US = -(2**62)

_OBJECT_ID = attrgetter("object_id")

#: Corrections of frames are batched for so long (arrival time; ours): packets of limbs arrive every 50 ms, and each
#: corrects the last five frames, which thirty detectors read.
_CORRECTION_BATCH_US = 100_000


class FrameParameters(msgspec.Struct, frozen=True):
    """Rates of frames and ticks.

    Attributes:
        period_us: least time between frames.
        hold_us: how long an object without samples is extrapolated.
        tick_us: time between ticks.
    """

    period_us: Annotated[int, reason("50 Hz at most, less 1 ms for the jitter of clocks")] = 19_000
    hold_us: Annotated[int, reason("hierarchy 1.7")] = 200_000
    tick_us: Annotated[int, reason("ours: a fifth of the shortest wait that ticks serve (1 s)")] = 200_000


class FrameInProgress(msgspec.Struct, frozen=True, gc=False):
    """State: newest sample of each object; the instant in progress and its number of samples; last frame and tick; who
    plays."""

    latest: dict[str, Event] = {}
    instant_us: int = _NEVER_US
    fresh: int = 0
    framed_us: int = _NEVER_US
    tick: int = _NEVER_US
    lineup: Lineup = Lineup()


class FrameFusion:
    """1.8 (ours), covering hold and extrapolation of 1.7: ``frame`` and ``clock.tick``.

    A frame tells those who play from everybody else who is tracked: at most eleven a team, by sheet, substitutions,
    position and movement. Detectors above read those who play only.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: FrameParameters | None = None,
        playing: PlayingParameters | None = None,
    ) -> None:
        self.parameters = parameters or FrameParameters()
        self.who_plays = WhoPlays(sheet, playing)
        periods = ball_sampling(sheet.quality).period_us, body_sampling(sheet.quality).period_us
        self.spec = Spec(
            name="frame_fusion",
            number="1.8",
            level=1,
            inputs=("player.state", "ball.state"),
            outputs=("frame", "clock.tick"),
            internal=("frame", "clock.tick"),
            # One period, and half of one for clocks that shake: an older instant is not worth a frame.
            horizon_us=max(periods) * 3 // 2,
            correction_batch_us=_CORRECTION_BATCH_US,
            parameters={
                **msgspec.structs.asdict(self.parameters),
                **msgspec.structs.asdict(self.who_plays.parameters),
            },
            source="1.7; frames for views and cameras at 50 Hz: ours; who plays: IFAB Law 3, ours",
        )

    def initial(self) -> FrameInProgress:
        """No sample yet."""
        return FrameInProgress()

    def step(self, state: FrameInProgress, event: Event) -> Step[FrameInProgress]:
        """Take a sample of a player or of the ball."""
        return self.step_run(state, (event,))

    def step_run(self, state: FrameInProgress, events: Sequence[Event]) -> Step[FrameInProgress]:
        """Take samples in order: the fold of ``step`` over them, with one copy of the newest samples."""
        out: list[Event] = []
        latest = dict(state.latest)
        instant_us, fresh, framed_us, last_tick = state.instant_us, state.fresh, state.framed_us, state.tick
        lineup = state.lineup
        for event in events:
            ts_us = event.ts_us
            if ts_us > instant_us:
                if fresh and framed_us < instant_us and ts_us - instant_us <= self.spec.horizon_us:
                    latest, framed_us, lineup = self._close(latest, instant_us, framed_us, lineup, out)
                instant_us, fresh = ts_us, 0
            name = "ball" if event.kind == "ball.state" else event.source
            before = latest.get(name)
            latest[name] = event
            if before is None or before.ts_us < ts_us:
                fresh += 1
            if fresh == len(latest) and framed_us > _NEVER_US:
                latest, framed_us, lineup = self._close(latest, instant_us, framed_us, lineup, out)
            tick = ts_us // self.parameters.tick_us
            if tick > last_tick:
                out.append(Event("clock.tick", ts_us, "clock", tick, _tick(latest)))
                last_tick = tick
        return FrameInProgress(latest, instant_us, fresh, framed_us, last_tick, lineup), out or NOTHING

    def _close(
        self, latest: dict[str, Event], instant_us: int, framed_us: int, lineup: Lineup, out: list[Event]
    ) -> tuple[dict[str, Event], int, Lineup]:
        """Emit the frame of ``instant_us`` unless it follows too close; drop stale objects."""
        if instant_us - framed_us < self.parameters.period_us:
            return latest, framed_us, lineup
        oldest_us = instant_us - self.parameters.hold_us
        if min([e.ts_us for e in latest.values()]) < oldest_us:
            latest = {name: e for name, e in latest.items() if e.ts_us >= oldest_us}
        ball, bodies = _states(latest, instant_us)
        lineup = self.who_plays.look(lineup, instant_us, bodies, tuple([body.object_id for body in bodies]))
        frame = frame_of_lineup(ball, bodies, lineup)
        out.append(Event("frame", instant_us, "frame", instant_us, frame))
        return latest, instant_us, lineup


def frame_of_lineup(ball: BallState | None, bodies: tuple[BodyState, ...], lineup: Lineup) -> Frame:
    """The frame of a ball and everybody who is tracked, sorted by object id; ``lineup`` says who plays."""
    resting = lineup.resting
    if not resting:
        return build_frame(ball, bodies)
    players = tuple([body for body in bodies if body.object_id not in resting])
    return build_frame(ball, players, tuple([body for body in bodies if body.object_id in resting]))


def _states(latest: dict[str, Event], instant_us: int) -> tuple[BallState | None, tuple[BodyState, ...]]:
    """The ball, and everybody who is tracked, sorted by object id."""
    ball: BallState | None = None
    players: list[BodyState] = []
    for event in latest.values():
        state, age_us = event.payload, instant_us - event.ts_us
        if isinstance(state, BodyState):
            players.append(state if age_us == 0 else _extrapolate_body(state, age_us))
        else:
            ball = cast(BallState, state)
            ball = ball if age_us == 0 else _extrapolate_ball(ball, age_us)
    players.sort(key=_OBJECT_ID)
    return ball, tuple(players)


def _extrapolate_body(body: BodyState, age_us: int) -> BodyState:
    s = age_us * 1e-6
    return BodyState(
        body.object_id,
        body.team,
        body.limb,
        body.x_m + body.vx_m_s * s,
        body.y_m + body.vy_m_s * s,
        body.z_m,
        body.vx_m_s,
        body.vy_m_s,
        body.quality,
    )


def _extrapolate_ball(ball: BallState, age_us: int) -> BallState:
    """Extrapolate on the level: over 0.2 s a fall matters less than the noise of its start."""
    s = age_us * 1e-6
    x, y = ball.x_m + ball.vx_m_s * s, ball.y_m + ball.vy_m_s * s
    return BallState(x, y, ball.z_m, ball.vx_m_s, ball.vy_m_s, ball.vz_m_s, ball.gap_us, ball.quality, ball.run)


def _tick(latest: dict[str, Event]) -> Tick:
    seen = [LastSample(name, e.ts_us, e.payload.quality) for name, e in latest.items()]  # type: ignore[attr-defined]
    return Tick(tuple(sorted(seen, key=lambda s: s.object_id)))

"""2.5 and 2.7: in which band of height the ball is, and in which class of speed.

Theory of operation
-------------------
A band is left when another one has held for ``hold_us``, so that neither noise nor a ball that only grazes a bound
changes it; the change is dated at its beginning. A dead zone around the bounds would only be late: in two simulated
matches (full and live rate) the hold alone finds more of the true changes, and invents fewer. The usual state,
within its band, costs two comparisons.
"""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from detectors.signals.sampling import Sampling, ball_sampling
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Scalar
from football.pitch import BAR_HEIGHT_M
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

HEIGHTS = ("ground", "low", "head", "high")
SPEEDS = ("roll", "pass", "drive", "rocket")


class Banded(msgspec.Struct, frozen=True, gc=False):
    """State: the band told last (-1: none yet), the one that challenges it (-1: none), and the first state in that."""

    band: int = -1
    other: int = -1
    since: Event | None = None


class _Bands:
    """What both detectors share: names, bounds, and how long a band must hold."""

    def __init__(self, kind: str, names: tuple[str, ...], bounds: tuple[float, ...], hold_us: int) -> None:
        self.kind, self.names, self._bounds, self._hold_us = kind, names, bounds, hold_us
        self.edges = tuple(zip((-math.inf, *bounds), (*bounds, math.inf), strict=True))

    def look(self, state: Banded, event: Event, value: float, horizon_us: int, unit: str) -> Step[Banded]:
        """Judges a value outside its band, or while another band challenges."""
        band = sum(value >= bound for bound in self._bounds)
        if band == state.band:
            return Banded(band), NOTHING
        if state.other != band or state.since is None:
            state = Banded(state.band, band, event)
        assert state.since is not None
        if event.ts_us - state.since.ts_us < self._hold_us:
            return state, NOTHING
        began = state.since
        ball = began.payload
        assert isinstance(ball, BallState)
        detail: dict[str, Scalar] = {unit: round(value, 2)}
        if state.band >= 0:
            detail["was"] = self.names[state.band]
        payload = EventPayload(self.names[band], "", "", ball.x_m, ball.y_m, ball.z_m, detail=detail)
        ts_us = max(began.ts_us, event.ts_us - horizon_us)
        return Banded(band), (make_event(self.kind, ts_us, f"{began.source}:{began.ts_us}", payload),)


def _horizon_us(hold_us: int, sampling: Sampling) -> int:
    """A band is known when it has held; two periods more, so that a sample may be missing."""
    return hold_us + 2 * sampling.period_us


class HeightParameters(msgspec.Struct, frozen=True):
    """``low_m``, ``head_m``: ours, after StatsBomb's ground, low and high passes; ``high_m``: the bar. ``hold_us``:
    hierarchy 2.5."""

    low_m: float = 0.3
    head_m: float = 1.5
    high_m: float = BAR_HEIGHT_M
    hold_us: int = 50_000


class HeightBand:
    """2.5: ``ball.height`` x {ground, low, head, high}: the height of the ball's centre is in another band.

    The first band is told, too. ``detail``: ``was`` (the band before), ``height_m`` when it was known.
    """

    def __init__(self, sheet: MatchSheet, parameters: HeightParameters | None = None) -> None:
        self.parameters = p = parameters or HeightParameters()
        sampling = ball_sampling(sheet.quality)
        self._bands = _Bands("ball.height", HEIGHTS, (p.low_m, p.head_m, p.high_m), p.hold_us)
        self.spec = Spec(
            name="ball_height_band",
            number="2.5",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.height",),
            horizon_us=_horizon_us(p.hold_us, sampling),
            parameters=msgspec.structs.asdict(p),
            source="StatsBomb (pass heights); cut points ours",
            needs="ball height",
            variants={"ball.height": HEIGHTS},
        )

    def initial(self) -> Banded:
        """No ball yet."""
        return Banded()

    def step(self, state: Banded, event: Event) -> Step[Banded]:
        """Compares the height with the band's edges."""
        ball = event.payload
        assert isinstance(ball, BallState)
        z_m = ball.z_m
        if state.other < 0 <= state.band:
            low, high = self._bands.edges[state.band]
            if low <= z_m < high:
                return state, NOTHING
        return self._bands.look(state, event, z_m, self.spec.horizon_us, "height_m")


class SpeedParameters(msgspec.Struct, frozen=True):
    """Ours but ``drive_m_s``, Spearman's mean speed of the ball. ``hold_us``: as of 2.5."""

    pass_m_s: float = 5.0
    drive_m_s: float = 15.0
    rocket_m_s: float = 25.0
    hold_us: int = 50_000


class SpeedClass:
    """2.7: ``ball.speed`` x {roll, pass, drive, rocket}: the ball's speed in space is in another class.

    The first class is told, too. ``detail``: ``was`` (the class before), ``speed_m_s`` when it was known. A state of
    which the velocity is unknown (a run of 1) says nothing.
    """

    def __init__(self, sheet: MatchSheet, parameters: SpeedParameters | None = None) -> None:
        self.parameters = p = parameters or SpeedParameters()
        sampling = ball_sampling(sheet.quality)
        bounds = p.pass_m_s, p.drive_m_s, p.rocket_m_s
        self._bands = _Bands("ball.speed", SPEEDS, bounds, p.hold_us)
        self._edges2 = tuple((max(low, 0.0) ** 2, high**2) for low, high in self._bands.edges)
        self.spec = Spec(
            name="ball_speed_class",
            number="2.7",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.speed",),
            horizon_us=_horizon_us(p.hold_us, sampling),
            parameters=msgspec.structs.asdict(p),
            source="Spearman (15 m/s); classes ours",
            variants={"ball.speed": SPEEDS},
        )

    def initial(self) -> Banded:
        """No ball yet."""
        return Banded()

    def step(self, state: Banded, event: Event) -> Step[Banded]:
        """Compares the speed with the class's edges, squared."""
        ball = event.payload
        assert isinstance(ball, BallState)
        if ball.run < 2:
            return state, NOTHING
        v2 = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s + ball.vz_m_s * ball.vz_m_s
        if state.other < 0 <= state.band:
            low2, high2 = self._edges2[state.band]
            if low2 <= v2 < high2:
                return state, NOTHING
        return self._bands.look(state, event, math.sqrt(v2), self.spec.horizon_us, "speed_m_s")

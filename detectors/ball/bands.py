"""2.5 and 2.7: the band of height that the ball is in, and its class of speed.

Theory of operation
-------------------
A band is left when another one has held for ``hold_us``, so that neither noise nor a ball that only grazes a bound
changes it. The change is dated at its beginning. A dead zone around the bounds would only be late: in two simulated
matches (full and live rate) the hold alone finds more of the true changes, and invents fewer. The usual state,
within its band, costs two comparisons.
"""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.decisions import Sense, at_least, is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.sampling import Sampling, ball_sampling
from football.constants import BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Scalar, ball_of
from football.pitch import BAR_HEIGHT_M
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

HEIGHTS = ("ground", "low", "head", "high")
SPEEDS = ("roll", "pass", "drive", "rocket")


class Banded(msgspec.Struct, frozen=True, gc=False):
    """State: the band reported last (-1: none yet), another one that may follow (-1: none), the first state in that."""

    band: int = -1
    other: int = -1
    since: Event | None = None


class _Bands:
    """The rule that both detectors share.

    Args:
        kind, names: kind and variants of the events.
        group: name of the parameters; those of the bounds between the bands are ``bound_names``.
        bounds: between the bands, ascending.
        hold_us: how long a band must hold.
    """

    def __init__(
        self,
        kind: str,
        names: tuple[str, ...],
        group: str,
        bound_names: tuple[str, ...],
        bounds: tuple[float, ...],
        hold_us: int,
    ) -> None:
        self.kind, self.names, self._bounds, self._hold_us = kind, names, bounds, hold_us
        self._bound_paths, self._hold_path = tuple(f"{group}.{name}" for name in bound_names), f"{group}.hold_us"
        self.edges = tuple(zip((-math.inf, *bounds), (*bounds, math.inf), strict=True))

    def look(self, state: Banded, event: Event, value: float, horizon_us: int, unit: str) -> Step[Banded]:
        """Judge a value outside its band, or while another band may follow."""
        band = sum(value >= bound for bound in self._bounds)
        if band == state.band:
            return Banded(band), NOTHING
        began = state.since if state.other == band and state.since is not None else event
        if not at_least("time that it held", event.ts_us - began.ts_us, self._hold_us, self._hold_path):
            return Banded(state.band, band, began), NOTHING
        if is_recording():
            self._note_bounds(band, value, unit.partition("_m")[0])
        ball = ball_of(began)
        detail: dict[str, Scalar] = {unit: round(value, 2)}
        if state.band >= 0:
            detail["was"] = self.names[state.band]
        payload = EventPayload(self.names[band], "", "", ball.x_m, ball.y_m, ball.z_m, detail=detail)
        ts_us = max(began.ts_us, event.ts_us - horizon_us)
        return Banded(band), (make_event(self.kind, ts_us, f"{began.source}:{began.ts_us}", payload),)

    def _note_bounds(self, band: int, value: float, what: str) -> None:
        """Note how far a value is within its band."""
        for i, sense in ((band - 1, "at least"), (band, "at most")):
            if 0 <= i < len(self._bounds):
                note(what, value, cast(Sense, sense), self._bounds[i], self._bound_paths[i])


def _horizon_us(hold_us: int, sampling: Sampling) -> int:
    """A band is known when it has held; two periods more, so that a sample may be missing."""
    return hold_us + 2 * sampling.period_us


class HeightParameters(msgspec.Struct, frozen=True):
    """Bands of the height of the ball's centre.

    Attributes:
        low_m: bound between ground and low.
        head_m: bound between low and head.
        high_m: bound between head and high.
        hold_us: how long a band must hold.
    """

    low_m: Annotated[float, reason("ours, after StatsBomb's ground passes")] = 0.3
    head_m: Annotated[float, reason("ours, after StatsBomb's low and high passes")] = 1.5
    high_m: Annotated[float, reason("the bar (Law 1)")] = BAR_HEIGHT_M
    hold_us: Annotated[int, reason("hierarchy 2.5")] = 50_000


class HeightBand:
    """2.5: ``ball.height`` x {ground, low, head, high}: the height of the ball's centre is in another band.

    The first band is reported, too. ``detail``: ``was`` (the band before), ``height_m`` when it was known.
    """

    def __init__(self, sheet: MatchSheet, parameters: HeightParameters | None = None) -> None:
        self.parameters = p = parameters or HeightParameters()
        sampling = ball_sampling(sheet.quality)
        self._bands = _Bands(
            "ball.height",
            HEIGHTS,
            "ball_height",
            ("low_m", "head_m", "high_m"),
            (p.low_m, p.head_m, p.high_m),
            p.hold_us,
        )
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
            details={"ball.height": ("height_m", "was")},
        )

    def initial(self) -> Banded:
        """No ball yet."""
        return Banded()

    def step(self, state: Banded, event: Event) -> Step[Banded]:
        """Compare the height with the band's edges."""
        ball = cast(BallState, event.payload)
        z_m = ball.z_m
        if state.other < 0 <= state.band:
            low, high = self._bands.edges[state.band]
            if low <= z_m < high:
                return state, NOTHING
        return self._bands.look(state, event, z_m, self.spec.horizon_us, "height_m")


class SpeedParameters(msgspec.Struct, frozen=True):
    """Classes of the ball's speed in space.

    Attributes:
        pass_m_s: bound between roll and pass.
        drive_m_s: bound between pass and drive.
        rocket_m_s: bound between drive and rocket.
        hold_us: how long a class must hold.
    """

    pass_m_s: Annotated[float, reason("ours")] = 5.0
    drive_m_s: Annotated[float, reason("Spearman's mean speed of the ball")] = 15.0
    rocket_m_s: Annotated[float, reason("ours")] = 25.0
    hold_us: Annotated[int, reason("as of 2.5")] = 50_000


class SpeedClass:
    """2.7: ``ball.speed`` x {roll, pass, drive, rocket}: the ball's speed in space is in another class.

    The first class is reported, too. ``detail``: ``was`` (the class before), ``speed_m_s`` when it was known. A state
    without velocity (a run of 1) is passed over.
    """

    def __init__(self, sheet: MatchSheet, parameters: SpeedParameters | None = None) -> None:
        self.parameters = p = parameters or SpeedParameters()
        sampling = ball_sampling(sheet.quality)
        bounds = p.pass_m_s, p.drive_m_s, p.rocket_m_s
        bound_names = "pass_m_s", "drive_m_s", "rocket_m_s"
        self._bands = _Bands("ball.speed", SPEEDS, "ball_speed", bound_names, bounds, p.hold_us)
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
            details={"ball.speed": ("speed_m_s", "was")},
        )

    def initial(self) -> Banded:
        """No ball yet."""
        return Banded()

    def step(self, state: Banded, event: Event) -> Step[Banded]:
        """Compare the speed with the class's edges, squared."""
        ball = cast(BallState, event.payload)
        if ball.run < 2:
            return state, NOTHING
        v2 = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s + ball.vz_m_s * ball.vz_m_s
        if state.other < 0 <= state.band:
            low2, high2 = self._edges2[state.band]
            if low2 <= v2 < high2:
                return state, NOTHING
        speed_m_s = min(math.sqrt(v2), BALL_SPEED_MAX_M_S)
        return self._bands.look(state, event, speed_m_s, self.spec.horizon_us, "speed_m_s")

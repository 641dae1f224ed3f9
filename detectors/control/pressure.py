"""10.1, 10.2, 10.3: pressure on the holder of the ball, in three published measures.

All three follow the player who has the ball at his feet while it is in play, and begin anew with the next holder.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.control.bands import NO_BAND, Band, follow, note_band, note_hold
from detectors.control.scene import Scene, attacked_end
from detectors.decisions import at_least, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, BodyState, EventPayload, Scalar, payload_as
from football.pitch import Pitch, end_sign, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PressingParameters(msgspec.Struct, frozen=True):
    """Limits of the pressing index.

    Attributes:
        under_per_s: least index of a holder under pressure.
        released_per_s: a holder with a lower index is released.
        nearest_m: least distance of an opponent from the ball that the index counts.
    """

    under_per_s: Annotated[float, reason("StreamTeam's minimum of under pressure.")] = 2.0
    released_per_s: Annotated[float, reason("Ours: a quarter less, against flicker.")] = 1.5
    nearest_m: Annotated[float, reason("Ours: nearer, the index is noise divided by noise.")] = 0.5


class PressedState(msgspec.Struct, frozen=True, gc=False):
    """State: the player under pressure (empty: none), his team, and the begin of it."""

    player: str = ""
    team: Team = ""
    since_us: int = 0


class PressingIndex:
    """10.1: ``press.under`` and ``press.released``: the holder of the ball is under pressure, and no longer.

    The index is the sum over his opponents of the speed at which each and the ball approach each other, divided by
    their distance. ``detail``: ``index_per_s``; of the release also ``lasted_us``, and ``kept`` (true if he still has
    the ball).
    """

    def __init__(self, parameters: PressingParameters | None = None) -> None:
        self.parameters = parameters or PressingParameters()
        self.spec = Spec(
            name="pressing_index",
            number="10.1",
            level=10,
            inputs=("scene",),
            outputs=("press.released", "press.under"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam PressingAnalysis",
            team_variants=dict.fromkeys(("press.released", "press.under"), ("",)),
            details={"press.released": ("index_per_s", "lasted_us", "kept"), "press.under": ("index_per_s",)},
        )

    def initial(self) -> PressedState:
        """No player is under pressure."""
        return PressedState()

    def step(self, state: PressedState, event: Event) -> Step[PressedState]:
        """Measure the pressure on the holder."""
        scene, p = payload_as(event, Scene), self.parameters
        holder = scene.holder if scene.live else ""
        if not holder and not state.player:
            return state, NOTHING
        index = 0.0
        if holder and scene.ball is not None:
            index = pressing_index_per_s(scene.ball, scene.opponents(scene.holder_team), p.nearest_m)
        out: list[Event] = []
        lower = index < p.released_per_s
        if state.player and (state.player != holder or lower):
            if lower:
                note("index", index, "at most", p.released_per_s, "pressing_index.released_per_s", "press.released")
            out.append(_released(state, event, scene, index, kept=state.player == holder))
            state = PressedState()
        what, path, about = "index", "pressing_index.under_per_s", "press.under"
        if holder and not state.player and at_least(what, index, p.under_per_s, path, about):
            detail: dict[str, Scalar] = {"index_per_s": round(index, 2)}
            payload = _at(scene, "", scene.holder_team, holder, detail)
            out.append(make_event("press.under", event.ts_us, f"{holder}:{event.ts_us}", payload))
            state = PressedState(holder, scene.holder_team, event.ts_us)
        return state, out or NOTHING


def pressing_index_per_s(ball: BallState, opponents: tuple[BodyState, ...], nearest_m: float) -> float:
    """StreamTeam's index: sum over opponents of max(0, approach of player and ball) / distance."""
    index = 0.0
    for p in opponents:
        dx, dy = ball.x_m - p.x_m, ball.y_m - p.y_m
        distance_m = max(math.hypot(dx, dy), nearest_m)
        closing_m_s = ((p.vx_m_s - ball.vx_m_s) * dx + (p.vy_m_s - ball.vy_m_s) * dy) / distance_m
        index += max(0.0, closing_m_s) / distance_m
    return index


def _released(state: PressedState, event: Event, scene: Scene, index: float, *, kept: bool) -> Event:
    detail: dict[str, Scalar] = {
        "index_per_s": round(index, 2),
        "lasted_us": event.ts_us - state.since_us,
        "kept": kept,
    }
    payload = _at(scene, "", state.team, state.player, detail)
    return make_event("press.released", event.ts_us, f"{state.player}:{state.since_us}", payload)


def _at(scene: Scene, variant: str, team: Team, player: str, detail: dict[str, Scalar]) -> EventPayload:
    """A payload about a player, with his position if he is on the pitch."""
    body = scene.body(player)
    x_m, y_m = (body.x_m, body.y_m) if body else (None, None)
    return EventPayload(variant, team, player, x_m, y_m, detail=detail)


class PressureParameters(msgspec.Struct, frozen=True):
    """The oval of pressure, and the bands of the sum.

    Attributes:
        back_m: reach of pressure from behind.
        front_m: greatest reach of pressure from the side of the goal.
        front_share: that reach is shorter by this share of the pitch's length less the distance of the goal.
        exponent: exponent q of the pressure of one opponent.
        mid_share: least pressure of the band mid, 1 being an opponent at the same position.
        high_share: least pressure of the band high.
        margin_share: a band is left this far beyond its bound.
        hold_us: a band is published when it has lasted for this long.
    """

    back_m: Annotated[float, reason("Andrienko's oval (2017).")] = 3.0
    front_m: Annotated[float, reason("Andrienko's oval (2017).")] = 9.0
    front_share: Annotated[float, reason("Herold's front (2022).")] = 0.05
    exponent: Annotated[float, reason("Andrienko (2017).")] = 1.75
    mid_share: Annotated[float, reason("Ours.")] = 0.25
    high_share: Annotated[float, reason("Ours.")] = 0.75
    margin_share: Annotated[float, reason("Ours: hysteresis.")] = 0.05
    hold_us: Annotated[int, reason("Ours.")] = 400_000


class PressureState(msgspec.Struct, frozen=True, gc=False):
    """State: the followed player, and the band of the pressure on him."""

    player: str = ""
    band: Band = NO_BAND


class PressureOnPlayer:
    """10.2: ``pressure.band`` x {low, mid, high}: the pressure on the holder of the ball.

    Each opponent presses by (1 - d/L)^q, where d is his distance and L the oval's reach on his side. ``detail``:
    ``pressure`` (the sum, 1 being an opponent at the same position), ``since_us`` (event time of the begin of the
    band).
    """

    BANDS = ("low", "mid", "high")

    def __init__(self, sheet: MatchSheet, parameters: PressureParameters | None = None) -> None:
        self.parameters = parameters or PressureParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="pressure_on_player",
            number="10.2",
            level=10,
            inputs=("scene",),
            outputs=("pressure.band",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Andrienko et al. 2017; Herold et al. 2022; databallpy",
            team_variants={"pressure.band": self.BANDS},
            details={"pressure.band": ("pressure", "since_us")},
        )

    def initial(self) -> PressureState:
        """No player followed."""
        return PressureState()

    def step(self, state: PressureState, event: Event) -> Step[PressureState]:
        """Follow the holder's band; a new holder begins anew."""
        scene, p = payload_as(event, Scene), self.parameters
        sign = scene.sign(scene.holder_team)
        body = scene.body(scene.holder) if scene.holder and scene.live and sign else None
        if body is None:
            return (PressureState() if state.player else state), NOTHING
        band = state.band if state.player == scene.holder else NO_BAND
        pressure = pressure_on(body, scene.opponents(scene.holder_team), self.pitch, sign, p)
        bounds = (p.mid_share, p.high_share)
        after = follow(band, pressure, bounds, p.margin_share, p.hold_us, event.ts_us)
        if after.settled == band.settled:
            return PressureState(scene.holder, after), NOTHING
        paths = "pressure.mid_share", "pressure.high_share"
        note_band(after, "pressure", pressure, bounds, paths, p.margin_share)
        note_hold(after, event.ts_us, p.hold_us, "pressure.hold_us")
        detail: dict[str, Scalar] = {"pressure": round(pressure, 3), "since_us": after.since_us}
        payload = _at(scene, self.BANDS[after.settled], scene.holder_team, scene.holder, detail)
        change = make_event("pressure.band", event.ts_us, f"{scene.holder}:{after.since_us}", payload)
        return PressureState(scene.holder, after), (change,)


def pressure_on(
    player: BodyState, opponents: tuple[BodyState, ...], pitch: Pitch, sign: float, p: PressureParameters
) -> float:
    """Sum of the opponents' pressure on a player who attacks the end of ``sign``."""
    end = attacked_end(sign)
    gx_m, gy_m = end_sign(end) * pitch.half_length_m - player.x_m, -player.y_m
    goal_m = math.hypot(gx_m, gy_m)
    front_m = max(p.back_m, p.front_m - p.front_share * max(0.0, 2.0 * pitch.half_length_m - goal_m))
    total = 0.0
    for o in opponents:
        dx, dy = o.x_m - player.x_m, o.y_m - player.y_m
        distance_m = math.hypot(dx, dy)
        if distance_m >= front_m:
            continue
        scale = distance_m * goal_m
        z = (1.0 + (dx * gx_m + dy * gy_m) / scale) / 2.0 if scale > 0.0 else 1.0
        reach_m = p.back_m + (front_m - p.back_m) * (z**3 + 0.3 * z) / 1.3
        total += max(0.0, 1.0 - distance_m / reach_m) ** p.exponent
    return total


class IntensityParameters(msgspec.Struct, frozen=True):
    """The model of pressing intensity, and the limits of a peak.

    Attributes:
        reaction_s: reaction time of an opponent, for which he keeps his velocity.
        speed_m_s: speed of a running opponent.
        sigma_s: spread of arrival times.
        within_s: an opponent presses if he can arrive within this time (T).
        least_m_s: slower opponents do not press.
        peak_share: least intensity of a peak.
        fall_share: a peak has passed when the intensity has fallen by this much.
    """

    reaction_s: Annotated[float, reason("Bekkers 2024.")] = 0.7
    speed_m_s: Annotated[float, reason("Bekkers 2024.")] = 12.0
    sigma_s: Annotated[float, reason("Bekkers 2024.")] = 0.45
    within_s: Annotated[float, reason("Bekkers 2024.")] = 1.5
    least_m_s: Annotated[float, reason("Bekkers 2024.")] = 2.0
    peak_share: Annotated[float, reason("Ours.")] = 0.6
    fall_share: Annotated[float, reason("Ours.")] = 0.15


_PEAK = "pressing_intensity.peak_share"


class PeakState(msgspec.Struct, frozen=True, gc=False):
    """State of the present holder.

    Attributes:
        player: the holder.
        peak: the highest intensity so far.
        peak_us: its time.
        by: the opponent who pressed most then.
        reported: True once the peak was published.
        low: the lowest intensity since.
    """

    player: str = ""
    peak: float = 0.0
    peak_us: int = 0
    by: str = ""
    reported: bool = False
    low: float = 0.0


class PressingIntensity:
    """10.3: ``intensity.peak``: the pressing of the holder was hardest; ``team`` presses, ``player`` most of it.

    The intensity is the chance that at least one opponent could have been with the holder within 1.5 s. Published when
    it has fallen again or the holder has changed, dated then; the position is the holder's. ``detail``: ``intensity``,
    ``peak_us`` (event time of the peak), ``on`` (the holder).
    """

    def __init__(self, parameters: IntensityParameters | None = None) -> None:
        self.parameters = parameters or IntensityParameters()
        self.spec = Spec(
            name="pressing_intensity",
            number="10.3",
            level=10,
            inputs=("scene",),
            outputs=("intensity.peak",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Bekkers 2024; unravelsports",
            team_variants={"intensity.peak": ("",)},
            details={"intensity.peak": ("intensity", "peak_us", "on")},
        )

    def initial(self) -> PeakState:
        """No player has the ball."""
        return PeakState()

    def step(self, state: PeakState, event: Event) -> Step[PeakState]:
        """Follow the intensity, and publish a peak that has passed."""
        scene, p = payload_as(event, Scene), self.parameters
        holder = scene.holder if scene.live else ""
        if not holder and not state.player:
            return state, NOTHING
        out: list[Event] = []
        if state.player and state.player != holder:
            if not state.reported and at_least("intensity", state.peak, p.peak_share, _PEAK):
                out.append(_peak(state, event, scene))
            state = PeakState()
        body = scene.body(holder) if holder else None
        if body is None:
            return state, out or NOTHING
        value, by = intensity_on(body, scene.opponents(body.team), p)
        if state.reported and value - state.low < p.fall_share:
            return msgspec.structs.replace(state, low=min(value, state.low)), out or NOTHING
        if state.reported or value > state.peak or not state.player:
            return PeakState(holder, value, event.ts_us, by), out or NOTHING
        fallen = state.peak - value
        if at_least("intensity", state.peak, p.peak_share, _PEAK) and at_least(
            "fall of the intensity", fallen, p.fall_share, "pressing_intensity.fall_share"
        ):
            out.append(_peak(state, event, scene))
            state = PeakState(holder, state.peak, state.peak_us, state.by, True, value)
        return state, out or NOTHING


def intensity_on(player: BodyState, opponents: tuple[BodyState, ...], p: IntensityParameters) -> tuple[float, str]:
    """The chance that at least one opponent is with a player in time, and the opponent with the greatest chance."""
    spared, most, by = 1.0, -1.0, ""
    for o in opponents:
        if math.hypot(o.vx_m_s, o.vy_m_s) < p.least_m_s:
            continue
        late_s = time_to_intercept_s(o, player, p) - p.within_s
        chance = 1.0 / (1.0 + math.exp(min(math.pi / math.sqrt(3.0) / p.sigma_s * late_s, 700.0)))
        spared *= 1.0 - chance
        if chance > most:
            most, by = chance, o.object_id
    return 1.0 - spared, by


def time_to_intercept_s(runner: BodyState, other: BodyState, p: IntensityParameters) -> float:
    """Time in seconds in which a runner meets another player: he reacts, turns at the cost of his speed, and runs.

    As in Bekkers' code: the other is expected at his position in one second, and a complete turn costs a second for
    each m/s.
    """
    tx, ty = other.x_m + other.vx_m_s, other.y_m + other.vy_m_s
    speed_m_s = math.hypot(runner.vx_m_s, runner.vy_m_s)
    dx, dy = tx - runner.x_m, ty - runner.y_m
    away_m = math.hypot(dx, dy)
    turn_s = 0.0
    if speed_m_s > 0.0 and away_m > 0.0:
        cosine = (runner.vx_m_s * dx + runner.vy_m_s * dy) / (speed_m_s * away_m)
        turn_s = speed_m_s * math.acos(max(-1.0, min(1.0, cosine))) / math.pi
    rx = tx - runner.x_m - runner.vx_m_s * p.reaction_s
    ry = ty - runner.y_m - runner.vy_m_s * p.reaction_s
    return turn_s + p.reaction_s + math.hypot(rx, ry) / p.speed_m_s


def _peak(state: PeakState, event: Event, scene: Scene) -> Event:
    by = scene.body(state.by)
    held = scene.body(state.player)
    team: Team = by.team if by else ""
    if not team and held:
        team = "away" if held.team == "home" else "home"
    detail: dict[str, Scalar] = {"intensity": round(state.peak, 3), "peak_us": state.peak_us, "on": state.player}
    x_m, y_m = (held.x_m, held.y_m) if held else (None, None)
    payload = EventPayload("", team, state.by, x_m, y_m, detail=detail)
    return make_event("intensity.peak", event.ts_us, f"{state.player}:{state.peak_us}", payload)

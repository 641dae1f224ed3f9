"""10.7, 10.9: pitch control, and passing options of the holder of the ball."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.control.bands import NO_BAND, Band, follow, note_band, note_hold
from detectors.control.scene import Bodies, Scene, keepers_of, outfield
from detectors.control.spearman import (
    SpearmanParameters,
    control_grid,
    load,
    passes_that_succeed,
    players_array,
    zones_of,
)
from detectors.decisions import note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.control_kernel import Floats
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, EventPayload, Scalar, payload_as
from football.pitch import Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Zones of 3.9: six along the pitch, three across, counted from the left end and from +y.
COLUMNS, ROWS = 6, 3
ZONES = tuple(f"zone {number + 1}" for number in range(COLUMNS * ROWS))

#: Points of the grid, along and across: hierarchy 10.7.
GRID = (50, 32)


class ControlParameters(msgspec.Struct, frozen=True):
    """Limits of pitch control.

    Attributes:
        every_us: time between two samples.
        owner_share: a zone belongs to a team whose mean control of it is more than this.
        model: numbers of Spearman's model.
    """

    every_us: Annotated[
        int,
        reason(
            "A zone is 17.5 m long, and a player crosses it in 3.5 s at Spearman's 5 m/s: its mean control does not "
            "change twice between two samples. A sample costs 1 ms."
        ),
    ] = 1_000_000
    owner_share: Annotated[float, reason("Hierarchy 10.7.")] = 0.6
    model: SpearmanParameters = SpearmanParameters()


class ControlState(msgspec.Struct, frozen=True, gc=False):
    """State: the owner of each zone (``h``, ``a``, or ``-`` before the first), the attackers, the next sample's
    time."""

    owners: str = "-" * len(ZONES)
    attackers: Team = ""
    due_us: int = -(2**62)


class PitchControl:
    """10.7: ``control.shift`` x 18 zones: the control of a zone has changed to ``team``.

    Sampled while the ball is in play; the position is the middle of the zone. ``detail``: ``control`` (mean chance of
    control of that team in the zone).
    """

    def __init__(self, sheet: MatchSheet, parameters: ControlParameters | None = None) -> None:
        self.parameters = parameters or ControlParameters()
        load()
        self.pitch = pitch_of(sheet)
        self._keepers = keepers_of(sheet)
        self._x_m, self._y_m, self._zone = _cells(self.pitch)
        self._zones = zones_of(self._zone)
        self._size = np.bincount(self._zone.ravel(), minlength=len(ZONES))
        self.spec = Spec(
            name="pitch_control",
            number="10.7",
            level=10,
            inputs=("scene",),
            outputs=("control.shift",),
            parameters=msgspec.to_builtins(self.parameters),
            source="Spearman 2018; LaurieOnTracking",
            variants={"control.shift": ZONES},
            details={"control.shift": ("control",)},
        )

    def initial(self) -> ControlState:
        """No zone has an owner."""
        return ControlState()

    def step(self, state: ControlState, event: Event) -> Step[ControlState]:
        """Sample the zones when it is due, with two teams and a ball in play."""
        scene, every_us = payload_as(event, Scene), self.parameters.every_us
        attackers = scene.holder_team or state.attackers
        if event.ts_us < state.due_us or not scene.live or not scene.attacks_x:
            return state, NOTHING
        ball = scene.ball
        if ball is None or not scene.home or not scene.away or not attackers:
            return state, NOTHING
        control = self._control_of_home(scene, ball, attackers, state.owners)
        # The mean of a zone is NaN if not every point was evaluated: such a zone keeps its owner.
        mean = np.bincount(self._zone.ravel(), control.ravel(), len(ZONES)) / self._size
        owners, out = list(state.owners), []
        for number, share in enumerate(mean.tolist()):
            owner = self._owner(share, owners[number])
            if owner != owners[number]:
                if owners[number] != "-":
                    out.append(self._shift(event, number, owner, share))
                owners[number] = owner
        due_us = event.ts_us // every_us * every_us + every_us
        return ControlState("".join(owners), attackers, due_us), out or NOTHING

    def _control_of_home(self, scene: Scene, ball: BallState, attackers: Team, owners: str) -> Floats:
        model = self.parameters.model
        defenders: Team = "away" if attackers == "home" else "home"
        keeper, _ = outfield(scene.team(defenders), scene.sign(defenders), self._keepers)
        own = players_array(scene.team(attackers), "", model)
        other = players_array(scene.team(defenders), keeper.object_id if keeper else "", model)
        sign = {"-": 0, "h": 1 if attackers == "home" else -1, "a": 1 if attackers == "away" else -1}
        held = self._zones, np.array([sign[owner] for owner in owners]), 1.0 - self.parameters.owner_share
        grid = control_grid(self._x_m, self._y_m, (ball.x_m, ball.y_m), own, other, model, held)
        return grid if attackers == "home" else 1.0 - grid

    def _owner(self, home: float, before: str) -> str:
        least = self.parameters.owner_share
        return "h" if home > least else "a" if 1.0 - home > least else before

    def _shift(self, event: Event, number: int, owner: str, home: float) -> Event:
        team: Team = "home" if owner == "h" else "away"
        column, row = divmod(number, ROWS)
        x_m = (column + 0.5) * 2.0 * self.pitch.half_length_m / COLUMNS - self.pitch.half_length_m
        y_m = self.pitch.half_width_m - (row + 0.5) * 2.0 * self.pitch.half_width_m / ROWS
        share, least = home if owner == "h" else 1.0 - home, self.parameters.owner_share
        note("share of the zone", share, "at least", least, "pitch_control.owner_share", ZONES[number])
        detail: dict[str, Scalar] = {"control": round(share, 3)}
        payload = EventPayload(ZONES[number], team, "", x_m, y_m, detail=detail)
        return make_event("control.shift", event.ts_us, f"{ZONES[number]}:{event.ts_us}", payload)


def _cells(pitch: Pitch) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    """Positions of the grid along and across, and the zone of each of its points."""
    along, across = GRID
    x_m = (np.arange(along, dtype=np.float64) + 0.5) * (2.0 * pitch.half_length_m / along) - pitch.half_length_m
    y_m = (np.arange(across, dtype=np.float64) + 0.5) * (2.0 * pitch.half_width_m / across) - pitch.half_width_m
    column = np.minimum((x_m + pitch.half_length_m) / (2.0 * pitch.half_length_m) * COLUMNS, COLUMNS - 1).astype(
        np.intp
    )
    row = np.minimum((pitch.half_width_m - y_m) / (2.0 * pitch.half_width_m) * ROWS, ROWS - 1).astype(np.intp)
    zone: npt.NDArray[np.intp] = column[None, :] * ROWS + row[:, None]
    return x_m, y_m, zone


class OptionParameters(msgspec.Struct, frozen=True):
    """Limits of passing options.

    Attributes:
        least_share: a mate is an option if a pass to him succeeds with this chance.
        some: least number of options of the band 1-2.
        many: least number of options of the band 3+.
        hold_us: a band is published when it has lasted for this long.
        every_us: time between two samples.
        model: numbers of Spearman's model.
    """

    least_share: Annotated[float, reason("Hierarchy 10.9.")] = 0.7
    some: Annotated[int, reason("Hierarchy 10.9.")] = 1
    many: Annotated[int, reason("Hierarchy 10.9.")] = 3
    hold_us: Annotated[int, reason("Ours: an option of less time is of no use.")] = 600_000
    every_us: Annotated[int, reason("Ours.")] = 200_000
    model: SpearmanParameters = SpearmanParameters()


class OptionState(msgspec.Struct, frozen=True, gc=False):
    """State: the followed player, the band of his options, the time of the next sample."""

    player: str = ""
    band: Band = NO_BAND
    due_us: int = -(2**62)


class PassingOptions:
    """10.9: ``options`` x {0, 1-2, 3+}: the number of mates to whom the holder of the ball can pass.

    A pass goes along the ground to the mate's position at its arrival; the position of the event is the ball's.
    ``detail``: ``options`` (the number), ``since_us`` (event time of the begin of the band).
    """

    BANDS = ("0", "1-2", "3+")

    def __init__(self, sheet: MatchSheet, parameters: OptionParameters | None = None) -> None:
        self.parameters = parameters or OptionParameters()
        load()
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="passing_options",
            number="10.9",
            level=10,
            inputs=("scene",),
            outputs=("options",),
            parameters=msgspec.to_builtins(self.parameters),
            source="Spearman 2017; accessible-space",
            team_variants={"options": self.BANDS},
            details={"options": ("options", "since_us")},
        )

    def initial(self) -> OptionState:
        """No player has the ball."""
        return OptionState()

    def step(self, state: OptionState, event: Event) -> Step[OptionState]:
        """Count the options of the holder; a new holder begins anew."""
        scene, p = payload_as(event, Scene), self.parameters
        holder = scene.holder if scene.live else ""
        if not holder or scene.ball is None:
            return (OptionState() if state.player else state), NOTHING
        if holder == state.player and event.ts_us < state.due_us:
            return state, NOTHING
        count = self._count(scene, scene.ball)
        band = state.band if state.player == holder else NO_BAND
        bounds = float(p.some), float(p.many)
        after = follow(band, float(count), bounds, 0.0, p.hold_us, event.ts_us)
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        if after.settled == band.settled:
            return OptionState(holder, after, due_us), NOTHING
        note_band(after, "options", float(count), bounds, ("passing_options.some", "passing_options.many"))
        note_hold(after, event.ts_us, p.hold_us, "passing_options.hold_us")
        detail: dict[str, Scalar] = {"options": count, "since_us": after.since_us}
        x_m, y_m = scene.ball.x_m, scene.ball.y_m
        payload = EventPayload(self.BANDS[after.settled], scene.holder_team, holder, x_m, y_m, detail=detail)
        change = make_event("options", event.ts_us, f"{holder}:{after.since_us}", payload)
        return OptionState(holder, after, due_us), (change,)

    def _count(self, scene: Scene, ball: BallState) -> int:
        """Number of mates to whom a pass succeeds."""
        model, team = self.parameters.model, scene.holder_team
        mates: Bodies = tuple([b for b in scene.team(team) if b.object_id != scene.holder])
        opponents = scene.opponents(team)
        sign = -scene.sign(team)
        keeper = outfield(opponents, sign, self._keepers)[0] if sign else None
        own = players_array(mates, "", model)
        other = players_array(opponents, keeper.object_id if keeper else "", model)
        return passes_that_succeed((ball.x_m, ball.y_m), own, other, self.parameters.least_share, model)

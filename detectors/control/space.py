"""10.7, 10.9: who controls the pitch, and how many mates the holder of the ball can play to."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.control.bands import NO_BAND, Band, follow
from detectors.control.scene import Bodies, Scene, keepers_of, outfield
from detectors.control.spearman import (
    Floats,
    SpearmanParameters,
    control_grid,
    load,
    passes_that_succeed,
    players_array,
    zones_of,
)
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_as
from football.pitch import Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Zones of 3.9: six along the pitch, three across, counted from the left end and from +y.
COLUMNS, ROWS = 6, 3
ZONES = tuple(f"zone {number + 1}" for number in range(COLUMNS * ROWS))

#: Points of the grid, along and across: hierarchy 10.7.
GRID = (50, 32)


class ControlParameters(msgspec.Struct, frozen=True):
    """How pitch control is looked at.

    Attributes:
        every_us: time between two looks. A zone is 17.5 m long, and a player crosses it in 3.5 s at Spearman's
            5 m/s: its mean control does not go over and back between two looks. A look costs 1 ms.
        owner_share: a zone is a team's when its mean control is more than this (hierarchy 10.7).
        model: Spearman's numbers.
    """

    every_us: int = 1_000_000
    owner_share: float = 0.6
    model: SpearmanParameters = SpearmanParameters()


class ControlState(msgspec.Struct, frozen=True, gc=False):
    """Of each zone its owner (``h``, ``a``, or ``-`` before the first), who has the ball, and when to look again."""

    owners: str = "-" * len(ZONES)
    attackers: Team = ""
    due_us: int = -(2**62)


class PitchControl:
    """10.7: ``control.shift`` x 18 zones: a zone has gone from one team to the other; ``team`` has it now.

    ``detail.control`` is its mean chance of control there. Looked at while the ball is in play.
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
        )

    def initial(self) -> ControlState:
        """No zone is anybody's."""
        return ControlState()

    def step(self, state: ControlState, event: Event) -> Step[ControlState]:
        """Looks at the zones when it is time and there are two teams and a ball in play."""
        scene, every_us = payload_as(event, Scene), self.parameters.every_us
        attackers = scene.holder_team or state.attackers
        if event.ts_us < state.due_us or not scene.live or not scene.attacks_x:
            return state, NOTHING
        if scene.ball is None or not scene.home or not scene.away or not attackers:
            return state, NOTHING
        control = self._control_of_home(scene, attackers, state.owners)
        # A zone of which not every point was looked at stays whose it is: its mean is NaN.
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

    def _control_of_home(self, scene: Scene, attackers: Team, owners: str) -> Floats:
        assert scene.ball is not None
        model = self.parameters.model
        defenders: Team = "away" if attackers == "home" else "home"
        keeper, _ = outfield(scene.team(defenders), scene.sign(defenders), self._keepers)
        own = players_array(scene.team(attackers), "", model)
        other = players_array(scene.team(defenders), keeper.object_id if keeper else "", model)
        sign = {"-": 0, "h": 1 if attackers == "home" else -1, "a": 1 if attackers == "away" else -1}
        held = self._zones, np.array([sign[owner] for owner in owners]), 1.0 - self.parameters.owner_share
        grid = control_grid(self._x_m, self._y_m, (scene.ball.x_m, scene.ball.y_m), own, other, model, held)
        return grid if attackers == "home" else 1.0 - grid

    def _owner(self, home: float, before: str) -> str:
        least = self.parameters.owner_share
        return "h" if home > least else "a" if 1.0 - home > least else before

    def _shift(self, event: Event, number: int, owner: str, home: float) -> Event:
        team: Team = "home" if owner == "h" else "away"
        column, row = divmod(number, ROWS)
        x_m = (column + 0.5) * 2.0 * self.pitch.half_length_m / COLUMNS - self.pitch.half_length_m
        y_m = self.pitch.half_width_m - (row + 0.5) * 2.0 * self.pitch.half_width_m / ROWS
        detail: dict[str, Scalar] = {"control": round(home if owner == "h" else 1.0 - home, 3)}
        payload = EventPayload(ZONES[number], team, "", x_m, y_m, detail=detail)
        return make_event("control.shift", event.ts_us, f"{ZONES[number]}:{event.ts_us}", payload)


def _cells(pitch: Pitch) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    """Places of the grid along and across, and the zone of each of its points."""
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
    """What an option is.

    Attributes:
        least_share: a mate is an option when a pass to him succeeds with this chance (hierarchy 10.9).
        some, many: from so many options on the band is 1-2, and 3+.
        hold_us: a band is told when it was kept for so long (ours: shorter, nobody could use it).
        every_us: time between two looks (ours).
        model: Spearman's numbers.
    """

    least_share: float = 0.7
    some: int = 1
    many: int = 3
    hold_us: int = 600_000
    every_us: int = 200_000
    model: SpearmanParameters = SpearmanParameters()


class OptionState(msgspec.Struct, frozen=True, gc=False):
    """Whose options are followed, their band, and when to look again."""

    player: str = ""
    band: Band = NO_BAND
    due_us: int = -(2**62)


class PassingOptions:
    """10.9: ``options`` x {0, 1-2, 3+}: how many mates the holder of the ball can play to.

    ``detail.options``; a pass goes along the ground to where the mate stands when the ball comes.
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
        )

    def initial(self) -> OptionState:
        """Nobody has the ball."""
        return OptionState()

    def step(self, state: OptionState, event: Event) -> Step[OptionState]:
        """Counts the options of who has the ball; a new holder begins anew."""
        scene, p = payload_as(event, Scene), self.parameters
        holder = scene.holder if scene.live else ""
        if not holder or scene.ball is None:
            return (OptionState() if state.player else state), NOTHING
        if holder == state.player and event.ts_us < state.due_us:
            return state, NOTHING
        count = self._count(scene)
        band = state.band if state.player == holder else NO_BAND
        after = follow(band, float(count), (float(p.some), float(p.many)), 0.0, p.hold_us, event.ts_us)
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        if after.told == band.told:
            return OptionState(holder, after, due_us), NOTHING
        detail: dict[str, Scalar] = {"options": count, "since_us": after.since_us}
        x_m, y_m = scene.ball.x_m, scene.ball.y_m
        payload = EventPayload(self.BANDS[after.told], scene.holder_team, holder, x_m, y_m, detail=detail)
        told = make_event("options", event.ts_us, f"{holder}:{after.since_us}", payload)
        return OptionState(holder, after, due_us), (told,)

    def _count(self, scene: Scene) -> int:
        assert scene.ball is not None
        model, team = self.parameters.model, scene.holder_team
        mates: Bodies = tuple([b for b in scene.team(team) if b.object_id != scene.holder])
        opponents = scene.opponents(team)
        sign = -scene.sign(team)
        keeper = outfield(opponents, sign, self._keepers)[0] if sign else None
        own = players_array(mates, "", model)
        other = players_array(opponents, keeper.object_id if keeper else "", model)
        return passes_that_succeed((scene.ball.x_m, scene.ball.y_m), own, other, self.parameters.least_share, model)

"""13.4: two players of a team exchange their roles in its formation.

Theory of operation
-------------------
Once a formation (12.13) is published, each block of ``block_us`` of live play gives the ten players' mean places, and
the assignment to the formation's places with the least cost. The first block's assignment is the roles. If in later
blocks exactly two players stand better in each other's place, by ``gain_share`` of the cost or more and for
``hold_blocks`` blocks in a row, they have swapped, and their new roles count from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
import numpy as np

from detectors.chains.formations import OUTFIELD, Sums, assigned, scaled, template
from detectors.control.scene import Scene, keepers_of, outfield
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import TEAMS, MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_as, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class RoleSwapParameters(msgspec.Struct, frozen=True):
    """Looks and blocks of swapped roles.

    Attributes:
        look_us: time between two looks.
        block_us: live play of a block.
        hold_blocks: the players must have swapped at so many blocks in a row.
        gain_share: least share of the cost of the roles so far that the swap saves.
    """

    look_us: Annotated[int, reason("As that of formations.")] = 1_000_000
    block_us: Annotated[int, reason("Hierarchy 13.4: a swap lasts for 20 s.")] = 20_000_000
    hold_blocks: Annotated[int, reason("Ours: in one block of 20 s neighbours pass each other by chance.")] = 3
    gain_share: Annotated[float, reason("Ours: half of the distance from the places is due to the two.")] = 0.5


class Roles(msgspec.Struct, frozen=True, gc=False):
    """A team: its formation; place of each player; looks and sums of the block; who has swapped, since when, and for
    how many blocks; when the block began."""

    shape: str = ""
    places: Mapping[str, int] = {}
    looks: int = 0
    sums: Mapping[str, Sums] = {}
    pair: tuple[str, ...] = ()
    since_us: int = 0
    held: int = 0
    begin_us: int = 0


class RoleSwapState(msgspec.Struct, frozen=True, gc=False):
    """State: both teams; the time from which on the next look is due."""

    home: Roles = Roles()
    away: Roles = Roles()
    due_us: int = -(2**62)


class RoleSwap:
    """13.4: ``role.swapped`` x team: two players have exchanged their places in the formation.

    ``player`` is the one of the two with the smaller object id. It is shown from when the first block of the exchange
    began, and published after a minute of live play. ``detail``: ``since_us``, ``mate``, ``formation``.
    """

    def __init__(self, sheet: MatchSheet, parameters: RoleSwapParameters | None = None) -> None:
        self.parameters = parameters or RoleSwapParameters()
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="role_swap",
            number="13.4",
            level=13,
            inputs=("scene", "formation"),
            outputs=("role.swapped",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="EFPI (assignment to places); numbers ours",
            needs="eleven players of a team; without, it has no formation",
            amends=("role.swapped",),
            team_variants={"role.swapped": ("",)},
            details={"role.swapped": ("since_us", "mate", "formation")},
            known={"role.swapped": Known("when it has held for a minute of play")},
        )

    def initial(self) -> RoleSwapState:
        """No formation."""
        return RoleSwapState()

    def step(self, state: RoleSwapState, event: Event) -> Step[RoleSwapState]:
        """Begin anew at a formation; look at both teams once a second of live play."""
        if event.kind == "formation":
            shaped = payload_of(event)
            new = {shaped.team: Roles(shaped.variant, begin_us=event.ts_us)}
            return msgspec.structs.replace(state, **new), NOTHING
        if event.ts_us < state.due_us:
            return state, NOTHING
        scene, look_us = payload_as(event, Scene), self.parameters.look_us
        state = msgspec.structs.replace(state, due_us=event.ts_us // look_us * look_us + look_us)
        if not scene.live or not scene.attacks_x:
            return state, NOTHING
        out: list[Event] = []
        for team in TEAMS:
            roles: Roles = getattr(state, team)
            if roles.shape:
                after, found = self._look(roles, scene, team, event)
                state = msgspec.structs.replace(state, **{team: after})
                out += found
        return state, out or NOTHING

    def _look(self, roles: Roles, scene: Scene, team: Team, event: Event) -> tuple[Roles, tuple[Event, ...]]:
        sign = scene.sign(team)
        players = outfield(scene.team(team), sign, self._keepers)[1]
        if len(players) != OUTFIELD:
            return roles, NOTHING
        middle_x, middle_y = (sum(values) / OUTFIELD for values in zip(*((b.x_m, b.y_m) for b in players), strict=True))
        sums = dict(roles.sums)
        for body in players:
            looks, u, w = sums.get(body.object_id, (0, 0.0, 0.0))
            sums[body.object_id] = looks + 1, u + sign * (body.x_m - middle_x), w + sign * (body.y_m - middle_y)
        looked = roles.looks + 1
        if looked < self.parameters.block_us // self.parameters.look_us:
            return msgspec.structs.replace(roles, looks=looked, sums=sums), NOTHING
        judged, out = self._judge(roles, sums, team, event)
        return msgspec.structs.replace(judged, looks=0, sums={}, begin_us=event.ts_us), out

    def _judge(
        self, roles: Roles, sums: Mapping[str, Sums], team: Team, event: Event
    ) -> tuple[Roles, tuple[Event, ...]]:
        """Compare the assignment of a block with the roles so far."""
        names = sorted(sums)
        if len(names) != OUTFIELD:
            # A substitution: the new player's role is not known.
            return Roles(roles.shape), NOTHING
        means = scaled(np.array([(u / looks, w / looks) for looks, u, w in (sums[name] for name in names)]))
        squares = np.sum((means[:, None] - template(roles.shape)[None]) ** 2, axis=2)
        places = dict(zip(names, assigned(squares), strict=True))
        if roles.places.keys() != places.keys():
            return Roles(roles.shape, places), NOTHING
        moved = tuple(name for name in names if places[name] != roles.places[name])
        p = self.parameters
        before, after = (
            float(sum(squares[i, chosen[name]] for i, name in enumerate(names))) for chosen in (roles.places, places)
        )
        what, path = "share of the cost that the swap saves", "role_swap.gain_share"
        if len(moved) != 2 or not at_least(what, 1.0 - after / max(before, 1e-9), p.gain_share, path, moved[0]):
            return Roles(roles.shape, roles.places), NOTHING
        same = moved == roles.pair
        held, since_us = (roles.held + 1, roles.since_us) if same else (1, roles.begin_us)
        if not at_least("blocks in a row", held, p.hold_blocks, "role_swap.hold_blocks", moved[0]):
            return Roles(roles.shape, roles.places, pair=moved, since_us=since_us, held=held), NOTHING
        detail: dict[str, Scalar] = {"since_us": since_us, "mate": moved[1], "formation": roles.shape}
        payload = EventPayload("", team, moved[0], detail=detail)
        anchor = f"{moved[0]}:{moved[1]}:{since_us}"
        swapped = make_event("role.swapped", event.ts_us, anchor, payload, dated_us=since_us)
        return Roles(roles.shape, places), (swapped,)

"""13.6: momentum: which team has had the better of the last minutes, and when that turns."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.emission import is_version, make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, number, payload_of
from football.pitch import End, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class MomentumParameters(msgspec.Struct, frozen=True):
    """Weights of what counts, and limits of a shift.

    Attributes:
        fade_us: time in which what happened loses its weight (to 1/e).
        progress_share: weight of a progressive pass or carry; that of a shot is its value.
        touch_share: weight of a gain in the opponents' penalty area.
        least_share: least weighted difference of the teams.
        hold_us: a shift is published when the difference has had its sign for this long.
    """

    fade_us: Annotated[int, reason("Hierarchy 13.6, ours.")] = 180_000_000
    progress_share: Annotated[float, reason("Ours: a tenth of a big chance is five of them.")] = 0.02
    touch_share: Annotated[float, reason("Ours: about every 20th possession in the area is a goal.")] = 0.05
    least_share: Annotated[float, reason("Ours: one touch in the area.")] = 0.05
    hold_us: Annotated[int, reason("Hierarchy 13.6, ours.")] = 60_000_000


class MomentumState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; home's weighted lead, and of when; the team with the momentum that was
    published; the team that leads now, and since when."""

    attacks: Team = ""
    lead: float = 0.0
    at_us: int = 0
    shown: Team = ""
    leads: Team = ""
    since_us: int = 0


class Momentum:
    """13.6: ``momentum.shift`` x team: the balance of chances, progress and touches in the area has turned to a team.

    The balance sums values of shots (8.10), progressive passes and carries (8.7), and gains in the opponents' penalty
    area, each fading over three minutes, home less away. Published when its sign has held for a minute. ``detail``:
    ``since_us`` (when it turned), ``lead`` (the balance, in goals expected, for that team).
    """

    def __init__(self, sheet: MatchSheet, parameters: MomentumParameters | None = None) -> None:
        self.parameters = parameters or MomentumParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="momentum",
            number="13.6",
            level=13,
            inputs=("direction", "possession.gain", "shot.xg", "progress.pass", "progress.carry", "clock.minute"),
            outputs=("momentum.shift",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"momentum.shift": ("",)},
            details={"momentum.shift": ("since_us", "lead")},
        )

    def initial(self) -> MomentumState:
        """Level."""
        return MomentumState()

    def step(self, state: MomentumState, event: Event) -> Step[MomentumState]:
        """Weigh what happened, and look whose balance it is."""
        payload, p = payload_of(event), self.parameters
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        gained = self._weight(state, event, payload)
        if not gained and event.kind == "possession.gain":
            return state, NOTHING
        sign = 1.0 if payload.team == "home" else -1.0
        lead = state.lead * math.exp((state.at_us - event.ts_us) / p.fade_us) + sign * gained
        leads: Team = "" if abs(lead) < p.least_share else "home" if lead > 0.0 else "away"
        if leads in ("", state.shown):
            return MomentumState(state.attacks, lead, event.ts_us, state.shown), NOTHING
        since_us = state.since_us if leads == state.leads else event.ts_us
        after = MomentumState(state.attacks, lead, event.ts_us, state.shown, leads, since_us)
        what, path = "time that it held", "momentum.hold_us"
        if not at_least(what, event.ts_us - since_us, p.hold_us, path):
            return after, NOTHING
        at_least("lead", abs(lead), p.least_share, "momentum.least_share")
        shift = EventPayload("", leads, detail={"since_us": since_us, "lead": round(abs(lead), 3)})
        out = make_event("momentum.shift", event.ts_us, f"{leads}:{since_us}", shift, causes=(event.id,))
        return msgspec.structs.replace(after, shown=leads), (out,)

    def _weight(self, state: MomentumState, event: Event, payload: EventPayload) -> float:
        if event.annuls or (event.kind == "shot.xg" and is_version(event)):
            return 0.0
        if event.kind == "shot.xg":
            return number(payload, "xg")
        if event.kind.startswith("progress."):
            return self.parameters.progress_share
        if event.kind == "clock.minute" or not state.attacks or payload.x_m is None or payload.y_m is None:
            return 0.0
        end: End = "right" if payload.team == state.attacks else "left"
        return self.parameters.touch_share if self.pitch.in_penalty_area(payload.x_m, payload.y_m, end) else 0.0

"""14.4 and 14.7: statistics of passes, and the network of who passes to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.statistics.tallies import Tally, count, percent, plus, statistic
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, number, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

OUTCOMES = ("pass.complete", "pass.intercepted", "pass.out")
DIRECTIONS = ("forward", "backward", "left", "right")
#: Thirds of the pitch as the passer sees them, where he kicks.
THIRDS = ("own", "middle", "final")


class PassSums(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; counters by team, or player, and name; the newest pass with a direction."""

    attacks: Team = ""
    sums: Tally = {}
    directed: str = ""


class PassStatistics:
    """14.4: ``stat.pass`` x {rate, direction, packing} x team: how many passes, how many arrive, where they lead.

    ``rate`` follows each outcome of a pass (7.6), once for the team and once for the passer. Its ``detail``:
    ``passes``, ``complete``, ``percent`` (of those), and both by the third of the kick: ``own_passes``,
    ``own_complete``, ``middle_passes``, ``middle_complete``, ``final_passes``, ``final_complete``. ``direction``
    follows 8.1: ``forward``, ``backward``, ``left``, ``right`` (passes of the team). ``packing`` follows 8.8:
    ``passes`` (completed), ``opponents`` (left behind, in sum), ``per_pass``.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self._third_m = pitch_of(sheet).half_length_m / 3
        thirds = tuple(f"{third}_{what}" for third in THIRDS for what in ("passes", "complete"))
        self.spec = Spec(
            name="pass_statistics",
            number="14.4",
            level=14,
            inputs=("direction", *OUTCOMES, "pass.dir", "packing"),
            outputs=("stat.pass",),
            source="StreamTeam (pass statistics); thirds ours",
            team_variants={"stat.pass": ("rate", "direction", "packing")},
            details={"stat.pass": ("passes", "complete", "percent", *thirds, *DIRECTIONS, "opponents", "per_pass")},
        )

    def initial(self) -> PassSums:
        """No pass."""
        return PassSums()

    def step(self, state: PassSums, event: Event) -> Step[PassSums]:
        """Count a pass, or what is known of it."""
        payload = payload_of(event)
        team = payload.team
        if event.kind == "direction":
            return PassSums(team, state.sums, state.directed), NOTHING
        if event.annuls or not team:
            return state, NOTHING
        if event.kind == "pass.dir":
            if not payload.detail["final"] or event.id == state.directed:
                return state, NOTHING
            sums = plus(state.sums, f"{team}/{payload.variant}")
            by_direction: dict[str, Scalar] = {name: count(sums, f"{team}/{name}") for name in DIRECTIONS}
            out = statistic("stat.pass", event, team, by_direction, "direction")
            return PassSums(state.attacks, sums, event.id), (out,)
        if event.kind == "packing":
            sums = plus(state.sums, f"{team}/packed")
            sums = plus(sums, f"{team}/opponents", by=number(payload, "opponents"))
            passes, opponents = count(sums, f"{team}/packed"), count(sums, f"{team}/opponents")
            detail: dict[str, Scalar] = {
                "passes": passes, "opponents": opponents, "per_pass": round(opponents / passes, 2),
            }  # fmt: skip
            return PassSums(state.attacks, sums, state.directed), (
                statistic("stat.pass", event, team, detail, "packing"),
            )
        return self._outcome(state, event, payload)

    def _outcome(self, state: PassSums, event: Event, payload: EventPayload) -> Step[PassSums]:
        third = self._third(state.attacks, payload)
        what = ("passes", "complete") if event.kind == "pass.complete" else ("passes",)
        keys = [key for key in (payload.team, payload.player) if key]
        names = [f"{key}/{prefix}{name}" for key in keys for name in what for prefix in ("", third and f"{third}_")]
        sums = plus(state.sums, *dict.fromkeys(names))
        out = [statistic("stat.pass", event, payload.team, _rate(sums, payload.team), "rate")]
        if payload.player:
            rate = _rate(sums, payload.player)
            out.append(statistic("stat.pass", event, payload.team, rate, "rate", payload.player))
        return PassSums(state.attacks, sums, state.directed), out

    def _third(self, attacks: Team, payload: EventPayload) -> str:
        """The third of a kick; empty if unknown."""
        x_m = payload.detail.get("start_x_m")
        if not attacks or not isinstance(x_m, int | float):
            return ""
        upfield_m = x_m if payload.team == attacks else -x_m
        return THIRDS[0 if upfield_m < -self._third_m else 2 if upfield_m > self._third_m else 1]


def _rate(sums: Tally, key: str) -> dict[str, Scalar]:
    passes, complete = count(sums, f"{key}/passes"), count(sums, f"{key}/complete")
    detail: dict[str, Scalar] = {"passes": passes, "complete": complete, "percent": percent(complete, passes)}
    for third in THIRDS:
        for what in ("passes", "complete"):
            detail[f"{third}_{what}"] = count(sums, f"{key}/{third}_{what}")
    return detail


class NetworkParameters(msgspec.Struct, frozen=True):
    """Window of the pass network.

    Attributes:
        recent_us: passes of this last time count as recent.
    """

    recent_us: Annotated[int, reason("Hierarchy 14.7: 5 minutes, beside the match.")] = 300_000_000


class Edge(msgspec.Struct, frozen=True, gc=False):
    """Passes from one player to another: number, sums of places of kick and reception, times of the recent ones."""

    passes: int = 0
    sums_m: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    recent_us: tuple[int, ...] = ()


class PassNetwork:
    """14.7: ``stat.network`` x team: how often one player has passed to another, and from where to where.

    It follows each completed pass. ``player`` is the passer, the position the mean of his kicks to this receiver.
    ``detail``: ``receiver``, ``passes`` (of the match), ``recent`` (of the last five minutes), ``to_x_m``, ``to_y_m``
    (mean of the receptions).
    """

    def __init__(self, parameters: NetworkParameters | None = None) -> None:
        self.parameters = parameters or NetworkParameters()
        self.spec = Spec(
            name="pass_network",
            number="14.7",
            level=14,
            inputs=("pass.complete",),
            outputs=("stat.network",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="mplsoccer (pass networks)",
            team_variants={"stat.network": ("",)},
            details={"stat.network": ("receiver", "passes", "recent", "to_x_m", "to_y_m")},
        )

    def initial(self) -> Mapping[str, Edge]:
        """No pass."""
        return {}

    def step(self, state: Mapping[str, Edge], event: Event) -> Step[Mapping[str, Edge]]:
        """Add a pass to its edge."""
        payload = payload_of(event)
        receiver = str(payload.detail["receiver"])
        start = payload.detail.get("start_x_m"), payload.detail.get("start_y_m")
        if not payload.player or not receiver or payload.x_m is None or payload.y_m is None:
            return state, NOTHING
        if not isinstance(start[0], int | float) or not isinstance(start[1], int | float):
            return state, NOTHING
        name = f"{payload.player}>{receiver}"
        old = state.get(name, Edge())
        places = (start[0], start[1], payload.x_m, payload.y_m)
        oldest_us = event.ts_us - self.parameters.recent_us
        recent = tuple(t for t in old.recent_us if t > oldest_us)
        edge = Edge(old.passes + 1, _sum(old.sums_m, places), (*recent, event.ts_us))
        x_m, y_m, to_x_m, to_y_m = (round(total / edge.passes, 2) for total in edge.sums_m)
        detail: dict[str, Scalar] = {
            "receiver": receiver, "passes": edge.passes, "recent": len(edge.recent_us), "to_x_m": to_x_m,
            "to_y_m": to_y_m,
        }  # fmt: skip
        shown = EventPayload("", payload.team, payload.player, x_m, y_m, detail=detail)
        return {**state, name: edge}, (
            make_event("stat.network", event.ts_us, event.source, shown, causes=(event.id,)),
        )


def _sum(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3])


class PressureSums(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x, and counters by team and name."""

    attacks: Team = ""
    sums: Tally = {}


class PpdaParameters(msgspec.Struct, frozen=True):
    """Zone of PPDA.

    Attributes:
        zone_share: passes and defensive actions count in this share of the pitch, from the passers' goal line on.
    """

    zone_share: Annotated[float, reason("Practice: the passing team's own 60 %.")] = 0.6


_ACTIONS = ("tackle.won", "tackle.lost", "interception", "official.foul")


class PpdaAndTilt:
    """14.9: ``stat.ppda`` and ``stat.tilt`` x team: how early a team presses, and who plays in the other's third.

    PPDA is the number of passes that a team allows its opponents in their own 60 % of the pitch, for each of its
    tackles, interceptions and fouls there. ``detail`` of ``stat.ppda``: ``passes`` (allowed), ``actions``, ``ppda``
    (None before the first action). Field tilt is a team's share of all completed passes that end in an attacking
    third. ``detail`` of ``stat.tilt``: ``passes`` (of the team), ``both`` (of both teams), ``percent``. Both follow
    the pass or action that changes them.
    """

    def __init__(self, sheet: MatchSheet, parameters: PpdaParameters | None = None) -> None:
        self.parameters = parameters or PpdaParameters()
        self._half_m = pitch_of(sheet).half_length_m
        self.spec = Spec(
            name="ppda_and_tilt",
            number="14.9",
            level=14,
            inputs=("direction", *OUTCOMES, *_ACTIONS),
            outputs=("stat.ppda", "stat.tilt"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="practice (Opta's PPDA; field tilt)",
            team_variants={"stat.ppda": ("",), "stat.tilt": ("",)},
            details={"stat.ppda": ("passes", "actions", "ppda"), "stat.tilt": ("passes", "both", "percent")},
        )

    def initial(self) -> PressureSums:
        """No pass."""
        return PressureSums()

    def step(self, state: PressureSums, event: Event) -> Step[PressureSums]:
        """Count a pass or a defensive action."""
        payload = payload_of(event)
        if event.kind == "direction":
            return PressureSums(payload.team, state.sums), NOTHING
        if not state.attacks or not payload.team or event.annuls:
            return state, NOTHING
        towards = 1.0 if payload.team == state.attacks else -1.0
        rivals = opponents_of(payload.team)
        if event.kind in _ACTIONS:
            if payload.x_m is None or not self._early(-towards * payload.x_m, payload.team):
                return state, NOTHING
            sums = plus(state.sums, f"{payload.team}/actions")
            return PressureSums(state.attacks, sums), (_ppda(sums, payload.team, event),)
        sums, out = state.sums, list[Event]()
        start_x_m = payload.detail.get("start_x_m")
        if isinstance(start_x_m, int | float) and self._early(towards * start_x_m, rivals):
            sums = plus(sums, f"{rivals}/allowed")
            out.append(_ppda(sums, rivals, event))
        if event.kind == "pass.complete" and payload.x_m is not None and towards * payload.x_m > self._half_m / 3:
            sums = plus(sums, f"{payload.team}/tilt")
            both = count(sums, "home/tilt") + count(sums, "away/tilt")
            for team in (payload.team, rivals):
                own = count(sums, f"{team}/tilt")
                tilt: dict[str, Scalar] = {"passes": own, "both": both, "percent": percent(own, both)}
                out.append(statistic("stat.tilt", event, team, tilt))
        return PressureSums(state.attacks, sums), out or NOTHING

    def _early(self, upfield_m: float, team: Team) -> bool:
        """True if a place, upfield as the passers see it, lies in their own share of the pitch."""
        what, share = "share of the pitch from the passers' goal line", 0.5 + upfield_m / (2.0 * self._half_m)
        return at_most(what, share, self.parameters.zone_share, "ppda.zone_share", ("stat.ppda", team))


def _ppda(sums: Tally, team: Team, event: Event) -> Event:
    passes, actions = count(sums, f"{team}/allowed"), count(sums, f"{team}/actions")
    ppda = round(passes / actions, 2) if actions else None
    return statistic("stat.ppda", event, team, {"passes": passes, "actions": actions, "ppda": ppda})

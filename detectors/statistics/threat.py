"""14.8: the threat that passes and carries add (xT)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from detectors.statistics.tallies import statistic
from football.match_sheet import TEAMS, MatchSheet, Team
from football.payloads import Scalar, payload_of
from football.pitch import Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Chance of a goal within the next five actions with the ball at a place: Karun Singh, "Introducing Expected Threat
#: (xT)", 2018, karun.in/blog/expected-threat.html, the grid of 12 by 8 cells published there, learnt from a season of
#: the Premier League (2017/18). The page states no licence; the numbers are quoted with their source. The grid is
#: symmetrical: rows from the touch line to the middle, columns towards the opponents' goal.
GRID = (
    (0.00638303, 0.00779616, 0.00844854, 0.00977659, 0.01126267, 0.01248344, 0.01473596, 0.0174506, 0.02122129,
     0.02756312, 0.03485072, 0.0379259),
    (0.00750072, 0.00878589, 0.00942382, 0.0105949, 0.01214719, 0.0138454, 0.01611813, 0.01870347, 0.02401521,
     0.02953272, 0.04066992, 0.04647721),
    (0.0088799, 0.00977745, 0.01001304, 0.01110462, 0.01269174, 0.01429128, 0.01685596, 0.01935132, 0.0241224,
     0.02855202, 0.05491138, 0.06442595),
    (0.00941056, 0.01082722, 0.01016549, 0.01132376, 0.01262646, 0.01484598, 0.01689528, 0.0199707, 0.02385149,
     0.03511326, 0.10805102, 0.25745362),
)  # fmt: skip
#: Where :data:`GRID` comes from, as events say it.
MODEL = "Singh 2018, 12 x 8"


def threat(pitch: Pitch, forward_m: float, across_m: float) -> float:
    """The threat of the ball at a place, as the team with the ball sees the pitch; 0 beside it.

    >>> threat(Pitch(), 52.0, 0.0), threat(Pitch(), -52.0, 33.0), threat(Pitch(), 60.0, 0.0)
    (0.25745362, 0.00638303, 0.0)
    """
    if abs(forward_m) > pitch.half_length_m or abs(across_m) > pitch.half_width_m:
        return 0.0
    columns, rows = len(GRID[0]), len(GRID)
    column = min(int((forward_m / pitch.half_length_m + 1.0) / 2.0 * columns), columns - 1)
    row = min(int((1.0 - abs(across_m) / pitch.half_width_m) * rows), rows - 1)
    return GRID[row][column]


class ThreatState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the sums by team and by player."""

    attacks: Team = ""
    sums: Mapping[str, float] = {}


class Threat:
    """14.8: ``value.xt`` x team: the threat that a completed pass or a carry adds, and the sums so far.

    The threat of a place is the chance of a goal within the next five actions (xT). Only moves that succeed count, as
    in Singh's model. ``player`` passes or carries; the event follows each of them. ``detail``: ``how`` (``pass`` or
    ``carry``), ``from_xt``, ``to_xt``, ``added_xt`` (their difference, which may be negative), ``team_xt`` and
    ``player_xt`` (sums of the match), ``model`` (where the numbers come from). The model was learnt from other matches
    than this one and knows the place of the ball only; 14.13 looks at what happened before, too.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="threat",
            number="14.8",
            level=14,
            inputs=("direction", "pass.complete", "carry.end"),
            outputs=("value.xt",),
            source="Singh 2018 (xT, published grid)",
            team_variants={"value.xt": ("",)},
            details={"value.xt": ("how", "from_xt", "to_xt", "added_xt", "team_xt", "player_xt", "model")},
        )

    def initial(self) -> ThreatState:
        """No move."""
        return ThreatState()

    def step(self, state: ThreatState, event: Event) -> Step[ThreatState]:
        """Value a move."""
        payload = payload_of(event)
        if event.kind == "direction":
            return ThreatState(payload.team, state.sums), NOTHING
        names = ("start_x_m", "start_y_m") if event.kind == "pass.complete" else ("from_x_m", "from_y_m")
        x_m, y_m = (payload.detail.get(name) for name in names)
        if not state.attacks or payload.team not in TEAMS or payload.x_m is None or payload.y_m is None:
            return state, NOTHING
        if not isinstance(x_m, float) or not isinstance(y_m, float):
            return state, NOTHING
        sign = 1.0 if payload.team == state.attacks else -1.0
        before, after = threat(self.pitch, sign * x_m, y_m), threat(self.pitch, sign * payload.x_m, payload.y_m)
        team, player = payload.team, payload.player
        added = after - before
        sums = {**state.sums, **{name: state.sums.get(name, 0.0) + added for name in (team, player)}}
        detail: dict[str, Scalar] = {
            "how": event.kind.partition(".")[0],
            "from_xt": before,
            "to_xt": after,
            "added_xt": round(added, 5),
            "team_xt": round(sums[team], 4),
            "player_xt": round(sums[player], 4),
            "model": MODEL,
        }
        valued = statistic("value.xt", event, team, detail, player=player)
        place = msgspec.structs.replace(payload_of(valued), x_m=payload.x_m, y_m=payload.y_m)
        valued = msgspec.structs.replace(valued, payload=place)
        return ThreatState(state.attacks, sums), (valued,)

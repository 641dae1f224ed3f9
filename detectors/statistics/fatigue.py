"""14.11: a player runs less, or less fast, than in his first half hour.

Theory of operation
-------------------
Ten times a second 1.11 gives the pace of everybody. The first ``base_windows`` windows of a player are his own measure:
his greatest pace, and his fast metres a minute. After that, each window of ``window_us`` is compared with it. A window
that is quiet says little, because play is; so a flag needs ``windows`` of them in a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.decisions import below
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.pace_kernel import add_window
from detectors.signals.smoothed_speed import PlayerSpeeds
from detectors.statistics.load import columns_for, paces_of
from football.match_sheet import Team
from football.payloads import SIDES, EventPayload, Scalar, payload_as
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

VARIANTS = ("peak speed", "fast running")
#: Rows of the sums: seconds, fast metres and greatest pace of the base and of the window, windows below in a row.
SECONDS, FAST, PEAK, WINDOW_SECONDS, WINDOW_FAST, WINDOW_PEAK, SLOW_ROW, IDLE_ROW, ROWS = range(9)
_TEAMS: tuple[Team, ...] = tuple(SIDES)
Floats = npt.NDArray[np.float64]


class FatigueParameters(msgspec.Struct, frozen=True):
    """Measure and limits of fatigue.

    Attributes:
        base_windows: so many windows are the measure of a player.
        window_us: time that is compared with it.
        least_share: a window counts if it has less than this share of the measure.
        windows: so many windows in a row are flagged.
        fast_m_s: from this pace on metres count as fast.
        gap_us: paces farther apart than this are not joined.
    """

    base_windows: Annotated[int, reason("Hierarchy 14.11, ours: half an hour.")] = 6
    window_us: Annotated[int, reason("Hierarchy 14.11, ours.")] = 300_000_000
    least_share: Annotated[float, reason("Hierarchy 14.11, ours.")] = 0.8
    windows: Annotated[int, reason("Ours: a quarter of an hour; five minutes vary with play.")] = 3
    fast_m_s: Annotated[float, reason("As load.fast_m_s.")] = 5.5
    gap_us: Annotated[int, reason("As load.gap_us.")] = 400_000


class FatigueState(msgspec.Struct, frozen=True, gc=False):
    """State: players and sides, their sums as bytes, time of the newest paces."""

    names: tuple[str, ...] = ()
    sides: bytes = b""
    sums: bytes = b""
    seen_us: int = -(2**62)


class Fatigue:
    """14.11: ``fatigue.flag`` x {peak speed, fast running} x team: a player stays below his own first half hour.

    Published once three windows of five minutes in a row have less than 80 % of it, and again only after a better one.
    A sign, no finding: tactics, score and heat have the same effect. ``detail``: ``value`` (of the newest window) and
    ``base`` (of the half hour): m/s, or fast metres a minute.
    """

    def __init__(self, parameters: FatigueParameters | None = None) -> None:
        self.parameters = parameters or FatigueParameters()
        self.spec = Spec(
            name="fatigue",
            number="14.11",
            level=14,
            inputs=("pace.state",),
            outputs=("fatigue.flag",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"fatigue.flag": VARIANTS},
            details={"fatigue.flag": ("value", "base")},
        )

    def initial(self) -> FatigueState:
        """Nobody has run."""
        return FatigueState()

    def step(self, state: FatigueState, event: Event) -> Step[FatigueState]:
        """Add the way since the newest paces; compare the windows that are full."""
        paces, p = payload_as(event, PlayerSpeeds), self.parameters
        names, sides, sums = columns_for(state.names, state.sides, state.sums, ROWS, paces)
        dt_s = (paces.ts_us - state.seen_us) / 1e6
        if not 0.0 < dt_s <= p.gap_us / 1e6:
            return FatigueState(names, sides, sums.tobytes(), paces.ts_us), NOTHING
        base_s, window_s = p.base_windows * p.window_us / 1e6, p.window_us / 1e6
        if add_window(sums, paces_of(names, paces), dt_s, base_s, p.fast_m_s) < window_s:
            return FatigueState(names, sides, sums.tobytes(), paces.ts_us), NOTHING
        full = np.flatnonzero(sums[WINDOW_SECONDS] >= window_s).tolist()
        out = [one for i in full for one in self._judge(names[i], _TEAMS[sides[i]], sums[:, i], event)]
        sums[WINDOW_SECONDS : WINDOW_PEAK + 1, full] = 0.0
        return FatigueState(names, sides, sums.tobytes(), paces.ts_us), out or NOTHING

    def _judge(self, player: str, team: Team, column: Floats, event: Event) -> Iterator[Event]:
        """Compare a window of a player with his base; ``column`` counts the windows below it."""
        p = self.parameters
        fast, base = (60.0 * column[first + 1] / max(column[first], 1e-9) for first in (WINDOW_SECONDS, SECONDS))
        measures = (float(column[WINDOW_PEAK]), float(column[PEAK])), (float(fast), float(base))
        for variant, row, (value, own) in zip(VARIANTS, (SLOW_ROW, IDLE_ROW), measures, strict=True):
            low = below(f"{variant} of the window", value, p.least_share * own, "fatigue.least_share", player)
            column[row] = column[row] + 1.0 if low else 0.0
            if column[row] == p.windows:
                detail: dict[str, Scalar] = {"value": round(value, 2), "base": round(own, 2)}
                payload = EventPayload(variant, team, player, detail=detail)
                yield make_event("fatigue.flag", event.ts_us, f"{player}:{variant}:{event.ts_us}", payload)

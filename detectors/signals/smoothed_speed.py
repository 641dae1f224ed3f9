"""Level 1: how fast players run, free of the jerks of their feet; sprints (3.2) and efforts (3.3) look at it.

Theory of operation
-------------------
The mean of two feet goes on by jerks of 1 m/s, one at every step, four or more a second. So a pace is the mean of
chords, each about a stride long, over about a stride more: weights that rise and fall over 0.8 s, in which a step
hardly shows. Of a smooth way it takes little: a bend of 0.8 s. It is the speed in the middle of that time, so it is
known 0.4 s later. Chords, not velocities: the noise of places makes every short step longer than it was (hierarchy
3.10). Who was not there at one of the looks has no pace until he was there for 0.8 s again.

Chosen on one whole match of the simulator at the live rate (seed 41): of chords of 0.2 to 0.5 s, alone and as means
over 0.2 to 0.5 s, these tell its sprints best (F1 0.97; a chord of 0.2 s alone 0.66, one of 0.5 s 0.95).

Everybody is taken at once, a column a player; what a state keeps of them are the bytes of such rows.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.signals.kernels.pace_kernel import chord_speeds
from football.match_sheet import Team
from football.payloads import SIDES, Frame, frame_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: A frame comes a little before or after its due time: looks may not be farther apart for that.
EARLY_US = 10_000
#: Looks are so far apart; farther apart than ``GAP_US`` (1.7, twice) nothing is known of the way between them.
LOOK_US = 100_000
GAP_US = 400_000
#: A chord is so many looks long, and so many chords make a pace.
CHORD_LOOKS, CHORDS = 4, 5
LOOKS = CHORD_LOOKS + CHORDS
#: A pace is known so long after the instant that it is of.
PACE_LAG_US = (LOOKS - 1) * LOOK_US // 2

#: Teams by their side.
TEAMS: tuple[Team, ...] = tuple(SIDES)

Floats = npt.NDArray[np.float64]


class PositionHistory(msgspec.Struct, frozen=True, gc=False):
    """State: where everybody was at the last looks, oldest first: names; times; of each look x and y by name, NaN of
    who was not there."""

    names: tuple[str, ...] = ()
    times_us: tuple[int, ...] = ()
    places: tuple[bytes, ...] = ()


class PlayerSpeeds(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``pace.state``: of everybody name and side as a frame has them; when (microseconds), where (as a frame
    has it) and how fast (m/s, the bytes of a row of numbers) each of them ran. NaN stands for what is not known."""

    names: tuple[str, ...]
    sides: bytes
    places: bytes
    ts_us: int
    speeds: bytes

    @property
    def m_s(self) -> Floats:
        """Speeds by name, m/s."""
        return np.frombuffer(self.speeds)

    def team(self, index: int) -> Team:
        """A player's team."""
        return TEAMS[self.sides[index]]

    def place(self, index: int) -> tuple[float, float]:
        """Where a player was at ``ts_us``, metres to centimetres."""
        x_m, y_m = np.frombuffer(self.places)[index :: len(self.names)].tolist()
        return round(x_m, 2), round(y_m, 2)


class SmoothedSpeed:
    """1.11: ``pace.state`` (internal): how fast everybody runs, ten times a second, known 0.4 s later."""

    def __init__(self) -> None:
        self.spec = Spec(
            name="pace",
            number="1.11",
            level=1,
            inputs=("frame",),
            outputs=("pace.state",),
            internal=("pace.state",),
            source="ours",
        )

    def initial(self) -> PositionHistory:
        """Nobody seen."""
        return PositionHistory()

    def step(self, state: PositionHistory, event: Event) -> Step[PositionHistory]:
        """Looks at everybody if a look is due."""
        if state.times_us and event.ts_us < state.times_us[-1] + LOOK_US - EARLY_US:
            return state, NOTHING
        frame = frame_of(event)
        trails, paces = observe(state, frame, event.ts_us)
        return trails, (Event("pace.state", event.ts_us, "pace", event.ts_us, paces),)


def observe(before: PositionHistory, frame: Frame, now_us: int) -> tuple[PositionHistory, PlayerSpeeds]:
    """The trails with one more look, and everybody's pace."""
    names = frame.names
    old = before
    if not old.times_us or now_us - old.times_us[-1] > GAP_US:
        old = PositionHistory(names)
    places = [reordered(row, old.names, names, rows=2) for row in old.places[1 - LOOKS :]]
    trails = PositionHistory(names, (*old.times_us[1 - LOOKS :], now_us), (*places, frame.packed_xy_m))
    middle_us, speeds = _speeds(trails)
    middle = trails.places[trails.times_us.index(middle_us)]
    return trails, PlayerSpeeds(names, frame.packed_sides, middle, middle_us, speeds.tobytes())


def _speeds(trails: PositionHistory) -> tuple[int, Floats]:
    """When and how fast everybody ran."""
    times_us = trails.times_us
    if len(times_us) < LOOKS:
        return times_us[len(times_us) // 2], np.full(len(trails.names), np.nan)
    took_s = np.array([(b - a) * 1e-6 for a, b in zip(times_us, times_us[CHORD_LOOKS:], strict=False)])
    return times_us[LOOKS // 2], chord_speeds(b"".join(trails.places), len(trails.names), CHORD_LOOKS, took_s)


def reordered(numbers: bytes, before: tuple[str, ...], now: tuple[str, ...], rows: int = 1) -> bytes:
    """Rows of numbers by name, for other names; NaN of who is new."""
    if before == now:
        return numbers
    index = {name: i for i, name in enumerate(before)}
    columns = [index.get(name, len(before)) for name in now]
    known = np.hstack([np.frombuffer(numbers).reshape(rows, len(before)), np.full((rows, 1), np.nan)])
    return known[:, columns].tobytes()


def crossed_us(before: tuple[int, float], after: tuple[int, float], level: float) -> int:
    """When a value passed ``level`` between two instants (microseconds, value); the later one, if the first value is
    not known (NaN) or beyond it already."""
    (ts0_us, value0), (ts1_us, value1) = before, after
    if value0 != value0 or (value0 < level) == (value1 < level):
        return ts1_us
    return ts0_us + round((ts1_us - ts0_us) * (level - value0) / (value1 - value0))

"""8.1, 8.2, 8.4, 8.6: direction and length of passes, crosses and cut-backs, switches of play."""

from __future__ import annotations

import math

import msgspec

from detectors.qualifiers.pass_qualifier import PASS_INPUTS, PassQualifier, Way, Word
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from football.pitch import (
    GOAL_AREA_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    pitch_of,
)
from middleware.detector import Spec

DIRECTIONS = ("forward", "backward", "left", "right")
LENGTHS = ("short", "medium", "long")
SIDES = ("left", "right")


class PassDirectionParameters(msgspec.Struct, frozen=True):
    """``sideways_rad``: sideways from this angle to the way of attack on (StreamTeam: an eighth of a circle)."""

    sideways_rad: float = 0.7854


class PassDirection(PassQualifier):
    """8.1: ``pass.dir`` x {forward, backward, left, right}, as the passer's team attacks; ``detail.angle_rad``.

    Foreseen from how the ball left, so that it is said at once of passes that nobody seems to reach, too.
    """

    def __init__(self, parameters: PassDirectionParameters | None = None) -> None:
        self.parameters = parameters or PassDirectionParameters()
        self.spec = Spec(
            name="pass_direction",
            number="8.1",
            level=8,
            inputs=PASS_INPUTS,
            outputs=("pass.dir",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (sectors of 45 degrees)",
            team_variants={"pass.dir": DIRECTIONS},
            amends=("pass.dir",),
        )

    def foreseen(self, sent: tuple[float, float], way: Way | None) -> Word | None:
        """By the ball's velocity as it left."""
        return self._word(*sent)

    def seen(self, kind: str, ended: EventPayload, way: Way) -> Word | None:
        """From the kick to the end, wherever that is."""
        return self._word(way.to_u_m - way.from_u_m, way.to_w_m - way.from_w_m)

    def _word(self, along: float, left: float) -> Word:
        angle_rad, sideways_rad = math.atan2(left, along), self.parameters.sideways_rad
        if abs(angle_rad) <= sideways_rad:
            name = "forward"
        elif abs(angle_rad) >= math.pi - sideways_rad:
            name = "backward"
        else:
            name = "left" if angle_rad > 0.0 else "right"
        return Word("pass.dir", name, {"angle_rad": round(angle_rad, 2)})


class PassLengthParameters(msgspec.Struct, frozen=True):
    """``medium_m``, ``long_m``: a pass is medium, long from these lengths on (usual among analysts; Opta's long ball
    begins at 32 m)."""

    medium_m: float = 15.0
    long_m: float = 30.0


class PassLength(PassQualifier):
    """8.2: ``pass.len`` x {short, medium, long}; ``detail.length_m``. Foreseen if a mate seems to reach the ball."""

    def __init__(self, parameters: PassLengthParameters | None = None) -> None:
        self.parameters = parameters or PassLengthParameters()
        self.spec = Spec(
            name="pass_length",
            number="8.2",
            level=8,
            inputs=PASS_INPUTS,
            outputs=("pass.len",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="practice of providers",
            team_variants={"pass.len": LENGTHS},
            amends=("pass.len",),
        )

    def foreseen(self, sent: tuple[float, float], way: Way | None) -> Word | None:
        """To where the first mate reaches the ball."""
        return self._word(way) if way is not None else None

    def seen(self, kind: str, ended: EventPayload, way: Way) -> Word | None:
        """To where it ended."""
        return self._word(way)

    def _word(self, way: Way) -> Word:
        length_m = math.hypot(way.to_u_m - way.from_u_m, way.to_w_m - way.from_w_m)
        name = LENGTHS[(length_m >= self.parameters.medium_m) + (length_m >= self.parameters.long_m)]
        return Word("pass.len", name, {"length_m": round(length_m, 2)})


class CrossParameters(msgspec.Struct, frozen=True):
    """``back_m``: a cut-back goes at least so far back from the goal line (ours: a step, so that a square ball is
    none)."""

    back_m: float = 2.0


class Cross(PassQualifier):
    """8.4: ``cross`` and ``cutback`` x {left, right}, the side that it comes from as the passer's team attacks.

    A cross goes from beside the penalty area in the last quarter into it. A cut-back goes backwards and inwards from
    within the penalty area beside the goal area. Both count whether they arrive or not. Foreseen if a mate seems to
    reach the ball in the area; where the ball was stopped before the area, it was none, and the word is taken back.
    """

    def __init__(self, sheet: MatchSheet, parameters: CrossParameters | None = None) -> None:
        self.parameters = parameters or CrossParameters()
        self._half_length_m = pitch_of(sheet).half_length_m
        self.spec = Spec(
            name="cross",
            number="8.4",
            level=8,
            inputs=PASS_INPUTS,
            outputs=("cross", "cutback"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta; SPADL cross",
            team_variants=dict.fromkeys(("cross", "cutback"), SIDES),
            amends=("cross", "cutback"),
            annuls=("cross", "cutback"),
        )

    def foreseen(self, sent: tuple[float, float], way: Way | None) -> Word | None:
        """To where the first mate reaches the ball."""
        return self._word(way) if way is not None else None

    def seen(self, kind: str, ended: EventPayload, way: Way) -> Word | None:
        """To where it ended."""
        return self._word(way)

    def _word(self, way: Way) -> Word | None:
        depth_m, depth_after_m = self._half_length_m - way.from_u_m, self._half_length_m - way.to_u_m
        inwards = abs(way.to_w_m) < abs(way.from_w_m)
        side = "left" if way.from_w_m > 0.0 else "right"
        if not (0.0 <= depth_after_m <= PENALTY_AREA_DEPTH_M and abs(way.to_w_m) <= PENALTY_AREA_HALF_WIDTH_M):
            return None
        beside_goal = GOAL_AREA_HALF_WIDTH_M <= abs(way.from_w_m) <= PENALTY_AREA_HALF_WIDTH_M
        if beside_goal and depth_m <= PENALTY_AREA_DEPTH_M:
            back = depth_after_m > depth_m + self.parameters.back_m
            return Word("cutback", side) if back and inwards else None
        wide = abs(way.from_w_m) >= PENALTY_AREA_HALF_WIDTH_M and depth_m <= 0.5 * self._half_length_m
        return Word("cross", side) if wide else None


class SwitchParameters(msgspec.Struct, frozen=True):
    """``across_m``: StatsBomb's switch, 40 yards."""

    across_m: float = 36.6


class SwitchOfPlay(PassQualifier):
    """8.6: ``pass.switch``: a completed pass far across the pitch; ``detail.across_m``."""

    def __init__(self, parameters: SwitchParameters | None = None) -> None:
        self.parameters = parameters or SwitchParameters()
        self.spec = Spec(
            name="switch_of_play",
            number="8.6",
            level=8,
            inputs=("direction", "pass.complete"),
            outputs=("pass.switch",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StatsBomb (switch)",
            team_variants={"pass.switch": ("",)},
            amends=("pass.switch",),
        )

    def seen(self, kind: str, ended: EventPayload, way: Way) -> Word | None:
        """Once the pass has arrived: one that does not has switched nothing."""
        across_m = abs(way.to_w_m - way.from_w_m)
        if across_m < self.parameters.across_m:
            return None
        return Word("pass.switch", "", {"across_m": round(across_m, 2)})

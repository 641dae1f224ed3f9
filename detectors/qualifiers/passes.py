"""8.1, 8.2, 8.4, 8.6: direction and length of passes, crosses and cut-backs, switches of play."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, at_most, is_over, is_under, note
from detectors.qualifiers.pass_qualifier import PASS_INPUTS, PassPath, PassQualifier, Prediction, Qualification
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from football.pitch import (
    CIRCLE_RADIUS_M,
    GOAL_AREA_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    PENALTY_MARK_DISTANCE_M,
    pitch_of,
)
from middleware.detector import Known, Spec

DIRECTIONS = ("forward", "backward", "left", "right")
LENGTHS = ("short", "medium", "long")
SIDES = ("left", "right")

#: What the end of a pass may change of a qualifier that was predicted at its kick.
AT_END = ("variant", "confidence", "x_m", "y_m", "final")


class PassDirectionParameters(msgspec.Struct, frozen=True):
    """Limits of the direction of a pass.

    Attributes:
        sideways_rad: a pass is sideways from this angle to the attacking direction.
    """

    sideways_rad: Annotated[float, reason("StreamTeam: an eighth of a circle.")] = 0.7854


class PassDirection(PassQualifier):
    """8.1: ``pass.dir`` x {forward, backward, left, right}, relative to the attacking direction of the passer's team.

    Predicted from the velocity of the ball as it left, so also of passes that no mate seems to reach. ``detail``:
    ``angle_rad`` (to the attacking direction, positive to the left), ``final``.
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
            known={"pass.dir": Known("when the pass is known", "when the pass has ended", (*AT_END, "angle_rad"))},
            details={"pass.dir": ("angle_rad", "final")},
        )

    def at_kick(
        self, start: tuple[float, float] | None, sent: tuple[float, float, float], path: PassPath | None
    ) -> Qualification | None:
        """By the ball's velocity as it left."""
        return self._word(*sent[:2])

    def at_end(self, kind: str, ended: EventPayload, path: PassPath) -> Qualification | None:
        """From the kick to the end, wherever that is."""
        return self._word(path.to_u_m - path.from_u_m, path.to_w_m - path.from_w_m)

    def _word(self, along: float, left: float) -> Qualification:
        angle_rad, sideways_rad = math.atan2(left, along), self.parameters.sideways_rad
        what, path = "angle to the attacking direction", "pass_direction.sideways_rad"
        if not is_over(what, abs(angle_rad), sideways_rad, path):
            name = "forward"
        elif not is_under(what, abs(angle_rad), math.pi - sideways_rad, path):
            name = "backward"
        else:
            name = "left" if angle_rad > 0.0 else "right"
        return Qualification("pass.dir", name, {"angle_rad": round(angle_rad, 2)})


class PassLengthParameters(msgspec.Struct, frozen=True):
    """Bounds of the length of a pass.

    Attributes:
        medium_m: least length of a medium pass.
        long_m: least length of a long pass.
    """

    medium_m: Annotated[float, reason("Usual among analysts.")] = 15.0
    long_m: Annotated[float, reason("Usual among analysts; Opta's long ball begins at 32 m.")] = 30.0


class PassLength(PassQualifier):
    """8.2: ``pass.len`` x {short, medium, long}: the length of a pass.

    Predicted if a mate seems to reach the ball. ``detail``: ``length_m``, ``final``.
    """

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
            known={
                "pass.len": Known(
                    "when the pass is known; without a receiver, when it has ended",
                    "when the pass has ended",
                    (*AT_END, "length_m"),
                )
            },
            details={"pass.len": ("length_m", "final")},
        )

    def at_kick(
        self, start: tuple[float, float] | None, sent: tuple[float, float, float], path: PassPath | None
    ) -> Qualification | None:
        """To where the first mate reaches the ball."""
        return self._word(path) if path is not None else None

    def at_end(self, kind: str, ended: EventPayload, path: PassPath) -> Qualification | None:
        """To where it ended."""
        return self._word(path)

    def _word(self, path: PassPath) -> Qualification:
        length_m = math.hypot(path.to_u_m - path.from_u_m, path.to_w_m - path.from_w_m)
        p, name = self.parameters, "short"
        if not is_under("length", length_m, p.medium_m, "pass_length.medium_m"):
            name = "medium" if is_under("length", length_m, p.long_m, "pass_length.long_m") else "long"
        return Qualification("pass.len", name, {"length_m": round(length_m, 2)})


#: From the goal line to the top of the penalty arc (Law 1).
_ARC_DEPTH_M = PENALTY_MARK_DISTANCE_M + CIRCLE_RADIUS_M


class CrossParameters(msgspec.Struct, frozen=True):
    """Limits of crosses and cut-backs; the others are lines of the pitch.

    Attributes:
        near_m: a cross is played at most so far from the goal line.
        lofted_m_s: least upward speed of a cross that is not played from a wing.
        driven_m_s: least speed of a ball from a wing that is a cross by the direction in which it was sent.
        back_m: a cut-back goes back from the goal line by more than this.
    """

    near_m: Annotated[
        float,
        reason(
            "Ours: generated matches, `optical` and `ragged`, seeds 301 to 326 and 381 to 420; from 35 m as many are "
            "invented as found."
        ),
    ] = 30.0
    lofted_m_s: Annotated[
        float, reason("Ours, as near_m: of balls from the half-spaces into the area 33 of 57 lofted ones are crosses.")
    ] = 3.0
    driven_m_s: Annotated[
        float,
        reason(
            "Whole generated matches 690, 693 to 695, 698, 700 and 701, `ragged`, `optical_keyed` and `optical_swaps`: "
            "of other balls so fast from a wing that are sent into the area 31 are crosses and 10 are not, 4 of which "
            "end outside it at a mate."
        ),
    ] = 14.0
    back_m: Annotated[float, reason("Ours: a step, so that a square ball is none.")] = 2.0


class Cross(PassQualifier):
    """8.4: ``cross`` and ``cutback`` x {left, right}: the side that it is played from, as the passer's team attacks.

    Opta's cross is "played from a wide position targeting a teammate in a central area within proximity to the goal",
    and moves towards the middle. So where the ball was sent counts, not where an opponent stopped it. It goes into the
    penalty area or, in the air, not beyond the top of the penalty arc; from a wing or, in the air, from a half-space
    outside that area. A fast ball from a wing into the area is one by the direction in which it was sent, though it is
    blocked at once, or goes out past the goal. A cut-back goes backwards and inwards from within the penalty area,
    outside the width of the goal area. Neither need arrive. Predicted if a mate seems to reach the ball there, or by
    its direction; withdrawn if it ended elsewhere untouched by opponents. ``detail``: ``final``.
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
            source="Opta event definitions (statsperform.com/opta-event-definitions): cross, pull back",
            team_variants=dict.fromkeys(("cross", "cutback"), SIDES),
            amends=("cross", "cutback"),
            known=dict.fromkeys(
                ("cross", "cutback"),
                Known(
                    "when the pass is known; without a receiver, when it has ended", "when the pass has ended", AT_END
                ),
            ),
            annuls=("cross", "cutback"),
            details=dict.fromkeys(("cross", "cutback"), ("final",)),
        )

    def at_kick(
        self, start: tuple[float, float] | None, sent: tuple[float, float, float], path: PassPath | None
    ) -> Qualification | None:
        """To where the first mate reaches the ball, or, of a fast ball from a wing, to where it was sent."""
        what, least_m_s = "upward speed of the ball", self.parameters.lofted_m_s
        word = None
        if path is not None:
            word = self._word(path, lofted=at_least(what, sent[2], least_m_s, "cross.lofted_m_s", about="cross"))
        if word is None and start is not None and self._is_driven_in(start, sent):
            word = Qualification("cross", "left" if start[1] > 0.0 else "right")
        return word

    def at_end(self, kind: str, ended: EventPayload, path: PassPath) -> Qualification | None:
        """To where it ended."""
        return self._word(path, lofted=False)

    def once_ended(
        self, kind: str, ended: EventPayload, path: PassPath, predicted: Prediction | None
    ) -> Qualification | None:
        """To where it ended, or was sent: a cross that an opponent stops, or that goes out past the goal, is one."""
        beyond = kind == "pass.out" and path.to_u_m >= self._half_length_m
        if predicted is not None and (kind == "pass.intercepted" or (beyond and predicted.kind == "cross")):
            return Qualification(predicted.kind, predicted.variant)
        return self._word(path, lofted=predicted is not None and predicted.kind == "cross")

    def _is_driven_in(self, start: tuple[float, float], sent: tuple[float, float, float]) -> bool:
        """True if a ball goes fast from a wing into the penalty area, as it was sent."""
        depth_m, aside_m = self._half_length_m - start[0], abs(start[1]) - PENALTY_AREA_HALF_WIDTH_M
        along_m_s, inwards_m_s = sent[0], -math.copysign(sent[1], start[1] * sent[1])
        p, what = self.parameters, "the kick from the goal line"
        if aside_m < 0.0 or inwards_m_s <= 0.0 or not at_most(what, depth_m, p.near_m, "cross.near_m", about="cross"):
            return False
        if not at_least("speed of the ball", math.hypot(*sent[:2]), p.driven_m_s, "cross.driven_m_s", about="cross"):
            return False
        if 0.0 <= depth_m - along_m_s * aside_m / inwards_m_s <= PENALTY_AREA_DEPTH_M:
            return True  # from the side
        front_m = depth_m - PENALTY_AREA_DEPTH_M
        if front_m <= 0.0 or along_m_s <= 0.0:
            return False
        return abs(aside_m + PENALTY_AREA_HALF_WIDTH_M - inwards_m_s * front_m / along_m_s) <= PENALTY_AREA_HALF_WIDTH_M

    def _word(self, path: PassPath, *, lofted: bool) -> Qualification | None:
        depth_m, depth_after_m = self._half_length_m - path.from_u_m, self._half_length_m - path.to_u_m
        inwards = abs(path.to_w_m) < abs(path.from_w_m)
        side = "left" if path.from_w_m > 0.0 else "right"
        most_m = _ARC_DEPTH_M if lofted else PENALTY_AREA_DEPTH_M
        if not (0.0 <= depth_after_m <= most_m and abs(path.to_w_m) <= PENALTY_AREA_HALF_WIDTH_M):
            return None
        wing = abs(path.from_w_m) >= PENALTY_AREA_HALF_WIDTH_M
        if wing or depth_m > PENALTY_AREA_DEPTH_M:
            wide = wing or (lofted and abs(path.from_w_m) >= GOAL_AREA_HALF_WIDTH_M)
            near_m = self.parameters.near_m
            near = inwards and at_most("the kick from the goal line", depth_m, near_m, "cross.near_m", about="cross")
            return Qualification("cross", side) if wide and near else None
        back = depth_after_m > depth_m + self.parameters.back_m
        if not back or not inwards or abs(path.from_w_m) < GOAL_AREA_HALF_WIDTH_M:
            return None
        note("distance played back", depth_after_m - depth_m, "at least", self.parameters.back_m, "cross.back_m")
        return Qualification("cutback", side)


class SwitchParameters(msgspec.Struct, frozen=True):
    """Limits of a switch of play.

    Attributes:
        across_m: least distance across the pitch.
    """

    across_m: Annotated[float, reason("StatsBomb's switch, 40 yards.")] = 36.6


class SwitchOfPlay(PassQualifier):
    """8.6: ``pass.switch``: a completed pass far across the pitch.

    ``detail``: ``across_m`` (distance across), ``final``.
    """

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
            known={"pass.switch": Known("when the pass has arrived")},
            details={"pass.switch": ("across_m", "final")},
        )

    def at_end(self, kind: str, ended: EventPayload, path: PassPath) -> Qualification | None:
        """From kick to gain, of a completed pass."""
        across_m = abs(path.to_w_m - path.from_w_m)
        if not at_least("distance across", across_m, self.parameters.across_m, "switch.across_m"):
            return None
        return Qualification("pass.switch", "", {"across_m": round(across_m, 2)})

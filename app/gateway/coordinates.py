"""From a source's coordinates to the pitch's, and back: one affine map for all units, turns, mirrors and surveys.

Degrees of longitude and latitude are turned into metres on the plane that touches the earth at the first corner (a
sphere of the mean radius; over a pitch the error is below a millimetre), and then laid onto the sheet's pitch by the
rigid motion with the least squares at the four corners (Kabsch 1976). A survey that does not fit the pitch is refused.
"""

from __future__ import annotations

import math

import numpy as np

from app.gateway.profile import LENGTH_UNITS_M, GatewayProfileError, Space
from football.match_sheet import MatchSheet

_EARTH_M = 6_371_008.8


class PitchMap:
    """Maps positions of a source to the pitch.

    Args:
        space: the source's coordinates.
        sheet: of the match, for length and width.

    Attributes:
        corner_errors_m: distance of each surveyed corner from that of the pitch; empty without a survey.

    Raises:
        GatewayProfileError: the corners do not fit the pitch.
    """

    def __init__(self, space: Space, sheet: MatchSheet) -> None:
        self.corner_errors_m: tuple[float, ...] = ()
        self._z_m = LENGTH_UNITS_M[space.unit]
        if space.unit == "deg":
            matrix = self._survey(space, sheet)
        else:
            scale, turn = LENGTH_UNITS_M[space.unit], math.radians(space.rotation_deg)
            cos, sin = math.cos(turn), math.sin(turn)
            flip = -1.0 if space.mirrored else 1.0
            linear = scale * np.array([[cos, -sin * flip], [sin, cos * flip]])
            matrix = np.column_stack([linear, -linear @ np.array(space.origin)])
        self._to = tuple(matrix.ravel().tolist())
        inverse = np.linalg.inv(matrix[:, :2])
        self._from = tuple(np.column_stack([inverse, -inverse @ matrix[:, 2]]).ravel().tolist())

    def to_pitch(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Return a position on the pitch, in metres."""
        a, b, c, d, e, f = self._to
        return a * x + b * y + c, d * x + e * y + f, z * self._z_m

    def from_pitch(self, x_m: float, y_m: float, z_m: float) -> tuple[float, float, float]:
        """Return the source's coordinates of a position on the pitch."""
        a, b, c, d, e, f = self._from
        return a * x_m + b * y_m + c, d * x_m + e * y_m + f, z_m / self._z_m

    def _survey(self, space: Space, sheet: MatchSheet) -> np.ndarray:
        corners = np.array(space.corners)
        first = corners[0]
        metres = math.radians(1.0) * _EARTH_M
        scale = np.array([metres * math.cos(math.radians(first[1])), metres])
        plane = (corners - first) * scale
        half = np.array([sheet.length_m / 2, sheet.width_m / 2])
        pitch = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
        middle = plane.mean(axis=0)
        u, _, vt = np.linalg.svd((plane - middle).T @ pitch)
        flip = np.diag([1.0, np.sign(np.linalg.det(vt.T @ u.T))])
        turn = vt.T @ flip @ u.T
        self.corner_errors_m = tuple(np.linalg.norm((plane - middle) @ turn.T - pitch, axis=1).tolist())
        if max(self.corner_errors_m) > space.corner_error_m:
            worst = max(self.corner_errors_m)
            raise GatewayProfileError(
                f"space.corners: a corner lies {worst:.2f} m from that of a pitch of {sheet.length_m:g} x "
                f"{sheet.width_m:g} m; at most {space.corner_error_m:g} m: survey again, or mend the sheet's pitch"
            )
        linear = turn * scale
        return np.column_stack([linear, -linear @ first - turn @ middle])

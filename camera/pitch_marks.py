"""Points of a pitch that a camera can be centred on, by name.

``left`` and ``right`` are the ends at -x and +x, ``up`` and ``down`` the touchlines at +y and -y, as on a plan of the
pitch. All points lie on the grass but the crossbars' middles.
"""

from __future__ import annotations

from football import pitch as laws

Point = tuple[float, float, float]


def pitch_marks(length_m: float = 105.0, width_m: float = 68.0) -> dict[str, Point]:
    """Return the points of a pitch in metres, from the corners inwards."""
    x, y = length_m / 2, width_m / 2
    out: dict[str, Point] = {}
    sides = (("left", -1), ("right", 1))
    halves = (("up", 1), ("down", -1))
    for end, sx in sides:
        for side, sy in halves:
            out[f"corner-{end}-{side}"] = (sx * x, sy * y, 0.0)
    for side, sy in halves:
        out[f"halfway-{side}"] = (0.0, sy * y, 0.0)
    out["centre-spot"] = (0.0, 0.0, 0.0)
    for end, sx in sides:
        out[f"penalty-spot-{end}"] = (sx * (x - laws.PENALTY_MARK_DISTANCE_M), 0.0, 0.0)
        out[f"crossbar-{end}"] = (sx * x, 0.0, laws.BAR_HEIGHT_M)
        for side, sy in halves:
            area_y = sy * laws.PENALTY_AREA_HALF_WIDTH_M
            out[f"penalty-area-{end}-{side}"] = (sx * (x - laws.PENALTY_AREA_DEPTH_M), area_y, 0.0)
            out[f"post-{end}-{side}"] = (sx * x, sy * laws.GOAL_HALF_WIDTH_M, 0.0)
    return out

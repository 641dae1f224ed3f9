"""Levels 9 and 10: periods, numbers, offences, pressure, shape, space."""

from __future__ import annotations

from collections.abc import Sequence

from detectors.control.shape import AreaState
from detectors.explanations.evidence import (
    Evidence,
    Found,
    Rule,
    against,
    between,
    lasted,
    number,
    told_value,
)


def _released(e: Evidence) -> Found:
    """10.1: pressed less; who has no ball any more is not pressed at all."""
    if e.payload.detail.get("kept") is True:
        yield against(e, "index", number(e.payload, "index_per_s"), "at most", "pressing_index.released_per_s")


def _band(value: str, bounds: Sequence[str], index: int | Sequence[str], slack: str, hold: str) -> Rule:
    """10.2, 10.5, 10.6, 10.9: in a band, whose bounds are kept a little longer, and for long enough."""

    def rule(e: Evidence) -> Found:
        place = index if isinstance(index, int) else list(index).index(e.payload.variant or e.told.kind)
        group, _, name = slack.partition(".")
        slack_ = getattr(getattr(e.parameters, group), name) if slack else 0.0
        yield from between(e, value.removesuffix("_m"), number(e.payload, value), bounds, place, slack_)
        yield from lasted(hold, "time that it held")(e)

    return rule


def _stepped(e: Evidence) -> Found:
    """10.4: the change since it was told last."""
    i = ("hull.step", "mbr.step", "stretch.step").index(e.told.kind)
    value = number(e.payload, "stretch_m" if i == 2 else "area_m2")
    before = e.before.told[3 * (e.payload.team == "away") + i] if isinstance(e.before, AreaState) else 0.0
    if value is not None and before > 0.0:
        yield against(e, "change", abs(value - before) / before, "at least", "team_area.change_share")


_EXTENT = ("team_shape.short_m", "team_shape.long_m"), ("team_shape.narrow_m", "team_shape.wide_m")
_SLACK, _HOLD = "team_shape.margin_m", "team_shape.hold_us"
_HEIGHTS = "team_shape.low_m", "team_shape.high_m"
_LINE = ("line.low", "line.mid", "line.high")


#: By kind.
RULES: dict[str, Rule] = {
    "press.under": told_value("index_per_s", "index", "at least", "pressing_index.under_per_s"),
    "press.released": _released,
    "pressure.band": _band(
        "pressure", ("pressure.mid_share", "pressure.high_share"), ("low", "mid", "high"), "pressure.margin_share",
        "pressure.hold_us",
    ),
    "intensity.peak": told_value("intensity", "intensity", "at least", "pressing_intensity.peak_share"),
    **dict.fromkeys(("hull.step", "mbr.step", "stretch.step"), _stepped),
    "shape.short": _band("extent_m", _EXTENT[0], 0, _SLACK, _HOLD),
    "shape.long": _band("extent_m", _EXTENT[0], 2, _SLACK, _HOLD),
    "shape.narrow": _band("extent_m", _EXTENT[1], 0, _SLACK, _HOLD),
    "shape.wide": _band("extent_m", _EXTENT[1], 2, _SLACK, _HOLD),
    **{kind: _band("height_m", _HEIGHTS, i, _SLACK, _HOLD) for i, kind in enumerate(_LINE)},
    "control.shift": told_value("control", "share of the zone", "at least", "pitch_control.owner_share"),
    "options": _band(
        "options", ("passing_options.some", "passing_options.many"), ("0", "1-2", "3+"), "", "passing_options.hold_us"
    ),
}  # fmt: skip

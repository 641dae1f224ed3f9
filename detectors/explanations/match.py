"""Levels 9 and 10: periods, numbers, offences, pressure, shape, space."""

from __future__ import annotations

import math
from collections.abc import Sequence

from detectors.control.shape import AreaState
from detectors.explanations.evidence import (
    Evidence,
    Found,
    Margin,
    Rule,
    against,
    between,
    lasted,
    number,
    told_value,
)
from detectors.laws.clock import ClockState
from detectors.laws.numbers import Numbers
from detectors.play.restart_kicks import PENALTY_MARK_M
from football.pitch import pitch_of


def _penalty(e: Evidence) -> Found:
    """9.6: the ball on its mark."""
    payload, pitch = e.payload, pitch_of(e.sheet)
    if payload.x_m is not None and payload.y_m is not None:
        mark_x_m, mark_y_m = pitch.penalty_mark("right" if payload.x_m > 0 else "left")
        away_m = math.hypot(payload.x_m - mark_x_m, payload.y_m - mark_y_m)
        yield Margin("the ball from the penalty mark", away_m, "at most", PENALTY_MARK_M, "m")
    yield against(e, "time from the kick until it was known", e.by.ts_us - e.told.ts_us, "at most", "restart.back_us")


def _begins(e: Evidence) -> Found:
    """9.8: a period that keeps the ends begins after a long pause; other ends, and officials, need none."""
    before = e.before
    if e.by.kind != "play.live" or not isinstance(before, ClockState) or not before.period or before.dead_us < 0:
        return
    if before.left == before.left_now or not before.left:
        yield against(e, "time that play was dead", e.by.ts_us - before.dead_us, "at least", "match_clock.pause_us")


def _ends(e: Evidence) -> Found:
    """9.8: its time is over, and the ball has been dead for a while; else the next one has begun, or it was said."""
    before = e.before
    if e.by.kind != "clock.tick" or not isinstance(before, ClockState):
        return
    name = "half_minutes" if before.period <= 2 else "extra_minutes"
    ran = (e.by.ts_us - before.begun_us) / 60e6
    yield against(e, "minutes that it has run", ran, "at least", f"match_clock.{name}")
    yield against(e, "time that the ball is dead", e.by.ts_us - before.dead_us, "at least", "match_clock.over_us")


def _offence(e: Evidence) -> Found:
    """9.9: offside at the kick, and in play soon after it."""
    kick_us, beyond_m = number(e.payload, "kick_us"), number(e.payload, "margin_m")
    if beyond_m is not None:
        yield Margin("distance beyond the line", beyond_m, "at least", 0.0, "m")
    if kick_us is not None:
        name = "stop_us" if e.payload.variant == "interfere" else "within_us"
        yield against(e, "time since the kick", e.by.ts_us - kick_us, "at most", f"offside_offence.{name}")


def _changed(e: Evidence) -> Found:
    """9.12: who comes was seen on the pitch in so many looks."""
    comes = e.payload.player if e.told.kind == "sub.in" else e.payload.detail.get("other")
    before = e.before
    if e.by.kind != "frame" or not isinstance(before, Numbers):
        return
    looks = next((c.looks for c in before.new if c.player == comes), 0) + before.live
    yield against(e, "looks that found him on the pitch", looks, "at least", "players_on_pitch.on_looks")


def _sent_off(e: Evidence) -> Found:
    """9.12: off the pitch in so many looks; what officials say needs none."""
    before = e.before
    if e.by.kind != "frame" or e.told.annuls or not isinstance(before, Numbers):
        return
    looks = next((c.looks for c in before.away if c.player == e.payload.player), 0) + before.live
    yield against(e, "looks that found him off the pitch", looks, "at least", "players_on_pitch.off_looks")


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


def _overruled(e: Evidence) -> Found:
    """11.8: a decision in time."""
    was_us = number(e.payload, "was_us")
    if was_us is not None:
        yield against(e, "time since what it contradicts", e.told.ts_us - was_us, "at most", "overruled.within_us")


#: By kind.
RULES: dict[str, Rule] = {
    "restart.penalty": _penalty,
    "period.start": _begins,
    "period.end": _ends,
    "offside.offence": _offence,
    "gk.hold_warn": lasted("keeper_holding.warn_us", "time in his hands"),
    "gk.hold_offence": lasted("keeper_holding.offence_us", "time in his hands"),
    "sub.in": _changed,
    "sub.out": _changed,
    "sendoff.suspected": _sent_off,
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
    "overruled": _overruled,
    "control.shift": told_value("control", "share of the zone", "at least", "pitch_control.owner_share"),
    "options": _band(
        "options", ("passing_options.some", "passing_options.many"), ("0", "1-2", "3+"), "", "passing_options.hold_us"
    ),
}  # fmt: skip

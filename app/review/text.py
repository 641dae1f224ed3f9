"""A reviewed call in words, the same on the terminal, in the room and on the sheet."""

from __future__ import annotations

from collections.abc import Iterator

from app.review.review import Review
from football.match_sheet import MatchSheet
from replay.event_choice import format_time


def verdict(review: Review) -> str:
    """Say what the positions say: yes, no, or too close to call, with the probability."""
    chance = review.call.probability
    word = "Yes" if chance >= 0.95 else "No" if chance <= 0.05 else "Too close to call"
    return f"{word}: {review.statement} with a probability of {percent(chance)}"


def percent(chance: float) -> str:
    """A probability; ten thousand draws say no more than that it is above or below the last tenth."""
    if chance >= 0.9995:
        return "more than 99.9 %"
    return "less than 0.1 %" if chance <= 0.0005 else f"{100 * chance:.1f} %"


def figure_rows(review: Review, sheet: MatchSheet) -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure."""
    call = review.call
    names = {one.object_id: f"{one.shirt if one.shirt is not None else ''} {one.name}".strip() for one in sheet.players}
    teams = {"home": sheet.home, "away": sheet.away}
    who = names.get(review.player, "") or review.player
    yield "In question", f"{who}, {teams[review.team]}" if review.player else "the ball"
    yield "Margin", f"{100 * call.margin_m:+.1f} cm, standard deviation {100 * call.deviation_m:.1f} cm"
    yield "95 % between", f"{100 * call.low_m:+.1f} and {100 * call.high_m:+.1f} cm"
    spread = f" ± {call.instant_deviation_us / 1e3:.1f} ms" if call.instant_deviation_us else ""
    yield "Instant", f"{format_time(call.instant_us)} ({call.instant_us / 1e6:.4f} s{spread})"
    for point in call.points:
        if point.role in ("subject", "line", "ball"):
            label = {"subject": "In question", "line": "Line", "ball": "Ball"}[point.role]
            part = f", {point.part.replace('_', ' ')}" if point.part else ""
            place = f"{point.x_m:.2f}, {point.y_m:.2f}, {point.z_m:.2f} m ± {100 * point.deviation_m:.1f} cm"
            how = f"{point.samples} samples, quality {100 * point.quality:.0f} %"
            yield f"{label}: {names.get(point.object_id, '') or point.object_id}{part}", f"{place}; {how}"
    rates = f"ball {review.ball_hz:g} Hz, bodies {review.body_hz:g} Hz"
    yield "Input", f"{rates}, declared noise {100 * review.declared_m:.0f} cm"


def lines(review: Review, sheet: MatchSheet) -> Iterator[str]:
    """Yield the review as lines of text."""
    yield f"{review.title} {format_time(review.ts_us)}, {review.event}"
    yield verdict(review)
    for name, value in figure_rows(review, sheet):
        yield f"  {name}: {value}"
    for note in review.notes:
        yield f"Note: {note}"

"""Judges the measured quality of an input: what is wrong with it, the likely cause, and the mend.

Each rule compares figures with :class:`InputLimits`. A rule that explains others comes first and silences them: in
centimetres everything else looks wrong, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

import msgspec

from detectors.reasons import reason
from football.input_quality import InputFinding, InputQuality
from football.match_sheet import MatchSheet
from football.pitch import SIDE_LIMITS_M


class InputLimits(msgspec.Struct, frozen=True):
    """Limits of what an input may show; ``docs/input.md`` lists them.

    Attributes:
        least_span_s: a shorter input is not judged by shares.
        least_positions: the share of refused positions is not judged before so many.
        refused_share: share of positions that were refused.
        lost_share: share of packets that were lost.
        repeated_share: share of an object's positions at times that it had already.
        ball_share_wrong: share of instants with a ball below which play cannot be followed.
        ball_share_note: the same, below which gaps are worth knowing.
        outlier_share: share of steps of the ball faster than a ball can be.
        impossible_share: share of steps of the players faster than people can run, for times that are wrong.
        jumps_per_minute: impossible steps of players, all together, a minute.
        cuts: cuts of the scene.
        frozen_share: share of the seconds in which no player moved.
        gap_share: share of the time in which nothing spoke, pauses between periods left out.
        gap_share_wrong: the same, above which play cannot be followed.
        beyond_m: how far the box of the players may reach beyond the lines.
        centre_m: how far the middle of the players' box must lie from the centre spot to be taken for another origin.
        players_max: players of a team on the pitch.
        players_min: the same.
        straight_share: share of the ball's moving steps that repeat the one before, for keyframes.
        height_span_s: a ball of a shorter input may have been on the ground all the time.
        height_max_m: the greatest credible height of a ball: of one position, and of one in twenty for heights of
            another unit.
        turn_span_s: time without a change of ends after which there should have been one.
        turn_seen_share: in a smaller share of that time nothing can be said of ends.
        no_pass_s: time without a single pass, less that in which nothing was sent.
        flag_packets: words of the alive flag while the ball is metres outside, below which it is not judged.
        flag_alive_share: share of them that say alive.
    """

    least_span_s: Annotated[float, reason("shares of less are a matter of one stoppage")] = 5.0
    least_positions: Annotated[int, reason("a second of 25 Hz")] = 575
    refused_share: Annotated[float, reason("of 23 objects one without positions is 4.3 %")] = 0.04
    lost_share: Annotated[float, reason("the worst simulated radio, harsh, stays below it")] = 0.05
    repeated_share: Annotated[float, reason("two objects under one id give 50 %; doubled rows of a file 20 %")] = 0.3
    ball_share_wrong: Annotated[float, reason("broadcast tracking sees the ball in more than half of the frames")] = 0.3
    ball_share_note: Annotated[float, reason("optical systems of stadiums give 97 % and more")] = 0.9
    outlier_share: Annotated[float, reason("one in a hundred: a jump every four seconds at 25 Hz")] = 0.01
    impossible_share: Annotated[
        float, reason("tracking from television pictures has 0.02 %; numbers of frames as times give 90 %")
    ] = 0.2
    jumps_per_minute: Annotated[float, reason("published clips have 3 a minute and play well")] = 20.0
    cuts: Annotated[int, reason("one or two may be the break")] = 3
    frozen_share: Annotated[float, reason("no second of play is without any movement; pauses of tracking are")] = 0.02
    gap_share: Annotated[float, reason("one second in twenty")] = 0.05
    gap_share_wrong: Annotated[float, reason("tracking from television pictures is silent for a third of a match")] = (
        0.75
    )
    beyond_m: Annotated[float, reason("benches, and players who warm up, are so far behind the lines")] = 6.0
    centre_m: Annotated[float, reason("half the way from the centre spot to the nearest touchline")] = 17.0
    players_max: Annotated[int, reason("Law 3: eleven")] = 11
    players_min: Annotated[int, reason("Law 3: a match is not continued with fewer than seven")] = 7
    straight_share: Annotated[float, reason("friction and drag slow a measured ball at each step")] = 0.5
    height_span_s: Annotated[float, reason("a real match begins with 15 s on the ground; no minute of it is so")] = 60.0
    height_max_m: Annotated[float, reason("the highest kicks stay below 35 m")] = 45.0
    turn_span_s: Annotated[float, reason("Law 7: 45 minutes and 15 of half-time; ours: 15 added and before")] = 4_500.0
    turn_seen_share: Annotated[
        float, reason("a match with a half-time, and a third of it hidden by replays, has half")
    ] = 0.3
    no_pass_s: Annotated[float, reason("matches have 15 passes a minute; five minutes without one are none")] = 300.0
    flag_packets: Annotated[int, reason("three or four balls out, at a word a second")] = 20
    flag_alive_share: Annotated[float, reason("an operator is late by seconds of the tens that a ball is out")] = 0.6


class Circumstances(msgspec.Struct, frozen=True):
    """Knowledge of a match besides the measured quality of its packets.

    Attributes:
        files: findings of the reader of a file.
        unreadable: number of records, by reason, that no packet could hold.
        passes: passes that stand; None where no detectors run.
        since_pass_s: time in play since the last pass.
    """

    files: tuple[InputFinding, ...] = ()
    unreadable: Mapping[str, int] = {}
    passes: int | None = None
    since_pass_s: float = 0.0


LIMITS = InputLimits()


def findings_of(
    quality: InputQuality,
    sheet: MatchSheet,
    circumstances: Circumstances | None = None,
    limits: InputLimits = LIMITS,
) -> tuple[InputFinding, ...]:
    """Findings about an input, the gravest first; empty if nothing is wrong.

    Args:
        quality: as measured.
        sheet: of the match.
        circumstances: of the run.
        limits: when a figure is wrong.
    """
    known = circumstances or Circumstances()
    found = [*known.files]
    if quality.positions:
        geometry = list(_geometry(quality, sheet, limits))
        found += geometry
        found += _objects(quality, limits)
        if not any(finding.severity == "wrong" for finding in geometry):
            found += _ball(quality, sheet, limits)
            found += _steps(quality, limits)
            found += _players(quality, limits)
            found += _ends(quality, sheet, limits)
    found += _refused(quality, known, limits, is_explained=is_wrong(found))
    found += _absurd(quality, known, limits)
    return tuple(sorted(found, key=lambda finding: finding.severity != "wrong"))


def is_wrong(findings: Iterable[InputFinding]) -> bool:
    """True if the results of the match cannot be relied on."""
    return any(finding.severity == "wrong" for finding in findings)


def _wrong(code: str, found: str, cause: str, mend: str) -> InputFinding:
    return InputFinding(code, "wrong", found, cause, mend)


def _note(code: str, found: str, cause: str = "", mend: str = "") -> InputFinding:
    return InputFinding(code, "note", found, cause, mend)


#: Units by the metres that one of them has, for the range of the players' box in that unit.
_UNITS = ((1_000.0, "millimetres"), (100.0, "centimetres"), (10.0, "decimetres"), (3.28, "feet"))


def _geometry(q: InputQuality, sheet: MatchSheet, limits: InputLimits) -> Iterator[InputFinding]:
    """Rules of pitch, units, axes and origin."""
    if sheet.length_m < sheet.width_m:
        yield _wrong(
            "pitch",
            f"The pitch is {sheet.length_m:g} m long and {sheet.width_m:g} m wide",
            "length and width changed places",
            f"Give {sheet.width_m:g} x {sheet.length_m:g} in the match sheet or with --pitch",
        )
        return
    low, high = SIDE_LIMITS_M
    if not (low <= sheet.length_m <= high and low <= sheet.width_m <= high):
        return  # refused by the pitch itself
    length_m, width_m = q.x_high_m - q.x_low_m, q.y_high_m - q.y_low_m
    if not length_m and not width_m:
        return
    box = f"the players' x is {q.x_low_m:.4g} to {q.x_high_m:.4g}, their y {q.y_low_m:.4g} to {q.y_high_m:.4g}"
    reach_x_m, reach_y_m = max(abs(q.x_low_m), abs(q.x_high_m)), max(abs(q.y_low_m), abs(q.y_high_m))
    half_x_m, half_y_m = sheet.length_m / 2 + limits.beyond_m, sheet.width_m / 2 + limits.beyond_m
    pitch = f"{sheet.length_m:g} x {sheet.width_m:g} m"
    for scale, unit in _UNITS:
        if _is_scaled(q, sheet, scale):
            mend = f"Divide x, y and z by {scale:g}" if scale > 5 else "Multiply x, y and z by 0.3048"
            yield _wrong("units", f"On a pitch of {pitch} {box}", f"positions in {unit} instead of metres", mend)
            return
    if reach_x_m <= 2.0 and reach_y_m <= 2.0:
        yield _wrong(
            "units",
            f"On a pitch of {pitch} {box}",
            "positions as shares of the pitch instead of metres",
            f"Multiply x by {sheet.length_m:g} and y by {sheet.width_m:g}, and move the origin to the centre spot",
        )
        return
    if reach_x_m <= half_x_m and reach_y_m <= half_y_m:
        return
    if reach_x_m <= half_y_m and reach_y_m <= half_x_m:
        yield _wrong("axes", f"On a pitch of {pitch} {box}", "x and y changed places", "Exchange x and y")
        return
    shift_x_m, shift_y_m = _origin(q, sheet, limits)
    if shift_x_m or shift_y_m:
        place = "a corner" if shift_x_m and shift_y_m else "the middle of a line"
        yield _wrong(
            "origin",
            f"On a pitch of {pitch} {box}",
            f"an origin at {place} of the pitch instead of the centre spot",
            f"Subtract {shift_x_m:g} from x and {shift_y_m:g} from y",
        )
        return
    if min(q.x_low_m, q.y_low_m) >= -limits.beyond_m and max(q.x_high_m, q.y_high_m) <= 100.0 + limits.beyond_m:
        yield _wrong(
            "units",
            f"On a pitch of {pitch} {box}",
            "positions in percent of the pitch instead of metres",
            f"Multiply x by {sheet.length_m / 100:g} and y by {sheet.width_m / 100:g}, then subtract"
            f" {sheet.length_m / 2:g} from x and {sheet.width_m / 2:g} from y",
        )
        return
    if min(q.home_players, q.away_players) >= limits.players_max:
        return  # In the median second all who play are within the lines: at half-time they are not.
    yield _wrong(
        "pitch",
        f"Players are beyond the lines of a pitch of {pitch}: {box}",
        "the dimensions of another pitch, or objects that are no players",
        "Give the right pitch in the match sheet or with --pitch",
    )


def _is_scaled(q: InputQuality, sheet: MatchSheet, scale: float) -> bool:
    """True if the players' box is that of a pitch measured in a unit of which a metre has ``scale``.

    The players of a match spread over a third of the pitch at least, and over little more than all of it.
    """
    spread_x, spread_y = q.x_high_m - q.x_low_m, q.y_high_m - q.y_low_m
    return all(
        0.33 * side_m * scale <= spread <= 1.15 * side_m * scale and spread > 1.5 * side_m
        for spread, side_m in ((spread_x, sheet.length_m), (spread_y, sheet.width_m))
    )


def _origin(q: InputQuality, sheet: MatchSheet, limits: InputLimits) -> tuple[float, float]:
    """Where the middle of the players' box is, in halves of the pitch: the likely place of its centre.

    Zeros if the box would not fit the pitch from there.
    """

    def shift(low_m: float, high_m: float, side_m: float) -> float | None:
        middle_m, reach_m = (low_m + high_m) / 2, side_m / 2 + limits.beyond_m
        moved_m = 0.0 if abs(middle_m) < limits.centre_m else side_m / 2 if middle_m > 0 else -side_m / 2
        return moved_m if -reach_m <= low_m - moved_m and high_m - moved_m <= reach_m else None

    x_m = shift(q.x_low_m, q.x_high_m, sheet.length_m)
    y_m = shift(q.y_low_m, q.y_high_m, sheet.width_m)
    return (x_m, y_m) if x_m is not None and y_m is not None else (0.0, 0.0)


def _objects(q: InputQuality, limits: InputLimits) -> Iterator[InputFinding]:
    """Rules of ids."""
    if q.same_time >= limits.repeated_share:
        name = q.same_time_object
        cause = f"two {'balls' if name == 'ball' else 'players'} under one id, or rows that are there twice"
        mend = "Name further balls ball_2, ball_3" if name == "ball" else "Give each player an id of its own"
        found = f"{q.same_time:.0%} of the positions of {name} repeat a time"
        yield _wrong("same id", found, cause, f"{mend}, and leave copies out")
    if q.unknown > limits.refused_share * max(1, q.positions):
        yield _wrong(
            "unknown ids",
            f"{q.unknown} positions are of {q.unknown_objects} objects that the match sheet does not have",
            "the match sheet of another match, or ids of another form",
            "Give the ids of the positions in the sheet, or leave its players out",
        )


def _ball(q: InputQuality, sheet: MatchSheet, limits: InputLimits) -> Iterator[InputFinding]:
    if q.span_s < limits.least_span_s:
        return
    share = f"A ball has a usable position in {q.ball_share:.0%} of the instants"
    if q.ball_share < limits.ball_share_wrong:
        cause = "a column without numbers" if not q.ball_share and q.unusable else "a ball that was not tracked"
        yield _wrong("no ball", share, cause, "Without a ball no event of play can be detected: give its positions")
        return
    if q.ball_share < limits.ball_share_note:
        yield _note("ball", share, "tracking that loses sight of the ball, or leaves out a dead one")
    if not q.ball_height_share and q.span_s >= limits.height_span_s:
        yield _note("height", "The ball has no height", "", "Bounces, headers and crossbars are not told apart")
    elif q.ball_height_high_m > limits.height_max_m:
        cause, mend = _unit_of_heights(q.ball_height_high_m)
        found = f"One in twenty positions of the ball is more than {q.ball_height_high_m:.0f} m high"
        yield _wrong("height", found, cause, mend)
    elif q.ball_height_max_m > limits.height_max_m:
        yield _note(
            "height", f"The ball is up to {q.ball_height_max_m:.0f} m high", "heights of another unit, or noise"
        )
    if q.flag_outside >= limits.flag_packets and q.flag_outside_alive > limits.flag_alive_share:
        yield _note(
            "flag",
            f"The alive flag says alive in {q.flag_outside_alive:.0%} of the times that the ball is metres outside",
            "a flag that is inverted, of another match, or many seconds late",
            "It is not believed where balls are seen to go out; leave it out, or put it right",
        )
    if q.ball_straight > limits.straight_share:
        yield _note(
            "keyframes", f"{q.ball_straight:.0%} of the ball's steps repeat the one before", "interpolated keyframes"
        )


def _unit_of_heights(high_m: float) -> tuple[str, str]:
    """Return cause and mend of heights that one in twenty exceeds by far too much: in metres that is 1 to 10.

    A match in decimetres with many high balls looks like one in centimetres whose ball stays low.
    """
    if high_m >= 1_000.0:
        return "heights in millimetres instead of metres", "Divide z by 1000"
    if high_m >= 100.0:
        return "heights in centimetres instead of metres", "Divide z by 100"
    return "heights in decimetres or centimetres instead of metres", "Divide z by 10 or by 100"


def _steps(q: InputQuality, limits: InputLimits) -> Iterator[InputFinding]:
    if q.span_s < limits.least_span_s:
        return
    if q.body_outliers > limits.impossible_share:
        yield _wrong(
            "speeds",
            f"{q.body_outliers:.0%} of the players' steps are faster than people can run",
            "times of another unit, such as numbers of frames",
            "Give times in milliseconds",
        )
        return
    minutes = q.span_s / 60
    if q.ball_outliers > limits.outlier_share:
        yield _note("ball jumps", f"{q.ball_outliers:.1%} of the ball's steps are faster than a ball can be")
    if q.identity_jumps > max(5.0, limits.jumps_per_minute * minutes):
        yield _note(
            "identity jumps",
            f"Players jump {q.identity_jumps / minutes:.0f} times a minute",
            "identities that are exchanged, or times that are wrong",
        )
    if q.scene_cuts >= limits.cuts:
        yield _note(
            "scene cuts",
            f"The scene is cut {q.scene_cuts} times: nearly all players are elsewhere from one frame to the next",
            "dead time that was left out without a gap in the times",
        )
    if q.frozen_s > max(2.0, limits.frozen_share * q.span_s):
        yield _note("frozen", f"No player moves in {q.frozen_s:.0f} of {q.span_s:.0f} s", "tracking that stood still")
    pauses_s = sum(after[0] - before[1] for before, after in zip(q.periods, q.periods[1:], strict=False))
    silent_s, played_s = q.gap_s - pauses_s, q.span_s - pauses_s
    silence = f"Nothing was sent for {silent_s:.0f} of {played_s:.0f} s"
    if silent_s > max(2.0, limits.gap_share_wrong * played_s):
        yield _wrong("gaps", silence, "a sample of frames", "Give all frames: ten a second are the least")
    elif silent_s > max(2.0, limits.gap_share * played_s):
        yield _note("gaps", silence)


def _players(q: InputQuality, limits: InputLimits) -> Iterator[InputFinding]:
    if q.span_s < limits.least_span_s:
        return
    on_pitch = {"home": q.home_players, "away": q.away_players}
    for team, count in on_pitch.items():
        if not count:
            yield _wrong(
                "no team",
                f"The {team} team has no player on the pitch",
                "objects without a team",
                "Give each player home or away, in the file's column team or in the match sheet",
            )
        elif count > limits.players_max or count < limits.players_min:
            yield _note("players", f"The {team} team has {count} players on the pitch in the median second")


def _ends(q: InputQuality, sheet: MatchSheet, limits: InputLimits) -> Iterator[InputFinding]:
    attacks = q.attacks_positive_x
    if attacks and sheet.attacks_positive_x and attacks != sheet.attacks_positive_x:
        yield _note(
            "direction",
            f"The match sheet has {sheet.attacks_positive_x} attack towards +x; by their positions {attacks} does",
            "teams that changed places, or mirrored positions",
            f"Give attacks_positive_x = {attacks}, or exchange the teams",
        )
    is_seen = q.span_s - q.gap_s > limits.turn_seen_share * q.span_s
    if attacks and q.span_s > limits.turn_span_s and not q.side_changes and is_seen:
        yield _note(
            "ends",
            f"The teams do not change ends in {q.span_s / 60:.0f} minutes",
            "a file that turns the second half, so that each team attacks one way",
            "Turn the second half back: x and y times -1",
        )


def _refused(
    q: InputQuality, known: Circumstances, limits: InputLimits, *, is_explained: bool
) -> Iterator[InputFinding]:
    """Rules of records that were refused, lost, or arrive too late."""
    unreadable = sum(known.unreadable.values())
    refused, total = q.refused + unreadable, q.positions + unreadable
    if refused > limits.refused_share * total and total >= limits.least_positions:
        reasons = {**q.refused_reasons, **known.unreadable}
        most = max(reasons, key=lambda name: reasons[name])
        text = f"{refused} records were refused, against {total} positions read; {reasons[most]} of them for: {most}"
        if is_explained:
            yield _note("refused", text)
        else:
            yield _wrong("refused", text, _cause_of(most), "See the table quarantine of the match store")
    late = ("records out of order by more than --allowed-lateness", "Raise --allowed-lateness, or sort a file by time")
    if q.lost > limits.lost_share * (q.packets + q.lost):
        yield _wrong("lost", f"{q.lost} of {q.packets} packets were not taken in: they came too late, or differ", *late)
    elif not q.lost and q.behind_share > limits.lost_share:
        found = f"{q.behind_share:.0%} of the packets arrive more than 3 s after later ones, up to {q.behind_s:.0f} s"
        yield _note("late", found, *late)


def _cause_of(why: str) -> str:
    if "before its event time" in why or "does not increase" in why:
        return "records that are not in order of time, or clocks that disagree"
    if "event time" in why:
        return "times of another unit, or from before the source's zero"
    return "an object without positions" if "not a number" in why else "a source in another form"


def _absurd(q: InputQuality, known: Circumstances, limits: InputLimits) -> Iterator[InputFinding]:
    if known.passes is None:
        return
    seen_s = q.span_s - q.gap_s
    if not known.passes and seen_s >= limits.no_pass_s:
        yield _wrong(
            "no pass",
            f"No pass in {seen_s / 60:.0f} minutes",
            "positions that do not fit the pitch, or a ball and players that are not of one clock",
            "See what `touchline inspect` shows of the source",
        )
    elif known.since_pass_s >= limits.no_pass_s:
        yield _wrong(
            "no pass",
            f"No pass in {known.since_pass_s / 60:.0f} minutes of play",
            "a ball that is no longer tracked, or is another",
            "See what `touchline inspect` shows of the source",
        )

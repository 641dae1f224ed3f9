"""The measured quality of an input, and findings about it: what is wrong, the likely cause, and the mend.

:class:`replay.quality.meter.InputMeter` measures; :func:`replay.quality.findings.findings_of` judges. Both are the same
in ``touchline inspect``, in a live run, and at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

#: ``wrong``: what the detectors say about this input cannot be relied on. ``note``: worth knowing.
Severity = Literal["wrong", "note"]


class InputFinding(msgspec.Struct, frozen=True, gc=False):
    """A fault of an input, or a peculiarity of it.

    Attributes:
        code: short name, for programs.
        severity: whether the results of the match can be relied on.
        found: what was seen, with figures.
        cause: the likely cause.
        mend: what a person can do.
    """

    code: str
    severity: Severity
    found: str
    cause: str = ""
    mend: str = ""

    @property
    def text(self) -> str:
        """The finding as one sentence or two."""
        cause = f"; likely {self.cause}" if self.cause else ""
        return f"{self.found}{cause}.{f' {self.mend}.' if self.mend else ''}"


class InputQuality(msgspec.Struct, frozen=True, gc=False):
    """Figures of an input since its beginning, as it arrived. A share is 0..1; of nothing it is 0.

    Attributes:
        packets, lost: valid packets, and inputs that were not taken in; of a run only.
        refused, refused_reasons: records that were refused, and the most frequent reasons; of a run only.
        span_s: event time from the first to the last instant.
        positions, unusable: measured positions, and those of them that are no numbers.
        ball_hz, body_hz: positions a second of a ball and of a player (or of a limb), gaps left out.
        ball_share: share of instants with players that have a usable position of a ball.
        ball_outliers, body_outliers: share of steps that are faster than a ball or a player can be.
        identity_jumps: steps of players that are such and longer than three metres.
        scene_cuts: instants at which nearly all players have made such a step, which then counts as nobody's.
        ball_still: share of the ball's steps without any change.
        frozen_s: seconds in which no player moved by a millimetre.
        ball_noise_m, body_noise_m: noise of a position against its neighbours, a standard deviation.
        ball_straight: share of the ball's steps that repeat the step before exactly, as between keyframes.
        ball_height_share, ball_height_max_m: share of the ball's positions that have a height, and the greatest.
        ball_height_high_m: the height that one in twenty of the ball's positions exceeds.
        gaps, gap_s: silences of all transmitters together for a second or more, and their time.
        same_time, same_time_object: share of an object's positions that repeat a time; the object where it is greatest.
        disordered: positions that go back in time within their packet, or arrive before their event time.
        behind_s: the longest time by which a packet arrived after later ones of any transmitter.
        behind_share: share of packets for which that was more than the usual allowed lateness of 3 s.
        outside: positions outside the tracking volume.
        unknown, unknown_objects: positions of objects that the sheet does not have, and how many such objects.
        home_players, away_players: players on the pitch, in the median second.
        home_objects, away_objects: objects of the teams with positions, in the median second.
        x_low_m, x_high_m, y_low_m, y_high_m: box that has the middle 98 % of the players' positions.
        attacks_positive_x: the team that, by the teams' mean positions, attacks towards +x at the beginning, or empty.
        side_changes: event times at which the teams had changed ends, seconds.
        flag_changes, flag_alive: how often the alive flag has changed, and the share of its packets that say alive.
        flag_outside, flag_outside_alive: its packets while the ball is metres outside, and the share that say alive.
        periods: event times from and to which the transmitters speak without a gap of two minutes, seconds.
    """

    packets: int = 0
    lost: int = 0
    refused: int = 0
    refused_reasons: Mapping[str, int] = {}
    span_s: float = 0.0
    positions: int = 0
    unusable: int = 0
    ball_hz: float = 0.0
    body_hz: float = 0.0
    ball_share: float = 0.0
    ball_outliers: float = 0.0
    body_outliers: float = 0.0
    identity_jumps: int = 0
    scene_cuts: int = 0
    ball_still: float = 0.0
    frozen_s: float = 0.0
    ball_noise_m: float = 0.0
    body_noise_m: float = 0.0
    ball_straight: float = 0.0
    ball_height_share: float = 0.0
    ball_height_max_m: float = 0.0
    ball_height_high_m: float = 0.0
    gaps: int = 0
    gap_s: float = 0.0
    same_time: float = 0.0
    same_time_object: str = ""
    disordered: int = 0
    behind_s: float = 0.0
    behind_share: float = 0.0
    outside: int = 0
    unknown: int = 0
    unknown_objects: int = 0
    home_players: int = 0
    away_players: int = 0
    home_objects: int = 0
    away_objects: int = 0
    x_low_m: float = 0.0
    x_high_m: float = 0.0
    y_low_m: float = 0.0
    y_high_m: float = 0.0
    flag_changes: int = 0
    flag_alive: float = 0.0
    flag_outside: int = 0
    flag_outside_alive: float = 0.0
    attacks_positive_x: str = ""
    side_changes: Sequence[float] = ()
    periods: Sequence[tuple[float, float]] = ()

"""Simulate a seeded match: play it, measure it by a locating system, send it by radio, and write the truth about it.

    play/ -> physics/ (limbs) -> radio/ (measurement, transmission) -> packets, which the app writes into a capture
      |
      +-> truth/

Everything runs interval by interval, so that a match of any length takes the same memory, and a capture can be played
while the match is still going on. The same settings, channel and seed give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from football.match_sheet import NOISE_MAX_M, MatchSheet, Quality
from football.packet_table import POSITION, Ints
from football.recording import Recording, Track, track_order
from football.update_stream import EventRecord
from simulator.play.match import Match
from simulator.play.match_sheet import sheet_of
from simulator.play.squads import MatchSettings
from simulator.radio.measurement import Measurement, Tag, ball_tags, body_tags
from simulator.radio.transmission import Rows
from simulator.records import (
    BALLS,
    FEET,
    FOUR_LIMBS,
    HANDS,
    KEEPERS,
    NAMES,
    SQUAD,
    STARTERS,
    PlayedInterval,
)
from simulator.settings import DEFAULT_SEED, SimulatorError
from simulator.truth.match_truth import Truth, records_of

#: No match goes on for longer.
_FOREVER_S = 1e9


@dataclass(frozen=True)
class Simulation:
    """Settings of the simulator.

    Attributes:
        seed: decides the match, the tags' phases and the noise.
        duration_s: length; None for the whole match, or without end if ``endless``.
        ball_hz: rate of each ball, at most 2,000.
        body_hz: rate of each limb, or of each person if there are no limbs.
        limbs: names of the limb transmitters; empty for one transmitter a person. Goalkeepers also carry hands, as in
            the DEBS 2013 match.
        tags: ``playing``: the players on the pitch and one ball transmit (spare balls are not used); ``all``: both
            squads, the referees and four balls.
        noise_m: standard deviation of each coordinate in the open; 0 switches off every error of measurement.
        length_m, width_m: the pitch.
        endless: halves follow each other without end.
        match: everything else that decides the match; its seed, pitch and end are those above.
    """

    seed: int = DEFAULT_SEED
    duration_s: float | None = 300.0
    ball_hz: int = 200
    body_hz: int = 50
    limbs: tuple[str, ...] = FEET
    tags: Literal["playing", "all"] = "playing"
    noise_m: float = 0.02
    length_m: float = 105.0
    width_m: float = 68.0
    endless: bool = False
    match: MatchSettings = field(default_factory=MatchSettings)

    def __post_init__(self) -> None:
        if not 1 <= self.ball_hz <= 2000:
            raise SimulatorError(f"ball_hz {self.ball_hz} is not in 1..2000")
        if not 1 <= self.body_hz <= 1000:
            raise SimulatorError(f"body_hz {self.body_hz} is not in 1..1000")
        if self.duration_s is not None and not self.duration_s > 0:
            raise SimulatorError(f"duration_s {self.duration_s} is not positive")
        if unknown := set(self.limbs) - set(FOUR_LIMBS):
            raise SimulatorError(f"limbs {', '.join(sorted(unknown))} are not known: {', '.join(FOUR_LIMBS)}")
        if not 0 <= self.noise_m <= NOISE_MAX_M:
            raise SimulatorError(f"noise_m {self.noise_m} is not 0 to {NOISE_MAX_M:g} m")

    @property
    def positions_hz(self) -> int:
        """Positions a second of all transmitters that are on at a time."""
        on = [name if row % SQUAD < STARTERS or self.tags == "all" else "" for row, name in enumerate(NAMES)]
        names = on if self.tags == "all" else on[: 2 * SQUAD]
        return round(sum(tag.rate_hz for tag in tags_of(self, names, self.balls)))

    @property
    def balls(self) -> int:
        """Number of balls that transmit."""
        return len(BALLS) if self.tags == "all" else 1


class PlayableMatch(Protocol):
    """A match that can be measured: simulated, or tracked by cameras."""

    @property
    def on_pitch(self) -> Collection[int]:
        """Rows of the players on the pitch."""

    def intervals(self, until_s: float) -> Iterator[PlayedInterval]:
        """Yield the match up to a time, in order."""


def match_of(settings: Simulation) -> Match:
    """Return the match that the settings describe."""
    return Match(
        replace(
            settings.match, seed=settings.seed, length_m=settings.length_m, width_m=settings.width_m,
            endless=settings.endless, spare_balls=settings.match.spare_balls and settings.tags == "all",
        )
    )  # fmt: skip


def quality_of(settings: Simulation) -> Quality:
    """Return what a match measured with these settings declares about its quality."""
    rates = float(settings.ball_hz), float(settings.body_hz)
    return Quality(*rates, settings.limbs, True, settings.noise_m, "rtls")


def tags_of(settings: Simulation, names: Sequence[str], balls: int) -> list[Tag]:
    """Return the transmitters of persons with these ids (by row, empty for nobody) and of balls, in canonical order."""
    persons = [row for row, name in enumerate(names) if name]
    tags = body_tags(persons, settings.limbs, settings.body_hz, names)
    hands = [hand for hand in HANDS if hand not in settings.limbs]
    if settings.limbs and hands:
        tags += body_tags([row for row in KEEPERS if row in persons], hands, settings.body_hz, names)
    return sorted([*tags, *ball_tags(balls, settings.ball_hz)], key=lambda tag: track_order(tag.name))


class MeasuredMatch:
    """A match with its measurement, on its way into a capture; for one use.

    Args:
        settings: what is measured, and how.
        play: the match; None for the one that the settings describe.
        sheet, names: of a given match its sheet, and the ids of its persons by row, empty for nobody.

    Attributes:
        play, sheet: as given or made.
        measurement: of all tags; ``names`` of them.
    """

    def __init__(
        self,
        settings: Simulation,
        play: PlayableMatch | None = None,
        sheet: MatchSheet | None = None,
        names: Sequence[str] = NAMES,
    ) -> None:
        self.settings = settings
        balls = settings.balls
        if play is None:
            match = match_of(settings)
            play, sheet = match, sheet_of(match.settings, match.squads, quality_of(settings))
            names = names if settings.tags == "all" else names[: 2 * SQUAD]
        else:
            balls = 1
        assert sheet is not None, "a match of another source has its own sheet"
        self.play, self.sheet = play, sheet
        self.measurement = Measurement(tags_of(settings, names, balls), settings.noise_m, settings.seed)
        self.names = tuple(tag.name for tag in self.measurement.tags)

    @property
    def length_s(self) -> float:
        """Upper bound of the match's length."""
        return self.settings.duration_s or _FOREVER_S

    def measured(
        self, watch: Callable[[PlayedInterval], None] | None = None
    ) -> Iterator[tuple[PlayedInterval, list[Rows], int]]:
        """Yield every interval, the samples of each tag in it, and the time before which no more samples follow.

        ``watch`` is called with every interval when it has been played.
        """
        for interval in self.play.intervals(self.length_s):
            if watch is not None:
                watch(interval)
            present = self._present() if self.settings.tags == "playing" else None
            rows, until_us = self.measurement.take(interval, present)
            yield interval, rows, until_us

    def _present(self) -> Collection[int]:
        return set(self.play.on_pitch)


def simulate(settings: Simulation) -> tuple[Recording, tuple[EventRecord, ...]]:
    """Play and measure a short match in memory.

    Returns:
        the recording, and the truth in order of time.
    """
    production = MeasuredMatch(settings)
    assert isinstance(production.play, Match)
    truth = Truth(production.sheet, production.play)
    times: list[list[Ints]] = [[] for _ in production.names]
    positions: list[list[np.ndarray]] = [[] for _ in production.names]
    for _, rows, _ in production.measured(truth.take):
        for number, (ts_us, values) in enumerate(rows):
            times[number].append(ts_us)
            positions[number].append(values[:, POSITION])
    tracks = []
    for name, ts_us, mm in zip(production.names, times, positions, strict=True):
        if any(map(len, ts_us)):
            tracks.append(Track(name, np.concatenate(ts_us), *(np.concatenate(mm) / 1000.0).T.copy()))
    table, _ = truth.finish()
    return Recording(production.sheet, tuple(tracks)), records_of(table)

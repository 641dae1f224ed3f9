"""Truth: marks of events, flags of frames, and their precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import numpy.typing as npt

from football.errors import UserError
from football.packet_table import Ints
from football.payloads import Scalar
from football.update_stream import EventRecord
from replay.scoring.rules import COVERED_VARIANTS, OCCURRED, Rule, rule_of

#: Kinds that ``goal.disallowed`` annuls.
_GOALS = ("goal.scored", "goal.own")


class ScoreError(UserError, ValueError):
    """A truth that cannot be read, contradicts itself, or does not belong to the match; the message names the file."""


class Mark(msgspec.Struct, frozen=True):
    """An event for comparison: time, kind, and team, player, place and payload as far as they are known."""

    ts_us: int
    kind: str
    variant: str = ""
    team: str = ""
    player: str = ""
    x_m: float | None = None
    y_m: float | None = None
    detail: Mapping[str, Scalar] = {}


@dataclass(frozen=True, eq=False)
class Flags:
    """True state of instants, in order of time.

    Attributes:
        ts_us: the instants.
        in_play: whether the ball is in play.
        team: ``home``, ``away``, or empty where truth gives the ball to nobody.
    """

    ts_us: Ints
    in_play: npt.NDArray[np.bool_]
    team: npt.NDArray[np.object_]

    def __post_init__(self) -> None:
        if not len(self.ts_us) == len(self.in_play) == len(self.team):
            raise ScoreError("flags of frames: columns of different lengths")


@dataclass(frozen=True, eq=False)
class Truth:
    """A truth and how it is to be compared.

    Attributes:
        name: its source.
        marks: its events.
        kinds: kinds that it covers, even without an event.
        tolerance_us: no window is narrower: precision of the truth's times.
        names: kinds of ours that it does not distinguish, with its own name for them.
        occurred: detail of a detection that holds the time by which this truth dates the kind; before ``OCCURRED``.
        windows_us: windows that differ from the rules and from ``tolerance_us``.
        flags: of frames, None if it has none.
        span_us: first and last instant that was played, None if all of the truth was. A mark whose window reaches
            over either end counts only if it pairs: its cause or its consequence was not played.
    """

    name: str
    marks: tuple[Mark, ...]
    kinds: frozenset[str]
    tolerance_us: int = 0
    names: Mapping[str, str] = field(default_factory=dict)
    occurred: Mapping[str, str] = field(default_factory=dict)
    windows_us: Mapping[str, int] = field(default_factory=dict)
    flags: Flags | None = None
    span_us: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if unlisted := {mark.kind for mark in self.marks} - set(self.kinds):
            raise ScoreError(f"{self.name}: marks of kinds that it does not list: {', '.join(sorted(unlisted))}")

    def of(self, kind: str) -> tuple[Mark, ...]:
        """The marks of a kind."""
        return tuple(mark for mark in self.marks if mark.kind == kind)

    def between(self, first_us: int, last_us: int) -> Truth:
        """The truth from one instant to another, both included."""
        marks, flags = tuple(mark for mark in self.marks if first_us <= mark.ts_us <= last_us), self.flags
        if flags is not None:
            inside = (flags.ts_us >= first_us) & (flags.ts_us <= last_us)
            flags = Flags(flags.ts_us[inside], flags.in_play[inside], flags.team[inside])
        return replace(self, marks=marks, flags=flags, span_us=(first_us, last_us))

    def is_whole(self, mark: Mark) -> bool:
        """True if all of the window around a mark was played."""
        if self.span_us is None:
            return True
        window_us = self.rule(mark.kind).window_us
        return self.span_us[0] + window_us <= mark.ts_us <= self.span_us[1] - window_us

    def rule(self, kind: str) -> Rule:
        """Return window and agreement of a kind under this truth."""
        rule = rule_of(kind)
        window_us = self.windows_us.get(kind, max(rule.window_us, self.tolerance_us))
        return rule._replace(window_us=window_us)

    def covers(self, record: EventRecord) -> bool:
        """True if a detection can be judged: the truth has all events of its kind, and of its variant."""
        kind = self.names.get(record.kind, record.kind)
        return kind in self.kinds and record.variant in COVERED_VARIANTS.get(kind, (record.variant,))

    def find(self, record: EventRecord) -> Mark:
        """Return a detection as a mark, under this truth's name of its kind and dated as the truth dates it."""
        kind = self.names.get(record.kind, record.kind)
        name = self.occurred.get(record.kind) or OCCURRED.get(record.kind, "")
        return _mark(record, kind, name)


def true_marks(records: Iterable[EventRecord]) -> tuple[Mark, ...]:
    """Return the marks of a truth in the form of events, dated when they happened where they say so.

    A goal that was disallowed is none of them, as consolidated events do not have it either.
    """
    every = list(records)
    void = {cause for record in every if record.kind == "goal.disallowed" for cause in record.causes}
    stands = (record for record in every if record.kind not in _GOALS or record.id not in void)
    return tuple(_mark(record, record.kind, OCCURRED.get(record.kind, "")) for record in stands)


def _mark(record: EventRecord, kind: str, name: str) -> Mark:
    ts_us = _time(record.ts_us, record.detail, name)
    return Mark(ts_us, kind, record.variant, record.team, record.player, record.x_m, record.y_m, record.detail)


def _time(ts_us: int, detail: Mapping[str, Scalar], name: str) -> int:
    occurred_us = detail.get(name) if name else None
    return occurred_us if isinstance(occurred_us, int) else ts_us

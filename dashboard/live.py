"""The live state of one match, shared by all open pages, and the messages to these pages.

One :class:`LiveState` reads the feed's log once, however many pages are open, and each message is made once for all
pages that need the same. A :class:`Reader` stands for one open page: it remembers what the page has, and each message
holds what has changed since then. The first message of a reader is complete (``sheet`` is set), unless the page says
what it had before it lost its connection: then it continues from there.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from camera.chances import load_chances
from dashboard.families import FAMILIES, family_of
from dashboard.feed import CameraPose, Feed
from dashboard.frames import Frame, frame_of
from dashboard.marks import Mark, line_of, marks
from dashboard.race import Race, RaceKeeper
from dashboard.score import Score, ScoreKeeper
from dashboard.steadiness import STEADY, Steadiness
from dashboard.strip import DetectionLatency, Table, strip_tables, watermark_sentence
from football.kind_names import kind_name, variant_name
from football.lifecycle import ENTRIES_PER_GROUP, Entry, Lifecycle, State
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, UpdateRecord

#: Events in the first message to a page; its list holds as many.
ROWS_AT_FIRST: Final = 200
#: State of play, shown next to the clock: the newest asserted event of each of these two. Some older ones are retained,
#: in case the newest is withdrawn.
_PLAY: Final = "play"
_POSSESSION: Final = "team.possession"
_MINUTE: Final = "clock.minute"
_ADDED: Final = "official.added_time"
_SITUATIONS_MAX: Final = 50
#: Families that are shown when a page opens.
_SHOWN: Final = frozenset(family.name for family in FAMILIES if family.shown)
#: Families whose kinds are counted in the totals at the end.
_COUNTED: Final = ("shots", "passes", "restarts")


class Version(msgspec.Struct, frozen=True, gc=False):
    """An older version of an amended event."""

    title: str
    variety: str
    player: str
    other: str
    ts_us: int


class Row(msgspec.Struct, frozen=True, gc=False):
    """An event as the list shows it.

    Attributes:
        level: of the kind in the hierarchy of detectors.
        line: of the list; events of one line are shown together (see :func:`dashboard.marks.line_of`).
        other: the second player where there is one (the receiver of a pass).
        latency_ms: time from the event to its first assertion.
        likely_us: arrival time from which it is likely to stand.
        changed_us: arrival time of its newest update.
        older: versions that this one replaced, oldest first.
    """

    id: str
    kind: str
    family: str
    title: str
    variety: str
    level: int
    team: str
    player: str
    other: str
    ts_us: int
    state: State
    revision: int
    latency_ms: float
    line: str
    x_m: float | None
    y_m: float | None
    confidence: float
    likely_us: int
    changed_us: int
    older: list[Version]


class Totals(msgspec.Struct, frozen=True):
    """Counts of the whole match by kind, the most frequent first, also of events that the list no longer has."""

    by_kind: list[tuple[str, int]]


class Message(msgspec.Struct, omit_defaults=True):
    """A message to a page. Absent parts have not changed.

    ``now_us`` (arrival time) and ``clock_us`` (event time of the positions) advance as long as data arrive. ``cm`` are
    positions as in :class:`dashboard.frames.Frame` where ``ids`` is there, else what is to be added to those of the
    message before; ``old`` belongs to ``cm``. ``minute`` is what a scoreboard shows (``45+1``), ``added`` the minutes
    that officials have added to the period. ``problems`` are the reasons why the match is not live, ``kinds`` all kinds
    seen so far and those of the match's patterns, and their names. ``run`` names this state: a page that lost its
    connection continues only there.
    """

    now_us: int
    version: int
    ended: bool
    clock_us: int | None = None
    ids: tuple[str, ...] | None = None
    cm: tuple[int, ...] | None = None
    old: tuple[int, ...] = ()
    cameras: tuple[CameraPose, ...] | None = None
    rows: list[Row] | None = None
    marks: list[Mark] | None = None
    score: Score | None = None
    play: str | None = None
    possession: str | None = None
    minute: str | None = None
    added: str | None = None
    race: Race | None = None
    problems: tuple[str, ...] | None = None
    kinds: list[tuple[str, str]] | None = None
    strip: list[Table] | None = None
    watermark: str | None = None
    totals: Totals | None = None
    sheet: MatchSheet | None = None
    run: str | None = None


class Had(msgspec.Struct, frozen=True, gc=False):
    """State that a page has: the version of its timeline, -1 for none, and the number of its frame, 0 for none."""

    version: int = -1
    frame: int = 0


class LiveState:
    """The consolidated view of a feed. Thread safe.

    Args:
        feed: of the match.
        patterns: names of the patterns that the match plays; each is an alert, also before its first event.
        steady: share of the events in the calm list that may be withdrawn.
    """

    def __init__(self, feed: Feed, patterns: Iterable[str] = (), steady: float = STEADY) -> None:
        self.feed = feed
        self._patterns = frozenset(f"pattern.{name}" for name in patterns)
        self._lock = threading.Lock()
        self._cursor = 0
        self._timeline = Lifecycle(family_of, packed=True)
        self._score = ScoreKeeper()
        self._detection = DetectionLatency()
        self._situation: dict[str, deque[EventRecord]] = {
            topic: deque(maxlen=_SITUATIONS_MAX) for topic in (_PLAY, _POSSESSION, _MINUTE, _ADDED)
        }
        self._race = RaceKeeper()
        self._steadiness = Steadiness(steady, load_chances().of)
        self._frame: Frame | None = None
        self._made: dict[tuple[object, ...], tuple[str, Had]] = {}
        self._encoder = msgspec.json.Encoder()
        self.run = secrets.token_hex(8)

    def step(self) -> int:
        """Take in what the feed has; return the number of the frame that pages get from now on."""
        with self._lock:
            self._apply_log()
            self._frame = frame_of(self.feed, self._timeline.version, self._frame)
            self._made.clear()
            return self._frame.number

    def text(
        self, had: Had, families: frozenset[str], kinds: frozenset[str], *, strip: bool, all_units: bool = False
    ) -> tuple[str, Had]:
        """Return the message of :meth:`message` as JSON, and what a page has with it. Made once for all pages."""
        wanted = had, families, kinds, strip, all_units
        if wanted not in self._made:
            message, has = self.message(had, families, kinds, strip=strip, all_units=all_units)
            self._made[wanted] = self._encoder.encode(message).decode(), has
        return self._made[wanted]

    def message(
        self,
        had: Had,
        families: Collection[str],
        kinds: Collection[str] = (),
        *,
        strip: bool,
        all_units: bool = False,
    ) -> tuple[Message, Had]:
        """Return the next message for a page that shows ``families``, as of the newest :meth:`step`.

        A page gets a complete message if it has nothing yet, and if it has missed more changes than each family holds.

        Args:
            had: what the page has.
            families: of kinds that the page shows.
            kinds: that it needs besides, for a layer or an alert; ``name.*`` stands for all that begin with ``name.``.
            strip: add the health strip and the totals, which not every message needs.
            all_units: list every unit in the strip, which only a page that shows it needs.
        """
        frame = self._frame
        assert frame is not None, "the first step comes before the first message"
        with self._lock:
            version = self._timeline.version
            complete = not 0 <= had.version <= version <= had.version + ENTRIES_PER_GROUP
            message = Message(frame.now_us, version, frame.ended)
            if complete or version > had.version:
                self._add_events(message, had.version, (families, kinds), ROWS_AT_FIRST if complete else None)
            if strip or complete:
                self._add_strip(message, all_units=all_units)
        _add_frame(message, frame, follows=had.frame == frame.number - 1)
        if complete:
            message.sheet = self.feed.sheet()
            message.kinds = [(kind, kind_name(kind)) for kind in sorted(self._patterns.union(self._timeline.totals))]
            message.run = self.run
        return message, Had(version, frame.number)

    def has_news(self, had: Had) -> bool:
        """True if a page does not have the newest frame."""
        return self._frame is not None and had.frame != self._frame.number

    def catch_up(self) -> None:
        """Apply the updates in the feed's log since the last call."""
        with self._lock:
            self._apply_log()

    def _apply_log(self) -> None:
        # The watermark is read before the log. A watermark newer than the log could confirm an event that an unread
        # update withdraws.
        frontier_us = self.feed.frontier_us()
        self._cursor, updates = self.feed.events_since(self._cursor)
        if updates:
            self._timeline.apply(updates)
            self._steadiness.apply(updates)
            self._score.apply(updates)
            self._race.apply(updates)
            self._detection.apply(updates)
            for update in updates:
                self._note_situation(update)
        self._timeline.advance(frontier_us)
        self._steadiness.advance(frontier_us)

    def _note_situation(self, update: UpdateRecord) -> None:
        kind = update.event.kind
        held = self._situation.get(_PLAY if kind in ("play.live", "play.dead") else kind)
        if held is None:
            return
        if update.diff > 0:
            held.append(update.event)
        elif update.event in held:
            held.remove(update.event)

    def _newest_situation(self, topic: str) -> EventRecord | None:
        return max(self._situation[topic], key=lambda event: event.ts_us, default=None)

    def _add_events(
        self, message: Message, since: int, chosen: tuple[Collection[str], Collection[str]], limit: int | None
    ) -> None:
        families, kinds = chosen[0], self._kinds_of(chosen[1])
        # Each limit is of what the page shows: a dense family of which it needs one kind would else take all places.
        found = self._timeline.changes(since, families, limit)
        others = self._timeline.changes(since, {family_of(kind) for kind in kinds}.difference(families))
        needed = [entry for entry in others if entry.record.kind in kinds]
        found += needed if limit is None else needed[-limit:]
        found.sort(key=lambda entry: entry.version)
        message.rows = [self._row(entry) for entry in found]
        message.marks = marks(self._timeline, message.now_us)
        message.score = self._score.score()
        play, holder = self._newest_situation(_PLAY), self._newest_situation(_POSSESSION)
        message.play = play.kind.removeprefix("play.") if play else ""
        message.possession = (holder.team or holder.variant) if holder else ""
        minute, added = self._newest_situation(_MINUTE), self._newest_situation(_ADDED)
        message.minute = str(minute.detail.get("shown", "")) if minute else ""
        message.added = str(added.detail.get("minutes", "")) if added else ""

    def _kinds_of(self, rules: Collection[str]) -> frozenset[str]:
        """Return the kinds of rules; ``name.*`` stands for all kinds seen so far that begin with ``name.``."""
        begins = tuple(rule[:-1] for rule in rules if rule.endswith("*"))
        if not begins:
            return frozenset(rules)
        return frozenset([*rules, *(kind for kind in self._timeline.totals if kind.startswith(begins))])

    def _add_strip(self, message: Message, *, all_units: bool) -> None:
        message.strip = strip_tables(
            self.feed.health(),
            self.feed.latency(),
            self._detection.percentiles_ms(),
            message.now_us,
            self.feed.frontier_us(),
            self.feed.input(),
            sum(count for kind, count in self._steadiness.withdrawn.items() if family_of(kind) in _SHOWN),
            all_units=all_units,
        )
        message.watermark = watermark_sentence(self.feed.health())
        totals = +self._timeline.totals
        message.totals = Totals(
            [(kind_name(kind), count) for kind, count in totals.most_common() if family_of(kind) in _COUNTED]
        )
        message.race = self._race.race(message.now_us)
        state = self.feed.input()
        message.problems = state.problems if state is not None else ()

    def _row(self, entry: Entry) -> Row:
        record = entry.record
        return Row(
            record.id,
            record.kind,
            family_of(record.kind),
            kind_name(record.kind),
            variant_name(record.kind, record.variant),
            record.level,
            record.team,
            record.player,
            _other(record),
            record.ts_us,
            entry.state,
            entry.revision,
            (entry.emitted_us - record.ts_us) / 1000,
            line_of(record),
            record.x_m,
            record.y_m,
            record.confidence,
            entry.emitted_us + self._steadiness.age_us(record),
            entry.changed_us,
            [version_of(one) for one in entry.older],
        )


class Reader:
    """The messages to one open page, in order.

    Args:
        live: the state of the match.
        families, kinds: as in :meth:`LiveState.message`.
        version: of the timeline that the page has from an earlier connection.
        run: of the state that it had it from.
        all_units: as in :meth:`LiveState.message`.
    """

    def __init__(
        self, live: LiveState, families: Collection[str], kinds: Collection[str] = (), version: int = -1, run: str = "",
        *, all_units: bool = False,
    ) -> None:  # fmt: skip
        self._live, self._all_units = live, all_units
        self._chosen = frozenset(families), frozenset(kinds)
        self._had = Had(version if run == live.run else -1)

    def next(self, *, strip: bool) -> str | None:
        """Return the next message for this page as JSON; None if nothing has changed and ``strip`` is False."""
        if not strip and not self._live.has_news(self._had):
            return None
        text, self._had = self._live.text(self._had, *self._chosen, strip=strip, all_units=self._all_units)
        return text


def version_of(record: EventRecord) -> Version:
    """Return an older version of an event as a page shows it."""
    words = kind_name(record.kind), variant_name(record.kind, record.variant)
    return Version(*words, record.player, _other(record), record.ts_us)


def _other(record: EventRecord) -> str:
    return str(record.detail.get("receiver") or "")


def _add_frame(message: Message, frame: Frame, *, follows: bool) -> None:
    """Add positions and cameras; of a page that has the frame before only what is different."""
    if not follows or not frame.are_cameras_seen:
        message.cameras = frame.cameras
    if frame.clock_us is None or (follows and frame.is_seen):
        return
    message.clock_us, message.old = frame.clock_us, frame.old
    if follows and frame.moved is not None:
        message.cm = frame.moved
    else:
        message.ids, message.cm = frame.ids, frame.cm

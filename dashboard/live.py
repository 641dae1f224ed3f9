"""The live state of one match, shared by all open pages, and the messages to these pages.

One :class:`LiveState` reads the feed's log once, however many pages are open. A :class:`Reader` stands for one open
page: it remembers the version of the timeline that the page has, and each message holds the changes since that version.
The first message of a reader is complete (``sheet`` is set). A page that lost its connection opens a new stream.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection
from typing import Final

import msgspec

from camera.chances import load_chances
from dashboard.families import family_of
from dashboard.feed import CameraPose, Feed
from dashboard.marks import Mark, line_of, marks
from dashboard.race import Race, RaceKeeper
from dashboard.score import Score, ScoreKeeper
from dashboard.strip import DetectionLatency, Table, strip_tables
from football.kind_names import kind_name, variant_name
from football.lifecycle import Entry, Lifecycle, State
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, UpdateRecord, View

#: Events in the first message to a page; its list holds as many.
ROWS_AT_FIRST: Final = 200
#: State of play, shown next to the clock: the newest asserted event of each of these two. Some older ones are retained,
#: in case the newest is withdrawn.
_PLAY: Final = "play"
_POSSESSION: Final = "team.possession"
_MINUTE: Final = "clock.minute"
_ADDED: Final = "official.added_time"
_SITUATIONS_MAX: Final = 50
#: Chance from which a tentative event is likely to stand: the calm list shows it from then on. In simulated matches
#: nine of ten such events stand.
LIKELY: Final = 0.9
#: Families whose kinds are counted in the totals at the end.
_COUNTED: Final = ("shots", "passes", "restarts")

Body = tuple[str, float, float, bool]


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

    ``ball`` is (x_m, y_m, z_m), None while unknown. A player is (object id, x_m, y_m, True if the newest position is
    older than a second of event time). ``now_us`` (arrival time) and ``clock_us`` (event time of the positions) advance
    as long as data arrive. ``minute`` is what a scoreboard shows (``45+1``), ``added`` the minutes that officials have
    added to the period. ``problems`` are the reasons why the match is not live, ``kinds`` all kinds seen so far, and
    their names.
    """

    now_us: int
    version: int
    ended: bool
    clock_us: int | None = None
    ball: tuple[float, float, float] | None = None
    players: list[Body] | None = None
    cameras: tuple[CameraPose, ...] = ()
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
    totals: Totals | None = None
    sheet: MatchSheet | None = None


class LiveState:
    """The consolidated view of a feed. Thread safe."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._lock = threading.Lock()
        self._cursor = 0
        self._timeline = Lifecycle(family_of, packed=True)
        self._score = ScoreKeeper()
        self._detection = DetectionLatency()
        self._situation: dict[str, deque[EventRecord]] = {
            topic: deque(maxlen=_SITUATIONS_MAX) for topic in (_PLAY, _POSSESSION, _MINUTE, _ADDED)
        }
        self._race = RaceKeeper()
        self._chances = load_chances()

    def message(
        self, since: int, families: Collection[str], kinds: Collection[str] = (), *, complete: bool, strip: bool
    ) -> Message:
        """Return the next message for a page that has version ``since`` and shows ``families``.

        Args:
            since: version of the timeline that the page has.
            families: of kinds that the page shows.
            kinds: that it needs besides, for a layer or an alert; ``name.*`` stands for all that begin with ``name.``.
            complete: make the message complete, as the first one of a page.
            strip: add the health strip and the totals, which not every message needs.
        """
        with self._lock:
            self._apply_log()
            message = Message(self.feed.now_us(), self._timeline.version, self.feed.ended())
            if complete or message.version > since:
                self._add_events(message, since, (families, kinds), ROWS_AT_FIRST if complete else None)
            if strip:
                self._add_strip(message)
        _add_view(message, self.feed.latest_view())
        message.cameras = self.feed.cameras()
        if complete:
            message.sheet = self.feed.sheet()
            message.kinds = [(kind, kind_name(kind)) for kind in sorted(self._timeline.totals)]
        return message

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
            self._score.apply(updates)
            self._race.apply(updates)
            self._detection.apply(updates)
            for update in updates:
                self._note_situation(update)
        self._timeline.advance(frontier_us)

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

    def _add_strip(self, message: Message) -> None:
        message.strip = strip_tables(
            self.feed.health(),
            self.feed.latency(),
            self._detection.percentiles_ms(),
            message.now_us,
            self.feed.frontier_us(),
            self.feed.input(),
        )
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
            entry.emitted_us + self._chances.likely_age_us(record, LIKELY),
            entry.changed_us,
            [_version(one) for one in entry.older],
        )


class Reader:
    """The messages to one open page, in order."""

    def __init__(self, live: LiveState, families: Collection[str], kinds: Collection[str] = ()) -> None:
        self._live = live
        self._chosen = families, kinds
        self._version = 0
        self._is_first = True
        self._shown: tuple[object, ...] = ()

    def next(self, *, strip: bool) -> Message | None:
        """Return the next message for this page; None if nothing has changed and ``strip`` is False."""
        message = self._live.message(
            self._version, *self._chosen, complete=self._is_first, strip=strip or self._is_first
        )
        self._version = message.version
        shown = (message.clock_us, message.now_us, message.version, message.ended, message.cameras)
        unchanged = shown == self._shown and not strip and not self._is_first
        self._shown = shown
        self._is_first = False
        return None if unchanged else message


def _version(record: EventRecord) -> Version:
    words = kind_name(record.kind), variant_name(record.kind, record.variant)
    return Version(*words, record.player, _other(record), record.ts_us)


def _other(record: EventRecord) -> str:
    return str(record.detail.get("receiver") or "")


def _add_view(message: Message, view: View | None) -> None:
    """Add positions, rounded to the centimetre to save bytes."""
    if view is None:
        return
    message.clock_us = view.ts_us
    if view.ball is not None:
        message.ball = (round(view.ball.x_m, 2), round(view.ball.y_m, 2), round(view.ball.z_m, 2))
    message.players = [
        (body.object_id, round(body.x_m, 2), round(body.y_m, 2), view.ts_us - body.ts_us > 1_000_000)
        for body in view.players
    ]

"""The update stream: the engine's output, and a follower that stays correct when a window is redone.

Theory of operation
-------------------
The engine stage publishes every update at once, before its window is committed. If the stage dies, another starts
from the state at the window's beginning and publishes the window's updates again. So each message carries (match,
epoch, seq): ``epoch`` grows by one whenever a stage starts or restarts from a stored state, ``seq`` counts updates
since the match began and is part of that state. The first message of an epoch has ``continues_from``: the number of
updates that the restored state had sent. A follower withdraws everything it received beyond that number from older
epochs, then continues. That is bulk retraction by event counter (paper 000, section 4.3.1).

Messages of an epoch older than the newest one seen are ignored: their stage has been replaced.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Literal

import msgspec

from football.input_quality import InputQuality
from football.payloads import Scalar


class EventRecord(msgspec.Struct, frozen=True, gc=False):
    """An event as users, stores and clients see it: flat, typed, without the engine's inner payloads.

    ``lag_us`` says how far the frontier of its kind trails that of the inputs: the sum of the horizons below it.
    """

    id: str
    kind: str
    variant: str
    level: int
    ts_us: int
    team: str
    player: str
    x_m: float | None
    y_m: float | None
    z_m: float | None
    confidence: float
    causes: tuple[str, ...] = ()
    detail: Mapping[str, Scalar] = {}
    lag_us: int = 0

    def is_confirmed(self, frontier_us: int) -> bool:
        """True if no late packet can change the event once the frontier of the inputs is at ``frontier_us``."""
        return self.ts_us + self.lag_us < frontier_us


class UpdateRecord(msgspec.Struct, frozen=True, gc=False):
    """One published update. ``seq`` counts the match's updates from 0; ``emitted_us`` is arrival time."""

    seq: int
    diff: int
    emitted_us: int
    event: EventRecord


class BallView(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Newest known ball state: event time, metres, metres a second."""

    ts_us: int
    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    vz_m_s: float


class BodyView(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Newest known state of a player: object id, team, event time, metres, metres a second."""

    object_id: str
    team: str
    ts_us: int
    x_m: float
    y_m: float
    vx_m_s: float
    vy_m_s: float


class View(msgspec.Struct, frozen=True, gc=False):
    """Newest known positions for pictures and cameras, at most 50 a second; not subject to ordering."""

    ts_us: int
    ball: BallView | None
    players: tuple[BodyView, ...]


class WatermarkHold(msgspec.Struct, frozen=True, gc=False):
    """The reason for which the watermark of the inputs advances no further; see ``middleware.sources.final_limit``."""

    reason: Literal["lateness", "distrust", "new", "source", "gap", "silent", "none"]
    source: str = ""
    since_us: int = 0
    patience_us: int = 0


class Health(msgspec.Struct, frozen=True, gc=False):
    """State of the ordering, since the start of the match unless said otherwise.

    ``slack_us`` and ``alpha`` are by unit (detector name; of keyed units the greatest K). ``buffered`` is the
    number of events now waiting, ``held`` of those stored for repair. ``late`` counts inputs of units that came
    later than the whole slack K and were repaired, ``lost`` inputs that were not taken in, ``differing_copies``
    those of them of which a copy with another content counts. ``duplicates`` counts proven copies.
    ``positions`` and ``packets`` count readable input; ``retractions`` counts published -1 updates. ``busy`` is
    the engine's share of the time available, by load accounting. ``failed`` has the error of detectors that have
    raised and are silent now, ``faults`` how often each broke its contract, ``fault_texts`` how. ``quality`` is the
    measured quality of what has arrived, some seconds old at most. ``lag_us`` is how far the oldest waiting input of
    a unit lies behind ``clk_us``; a unit in which nothing waits is absent. ``work_shares`` is each detector's part of
    the work of all since the beginning, by counted steps and their measured cost; empty before the first measurement.
    ``hold`` is what holds the watermark back.
    """

    clk_us: int
    frontier_us: int
    slack_us: Mapping[str, int]
    alpha: Mapping[str, float]
    buffered: int
    held: int
    late: int
    retractions: int
    lost: int
    duplicates: int
    quarantined: int
    positions: int
    packets: int = 0
    busy: float = 0.0
    failed: Mapping[str, str] = {}
    faults: Mapping[str, int] = {}
    differing_copies: int = 0
    quality: InputQuality | None = None
    lag_us: Mapping[str, int] = {}
    work_shares: Mapping[str, float] = {}
    hold: WatermarkHold | None = None
    fault_texts: Mapping[str, str] = {}


class UpdateMessage(msgspec.Struct, frozen=True, gc=False):
    """One message of the update stream.

    Attributes:
        match: match id.
        epoch: see the module's theory of operation.
        continues_from: set on the first message of an epoch.
        now_us: arrival time (stream clock) at which it left the engine.
        frontier_us: watermark of the inputs: event time below which none is taken in any more. That of a kind lies by
            the ``lag_us`` of its events before it: below it no late packet changes anything.
        updates: consecutive ``seq``.
        view, health: newest, or None if unchanged since the last message.
        due_wall_us: wall time at which the block that caused it reached the source (0 if unknown).
        stage_wall_us: wall time at which the block entered the engine stage.
        sent_wall_us: wall time at which the message was sent.
        ended: True on the last message of a match.
    """

    match: str
    epoch: int
    now_us: int
    frontier_us: int
    updates: tuple[UpdateRecord, ...] = ()
    continues_from: int | None = None
    view: View | None = None
    health: Health | None = None
    due_wall_us: int = 0
    stage_wall_us: int = 0
    sent_wall_us: int = 0
    ended: bool = False


class Follower:
    """Consolidated view of one match's update stream; pure, no I/O.

    It stores the events that stand now and the log of updates that are not settled (:meth:`settle`), so that a
    new epoch can withdraw what the stage before it had sent and never committed.
    """

    def __init__(self) -> None:
        self.epoch = -1
        self.next_seq = 0
        self.frontier_us = -(2**62)
        self.now_us = 0
        self.events: dict[str, EventRecord] = {}
        self.view: View | None = None
        self.health: Health | None = None
        self.ended = False
        self._log: deque[UpdateRecord] = deque()
        self._settled_seq = 0
        self._settled: list[EventRecord] = []
        #: Of each epoch with updates that stand: its first number and its own; both ascend.
        self._begins: list[tuple[int, int]] = []

    def apply(self, message: UpdateMessage) -> Sequence[UpdateRecord]:
        """Apply a message; return the updates that changed the view, withdrawals of superseded ones first.

        Raises:
            ValueError: a gap in ``seq``; the follower has missed a message and must reconnect.
        """
        if message.epoch < self.epoch:
            return ()
        applied: list[UpdateRecord] = []
        if message.continues_from is not None and message.epoch > self.epoch:
            applied.extend(self._take_back(message.continues_from, message.now_us))
        if message.epoch > self.epoch:
            self._begins = [begin for begin in self._begins if begin[0] < self.next_seq]
            self._begins.append((self.next_seq, message.epoch))
        self.epoch = message.epoch
        for update in message.updates:
            if update.seq < self.next_seq:
                continue
            if update.seq > self.next_seq:
                raise ValueError(f"update {self.next_seq} is missing: {update.seq} came instead")
            self._log.append(update)
            self.next_seq += 1
            self._act(update)
            applied.append(update)
        self.now_us = message.now_us
        self.frontier_us = message.frontier_us
        self.view = message.view or self.view
        self.health = message.health or self.health
        self.ended = message.ended
        return applied

    def settle(self, seq: int, frontier_us: int) -> list[EventRecord]:
        """Forget what is committed, so that memory does not grow with the match.

        Args:
            seq: updates before it are committed. A later epoch repeats them or continues after them.
            frontier_us: the watermark at the commit.

        Returns:
            Events of committed updates that became final, asserted or withdrawn. They leave ``events``.
        """
        while self._log and self._log[0].seq < seq:
            self._settled.append(self._log.popleft().event)
        self._settled_seq = max(self._settled_seq, min(seq, self.next_seq))
        final = [event for event in self._settled if event.is_confirmed(frontier_us)]
        self._settled = [event for event in self._settled if not event.is_confirmed(frontier_us)]
        for event in final:
            if self.events.get(event.id) == event:
                del self.events[event.id]
        return final

    @property
    def settled_seq(self) -> int:
        """Number of the first update that is not settled."""
        return self._settled_seq

    def unsettled(self, since: int, limit: int) -> list[UpdateRecord]:
        """Return at most ``limit`` updates that stand and are not settled, from number ``since`` on, in order."""
        count = self.next_seq - max(since, self._settled_seq)
        if count <= 0:
            return []
        newest = list(islice(reversed(self._log), count))
        return newest[: -limit - 1 : -1]

    def epoch_of(self, seq: int) -> int:
        """Return the epoch that published the update of a number; -1 if none did."""
        return next((epoch for begin, epoch in reversed(self._begins) if begin <= seq), -1)

    def valid_until(self, epoch: int) -> int:
        """Return the number up to which somebody who read the updates of ``epoch`` still has what stands now."""
        return next((begin for begin, later in self._begins if later > epoch), self.next_seq)

    def is_final(self, event: EventRecord) -> bool:
        """True if nothing that may still arrive can change ``event``."""
        return event.is_confirmed(self.frontier_us)

    def _act(self, update: UpdateRecord) -> None:
        if update.diff > 0:
            self.events[update.event.id] = update.event
        elif self.events.get(update.event.id) == update.event:
            del self.events[update.event.id]

    def _take_back(self, continues_from: int, now_us: int) -> list[UpdateRecord]:
        """Undo every update from ``continues_from`` on that is not committed, newest first."""
        undone: list[UpdateRecord] = []
        while self._log and self._log[-1].seq >= continues_from:
            last = self._log.pop()
            inverse = UpdateRecord(last.seq, -last.diff, now_us, last.event)
            self._act(inverse)
            undone.append(inverse)
        self.next_seq = max(continues_from, self._settled_seq)
        return undone

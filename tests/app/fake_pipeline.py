"""A small deterministic pipeline with the real one's contract, for tests of the host around it.

Every packet of the ball asserts an event; every tenth one is withdrawn again by the packet after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa

from app.pipeline.seal import Maker
from app.sources.interface import Recording, TimedBlock
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, UpdateMessage, UpdateRecord
from middleware.events import END_US
from replay import wire


class State(msgspec.Struct):
    seq: int = 0
    balls: int = 0
    open_event: EventRecord | None = None


class FakePipeline:
    maker = Maker("fake", ("fake",))
    adapts, far_behind_us = False, END_US

    def __init__(self, sheet: MatchSheet, settings: Any, epoch: int) -> None:
        self._sheet, self._epoch = sheet, epoch
        self._state = State()
        self._fresh: int | None = 0
        self._pending: list[UpdateRecord] = []
        self._now_us = 0

    @classmethod
    def warm_up(cls, sheet: MatchSheet, settings: Any, sample: Recording, blocks: int) -> Any:
        return settings

    def push(self, payload: bytes, arrival_us: int, due_wall_us: int) -> UpdateMessage | None:
        self._now_us = arrival_us
        updates: list[UpdateRecord] = []
        for packet in wire.decode(payload).packets:
            if packet.transmitter == "ball":
                updates.extend(self._ball(packet.sequence, packet.ts_us[0], arrival_us))
        return self._message(updates, due_wall_us) if updates or self._fresh is not None else None

    def push_together(self, blocks: Sequence[TimedBlock], complete_us: int | None = None) -> UpdateMessage | None:
        ((arrival_us, due_wall_us, payload),) = blocks
        return self.push(payload, arrival_us, due_wall_us)

    def measure_in_pause(self) -> None:
        """Has nothing to do."""

    def finish(self) -> UpdateMessage:
        return msgspec.structs.replace(self._message([], 0), frontier_us=2**62, ended=True)

    def take_tables(self) -> dict[str, pa.Table]:
        rows = [
            {
                "seq": u.seq,
                "diff": u.diff,
                "emitted_us": u.emitted_us,
                "epoch": self._epoch,
                "id": u.event.id,
                "ts_us": u.event.ts_us,
            }
            for u in self._pending
        ]
        self._pending = []
        return {"updates": pa.Table.from_pylist(rows)} if rows else {}

    def commit_meta(self) -> dict[str, Any]:
        return {"balls": self._state.balls, "next_seq": self._state.seq}

    def inspect_detectors(self) -> None:
        """Has nothing to do."""

    def snapshot(self) -> bytes:
        return msgspec.msgpack.encode(self._state)

    def restore(self, state: bytes) -> None:
        self._state = msgspec.msgpack.decode(state, type=State)
        self._fresh = self._state.seq

    def _ball(self, sequence: int, ts_us: int, arrival_us: int) -> list[UpdateRecord]:
        updates = []
        if self._state.open_event is not None:
            updates.append(self._update(-1, arrival_us, self._state.open_event))
            self._state.open_event = None
        event = EventRecord(f"fake#{sequence}", "fake", "", 2, ts_us, "", "ball", None, None, None, 1.0)
        updates.append(self._update(+1, arrival_us, event))
        if self._state.balls % 10 == 9:
            self._state.open_event = event
        self._state.balls += 1
        return updates

    def _update(self, diff: int, arrival_us: int, event: EventRecord) -> UpdateRecord:
        update = UpdateRecord(self._state.seq, diff, arrival_us, event)
        self._state.seq += 1
        self._pending.append(update)
        return update

    def _message(self, updates: list[UpdateRecord], due_wall_us: int) -> UpdateMessage:
        continues_from, self._fresh = self._fresh, None
        return UpdateMessage(
            self._sheet.match_id,
            self._epoch,
            self._now_us,
            self._now_us - 1_000_000,
            tuple(updates),
            continues_from,
            due_wall_us=due_wall_us,
        )

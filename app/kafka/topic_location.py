"""A match in a topic, in data: where it is, and what its reader is told. Loads no client."""

from __future__ import annotations

import msgspec

from app.kafka.records import Sheet


class TopicLocation(msgspec.Struct, frozen=True):
    """A match in a topic.

    Attributes:
        match: its id.
        partition: where it is; all of a match stands in one.
        offset: of the sheet that it is begun with.
        sheet: that sheet.
    """

    match: str
    partition: int
    offset: int
    sheet: Sheet

    def records_in(self, window_s: float) -> int:
        """How many records should come in a window, by what the sheet tells of the gateway."""
        records_hz = 1e6 / self.sheet.slot_us if self.sheet.slot_us else self.sheet.sheet.quality.ball_hz
        return max(1, round(window_s * records_hz))


class TopicOptions(msgspec.Struct, frozen=True):
    """What a reader is told.

    Attributes:
        url: address of the topic.
        match, partition, begin: see :class:`TopicLocation`.
        window_records, window_s: what should come between two commits, and how long that should take.
        stop_flag: file whose existence asks for the end.
        marks: folder for ranges that were closed early.
    """

    url: str
    match: str
    partition: int
    begin: int
    window_records: int
    window_s: float
    stop_flag: str
    marks: str

    def options(self) -> dict[str, str]:
        """As options of a Spark reader."""
        return {name: str(getattr(self, name)) for name in self.__struct_fields__}

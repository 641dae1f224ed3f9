"""The location of a match in a topic, and the data of its reader. Imports no client."""

from __future__ import annotations

import msgspec

from app.kafka.records import Sheet


class TopicLocation(msgspec.Struct, frozen=True):
    """A match in a topic.

    Attributes:
        match: its id.
        partition: that of all records of the match.
        offset: of the sheet that it begins with.
        sheet: that sheet.
    """

    match: str
    partition: int
    offset: int
    sheet: Sheet

    def records_in(self, window_s: float) -> int:
        """The number of records to expect in a window, from the gateway's interval in the sheet."""
        records_hz = 1e6 / self.sheet.slot_us if self.sheet.slot_us else self.sheet.sheet.quality.ball_hz
        return max(1, round(window_s * records_hz))


class TopicSpec(msgspec.Struct, frozen=True):
    """The data that a reader of a match in a topic needs.

    Attributes:
        url: address of the topic.
        match: id of the match there, the key of its records.
        partition: that of all records of the match.
        window_records, window_s: number of records of a window, and the time that it may take.
        takes_unkeyed: True if records without a key are the match's, too.
        sample: folder of the capture to warm up on.
    """

    url: str
    match: str
    partition: int
    window_records: int
    window_s: float
    takes_unkeyed: bool = False
    sample: str = ""

"""Where in a topic a match is, in data. Loads no client."""

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


class TopicSpec(msgspec.Struct, frozen=True):
    """What a reader needs to read a match out of a topic.

    Attributes:
        url: address of the topic.
        match: id of the match there, the key of its records.
        partition: all of the match is in this one.
        window_records, window_s: how many records should come in one window, and how long that may take.
        alone: whether records without a key are the match's, too.
        sample: folder of the capture to warm up on.
    """

    url: str
    match: str
    partition: int
    window_records: int
    window_s: float
    alone: bool = False
    sample: str = ""

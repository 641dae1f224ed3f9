"""Buffer of a match's quarantine between two commits: counts all refused records, stores a limited number.

The limits keep a faulty or hostile input from filling memory or disk: a record of a megabyte may hold a hundred
thousand bad packets, and each record may be refused for a different reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa

from football.officials import Official
from football.packets import Packet, RejectedRecord
from football.untrusted import REJECTED_MAX, SOURCES_MAX
from middleware.events import Loss
from replay.match_store import quarantine_table

#: Limit of the rows in a commit; a match at the full rate with a wrong clock reaches it in half a second.
MAX_ROWS = REJECTED_MAX

#: Limit of the reasons that are counted separately.
MAX_REASONS = 100
OTHER_REASONS = "other reasons"

#: Reason texts for the packets that the engine refuses (``middleware.events.Loss``).
_REASONS = {
    "memory": "arrived later than the engine's memory",
    "reported": "arrived after its sources had reported later positions",
    "promise": "arrived although nothing so old was to come any more",
    "held": "arrived later than the engine's memory, cut short by the number of inputs held",
    "clock": "the clock of its source is ahead of all others",
    "differs": "a copy of it with another content counts",
    "number": "its number cannot be told from others of its source",
    "sources": f"one transmitter more than the {SOURCES_MAX} that a match may have",
}


class QuarantineBuffer:
    """Collects refused records until they are committed."""

    def __init__(self) -> None:
        self._rows: list[RejectedRecord] = []
        self._not_stored = 0

    def add(self, rejected: Iterable[RejectedRecord], counts: Counter[str]) -> None:
        """Adds records, and counts them by reason in ``counts``."""
        for record in rejected:
            reason = record.reason
            counts[reason if reason in counts or len(counts) < MAX_REASONS else OTHER_REASONS] += 1
            if len(self._rows) < MAX_ROWS:
                self._rows.append(record)
            else:
                self._not_stored += 1

    def take(self) -> pa.Table:
        """Returns and clears the rows of the table ``quarantine``."""
        rows, not_stored = self._rows, self._not_stored
        self._rows, self._not_stored = [], 0
        if not_stored:
            reason = f"{not_stored} more were kept out before the commit"
            rows.append(RejectedRecord("further records", "", -1, None, reason, ""))
        return quarantine_table(rows)

    def __bool__(self) -> bool:
        return bool(self._rows)


def lost_record(loss: Loss) -> RejectedRecord:
    """Quarantine record of an input that the engine did not take in."""
    packet = loss.event.payload
    if isinstance(packet, Official):
        record = f"decision {packet.number} of {packet.source}"
        return RejectedRecord(record, "official", packet.number, packet.at_us, _REASONS[loss.reason], packet.kind)
    if not isinstance(packet, Packet):  # a frame of a tracking system
        record = f"frame {loss.event.seq} of the {loss.event.source}"
        return RejectedRecord(record, "", -1, loss.event.ts_us, _REASONS[loss.reason], "")
    return RejectedRecord(
        record=f"packet {packet.sequence} of {packet.transmitter}",
        transmitter=packet.transmitter,
        sequence=packet.sequence,
        ts_us=packet.ts_us[0],
        reason=_REASONS[loss.reason],
        raw="",
    )

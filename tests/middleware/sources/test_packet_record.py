"""The memory of packets that were not taken in: how long, and how many."""

from __future__ import annotations

from middleware.events import Event
from middleware.sources.packet_record import REFUSED_MAX, REFUSED_RETAINED_US, PacketRecord


def packet(number: int, ts_us: int) -> Event:
    return Event("raw.a", ts_us, "s", number, number, f"s:{number}")


def test_a_copy_of_a_lost_packet_is_proven_for_some_minutes_and_then_forgotten() -> None:
    record = PacketRecord()
    old, young = packet(0, 1_000), packet(1, REFUSED_RETAINED_US)
    record.note_refused(old)
    record.note_refused(young)
    record.forget(old.ts_us + REFUSED_RETAINED_US)
    assert record.was_refused(old)
    record.forget(old.ts_us + REFUSED_RETAINED_US + 1)
    assert not record.was_refused(old)
    assert record.was_refused(young)


def test_of_a_flood_of_lost_packets_the_newest_are_remembered() -> None:
    record = PacketRecord()
    packets = [packet(number, number) for number in range(REFUSED_MAX + 1)]
    for one in packets:
        record.note_refused(one)
    assert len(record.refused) == REFUSED_MAX
    assert not record.was_refused(packets[0])
    assert record.was_refused(packets[-1])

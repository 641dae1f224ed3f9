"""Followers of an updates topic see what followers of the update stream see, whichever process dies in between."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kafka.follow import View
from app.kafka.updates import GapError, StandingUpdates, TopicUpdate, decode, topic_updates
from football.update_stream import EventRecord, Follower, UpdateMessage, UpdateRecord


def event(name: int) -> EventRecord:
    return EventRecord(f"hit#{name}", "hit", "", 5, name, "home", "home_7", 1.0, 2.0, None, 1.0, (), {"limb": "head"})


@st.composite
def connected_stages(draw: st.DrawFn) -> list[UpdateMessage]:
    """Stages one after the other: each takes over at some update of the one before, and says something else."""
    messages: list[UpdateMessage] = []
    stream: list[UpdateRecord] = []
    for epoch in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(stream)))
        del stream[begin:]
        continues_from: int | None = begin
        for _ in range(draw(st.integers(1, 4))):
            fresh = []
            for _ in range(draw(st.integers(0, 3))):
                asserted: dict[str, EventRecord] = {}
                for update in stream:
                    if update.diff > 0:
                        asserted[update.event.id] = update.event
                    else:
                        del asserted[update.event.id]
                withdraws = bool(asserted) and draw(st.booleans())
                withdrawn = draw(st.sampled_from(sorted(asserted))) if withdraws else None
                record = asserted[withdrawn] if withdrawn else event(draw(st.integers(0, 10**6)))
                if not withdraws and record.id in asserted:
                    continue
                fresh.append(UpdateRecord(len(stream), -1 if withdraws else 1, len(messages), record))
                stream.append(fresh[-1])
            messages.append(UpdateMessage("m", epoch, len(messages), 0, tuple(fresh), continues_from))
            continues_from = None
    return messages


@given(connected_stages(), st.randoms(use_true_random=False))
def test_a_topic_gives_what_the_update_stream_gives_though_stages_die_and_records_come_twice(messages, chance):
    follower, view, total, next_seq = Follower(), View(), dict[str, int](), 0
    for message in messages:
        for record in topic_updates("m", next_seq, follower.apply(message)):
            next_seq = record.seq if record.undo else record.seq + 1
            again = decode(msgspec.json.encode(record))
            assert again == record
            assert view.take(again)
            total[record.event.id] = total.get(record.event.id, 0) + record.diff
            if chance.random() < 0.3 and not record.undo:
                assert not view.take(record)
            assert set(total.values()) <= {0, 1}, "asserted twice, or withdrawn without having been asserted"
        assert view.events == follower.events


def test_updates_that_are_missing_are_a_gap():
    standing = StandingUpdates()
    with pytest.raises(GapError, match="update 0 of m is missing: 1 came"):
        standing.take(TopicUpdate("m", 1, 1, 0, event(1)))


def test_a_line_begun_in_the_middle_can_be_undone_to_before_its_beginning():
    standing = StandingUpdates(7)
    assert standing.take(TopicUpdate("m", 6, -1, 0, event(6), undo=True))
    assert standing.next_seq == 6


@pytest.mark.parametrize("value", [None, b"", b"{}", b"[1]", b'{"match": "m", "seq": "x"}', b"\xff"])
def test_what_is_no_update_is_said(value):
    with pytest.raises(ValueError, match="not an update"):
        decode(value)

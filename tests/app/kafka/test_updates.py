"""What followers of an updates topic see, whoever dies in between: the same as followers of the lane."""

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
    said: list[UpdateRecord] = []
    for epoch in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(said)))
        del said[begin:]
        continues_from: int | None = begin
        for _ in range(draw(st.integers(1, 4))):
            fresh = []
            for _ in range(draw(st.integers(0, 3))):
                asserted = {u.event.id: u.event for u in said if u.diff > 0}
                for u in said:
                    if u.diff < 0:
                        asserted.pop(u.event.id, None)
                withdraws = bool(asserted) and draw(st.booleans())
                chosen = draw(st.sampled_from(sorted(asserted))) if withdraws else None
                told = asserted[chosen] if chosen else event(draw(st.integers(0, 10**6)))
                if not withdraws and told.id in asserted:
                    continue
                fresh.append(UpdateRecord(len(said), -1 if withdraws else 1, len(messages), told))
                said.append(fresh[-1])
            messages.append(UpdateMessage("m", epoch, len(messages), 0, tuple(fresh), continues_from))
            continues_from = None
    return messages


@given(connected_stages(), st.randoms(use_true_random=False))
def test_the_topic_says_what_the_lane_says_though_stages_die_and_records_come_twice(lane, chance):
    follower, view, total, next_seq = Follower(), View(), dict[str, int](), 0
    for message in lane:
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
    line = StandingUpdates()
    with pytest.raises(GapError, match="update 0 of m is missing: 1 came"):
        line.take(TopicUpdate("m", 1, 1, 0, event(1)))


def test_a_line_begun_in_the_middle_can_be_undone_to_before_its_beginning():
    line = StandingUpdates(7)
    assert line.take(TopicUpdate("m", 6, -1, 0, event(6), undo=True))
    assert line.next_seq == 6


@pytest.mark.parametrize("value", [None, b"", b"{}", b"[1]", b'{"match": "m", "seq": "x"}', b"\xff"])
def test_what_is_no_update_is_said(value):
    with pytest.raises(ValueError, match="not an update"):
        decode(value)

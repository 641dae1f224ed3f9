"""A link hands over every message once and in order, whatever the network does; it measures clocks and latency."""

from __future__ import annotations

from random import Random

from middleware.nodes.links import Frame, Link, LinkSettings
from middleware.nodes.messages import Clock, Message

SETTINGS = LinkSettings(batch_us=1_000, batch_messages=4, window=3, resend_us=20_000)


def test_messages_arrive_once_and_in_order_over_a_network_that_loses_doubles_and_disorders():
    rng = Random(7)
    one, other = Link(1, SETTINGS), Link(1, SETTINGS)
    sent: list[Message] = [Clock(n) for n in range(200)]
    got: list[Message] = []
    under_way: list[tuple[int, Link, Frame]] = []
    for now_us in range(0, 3_000_000, 500):
        if now_us % 2_000 == 0 and now_us // 2_000 < len(sent):
            one.put([sent[now_us // 2_000]], now_us)
        for link, receiver in ((one, other), (other, one)):
            for frame in link.poll(now_us):
                copies = rng.choice((0, 1, 1, 2))
                under_way += [(now_us + rng.randint(1_000, 9_000), receiver, frame) for _ in range(copies)]
        for item in [item for item in under_way if item[0] <= now_us]:
            under_way.remove(item)
            for messages in item[1].receive(item[2], now_us):
                got += messages
    assert got == sent
    assert one.counts.resent > 0
    assert one.backlog == 0
    assert one.due_us > 2**61, "everything is acknowledged, so nothing is sent again"


def test_frames_of_another_epoch_are_dropped():
    old, new = Link(1, SETTINGS), Link(2, SETTINGS)
    old.put([Clock(1)], 0)
    (frame,) = old.poll(1_000)
    assert new.receive(frame, 2_000) == []
    assert new.counts.received == 0


def test_a_window_of_frames_is_under_way_at_most_and_batches_are_bounded():
    link = Link(1, SETTINGS)
    link.put([Clock(n) for n in range(100)], 0)
    frames = link.poll(0)
    assert len(frames) == SETTINGS.window
    assert link.backlog == 100 - SETTINGS.window * SETTINGS.batch_messages


def test_latency_and_clock_offset_follow_from_both_directions():
    """The other clock is 7 ms ahead; the link takes 3 ms each way, and up to 2 ms more."""
    rng = Random(3)
    one, other = Link(1, SETTINGS), Link(1, SETTINGS)
    for n in range(1, 60):
        now_us = n * 10_000
        one.put([Clock(n)], now_us)
        other.put([Clock(n)], now_us + 7_000)
        for frame in one.poll(now_us + 1_000):
            other.receive(frame, now_us + 8_000 + 3_000 + rng.randint(0, 2_000))
        for frame in other.poll(now_us + 8_000):
            one.receive(frame, now_us + 1_000 + 3_000 + rng.randint(0, 2_000))
    assert one.counts.offset_us is not None
    assert one.counts.latency_us is not None
    assert abs(one.counts.offset_us - 7_000) < 300
    assert abs(one.counts.latency_us - 3_000) < 300
    assert 1_000 < one.counts.jitter_us <= 2_000

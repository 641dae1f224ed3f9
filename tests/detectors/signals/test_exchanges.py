"""Players whom a tracking system takes for each other where they meet, and what is none of it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.arrivals import frame_arrival
from detectors.signals.exchanges import ExchangeParameters
from detectors.signals.frame_fast_path import Instant, PackedFrameState
from detectors.signals.optical import OpticalAdapter
from football.match_sheet import MatchSheet, Quality
from football.packets import PackedInstant, Packet
from football.payloads import frame_of
from middleware.events import Event

FRAME_US = 40_000
#: Where each is at a time in seconds: two run past each other at 1.2 m and stop, one stands there, one is far off.
PATHS: Mapping[str, Callable[[float], tuple[float, float]]] = {
    "home_1": lambda s: (min(5.0 * (s - 2.0), 25.0), 0.6),
    "away_1": lambda s: (max(-5.0 * (s - 2.0), -25.0), -0.6),
    "home_2": lambda s: (0.5 * math.sin(s), -1.4),
    "away_2": lambda s: (30.0 + 0.2 * s, 20.0),
}
#: One exchange: names, from when, until when, in seconds.
Span = tuple[str, str, float, float]


def film(seconds_s: float, spans: tuple[Span, ...], lost: tuple[tuple[str, float, float], ...] = ()) -> Iterator[Event]:
    """Instants in columns, in which some give each other's positions, exchange by exchange, and some are lost."""
    rng = random.Random(1)
    numbers = dict.fromkeys(PATHS, -1)
    for frame in range(round(seconds_s * 25)):
        at_s = frame / 25
        at = {name: tuple(x + rng.gauss(0, 0.02) for x in path(at_s)) for name, path in PATHS.items()}
        for one, other, begin_s, end_s in spans:
            if begin_s <= at_s < end_s:
                at[one], at[other] = at[other], at[one]
        packets = []
        for name, (x_m, y_m) in at.items():
            if any(who == name and begin_s <= at_s < end_s for who, begin_s, end_s in lost):
                continue
            numbers[name] += 1
            packets.append(Packet(name, numbers[name], (frame * FRAME_US,), (x_m,), (y_m,), (0.0,)))
        packets.append(Packet("ball", frame, (frame * FRAME_US,), (0.1 * frame,), (9.0,), (0.0,)))
        yield frame_arrival(packets, frame).event


def errors_m(events: Iterator[Event], columns: bool = True) -> tuple[dict[float, dict[str, float]], list[Event]]:
    """By time in seconds, how far each player of a frame is from his path; and what else came out."""
    adapter = OpticalAdapter(MatchSheet(quality=Quality(framed=True)))
    state: Instant | PackedFrameState = adapter.initial()
    found: dict[float, dict[str, float]] = {}
    rest: list[Event] = []
    for event in events:
        if not columns:
            assert isinstance(event.payload, PackedInstant)
            event = Event(event.kind, event.ts_us, event.source, event.seq, event.payload.packets)
        state, emitted = adapter.step(state, event)
        for one in emitted:
            if one.kind != "frame":
                rest.append(one)
                continue
            at_s = one.ts_us / 1e6
            found[at_s] = {
                body.object_id: math.dist((body.x_m, body.y_m), PATHS[body.object_id](at_s))
                for body in frame_of(one).everybody()
            }
    return found, rest


MET: Span = ("home_1", "away_1", 2.0, 5.0)


@pytest.mark.parametrize("columns", [True, False])
def test_two_who_are_exchanged_where_they_meet_keep_their_names(columns: bool) -> None:
    found, rest = errors_m(film(8.0, (MET,)), columns)
    assert len(found) == 200
    assert max(error for errors in found.values() for error in errors.values()) < 0.2
    assert not [event for event in rest if event.kind == "sample.rejected"]


def test_two_who_stand_half_a_metre_apart_keep_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "home_1", lambda s: (0.0, 0.25))  # type: ignore[call-overload]
    monkeypatch.setitem(PATHS, "away_1", lambda s: (0.0, -0.35 - max(0.0, s - 2.5)))  # type: ignore[call-overload]
    found, _ = errors_m(film(8.0, (MET,)))
    assert max(error for errors in found.values() for error in errors.values()) < 0.2


def test_what_is_not_taken_back_is_given_up() -> None:
    lasts_s = ExchangeParameters().lasts_us / 1e6
    found, _ = errors_m(film(lasts_s + 5.0, (("home_1", "away_1", 2.0, math.inf),)))
    assert found[lasts_s + 1.96]["home_1"] < 0.2
    assert found[lasts_s + 3.0]["home_1"] > 40.0, "the names count again"


def test_two_who_are_exchanged_far_apart_had_been_exchanged() -> None:
    found, _ = errors_m(film(8.0, (("home_1", "away_1", 5.0, math.inf),)))
    assert found[4.0]["home_1"] < 0.2
    assert found[7.0]["home_1"] > 20.0, "the provider's word"


def test_one_who_jumps_alone_is_exchanged_with_nobody() -> None:
    def jumps() -> Iterator[Event]:
        for event in film(4.0, ()):
            packets = [
                Packet(p.transmitter, p.sequence, p.ts_us, (-3.0,), p.y_m, p.z_m)
                if p.transmitter == "home_1" and 2_000_000 <= event.ts_us < 2_080_000
                else p
                for p in event.payload.packets  # type: ignore[attr-defined]
            ]
            yield frame_arrival(packets, event.seq).event

    found, rest = errors_m(jumps())
    assert [event.payload.player for event in rest if event.kind == "sample.rejected"] == ["home_1"]  # type: ignore[attr-defined]
    assert found[3.0]["home_1"] < 0.2


def test_a_third_who_is_exchanged_meanwhile_is_told_apart_too() -> None:
    spans = (("home_1", "away_1", 2.0, 4.0), ("home_1", "home_2", 2.2, 3.0))
    found, _ = errors_m(film(6.0, spans))
    assert max(error for errors in found.values() for error in errors.values()) < 0.2


def test_while_one_of_them_is_lost_nobody_is_taken_for_the_other() -> None:
    found, _ = errors_m(film(8.0, (MET,), (("home_1", 3.0, 4.0),)))
    assert {"home_1", "away_1"}.isdisjoint(found[3.6])
    assert max(error for errors in found.values() for error in errors.values()) < 0.2
    assert {"home_1", "away_1"} <= set(found[4.4])


#: Never two exchanges in one instant.
BEGINS = st.dictionaries(st.sampled_from(("home_1", "home_2")), st.integers(0, 4), min_size=1).filter(
    lambda begins: len(set(begins.values())) == len(begins)
)


@given(BEGINS, st.booleans())
def test_whoever_is_exchanged_where_all_three_meet_keeps_his_name(begins: dict[str, int], columns: bool) -> None:
    """Exchanges begin within 0.2 s, one in the other, and end in the opposite order, far from there."""
    ordered = sorted(begins.items(), key=lambda begin: begin[1])
    spans = tuple((name, "away_1", 1.92 + frame / 25, 4.0 - frame / 25) for name, frame in ordered)
    found, _ = errors_m(film(5.0, spans), columns)
    assert max(error for errors in found.values() for error in errors.values()) < 0.5

"""The trace of one event through the levels, and that tracing changes nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.engine import Engine
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.trace import Arrived, Concluded, Released, Repaired, Trace, event_history, name_of
from tests.middleware.streams import pushes, streams
from tests.middleware.toys import arrival, hierarchy, raw

AT_ONCE = EngineSettings(UnitSettings(FixedAlpha(0.0)), allowed_lateness_us=1_000)
ALWAYS = ((-(10**9), 10**9),)


def traced(
    settings_: EngineSettings,
    stream: list[tuple[int, str, int]],
    watched: str,
    windows=ALWAYS,
    *,
    finishes: bool = True,
) -> Trace:
    """Pushes (arrival time, kind, event time) one by one into a traced engine."""
    trace = Trace(watched, windows)
    engine = Engine(hierarchy(), settings_, make_unit=trace.unit)
    for now_us, kind, ts_us in stream:
        trace.at(now_us)
        engine.push([arrival(raw(kind, ts_us, f"{kind}{ts_us}"))], now_us)
    if finishes:
        trace.at(10**6)
        engine.finish()
    return trace


LATE_B = [(10, "A", 10), (20, "C", 20), (25, "B", 15)]
HIT = "D#C20:0"


def test_a_hit_from_its_cause_to_what_it_displaces_and_back_again():
    """A!BC with a late B: D is concluded from C, reaches the joiner, and goes again when B comes."""
    lines = event_history(traced(AT_ONCE, LATE_B, HIT).records, HIT)
    below = [line.record for line in lines if line.depth < 0]
    assert [type(record) for record in below] == [Arrived, Released]
    assert (below[0].event, below[0].unit, below[0].now_us) == ("C#C20:0", "a_not_b_c", 20)
    assert (below[1].by, below[1].alpha, below[1].k_us) == ("slack", 0.0, 0)
    own = [line.record for line in lines if line.depth == 0]
    assert own[0] == Concluded(20, "a_not_b_c", HIT, "C#C20:0")
    arrived = [record for record in own if isinstance(record, Arrived)]
    assert [(record.now_us, record.unit, record.diff) for record in arrived] == [(20, "joiner", 1), (25, "joiner", -1)]
    assert arrived[1].late
    assert [record.now_us for record in own if isinstance(record, Released)] == [20]


def test_a_late_input_tells_what_it_displaced_through_the_levels():
    lines = event_history(traced(AT_ONCE, LATE_B, "B#B15:0").records, "B#B15:0")
    repaired = [line for line in lines if isinstance(line.record, Repaired)]
    assert [(line.depth, line.record.unit) for line in repaired][:2] == [(0, "a_not_b_c"), (1, "joiner")]
    first, second = repaired[0].record, repaired[1].record
    assert (first.late, first.withdrawn, first.redone) == (("B#B15:0",), (), 1)
    assert (first.withdrew, first.asserted) == ((HIT,), ())
    assert second.withdrawn == (HIT,)
    assert {name.partition("#")[0] for name in (*second.withdrew, *second.asserted)} <= {"H"}


def test_a_waiting_input_records_how_long_it_waited_and_what_released_it():
    """With alpha 1 and K 50 the C of 20 waits for clk 70; that A lets it go, or the frontier, whichever is sooner."""
    buffering = EngineSettings(
        UnitSettings(FixedAlpha(1.0), slack=SlackSettings("fixed", 50)), allowed_lateness_us=1_000
    )
    stream = [(0, "C", 0), (1, "A", 1), (2, "B", 2), (20, "C", 20), (75, "A", 75)]
    released = [
        line.record
        for line in event_history(traced(buffering, stream, "C#C20:0").records, "C#C20:0")
        if isinstance(line.record, Released) and line.record.unit == "doubler"
    ]
    assert [(record.now_us, record.by, record.k_us, record.alpha) for record in released] == [(75, "slack", 50, 1.0)]


def test_a_trace_knows_whether_a_unit_still_has_the_event_before_it():
    """With alpha 1 and K 50 nothing lets the C of 20 go before clk 70 but the sources, which are not heard of again."""
    buffering = EngineSettings(
        UnitSettings(FixedAlpha(1.0), slack=SlackSettings("fixed", 50)), allowed_lateness_us=1_000
    )
    stream = [(0, "C", 0), (1, "A", 1), (2, "B", 2), (20, "C", 20)]
    assert traced(buffering, stream, "C#C20:0", finishes=False).awaiting >= {"doubler"}
    assert traced(buffering, [*stream, (75, "A", 75)], "C#C20:0", finishes=False).awaiting == set()
    assert traced(AT_ONCE, LATE_B, HIT, finishes=False).awaiting == set()


def test_windows_bound_what_is_recorded_and_a_first_pass_finds_them():
    watching = traced(AT_ONCE, LATE_B, HIT, windows=())
    assert watching.records == []
    assert sorted(set(watching.mentioned_us)) == [20, 25]
    assert {record.now_us for record in traced(AT_ONCE, LATE_B, HIT, ((20, 21),)).records} == {20}
    assert event_history(traced(AT_ONCE, LATE_B, "nobody").records, "nobody") == []


def test_events_without_an_id_are_called_by_kind_source_and_number():
    assert name_of(raw("A", 5, "tag", 7)) == "A#tag:7"
    dense = raw("A", 5, "tag", 7)
    assert name_of(type(dense)("A", 5, "tag", 7)) == "A:tag:7"


@settings(max_examples=40, deadline=None)
@given(stream=streams(), mode=st.sampled_from(["full", "on-demand", "auto"]), alpha=st.sampled_from([0.0, 0.5, 1.0]))
def test_differential_tracing_changes_nothing(stream, mode, alpha):
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=400)
    trace = Trace("H#E#Cp:0", ALWAYS)
    plain, watched = Engine(hierarchy(), engine_settings), Engine(hierarchy(), engine_settings, (), trace.unit)
    for now_us, arrivals in pushes(stream):
        trace.at(now_us)
        assert watched.push(arrivals, now_us) == plain.push(arrivals, now_us)
    assert watched.finish() == plain.finish()
    for record in trace.records:
        if isinstance(record, Repaired):
            assert record.late or record.withdrawn, "a repair has a reason"

"""transcript_: the worked examples of papers 000 and 004 at one ordering unit, step by step.

Only events of type A set the clock. Event ``C1`` has type C and time 1. ``-D3`` withdraws. The papers purge by K; ours
is purged by what the engine calls final, which here is told to be the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from middleware.detector import NOTHING, Detector, Spec, Step
from middleware.events import BEGINNING_US, Event, Update, canonical_key
from middleware.ordering.policy import UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.ordering.unit import OrderingUnit

RANK = {"A": 0, "B": 1, "C": 2}


def named(event: Event) -> str:
    return f"{event.kind}{event.ts_us}"


class Recorder:
    """Remembers in its state what it was given, so that the emission order can be read off.

    ``given`` has each emission with the state it was given in: in a replay that is the snapshot it was restored to.
    """

    def __init__(self) -> None:
        self.spec = Spec("recorder", "5.1", 5, ("A", "B", "C"), ("D",))
        self.given: list[tuple[tuple[str, ...], str]] = []

    def initial(self) -> tuple[str, ...]:
        return ()

    def step(self, state: tuple[str, ...], event: Event) -> Step[tuple[str, ...]]:
        self.given.append((state, named(event)))
        return (*state, named(event)), NOTHING


class NumberedHits:
    """A!BC of 000, Fig. 3(a), as section 4.3 has it: D is dated at its A and numbered from 1 in the payload."""

    def __init__(self) -> None:
        self.spec = Spec("hits", "5.1", 5, ("A", "B", "C"), ("D",), horizon_us=20)

    def initial(self) -> tuple[int | None, int]:
        return None, 1

    def step(self, state: tuple[int | None, int], event: Event) -> Step[tuple[int | None, int]]:
        near_us, number = state
        if event.kind == "A":
            return (event.ts_us, number), NOTHING
        if event.kind == "B":
            return (None, number), NOTHING
        if near_us is None:
            return state, NOTHING
        return (None, number + 1), (Event("D", near_us, "hits", 0, number, f"D#{near_us}"),)


class Transcript:
    """Feeds one unit as the figures do.

    Args:
        alpha: share of K that is waited for.
        detector: behind the unit.
        retraction: full or on-demand.
        k_us: K, if it is set beforehand.
        purges: whether to purge by the rule of K-slack after every event (000, algorithm 2).
    """

    def __init__(
        self,
        alpha: float,
        detector: Detector[Any] | None = None,
        retraction: Any = "full",
        k_us: int | None = None,
        *,
        purges: bool = False,
    ) -> None:
        self.recorder = Recorder()
        slack = SlackSettings() if k_us is None else SlackSettings("fixed", k_us)
        settings = UnitSettings(FixedAlpha(alpha), retraction, slack)
        self.unit = OrderingUnit(detector or self.recorder, settings)
        self.clk_us = BEGINNING_US
        self.purges = purges
        self.emitted: list[str] = []
        self.restored: list[tuple[str, ...]] = []

    def receive(self, name: str, k_plus_us: int = 0) -> list[str]:
        """Receives ``name``; returns what is emitted because of it, in order."""
        event = Event(name[0], int(name[1:]), "s", int(name[1:]))
        self.unit.offer(Update(event, 1, k_plus_us), canonical_key(event, RANK))
        if event.kind == "A":
            self.clk_us = max(self.clk_us, event.ts_us)
        before = len(self.recorder.given)
        updates = self.unit.process((), self.clk_us, BEGINNING_US, 0)
        if self.purges:
            self.unit.purge(self.clk_us - self.k_us + 1)
        self.emitted = [f"{'-' if u.diff < 0 else ''}D{u.event.ts_us}#{u.event.payload}" for u in updates]
        given = self.recorder.given[before:]
        self.restored = [given[0][0]] if given else []
        return [emitted for _, emitted in given]

    @property
    def k_us(self) -> int:
        return self.unit.slack.k_us

    @property
    def buffer(self) -> str:
        """The unit buffer, the released part in brackets: ``[A2 A3] B4``. AEP is at the bracket's end."""
        emitted = " ".join(named(event) for event, given in self.unit.buffer.listing() if given)
        waiting = " ".join(named(event) for event, given in self.unit.buffer.listing() if not given)
        return f"[{emitted}] {waiting}".strip()


def test_004_figure_4_buffering_orders_the_stream_after_one_stumble():
    t = Transcript(alpha=1.0)
    assert t.receive("A0") == ["A0"]
    assert t.receive("A2") == ["A2"]
    assert t.receive("C1") == ["C1", "A2"], "K is still 0; we repair the stumble that the figure shows"
    assert t.receive("A4") == []
    assert t.k_us == 3
    assert t.receive("B3") == []
    assert t.receive("C5") == []
    assert t.receive("A6") == ["B3"]
    assert t.k_us == 3


def test_000_figure_4_buffers_between_the_steps_with_k_of_3():
    t = Transcript(alpha=1.0, k_us=3, purges=True)
    for name, emitted, buffer in (
        ("A0", [], "[] A0"),
        ("A2", [], "[] A0 A2"),
        ("C1", [], "[] A0 C1 A2"),
        ("A4", ["A0", "C1"], "[] A2 A4"),
        ("B3", [], "[] A2 B3 A4"),
        ("C5", [], "[] A2 B3 A4 C5"),
        ("A6", ["A2", "B3"], "[] A4 C5 A6"),
        ("A8", ["A4", "C5"], "[] A6 A8"),
    ):
        assert t.receive(name) == emitted
        assert t.buffer == buffer, "pure buffering keeps nothing that it has emitted"


def test_000_section_3_naive_processing_misses_what_ordering_finds():
    """Fig. 3(b): in order of arrival D follows from A2/C1 and not from A4/C5, in order of time the other way round."""
    arrived = ["A0", "A2", "C1", "A4", "B3", "C5", "A6", "A8"]
    detector, state, naive = NumberedHits(), NumberedHits().initial(), []
    for name in arrived:
        state, out = detector.step(state, Event(name[0], int(name[1:]), "s"))
        naive += [named(event) for event in out]
    assert naive == ["D2"]
    t = Transcript(1.0, NumberedHits(), k_us=3)
    emitted = [d for name in arrived for d in (t.receive(name), t.emitted)[1]]
    assert emitted == ["D0#1", "D4#2"]


def test_000_section_3_3_buffering_detects_d_when_clk_reaches_8_and_speculation_before():
    """D out of A4/C5 with K = 3: A4 is emitted at clk 7, C5 not before 8."""
    detected_at = {}
    for alpha in (1.0, 0.0):
        t = Transcript(alpha, NumberedHits(), k_us=3)
        for name in ("A4", "C5", "A6", "A7", "A8"):
            t.receive(name)
            if "D4#1" in t.emitted:
                detected_at[alpha] = t.clk_us
    assert detected_at == {1.0: 8, 0.0: 6}


@pytest.mark.parametrize(("alpha", "emitted_at"), [(1.0, 25), (0.6, 23), (0.4, 22), (0.2, 22), (0.0, 22)])
def test_000_section_4_1_an_event_of_20_received_at_clk_22_with_k_5(alpha: float, emitted_at: int):
    t = Transcript(alpha, k_us=5)
    t.receive("A22")
    if "C20" in t.receive("C20"):
        assert emitted_at == 22
        return
    for clk_us in range(23, 27):
        if "C20" in t.receive(f"A{clk_us}"):
            assert emitted_at == clk_us
            return
    raise AssertionError("never emitted")


def test_000_figure_6_inserting_behind_and_before_aep():
    behind = Transcript(0.0, k_us=10)
    for name in ("A0", "A1", "A2"):
        behind.receive(name)
    behind.unit.speculation = FixedAlpha(1.0)
    behind.receive("B4")
    assert behind.buffer == "[A0 A1 A2] B4"
    assert behind.receive("B3") == [], "behind AEP: nothing was emitted too soon"
    assert behind.buffer == "[A0 A1 A2] B3 B4"
    before = Transcript(0.0, k_us=10)
    for name in ("A0", "A1", "A2", "A4"):
        before.receive(name)
    assert before.receive("B3") == ["B3", "A4"], "before AEP: A4 is replayed"
    assert before.buffer == "[A0 A1 A2 B3 A4]"


def test_000_figures_7_and_8_speculation_with_alpha_one_third():
    """Column by column: emissions, the snapshot of a replay, K, and the buffer after the purge.

    The text purges what satisfies ts + K <= clk, algorithm 2 what is strictly below. We follow the text, but from the
    first measurement of K on: with K = 0 it would purge A2 before C1 comes, which the figure replays.
    """
    t = Transcript(1 / 3)
    assert (t.receive("A0"), t.k_us) == (["A0"], 0)
    assert (t.receive("A2"), t.k_us) == (["A2"], 0)
    assert t.receive("C1") == ["C1", "A2"], "A2 was emitted too soon: C1, and A2 again"
    assert t.restored == [("A0",)], "s2, the snapshot before A2, is restored first"
    t.purges = True
    assert t.receive("A3") == [], "3 + 2/3 > 3"
    assert t.k_us == 2
    assert t.buffer == "[A2] A3", "C1 can be purged: nothing older than 1 is to come"
    assert t.receive("B4") == []
    assert t.buffer == "[A2] A3 B4"
    assert t.receive("A6") == ["A3", "B4"]
    assert t.buffer == "[] A6", "A2, A3 and B4 are safe"
    assert t.receive("C5") == ["C5"], "5 + 2/3 <= 6 without a new clk"
    assert t.restored == [("A0", "C1", "A2", "A3", "B4")], "A6 was not processed before: nothing to replay"
    assert t.buffer == "[C5] A6"
    assert t.receive("B8") == []
    assert t.receive("C7") == []
    assert t.buffer == "[C5] A6 C7 B8"
    assert t.receive("A11") == ["A6", "C7", "B8"]
    assert t.k_us == 6, "C5 waited for A11 to be measured"
    assert t.buffer == "[A6 C7 B8] A11", "C5 is purged"
    assert t.receive("B10") == []
    assert t.receive("A12") == ["B10"], "10 + 6/3 <= 12"
    assert t.buffer == "[C7 B8 B10] A11 A12"
    assert t.receive("C9") == ["C9", "B10"], "restored before B10, then C9 and B10 again"
    assert t.restored == [("A0", "C1", "A2", "A3", "B4", "C5", "A6", "C7", "B8")], "s10"
    assert t.buffer == "[C7 B8 C9 B10] A11 A12"


def test_000_figure_7_snapshots_of_states_that_do_not_differ_are_one():
    """Section 4.2: if two subsequent snapshots do not differ, only a reference is stored."""
    t = Transcript(0.0, NumberedHits(), k_us=100)
    for name in ("B1", "B2", "C3", "C4"):
        t.receive(name)
    t.receive("A5")
    assert len(t.unit.buffer.listing()) == 5
    assert t.unit.buffer.snapshots <= 3, "C without an A before it changes no state"


@pytest.mark.parametrize("retraction", ["full", "on-demand"])
def test_000_figure_9_a_b_that_comes_late_takes_back_one_hit_and_renumbers_the_other(retraction: str):
    """D3 (first) from A3/C5 and D6 (second) from A6/C7; then B4 comes: D6 is the first."""
    t = Transcript(0.0, NumberedHits(), retraction, k_us=100)
    t.clk_us = 8
    for name in ("A3", "C5", "A6", "C7", "B8"):
        t.receive(name)
    assert t.buffer == "[A3 C5 A6 C7 B8]"
    t.receive("B4")
    assert t.emitted == ["-D3#1", "-D6#2", "D6#1"]
    assert t.unit.counters.redone == 4, "C5 to B8: the number in the state differs"


def test_000_section_4_3_2_an_input_that_changes_no_state_ends_the_replay():
    """A B where no A is pending: on demand stops behind it, full takes everything back and says it again."""
    found = {}
    for retraction in ("full", "on-demand"):
        t = Transcript(0.0, NumberedHits(), retraction, k_us=100)
        t.clk_us = 15
        for name in ("A3", "C5", "A10", "C12", "A14", "C15"):
            t.receive(name)
        t.receive("B7")
        found[retraction] = (t.emitted, t.unit.counters.redone)
    assert found["on-demand"] == ([], 0)
    assert found["full"] == (["-D10#2", "-D14#3", "D10#2", "D14#3"], 4)


def test_000_section_4_1_a_premature_output_carries_k_plus():
    """K+ is what pure buffering would still have waited; with it a unit above measures the delay of pure buffering."""
    detector = NumberedHits()
    for alpha in (0.0, 0.5, 1.0):
        t = Transcript(alpha, detector, k_us=10)
        measured = []
        above = OrderingUnit(Recorder(), UnitSettings(FixedAlpha(1.0)))
        for name in ("A100", "C102", "A104", "A106", "A108", "A110", "A112"):
            event = Event(name[0], int(name[1:]), "s", int(name[1:]))
            t.unit.offer(Update(event, 1), canonical_key(event, RANK))
            clk_us = event.ts_us if event.kind == "A" else event.ts_us - 2
            for update in t.unit.process((), clk_us, BEGINNING_US, 0):
                above.offer(update, canonical_key(update.event, {"D": 3}))
                above.process((), clk_us, BEGINNING_US, 0)
                measured.append(above.slack.k_us)
        assert measured == [12], "D100 follows from C102, which is delivered at clk 112 by pure buffering"

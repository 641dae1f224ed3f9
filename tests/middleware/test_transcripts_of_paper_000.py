"""transcript_: the worked examples of papers 000 and 004 at one ordering unit, step by step.

Only events of type A set the clock. Event ``C1`` has type C and time 1.
"""

from __future__ import annotations

from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event, Update, canonical_key
from middleware.policy import FixedAlpha, UnitSettings
from middleware.progress import BEGINNING_US
from middleware.unit import OrderingUnit

RANK = {"A": 0, "B": 1, "C": 2}


class Recorder:
    """Remembers in its state what it was given, so that the emission order can be read off."""

    def __init__(self) -> None:
        self.spec = Spec("recorder", "5.1", 5, ("A", "B", "C"), ("D",))
        self.emitted: list[str] = []

    def initial(self) -> tuple[str, ...]:
        return ()

    def step(self, state: tuple[str, ...], event: Event) -> Step[tuple[str, ...]]:
        self.emitted.append(f"{event.kind}{event.ts_us}")
        return (*state, f"{event.kind}{event.ts_us}"), NOTHING


class Transcript:
    """Feeds one unit as the figures do."""

    def __init__(self, alpha: float) -> None:
        self.detector = Recorder()
        self.unit = OrderingUnit(self.detector, UnitSettings(FixedAlpha(alpha), "full"))
        self.clk_us = BEGINNING_US

    def receive(self, name: str) -> list[str]:
        """Receives ``name``; returns what is emitted because of it, in order."""
        event = Event(name[0], int(name[1:]), "s", int(name[1:]))
        self.unit.offer(Update(event, 1), canonical_key(event, RANK))
        if event.kind == "A":
            self.clk_us = max(self.clk_us, event.ts_us)
        before = len(self.detector.emitted)
        self.unit.run(self.clk_us, BEGINNING_US, 0.0, 0)
        return self.detector.emitted[before:]

    @property
    def k_us(self) -> int:
        return self.unit.slack.k_us


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


def test_000_figures_7_and_8_speculation_with_alpha_one_third():
    t = Transcript(alpha=1 / 3)
    assert t.receive("A0") == ["A0"]
    assert t.receive("A2") == ["A2"]
    assert t.receive("C1") == ["C1", "A2"], "restored before A2, then C1 and A2 again"
    assert t.receive("A3") == [], "3 + 2/3 > 3"
    assert t.k_us == 2
    assert t.receive("B4") == []
    assert t.receive("A6") == ["A3", "B4"]
    assert t.receive("C5") == ["C5"], "5 + 2/3 <= 6 without a new clk, and nothing to redo"
    assert t.receive("B8") == []
    assert t.receive("C7") == []
    assert t.receive("A11") == ["A6", "C7", "B8"]
    assert t.k_us == 6, "C5 waited for A11 to be measured"
    assert t.receive("B10") == []
    assert t.receive("A12") == ["B10"], "10 + 6/3 <= 12"
    assert t.receive("C9") == ["C9", "B10"], "restored before B10, then C9 and B10 again"

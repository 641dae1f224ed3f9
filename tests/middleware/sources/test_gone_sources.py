"""Sources long gone are forgotten, but for a bounded number; who comes back is heard, and nothing counts twice."""

from __future__ import annotations

from random import Random

import pytest

from middleware.engine import Engine
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.idle import KindSources
from middleware.sources.progress import ProgressSettings, SourceProgress, Verdict
from tests.middleware.sources.test_bad_sources import ALLOWED_LATENESS_US, SECOND_US, Echo, Names, sent
from tests.middleware.streams import standing

FEW = 20


@pytest.fixture
def few_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middleware.sources.idle.IDLE_REMEMBERED", FEW)


def remembered(progress: SourceProgress) -> int:
    return len(progress._kinds["raw"].sources)


@pytest.mark.usefixtures("few_remembered")
def test_ever_new_sources_do_not_pile_up():
    """A source for each packet, for ever: what is kept does not grow."""
    engine = Engine(
        Hierarchy(("raw",), [Echo()]),
        EngineSettings(UnitSettings(FixedAlpha(0.0)), allowed_lateness_us=ALLOWED_LATENESS_US),
    )
    sizes = []
    for number in range(3_000):
        engine.push([sent(f"s{number}", 0, number * 10_000)], number * 10_000)
        if number % 250 == 249:
            sizes.append(len(engine.snapshot()))
    assert max(sizes[6:]) <= 1.2 * max(sizes[2:6]), sizes
    assert engine.health().lost == engine.health().duplicates == 0
    open_s = 2 * ALLOWED_LATENESS_US // 10_000
    assert remembered(engine._progress) <= open_s + 4 * FEW


@pytest.mark.usefixtures("few_remembered")
def test_a_forgotten_source_is_new_above_final_and_lost_below_it():
    progress = SourceProgress(("raw",), ALLOWED_LATENESS_US, ProgressSettings(discovery_us=0))
    for number in range(200):
        progress.offer(sent(f"s{number}", 7, number * 100_000), number * 100_000)
        progress.update_progress(number * 100_000)
        if progress.advance_final(number * 100_000):
            progress.forget(number * 100_000)
    now_us = 200 * 100_000
    first, last = progress.source_state("raw", "s0"), progress.source_state("raw", "s199")
    assert first is None
    assert last is not None
    assert progress.offer(sent("s199", 7, 199 * 100_000), now_us) is Verdict.DUPLICATE
    assert progress.offer(sent("s0", 7, 0), now_us) is Verdict.BEYOND_ALLOWED_LATENESS, (
        "nobody knows whether it is a double"
    )
    assert progress.offer(sent("s0", 8, now_us), now_us) is Verdict.NEW
    assert progress.offer(sent("s0", 8, now_us), now_us) is Verdict.DUPLICATE


@pytest.mark.usefixtures("few_remembered")
def test_the_work_of_forgetting_does_not_grow_with_the_number_of_sources(monkeypatch: pytest.MonkeyPatch):
    """While every source is live, none may be forgotten; all are looked at only when many are new."""
    looks = []
    monkeypatch.setattr(
        KindSources, "_forget_oldest", lambda *given, look=KindSources._forget_oldest: looks.append(look(*given)) or []
    )
    progress = SourceProgress(("raw",), 100_000, ProgressSettings(discovery_us=0))
    for number in range(500):
        for name in range(60):
            progress.offer(sent(f"s{name}", number, number * 50_000), number * 50_000)
        progress.update_progress(number * 50_000)
        if progress.advance_final(number * 50_000):
            progress.forget(number * 50_000)
    assert len(looks) == 1
    assert remembered(progress) == 60


@pytest.mark.usefixtures("few_remembered")
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_oracle_sources_that_return_after_they_were_forgotten(alpha: float):
    """Packets of sources that speak for a while, go, and come back much later with a counter that went on."""
    rng = Random(4)
    stream = []
    for number in range(400):
        name, begins_us = f"s{number % 150:03d}", number * 100_000
        for packet in range(3):
            ts_us = begins_us + packet * 50_000
            stream.append((ts_us + rng.randrange(80_000), sent(name, 3 * (number // 150) + packet, ts_us)))
    stream.sort(key=lambda pair: pair[0])
    settings = EngineSettings(UnitSettings(FixedAlpha(alpha)), allowed_lateness_us=ALLOWED_LATENESS_US)
    hierarchy = Hierarchy(("raw",), [Names(), Echo()])
    engine, updates, forgotten = Engine(hierarchy, settings), [], 0
    for now_us, arrival in stream:
        known = remembered(engine._progress)
        updates += engine.push([arrival], now_us).updates
        forgotten += remembered(engine._progress) < known
        behind_us = engine._progress.newest_us - engine.final_us
        assert now_us < 10 * SECOND_US or behind_us <= 2 * ALLOWED_LATENESS_US
    updates += engine.finish().updates
    assert forgotten > 2
    assert not engine.take_lost()
    assert standing(updates, hierarchy) == published(hierarchy, [arrival.event for _, arrival in stream])


@pytest.mark.usefixtures("few_remembered")
def test_a_returning_source_is_waited_for_by_its_new_packet():
    """The unit of one transmitter goes by that transmitter's progress: by what is remembered of it now."""
    unit = UnitSettings(FixedAlpha(1.0), slack=SlackSettings("progress"))
    engine = Engine(Hierarchy(("raw",), [Names()]), EngineSettings(unit, allowed_lateness_us=ALLOWED_LATENESS_US))
    for number in range(300):
        engine.push([sent(f"s{number}", 0, number * 100_000)], number * 100_000)
    assert engine._progress.source_state("raw", "s0") is None
    now_us = 300 * 100_000
    engine.push([sent("s0", 1, now_us)], now_us)
    assert engine.metrics()["names"].waiting == 0

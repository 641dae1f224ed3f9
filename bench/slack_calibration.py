"""Slack for the first seconds: values of K to begin with, so that a unit need not learn them from mistakes.

Theory of operation
-------------------
Dynamic K-slack knows nothing at the start: every unit learns from its first late inputs (004, section III). Two methods
avoid that. Both compute a K for each detector, which :func:`configured` puts into the settings:

* *Iterative delay calculation* (004, algorithm 2): a recorded stream is run, and run again with the measured K's,
  until they no longer change. That takes at most as many rounds as there are levels, because a level's delays are
  right once the levels below have the right K.
* *Semi-configured estimation* (004, algorithm 3): no run of the stream. An event's delay is the sum of sub-delays (004,
  section IV-A). That of the sensor positions (sampling, packaging, jitter) is measured in the first moments of the
  stream or taken from what the input declares; how far detectors date back comes from an old configuration; what
  ordering adds is K itself, level by level. In the paper pseudo events carry this through the network. Here it is a
  walk over the hierarchy, which runs in one process; so network delay is 0 unless given. A live match
  (``app/run/last_slack.py``) needs no such walk: its engine announces the old back-setting and the K's that grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from middleware.hierarchy import Hierarchy
from middleware.metrics import DetectorMetrics
from middleware.ordering.policy import EngineSettings
from middleware.ordering.slack.settings import SlackSettings

#: K by detector name, in microseconds.
Delays = Mapping[str, int]


@dataclass(frozen=True)
class SubDelays:
    """Delays of a detector's events besides ordering; they do not depend on K (004, III-B).

    Attributes:
        back_setting_us: by detector, how far its events are dated before the event that led to them.
        processing_us: by detector, time until it has emitted them.
        network_us: between any two detectors.
    """

    back_setting_us: Delays = field(default_factory=dict)
    processing_us: Delays = field(default_factory=dict)
    network_us: int = 0

    @classmethod
    def of(cls, metrics: Mapping[str, DetectorMetrics]) -> SubDelays:
        """Take them from the metrics of a running engine. Detectors in one process take no time of the stream's."""
        return cls({name: figures.backset_us for name, figures in metrics.items()})


class Jitter:
    """Delay of raw events against the clock, from the first moments of a stream (004, section IV-A).

    The jitter delay of an event is its delay less the least delay of any event.

    >>> jitter = Jitter()
    >>> jitter.take("raw.ball", ts_us=12, now_us=13); jitter.take("raw.limb", ts_us=9, now_us=14)
    >>> jitter.by_kind_us()
    {'raw.ball': 0, 'raw.limb': 4}
    """

    def __init__(self) -> None:
        self._greatest_us: dict[str, int] = {}
        self._lowest_us: int | None = None

    def take(self, kind: str, *, ts_us: int, now_us: int) -> None:
        """Note an event that arrived."""
        delay_us = now_us - ts_us
        self._greatest_us[kind] = max(self._greatest_us.get(kind, delay_us), delay_us)
        self._lowest_us = delay_us if self._lowest_us is None else min(self._lowest_us, delay_us)

    def by_kind_us(self) -> dict[str, int]:
        """Return the greatest jitter delay of each raw kind that arrived."""
        lowest_us = self._lowest_us or 0
        return {kind: greatest_us - lowest_us for kind, greatest_us in self._greatest_us.items()}


def position_delay_us(rate_hz: float, positions: int, way_us: int) -> int:
    """Return the greatest delay of a raw event as an input declares it, for a start without any measurement.

    Args:
        rate_hz: of the transmitter.
        positions: in a packet: the first waits for the last to be sampled.
        way_us: longest time from sampling to arrival, less the shortest of the clock's transmitter.

    >>> position_delay_us(200.0, 10, 100_000)
    145000
    """
    return round((positions - 1) / rate_hz * 1e6) + way_us


def estimated(
    hierarchy: Hierarchy, jitter_us: Mapping[str, int], old: SubDelays, *, clock_step_us: int = 0
) -> dict[str, int]:
    """Return K of every detector, from the delays of raw events upwards (004, algorithm 3).

    A keyed detector orders each key among its own inputs, which do not wait for others. It adds no ordering delay.

    Args:
        hierarchy: the detectors.
        jitter_us: delay by raw kind; 0 for those not named.
        old: sub-delays of another configuration; 0 for detectors not named.
        clock_step_us: longest time between two events that set the clock: it stands meanwhile, and then steps.
    """
    delay_us = {kind: jitter_us.get(kind, 0) + clock_step_us for kind in hierarchy.raw_kinds}
    slack_us: dict[str, int] = {}
    for detector in hierarchy.detectors:
        spec = detector.spec
        late_us = max((delay_us[kind] for kind in spec.inputs), default=0)
        slack_us[spec.name] = 0 if spec.keyed else late_us
        late_us += old.processing_us.get(spec.name, 0) + old.back_setting_us.get(spec.name, 0) + old.network_us
        delay_us.update(dict.fromkeys(spec.outputs, late_us))
    return slack_us


def iterated(run: Callable[[Delays], Delays], levels: int) -> tuple[dict[str, int], int]:
    """Return K of every detector by repeated runs (004, algorithm 2).

    Args:
        run: plays the recorded stream from the beginning, through an engine that begins with these K's, and returns
            those that it ended with.
        levels: of the hierarchy; no more runs are needed.

    Returns:
        The K's, and the number of runs until they no longer changed.
    """
    known: dict[str, int] = {}
    for number in range(1, levels + 1):
        measured = dict(run(known))
        if measured == known:
            return known, number
        known = measured
    return known, levels


def configured(
    settings: EngineSettings, delays: Delays, names: Iterable[str], back_setting: Delays | None = None
) -> EngineSettings:
    """Return ``settings`` in which every detector of ``names`` begins with its K and back-setting; all else stays."""
    by_detector, back_us = {}, back_setting or {}
    for name in names:
        unit = settings.of(name)
        k_us, backset_us = delays.get(name, unit.slack.k_us), back_us.get(name, unit.slack.backset_us)
        slack: SlackSettings = replace(unit.slack, k_us=k_us, backset_us=backset_us)
        by_detector[name] = replace(unit, slack=slack)
    return replace(settings, by_detector=by_detector)

"""Level 1: transmitters that fall silent, come back, or lose quality."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import Sense, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.sampling import ball_sampling
from football.match_sheet import MatchSheet, team_of
from football.payloads import EventPayload, LastSample, Tick, payload_as
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class HealthParameters(msgspec.Struct, frozen=True):
    """When a transmitter counts as lost or of low quality.

    Attributes:
        body_silent_us: silence of a player.
        ball_silent_us: silence of the ball; at least three periods of its states.
        quality_floor: quality below it in two ticks in a row is low.
    """

    body_silent_us: Annotated[int, reason("hierarchy 1.2")] = 250_000
    ball_silent_us: Annotated[int, reason("hierarchy 1.2")] = 20_000
    quality_floor: Annotated[float, reason("ours; the hierarchy asks for 100 ms below the floor")] = 0.3


class ObjectHealth(msgspec.Struct, frozen=True, gc=False):
    """One object: time of its last sample, whether it was reported lost, ticks in a row with low quality."""

    object_id: str
    last_us: int
    lost: bool = False
    low: int = 0


class TransmitterHealth:
    """1.9 (stands for 1.2): tx.lost, tx.recovered, tx.low_quality x {ball, player}, judged on each tick.

    It stands above the frames because only ticks show that nothing arrived. Ticks name players, so a single
    lost limb of a player whose other limbs give samples is not reported. ``detail``: ``last_seen_us`` (event time of
    the last sample).
    """

    def __init__(self, sheet: MatchSheet, parameters: HealthParameters | None = None) -> None:
        self.parameters = parameters or HealthParameters()
        self._sheet = sheet
        self._ball_silent_us = max(self.parameters.ball_silent_us, 3 * ball_sampling(sheet.quality).period_us)
        self.spec = Spec(
            name="transmitter_health",
            number="1.9",
            level=1,
            inputs=("clock.tick",),
            outputs=("tx.lost", "tx.recovered", "tx.low_quality"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="hierarchy 1.2, ours; quality of location from 000, 002, 004",
            variants=dict.fromkeys(("tx.lost", "tx.recovered", "tx.low_quality"), ("ball", "player")),
            covers=("1.2",),
            details=dict.fromkeys(("tx.lost", "tx.recovered", "tx.low_quality"), ("last_seen_us",)),
        )

    def initial(self) -> tuple[ObjectHealth, ...]:
        """No sample yet."""
        return ()

    def step(self, state: tuple[ObjectHealth, ...], event: Event) -> Step[tuple[ObjectHealth, ...]]:
        """Judge each object on a tick."""
        tick = payload_as(event, Tick)
        newest = {s.object_id: s for s in tick.seen}
        out: list[Event] = []
        after = [self._look(health, newest.pop(health.object_id, None), event, out) for health in state]
        floor = self.parameters.quality_floor
        after.extend(ObjectHealth(s.object_id, s.ts_us, False, int(s.quality < floor)) for s in newest.values())
        return tuple(after), out or NOTHING

    def _look(self, before: ObjectHealth, newest: LastSample | None, event: Event, out: list[Event]) -> ObjectHealth:
        last_us = newest.ts_us if newest else before.last_us
        name, p = before.object_id, self.parameters
        limit_us = self._ball_silent_us if name == "ball" else p.body_silent_us
        silent_us = event.ts_us - last_us
        lost = silent_us >= limit_us
        if lost != before.lost:
            out.append(self._report("tx.lost" if lost else "tx.recovered", event, name, last_us))
            parameter = f"transmitter_health.{'ball' if name == 'ball' else 'body'}_silent_us"
            sense: Sense = "at least" if lost else "at most"
            note("time of silence", silent_us, sense, limit_us, parameter, (out[-1].kind, out[-1].source))
        low = before.low + 1 if newest and newest.quality < p.quality_floor else 0
        if low == 2 and newest:
            out.append(self._report("tx.low_quality", event, name, last_us))
            about = "tx.low_quality", out[-1].source
            note("quality", newest.quality, "at most", p.quality_floor, "transmitter_health.quality_floor", about)
        return ObjectHealth(name, last_us, lost, min(low, 3))

    def _report(self, kind: str, event: Event, name: str, last_us: int) -> Event:
        ball = name == "ball"
        payload = EventPayload(
            variant="ball" if ball else "player",
            team="" if ball else team_of(name, self._sheet),
            player="" if ball else name,
            detail={"last_seen_us": last_us},
        )
        return make_event(kind, event.ts_us, f"{name}:{event.ts_us}", payload)

"""Level 1: transmitters that fall silent, come back, or lose quality."""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from detectors.signals.sampling import ball_sampling
from football.match_sheet import MatchSheet, team_of
from football.payloads import EventPayload, LastSample, Tick
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class HealthParameters(msgspec.Struct, frozen=True):
    """``body_silent_us``, ``ball_silent_us``: 1.2; the latter at least three periods of the ball's states.
    ``quality_floor`` and ``low_us``: quality below the floor for 100 ms, here for two ticks in a row (ours)."""

    body_silent_us: int = 250_000
    ball_silent_us: int = 20_000
    quality_floor: float = 0.3


class Watched(msgspec.Struct, frozen=True, gc=False):
    """One object: when last seen, whether reported lost, ticks in a row with low quality."""

    object_id: str
    last_us: int
    lost: bool = False
    low: int = 0


class TransmitterHealth:
    """1.9 (stands for 1.2): tx.lost, tx.recovered, tx.low_quality x {ball, player}, looked at on each tick.

    It stands above the frames because "nothing came" is told by ticks only. Ticks name players, so a single
    lost limb of a player whose other limbs are heard is not reported.
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
        )

    def initial(self) -> tuple[Watched, ...]:
        """Nobody seen."""
        return ()

    def step(self, state: tuple[Watched, ...], event: Event) -> Step[tuple[Watched, ...]]:
        """Takes a tick."""
        tick = event.payload
        assert isinstance(tick, Tick)
        seen = {s.object_id: s for s in tick.seen}
        out: list[Event] = []
        after = [self._look(watched, seen.pop(watched.object_id, None), event, out) for watched in state]
        floor = self.parameters.quality_floor
        after.extend(Watched(s.object_id, s.ts_us, False, int(s.quality < floor)) for s in seen.values())
        return tuple(after), out or NOTHING

    def _look(self, watched: Watched, seen: LastSample | None, event: Event, out: list[Event]) -> Watched:
        last_us = seen.ts_us if seen else watched.last_us
        name = watched.object_id
        silent_us = self._ball_silent_us if name == "ball" else self.parameters.body_silent_us
        lost = event.ts_us - last_us >= silent_us
        if lost and not watched.lost:
            out.append(self._report("tx.lost", event, name, last_us))
        if watched.lost and not lost:
            out.append(self._report("tx.recovered", event, name, last_us))
        low = watched.low + 1 if seen and seen.quality < self.parameters.quality_floor else 0
        if low == 2:
            out.append(self._report("tx.low_quality", event, name, last_us))
        return Watched(name, last_us, lost, min(low, 3))

    def _report(self, kind: str, event: Event, name: str, last_us: int) -> Event:
        ball = name == "ball"
        payload = EventPayload(
            variant="ball" if ball else "player",
            team="" if ball else team_of(name, self._sheet),
            player="" if ball else name,
            detail={"last_seen_us": last_us},
        )
        return make_event(kind, event.ts_us, f"{name}:{event.ts_us}", payload)

"""The driver holds as much of a match after an hour as after twenty minutes, counted in objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import msgspec

from app.hub.feed import MatchFeed
from app.operations.match_monitor import MatchMonitor
from dashboard.demo import demo_event
from dashboard.families import FAMILY_NAMES
from dashboard.live import LiveState, Reader
from football.match_sheet import MatchSheet
from football.update_stream import Health, UpdateMessage, UpdateRecord

MINUTE_US, STEP_US = 60_000_000, 5_000_000
LATENESS_US = 3_000_000


def parts(holder: Any) -> Iterator[Any]:
    """Yields the objects that another refers to directly."""
    if isinstance(holder, Mapping):
        yield from holder
        yield from holder.values()
    elif isinstance(holder, list | tuple | set | frozenset | deque):
        yield from holder
    elif isinstance(holder, msgspec.Struct):
        yield from (getattr(holder, name) for name in holder.__struct_fields__)
    elif hasattr(holder, "__dict__"):
        yield from vars(holder).values()


def objects_below(*roots: Any) -> int:
    """Number of objects that can be reached; not only those that the garbage collector knows."""
    seen: dict[int, Any] = {}
    left = list(roots)
    while left:
        found = left.pop()
        if id(found) not in seen and not isinstance(found, type | ModuleType | FunctionType | int | float):
            seen[id(found)] = found
            left.extend(parts(found))
    return len(seen)


def five_seconds(at_us: int, seq: int) -> list[UpdateRecord]:
    """Updates of five seconds: four events of each family, two of them withdrawn and two amended."""
    updates = []
    for number, kind in enumerate(
        ("touch", "pass.attempt", "area.enter", "sprint.start", "shot.attempt", "restart.corner")
    ):
        for half in range(4):
            event = demo_event(kind, at_us + number, f"{number}-{half}:{at_us}")
            other = msgspec.structs.replace(event, variant="other")
            changes = ((1, event), (-1, event)) if half % 2 else ((1, event), (-1, event), (1, other))
            updates += [UpdateRecord(seq + len(updates) + n, diff, at_us, one) for n, (diff, one) in enumerate(changes)]
    return updates


def test_the_driver_holds_as_much_after_an_hour_as_after_twenty_minutes(tmp_path: Path):
    feed = MatchFeed(MatchSheet(match_id="m"))
    clock_s = [0.0]
    monitor, live = MatchMonitor(feed, tmp_path, paced=True, clock_s=lambda: clock_s[0]), LiveState(feed)
    page, held, seq = Reader(live, FAMILY_NAMES), {}, 0
    for at_us in range(0, 60 * MINUTE_US + 1, STEP_US):
        clock_s[0] = at_us / 1e6
        updates = five_seconds(at_us, seq)
        seq += len(updates)
        health = Health(at_us, at_us, {}, {}, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        message = UpdateMessage("m", 0, at_us, at_us - LATENESS_US, tuple(updates), health=health, due_wall_us=1)
        feed.apply(message, 1)
        live.step()
        page.next(strip=False)
        if at_us % (MINUTE_US // 2) == 0:
            monitor.committed({"next_seq": seq, "frontier_us": at_us - LATENESS_US}, 0, 0.0)
        if at_us % (20 * MINUTE_US) == 0:
            held[at_us // MINUTE_US] = objects_below(feed, live, monitor, page)
    assert held[20] > 5_000, "much is shown"
    assert held[20] == held[40] == held[60]

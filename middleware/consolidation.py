"""Consolidation: the events that stand after all updates of a log.

A log may assert, withdraw and assert again. Its meaning is the sum of its diffs. This module computes that sum, and
removes from a list of updates, or from a repair, what cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from middleware.events import Event, Update

Identity = tuple[str, str, int, str]

#: An output of a detector, behind the event time of the input on which it was emitted.
Emission = tuple[int, Event]


def identity(event: Event) -> Identity:
    """Return what two updates of one event have in common: kind, source, sequence and id."""
    return (event.kind, event.source, event.seq, event.id)


def consolidate(updates: Iterable[Update]) -> dict[Identity, Event]:
    """Return the events that stand after all ``updates``.

    Raises:
        ValueError: an event is withdrawn that does not stand as withdrawn, or asserted twice. Either shows that some
            stage lost or repeated an update.

    >>> e = Event("goal", 5, "x", id="goal#x")
    >>> consolidate([Update(e, 1), Update(e, -1)])
    {}
    """
    standing: dict[Identity, Event] = {}
    for update in updates:
        name = identity(update.event)
        if update.diff > 0:
            if name in standing:
                raise ValueError(f"asserted twice: {update.event}")
            standing[name] = update.event
        elif standing.get(name) == update.event:
            del standing[name]
        else:
            raise ValueError(f"withdrawn but not asserted: {update.event}; standing: {standing.get(name)}")
    return standing


def without_cancelled(updates: Sequence[Update]) -> list[Update]:
    """Return ``updates`` less the pairs that undo each other; the order of the rest stays.

    So no event blinks for a consumer because a repair withdrew it and emitted it again.
    """
    if all(update.diff > 0 for update in updates):
        return list(updates)
    remaining: list[Update | None] = []
    last: dict[Identity, list[int]] = {}
    for update in updates:
        open_at = last.setdefault(identity(update.event), [])
        before = remaining[open_at[-1]] if open_at else None
        if before is not None and before.diff == -update.diff and before.event == update.event:
            remaining[open_at.pop()] = None
            continue
        open_at.append(len(remaining))
        remaining.append(update)
    return [update for update in remaining if update is not None]


def differences(
    withdrawn: list[Event], asserted: list[Emission], same: Callable[[object, object], bool]
) -> tuple[list[Event], list[Emission]]:
    """Return both lists less the events that stand in both: an event that was emitted again has not changed.

    Versions of an event share its name, and a faulty detector may repeat itself, so one cancels one.

    Args:
        withdrawn: events to be withdrawn.
        asserted: events to be asserted.
        same: compares two events.
    """
    if not withdrawn or not asserted:
        return withdrawn, asserted
    old: dict[tuple[str, str, int, str, int], list[Event]] = {}
    for event in withdrawn:
        name = (event.kind, event.source, event.seq, event.id, event.ts_us)
        if name in old:
            old[name].append(event)
        else:
            old[name] = [event]
    new: list[Emission] = []
    for emission in asserted:
        event = emission[1]
        rivals = old.get((event.kind, event.source, event.seq, event.id, event.ts_us))
        if rivals:
            for at, rival in enumerate(rivals):
                if same(rival, event):
                    del rivals[at]
                    break
            else:
                new.append(emission)
        else:
            new.append(emission)
    if len(new) == len(asserted):
        return withdrawn, asserted
    return [event for rest in old.values() for event in rest], new

"""Consolidation: what a log of updates says in the end.

An update log may assert, withdraw and assert again. Its meaning is the sum of its diffs; this module holds the
one function that takes it, and those that clear a batch, or a repair, of what cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from middleware.events import Event, Update

Identity = tuple[str, str, int, str]

#: An event that follows from an input, and the time of that input.
Said = tuple[int, Event]


def identity(event: Event) -> Identity:
    """What makes two updates speak of the same event: its kind, source, sequence and id."""
    return (event.kind, event.source, event.seq, event.id)


def consolidate(updates: Iterable[Update]) -> dict[Identity, Event]:
    """The events that stand after all ``updates``.

    Raises:
        ValueError: an event is withdrawn that does not stand as withdrawn, or asserted twice. Both would mean
            that somebody counted wrongly, so they are never passed over.

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
    """``updates`` less the pairs that undo each other within it; the order of the rest is kept.

    Whoever follows the output sees no event blink because a replay took it back and found it again.
    """
    if all(update.diff > 0 for update in updates):
        return list(updates)
    kept: list[Update | None] = []
    last: dict[Identity, list[int]] = {}
    for update in updates:
        open_at = last.setdefault(identity(update.event), [])
        if open_at:
            before = kept[open_at[-1]]
            assert before is not None
            if before.diff == -update.diff and before.event == update.event:
                kept[open_at.pop()] = None
                continue
        open_at.append(len(kept))
        kept.append(update)
    return [update for update in kept if update is not None]


def differences(
    gone: list[Event], came: list[Said], same: Callable[[object, object], bool]
) -> tuple[list[Event], list[Said]]:
    """Both lists less what stands in both: an event that was concluded again has not changed.

    Versions of an event share its name, and a faulty detector may repeat itself: one stands against one.

    Args:
        gone: events that are to be withdrawn.
        came: events that are to be asserted.
        same: compares two events.
    """
    if not gone or not came:
        return gone, came
    old: dict[tuple[Identity, int], list[Event]] = {}
    for event in gone:
        old.setdefault((identity(event), event.ts_us), []).append(event)
    new: list[Said] = []
    for said in came:
        event = said[1]
        rivals = old.get((identity(event), event.ts_us), ())
        at = next((at for at, rival in enumerate(rivals) if same(rival, event)), None)
        if at is None:
            new.append(said)
        else:
            del old[identity(event), event.ts_us][at]
    if len(new) == len(came):
        return gone, came
    return [event for rest in old.values() for event in rest], new

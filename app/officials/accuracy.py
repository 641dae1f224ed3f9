"""The accuracy of detected events by what officials have corrected.

Theory of operation
-------------------
An official who watches a match withdraws a wrong event (``void``) or gives it its right values (``correction``). The
last decision about an event counts; a correction without values says that the event stands as it was detected. In a
match with at least one such decision every event that nobody has corrected counts as right. So accuracy is the share of
reported events that are right: a precision. What was never reported, nobody can correct.

The kind of an event is the one under which it was detected, which its id names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from football.kind_names import kind_name
from football.untrusted import decode_json
from replay.event_list import consolidated_events
from replay.formats.officials import CORRECT

_DECISIONS = ("official.void", "official.correction")
_RIGHT = ("right_kind", "right_variant", "right_us", "team", "player", "other")


class Judged(msgspec.Struct, frozen=True):
    """Events of one kind in one match.

    Attributes:
        events: reported at the end, with those that officials have withdrawn.
        wrong: of them, withdrawn by officials, or of another kind.
        changed: of them, of the right kind, with another player, team, variant or time.
    """

    kind: str
    events: int
    wrong: int
    changed: int


class Accuracy(msgspec.Struct, frozen=True):
    """Accuracy of a kind over some matches.

    Attributes:
        group: ``all``, ``match`` or ``venue``; ``name`` says which one.
        title: the kind in words.
        matches: number of matches.
        share: share of events that are of the right kind; ``low`` and ``high`` are its 95 % interval (Wilson).
    """

    group: str
    name: str
    kind: str
    title: str
    matches: int
    events: int
    wrong: int
    changed: int
    share: float
    low: float
    high: float


def judged_events(folder: Path) -> list[Judged]:
    """Return the judged events of a match store by kind; none if officials have corrected nothing.

    Raises:
        StoreError: not a match store, or damaged.
    """
    decisions = {}
    for row in consolidated_events(folder, _DECISIONS).select(["kind", "team", "player", "detail"]).to_pylist():
        detail = decode_json(row["detail"].encode(), dict)
        decisions[detail["event"]] = row["kind"], {**detail, "team": row["team"], "player": row["player"]}
    if not decisions:  # of most matches; all events are read of the others only
        return []
    wrong: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for event, (decision, detail) in decisions.items():
        kind = _kind(event)
        if decision == "official.void" or detail.get("right_kind", kind) not in ("", kind):
            wrong[kind] += 1
        elif any(detail.get(name) for name in _RIGHT):
            changed[kind] += 1
    events = Counter(map(_kind, {*consolidated_events(folder)["id"].to_pylist(), *decisions}))
    return [Judged(kind, events[kind], wrong[kind], changed[kind]) for kind in CORRECT if events[kind]]


def accuracies(matches: Iterable[tuple[str, str, list[Judged]]]) -> list[Accuracy]:
    """Return the accuracy of each kind over all matches, by match and by venue.

    Args:
        matches: name, venue (may be empty) and judged events of each.
    """
    from replay.scoring.rates import wilson  # imports scipy

    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for match, venue, judged in matches:
        for one in judged:
            for group, name in (("all", ""), ("match", match), ("venue", venue)):
                groups.setdefault((group, name, one.kind), []).append(one)
    found = []
    for (group, name, kind), parts in groups.items():
        events, wrong, changed = (sum(getattr(one, what) for one in parts) for what in ("events", "wrong", "changed"))
        low, high = wilson(events - wrong, events)
        share = (events - wrong) / events
        interval = max(0.0, low), min(1.0, high)
        found.append(Accuracy(group, name, kind, kind_name(kind), len(parts), events, wrong, changed, share, *interval))
    return sorted(found, key=lambda one: (one.group, one.name, CORRECT.index(one.kind)))


def _kind(event_id: str) -> str:
    return event_id.partition("#")[0]

"""The decisions that undo a decision.

Theory of operation
-------------------
A decision cannot be taken out of the stream: the detectors have concluded from it, and what is final stays final. So
what it changed is changed back by decisions that anybody could enter. The log of updates shows what it changed:

* events that were concluded from it, which name it among their causes, and so on: they are declared void;
* events that it withdrew or amended: a correction restores the version that stood before. Those that an event names in
  ``annuls`` are known by that; a detector that amends its own event leaves no such trace, so the log of the decision's
  own push shows the rest, for kinds that only decisions change at such a moment;
* the event that the decision itself became: it is declared void. A void or a correction stays in the list as history;
  the event that it was about gets what was decided about it before, if anything was, else it stands as it was detected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from detectors.laws.overruled import WATCHED
from detectors.signals.official import OVERRULED
from football.update_stream import EventRecord, UpdateRecord
from replay.decision_log import EnteredDecision
from replay.formats.officials import CORRECT, DecisionFields

#: Kinds that officials decide about, with their consequences.
_DECIDED = frozenset((*WATCHED, "goal.scored", "goal.own", "goal.disallowed"))

#: Kinds of decisions about one published event.
ABOUT_ONE = ("void", "correction")


def decisions_undoing(
    decision: EnteredDecision, entered: Sequence[EnteredDecision], updates: Iterable[UpdateRecord]
) -> list[DecisionFields]:
    """Return the decisions that undo one.

    Args:
        decision: to be undone.
        entered: all decisions of the match, in their order.
        updates: of the match in the order of their numbers; kinds that no decision may change can be missing.
    """
    fields = decision.decision
    if fields.kind in ABOUT_ONE:
        lines = [_earlier(decision, entered), *_consequences(decision.id, updates, {fields.event})]
    else:
        lines = [*_consequences(decision.id, updates, set()), DecisionFields("void", event=decision.id)]
    return [msgspec.structs.replace(line, undoes=decision.number) for line in lines]


def _earlier(decision: EnteredDecision, entered: Sequence[EnteredDecision]) -> DecisionFields:
    """Return what was decided about the same event before; a correction without values if nothing was."""
    about = DecisionFields("correction", event=decision.decision.event)
    for one in entered:
        if one.number >= decision.number:
            break
        if one.decision.kind in ABOUT_ONE and one.decision.event == about.event and not one.undone:
            about = msgspec.structs.replace(one.decision, number=None)
    return about


def _consequences(decision_id: str, updates: Iterable[UpdateRecord], known: set[str]) -> list[DecisionFields]:
    """Return the decisions that undo what a decision led to, apart from the ``known`` events."""
    standing: dict[str, EventRecord] = {}
    before: dict[str, EventRecord] | None = None
    pushed_us = 0
    concluded, changed = {decision_id}, dict[str, None]()
    for update in updates:
        event = update.event
        if event.id == decision_id and before is None:
            before, pushed_us = dict(standing), update.emitted_us
        if before is not None and update.emitted_us == pushed_us and event.kind in _DECIDED:
            changed[event.id] = None
        if update.diff < 0:
            if standing.get(event.id) == event:
                del standing[event.id]
            continue
        standing[event.id] = event
        if concluded.intersection(event.causes) and event.kind in OVERRULED:
            concluded.add(event.id)
            changed[event.id] = None
            if annulled := str(event.detail.get("annuls") or ""):
                changed[annulled] = None
    changes = ((one, (before or {}).get(one), standing.get(one)) for one in changed if one not in {*known, decision_id})
    lines = [_back(one, old, new) for one, old, new in changes if old != new]
    # Consequences first: an event that is void has none.
    return [one for one in reversed(lines) if one.kind == "void"] + [one for one in lines if one.kind != "void"]


def _back(event_id: str, old: EventRecord | None, new: EventRecord | None) -> DecisionFields:
    """Return the decision by which an event is again as it was; ``None`` is an event that does not stand."""
    if old is None:
        return DecisionFields("void", event=event_id)
    if new is None or old.kind not in CORRECT:
        return DecisionFields("correction", event=event_id)
    return DecisionFields(
        "correction",
        event=event_id,
        right_kind=old.kind,
        right_variant=old.variant,
        team="home" if old.team == "home" else "away" if old.team == "away" else "",
        player=old.player,
    )

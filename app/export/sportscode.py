"""The XML timeline of Sportscode (Hudl), which video tools of clubs read: an instance with labels for each action.

The matches of patterns that the match was played with follow as instances of their own: they are the clip lists that
users define by a rule. Every instance begins some seconds before the action and ends some after it, so that it is a
clip. Times are seconds from the begin of the stream: in the video tool, set that instant once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from app.export.actions import Action, Match
from app.export.xml_document import add, write_xml
from football.kind_names import kind_name
from football.update_stream import EventRecord

#: Seconds before and after an action.
_BEFORE_S, _AFTER_S = 4.0, 3.0

_KINDS = {
    "pass": "Pass", "carry": "Carry", "shot": "Shot", "take_on": "Take-on", "tackle": "Tackle",
    "interception": "Interception", "clearance": "Clearance", "save": "Save", "claim": "Claim", "punch": "Punch",
    "pick_up": "Pick-up", "own_goal": "Own goal", "foul": "Foul", "card": "Card", "substitution": "Substitution",
}  # fmt: skip

_LABELS = {
    "clock": "Clock", "quarter_hour": "Quarter hour", "restart": "Restart", "height": "Height", "length": "Length",
    "direction": "Direction", "cross": "Cross", "body_part": "Body part", "packing": "Packing", "xg": "xG",
    "receiver_name": "Receiver", "stopped_by_name": "Stopped by", "opponent_name": "Opponent",
    "replacement": "Replacement",
}  # fmt: skip

_FLAGS = {
    "under_pressure": "Under pressure", "through_ball": "Through ball", "switch": "Switch",
    "progressive": "Progressive", "key_pass": "Key pass", "assist": "Assist",
}  # fmt: skip


def write_sportscode(match: Match, out: Path) -> None:
    """Write the timeline.

    Raises:
        OSError: the file cannot be written.
    """
    root = ElementTree.Element("file")
    instances = ElementTree.SubElement(root, "ALL_INSTANCES")
    for action in match.actions:
        code = f"{match.events.team_name(action.team)} {_KINDS[action.kind]}"
        _add_instance(instances, code, action.ts_us, action.end_us, _labels(match, action))
    for event in match.patterns:
        times_us = (event.detail.get(name) for name in ("first_us", "last_us"))
        first_us, last_us = (one if isinstance(one, int) else event.ts_us for one in times_us)
        code = f"{match.events.team_name(event.team) or ''} {kind_name(event.kind)}".strip()
        _add_instance(instances, code, first_us, last_us, _labels_of_pattern(match, event))
    write_xml(root, out)


def _add_instance(
    instances: ElementTree.Element, code: str, begin_us: int, end_us: int, labels: Iterable[tuple[str, str]]
) -> None:
    instance = ElementTree.SubElement(instances, "instance")
    add(instance, "ID", str(len(instances)))
    add(instance, "start", f"{max(0.0, begin_us * 1e-6 - _BEFORE_S):.3f}")
    add(instance, "end", f"{end_us * 1e-6 + _AFTER_S:.3f}")
    add(instance, "code", code)
    for group, text in labels:
        label = ElementTree.SubElement(instance, "label")
        add(label, "group", group)
        add(label, "text", text)


def _labels_of_pattern(match: Match, event: EventRecord) -> Iterator[tuple[str, str]]:
    """Team and player of the last event, and what ``RETURN`` gives."""
    if event.team:
        yield "Team", match.events.team_name(event.team) or event.team
    if event.player:
        person = match.events.actor(event.team, event.player, event.ts_us)
        shirt = "" if person.get("shirt") is None else f"{person['shirt']} "
        yield "Player", f"{shirt}{person.get('name') or event.player}"
    yield "Event", event.id
    for name, value in event.detail.items():
        if name not in ("first_us", "last_us", "stands_us", "events"):
            yield name, str(value)


def _labels(match: Match, action: Action) -> Iterator[tuple[str, str]]:
    row = action.row
    yield "Team", match.events.team_name(action.team) or action.team
    shirt = "" if row.get("shirt") is None else f"{row['shirt']} "
    yield "Player", f"{shirt}{row.get('name') or action.player}"
    yield "Period", str(action.period)
    yield "Event", action.id
    if action.outcome:
        yield "Outcome", action.outcome
    for name, group in _LABELS.items():
        if row.get(name) is not None:
            yield group, str(row[name])
    for name, group in _FLAGS.items():
        if row.get(name):
            yield group, "yes"

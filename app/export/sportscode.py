"""The XML timeline of Sportscode (Hudl), which video tools of clubs read: an instance with labels for each action.

Every instance begins some seconds before the action and ends some after it, so that it is a clip. Times are seconds
from the begin of the stream: in the video tool, set that instant once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from app.export.actions import Action, Match
from app.export.xml_document import add, write_xml

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
    for number, action in enumerate(match.actions, 1):
        instance = ElementTree.SubElement(instances, "instance")
        add(instance, "ID", str(number))
        add(instance, "start", f"{max(0.0, action.ts_us * 1e-6 - _BEFORE_S):.3f}")
        add(instance, "end", f"{action.end_us * 1e-6 + _AFTER_S:.3f}")
        add(instance, "code", f"{match.events.team_name(action.team)} {_KINDS[action.kind]}")
        for group, text in _labels(match, action):
            label = ElementTree.SubElement(instance, "label")
            add(label, "group", group)
            add(label, "text", text)
    write_xml(root, out)


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

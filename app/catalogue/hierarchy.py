"""The page of the hierarchy: every row of it, built or planned, with its rule and its source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.base.program import with_version
from detectors.catalogue import ADDED_NUMBERS, DetectorInfo, life_cycle, number_key


class PlannedRow(NamedTuple):
    """A row of the hierarchy without a detector of its own number.

    Attributes:
        number: its number.
        name: its name.
        first: True if it belongs to the rows that are to be built first (tier M).
        rule: the rule in a line.
        source: where the rule comes from.
        elsewhere: the part of the product that does it without a detector; empty if there is none.
    """

    number: str
    name: str
    first: bool
    rule: str
    source: str
    elsewhere: str = ""


#: Name of each level.
LEVELS = (
    "Signals: conditioning and fusion of transmitters",
    "The ball alone, and its lines",
    "Movement of players, and areas",
    "Proximity",
    "Contacts with the ball",
    "Actions and possession",
    "Outcomes",
    "Qualifiers of passes and shots",
    "Restarts, Laws and match state",
    "Pressure, space and control",
    "Combinations and chains of possession",
    "Attacks, formation and movement off the ball",
    "Phases and momentum",
    "Statistics and value",
    "Applications",
)

# fmt: off
#: Rows that no detector has as its number: planned ones, and those that a detector of another number covers.
ROWS = tuple(PlannedRow(*row) for row in (
    ("1.1", "packet unpacker", True,
     "packets of ten positions to single samples, in metres and match time", "004 Fig 6"),
    ("1.2", "transmitter lost", True,
     "no sample for 250 ms of a player or 20 ms of the ball, or low quality for 100 ms", "ours; 000, 002, 004"),
    ("1.3", "plausibility gate", True,
     "speed, acceleration and position within what ball and players can do", "002, 004; LaurieOnTracking"),
    ("3.4", "change of direction", False, "the heading turns within 1 s at more than 2 m/s", "ours"),
    ("3.8", "facing", False, "perpendicular of the axis of hands and feet, in octants, held for 200 ms", "ours"),
    ("3.11", "referee state", False, "near the ball (10 m), running or stopped", "ours"),
    ("4.8", "passing lane", False,
     "an opponent near the straight line from ball to mate, wider with the distance", "databallpy; numbers ours"),
    ("5.6", "handball candidate", False,
     "a field player's hand within 0.25 m at a contact; never a decision", "IFAB Law 12"),
    ("7.3", "shot off target", True,
     "the ball crosses the goal line outside the goal, without an opponent's contact", "StreamTeam; Opta"),
    ("7.7", "pass failed", True, "the first gain is an opponent's, or the ball is out", "000 5.1; kloppy"),
    ("9.10", "foul candidate", False,
     "an opponent's contact 0.5 s before a fall, and a stop within 4 s", "IFAB Law 12; SoccER"),
    ("11.4", "overlap combination", False, "a pass to a player who ran outside the carrier within 4 s", "ours"),
    ("13.2", "phase out of possession", True, "FIFA's classes, by height of the line and by pressing", "FIFA EFI"),
    ("13.3", "formation change", True, "a new formation for 60 s", "kloppy"),
    ("15.1", "camera region of interest", True,
     "the ball 0.5 to 1 s ahead, with receiver and pressing players", "000, 002, 004", "camera"),
    ("15.2", "camera cut suggestion", True,
     "shots of 3 s or more, no cut while the ball is in the penalty area", "ours", "camera"),
    ("15.6", "analyst's alert", True, "rules that users write", "kloppy-query; LimeCEP", "patterns"),
    ("15.9", "data-quality alarm", True, "a service level is missed for 2 s", "ours", "health"),
))
# fmt: on

_PREFACE = """# The hierarchy of detectors

Made by `touchline detectors --hierarchy --out docs/hierarchy.md` from the catalogue and `app/catalogue/hierarchy.py`;
do not edit.

This page lists all detectors: those that exist and those that are only planned. A detector has a number, `level.row`,
and reads kinds of events of lower levels, and of its own level what others share inside the engine.
`kind x {a, b}` is a kind of event with the variants a and b; `x team` means that each team has its own.

The column *source* says where a definition comes from. 000 to 004 are the papers of the [glossary](glossary.md). They
give the levels of some detectors: proximity 4, a hit of the ball 5, a shot on goal 6; 004 counts 482 detectors in 15
levels. StreamTeam is an open system that detects football events in streams of positions. The others are IFAB's Laws,
the DEBS 2013 Grand Challenge, definitions of data providers and open libraries. *Ours* is a definition or number of
this project. [Thresholds](thresholds.md) has each number with its reason, [detectors](detectors.md) the inputs, outputs
and payloads of the detectors that exist.

| status | meaning |
|---|---|
| built | the detector of this name does it |
| covered | the detector of this name, which has another number, does it as well |
| added | a detector that the first list did not have |
| elsewhere | a part of the product does it: [camera](cameras.md), [patterns](patterns.md), [health](operation.md) |
| planned, later | nobody has built it yet; `planned` rows come first |
"""


def hierarchy(entries: Sequence[DetectorInfo]) -> str:
    """Write the page as Markdown: a table per level."""
    cells = {row.number: _planned(row, entries) for row in ROWS}
    for entry in (*entries, life_cycle(entries)):
        status = f"{'added' if entry.number in ADDED_NUMBERS else 'built'}: {entry.kind}"
        rule = _sentence(entry.summary)
        cells[entry.number] = entry.number, entry.kind.replace("_", " "), rule, entry.source, status
    parts = [_PREFACE]
    for level, name in enumerate(LEVELS, start=1):
        rows = [cells[number] for number in sorted(cells, key=number_key) if number_key(number)[0] == level]
        table = ("| # | detector | rule | source | status |", "|---|---|---|---|---|", *map(_line, rows))
        parts += [f"## Level {level}: {name}\n", *table, ""]
    return with_version("\n".join(parts))


def _planned(row: PlannedRow, entries: Sequence[DetectorInfo]) -> tuple[str, ...]:
    by = next((entry.kind for entry in entries if row.number in entry.covers), None)
    waits = f"elsewhere: {row.elsewhere}" if row.elsewhere else "planned" if row.first else "later"
    status = f"covered: {by}" if by else waits
    return row.number, row.name, row.rule, row.source, status


def _sentence(summary: str) -> str:
    return summary.replace("``", "`").replace(":class:", "").split(". ")[0].rstrip(".")


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

"""The catalogue: which detectors there are, which of them a match gets, and how their events look to users.

``DETECTORS`` is the one list. Everything else is made from it: the detectors of a match, the command that lists them,
the docs page, the counts, and the tests of levels and acyclicity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

import msgspec

from detectors.actions import registry as actions
from detectors.ball import registry as ball
from detectors.bodies import registry as bodies
from detectors.contacts import registry as contacts
from detectors.control import registry as control
from detectors.laws import registry as laws
from detectors.outcomes import registry as outcomes
from detectors.parameters import Parameter, Parameters, parameters_of
from detectors.play import registry as play
from detectors.proximity import registry as proximity
from detectors.qualifiers import registry as qualifiers
from detectors.registry import DetectorEntry
from detectors.signals import registry as signals
from detectors.statistics import registry as statistics
from football.lifecycle import State
from football.lifecycle import __doc__ as lifecycle_doc
from football.match_sheet import MatchSheet, Quality
from football.payloads import EventPayload
from football.update_stream import EventRecord
from middleware.detector import Detector, Spec
from middleware.events import Event

#: Every detector.
DETECTORS: tuple[DetectorEntry, ...] = (
    *signals.DETECTORS,
    *ball.DETECTORS,
    *bodies.DETECTORS,
    *proximity.DETECTORS,
    *contacts.DETECTORS,
    *play.DETECTORS,
    *actions.DETECTORS,
    *outcomes.DETECTORS,
    *qualifiers.DETECTORS,
    *laws.DETECTORS,
    *control.DETECTORS,
    *statistics.DETECTORS,
)

#: Names of the detectors that a match gets only when asked for.
ASKED = tuple(line.asked for line in DETECTORS if line.asked)


#: Numbers that the hierarchy document does not have: detectors between its own.
OURS = frozenset(("1.8", "1.9", "1.10", "1.11", "3.12", "5.10", "9.13", "11.8"))

#: Inputs that the catalogue describes its detectors on: radio with four limbs; and, for what only they have, frames.
REFERENCES = (
    Quality(2_000.0, 200.0, ("left_foot", "right_foot", "left_hand", "right_hand"), True, 0.02, "rtls"),
    Quality(framed=True),
)


def build_detectors(
    sheet: MatchSheet, parameters: Parameters | None = None, extra: Collection[str] = ()
) -> tuple[Detector[Any], ...]:
    """All detectors for a match. ``middleware.hierarchy.Hierarchy`` sorts them.

    Args:
        sheet: pitch, players and the quality of the input, which chooses among them.
        parameters: numbers that differ from the defaults.
        extra: names out of ``ASKED``; those that feed them come by themselves.

    Raises:
        PitchError: the sheet's pitch is not one.
        ValueError: no detector of such a name can be asked for.
    """
    if unknown := set(extra) - set(ASKED):
        raise ValueError(f"no detector {', '.join(sorted(unknown))} can be asked for: {', '.join(ASKED)}")
    numbers = parameters or Parameters()
    wanted = [line for line in DETECTORS if line.wanted(sheet.quality)]
    chosen = [line.make(sheet, numbers) for line in wanted if not line.asked or line.asked in extra]
    others = [line.make(sheet, numbers) for line in wanted if line.asked and line.asked not in extra]
    # From above downwards, so that one pass finds the feeders of feeders.
    for other in sorted(others, key=lambda detector: -detector.spec.level):
        if any(kind in detector.spec.inputs for kind in other.spec.outputs for detector in chosen):
            chosen.append(other)
    for detector in chosen:
        # What is published is shown and stored as a fact: anything else is refused, and the match goes on.
        detector.spec = replace(detector.spec, payload=EventPayload)
    return tuple(chosen)


class EventTypes(msgspec.Struct, frozen=True):
    """The types of one kind: ``variants`` are one each, ``team_variants`` one each per team; ``count`` is their sum.

    Of a kind whose variants are payload (``typed`` false) only the kind itself counts, once, or once per team.
    """

    kind: str
    variants: tuple[str, ...]
    team_variants: tuple[str, ...]
    typed: bool
    internal: bool
    count: int


class Entry(msgspec.Struct, frozen=True):
    """A detector as the catalogue lists it.

    Attributes:
        kind: the detector's name.
        number: its place in the hierarchy; ``covers`` further ones.
        level: 1 to 15.
        summary: what it finds, in a sentence.
        inputs, outputs: kinds.
        types: of each output, see :class:`EventTypes`.
        parameters: with value, unit and range; the first part of the path is the section of a settings file.
        horizon_us: how far before its newest cause an event may be dated.
        needs: quality that the input must have, empty for any.
        source: where the rule comes from.
        keyed: one unit a transmitter or player.
        annuls: kinds that its events may declare void.
        asked: whether a match gets it only when it is asked for.
    """

    kind: str
    number: str
    covers: tuple[str, ...]
    level: int
    summary: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: tuple[EventTypes, ...]
    parameters: tuple[Parameter, ...]
    horizon_us: int
    needs: str
    source: str
    keyed: bool
    annuls: tuple[str, ...]
    asked: bool


class Count(msgspec.Struct, frozen=True):
    """How large the catalogue is; each number with its unit in its name.

    ``hierarchy_rows``: places of the hierarchy document that are covered. ``event_types``: kind x enumerated variants
    x team, players not counted, of published kinds; ``internal_types`` the same of kinds that stay in the engine.
    """

    detectors: int
    hierarchy_rows: int
    event_kinds: int
    event_types: int
    internal_kinds: int
    internal_types: int


def catalogue(parameters: Parameters | None = None) -> tuple[Entry, ...]:
    """Every detector once, by level and number, with the values that its parameters have."""
    chosen = parameters or Parameters()
    entries: dict[str, Entry] = {}
    for quality in REFERENCES:
        sheet = MatchSheet(quality=quality)
        for line in DETECTORS:
            if line.wanted(quality):
                detector = line.make(sheet, chosen)
                entries.setdefault(detector.spec.name, _entry(detector, line, chosen))
    return tuple(sorted(entries.values(), key=lambda entry: (entry.level, _parts(entry.number))))


def life_cycle(entries: Iterable[Entry]) -> Entry:
    """15.8, no fold in the engine: it follows the log of what all of them publish (``football.lifecycle``)."""
    told = dict.fromkeys(t.kind for entry in entries for t in entry.types if not t.internal)
    states = (*get_args(State), "amended")
    types = tuple(EventTypes(state, (), (), True, False, 1) for state in states)
    summary = " ".join((lifecycle_doc or "").split("\n\n")[0].split()).partition(", ")[2]
    source = "000 4.3; api-sports 301"
    return Entry("life_cycle", "15.8", (), 15, summary, tuple(told), states, types, (), 0, "", source, False, (), False)


def count(entries: Collection[Entry]) -> Count:
    """The size of a catalogue; a kind that two detectors give on different inputs counts once."""
    types = {t.kind: t for entry in entries for t in entry.types}
    rows = {number for entry in entries for number in (entry.number, *entry.covers)} - OURS
    told = [t for t in types.values() if not t.internal]
    inner = [t for t in types.values() if t.internal]
    return Count(
        len(entries), len(rows), len(told), sum(t.count for t in told), len(inner), sum(t.count for t in inner)
    )


def event_types(spec: Spec) -> tuple[EventTypes, ...]:
    """The types of every kind that a detector gives."""
    return tuple(_types(spec, kind) for kind in spec.outputs)


def _types(spec: Spec, kind: str) -> EventTypes:
    plain, per_team = spec.variants.get(kind, ()), spec.team_variants.get(kind, ())
    typed = kind not in spec.untyped
    every = len(plain) + 2 * len(per_team) or 1
    size = every if typed else 2 if per_team else 1
    return EventTypes(kind, plain, per_team, typed, kind in spec.internal, size)


def _entry(detector: Detector[Any], line: DetectorEntry, parameters: Parameters) -> Entry:
    spec = detector.spec
    numbers = tuple(p for group in line.groups for p in parameters_of(getattr(parameters, group), group))
    return Entry(
        spec.name,
        spec.number,
        spec.covers,
        spec.level,
        _summary(detector),
        spec.inputs,
        spec.outputs,
        event_types(spec),
        numbers,
        spec.horizon_us,
        spec.needs,
        spec.source,
        spec.keyed,
        spec.annuls,
        bool(line.asked),
    )


def _summary(detector: Detector[Any]) -> str:
    """The first paragraph of the detector's docstring without its number."""
    text = type(detector).__doc__ or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return paragraph.split(": ", 1)[-1]


def _parts(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


def level_of_kinds(detectors: Iterable[Detector[Any]]) -> Mapping[str, int]:
    """Level of each kind that the detectors give."""
    return {kind: detector.spec.level for detector in detectors for kind in detector.spec.outputs}


def to_record(event: Event, level: int) -> EventRecord:
    """A sparse event as users and stores see it.

    Args:
        event: its payload must be a ``EventPayload``.
        level: of its kind, see ``level_of_kinds``.
    """
    payload = event.payload
    assert isinstance(payload, EventPayload), f"{event.kind} is not a sparse kind"
    detail = {**payload.detail, "annuls": event.annuls} if event.annuls else payload.detail
    return EventRecord(
        event.id,
        event.kind,
        payload.variant,
        level,
        event.ts_us,
        payload.team,
        payload.player,
        payload.x_m,
        payload.y_m,
        payload.z_m,
        payload.confidence,
        event.causes,
        detail,
    )

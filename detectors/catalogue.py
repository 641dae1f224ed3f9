"""The catalogue: the list of detectors, the choice among them for a match, and the form of their events for users.

``DETECTORS`` is the only list, put together from the registries of the rooms. Everything else is derived from it: the
detectors of a match, the command that lists them, the docs pages, the counts, and the tests of levels and acyclicity.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec

from detectors.actions import registry as actions
from detectors.ball import registry as ball
from detectors.bodies import registry as bodies
from detectors.chains import registry as chains
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
from detectors.stories import registry as stories
from detectors.tactics import registry as tactics
from football.lifecycle import Lifecycle, State
from football.lifecycle import __doc__ as lifecycle_doc
from football.match_sheet import MatchSheet, Quality
from football.payloads import EventPayload
from football.pitch import Pitch, pitch_of
from middleware.detector import Detector, Known, Spec
from middleware.hierarchy import walk_order

if TYPE_CHECKING:
    from detectors.patterns.detector import PatternDetector

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
    *chains.DETECTORS,
    *tactics.DETECTORS,
    *statistics.DETECTORS,
    *stories.DETECTORS,
)

#: Names of the detectors that a match gets only on request.
OPT_IN = tuple(entry.opt_in_name for entry in DETECTORS if entry.opt_in_name)

#: Numbers of rows of docs/hierarchy.md that the design of the hierarchy did not have: they were added while building.
ADDED_NUMBERS = frozenset((
    "1.8", "1.9", "1.10", "1.11", "3.12", "5.10", "9.13", "9.14", "10.15", "11.8", "13.8", "14.12", "14.13",
))  # fmt: skip

#: Detectors that conclude nothing: they publish decisions of officials, or withdraw what these contradict.
PASSING_ON = frozenset(("official", "overruled"))

#: Qualities of input on which the catalogue describes the detectors: radio with four limbs first; optical frames for
#: the detectors that radio does not have.
REFERENCES = (
    Quality(2_000.0, 200.0, ("left_foot", "right_foot", "left_hand", "right_hand"), True, 0.02, "rtls"),
    Quality(framed=True),
)


def build_detectors(
    sheet: MatchSheet,
    parameters: Parameters | None = None,
    extra: Collection[str] = (),
    own: Iterable[Detector[Any]] = (),
    patterns: Mapping[str, str] | None = None,
) -> tuple[Detector[Any], ...]:
    """The detectors of a match, in no particular order (``middleware.hierarchy.Hierarchy`` sorts them).

    Args:
        sheet: pitch, players and the quality of the input, which selects the detectors.
        parameters: thresholds of the match; the defaults without them.
        extra: names out of ``OPT_IN``; the detectors that feed them are added.
        own: detectors that are not in the catalogue; the opt-in detectors that feed them are added.
        patterns: texts of patterns by name, see docs/patterns.md; each is a detector of level 15. Kinds that the source
            cannot show are left out of their inputs, and a pattern without inputs is left out.

    Raises:
        PitchError: the dimensions of the sheet's pitch are impossible.
        ValueError: ``extra`` has a name that is not in ``OPT_IN``.
        PatternError: a pattern is none, or cannot be a detector.
    """
    if unknown := set(extra) - set(OPT_IN):
        raise ValueError(f"no detector {', '.join(sorted(unknown))} can be asked for: {', '.join(OPT_IN)}")
    thresholds = parameters or Parameters()
    watching = _pattern_detectors(patterns, pitch_of(sheet)) if patterns else []
    chosen: list[Detector[Any]] = [*own, *watching]
    optional: list[Detector[Any]] = []
    for entry in DETECTORS:
        if entry.enabled_for(sheet.quality):
            requested = not entry.opt_in_name or entry.opt_in_name in extra
            (chosen if requested else optional).append(entry.build(sheet, thresholds))
    # From the last in the walk to the first, so that one pass also finds what feeds an added detector.
    for detector in reversed(walk_order(optional)):
        if any(kind in reader.spec.inputs for kind in detector.spec.outputs for reader in chosen):
            chosen.append(detector)
    specs = [detector.spec for detector in chosen if detector not in watching]
    for pattern in watching:
        pattern.watch(specs)
        if not pattern.spec.inputs:
            chosen.remove(pattern)
    for detector in chosen:
        # A published event must carry an EventPayload; the engine refuses any other, and the match goes on.
        detector.spec = replace(detector.spec, payload=EventPayload)
    return tuple(chosen)


def _pattern_detectors(patterns: Mapping[str, str], pitch: Pitch) -> list[PatternDetector]:
    from detectors.patterns.detector import PatternDetector  # brings a parser, which few matches need

    return [PatternDetector.of_text(name, text, pitch) for name, text in patterns.items()]


def detectors_about(kind: str, detectors: Iterable[Detector[Any]]) -> tuple[Detector[Any], ...]:
    """Those of some detectors that matter to the events of a kind: what they depend on, and what depends on them.

    Returns:
        The givers of the kind, all that read something of theirs, all that annul any of that, and all that feed any of
        these; in the order given. What a detector emits besides its annulments matters only if it reads, too: the
        officials' decisions may change most kinds, and concern few.
    """
    every = tuple(detectors)
    given = {output for detector in every if kind in detector.spec.outputs for output in detector.spec.outputs}
    kinds = _reached(given | {kind}, [({*d.spec.inputs}, {*d.spec.outputs}) for d in every])
    annulling = {output for d in every if kinds & {*d.spec.annuls} for output in d.spec.outputs}
    below = _reached(kinds | annulling, [({*d.spec.outputs}, {*d.spec.inputs}) for d in every])
    return tuple(detector for detector in every if below & {*detector.spec.outputs})


def _reached(kinds: set[str], edges: Collection[tuple[set[str], set[str]]]) -> set[str]:
    """Kinds that can be reached from some over edges, each from any kind of a set to all of another one."""
    reached = kinds.union(*(to for origin, to in edges if origin & kinds))
    return reached if reached == kinds else _reached(reached, edges)


class EventTypes(msgspec.Struct, frozen=True):
    """The event types of one kind.

    Attributes:
        kind: the kind.
        variants: each is one type.
        team_variants: each is one type per team.
        typed: False if variants are payload only: then the kind counts once, or once per team.
        internal: the kind stays inside the engine.
        count: number of types.
    """

    kind: str
    variants: tuple[str, ...]
    team_variants: tuple[str, ...]
    typed: bool
    internal: bool
    count: int


class PayloadInfo(msgspec.Struct, frozen=True):
    """Names that the detail of the events of one kind may have, and when they are known.

    Attributes:
        kind: the kind.
        detail: names that its detail may have.
        first: when the first version is emitted.
        again: when a newer version is; empty if the first one is the last.
        changes: what the newer version may change.
    """

    kind: str
    detail: tuple[str, ...]
    first: str
    again: str
    changes: tuple[str, ...]


class DetectorInfo(msgspec.Struct, frozen=True, rename={"opt_in": "asked"}):
    """A detector as the catalogue lists it.

    Attributes:
        kind: name of the detector.
        number: its row in docs/hierarchy.md.
        covers: further rows that it implements.
        level: 1 to 15.
        summary: what it detects, in a sentence.
        inputs: kinds that it reads.
        outputs: kinds that it emits.
        types: event types of each output.
        parameters: path, value, unit and range; the first part of a path is the section of a settings file.
        horizon_us: how far before its newest cause it may date an event, microseconds.
        needs: quality that the input must have, in words; empty for any.
        source: where the rule comes from.
        keyed: True if it has one state per transmitter or player.
        annuls: kinds that its events may declare void.
        opt_in: True if a match gets it only on request (``asked`` in JSON).
        description: paragraphs of its docstring after the first: its rule, and the payload of its events.
        module: where it is defined.
        payloads: detail of each published output, and when it is known.
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
    opt_in: bool
    description: str = ""
    module: str = ""
    payloads: tuple[PayloadInfo, ...] = ()


class Count(msgspec.Struct, frozen=True):
    """The size of a catalogue.

    Attributes:
        detectors: detectors.
        hierarchy_rows: rows of docs/hierarchy.md that they implement, without those added while building.
        event_kinds: published kinds.
        event_types: kind x enumerated variants x team of published kinds; players are not counted.
        internal_kinds: kinds that stay inside the engine.
        internal_types: their event types.
    """

    detectors: int
    hierarchy_rows: int
    event_kinds: int
    event_types: int
    internal_kinds: int
    internal_types: int


def catalogue(parameters: Parameters | None = None) -> tuple[DetectorInfo, ...]:
    """Every detector once, by level and number, with the values of its parameters in a tree."""
    chosen = parameters or Parameters()
    entries: dict[str, DetectorInfo] = {}
    for quality in REFERENCES:
        sheet = MatchSheet(quality=quality)
        for entry in DETECTORS:
            if entry.enabled_for(quality):
                detector = entry.build(sheet, chosen)
                entries.setdefault(detector.spec.name, _describe(detector, entry, chosen))
    return tuple(sorted(entries.values(), key=lambda info: (info.level, number_key(info.number))))


def life_cycle(entries: Iterable[DetectorInfo]) -> DetectorInfo:
    """15.8 as an entry: no detector of the engine, but a fold over the log of published events (football.lifecycle)."""
    inputs = tuple(dict.fromkeys(t.kind for entry in entries for t in entry.types if not t.internal))
    states = (*get_args(State), "amended")
    types = tuple(EventTypes(state, (), (), True, False, 1) for state in states)
    summary = " ".join((lifecycle_doc or "").split("\n\n")[0].split()).partition(", ")[2]
    source, module = "000 4.3; api-sports 301", Lifecycle.__module__
    return DetectorInfo(
        "life_cycle", "15.8", (), 15, summary, inputs, states, types, (), 0, "", source, False, (), False, "", module
    )


def count(entries: Collection[DetectorInfo]) -> Count:
    """The size of a catalogue; a kind that two detectors emit on different inputs counts once."""
    types = {t.kind: t for entry in entries for t in entry.types}
    rows = {number for entry in entries for number in (entry.number, *entry.covers)} - ADDED_NUMBERS
    public = [t for t in types.values() if not t.internal]
    internal = [t for t in types.values() if t.internal]
    return Count(
        len(entries),
        len(rows),
        len(public),
        sum(t.count for t in public),
        len(internal),
        sum(t.count for t in internal),
    )


class LevelCount(NamedTuple):
    """The size of a level, without what only passes decisions on: its number, its detectors, and their event types."""

    level: int
    detectors: int
    event_types: int


def count_by_level(entries: Collection[DetectorInfo]) -> tuple[LevelCount, ...]:
    """The size of each level, without the detectors of ``PASSING_ON``; a kind counts once, with its first detector."""
    sizes: list[LevelCount] = []
    counted = set[str]()
    for level in sorted({entry.level for entry in entries}):
        mine = [entry for entry in entries if entry.level == level and entry.kind not in PASSING_ON]
        types = {t.kind: t.count for entry in mine for t in entry.types if not t.internal and t.kind not in counted}
        counted |= {*types}
        sizes.append(LevelCount(level, len(mine), sum(types.values())))
    return tuple(sizes)


def event_types(spec: Spec) -> tuple[EventTypes, ...]:
    """The event types of every kind that a detector emits."""
    return tuple(_types(spec, kind) for kind in spec.outputs)


def _types(spec: Spec, kind: str) -> EventTypes:
    plain, per_team = spec.variants.get(kind, ()), spec.team_variants.get(kind, ())
    typed = kind not in spec.untyped
    every = len(plain) + 2 * len(per_team) or 1
    size = every if typed else 2 if per_team else 1
    return EventTypes(kind, plain, per_team, typed, kind in spec.internal, size)


def _describe(detector: Detector[Any], entry: DetectorEntry, parameters: Parameters) -> DetectorInfo:
    spec = detector.spec
    # One class for several detectors describes each of them in an attribute.
    text: str = getattr(detector, "description", "") or inspect.getdoc(type(detector)) or ""
    first, *more = text.split("\n\n")
    return DetectorInfo(
        spec.name,
        spec.number,
        spec.covers,
        spec.level,
        # Without the number that the docstring begins with.
        " ".join(first.split()).split(": ", 1)[-1],
        spec.inputs,
        spec.outputs,
        event_types(spec),
        tuple(p for group in entry.groups for p in parameters_of(getattr(parameters, group), group)),
        spec.horizon_us,
        spec.needs,
        spec.source,
        spec.keyed,
        spec.annuls,
        bool(entry.opt_in_name),
        "\n\n".join(more),
        type(detector).__module__,
        tuple(_payload(spec, kind) for kind in spec.outputs if kind in spec.details or kind not in spec.internal),
    )


def _payload(spec: Spec, kind: str) -> PayloadInfo:
    known = spec.known.get(kind, Known())
    limit_ms = spec.horizon_us / 1000
    default = f"at most {limit_ms:g} ms after its time" if spec.horizon_us else "at its time"
    return PayloadInfo(kind, spec.details.get(kind, ()), known.first or default, known.again, known.changes)


def number_key(number: str) -> tuple[int, ...]:
    """Sort key of a number of the hierarchy, such as ``9.10``."""
    return tuple(int(part) for part in number.split("."))

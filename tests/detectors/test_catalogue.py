"""The catalogue as data: levels rise, nothing goes round, every kind has a giver, the counts are sums."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import msgspec
import pytest

from detectors.catalogue import (
    ADDED_NUMBERS,
    DETECTORS,
    OPT_IN,
    REFERENCES,
    DetectorInfo,
    build_detectors,
    catalogue,
    count,
    detectors_about,
    event_types,
    life_cycle,
)
from detectors.parameters import ORDERED, Parameters, all_parameters, out_of_order
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from middleware.detector import Spec

ENTRIES = catalogue()


def test_a_detector_stands_above_all_that_feed_it():
    level = {kind: entry.level for entry in ENTRIES for kind in entry.outputs}
    shared = {one.kind for entry in ENTRIES for one in entry.types if one.internal}
    for entry in ENTRIES:
        feeding = {kind: level[kind] for kind in entry.inputs if kind not in RAW_KINDS}
        assert all(below < entry.level or (below == entry.level and kind in shared) for kind, below in feeding.items())


def test_no_way_leads_round():
    giver: dict[str, set[str]] = {}
    for entry in ENTRIES:
        for kind in entry.outputs:
            giver.setdefault(kind, set()).add(entry.kind)
    feeders = {entry.kind: {name for kind in entry.inputs for name in giver.get(kind, ())} for entry in ENTRIES}
    order = list(TopologicalSorter(feeders).static_order())
    assert set(order) == {entry.kind for entry in ENTRIES}
    assert all(kind in giver or kind in RAW_KINDS for entry in ENTRIES for kind in entry.inputs)


def test_what_matters_to_a_kind_is_below_it_above_it_and_below_that():
    every = build_detectors(MatchSheet(quality=REFERENCES[0]), extra=OPT_IN)
    about = {detector.spec.name for detector in detectors_about("pass.complete", every)}
    assert about >= {"conditioning", "frame_fusion", "player_hits_ball", "pass_attempt", "pass_outcome", "packing"}
    assert "unit_lines" in about, "it feeds line_break, which reads pass.complete"
    assert not about & {"pitch_control", "aerial_duel", "sprint"}
    assert "official" in {d.spec.name for d in detectors_about("goal.scored", every)}, "it may annul goals"
    assert {d.spec.name for d in detectors_about("raw.ball", every)} >= {"conditioning", "pitch_control"}
    assert detectors_about("no.such", every) == ()


def test_names_and_numbers_are_used_once():
    assert len({entry.kind for entry in ENTRIES}) == len(ENTRIES) == len(DETECTORS)
    assert len({entry.number for entry in ENTRIES}) == len(ENTRIES)
    assert {entry.number for entry in ENTRIES} >= ADDED_NUMBERS


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.kind)
def test_an_entry_says_all_that_there_is_to_say(entry: DetectorInfo):
    assert entry.summary
    assert entry.source
    assert entry.inputs
    assert [t.kind for t in entry.types] == list(entry.outputs)
    assert entry.number.startswith(f"{entry.level}.")
    for kind in entry.types:
        assert len({*kind.variants}) == len(kind.variants)
        assert len({*kind.team_variants}) == len(kind.team_variants)


def test_event_types_are_counted_as_the_hierarchy_counts_them():
    """A kind; variants; variants per team; both; and variants that are payload."""
    spec = Spec(
        "x", "2.1", 2, ("a",), ("b", "c", "d", "e", "f", "g"),
        variants={"c": ("1", "2", "3"), "e": ("1", "2"), "g": ("1", "2")},
        team_variants={"d": ("",), "e": ("2",), "f": ("1", "2")},
        untyped=("f", "g"),
    )  # fmt: skip
    assert {t.kind: t.count for t in event_types(spec)} == {"b": 1, "c": 3, "d": 2, "e": 4, "f": 2, "g": 1}


def test_rows_of_the_hierarchy_have_the_sizes_that_it_states():
    """The types column of the hierarchy document, for rows whose outputs are all there."""
    size = {t.kind: t.count for entry in ENTRIES for t in entry.types}
    assert size["ball.accel_peak"] == 3
    assert size["ball.crossed"] == 28
    assert size["ball.in_goal"] + size["ball.over_bar"] == 4
    # 50 of the 52 areas (nobody tells on which side the benches are) and 15 per team, entered and left.
    assert size["area.enter"] + size["area.leave"] == 2 * 50 + 2 * 15 * 2
    assert size["near"] + size["not_near"] == 16
    assert size["nearest.changed"] == 3
    assert size["spot.ball"] + size["spot.taker"] == 10
    assert size["shot.attempt"] + size["shot.on_target_pred"] + size["shot.off_target_pred"] == 6
    assert (size["team.possession"], size["out"], size["interception"], size["shot.off"]) == (4, 8, 4, 6)
    assert (size["restart.corner"], size["restart.free_kick"]) == (4, 6)


def test_every_row_of_the_document_that_is_to_be_built_is_there():
    """The rows of levels 1 to 10 that come first, those of the levels above, and the life cycle."""
    document = Path(__file__).resolve().parents[2] / "docs" / "hierarchy.md"
    rows = re.findall(r"^\| (\d+\.\d+) \|.*\| (\w+)(?:: \w+)? \|$", document.read_text(), re.MULTILINE)
    status = dict(rows)
    assert len(status) == len(rows) == 172
    there = {number for entry in ENTRIES for number in (entry.number, *entry.covers)} | {life_cycle(ENTRIES).number}
    assert {number for number in status if status[number] in ("built", "covered", "added")} == there
    assert {number for number in status if status[number] == "added"} == ADDED_NUMBERS
    low = {number for number in there - ADDED_NUMBERS if int(number.partition(".")[0]) <= 10}
    assert len(low) == 106
    missing = {"15.1", "15.2", "15.6", "15.9"}
    high = {number for number in status if int(number.partition(".")[0]) > 10} - ADDED_NUMBERS - missing
    assert there - low - ADDED_NUMBERS == high
    assert not [number for number in status if status[number] == "planned" and int(number.partition(".")[0]) <= 10]
    assert count(ENTRIES).hierarchy_rows == len(low) + len(high) - 1


def test_what_covers_another_row_gives_what_that_row_gives():
    """5.3 and its like have an entry each, so that nobody is listed for work that is not his."""
    covered = {number: entry for entry in ENTRIES for number in entry.covers}
    kinds = {number: {*entry.outputs} for number, entry in covered.items()}
    assert "sample.rejected" in kinds["1.3"]
    assert "tx.lost" in kinds["1.2"]
    assert "shot.off" in kinds["7.3"]
    assert {"pass.intercepted", "pass.out"} <= kinds["7.7"]
    assert {*covered} == {"1.1", "1.2", "1.3", "1.4", "1.6", "1.8", "7.3", "7.7", "9.10", "11.4", "13.2", "13.3"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.kind)
def test_a_section_explains_every_name_that_its_events_carry(entry: DetectorInfo):
    text = f"{entry.summary} {entry.description}"
    # "detail is that of 2.1" refers to another section.
    text += " ".join(e.description for e in ENTRIES if re.search(rf"``detail`` is that of {e.number}\b", text))
    names = {name for payload in entry.payloads for name in payload.detail if not name.startswith("<")}
    explained = set(re.findall(r"``(?:detail\.)?(\w+)``", text))
    assert sorted(names - explained) == []


@pytest.mark.parametrize("quality", REFERENCES, ids=["radio", "framed"])
def test_what_may_be_amended_says_when_it_is_known(quality):
    for detector in build_detectors(MatchSheet(quality=quality), extra=OPT_IN):
        assert {*detector.spec.amends} <= {*detector.spec.known}, detector.spec.name


def test_the_count_is_of_kinds_once_each():
    size = count(ENTRIES)
    kinds = {t.kind: t for entry in ENTRIES for t in entry.types}
    assert size.event_kinds + size.internal_kinds == len(kinds)
    assert size.event_types == sum(t.count for t in kinds.values() if not t.internal)
    assert size.detectors == len(ENTRIES)
    assert count([*ENTRIES, *ENTRIES]).event_types == size.event_types


def test_the_references_need_every_line():
    names = {d.spec.name for quality in REFERENCES for d in build_detectors(MatchSheet(quality=quality), extra=OPT_IN)}
    assert names == {entry.kind for entry in ENTRIES}


def test_every_parameter_is_used_and_within_its_range():
    used = {p.path for entry in ENTRIES for p in entry.parameters}
    assert used == {p.path for p in all_parameters()}
    for p in all_parameters():
        assert p.unit.least <= p.value <= p.unit.most, p
        assert type(p.value) in (int, float), p
    assert out_of_order(Parameters()) == []
    assert {path for pair in ORDERED for path in pair} <= used


def _changed(group: str, name: str, value: float) -> Parameters:
    inner = msgspec.structs.replace(getattr(Parameters(), group), **{name: value})
    return msgspec.structs.replace(Parameters(), **{group: inner})


@pytest.mark.parametrize("quality", REFERENCES, ids=["radio", "framed"])
def test_a_parameter_reaches_every_detector_of_its_group(quality):
    """Each numeric parameter is changed in turn; the specs that show it must show the new value."""
    sheet = MatchSheet(quality=quality)
    for entry in DETECTORS:
        if not entry.enabled_for(quality):
            continue
        spec = entry.build(sheet, Parameters()).spec
        for group in entry.groups:
            for field in msgspec.structs.fields(getattr(Parameters(), group)):
                value = getattr(getattr(Parameters(), group), field.name)
                if isinstance(value, msgspec.Struct):
                    continue
                other = value * 0.5 if isinstance(value, float) else value + 1
                changed = entry.build(sheet, _changed(group, field.name, other)).spec
                shown = {k: v for k, v in changed.parameters.items() if k.rpartition(".")[2] == field.name}
                assert other in shown.values() or not shown, f"{spec.name} does not take {group}.{field.name}"
                assert changed.outputs == spec.outputs

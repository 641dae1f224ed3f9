"""Every detector of the catalogue keeps the contract, on a scene and on a minute of a real match."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.sources.captures import first_seconds
from bench.opta_clip import clip
from bench.sorted_world import packets_of
from detectors.arrivals import arrival, frame_arrival
from detectors.catalogue import OPT_IN, build_detectors
from detectors.emission import make_event
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from football.payloads import EventPayload
from middleware.detector import Detector, Spec, Step
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from tests.detectors import contract, stage

PLAYERS = {
    "home_6": [(0, 0, 0), (6, 2, 1)],
    "home_8": [(0, 15, 0)],
    "away_4": [(0, 7, 6)],
    "away_1": [(0, 51, 0)],
    "home_1": [(0, -51, 0)],
}
#: Pass, interception, a long ball out over touch, a throw-in.
BALL = [(0, 0.3, 0, 0.1), (2, 0.3, 0, 0.1), (3.2, 14.7, 0, 0.1), (4.5, 14.7, 0, 0.1), (5.7, 7, 5.7, 0.1)]
BALL += [(6.5, 7, 5.7, 0.1), (8.5, 10, 36, 0.1), (11, 10, 34.5, 0.1), (12.5, 9, 22, 0.1)]
SECONDS = 13.0
QUALITIES = {
    "optical": stage.OPTICAL,
    "framed": msgspec.structs.replace(stage.OPTICAL, framed=True),
    "rtls": stage.RTLS,
}


def names(quality: str) -> list[str]:
    return [d.spec.name for d in build_detectors(stage.sheet(PLAYERS, QUALITIES[quality]), extra=OPT_IN)]


@pytest.fixture(scope="module")
def broken() -> Callable[[str], dict[str, list[str]]]:
    """Promises that the detectors break on the scene, by quality; computed once each."""
    cache: dict[str, dict[str, list[str]]] = {}

    def look(quality: str) -> dict[str, list[str]]:
        if quality not in cache:
            declared = QUALITIES[quality]
            sheet = stage.sheet(PLAYERS, declared)
            sampled = list(stage.packets(BALL, PLAYERS, SECONDS, declared))
            if declared.framed:
                tracks = (tuple(p for p in sampled if p.transmitter == n) for n in ["ball", *PLAYERS])
                instants = zip(*tracks, strict=True)
                raw = [frame_arrival(packets, i).event for i, packets in enumerate(instants)]
            else:
                raw = [arrival(p).event for p in sampled]
            detectors = build_detectors(sheet, extra=OPT_IN)
            cache[quality] = contract.check_stream(detectors, raw, every=7 if quality == "rtls" else 1)
        return cache[quality]

    return look


@pytest.mark.parametrize(("quality", "name"), [(q, n) for q in QUALITIES for n in names(q)])
def test_a_detector_keeps_the_contract_on_a_scene(
    broken: Callable[[str], dict[str, list[str]]], quality: str, name: str
) -> None:
    assert broken(quality)[name][:3] == []


def test_all_detectors_keep_the_contract_on_a_minute_of_a_real_match(shared_data: Path) -> None:
    minute = first_seconds(clip(shared_data / "opta_tracab_clip"), 60.0)
    found = contract.check_stream(build_detectors(minute.sheet, extra=OPT_IN), packets_of(minute), every=31)
    assert {name: lines[:3] for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "detector", build_detectors(stage.sheet(PLAYERS, stage.RTLS), extra=OPT_IN), ids=lambda d: d.spec.name
)
def test_a_detector_documents_itself(detector: Detector[object]) -> None:
    spec = detector.spec
    assert type(detector).__doc__, "a detector says in its docstring what it finds"
    assert spec.source, "a detector says where its rule comes from"
    assert spec.number.split(".")[0] == str(spec.level)
    assert contract.missing_units(dict(spec.parameters)) == []


@pytest.mark.parametrize("quality", QUALITIES)
def test_the_catalogue_is_a_hierarchy_and_knows_the_level_of_every_kind(quality: str) -> None:
    sheet = stage.sheet(PLAYERS, QUALITIES[quality])
    detectors = build_detectors(sheet)
    hierarchy = Hierarchy(RAW_KINDS, detectors)
    levels = RecordMaker(detectors, sheet).levels
    assert set(levels) | set(RAW_KINDS) == set(hierarchy.rank)
    assert (levels["frame"], levels["hit"], levels["shot.attempt"], levels["pass.complete"]) == (1, 5, 6, 7)


def test_a_record_is_flat_and_says_what_it_annuls() -> None:
    payload = EventPayload("to out", "home", "home_3", 1.0, 2.0, None, 0.5, {"passer": "away_4"})
    event = make_event("interception", 7, "ball:5/out", payload, causes=("a", "b"), annuls="interception#ball:5")
    sheet = stage.sheet(PLAYERS)
    record = RecordMaker(build_detectors(sheet), sheet).record(event)
    assert (record.id, record.kind, record.variant, record.level) == (event.id, "interception", "to out", 7)
    assert (record.ts_us, record.team, record.player, record.x_m, record.z_m) == (7, "home", "home_3", 1.0, None)
    assert record.detail == {"passer": "away_4", "annuls": "interception#ball:5"}


class _Bad:
    """A detector that breaks a promise: it dates into the future, keeps a hidden count, or emits a foreign kind."""

    def __init__(self, fault: str) -> None:
        self.fault, self.calls = fault, 0
        self.spec = Spec("bad", "2.99", 2, ("ball.state",), ("bad",), source="test")

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        self.calls += 1
        kind = "foreign" if self.fault == "foreign" else "bad"
        variant = "odd" if self.fault == "variant" else ""
        annuls = "hit#1" if self.fault == "annuls" else ""
        ts_us = event.ts_us + (1 if self.fault == "future" else -1 if self.fault == "past" else 0)
        anchor = "same" if self.fault == "anchor" else str(event.ts_us)
        count = self.calls if self.fault == "impure" else state + 1
        return count, (make_event(kind, ts_us, anchor, EventPayload(variant), annuls=annuls),)


@pytest.mark.parametrize("fault", ["future", "past", "foreign", "impure", "anchor", "variant", "annuls"])
def test_the_battery_itself_catches_a_detector_that(fault: str) -> None:
    events = [Event("ball.state", i, "ball", i) for i in range(3)]
    assert contract.check_fold(_Bad(fault), events)[1]


def test_the_battery_passes_an_honest_detector_and_wants_units() -> None:
    events = [Event("ball.state", i, "ball", i) for i in range(3)]
    assert contract.check_fold(_Bad(""), events)[1] == []
    assert contract.missing_units({"speed": 1.0, "speed_m_s": 1.0, "rest": {"far": 2.0}}) == [".speed", ".rest.far"]


def test_specs_are_data_that_can_be_shown() -> None:
    for detector in build_detectors(MatchSheet()):
        shown = {**dataclasses.asdict(detector.spec), "parameters": dict(detector.spec.parameters)}
        assert msgspec.json.encode(shown, enc_hook=lambda payload: payload.__name__)

"""Margins: what decided is told, with the number that decides; moving the threshold past the value undoes the event."""

from __future__ import annotations

import functools
from typing import Any

import msgspec
import pytest

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors, catalogue
from detectors.margins import UNDECIDED, Evidence, Margin, margins
from detectors.parameters import Parameters, all_parameters
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from middleware.engine import Engine
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.provenance import ConclusionLog
from tests.detectors import stage

PLAYERS = {
    "home_1": [(0, -51, 0)], "away_1": [(0, 51.5, 0.4)], "home_9": [(0, 36, 0)], "home_6": [(0, 20, 0)],
    "away_4": [(0, 25, 9)],
}  # fmt: skip
#: A pass, and a shot that passes the post.
BALL = [
    (0, 20.3, 0, 0.1),
    (2, 20.3, 0, 0.1),
    (3.2, 35.7, 0, 0.1),
    (4.2, 36.3, 0, 0.1),
    (5.3, 58.3, 5.8, 0.3),
    (7, 60, 6, 0.1),
]


@functools.cache
def usual_play(quality: Any = stage.OPTICAL) -> tuple[ConclusionLog, MatchSheet]:
    """Conclusions with the defaults, which nobody changes."""
    return play(Parameters(), quality)


def play(parameters: Parameters, quality: Any = stage.OPTICAL) -> tuple[ConclusionLog, MatchSheet]:
    """Conclusions on the scene."""
    sheet = stage.sheet(PLAYERS, quality)
    log = ConclusionLog(lambda event: bool(event.id))
    settings = EngineSettings(UnitSettings(FixedAlpha(1.0)))
    engine = Engine(Hierarchy(RAW_KINDS, build_detectors(sheet, parameters)), settings, make_unit=log.unit)
    for packet in sorted(stage.packets(BALL, PLAYERS, 8.0, quality), key=lambda p: p.ts_us):
        engine.push([arrival(packet)], packet.ts_us[-1])
    engine.finish()
    return log, sheet


def margins_of(log: ConclusionLog, sheet: MatchSheet, parameters: Parameters) -> dict[str, tuple[Margin, ...]]:
    """Margins by event."""
    known = {name: versions[-1] for name, versions in log.conclusions.items()}

    def evidence(name: str) -> Evidence | None:
        c = known.get(name)
        if c is None:
            return None
        return Evidence(c.event, c.trigger, c.before, c.detector, parameters, evidence)

    return {c.event.id: margins(found) for name, c in known.items() if (found := evidence(name)) is not None}


def changed(path: str, value: float) -> Parameters:
    """The defaults but for one."""
    group, _, name = path.partition(".")
    tree = Parameters()
    return msgspec.structs.replace(tree, **{group: msgspec.structs.replace(getattr(tree, group), **{name: value})})


def first(found: dict[str, tuple[Margin, ...]], kind: str, parameter: str) -> tuple[str, Margin]:
    return next(
        (name, m) for name, ms in found.items() if name.startswith(f"{kind}#") for m in ms if m.parameter == parameter
    )


@pytest.mark.parametrize(
    ("kind", "parameter"),
    [
        ("near", "near.enter_m"),
        ("kick.released", "release.release_m"),
        ("shot.attempt", "shot.alone_within_s"),
        pytest.param("shot.attempt", "shot.range_m", marks=pytest.mark.slow),
        pytest.param("shot.attempt", "shot.speed_min_m_s", marks=pytest.mark.slow),
        ("pass.complete", "pass_outcome.within_us"),
        ("out", "phase.far_out_m"),
        pytest.param("ball.moving", "ball_motion.moving_speed_m_s", marks=pytest.mark.slow),
        ("pz.enter", "possession_zone.enter_m"),
        pytest.param("goal_ring", "goal_ring.widest_m", marks=pytest.mark.slow),
        pytest.param("pass.len", "pass_length.medium_m", marks=pytest.mark.slow),
        ("progress.pass", "progress.beyond_m"),
        pytest.param("shot.xg", "shot_value.pressed_m", marks=pytest.mark.slow),
    ],
)
def test_a_threshold_moved_past_the_value_undoes_what_it_let_through(kind: str, parameter: str) -> None:
    usual = Parameters()
    log, sheet = usual_play()
    name, margin = first(margins_of(log, sheet, usual), kind, parameter)
    assert margin.margin >= 0
    was = {p.path: p.value for p in all_parameters()}[parameter]
    beyond = (1.02 if margin.sense == "at least" else 0.98) * margin.value
    set_to = was + beyond - margin.threshold
    again, _ = play(changed(parameter, type(was)(set_to)))
    assert again.conclusions.get(name) is None or again.conclusions[name][-1].event != log.conclusions[name][-1].event


@pytest.mark.parametrize("quality", [stage.OPTICAL, stage.RTLS], ids=["optical", "rtls"])
def test_the_chain_tells_its_margins(quality: Any) -> None:
    log, sheet = usual_play(quality)
    kinds = {name.partition("#")[0] for name, ms in margins_of(log, sheet, Parameters()).items() if ms}
    assert kinds >= {"ball.accel_peak", "near", "hit", "kick.released", "pass.attempt", "pass.complete", "shot.attempt",
                     "shot.off", "out", "play.dead"}  # fmt: skip


def test_a_goal_tells_how_it_lies_within_posts_and_bar() -> None:
    ball = [(0, 36.3, 0, 0.1), (2, 36.3, 0, 0.1), (3, 55.3, 1.9, 1.2), (7, 54, 1.9, 0.1)]
    sheet = stage.sheet(PLAYERS)
    log = ConclusionLog(lambda event: bool(event.id))
    engine = Engine(Hierarchy(RAW_KINDS, build_detectors(sheet)), make_unit=log.unit)
    for packet in sorted(stage.packets(ball, PLAYERS, 8.0), key=lambda p: p.ts_us):
        engine.push([arrival(packet)], packet.ts_us[-1])
    engine.finish()
    found = margins_of(log, sheet, Parameters())
    posts, bar = next(ms for name, ms in found.items() if name.startswith("ball.in_goal#"))
    assert (posts.threshold, bar.threshold) == (3.66, 2.44)
    assert 0 < posts.margin < 3.66
    assert 0 < bar.margin < 2.44
    (sure,) = next(ms for name, ms in found.items() if name.startswith("goal.scored#"))
    assert sure.parameter == "phase.sure"


def test_every_parameter_of_a_margin_exists() -> None:
    paths = {p.path for p in all_parameters()}
    log, sheet = usual_play()
    for ms in margins_of(log, sheet, Parameters()).values():
        assert {m.parameter for m in ms} <= {*paths, ""}


def test_kinds_that_no_threshold_decides_exist_and_have_no_margins() -> None:
    """The transcripts (test_transcripts_in_disorder) hold every other kind to its margins."""
    given = {t.kind for entry in catalogue() for t in entry.types if not t.internal}
    assert {*UNDECIDED} <= given
    log, sheet = usual_play()
    with_margins = {name.partition("#")[0] for name, ms in margins_of(log, sheet, Parameters()).items() if ms}
    assert not with_margins & {*UNDECIDED}


def test_a_kind_whose_rule_is_not_told_has_no_margins() -> None:
    log, _sheet = usual_play()
    detector = next(iter(log.conclusions.values()))[-1].detector
    event = Event("unheard.of", 0, "x", id="unheard.of#x")
    assert margins(Evidence(event, event, None, detector)) == ()

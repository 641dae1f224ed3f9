"""Rules: when they fire, how long they hold, and what a wrong file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camera.rules import Move, Rule, RuleBook, RuleError, load_rules, rules_file
from football.update_stream import EventRecord, UpdateRecord

CORNER = Rule("corner", "restart.corner", "three", "left", chance=0.7)
PRESETS = {"three": ["left"], "main": []}


def event(number: int, kind: str = "restart.corner", **values: Any) -> EventRecord:
    fields = {"variant": "", "level": 9, "team": "home", "player": "H9", "confidence": 0.8, "ts_us": number * 1_000_000}
    fields |= {"x_m": 52.0, "y_m": 33.0, "z_m": 0.0} | values
    return EventRecord(f"e{number}", kind, **fields)


def update(record: EventRecord, diff: int = 1) -> UpdateRecord:
    return UpdateRecord(0, diff, record.ts_us + 200_000, record)


class Steps:
    """A book, stepped."""

    def __init__(self, *rules: Rule, **options: Any) -> None:
        self.book = RuleBook(rules, **options)

    def __call__(self, *updates: UpdateRecord, now_s: float = 2.0, frontier_s: float = 0.0) -> list[tuple[str, str]]:
        moves: list[Move] = self.book.step(updates, round(now_s * 1e6), round(frontier_s * 1e6))
        return [(move.camera, move.rule.name if move.rule is not None else move.reason) for move in moves]


def test_a_tentative_corner_moves_the_camera_until_play_is_live():
    step = Steps(CORNER)
    assert step(update(event(1))) == [("three", "corner")]
    assert step() == []
    assert step(update(event(3, "pass.attempt")), now_s=3) == []
    assert step(update(event(4, "play.live")), now_s=4) == [("three", "corner ends: play.live")]


def test_a_withdrawn_event_ends_its_rule_and_an_amended_one_does_not():
    step, first = Steps(CORNER), event(1)
    amended = event(1, confidence=0.9)
    step(update(first))
    assert step(update(first, -1), update(amended)) == [("three", "corner")]
    assert step(update(amended, -1)) == [("three", "corner ends: restart.corner is withdrawn")]


def test_a_rule_ends_by_itself():
    step = Steps(CORNER)
    step(update(event(1)))
    assert step(now_s=30.9) == []
    assert step(now_s=31.0) == [("three", "corner ends: 30 s are over")]


def test_an_event_of_too_little_chance_waits_until_its_chance_has_grown_or_it_is_confirmed():
    grown = Steps(CORNER, chance=lambda record, age_us: 0.5 + age_us / 4e6)
    assert grown(update(event(1)), now_s=1.3) == []
    assert grown(now_s=2.2) == [("three", "corner")]
    confirmed = Steps(CORNER)
    assert confirmed(update(event(1, confidence=0.2))) == []
    assert confirmed(frontier_s=1.5) == [("three", "corner")]


def test_a_rule_for_confirmed_events_waits_for_the_watermark_and_not_beyond_its_end():
    rule = Rule("corner", "restart.corner", "three", "left", state="confirmed")
    step = Steps(rule)
    assert step(update(event(1))) == []
    assert step(frontier_s=1.1) == [("three", "corner")]
    late = Steps(rule)
    assert late(update(event(1)), update(event(2, "play.live"))) == []
    assert late(frontier_s=3.0, now_s=3.0) == [], "play was live before it was confirmed"


def test_a_rule_for_tentative_events_lets_confirmed_ones_pass():
    step = Steps(Rule("corner", "restart.corner", "three", "left", state="tentative"))
    assert step(update(event(1)), frontier_s=1.5) == []


@pytest.mark.parametrize(
    ("rule", "values", "fires"),
    [
        ({"when": "restart"}, {}, True),
        ({"when": "rest"}, {}, False),
        ({"variant": "left"}, {"variant": "right"}, False),
        ({"team": "away"}, {}, False),
        ({"x_m": (40, 60), "y_m": (20, 40)}, {}, True),
        ({"x_m": (-60, -40)}, {}, False),
        ({"x_m": (40, 60)}, {"x_m": None}, False),
        ({"player": "event", "preset": ""}, {"player": ""}, False),
    ],
)
def test_conditions(rule: dict[str, Any], values: dict[str, Any], fires: bool):
    fields = {"name": "r", "when": "restart.corner", "camera": "three", "preset": "left", **rule}
    assert bool(Steps(Rule(**fields))(update(event(1, **values)))) == fires


def test_old_events_of_a_resumed_run_move_nothing():
    assert Steps(CORNER)(update(event(1)), now_s=600.0) == []


def test_a_later_event_takes_the_camera_over_and_an_older_one_does_not():
    goal = Rule("goal", "goal.scored", "three", player="event")
    step = Steps(CORNER, goal)
    step(update(event(5)), now_s=6)
    assert step(update(event(4, "goal.scored")), now_s=6) == []
    assert step(update(event(6, "goal.scored")), now_s=6) == [("three", "goal")]
    assert goal.subject(event(6, "goal.scored")) == "H9"


def test_a_rule_that_is_removed_or_replaced_lets_go_of_its_camera():
    step = Steps(CORNER)
    step(update(event(1)))
    step.book.remove("corner")
    assert step() == [("three", "corner ends: the rule was removed")]


GOOD = '[[rule]]\nname = "a"\nwhen = "restart.corner"\ncamera = "three"\npreset = "left"\n'


def test_rules_stand_next_to_the_file_of_the_cameras(tmp_path: Path):
    cameras = tmp_path / "cameras.toml"
    file = rules_file(cameras)
    assert file == tmp_path / "cameras.rules.toml"
    assert load_rules(file, PRESETS) == ()
    file.write_text(GOOD)
    assert load_rules(file, PRESETS) == (Rule("a", "restart.corner", "three", "left"),)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (GOOD + 'colour = "red"', ["colour"]),
        (GOOD.replace("three", "four"), ["'a'", "camera", "four", "three, main"]),
        (GOOD.replace('"left"', '"right"'), ["preset", "right", "left"]),
        (GOOD + 'player = "event"', ["preset", "either a preset or a player"]),
        (GOOD + "chance = 2", ["chance"]),
        (GOOD + "x_m = [9, 1]", ["x_m", "lower end first"]),
        (GOOD + GOOD, ["'a'", "name", "twice"]),
        ("rule = 7", ["rule"]),
        ("[[rule", ["cameras.rules.toml"]),
    ],
)
def test_a_wrong_file_names_file_rule_key_and_reason(tmp_path: Path, text: str, reasons: list[str]):
    file = tmp_path / "cameras.rules.toml"
    file.write_text(text)
    with pytest.raises(RuleError) as raised:
        load_rules(file, PRESETS)
    for reason in [str(file), *reasons]:
        assert reason in str(raised.value)

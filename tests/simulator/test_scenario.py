"""Scenario files: every field arrives, every mistake is told with its line, and what ships comes true."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from football.update_stream import EventRecord
from simulator.play.match import Match
from simulator.play.match_sheet import sheet_of
from simulator.play.script import DOINGS, Instruction, Start
from simulator.scenario import (
    SHIPPED,
    Expected,
    find_scenario,
    parse_scenario,
    read_scenario,
)
from simulator.truth.match_truth import Truth, records_of
from simulator.yaml_document import DocumentError

FULL = """\
name: Everything
about: all fields
seconds: 12.5
seed: 4
pitch: {length_m: 100, width_m: 64}
home: {name: Reds, shape: 4-3-3, strength: 0.5}
away:
  shape: 5-3-2
still: false
persons:
  home_9: [30, -2]
  away_1: {at: [49.5, 0], velocity: [0.5, -1], heading_deg: 180}
  referee_1: [20, 10]
absent: [home_16, away_5]
ball: [30.5, -2, 0.5]
ball_velocity: [1, 2, 3]
holder: home_9
period: 2
clock_s: 600
score: [1, 2]
home_attacks: -x
then:
  - who: home_9
    do: pass
    at_s: 0.5
    to: home_10
    target: [40, 3]
    speed_m_s: 12
    height_m: 2
    spin: [0, 1, 30]
    limb: left_foot
  - {who: home_10, do: shot, after: pass.complete, after_who: home_9, delay_s: 0.3, for_s: 4}
  - {who: home_2, do: run, after: ball.woodwork, target: [0, 0, 1]}
expect:
  - {kind: pass.complete, who: home_9, between_s: [0, 5]}
  - {kind: goal.scored, team: home, variant: left, times: 0}
"""


def test_every_field_arrives_where_the_match_looks_for_it() -> None:
    scenario = parse_scenario(FULL, "full.yaml")
    assert (scenario.name, scenario.about, scenario.seconds) == ("Everything", "all fields", 12.5)
    settings = scenario.settings
    assert (settings.seed, settings.length_m, settings.width_m) == (4, 100.0, 64.0)
    assert settings.home is not None
    assert settings.away is not None
    assert (settings.home.name, settings.home.shape, settings.home.strength) == ("Reds", "4-3-3", 0.5)
    assert (settings.away.name, settings.away.shape) == ("Simulated Blues", "5-3-2")
    script = settings.scenario
    assert script is not None
    assert not script.still
    opening = script.opening
    assert opening.persons == {
        8: Start(30.0, -2.0), 16: Start(49.5, 0.0, 0.5, -1.0, pytest.approx(math.pi)), 32: Start(20.0, 10.0),
    }  # fmt: skip
    assert opening.absent == (15, 20)
    assert (opening.ball, opening.ball_velocity) == ((30.5, -2.0, 0.5), (1.0, 2.0, 3.0))
    assert (opening.holder, opening.period, opening.clock_s, opening.score) == (8, 2, 600.0, (1, 2))
    assert not opening.home_attacks_positive_x
    assert script.instructions == (
        Instruction("pass", 8, 0.5, "", None, 0.0, 9, (40.0, 3.0, 0.11), 12.0, 2.0, (0.0, 1.0, 30.0), "left_foot"),
        Instruction("shot", 9, 0.0, "pass.complete", 8, 0.3, for_s=4.0),
        Instruction("run", 1, 0.0, "woodwork", target=(0.0, 0.0, 1.0)),
    )
    assert [str(e) for e in scenario.expect] == [
        "pass.complete home_9 between 0 and 5 s", "goal.scored left home 0 times",
    ]  # fmt: skip


def test_a_name_is_all_that_is_needed() -> None:
    scenario = parse_scenario("name: Nothing\n", "x.yaml")
    assert scenario.seconds == 15.0
    assert scenario.settings.scenario is not None
    assert scenario.settings.scenario.still


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "the file is empty"),
        ("- 1\n", 1, "a scenario is a mapping"),
        ("name: [\n", 2, "not YAML"),
        ("name: x\n\tseconds: 3\n", 2, "not YAML"),
        ("about: x\n", 1, "name is missing"),
        ("name: x\nspeed: 1\n", 2, "speed: no such field"),
        ("name: x\nseconds: -3\n", 2, "seconds: -3: input should be greater than 0"),
        ("name: x\nseconds: fast\n", 2, "seconds: 'fast'"),
        ("name: x\nseconds: .inf\n", 2, "seconds: inf"),
        ("name: x\nname: y\n", 2, "name is given twice"),
        ("name: x\npersons:\n  home_9: [1, 2]\n  home_9: [1, 2]\n", 4, "persons.home_9 is given twice"),
        ("name: x\npersons:\n  home_99: [1, 2]\n", 3, "'home_99' is not a person: home_1"),
        ("name: x\npersons:\n  home_9: [1]\n", 3, "number 2 is missing"),
        ("name: x\npersons:\n  home_9: {at: [1, 2], heading: 3}\n", 3, "persons.home_9.heading: no such field"),
        ("name: x\nball: [.nan, 0]\n", 2, "ball.1: nan"),
        ("name: x\nball: [0, 0, -2]\n", 1, "below the ground"),
        ("name: x\nball: [200, 0]\n", 2, "ball.1: 200"),
        ("name: x\nrestart: corner\n", 1, "restart and restart_team go together"),
        ("name: x\nrestart: penalty\nrestart_team: home\nholder: home_1\n", 1, "nobody holds the ball"),
        ("name: x\nholder: home_2\nabsent: [home_2]\n", 1, "holder home_2 is absent"),
        ("name: x\nthen:\n  - who: home_1\n    do: fly\n", 4, "then.1.do: 'fly' is not 'pass'"),
        ("name: x\nthen:\n  - {do: pass}\n", 3, "then.1: who is missing"),
        ("name: x\nthen:\n  - {who: home_1, do: pass, to: home_1}\n", 3, "nobody passes to himself"),
        ("name: x\nthen:\n  - {who: home_1, do: pass, after_who: home_2}\n", 3, "after_who needs after"),
        ("name: x\nthen:\n  - {who: home_1, do: pass, after: ball.crossed}\n", 3, "play itself notes"),
        ("name: x\nexpect:\n  - {kind: goal.scored}\n  - {kind: goal}\n", 4, "expect.2.kind: 'goal' is not a kind"),
        ("name: x\nhome: {shape: 9-0-1}\n", 2, "home.shape: '9-0-1' is not '4-4-2'"),
        ("name: 2020-13-45\n", 1, "not a usable value"),
        ("name: !!python/object:os.system x\n", 1, "not YAML"),
        ("name: &a [*a]\n", 1, "nested too deep"),
        ("? [1, 2]\n: 3\n", 1, "a name is a single word"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_line_and_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(DocumentError) as reported:
        parse_scenario(text, "my.yaml")
    assert str(reported.value).startswith(f"my.yaml: line {line}: "), reported.value
    assert reason in str(reported.value)
    assert "\n" not in str(reported.value)


def test_how_many_more_mistakes_there_are() -> None:
    with pytest.raises(DocumentError, match=r"line 2: a: no such field \(and 2 more\)"):
        parse_scenario("name: x\na: 1\nb: 2\nc: 3\n", "x.yaml")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"gone\.yaml: No such file"):
        read_scenario(tmp_path / "gone.yaml")
    with pytest.raises(DocumentError, match=r"no such file, and none of the scenarios .* blocked_shot"):
        find_scenario("gone")
    (tmp_path / "latin.yaml").write_bytes(b"name: x\nabout: caf\xe9\n")
    with pytest.raises(DocumentError, match=r"latin\.yaml: line 2: not UTF-8"):
        read_scenario(tmp_path / "latin.yaml")
    (tmp_path / "big.yaml").write_bytes(b"#" * 300_000)
    with pytest.raises(DocumentError, match="are no scenario"):
        read_scenario(tmp_path / "big.yaml")
    assert find_scenario("blocked_shot") == find_scenario("blocked_shot.yaml") == SHIPPED / "blocked_shot.yaml"


def understood(text: str) -> bool:
    """True if a text is a scenario; if it is none, the error must name the line."""
    try:
        parse_scenario(text, "f.yaml")
    except DocumentError as error:
        message = str(error)
    else:
        return True
    assert re.match(r"f\.yaml: line [1-9]\d*: \S", message), message
    return False


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_a_scenario_or_a_clear_error(text: str) -> None:
    understood(text)


FIELDS = [
    "name", "about", "seconds", "seed", "pitch", "home", "away", "still", "persons", "absent", "ball", "ball_velocity",
    "holder", "period", "clock_s", "score", "home_attacks", "restart", "restart_team", "then", "expect", "other",
]  # fmt: skip
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-100, 10**20), st.floats(), st.text(max_size=5), st.dates(),
    st.sampled_from(["home_1", "away_9", "corner", "+x", "goal.scored", *DOINGS]),
)  # fmt: skip
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*FIELDS, "who", "do", "at", "kind", "home_3"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), trees, max_size=6))
def test_any_tree_is_a_scenario_or_a_clear_error(tree: dict[str, object]) -> None:
    understood(yaml.safe_dump({"name": "x", **tree}, allow_unicode=True))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_spoilt_file_is_a_scenario_or_a_clear_error(data: st.DataObject) -> None:
    lines = FULL.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        how = data.draw(st.sampled_from(["drop", "double", "cut", "letter", "indent"]))
        if how == "drop":
            del lines[at]
        elif how == "double":
            lines.insert(at, lines[at])
        elif how == "cut":
            lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
        elif how == "letter":
            lines[at] += data.draw(st.characters(codec="utf-8"))
        else:
            lines[at] = " " + lines[at]
        if not lines:
            break
    understood("\n".join(lines))


def record(kind: str, t_s: float, *, variant: str = "", team: str = "", player: str = "") -> EventRecord:
    return EventRecord("truth#0", kind, variant, 0, round(t_s * 1e6), team, player, None, None, None, 1.0)


def test_an_expectation_is_met_by_kind_and_all_that_is_said() -> None:
    goal = record("goal.scored", 3.0, variant="left", team="home", player="home_9")
    for met in (Expected("goal.scored"), Expected("goal.scored", "left", "home_9", "home", 1, (2.0, 3.0))):
        assert met.holds([goal])
    for unmet in (
        Expected("goal.own"), Expected("goal.scored", variant="right"), Expected("goal.scored", player="home_8"),
        Expected("goal.scored", team="away"), Expected("goal.scored", times=2), Expected("goal.scored", times=0),
        Expected("goal.scored", between_s=(3.5, 9.0)),
    ):  # fmt: skip
        assert not unmet.holds([goal])
    assert Expected("goal.own", times=0).holds([goal])
    assert Expected("goal.scored", times=2).holds([goal, goal])


@lru_cache(maxsize=32)
def events_of(name: str, seed: int = 0) -> tuple[EventRecord, ...]:
    """Truth of a scenario that ships."""
    scenario = read_scenario(SHIPPED / f"{name}.yaml")
    match = Match(scenario.settings)
    truth = Truth(sheet_of(scenario.settings, match.squads), match)
    for interval in match.intervals(scenario.seconds):
        truth.take(interval)
    return records_of(truth.finish()[0])


NAMES = sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def test_enough_scenarios_ship() -> None:
    assert len(NAMES) >= 14


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if n % 6 else ()) for n, name in enumerate(NAMES)]
)
def test_what_ships_comes_true(name: str) -> None:
    expected = read_scenario(SHIPPED / f"{name}.yaml").expect
    assert expected, "a scenario says what it shows"
    unmet = [str(e) for e in expected if not e.holds(events_of(name))]
    assert not unmet

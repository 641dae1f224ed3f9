"""The settings file of the detectors: what is wrong in it is named."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.parameters import ParametersError, as_toml, load_parameters, parameters_from
from app.settings.resolve import read_stored_settings
from detectors.parameters import ORDERED, Parameters, all_parameters
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore

FREE = [p for p in all_parameters() if p.path not in {path for pair in ORDERED for path in pair}]


def nested(path: str, value: object) -> dict[str, object]:
    head, _, rest = path.partition(".")
    return {head: nested(rest, value) if rest else value}


def test_an_empty_file_is_the_defaults(tmp_path):
    (tmp_path / "p.toml").write_text("")
    assert load_parameters(tmp_path / "p.toml") == Parameters()


def test_a_whole_file_as_written_is_read_back_the_same(tmp_path):
    chosen = parameters_from({"near": {"enter_m": 0.9}, "phase": {"stall": {"slow_m_s": 2}}}, "x")
    (tmp_path / "p.toml").write_text(as_toml(chosen))
    assert load_parameters(tmp_path / "p.toml") == chosen
    assert chosen.near.enter_m == 0.9
    assert chosen.phase.stall.slow_m_s == 2.0
    assert chosen.near.leave_m == Parameters().near.leave_m


def test_parameters_kept_as_json_are_read_back_the_same():
    chosen = parameters_from({"hit": {"share_min": 0.2}}, "x")
    assert parameters_from(msgspec.json.decode(msgspec.json.encode(chosen)), "run.json") == chosen


@given(st.sampled_from(FREE), st.floats(0, 1))
def test_every_value_within_its_range_is_taken(parameter, share):
    unit = parameter.unit
    value = type(parameter.value)(unit.least + share * (unit.most - unit.least))
    tree = parameters_from(nested(parameter.path, value), "x")
    assert {p.path: p.value for p in all_parameters(tree)}[parameter.path] == value


@given(st.sampled_from(list(all_parameters())), st.booleans())
def test_every_value_out_of_its_range_is_an_error_that_names_it(parameter, above):
    unit = parameter.unit
    beyond = unit.most * 2 + 1 if above else unit.least - 1
    with pytest.raises(ParametersError) as refused:
        parameters_from(nested(parameter.path, type(parameter.value)(beyond)), "file.toml")
    assert f"{parameter.path} = " in str(refused.value)
    assert "is out of range" in str(refused.value)
    assert "file.toml" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[near]\nentr_m = 1.0\n", "no parameter near.entr_m (is near.enter_m meant?)"),
        ("[nere]\nenter_m = 1.0\n", "no parameter nere (is near meant?)"),
        ("[phase.stall]\nslow = 1.0\n", "no parameter phase.stall.slow"),
        ("[near]\nenter_m = 'far'\n", "near.enter_m = 'far'"),
        ("[near]\nenter_m = nan\n", "near.enter_m = nan"),
        ("[frame_fusion]\nhold_us = 0.5\n", "frame_fusion.hold_us = 0.5"),
        ("[near]\nleg_m = true\n", "near.leg_m = True"),
        ("near = 3\n", "near = 3"),
        ("[near]\nenter_m = 2.0\n", "near.enter_m = 2.0 is greater than near.leave_m = 1.2"),
        ("[near\n", "not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(ParametersError) as refused:
        load_parameters(tmp_path / "p.toml")
    assert message in str(refused.value)
    assert "p.toml" in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParametersError, match=r"none\.toml: no such file"):
        load_parameters(tmp_path / "none.toml")


def test_several_mistakes_are_told_together():
    with pytest.raises(ParametersError, match=r"near\.a .*; .*hit\.b"):
        parameters_from({"near": {"a": 1}, "hit": {"b": 2}}, "x")


def test_a_match_of_a_version_with_other_parameters_says_how_to_go_on(tmp_path: Path):
    MatchStore.create(tmp_path / "old", MatchSheet("old"), {"settings": {"parameters": {"hit": {"no_such_m": 1.0}}}})
    with pytest.raises(ParametersError, match=r"no parameter hit\.no_such_m.*another version made this match"):
        read_stored_settings(tmp_path / "old")

"""``touchline detectors``: its forms agree with the catalogue."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from app.base.files import OutputError
from app.catalogue.graph import edges
from app.cli.detectors import render, run_detectors
from app.cli.main import app
from app.settings.parameters import ParametersError, parameters_from
from detectors.catalogue import PASSING_ON, catalogue, count, count_by_level
from detectors.parameters import Parameters

ENTRIES = catalogue()


def test_json_is_an_array_with_an_object_a_detector():
    entries = json.loads(render("json", Parameters()))
    assert [entry["kind"] for entry in entries] == [*(entry.kind for entry in ENTRIES), "life_cycle"]
    assert entries[-1]["number"] == "15.8"
    assert "goal.scored" in entries[-1]["inputs"]
    for entry in entries:
        assert {"kind", "level", "inputs", "outputs", "parameters", "horizon_us", "needs", "source"} <= entry.keys()
        assert all({"name", "value", "unit", "least", "most"} == p.keys() for p in entry["parameters"])
        assert entry["types"].keys() == set(entry["outputs"])


def test_the_list_names_every_detector_and_the_counts():
    text = render("", Parameters())
    size = count(ENTRIES)
    assert all(entry.kind in text for entry in ENTRIES)
    assert f"{size.detectors} detectors" in text
    assert f"{size.event_types} event types" in text


def test_the_list_counts_by_level_what_concludes_something():
    sizes = count_by_level(ENTRIES)
    kinds = {t.kind: t.count for e in ENTRIES if e.kind not in PASSING_ON for t in e.types if not t.internal}
    assert sum(size.event_types for size in sizes) == sum(kinds.values()) < count(ENTRIES).event_types
    assert sum(size.detectors for size in sizes) == len(ENTRIES) - len(PASSING_ON)
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+)$", render("", Parameters()), re.MULTILINE)
    assert [tuple(map(int, row)) for row in rows] == list(sizes)


def test_the_graph_as_text_has_every_edge():
    text = render("graph", Parameters())
    assert text.startswith("digraph")
    assert text.count("{") == text.count("}")
    assert len(re.findall(r'"(\w+)" -> "(\w+)"', text)) == len(edges(ENTRIES)) > len(ENTRIES)


def test_the_picture_is_well_formed_and_nothing_lies_upon_another():
    root = ElementTree.fromstring(render("graph", Parameters(), picture=True))
    name = "{http://www.w3.org/2000/svg}"
    boxes = [box.attrib for box in root.iter(f"{name}rect") if "rx" in box.attrib]
    assert len({(box["x"], box["y"]) for box in boxes}) == len(boxes) == len(ENTRIES)
    assert len(list(root.iter(f"{name}path"))) == len(edges(ENTRIES))
    x = {t.text.partition(" ")[2]: float(t.attrib["x"]) for t in root.iter(f"{name}text") if t.text[0].isdigit()}
    assert all(x[lower] < x[upper] for lower, upper, _ in edges(ENTRIES))


def test_values_of_a_settings_file_are_shown(tmp_path, capsys):
    (tmp_path / "p.toml").write_text("[near]\nenter_m = 0.77\n")
    run_detectors("toml", tmp_path / "p.toml", None)
    assert "enter_m = 0.77" in capsys.readouterr().out
    assert '"value": 0.77' in render("json", parameters_from({"near": {"enter_m": 0.77}}, "x"))


def test_what_cannot_be_written_or_read_is_told(tmp_path):
    with pytest.raises(OutputError, match="--out"):
        run_detectors("", None, tmp_path / "no" / "where.txt")
    with pytest.raises(ParametersError):
        run_detectors("", tmp_path / "none.toml", None)
    with pytest.raises(OutputError, match="one at a time"):
        app(["detectors", "--json", "--toml"], standalone_mode=False)

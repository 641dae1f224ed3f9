"""Parameters and asked-for detectors of a live match reach its engine, in either host."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.export.formats import export_match
from app.run.live import run_live
from app.settings.model import SettingsError
from app.settings.patterns import ALERTS, load_patterns
from app.settings.resolve import make_settings
from replay.event_list import consolidated_events
from tests.app.cli.test_main import write_track


def kinds(folder: Path, engine: str, **given: Any) -> Counter[str]:
    """Kinds of what was found in a short match."""
    store = folder / "store"
    track = write_track(folder / "track.parquet", 6.0)
    options = {"source": str(track), "engine": engine, "speed": "max", "store": store, "dashboard": False}
    run_live(make_settings({**options, **given}), as_json=True)
    return Counter(consolidated_events(store)["kind"].to_pylist())


@pytest.mark.parametrize("engine", ["inprocess", pytest.param("spark", marks=pytest.mark.spark)])
def test_numbers_and_detectors_of_a_match_are_those_chosen(tmp_path: Path, engine: str):
    file = tmp_path / "p.toml"
    file.write_text("[near]\nenter_m = 0.05\nleave_m = 0.06\ncontact_m = 0.01\nleg_m = 0.0\n")
    pattern = tmp_path / "run.touchline"
    pattern.write_text("PATTERN SEQ(area.enter a, area.leave b) WITHIN 10 s")
    given = {"parameters": file, "detectors": "running_statistics", "patterns": str(pattern)}
    found = kinds(tmp_path, engine, **given)
    assert found["stat.running"] > 0
    assert found["pattern.run"] > 0
    assert found["near"] == found["hit"] == 0
    store = tmp_path / "store"
    assert make_settings({"store": store}).patterns == {"run": pattern.read_text(), **load_patterns([ALERTS])}
    pattern.write_text("PATTERN SEQ(area.enter a, area.leave b) WITHIN 9 s")
    with pytest.raises(SettingsError, match=r"--patterns contradicts the run in .*: run differ"):
        make_settings({"store": store, "patterns": str(pattern)})
    with pytest.raises(SettingsError, match=r"--alerts False contradicts the run in"):
        make_settings({"store": store, "alerts": False})


def test_by_default_the_same_match_has_contacts_and_alerts_and_no_statistics(tmp_path: Path):
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text(
        '{"kind": "card", "variant": "yellow", "team": "home", "player": "home_1", "at_s": 2.0}\n'
        '{"kind": "var", "variant": "check", "at_s": 3.0}\n'
    )
    found = kinds(tmp_path, "inprocess", official=str(decisions))
    assert found["hit"] > 0
    assert found["stat.running"] == 0
    assert found["pattern.alert_card"] == found["pattern.alert_review"] == 1
    export_match(tmp_path / "store", "sportscode", tmp_path / "clips.xml")
    assert (tmp_path / "clips.xml").read_text().count("Alert: card</code>") == 1

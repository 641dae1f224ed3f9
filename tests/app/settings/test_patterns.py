"""Patterns as a setting: files and folders become texts that a store keeps, and bad ones are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings.model import SettingsError
from app.settings.patterns import ALERTS, PatternFileError, check_patterns, load_patterns
from app.settings.resolve import make_settings, resolve_settings

_PAIR = "PATTERN SEQ(pass.attempt x, shot.attempt y) WITHIN 5 s"


def written(file: Path, text: str = _PAIR) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_files_and_folders_with_commas_or_in_a_list_are_texts_by_name(tmp_path: Path):
    one = written(tmp_path / "one.touchline")
    two = written(tmp_path / "more" / "two.touchline", "PATTERN second = SEQ(hit a, goal.scored b) WITHIN 1 min")
    expected = {"one": _PAIR, "second": two.read_text(), **load_patterns([ALERTS])}
    assert make_settings({"patterns": f"{one}, {two.parent}"}).patterns == expected
    (tmp_path / "touchline.toml").write_text('patterns = ["one.touchline", "more"]')
    assert resolve_settings({}, {"HOME": "/"}, tmp_path).settings.patterns == expected
    assert make_settings({"patterns": expected}).patterns == expected, "of a run with several matches"
    assert make_settings({"patterns": str(one), "alerts": False}).patterns == {"one": _PAIR}


def test_every_match_has_the_shipped_alerts_unless_its_settings_say_otherwise(tmp_path: Path):
    alerts = load_patterns([ALERTS])
    assert set(alerts) == {file.stem for file in ALERTS.iterdir()}
    assert all(name.startswith("alert_") for name in alerts)
    assert make_settings({}).patterns == alerts
    assert make_settings({"alerts": False}).patterns == {}
    file = tmp_path / "touchline.toml"
    file.write_text("alerts = false")
    assert resolve_settings({}, {"HOME": "/"}, tmp_path).settings.patterns == {}
    assert resolve_settings({}, {"TOUCHLINE_ALERTS": "yes"}, tmp_path).settings.patterns == alerts
    with pytest.raises(SettingsError, match="alerts"):
        make_settings({"alerts": "perhaps"})
    with pytest.raises(PatternFileError, match="has a pattern alert_goal, too"):
        make_settings({"patterns": str(written(tmp_path / "alert_goal.touchline"))})


def test_all_patterns_that_come_along_can_watch_a_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = Path(__file__).parents[3] / "patterns"
    names = {file.stem for file in folder.glob("*.touchline")}
    assert set(load_patterns([folder])) == names
    monkeypatch.chdir(tmp_path)
    assert set(load_patterns([Path("football")])) == names, "wherever the program lies"
    assert set(load_patterns([Path("football/brace")])) == {"brace"}
    written(tmp_path / "football" / "own.touchline")
    assert set(load_patterns([Path("football")])) == {"own"}, "a folder of one's own comes first"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PATTERN SEQ(pass.atempt x, hit y) WITHIN 5 s", "no detector emits pass.atempt; did you mean pass.attempt"),
        ("PATTERN SEQ(hit x, past.* y) WITHIN 5 s", "no detector emits past.*; "),
        ("PATTERN SEQ(hit x WITHIN 5 s", "line 1, column"),
    ],
)
def test_what_no_match_can_play_is_refused_with_file_and_reason(tmp_path: Path, text: str, reason: str):
    file = written(tmp_path / "bad.touchline", text)
    with pytest.raises(PatternFileError) as error:
        make_settings({"patterns": str(file)})
    assert str(error.value).startswith(str(file))
    assert reason in str(error.value)
    with pytest.raises(PatternFileError, match=r"run.json: pattern bad: "):
        check_patterns({"bad": text}, "run.json")


def test_missing_files_empty_folders_and_names_given_twice_are_refused(tmp_path: Path):
    one, again = written(tmp_path / "one.touchline"), written(tmp_path / "b" / "one.touchline")
    for files, reason in (
        ([tmp_path / "none.touchline"], "no such file"),
        ([one, again], "has a pattern one, too"),
        ([written(tmp_path / "c" / "x.txt").parent], r"has no file \*.touchline"),
    ):
        with pytest.raises(PatternFileError, match=reason):
            load_patterns(files)
    with pytest.raises(PatternFileError, match="201 patterns"):
        check_patterns({f"p{number}": _PAIR for number in range(201)}, "run.json")
    for damaged in ([], {"p": 1}, "text"):
        with pytest.raises(PatternFileError, match="damaged"):
            check_patterns(damaged, "run.json")
    with pytest.raises(SettingsError, match="must be files"):
        make_settings({"patterns": 3})

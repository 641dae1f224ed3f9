"""Lists and labels that people write, and whatever is given out for a provider's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import strategies as st

from app.run.match_list import ListError, entries_of, read_list, with_names
from football.errors import TrackingError
from football.match_sheet import MatchSheet
from replay.formats.kloppy_reader import PROVIDERS
from replay.formats.tracking import read_tracking
from replay.scoring.readers import read_truth
from replay.scoring.truth import ScoreError
from tests.fuzz.cases import both, changed_text, fewer, hold, json_like, mangled, refusal
from tests.replay.formats.test_kloppy_reader import METRICA_AWAY, METRICA_HOME, TRACAB_FRAMES, TRACAB_METADATA

LABELS = """event_id,type,label,team,object_id,success,set_piece,opta_s,kick_t_ms
4,pass,pass,away,away_6,True,kick_off,2.43,40
5,out,,home,home_5,False,no_set_piece,6.086,3080
6,miss,shot,home,home_9,False,no_set_piece,9.1,
"""
LIST = """[[match]]
source = "captures/derby"
name = "derby"
channel = "rtls"
seed = 3
[[match]]
source = "sim"
"""


@both
def test_labels(cases: int, tmp_path: Path):
    file = tmp_path / "events.csv"
    file.write_text(LABELS)
    assert len(read_truth(file, MatchSheet()).marks) == 4

    def body(text: str) -> None:
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        message = refusal((TrackingError, ScoreError), lambda: read_truth(file, MatchSheet()))
        assert message is None or "events.csv" in message

    hold(cases, changed_text([LABELS]), body)


@both
def test_a_list_of_matches(cases: int, tmp_path: Path):
    file = tmp_path / "round.toml"

    def body(text: str) -> None:
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        message = refusal(ListError, lambda: read_list(file))
        assert message is None or "round.toml" in message
        if message is None:
            names = [one["name"] for one in with_names(entries_of([str(file)]))]
            assert len(set(names)) == len(names)

    hold(cases, changed_text([LIST]), body)


@both
def test_metricas_tables(cases: int, tmp_path: Path):
    home, away = tmp_path / "home.csv", tmp_path / "away.csv"
    away.write_text(METRICA_AWAY)

    def body(text: str) -> None:
        home.write_bytes(text.encode("utf-8", "surrogatepass"))
        message = refusal(TrackingError, lambda: read_tracking(f"kloppy:metrica:{home}:{away}"))
        assert message is None or "home.csv" in message

    hold(fewer(cases), changed_text([METRICA_HOME]), body)


@both
@pytest.mark.parametrize("provider", PROVIDERS)
def test_whatever_is_given_out_for_a_providers_file(cases: int, provider: str, tmp_path: Path):
    """Of another provider, or of nobody: refused by name, whichever of its files it stands for."""
    count = len(PROVIDERS[provider][2])
    files = [tmp_path / f"{n}.{'xml' if n else 'txt'}" for n in range(count)]
    texts = [TRACAB_FRAMES, TRACAB_METADATA, METRICA_HOME, LABELS, "{}", "[]", '{"match": {"id": 1}, "periods": []}']
    names = ["match", "metadata", "periods", "players", "frameIdx", "homePlayers", "ball", "data", "timestamp", "id"]
    one = mangled([text.encode() for text in texts]) | json_like(names).map(json.dumps).map(str.encode)

    def body(contents: list[bytes]) -> None:
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(content)
        place = ":".join(map(str, files))
        message = refusal(TrackingError, lambda: read_tracking(f"kloppy:{provider}:{place}"))
        assert message is None or str(tmp_path) in message

    hold(cases // len(PROVIDERS) // (1 if cases >= 1_000 else 4), st.lists(one, min_size=count, max_size=count), body)

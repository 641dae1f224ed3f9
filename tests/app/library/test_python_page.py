"""The examples of docs/python.md run from top to bottom, in an empty folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import touchline
from app.kafka import follow as kafka_follow
from app.kafka.follow import Change
from app.kafka.updates import TopicUpdate
from football.update_stream import EventRecord

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


def shot(seq: int, player: str) -> Change:
    event = EventRecord(f"shot.attempt#{seq}", "shot.attempt", "", 6, seq, "home", player, None, None, None, 1.0)
    return Change(TopicUpdate("demo", seq, 1, seq, event), {}, seq, 0)


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    asked: dict[str, object] = {}

    def follow(topic: str, *, idle_s: float | None, notify: Callable[[str], None]) -> list[Change]:
        asked.update(topic=topic, idle_s=idle_s)
        return [shot(0, "home_9")]

    monkeypatch.setattr(kafka_follow, "follow", follow)
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for at, example in enumerate(re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)):
        exec(compile(example, f"docs/python.md, example {at + 1}", "exec"), names)
    shown = capsys.readouterr().out
    assert "shot.attempt home_9" in shown
    assert asked == {"topic": "kafka://127.0.0.1:9092/events", "idle_s": 60}
    assert len(names["passes"]) > 0
    assert len(names["streaks"]) > 0
    assert set(names["late"]["kind"].str.partition(".")[0]) <= {"pass", "shot"}
    assert names["result"].kinds["pass.complete"].f1 > 0.8


def test_the_page_names_what_there_is() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## ")[0]
    assert set(re.findall(r"`(\w+)`", table.partition("|---|")[2])) == set(touchline.__all__)
    assert len(touchline.__all__) == 12
    assert all(getattr(touchline, name).__doc__ for name in touchline.__all__)

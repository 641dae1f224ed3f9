"""The client of a run, and the examples of docs/api.md."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import touchline
from tests.app.api.conftest import TOKEN
from tests.app.api.test_matches import Game, event
from tests.app.run.test_servers import ask
from tests.waiting import eventually

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"
ADDRESS = "http://127.0.0.1:8050"


def test_what_a_run_knows(steered: tuple[Game, str]):
    _, url = steered
    run = touchline.connect(url, TOKEN)
    assert [row.match for row in run.matches()] == ["m"]
    assert run.sheet().players[0].name == "Gale"
    assert run.sheet("m") == run.sheet()
    assert [one.event.id for one in run.events(["pass", "shot"], player=7)] == ["e1", "e2"]
    assert run.frontier().next_seq == 2
    assert run.health().status == "live"
    assert run.positions().ball is None
    assert run.position_history("0:00", 600.0, every_ms=1_000) == []


def test_updates_arrive_and_those_of_a_replaced_stage_are_withdrawn(steered: tuple[Game, str]):
    game, url = steered
    updates = touchline.connect(url, TOKEN).updates("pass,shot")
    assert [(one.diff, one.event.id) for one in (next(updates), next(updates))] == [(1, "e1"), (1, "e2")]
    game.publish(event(3), event(4))
    assert [(one.diff, one.event.id) for one in (next(updates), next(updates))] == [(1, "e3"), (1, "e4")]
    game.publish(event(5), epoch=1, continues_from=3, ended=True)
    assert [(one.diff, one.event.id) for one in updates] == [(-1, "e4"), (1, "e5")]


def test_orders_and_their_refusals(steered: tuple[Game, str]):
    _, url = steered
    run = touchline.connect(url, TOKEN)
    assert run.hold("main").order == "hold"
    assert run.drive("main", pan=0.2).order == "drive"
    assert run.preset("main", "left").order == "preset"
    assert run.track("main", "home_7").order == "player"
    assert run.style("main", "calm").style == "calm"
    assert run.on_air("main", on_air=True).on_air
    with pytest.raises(touchline.TouchlineError, match="409: camera main: it is on air"):
        run.point("main", 10.0, 0.0)
    assert run.point("main", 10.0, 0.0, force=True).order == "preset"
    assert run.release("main", force=True).order == ""
    assert [camera.name for camera in run.cameras()] == ["main"]
    assert run.journal("main")[-1].what == "release"
    assert run.camera_figures()["main"]["failure"] == ""
    with pytest.raises(touchline.TouchlineError, match="404: no camera other"):
        run.camera("other")


def test_a_wrong_token_address_or_match_is_named(steered: tuple[Game, str]):
    _, url = steered
    with pytest.raises(touchline.TouchlineError, match="401: A token is needed"):
        touchline.connect(url, "another-token")
    with pytest.raises(touchline.TouchlineError, match="begins with http"):
        touchline.connect("file:///etc/passwd")
    with pytest.raises(touchline.TouchlineError, match="no answer"):
        touchline.connect("http://127.0.0.1:9")
    with pytest.raises(touchline.TouchlineError, match="404: no match other"):
        touchline.connect(url, TOKEN).sheet("other")


def test_the_python_of_the_page_runs_from_top_to_bottom(steered: tuple[Game, str]):
    game, url = steered
    text, names = io.StringIO(), {}

    def end() -> None:
        eventually(lambda: "+ shot.attempt" in text.getvalue())  # the page follows events, which ends with the match
        game.publish(event(6, "goal.scored"), ended=True)

    ending = threading.Thread(target=end)
    ending.start()
    with contextlib.redirect_stdout(text):
        for example in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S):
            example = example.replace(ADDRESS, url).replace("a token of `touchline token create`", TOKEN)
            exec(compile(example, "docs/api.md", "exec"), names)
    ending.join()
    shown = text.getvalue()
    assert "Harbour live" in shown
    assert "+ shot.attempt 1.0" in shown
    assert "+ goal.scored 1.0" in shown
    assert "main" in shown


def test_the_requests_of_the_page_are_answered(steered: tuple[Game, str]):
    _, url = steered
    lines = re.findall(r"^    (curl .*)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert len(lines) >= 3
    for line in lines:
        asked = urlsplit(shlex.split(line)[-1].replace("MATCH", "m"))
        path = f"{asked.path}?{asked.query}"
        if "stream" not in path:
            assert ask(url, path, Authorization=f"Bearer {TOKEN}")[0] == 200, line

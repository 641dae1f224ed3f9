"""The analyst's room: its answers, and its page in a real browser over the small match by hand."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pandas as pd
import pytest
from starlette.responses import Response

from app.analysis.registry import CHARTS
from app.api.analyst import AnalystRoom
from tests.app.recorded.conftest import serving
from tests.app.tables.small_match import event, small_store
from tests.dashboard.accessibility import violations
from tests.dashboard.chromium import Browser
from tests.waiting import eventually

BASE = "/api/v1/matches/one/analyst"


#: One for all requests: to make one takes longer than an answer.
CLIENT = httpx.Client(timeout=60)


def get(url: str, path: str, **values: object) -> httpx.Response:
    return CLIENT.get(url + BASE + path, params=values)


def test_the_room_opens_with_teams_players_periods_and_charts(url: str):
    found = get(url, "").json()
    assert (found["home"], found["away"], found["length_m"]) == ("Reds", "Blues", 105.0)
    assert {one["player"] for one in found["players"]} == {f"{t}_{n}" for t in ("home", "away") for n in (1, 7, 9)}
    assert [span["period"] for span in found["periods"]] == [1, 2]
    assert [one["name"] for one in found["charts"]] == list(CHARTS)


def test_what_the_page_asks_for_first_is_made_before_it_asks(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []
    chart = AnalystRoom.chart

    def noted(room: AnalystRoom, name: str, what: str, *selection: Any) -> Response:
        before = len(room._answers.get(name, ()))
        answer = chart(room, name, what, *selection)
        if name == "alone":
            asked.append(f"{what} {len(room._answers[name]) - before}")
        return answer

    monkeypatch.setattr(AnalystRoom, "chart", noted)
    small_store(tmp_path / "alone")
    with serving(tmp_path / "alone") as server:
        first = [name for name, one in CHARTS.items() if one.group == CHARTS["teams"].group]
        eventually(lambda: len(asked) == len(first))
        assert asked == [f"{name} 1" for name in first]
        browser.driver.get(f"{server.url}/analyst")
        browser.wait(lambda: len(asked) == 2 * len(first), "the charts of the first group")
    assert asked[len(first) :] == [f"{name} 0" for name in first]


def test_a_number_of_a_chart_leads_to_its_events(url: str):
    shots = get(url, "/charts/shot_map", team="home", score="level").json()
    actions = get(url, "/actions").json()
    assert actions["key"] == shots["key"]
    ((row,),) = shots["columns"]["rows"]
    named = {name: values[row] for name, values in actions["columns"].items()}
    assert (named["table"], named["player"], named["ts_us"], named["x_m"]) == ("shots", "home_9", 21_000_000, 45.0)
    assert named["text"] == "shot goal"
    events = CLIENT.get(f"{url}/api/v1/matches/one/events?kind=shot.attempt").json()["events"]
    assert named["id"] in {one["event"]["id"] for one in events}


def test_charts_are_json_csv_and_parquet_with_the_same_rows(url: str):
    for name in ("teams", "players", "shot_map", "pass_network", "heat_map", "momentum"):
        answer = get(url, f"/charts/{name}")
        assert answer.status_code == 200, (name, answer.text)
        columns = answer.json()["columns"]
        count = len(next(iter(columns.values())))
        table = pd.read_csv(io.BytesIO(get(url, f"/charts/{name}", format="csv").content))
        other = pd.read_parquet(io.BytesIO(get(url, f"/charts/{name}", format="parquet").content))
        assert len(table) == len(other) == count, name
        assert list(table.columns) == list(other.columns)
        assert not [column for column in other if column.endswith("rows")]
    ids = pd.read_parquet(io.BytesIO(get(url, "/charts/shot_map", format="parquet").content)).ids
    assert ids[0].tolist() == ["shot.attempt#ball:21"]


def test_wrong_questions_are_refused_with_the_reason(url: str):
    for path, values, status, reason in (
        ("/charts/none", {}, 404, "no chart none; there are teams"),
        ("/charts/shot_map", {"zone": "1,2"}, 400, "zone: four numbers"),
        ("/charts/shot_map", {"format": "pdf"}, 422, "format"),
        ("/moment", {"action": 9_999}, 400, "number of a pass or a shot"),
    ):
        answer = get(url, path, **values)
        assert (answer.status_code, reason in answer.text) == (status, True), answer.text
    assert CLIENT.get(f"{url}/api/v1/matches/none/analyst").status_code == 404


def test_the_report_is_one_click_away(url: str, monkeypatch: pytest.MonkeyPatch):
    # The page itself has its own tests, and takes seconds to import.
    stub = SimpleNamespace(report_page=lambda report: f"<h1>{report.sheet.home}</h1>")
    monkeypatch.setitem(sys.modules, "app.report.page", stub)
    page = CLIENT.get(f"{url}/report?match=one")
    assert (page.status_code, page.text) == (200, "<h1>Reds</h1>")
    assert "script-src" not in page.headers["Content-Security-Policy"]
    assert CLIENT.get(f"{url}/report?match=none").status_code == 404
    assert CLIENT.get(f"{url}/report").status_code == 404


def test_a_season_adds_the_matches_up(url: str):
    def columns(name: str) -> dict[str, list[object]]:
        return CLIENT.get(f"{url}/api/v1/season/{name}").json()["columns"]

    teams = columns("teams")
    assert (teams["name"], teams["played"], teams["won"], teams["lost"]) == (["Reds", "Blues"], [2, 2], [2, 0], [0, 2])
    assert (teams["goals"], teams["xg"]) == ([4, 0], [0.6, 0.0])
    assert columns("matches")["match"] == ["one", "one", "two", "two"]
    players = columns("players")
    first = {name: values[0] for name, values in players.items()}
    assert (first["name"], first["goals"], first["shots"], first["played"]) == ("Home Player 9", 2, 4, 2)
    appearances = columns("appearances")
    of_first = [at for at, name in enumerate(appearances["name"]) if name == first["name"]]
    assert [(appearances["match"][at], appearances["opponent"][at]) for at in of_first] == [
        ("one", "Blues"), ("two", "Blues"),
    ]  # fmt: skip
    assert sum(appearances["goals"][at] for at in of_first) == 2
    assert CLIENT.get(f"{url}/api/v1/season/none").status_code == 404


# --- the page ---


def opened(browser: Browser, url: str, tab: str, more: str = "") -> None:
    browser.driver.get("about:blank")
    browser.errors()
    browser.foreign_hosts(url)
    browser.driver.get(f"{url}/analyst?match=one&tab={tab.replace(' ', '%20')}{more}")
    settled(browser)


def settled(browser: Browser) -> None:
    cards = "[...document.querySelectorAll('.card')]"
    ready = f"return {cards}.length > 0 && {cards}.every(card => card.figures && !card.dataset.loading)"
    browser.wait(lambda: browser.run(ready), "the charts")


def shown(browser: Browser, selector: str) -> str:
    return str(browser.run("return document.querySelector(arguments[0])?.innerText || ''", selector))


def count(browser: Browser, selector: str) -> int:
    return int(browser.run("return document.querySelectorAll(arguments[0]).length", selector))


def click(browser: Browser, selector: str) -> None:
    script = "const e = document.querySelector(arguments[0]); e.dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    browser.run(script, selector)


@pytest.mark.browser
def test_every_group_draws_its_charts_without_error(browser: Browser, url: str):
    browser.resize(1280, 720)
    opened(browser, url, "Overview")
    groups = browser.run("return [...document.querySelectorAll('#tabs button')].map(tab => tab.textContent)")
    assert groups == [*dict.fromkeys(chart.group for chart in CHARTS.values()), "Compare", "Season"]
    drawn = []
    for group in groups:
        browser.run(
            "[...document.querySelectorAll('#tabs button')].find(tab => tab.textContent === arguments[0]).click()",
            group,
        )
        settled(browser)
        drawn += browser.run("return [...document.querySelectorAll('.card')].map(card => card.chart.name)")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), group
    assert drawn == [*CHARTS, "comparison", "season_versus", "season_teams", "season_matches", "season_players"]
    assert browser.errors() == []
    assert browser.foreign_hosts(url) == set()


@pytest.mark.browser
def test_a_number_of_the_season_leads_to_its_matches_and_to_the_events_in_a_match(browser: Browser, url: str):
    browser.resize(1280, 720)
    opened(browser, url, "Season")
    heads = browser.run("return [...document.querySelectorAll('.card th button')].map(one => one.textContent)")
    assert {"Team", "Conceded", "xG against", "Completed", "Km in 90 min"} <= set(heads)
    assert not [head for head in heads if "_" in head or head == head.lower()]
    click(browser, "#chart-season_players [aria-label='Goals, Home Player 9: 2']")
    behind = "#chart-season_players .behind a.value.chosen"
    browser.wait(lambda: count(browser, behind) == 2, "the two matches of the player")
    assert shown(browser, behind) == "1", "one goal in each"
    assert violations(browser) == {}
    browser.wait(lambda: count(browser, behind) == 2, "the matches again, which a change of theme does not close")
    browser.run("document.querySelectorAll(arguments[0])[1].click()", behind)
    browser.wait(lambda: "match=two" in browser.driver.current_url, "the match")
    browser.wait(lambda: count(browser, "#actions li") == 2, "the two shots of the player in it")
    assert "Home Player 9" in shown(browser, "#actions li .who")
    assert shown(browser, "#tabs [aria-selected='true']") == "Shots"

    opened(browser, url, "Season")
    click(browser, "#chart-season_matches [aria-label^='Conceded, Blues, one']")
    browser.wait(lambda: count(browser, "#actions li") == 2, "the shots of the opponent")
    assert browser.errors() == []


@pytest.mark.browser
def test_a_team_stands_next_to_its_season_and_next_to_another_team(browser: Browser, url: str):
    def line(selector: str) -> list[str]:
        cells = "return [...document.querySelector(arguments[0]).children].map(one => one.innerText.trim())"
        return list(browser.run(cells, f"#chart-season_versus {selector}"))

    browser.resize(1280, 720)
    opened(browser, url, "Compare")
    assert line("thead tr") == ["", "Reds in this match", "Blues in this match"]
    assert line("tbody tr:first-child") == ["Goals", "2", "0"]
    choose = "const [e, v] = [document.querySelector(arguments[0]), arguments[1]]; "
    choose += "e.value = v; e.dispatchEvent(new Event('change'))"
    browser.run(choose, "#chart-season_versus [aria-label=other]", "season Blues")
    assert line("thead tr")[2] == "Blues, mean of all matches"
    assert line("tbody tr:nth-child(2)") == ["Conceded", "0", "2.0"]
    assert violations(browser) == {}
    browser.run("document.querySelector('#chart-season_versus [aria-label^=\"Goals, Blues\"]').click()")
    behind = "#chart-season_versus .behind tbody tr"
    browser.wait(lambda: count(browser, behind) == 2, "the two matches behind the mean")
    browser.run("document.querySelector('#chart-season_versus tbody tr:first-child a').click()")
    browser.wait(lambda: count(browser, "#actions li") == 2, "the two shots of the team")
    assert browser.errors() == []


#: Drawings that reach beyond their card, and the least height of their letters in pixels.
DRAWN = """
const drawings = [...document.querySelectorAll('.card svg')];
const outside = drawings.filter((svg) => {
  const box = svg.getBoundingClientRect(), card = svg.closest('.card').getBoundingClientRect();
  return box.left < card.left || box.right > card.right + 0.5 || box.right > innerWidth;
}).map((svg) => svg.getAttribute('aria-label'));
const heights = [...document.querySelectorAll('.card svg text')].map((one) => one.getBoundingClientRect().height);
return [outside, Math.min(...heights), document.documentElement.scrollWidth <= innerWidth];
"""

CUT_TABS = """
return [...document.querySelectorAll('#tabs button')].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent);
"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("size", "letter_px"),
    [((3840, 2160), 20), pytest.param((1180, 820), 10, marks=pytest.mark.slow), ((820, 1180), 10)],
)
def test_charts_fill_their_cards_at_any_size(browser: Browser, url: str, size: tuple[int, int], letter_px: float):
    browser.resize(*size)
    for group in ("Overview", "Passes", "Pressing", "Running"):
        opened(browser, url, group)
        outside, least_px, fits = browser.run(DRAWN)
        assert (outside, fits) == ([], True), group
        assert least_px >= letter_px, group
        assert browser.run(CUT_TABS) == []
    browser.resize(1280, 720)


@pytest.mark.browser
def test_the_selection_narrows_what_is_drawn_and_stands_in_the_address(browser: Browser, url: str):
    opened(browser, url, "Shots")
    assert count(browser, "#chart-shot_map .pick") == 2
    click(browser, "#selection [aria-label='Period'] button:nth-child(3)")
    browser.wait(lambda: count(browser, "#chart-shot_map .pick") == 1, "one shot")
    assert parse_qs(urlsplit(browser.driver.current_url).query)["period"] == ["2"]
    opened(browser, url, "Shots", "&team=away&score=behind")
    assert "Nothing in this selection" in shown(browser, "#chart-shot_map")
    click(browser, "#selection .clear")
    browser.wait(lambda: count(browser, "#chart-shot_map .pick") == 2, "both shots")


TOKEN = "return getComputedStyle(document.documentElement).getPropertyValue('--' + arguments[0]).trim()"


@pytest.mark.browser
def test_a_number_opens_its_actions_and_an_action_its_moment(browser: Browser, url: str):
    opened(browser, url, "Overview")
    click(browser, "#chart-teams [aria-label^='Shots, Reds']")
    assert count(browser, "#actions li") == 2
    link = str(browser.run("return document.querySelector('#actions li a').href"))
    values = parse_qs(urlsplit(link).query)
    assert urlsplit(link).path == "/replay"
    assert values["match"] == ["one"]
    assert float(values["t"][0]) == pytest.approx(21.0 - 3.0)
    click(browser, "#actions li .freeze")
    browser.wait(lambda: count(browser, "#moment svg"), "the moment")
    assert "Home Player 9: goal, xG 0.30" in shown(browser, "#moment")
    fills = browser.run(
        "return [...document.querySelectorAll('#moment .control rect')].map((one) => one.getAttribute('fill'))"
    )
    assert len(fills) == 35 * 23  # cells of 3 m
    assert set(fills) == {browser.run(TOKEN, team) for team in ("home", "away")}
    click(browser, "#actions .head button")
    assert browser.run("return document.getElementById('actions').hidden")
    # Bars over time lead to actions, too, and the greatest value of the ball to its moment.
    opened(browser, url, "Pressing", "&phase=out")
    assert "Not narrowed by players" in shown(browser, "#chart-pressing .whole")
    click(browser, "#chart-shape_time .pick")
    assert "possession" in shown(browser, "#actions li")
    opened(browser, url, "Places")
    click(browser, "#chart-ball_time rect.pick")
    assert count(browser, "#actions li") > 1
    click(browser, "#chart-ball_time line.pick")
    browser.wait(lambda: urlsplit(browser.driver.current_url).path == "/replay", "the replay")
    assert browser.errors() == []


@pytest.mark.browser
def test_players_are_compared_and_views_are_saved(browser: Browser, url: str):
    opened(browser, url, "Compare", "&player=home_7,home_9")
    assert "Home Player 7" in shown(browser, "#chart-comparison thead")
    assert "Home Player 9" in shown(browser, "#chart-comparison thead")
    opened(browser, url, "Passes")
    saved = """
        const done = arguments[arguments.length - 1], seen = [], make = URL.createObjectURL;
        const [png, svg] = document.querySelectorAll('#chart-pass_network .files button');
        let newest = null;
        URL.createObjectURL = (blob) => { newest = blob; return make.call(URL, blob); };
        HTMLAnchorElement.prototype.click = function () {
          seen.push([this.download, newest.type, newest.size]);
          if (seen.length === 2) done(seen); else png.click();
        };
        svg.click();
    """
    first, second = browser.driver.execute_async_script(saved)
    assert first[:2] == ["one_pass_network.svg", "image/svg+xml"]
    assert second[:2] == ["one_pass_network.png", "image/png"]
    assert min(first[2], second[2]) > 2_000
    links = browser.run("return [...document.querySelectorAll('#chart-pass_network .files a')].map(a => a.href)")
    assert [CLIENT.get(link).status_code for link in links] == [200, 200]


@pytest.mark.browser
def test_a_match_without_actions_says_so(browser: Browser, tmp_path: Path):
    begun = event("period.start", 10.4, "ball:10", variant="1", since_us=10_000_000, left="home")
    with serving(small_store(tmp_path / "one", only=[begun], positions=False)) as server:
        browser.driver.get(f"{server.url}/analyst?match=one")
        browser.wait(lambda: "Nothing has been detected" in shown(browser, "#analyst .note"), "the words")
    browser.driver.get("about:blank")

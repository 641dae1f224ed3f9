"""A stretch played again with a change: packets, events that differ, the command, and who may ask for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from fastapi import HTTPException
from typer.testing import CliRunner

from app.api.what_if import _Turns
from app.cli.whatif import app as command
from app.settings.parameters import ParametersError
from app.what_if.change import STRETCH_MAX_US, Change, Delay, Move, WhatIfError, altered, with_thresholds
from app.what_if.run import Outcome, Stretch, SupersededError, WhatIf
from dashboard.server import WebServer
from detectors.parameters import Parameters
from football.packets import Block, Packet
from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import derby_store
from tests.app.recordings import optical_table, record
from tests.waiting import eventually

S = 1_000_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen seconds of a simulated match."""
    folder = tmp_path_factory.mktemp("what_if")
    return record(optical_table(folder / "match.parquet", 32, 14), folder / "store")


@pytest.fixture(scope="module")
def what_if(store: Path) -> WhatIf:
    return WhatIf(store)


def packet(name: str, ts_us: int, x_m: float = 0.0) -> Packet:
    return Packet(name, ts_us // 40_000, (ts_us,), (x_m,), (1.0,), (0.0,))


def stream() -> list[Block]:
    return [Block(us + 5, (packet("ball", us), packet("home_7", us, 3.0))) for us in range(0, 200_000, 40_000)]


def test_packets_are_removed_moved_and_late_in_the_stretch_only():
    change = Change(40_000, 120_000, removed=("ball",), moves=(Move("home_7", 1.5, -1.0),))
    found = list(altered(stream(), change, framed=True))
    assert [len(block.packets) for block in found] == [2, 1, 1, 2, 2]
    assert [block.packets[-1].x_m[0] for block in found] == [3.0, 4.5, 4.5, 3.0, 3.0]
    assert found[1].packets[0].y_m == (0.0,)


def test_a_late_packet_joins_what_arrives_with_it_or_is_a_block_of_its_own():
    joined = list(altered(stream(), Change(40_000, 80_000, delays=(Delay("home_7", 40),)), framed=False))
    assert [(block.arrival_us, [one.ts_us[0] for one in block.packets]) for block in joined[1:3]] == [
        (40_005, [40_000]),
        (80_005, [80_000, 80_000, 40_000]),
    ]
    alone = list(altered(stream(), Change(40_000, 80_000, delays=(Delay("", 60),)), framed=False))
    assert [block.arrival_us for block in alone] == [5, 80_005, 100_005, 120_005, 160_005]
    last = list(altered(stream(), Change(160_000, 200_000, delays=(Delay("ball", 500),)), framed=False))
    assert [block.arrival_us for block in last[-2:]] == [160_005, 660_005]


def test_what_follows_a_late_frame_waits():
    found = list(altered(stream(), Change(40_000, 80_000, delays=(Delay("", 70),)), framed=True))
    assert [block.arrival_us for block in found] == [5, 110_005, 110_006, 120_005, 160_005]


def test_thresholds_are_set_by_path_and_checked():
    assert with_thresholds(Parameters(), {"near.enter_m": 0.8}).near.enter_m == 0.8
    assert with_thresholds(Parameters(), {"offside.every_us": 400_000.0}).offside.every_us == 400_000
    for path, value in (("near.entr_m", 1.0), ("near.enter_m", -1.0), ("nothing", 1.0)):
        with pytest.raises(ParametersError):
            with_thresholds(Parameters(), {path: value})


def test_the_unchanged_side_is_what_the_store_has(what_if: WhatIf):
    found = what_if.play(Change(2 * S, 12 * S, thresholds={"momentum.fade_us": 170e6}))
    assert found.as_stored == 1.0
    assert found.before.events > 50
    assert found.before.delay_ms is None
    assert [one for one in found.differences if one.family == "passes"] == []


def test_a_line_that_must_move_the_whole_pitch_is_not_published_in_between(what_if: WhatIf):
    found = what_if.play(Change(2 * S, 12 * S, thresholds={"offside.move_m": 120.0}))
    assert {(one.change, one.kind, one.before_variety) for one in found.differences} == {
        ("gone", "offside.line", "moved")
    }
    assert all(one.now_us is None and one.now_id is None for one in found.differences)
    assert found.now.events == found.before.events - len(found.differences)
    assert found.kept == found.now.events


def test_without_the_passer_his_pass_is_gone(what_if: WhatIf):
    found = what_if.play(Change(2 * S, 12 * S, removed=("home_8",)))
    (lost,) = [one for one in found.differences if one.change == "gone" and one.kind == "pass.attempt"]
    assert (lost.player, lost.title, lost.family) == ("home_8", "Pass attempt", "passes")
    assert {one.kind for one in found.differences if one.change == "new" and one.player == "home_8"} == {"tx.lost"}


def test_by_the_law_alpha_and_a_repairable_delay_change_no_event(what_if: WhatIf):
    buffered = what_if.play(Change(2 * S, 12 * S, alpha=1.0))
    assert buffered.differences == []
    assert buffered.before.delay_ms is not None
    assert buffered.now.delay_ms is not None
    assert buffered.now.delay_ms >= buffered.before.delay_ms
    late = what_if.play(Change(4 * S, 5 * S, delays=(Delay("", 1_000),)))
    assert late.differences == []
    assert late.now.delay_ms is not None
    assert late.now.delay_ms > 500


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (Change(0, S), "nothing is changed"),
        (Change(0, STRETCH_MAX_US + 1, alpha=0.0), "by 120 s at most"),
        (Change(S, S, alpha=0.0), "ends after it begins"),
        (Change(0, S, removed=("home_77",)), "no object home_77"),
        (Change(0, S, detectors=("gravity",)), "no detector gravity"),
        (Change(0, S, delays=(Delay("ball", 5),)), "all objects of an instant in one packet"),
        (Change(0, S, removed=("ball",) * 21), "at most 20 changes"),
    ],
)
def test_what_cannot_be_changed_is_refused(what_if: WhatIf, change: Change, reason: str):
    with pytest.raises(WhatIfError, match=reason):
        what_if.play(change)


def test_a_match_without_packets_is_refused(tmp_path: Path):
    with pytest.raises(WhatIfError, match="the capture is missing"):
        WhatIf(derby_store(tmp_path / "derby"))


def test_the_command_prints_both_sides(store: Path):
    given = [str(store), "--from", "2", "--to", "0:12", "--set", "offside.move_m=120"]
    printed = CliRunner().invoke(command, [*given, "--json"])
    assert printed.exit_code == 0, printed.output
    found = msgspec.convert(json.loads(printed.stdout), Outcome)
    assert any(one.kind == "offside.line" for one in found.differences)
    text = CliRunner().invoke(command, given).stdout
    assert f"as recorded: {found.before.events} events" in text
    assert "gone" in text
    wrong = CliRunner().invoke(command, [str(store), "--from", "0", "--to", "5", "--alpha", "2"])
    assert isinstance(wrong.exception, WhatIfError)


def test_a_stretch_that_was_played_ahead_is_not_played_again(what_if: WhatIf, monkeypatch: pytest.MonkeyPatch):
    asked: list[Stretch] = []
    side = what_if.play_ahead(3 * S, 12 * S, lambda stretch: not asked.append(stretch))
    assert {stretch.in_time for stretch in asked} == {False, True}
    assert side.delay_ms is not None
    sides: list[Change | None] = []
    played = WhatIf._side

    def noted(self: WhatIf, stretch: Stretch, options: object, began_s: float, change: Change | None, *rest: object):
        sides.append(change)
        return played(self, stretch, options, began_s, change, *rest)

    monkeypatch.setattr(WhatIf, "_side", noted)
    changes = [Change(3 * S, 12 * S, alpha=1.0), Change(3 * S, 12 * S, thresholds={"offside.move_m": 120.0})]
    outcomes = [what_if.play(change) for change in changes]
    assert sides == changes
    assert outcomes[0].before == side


def test_a_stretch_that_nobody_needs_any_more_is_given_up(store: Path):
    fresh, asked = WhatIf(store), []
    with pytest.raises(SupersededError):
        fresh.play_ahead(2 * S, 12 * S, lambda stretch: len(asked) < 2 and not asked.append(stretch))
    assert fresh._known == {}
    with pytest.raises(WhatIfError, match="ends after it begins"):
        fresh.play_ahead(S, S, lambda stretch: True)


def test_what_is_played_ahead_makes_way_for_another_change_and_a_newer_stretch():
    turns = _Turns()

    def change() -> None:
        with turns.of_change("two"):
            pass

    with turns.ahead() as is_needed:
        assert is_needed("one")
        waiting = threading.Thread(target=change)
        waiting.start()
        eventually(lambda: not is_needed("one"))
        assert is_needed("two")
        with pytest.raises(HTTPException, match="503"), turns.of_change("three"):
            pass
    waiting.join()
    turns, newer = _Turns(), threading.Event()

    def begin() -> None:
        with turns.ahead() as is_needed:
            assert is_needed("two")
            newer.set()

    with turns.ahead() as is_needed:
        second = threading.Thread(target=begin)
        second.start()
        eventually(lambda: not is_needed("one"))
    second.join()
    assert newer.is_set()


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[WebServer]:
    with serving(store) as running:
        yield running


def ask(server: WebServer, change: Change, **headers: str) -> httpx.Response:
    values = {"change": msgspec.json.encode(change).decode()}
    return httpx.get(f"{server.url}/api/v1/matches/store/what-if", params=values, headers=headers, timeout=120)


def test_the_api_gives_the_same_to_a_client_on_this_machine(server: WebServer, what_if: WhatIf):
    change = Change(2 * S, 12 * S, thresholds={"offside.move_m": 120.0})
    answer = ask(server, change).raise_for_status().json()
    expected = json.loads(msgspec.json.encode(what_if.play(change)))
    assert answer | {"took_s": 0} == expected | {"took_s": 0}
    assert ask(server, change).json() == answer
    assert ask(server, Change(0, S)).json()["detail"] == "nothing is changed"
    choices = httpx.get(f"{server.url}/api/v1/matches/store/what-if/choices").json()
    assert choices["permitted"]
    assert any(one["path"] == "release.release_m" and one["unit"] == "m" for one in choices["thresholds"])


def test_the_api_plays_a_stretch_ahead(server: WebServer, what_if: WhatIf):
    path = f"{server.url}/api/v1/matches/store/what-if/unchanged?begin_us={2 * S}&end_us="
    done = httpx.get(f"{path}{12 * S}", timeout=120).raise_for_status().json()
    assert done == {"is_done": True, "events": what_if.play_ahead(2 * S, 12 * S, lambda stretch: True).events}
    assert httpx.get(f"{path}{2 * S}").json()["detail"].startswith("a stretch ends after it begins")
    assert httpx.get(f"{path}{12 * S}", headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 403


def test_a_viewer_from_elsewhere_may_not_have_a_match_played(server: WebServer):
    refused = ask(server, Change(0, S, alpha=0.5), **{"X-Forwarded-For": "192.0.2.7"})
    assert refused.status_code == 403
    assert "operator" in refused.text

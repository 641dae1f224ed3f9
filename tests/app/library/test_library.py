"""The names of ``import touchline``: tables in every form, own detectors that work and that do not, lazy import."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path

import pandas as pd
import pytest

import touchline
from app.kafka import follow as kafka_follow
from app.library.patterns import match_store
from app.settings.patterns import read_pattern
from detectors.emission import make_event
from football.update_stream import Follower, UpdateMessage
from middleware.detector import Spec, Step
from middleware.events import Event
from tests.app.cli.test_main import ROOT, write_track


class Undeclared:
    """A detector that emits a kind that it does not declare."""

    spec = Spec("undeclared", "15.99", 15, ("hit",), ("mine.declared",))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        return None, [make_event("mine.other", event.ts_us, event.id, touchline.Payload())]


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_track(tmp_path_factory.mktemp("track") / "track.parquet", 8.0)


@pytest.fixture(scope="module")
def played(track: Path) -> tuple[touchline.Match, list[touchline.Update]]:
    play = touchline.play(track, store=track.parent / "store")
    return play.match if (updates := list(play)) else pytest.fail("no update"), updates


def test_the_import_alone_takes_nothing_with_it():
    heavy = "{'pyarrow', 'numpy', 'app.library.api', 'kafka', 'pyspark'} & set(sys.modules)"
    command = [sys.executable, "-c", f"import sys, touchline; print({heavy}); touchline.Match; print(dir(touchline))"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    empty, names = done.stdout.splitlines()
    assert empty == "set()"
    assert "simulate" in names
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = touchline.nothing


def test_updates_and_tables_agree(played):
    match, updates = played
    follower = Follower()
    follower.apply(UpdateMessage("m", 1, 0, 0, updates=tuple(updates), continues_from=0))
    events = match.events()
    assert set(events["id"]) == set(follower.events)
    assert len(match.updates()) == len(updates)
    assert len(match.positions(form="arrow")) == 8 * 25 * 4
    part = match.positions(begin=2, end="0:04")
    assert (part["ts_us"].min(), part["ts_us"].max()) == (2_000_000, 3_960_000)


def test_conditions_choose_rows(played):
    match, _ = played
    events = match.events()
    kinds = match.events("pass")["kind"]
    assert len(kinds)
    assert set(kinds) == {kind for kind in events["kind"] if kind.startswith("pass.")}
    mine = match.events(player="home_1", begin="0:02")
    assert len(mine)
    assert set(mine["player"]) == {"home_1"}
    assert mine["ts_us"].min() >= 2_000_000
    with pytest.raises(touchline.TouchlineError, match=r"no detector emits pas\.complete; near it: pass\.complete"):
        match.events("pas.complete")
    with pytest.raises(touchline.TouchlineError, match="there is no team reds"):
        match.events(team="reds")
    with pytest.raises(touchline.TouchlineError, match="4h is no time of a match"):
        match.events(begin="4h")


def test_a_form_that_is_not_there_is_named(played, monkeypatch: pytest.MonkeyPatch):
    match, _ = played
    assert isinstance(match.events(), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(touchline.TouchlineError, match="pip install polars"):
        match.events(form="polars")
    with pytest.raises(touchline.TouchlineError, match="must be pandas, arrow or polars"):
        match.players(form="numpy")


def test_a_temporary_match_lives_as_long_as_its_tables(track: Path):
    match = touchline.play(track, seconds=2).run()
    assert len(match.positions()) == 2 * 25 * 4
    folder = match.folder
    del match
    assert not folder.exists()


def test_a_function_becomes_a_detector_of_all_outputs(track: Path):
    @touchline.detector("mine.first", reads="pass.complete", initial=0, level=14)
    def first(seen, event):
        return seen + 1, [touchline.Payload(detail={"at": seen}), touchline.Payload(variant="twice")]

    @touchline.detector("mine.second", reads=["mine.first"])
    def second(state, event):
        return state, touchline.Payload(detail={"of": event.id})

    match = touchline.play(track, detectors=[first, second], alpha=0).run()
    complete, found, above = (match.events(kind) for kind in ("pass.complete", "mine.first", "mine.second"))
    assert len(complete) > 0
    assert len(found) == len(above) == 2 * len(complete)
    assert set(found["level"]) == {14}
    assert list(found["causes"].map(list)) == [[name] for name in complete["id"] for _ in range(2)]


def test_a_file_of_a_pattern_becomes_a_detector(track: Path, tmp_path: Path):
    file = tmp_path / "two.touchline"
    file.write_text("PATTERN SEQ(pass.attempt x, pass.complete y) WITHIN 5 s RETURN of = x.player", encoding="utf-8")
    match = touchline.play(track, detectors=[str(file)], alpha=0).run()
    found = match.events("pattern.two")
    stored = match_store(read_pattern(file), match.folder).matches
    assert len(stored) > 0
    assert {tuple(causes) for causes in found["causes"]} == {tuple(e.id for e in match) for match in stored}
    assert set(found["level"]) == {15}


def test_wildcards_neighbours_and_keys_of_a_match_mean_live_what_they_mean_in_its_store(track: Path, tmp_path: Path):
    texts = {
        "any_pass": "PATTERN SEQ(pass.attempt x, pass.* y) WITHIN 2 s PER team",
        "next_to_it": "PATTERN SEQ(area.*+ x, ball.crossed y) WITHIN 5 s STRATEGY strict",
        "of_one_player": "PATTERN SEQ(pz.leave x, kick.released y) WITHIN 5 s STRATEGY strict PER player",
        "by_possession": "PATTERN SEQ(hit x, pass.attempt y, hit z) WITHIN 20 s PER possession STRATEGY stam",
        "by_match": "PATTERN SEQ(hit x, pass.attempt y, hit z) WITHIN 20 s PER match STRATEGY stam",
    }
    files = [tmp_path / f"{name}.touchline" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    match = touchline.play(track, detectors=list(map(str, files)), alpha=0).run()
    found = {}
    for file in files:
        events = match.events(f"pattern.{file.stem}")
        found[file.stem] = {tuple(causes) for causes in events["causes"]}
        stored = match_store(read_pattern(file), match.folder).matches
        assert found[file.stem] == {tuple(e.id for e in match) for match in stored}, file.stem
    assert all(found.values()), {name: len(matches) for name, matches in found.items()}
    assert found["by_possession"] <= found["by_match"]


def test_a_detector_that_fails_is_named(track: Path):
    @touchline.detector("mine.bad", reads="hit")
    def divides(state, event):
        return state, 1 / 0

    @touchline.detector("mine.worse", reads="hit")
    def returns_text(state, event):
        return state, "hit"

    calls = count()

    @touchline.detector("mine.chance", reads="frame")
    def counts(state, event):
        return next(calls), None

    for detector, reason in (
        (divides, "detector divides failed: ZeroDivisionError"),
        (returns_text, "detector returns_text failed: TypeError: a step returns a state and payloads, not 'h'"),
        (counts, "detector counts failed: ValueError: called again with the same state and event"),
        (Undeclared(), r"detector undeclared breaks the contract of detectors \(refused: .+\)"),
    ):
        with pytest.raises(touchline.TouchlineError, match=reason):
            touchline.play(track, detectors=[detector]).run()


def test_a_detector_that_fits_nowhere_is_refused(track: Path):
    def step(state, event):
        return state, None

    with pytest.raises(touchline.TouchlineError, match=r"no detector emits its input pass\.comlete"):
        touchline.play(track, detectors=[touchline.detector("mine.x", reads="pass.comlete")(step)]).run()
    with pytest.raises(touchline.TouchlineError, match="kind hit is already emitted"):
        touchline.play(track, detectors=[touchline.detector("hit", reads="frame")(step)]).run()
    with pytest.raises(touchline.TouchlineError, match="level 16"):
        touchline.detector("mine.x", reads="frame", level=16)(step)
    with pytest.raises(touchline.TouchlineError, match="kinds to read"):
        touchline.detector("mine.x", reads=[])
    with pytest.raises(touchline.TouchlineError, match="no opt-in detector 'nothing'"):
        touchline.play(track, detectors=["nothing"])


def test_what_follow_leaves_out_is_a_warning(monkeypatch: pytest.MonkeyPatch):
    def topic(url, *, idle_s, notify):
        notify("events, partition 0, record 7 is left out: not JSON")
        yield from ()

    monkeypatch.setattr(kafka_follow, "follow", topic)
    with pytest.warns(UserWarning, match="record 7 is left out"):
        assert list(touchline.follow("kafka://b:9092/events")) == []

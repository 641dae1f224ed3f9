"""States damaged after a crash: the match goes on where it can, and says by name what it cannot use."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from app.cli.doctor import Finding, examine
from app.hub.server import Hub
from app.pipeline.folder import locked, open_match
from app.pipeline.seal import Maker, StateError
from app.pipeline.state_store import StateStore
from app.settings.resolve import make_settings
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, UpdateRecord
from replay.event_list import consolidated_events
from replay.match_store import read_commits, updates_log
from tests.app.cli.test_main import here, write_track
from tests.app.run.test_crash import kill_group, launch, wait_for


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00garbage\n" * 5)


SAME = ("--alpha", 0, "--retraction", "on-demand", "--no-dashboard", "--no-camera")


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A match in process that was killed after three commits, and the same match whole."""
    folder = tmp_path_factory.mktemp("interrupted")
    track, log = write_track(folder / "track.parquet", 12.0), folder / "run.log"
    match = ("app.cli.main", "live", "--source", track, "--channel", "harsh", *SAME, "--engine", "inprocess", "--store")
    run = launch(log, *match, folder / "store", "--speed", 4, "--window", 1)
    try:
        wait_for(lambda: len(list((folder / "store" / "commits").glob("*.json"))) >= 2, run, "two commits")
    finally:
        kill_group(run)
    whole = here(*match[1:], folder / "whole", "--speed", "max")
    assert whole.returncode == 0, whole.stderr
    return folder / "store", folder / "whole"


def go_on(store: Path) -> tuple[int, str]:
    """Exit code and words of a run that goes on in a store."""
    run = here("live", "--store", store, "--speed", "max", "--no-dashboard", "--no-camera")
    return run.returncode, " ".join(f"{run.stdout} {run.stderr}".split())


def states_of(store: Path) -> list[Path]:
    return sorted((store / "states").glob("*/*.state"), key=lambda path: int(path.name.partition(".")[0]))


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [cut, Path.unlink])
def test_a_match_with_a_damaged_newest_state_goes_back_one_batch(tmp_path: Path, interrupted, spoil):
    store = Path(shutil.copytree(interrupted[0], tmp_path / "store", symlinks=True))
    newest = max(c.meta.end_offset for c in read_commits(store))
    spoiled = next(path for path in states_of(store) if path.name.startswith(f"{newest}."))
    spoil(spoiled)
    code, message = go_on(store)
    assert code == 0, message
    assert "is done again from the state before it" in message
    assert str(newest) in message, "the state is named"
    assert consolidated_events(store).equals(consolidated_events(interrupted[1]))
    numbers = updates_log(store)["seq"].to_pylist()
    assert numbers == list(range(len(numbers)))


def test_a_match_without_a_usable_state_is_refused_and_the_way_out_works(tmp_path: Path, interrupted):
    store = Path(shutil.copytree(interrupted[0], tmp_path / "store", symlinks=True))
    states = states_of(store)
    for path in states:
        garbage(path)
    before = {path: path.read_bytes() for path in store.rglob("*.json")}
    code, message = go_on(store)
    assert code == 2
    assert all(str(path.name) in message for path in states[-2:]), message
    way_out = message.partition("touchline live ")[2].replace("ANOTHER-FOLDER", str(tmp_path / "again"))
    assert {path: path.read_bytes() for path in before} == before, "nothing was touched"
    again = here("live", *way_out.split(), *SAME, "--engine", "inprocess", "--speed", "max")
    assert again.returncode == 0, again.stderr
    assert consolidated_events(tmp_path / "again").equals(consolidated_events(interrupted[1]))


def seen_by_the_doctor(store: Path) -> dict[str, Finding]:
    flags = {"store": store, "port": 0, "metrics_port": 0}
    return {finding.what: finding for finding in examine(flags, {"HOME": str(Path.home())}, store.parent)}


def test_the_doctor_says_of_a_store_what_a_run_in_it_would_meet(tmp_path: Path, interrupted):
    store = Path(shutil.copytree(interrupted[0], tmp_path / "store", symlinks=True))
    files = sorted(path for path in store.rglob("*") if path.is_file())
    (match,) = (path.name for path in (store / "states").iterdir())
    last = max(read_commits(store), key=lambda commit: commit.batch)

    def message() -> tuple[str, str]:
        found = seen_by_the_doctor(store)["match in the store"]
        return found.verdict, found.found

    assert message() == ("ok", f"can be resumed at offset {last.meta.end_offset}")
    with locked(store):
        assert message() == ("bad", f"{store}: another run is using this folder; wait for it or choose another")
    newest, older = reversed(states_of(store)[-2:])
    kept = newest.read_bytes()
    states = StateStore(store / "states", match)
    states.write(last.meta.end_offset, states.claim_epoch(), b"x", Maker("of old"))
    assert message() == ("bad", f"its state at {last.meta.end_offset} was made by another version of the program")
    for path in states_of(store):
        if path not in (newest, older):
            path.unlink()
    newest.unlink()
    assert message()[0] == "note"
    assert "is done again from the state before it" in message()[1]
    older.unlink()
    assert message()[0] == "bad"
    assert "To play the match again from its beginning" in message()[1]
    newest.write_bytes(kept)
    assert {path for path in files if not path.exists()} == {older}, "it only looked"
    found = seen_by_the_doctor(Path(shutil.copytree(interrupted[1], tmp_path / "whole", symlinks=True)))
    assert found["match in the store"].found == "is over"


def test_a_state_of_another_program_is_kept_and_refused(tmp_path: Path, interrupted):
    store = Path(shutil.copytree(interrupted[0], tmp_path / "store", symlinks=True))
    (match,) = (path.name for path in (store / "states").iterdir())
    states = StateStore(store / "states", match)
    newest, epoch = max(c.meta.end_offset for c in read_commits(store)), states.claim_epoch()
    states.write(newest, epoch, b"of old", Maker("of old", ("hit",), ""))
    code, message = go_on(store)
    assert code == 2
    assert f"{newest}.{epoch}.state: was made by other detectors" in message
    assert "from its beginning" in message
    assert f"{newest}.{epoch}.state" in [path.name for path in states_of(store)], "the old program could still use it"
    with pytest.raises(StateError):
        states.read(newest, Maker("new"))


def test_a_match_that_is_over_is_final_when_it_is_opened_again(tmp_path: Path, interrupted):
    """Neither the page nor anybody else is shown its events as tentative, and no state is asked for."""
    store = Path(shutil.copytree(interrupted[1], tmp_path / "store", symlinks=True))
    for path in states_of(store):
        path.unlink()
    settings = make_settings({"store": store, "speed": "max", "dashboard": False})
    with open_match(settings, Console(quiet=True)) as match, Hub([match.input.sheet]) as hub:
        assert match.has_ended()
        name = match.input.sheet.match_id
        hub.seed(name, match.committed_updates(), ended=match.has_ended())
        feed = hub.feed(name)
        assert feed.ended()
        figures = feed.figures()
        assert sum(figures["events"].values()) == figures["lifecycle"]["confirmed"] > 0
        assert figures["lifecycle"]["tentative"] == 0
        assert not feed.events(), "what is final is not kept"
    code, message = go_on(store)
    assert code == 0, message
    assert consolidated_events(store).equals(consolidated_events(interrupted[1]))


def test_a_match_that_goes_on_is_final_as_far_as_it_was(interrupted):
    last = max(read_commits(interrupted[0]), key=lambda commit: commit.batch)
    with Hub([MatchSheet("m")]) as hub:
        event = EventRecord("e", "hit", "", 5, last.meta.frontier_us - 1, "home", "", None, None, None, 1.0)
        hub.seed("m", [([UpdateRecord(0, 1, 5, event)], last.meta)])
        assert hub.feed("m").frontier_us() == last.meta.frontier_us
        assert not hub.feed("m").ended()

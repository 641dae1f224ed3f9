"""States in files: what was changed, brought from elsewhere, or made by others is refused before it is unpickled."""

from __future__ import annotations

import errno
import os
import pickle
import stat
import threading
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hub.server import Hub
from app.pipeline import seal
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.pipeline.seal import KEY_VARIABLE, Maker, StateError, key_file, sealed
from app.pipeline.state_store import DamagedStateError, OtherStateError, StateStore
from detectors.parameters import Parameters, all_parameters
from football.match_sheet import MatchSheet
from middleware.engine import SnapshotError
from tests.app.fake_pipeline import FakePipeline
from tests.app.host_run import PIPELINE, FileCommitter, write_capture

MAKER = Maker("code", ("hit", "pass"), "parameters")
KEY = "ab" * 32


@pytest.fixture(autouse=True)
def own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def store(tmp_path: Path) -> StateStore:
    made = StateStore(tmp_path, "final")
    made.write(40, made.claim_epoch(), b"state" * 100, MAKER)
    return made


def file_of(store: StateStore, offset: int = 40) -> Path:
    return store._path(offset, 0)


def test_a_state_comes_back_to_who_made_it(store: StateStore):
    assert store.read(40, MAKER) == b"state" * 100
    store.check(40)


def test_every_changed_byte_and_every_cut_is_found(store: StateStore):
    whole = file_of(store).read_bytes()
    for place in range(0, len(whole), 7):
        file_of(store).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(StateError, match=r"final.*40\.0\.state"):
            store.read(40, MAKER)
    for length in range(0, len(whole), 13):
        file_of(store).write_bytes(whole[:length])
        with pytest.raises(DamagedStateError, match=r"40\.0\.state: damaged"):
            store.read(40, MAKER)
    file_of(store).write_bytes(whole + b"x")
    with pytest.raises(DamagedStateError, match="seal is broken"):
        store.check(40)


@given(st.binary(max_size=400))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    store = StateStore(tmp_path_factory.getbasetemp() / "any", "final")
    file_of(store).write_bytes(content)
    with pytest.raises(DamagedStateError, match=r"40\.0\.state"):
        store.read(40, MAKER)


class Bomb:
    """A pickle that leaves a trace when it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return (os.mkdir, (str(self.trace),))


def test_what_a_foreign_pickle_would_run_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pipeline = MatchPipeline(MatchSheet("final"))
    store, trace = StateStore(tmp_path / "states", "final"), tmp_path / "trace"
    bomb = pickle.dumps((Bomb(trace), None))
    file_of(store).write_bytes(bomb)
    with pytest.raises(StateError):
        pipeline.restore(store.read(40, pipeline.maker))
    monkeypatch.setenv(KEY_VARIABLE, "cd" * 32)  # somebody else's whole and well-sealed state
    store.write(40, store.claim_epoch(), bomb, pipeline.maker)
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with pytest.raises(OtherStateError, match="sealed with another key"):
        pipeline.restore(store.read(40, pipeline.maker))
    assert not trace.exists()
    monkeypatch.setenv(KEY_VARIABLE, "cd" * 32)
    with pytest.raises(SnapshotError):  # that the trace shows: with the right key it would have run
        pipeline.restore(store.read(40, pipeline.maker))
    assert trace.exists()


def test_a_renamed_state_is_refused(store: StateStore, tmp_path: Path):
    file_of(store).rename(file_of(store, 50))
    with pytest.raises(DamagedStateError, match="is the state of match final at 40"):
        store.read(50, MAKER)
    other = StateStore(tmp_path, "other")
    file_of(store, 50).rename(file_of(other))
    with pytest.raises(DamagedStateError, match="is the state of match final at 40"):
        other.read(40, MAKER)
    file_of(other).rename(other._path(40, 3))
    with pytest.raises(DamagedStateError, match="is the state of match final at 40, epoch 0"):
        other.check(40)


@pytest.mark.parametrize(
    ("mine", "difference"),
    [
        (Maker("other", MAKER.detectors, MAKER.parameters), r"another version of the program \(code, not other\)"),
        (Maker("code", ("hit",), "parameters"), "other detectors: this program is without pass"),
        (Maker("code", ("hit", "pass", "shot"), "parameters"), "this program is with shot besides"),
        (Maker("code", ("pass", "hit"), "parameters"), "wired in another order"),
        (Maker("code", MAKER.detectors, "others"), "made with other parameters"),
    ],
)
def test_what_somebody_else_made_is_refused_and_told_apart(store: StateStore, mine: Maker, difference: str):
    store.check(40)  # it is whole, after all
    with pytest.raises(OtherStateError, match=difference) as error:
        store.read(40, mine)
    assert "40.0.state" in str(error.value)
    assert "from its beginning into another --store" in str(error.value)


def test_a_state_of_another_layout_is_refused_by_its_number(store: StateStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.pipeline.state_store.VERSION", 3)
    store.write(60, store.newest_epoch(), b"new", MAKER)
    monkeypatch.undo()
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with pytest.raises(OtherStateError, match="is of version 3, this program reads version 2"):
        store.read(60, MAKER)


def test_a_state_from_before_states_were_sealed_is_refused(store: StateStore):
    file_of(store).write_bytes(pickle.dumps(({}, {})))
    with pytest.raises(DamagedStateError, match="from before states were sealed"):
        store.read(40, MAKER)


def test_the_maker_of_a_pipeline_changes_with_detectors_parameters_and_code(monkeypatch: pytest.MonkeyPatch):
    sheet = MatchSheet("final")
    maker = MatchPipeline(sheet).maker
    assert MatchPipeline(sheet).maker == maker
    more = MatchPipeline(sheet, PipelineOptions(extra=_asked())).maker
    assert set(more.detectors) > set(maker.detectors)
    assert more.code == maker.code
    patterns = {"two": "PATTERN SEQ(hit a, hit b) WITHIN 1 s"}
    assert MatchPipeline(sheet, PipelineOptions(patterns=patterns)).maker.parameters != maker.parameters
    monkeypatch.setattr(seal, "_CODE", ("middleware",))
    seal.code_fingerprint.cache_clear()
    assert MatchPipeline(sheet).maker.code != maker.code
    seal.code_fingerprint.cache_clear()
    assert len(list(all_parameters(Parameters()))) > 50
    assert seal.fingerprint((Parameters(), {})) == maker.parameters


def _asked() -> tuple[str, ...]:
    from detectors.catalogue import OPT_IN

    return tuple(OPT_IN)[:1]


class Looking(FileCommitter):
    """Looks at what states there are whenever a batch is committed; fails once, after the second was written."""

    def __init__(self, folder: Path, states: StateStore) -> None:
        super().__init__(folder)
        self.states, self.seen, self.fails = states, list[list[int]](), 1

    def commit(self, match, start, tables, meta) -> None:
        super().commit(match, start, tables, meta)
        self.seen.append(self.states.offsets())
        if start == 4_000_000 and self.fails:
            self.fails -= 1
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_state_is_deleted_only_when_the_batch_that_starts_from_it_is_committed(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("app.pipeline.disk_full._CHECK_S", 0.01)
    capture = write_capture(tmp_path / "capture")
    states = StateStore(tmp_path / "states", "fake/1")
    committer = Looking(tmp_path / "commits", states)
    config = InProcessConfig(PIPELINE, None, tmp_path / "states", 0.0, 4_000_000)
    with Hub([capture.sheet]) as hub:
        InProcessHost(capture, config, hub, committer).run(threading.Event())
    ends = [4_000_000, 8_000_000, 12_000_000, capture.end_us]
    assert committer.seen == [ends[:1], ends[:2], ends[:2], ends[:3], ends[1:]], "that of the start is always there"
    assert states.offsets() == ends[2:]


class Portions(FakePipeline):
    """Notes how many blocks it is given at a time."""

    sizes: ClassVar[list[int]] = []

    def push_together(self, blocks, complete_us=None):
        self.sizes.append(len(blocks))
        pushed = [self.push(payload, arrival_us, due_us) for arrival_us, due_us, payload in blocks]
        messages = [message for message in pushed if message is not None]
        updates = tuple(update for message in messages for update in message.updates)
        return msgspec.structs.replace(messages[0], updates=updates) if messages else None


@pytest.mark.parametrize(("adapts", "speed", "most"), [(True, 0.0, 200), (False, 0.0, 1), (True, 1e6, 1)])
def test_what_follows_the_load_takes_blocks_together_where_nobody_waits(
    tmp_path: Path, monkeypatch, adapts: bool, speed: float, most: int
):
    monkeypatch.setattr(Portions, "adapts", adapts)
    monkeypatch.setattr(Portions, "sizes", [])
    monkeypatch.setattr("app.pipeline.inprocess.load_pipeline", lambda name: Portions)
    capture = write_capture(tmp_path / "capture")
    config = InProcessConfig("", None, tmp_path / "states", speed, 4_000_000)
    with Hub([capture.sheet]) as hub:
        InProcessHost(capture, config, hub, FileCommitter(tmp_path / "commits")).run(threading.Event())
    assert sum(Portions.sizes) == len(capture)
    assert max(Portions.sizes) == most, "at most two seconds"


def test_the_key_is_made_once_and_nobody_else_can_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    first = seal.key_id()
    file = key_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    seal._stored_key.cache_clear()
    assert seal.key_id() == first
    assert list(file.parent.iterdir()) == [file]
    file.write_bytes(b"short")
    seal._stored_key.cache_clear()
    with pytest.raises(StateError, match="is damaged"):
        seal.key_id()
    seal._stored_key.cache_clear()


@pytest.mark.parametrize("given", ["xyz", "ab" * 8])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(monkeypatch: pytest.MonkeyPatch, given: str):
    monkeypatch.setenv(KEY_VARIABLE, given)
    with pytest.raises(StateError, match="at least 32 hexadecimal digits") as error:
        seal.key_id()
    assert given not in str(error.value)


def test_a_state_from_before_epochs_stood_in_names_is_refused_by_its_version(tmp_path):
    store = StateStore(tmp_path, "m")
    head = {"version": 1, "key": "k", "match": "m", "offset": 40, "maker": MAKER}
    (tmp_path / "m" / "40.state").write_bytes(b"".join(sealed(msgspec.json.encode(head), b"x")))
    with pytest.raises(StateError, match=r"40\.state: is of version 1, this program reads version 2"):
        store.check(40)


def test_a_stage_that_was_replaced_must_not_write(tmp_path):
    store = StateStore(tmp_path, "m")
    old, new = store.claim_epoch(), store.claim_epoch()
    with pytest.raises(StateError, match="was replaced"):
        store.write(5, old, b"x", MAKER)
    store.write(5, new, b"y", MAKER)
    assert store.read(5, MAKER) == b"y"


def test_old_states_and_abandoned_drafts_are_forgotten_and_newer_ones_kept(tmp_path):
    store = StateStore(tmp_path, "a/b c")
    epoch = store.claim_epoch()
    for offset_us in (-5, 10, 20):
        store.write(offset_us, epoch, b"x", MAKER)
    (tmp_path / "a%2Fb%20c" / "3.7.draft").touch()
    store.forget_before(10)
    assert store.offsets() == [10, 20]
    assert not [path for path in tmp_path.rglob("*.*") if path.suffix == ".draft"]

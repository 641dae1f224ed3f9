"""Settings, parameters, scenarios, what is kept of a run, and states."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from hypothesis import strategies as st

from app.kafka.address import KafkaError
from app.pipeline.seal import Maker, StateError
from app.pipeline.state_store import StateStore
from app.settings.layers import LayerError
from app.settings.model import SettingsError
from app.settings.parameters import ParametersError, as_toml, load_parameters
from app.settings.patterns import PatternFileError
from app.settings.resolve import make_settings, read_stored_settings, resolve_settings
from detectors.parameters import Parameters
from football.errors import CaptureError, TrackingError, UserError
from football.match_sheet import MatchSheet
from replay.formats.officials import OfficialError, OfficialLine, read
from replay.match_store import MatchStore, StoreError
from replay.official_feed import OfficialFeed, replayed
from simulator.scenario import parse_scenario
from simulator.settings import SimulatorError
from simulator.yaml_document import DocumentError
from tests.fuzz.cases import both, changed_text, fewer, hold, json_like, mangled, refusal

OPTIONS = (
    "source", "channel", "rate", "seed", "speed", "duration", "pitch", "alpha", "retraction", "engine", "detectors",
    "window", "publish", "port", "host",
)  # fmt: skip
WORDS = st.sampled_from(
    ["sim", "none", "full", "1", "max", "105x68", "auto", "0.5", "spark", "-1", "nan", "1e999", "kafka://a:1/t", "0x0"]
) | st.text(max_size=10)
REFUSALS = (
    SettingsError, ParametersError, LayerError, KafkaError, SimulatorError, CaptureError, StoreError, PatternFileError,
)  # fmt: skip


@both
def test_options(cases: int):
    def body(given: dict[str, str]) -> None:
        refusal(REFUSALS, lambda: make_settings(dict(given)))

    hold(cases, st.dictionaries(st.sampled_from(OPTIONS), WORDS, max_size=4), body)


@both
def test_a_settings_file_and_the_environment(cases: int, tmp_path: Path):
    good = b'source = "sim"\nwindow = 20\nport = 0\nalpha = "auto"\nhost = "127.0.0.1"\ncamera = false\n'

    def body(drawn: tuple[bytes, dict[str, str]]) -> None:
        (tmp_path / "touchline.toml").write_bytes(drawn[0])
        environ = {f"TOUCHLINE_{name.upper()}": value for name, value in drawn[1].items()}
        refusal(REFUSALS, lambda: resolve_settings({}, environ, tmp_path))

    hold(cases, st.tuples(mangled([good]), st.dictionaries(st.sampled_from(OPTIONS), WORDS, max_size=3)), body)


@both
def test_parameters(cases: int, tmp_path: Path):
    file = tmp_path / "numbers.toml"
    good = [as_toml(Parameters())[:2_000], as_toml(Parameters())]

    def body(text: str) -> None:
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        message = refusal(ParametersError, lambda: load_parameters(file))
        assert message is None or "numbers.toml" in message

    hold(fewer(cases), changed_text(good), body)


@both
def test_a_scenario(cases: int):
    folder = Path(__file__).resolve().parents[2] / "simulator" / "scenarios"
    good = [path.read_text() for path in sorted(folder.glob("*.yaml"))]
    assert good

    def body(text: str) -> None:
        message = refusal(DocumentError, lambda: parse_scenario(text, "mine.yaml"))
        assert message is None or "mine.yaml" in message

    hold(cases, changed_text(good), body)


@both
def test_what_a_store_keeps_of_its_run(cases: int, tmp_path: Path):
    settings = make_settings({"source": "sim"}).stored_options()
    MatchStore.create(tmp_path / "store", MatchSheet("final"), {"settings": settings})
    file = tmp_path / "store" / "run.json"

    def body(content: bytes) -> None:
        file.write_bytes(content)
        refusal(REFUSALS, lambda: make_settings({"store": str(tmp_path / "store")}))
        refusal(REFUSALS, lambda: read_stored_settings(tmp_path / "store"))

    names = [*settings, "settings", "store"]
    odd = json_like(names).map(lambda value: json.dumps({"store": 2, "settings": value}).encode())
    hold(fewer(cases), mangled([file.read_bytes()]) | odd, body)


@both
def test_a_state(cases: int, tmp_path: Path):
    store, maker = StateStore(tmp_path, "final"), Maker("code", ("hit",))
    store.write(40, store.claim_epoch(), b"state" * 20, maker)
    file = store._path(40, 0)
    whole = file.read_bytes()

    def body(content: bytes) -> None:
        file.write_bytes(content)
        message = refusal(StateError, lambda: store.read(40, maker))
        assert (message is None) == (content == whole)
        assert message is None or str(file) in message

    hold(cases, mangled([whole]), body)


LINES = [
    '{"kind": "card", "variant": "yellow", "team": "home", "player": "home_7", "at_s": 1834.2}',
    '{"kind": "goal", "team": "home", "player": "home_7", "said_s": 3, "number": 4, "source": "var"}',
    '{"kind": "void", "event": "goal.scored#1"}',
]
NAMES = ["kind", "variant", "team", "player", "other", "minutes", "event", "note", "at_s", "said_s", "source", "number"]


@both
def test_a_line_of_officials(cases: int):
    def body(text: str) -> None:
        with suppress(OfficialError):
            drawn = read(OfficialLine("official.jsonl", 1, text), MatchSheet("final"), 10_000_000)
            assert drawn.at_us <= 10_000_000

    hold(cases, changed_text(LINES) | json_like(NAMES).map(json.dumps), body)


@both
def test_files_of_officials_and_their_journal(cases: int, tmp_path: Path):
    blocks = [(us, b"\x01x") for us in range(0, 200_000, 40_000)]
    journal = '{"arrival_us":40001,"line":["official.jsonl",1,"x"]}\n{"arrival_us":200000,"line":null}\n'

    def body(drawn: tuple[bytes, bytes]) -> None:
        (tmp_path / "official.jsonl").write_bytes(drawn[0])
        (tmp_path / "official.journal").write_bytes(drawn[1])
        interleaved = list(OfficialFeed(tmp_path).interleaved(iter(blocks), 0, 200_000, lambda: False))
        assert [one for one in interleaved if one in blocks] == blocks
        again = list(replayed(tmp_path, iter(blocks), 0, 200_000))
        assert sorted(again) == sorted(interleaved), "played again, all is where it was"

    lines = mangled(["\n".join(LINES).encode()])
    hold(fewer(cases), st.tuples(lines, st.just(b"") | mangled([journal.encode()])), body)


def test_every_refusal_is_a_user_error():
    for kind in (*REFUSALS, StateError, DocumentError, OfficialError, TrackingError):
        assert issubclass(kind, UserError)

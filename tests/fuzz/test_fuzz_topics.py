"""Records of topics, addresses and the settings of clients."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import msgspec
from hypothesis import strategies as st

from app.kafka import records, updates
from app.kafka.address import KafkaError, connection, is_kafka, parse
from app.kafka.dead_letters import (
    DEAD_LETTER_MARK,
    DeadLetter,
    DeadLetterMark,
    decode_dead_letter,
    read_mark,
    write_mark,
)
from app.kafka.follow import View
from app.pipeline.framing import pack, pad, unpack
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.topic_records import RecordDecoder
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from football.update_stream import EventRecord
from replay import wire
from tests.fuzz.cases import both, changed_text, fewer, hold, json_like, mangled, refusal
from tests.fuzz.test_fuzz_wire import payloads

ADDRESS = parse("kafka://broker/positions")
EVENT = EventRecord("hit#1", "hit", "", 5, 7, "home", "home_7", 1.0, 2.0, None, 1.0, ("x",), {"limb": "head"})
SHEET = msgspec.json.encode(records.Sheet(MatchSheet("final"), 5_000, 7))
UPDATES = [msgspec.json.encode(updates.TopicUpdate("m", seq, diff, 5, EVENT, undo)) for seq in (0, 1) for diff, undo in
        ((1, False), (-1, False), (-1, True))]  # fmt: skip

headers = st.lists(
    st.tuples(
        st.sampled_from(["kind", "version", "x"]),
        st.sampled_from([b"sheet", b"end", b"block", b"1", b"update"]) | st.binary(max_size=6) | st.none(),
    ),
    max_size=3,
)
fields = json_like([*records.Sheet.__struct_fields__, *MatchSheet.__struct_fields__]).map(msgspec.json.encode)
values = st.none() | payloads | mangled([SHEET, b'{"arrival_us":9}']) | fields


@both
def test_any_record_is_read_or_refused_and_never_stops_a_reader(cases: int):
    taker = RecordDecoder("final", ADDRESS, 0)

    def body(drawn: tuple[bytes | None, list, bytes | None, int]) -> None:
        value, head, key, timestamp = drawn
        with suppress(records.RecordError):
            records.read(value, head)
        record = SimpleNamespace(value=value, headers=head, key=key, offset=3, timestamp=timestamp)
        if (block := taker.take(record)) is not None:
            assert list(unpack(pad(pack(*block)))) == [block]
            assert block[2]

    keys = st.none() | st.just(b"final") | st.binary(max_size=4)
    hold(cases, st.tuples(values, headers, keys, st.integers(-1, 2**48)), body)


NAMES = ["home_1", "home_1/left_foot", "ball", "", "/", "away_9", "referee_1", "x", "home_1 ", "tracking system"]
LIMBS = ["left_foot", "right_foot", "left_hand", "right_hand", "head", "", "/"]
odd_players = st.fixed_dictionaries(
    {"object_id": st.sampled_from(NAMES), "team": st.sampled_from(["home", "away", ""])},
    optional={"shirt": st.integers(-(2**63), 2**63 - 1), "goalkeeper": st.booleans(), "starts": st.booleans()},
)
odd_quality = st.fixed_dictionaries({}, optional={
    "ball_hz": st.sampled_from([1e-300, 0.1, 2e3, 4.9e5]), "body_hz": st.sampled_from([1e-300, 0.1, 200.0, 2e4]),
    "limbs": st.lists(st.sampled_from(LIMBS), max_size=4), "ball_height": st.booleans(), "framed": st.booleans(),
    "position_noise_m": st.sampled_from([-1.0, 0.0, 1e-300, 1e300]), "kind": st.sampled_from(["optical", "rtls"]),
    "ball_smoothing_s": st.sampled_from([-1.0, 0.0, 1e-300, 0.5, 1e300]),
})  # fmt: skip
odd_sheets = st.fixed_dictionaries({}, optional={
    "match_id": st.text(min_size=1, max_size=4), "players": st.lists(odd_players, max_size=5),
    "length_m": st.sampled_from([40.4, 130.0]), "width_m": st.sampled_from([40.4, 130.0]),
    "attacks_positive_x": st.sampled_from(["home", "away", ""]), "quality": odd_quality,
})  # fmt: skip


@both
def test_a_match_of_any_sheet_that_is_taken_can_be_played(cases: int):
    def body(drawn: dict) -> None:
        raw = msgspec.json.encode({"sheet": drawn, "slot_us": 5_000, "arrival_us": 7})
        try:
            sheet = records.read(raw, records.headers("sheet")).sheet
        except records.RecordError:
            return
        pipeline = MatchPipeline(sheet, PipelineOptions(alpha=0.0))
        bodies = [player.object_id for player in sheet.players]
        names = {"ball", *bodies, *(f"{one}/{limb}" for one in bodies for limb in sheet.quality.limbs)}
        for i in range(5):
            at_us, rest = i * 40_000, ((1.0,) * 2, (0.5,) * 2, (0.1,) * 2)
            block = Block(
                at_us + 9_000, tuple(Packet(name, i, (at_us, at_us + 4_000), *rest) for name in sorted(names))
            )
            pipeline.push(wire.encode(block), block.arrival_us)
        pipeline.take_tables()
        pipeline.inspect_detectors()
        MatchPipeline(sheet, PipelineOptions(alpha=0.0)).restore(pipeline.snapshot())
        pipeline.finish()

    hold(fewer(cases, 20), odd_sheets, body)


@both
def test_any_update_is_decoded_or_refused_and_a_view_never_holds_one_twice(cases: int):
    names = [*updates.TopicUpdate.__struct_fields__, *EventRecord.__struct_fields__]

    def body(raw: list[bytes | None]) -> None:
        view, total = View(), dict[str, int]()
        for value in raw:
            try:
                update = updates.decode(value)
            except ValueError:
                continue
            before = dict(view.events)
            with suppress(updates.GapError):
                view.take(update)
            withdrawn, new = before.keys() - view.events.keys(), view.events.keys() - before.keys()
            for name in withdrawn | new:
                total[name] = total.get(name, 0) + (1 if name in new else -1)
            assert set(total.values()) <= {0, 1}

    one = st.none() | mangled(UPDATES) | st.sampled_from(UPDATES) | json_like(names).map(msgspec.json.encode)
    hold(cases, st.lists(one, max_size=8), body)


@both
def test_any_text_is_an_address_or_an_error(cases: int):
    good = ["kafka://a:9093,b/positions?match=Cup+final&start=2026-11-21T15:00:00Z&settings=x", "kafka://[::1]:1/t"]

    def body(text: str) -> None:
        for url in (text, f"kafka://{text}"):
            if refusal(KafkaError, lambda url=url: parse(url)) is None:
                assert is_kafka(url)
                assert parse(parse(url).url) == parse(url)

    hold(cases, changed_text(good) | st.text(max_size=60), body)


@both
def test_any_settings_file_is_taken_or_refused_without_telling_it(cases: int, tmp_path: Path):
    file, address = tmp_path / "kafka.toml", parse(f"kafka://a:1/t?settings={tmp_path / 'kafka.toml'}")
    good = [
        'security_protocol = "SASL_SSL"\nsasl_plain_password = "hunter2"\n',
        'sasl_plain_password_env = "HOME"\nssl_password_file = "kafka.toml"\nrequest_timeout_ms = 5\n',
        'ssl_cafile = "kafka.toml"\nsasl_mechanism = ["PLAIN"]\nsasl_plain_password_file = {}\n',
    ]

    def body(content: bytes) -> None:
        file.write_bytes(content)
        assert "hunter2" not in (refusal(KafkaError, lambda: connection(address, {"HOME": "x"})) or "")

    hold(cases, mangled([text.encode() for text in good]), body)


@both
def test_any_letter_and_any_mark_of_a_relay_is_read_or_does_not_count(cases: int, tmp_path: Path):
    letter = DeadLetter(
        "block 7", "ball", 9, None, "position is not a number", "nan", match="final", seq=3, batch=2, number=1
    )
    mark = DeadLetterMark(0, 9, 3, 2, 1)
    write_mark(tmp_path, mark)
    assert read_mark(tmp_path) == mark
    assert decode_dead_letter(msgspec.json.encode(letter)) == letter

    def body(drawn: tuple[bytes | None, bytes]) -> None:
        value, content = drawn
        assert isinstance(decode_dead_letter(value), DeadLetter | None)
        (tmp_path / DEAD_LETTER_MARK).write_bytes(content)
        assert isinstance(read_mark(tmp_path), DeadLetterMark | None)

    names = [*DeadLetter.__struct_fields__, *DeadLetterMark.__struct_fields__]
    rubbish = json_like(names).map(msgspec.json.encode)
    values = st.none() | mangled([msgspec.json.encode(letter)]) | rubbish
    hold(cases, st.tuples(values, mangled([msgspec.json.encode(mark)]) | rubbish), body)

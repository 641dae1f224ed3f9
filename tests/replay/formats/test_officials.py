"""Lines of officials: what is said of bad ones, and that a line has one place in the stream, whoever dies when."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from football.match_sheet import MatchSheet, Player
from football.officials import Official
from replay.formats.officials import FILE, OfficialError, OfficialLine, decode, encode, is_official, read
from replay.official_feed import JOURNAL, OfficialFeed, replayed

SHEET = MatchSheet(players=(Player("home_7", "home"), Player("home_14", "home"), Player("away_4", "away")))


def line(text: str, number: int = 3, file: str = FILE) -> OfficialLine:
    return OfficialLine(file, number, text)


def card(**more: object) -> str:
    fields = {"kind": "card", "variant": "yellow", "team": "home", "player": "home_7", "at_s": 12.5}
    return json.dumps({**fields, **more})


def test_a_line_says_a_decision():
    assert read(line(card(note="late")), SHEET, 20_000_000) == Official(
        "operator", 3, "card", 12_500_000, "yellow", "home", "home_7", note="late"
    )
    assert read(line(card(source="var", number=9)), SHEET, 20_000_000).number == 9
    assert read(line(card(), file="/match/feed.jsonl"), SHEET, 20_000_000).source == "feed"
    assert read(line('{"kind": "stop"}'), SHEET, 777).at_us == 777


BAD = {
    "{": "not JSON",
    "[1]": "not a decision: Expected `object`",
    '{"kind": "card", "colour": "red"}': "unknown field `colour`",
    '{"kind": 3}': "Expected `str`",
    card(kind="weather"): "kind = 'weather' is none of card, foul",
    card(variant="green"): "variant = 'green' of a card: yellow, second yellow, red",
    card(variant=""): "a card needs variant",
    card(player=""): "a card needs player",
    card(team="ours"): "Invalid enum value 'ours'",
    card(player="home_77"): "player = 'home_77' is not on the match sheet",
    card(player="away_4"): "player = 'away_4' is not of team home",
    card(at_s=99.0): "at_s = 99 is later than the match has come to (20.000 s)",
    card(at_s=1e300): "at_s = 1e+300 is not a time",
    card(number=-1): "number = -1 is negative",
    '{"kind": "added_time"}': "a added_time needs minutes",
    '{"kind": "added_time", "minutes": 99}': "minutes = 99 is not in 0..60",
    '{"kind": "substitution", "team": "home", "player": "home_14"}': "needs other",
    '{"kind": "void", "event": "hit#ball:7"}': "cannot be taken back; these kinds can: official.card",
    card(note="x" * 5_000): "longer than 4000 characters",
}


@pytest.mark.parametrize("text", BAD)
def test_of_a_bad_line_is_said_what_is_wrong(text: str):
    with pytest.raises(OfficialError) as caught:
        read(line(text), SHEET, 20_000_000)
    assert BAD[text] in str(caught.value)


def test_a_sheet_without_players_knows_nobody_to_refuse_and_an_own_goal_is_the_others():
    assert read(line(card(player="anybody")), MatchSheet(), 20_000_000).player == "anybody"
    own = '{"kind": "goal", "variant": "own", "team": "home", "player": "away_4"}'
    assert read(line(own), SHEET, 1).player == "away_4"


def test_a_payload_is_told_from_a_block():
    payload = encode(line(card()))
    assert is_official(payload)
    assert decode(payload) == line(card())
    assert not is_official(b"\x01\x90")
    assert not is_official(b"")


# -- the desk

STEP_US, BLOCKS = 40_000, 100


def blocks(start_us: int = 0, end_us: int = BLOCKS * STEP_US) -> Iterator[tuple[int, bytes]]:
    yield from ((t, b"\x01") for t in range(0, BLOCKS * STEP_US, STEP_US) if start_us <= t < end_us)


def interleaved(folder: Path, start_us: int = 0, end_us: int = BLOCKS * STEP_US, *, files: tuple[Path, ...] = ()):
    return OfficialFeed(folder, files).interleaved(
        blocks(start_us, end_us), start_us, end_us, lambda: end_us < BLOCKS * STEP_US
    )


def lines_of(stream) -> list[tuple[int, int]]:
    return [(arrival_us, decode(payload).number) for arrival_us, payload in stream if is_official(payload)]


def write(path: Path, *texts: str) -> None:
    with path.open("a") as stream:
        stream.write("".join(f"{text}\n" for text in texts))


def test_lines_come_when_they_are_due_and_never_before(tmp_path: Path):
    announced = card(at_s=0.5)[:-1] + ', "said_s": 2.0}'
    write(tmp_path / FILE, card(at_s=1.0), announced, '{"kind": "stop"}', "", "{", card(at_s=1.0))
    found = lines_of(interleaved(tmp_path))
    assert found == [(1, 3), (1, 5), (1_000_001, 1), (1_000_001, 6), (2_000_001, 2)]


def test_what_is_not_due_by_the_end_is_given_then(tmp_path: Path):
    write(tmp_path / FILE, card(at_s=60.0))
    (tmp_path / FILE).open("a").write('{"kind": "stop"}')
    assert lines_of(interleaved(tmp_path)) == [(BLOCKS * STEP_US - 1, 1), (BLOCKS * STEP_US - 1, 2)]


def test_a_line_that_is_being_written_is_waited_for(tmp_path: Path):
    stream = interleaved(tmp_path)
    (tmp_path / FILE).write_text('{"kind": "st')
    assert [next(stream)[0] for _ in range(5)] == [0, 40_000, 80_000, 120_000, 160_000]
    with (tmp_path / FILE).open("a") as file:
        file.write('op"}\n')
    arrival_us, payload = next(stream)
    assert (arrival_us, decode(payload).text) == (160_001, '{"kind": "stop"}')


def test_two_files_are_read_and_lines_know_where_they_stood(tmp_path: Path):
    other = tmp_path / "feed.jsonl"
    write(tmp_path / FILE, '{"kind": "stop"}')
    write(other, '{"kind": "stop"}')
    found = [decode(p) for _, p in interleaved(tmp_path, files=(other, tmp_path / "not there.jsonl")) if is_official(p)]
    assert [(x.file, x.number) for x in found] == [(FILE, 1), (str(other), 1)]


def test_a_file_that_was_cut_short_and_written_anew_is_read_anew(tmp_path: Path):
    write(tmp_path / FILE, card(), card(at_s=0.1), card(at_s=0.2))
    first = interleaved(tmp_path, 0, 50 * STEP_US)
    assert [n for _, n in lines_of(first)] == [2, 3]
    (tmp_path / FILE).write_text(card(at_s=0.3) + "\n")
    assert lines_of(interleaved(tmp_path, 50 * STEP_US)) == [(50 * STEP_US + 1, 1)]


def test_a_torn_journal_is_mended(tmp_path: Path):
    write(tmp_path / FILE, '{"kind": "stop"}')
    assert lines_of(interleaved(tmp_path, 0, 50 * STEP_US)) == [(1, 1)]
    with (tmp_path / JOURNAL).open("ab") as journal:
        journal.write(b'{"arrival_us": 2000,"line":["\x80",1,"x"]}\n{"arrival_us": 2000')
    write(tmp_path / FILE, '{"kind": "resume"}')
    assert lines_of(interleaved(tmp_path, 50 * STEP_US)) == [(50 * STEP_US + 1, 2)]
    assert lines_of(replayed(tmp_path, blocks(), 0, BLOCKS * STEP_US)) == [(1, 1), (50 * STEP_US + 1, 2)]


def test_a_sealed_range_takes_in_nothing_more(tmp_path: Path):
    half_us = 50 * STEP_US
    before = list(interleaved(tmp_path, 0, half_us))
    write(tmp_path / FILE, '{"kind": "stop"}')
    assert list(interleaved(tmp_path, 0, half_us)) == before
    assert lines_of(interleaved(tmp_path, half_us)) == [(half_us + 1, 1)]


@pytest.mark.parametrize("seed", range(8))
def test_whoever_dies_when_the_stream_that_counts_is_one(tmp_path: Path, seed: int):
    """Readers die anywhere, closed ranges are read again, lines are written at any time: what the reader that closed
    a range saw is what every later one sees, and each line is there once."""
    chance = random.Random(seed)
    written = 0
    counted: list[tuple[int, bytes]] = []
    for start in range(0, BLOCKS, 20):
        start_us, end_us = start * STEP_US, (start + 20) * STEP_US
        closed: list[tuple[int, bytes]] | None = None
        for attempt in range(3):
            stream, seen = interleaved(tmp_path, start_us, end_us), []
            dies = chance.randrange(25) if attempt == 0 else 999
            item: tuple[int, bytes] | None = (0, b"")
            while len(seen) < dies and item is not None:
                if chance.random() < 0.1:
                    written += 1
                    write(tmp_path / FILE, json.dumps({"kind": "stop", "number": written}))
                if (item := next(stream, None)) is not None:
                    seen.append(item)
            stream.close()
            if item is None:
                assert closed in (None, seen)
                closed = seen
        assert closed is not None
        counted += closed
    last = sum(1 for _, p in counted if is_official(p))
    assert list(replayed(tmp_path, blocks(), 0, BLOCKS * STEP_US)) == counted
    numbers = sorted(json.loads(decode(p).text)["number"] for _, p in counted if is_official(p))
    assert numbers == list(range(1, last + 1))
    assert last > 0
    assert [t for t, _ in counted] == sorted(t for t, _ in counted)


@pytest.mark.parametrize(
    "payload", [b"\xf0", b"\xf0\x92\x07\x90", b"\xf0\x93\x01\x02\x03", b"\xf0\x93\xa1\xff\x01\xa0"]
)
def test_a_payload_that_only_begins_like_a_line_is_quarantined(payload: bytes):
    with pytest.raises(OfficialError, match="not a line of officials"):
        decode(payload)
    pipeline = MatchPipeline(MatchSheet(), PipelineOptions())
    pipeline.push(payload, 40_000)
    pipeline.finish()
    (row,) = pipeline.take_tables()["quarantine"].to_pylist()
    assert "not a line of officials" in row["reason"]

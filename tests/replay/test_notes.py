"""Notes of a match: kept as they are written, in their order; damaged files and impossible clips are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from football.house_time import HouseTime
from replay.notes import Clip, NoNoteError, NotesError, add_note, change_note, edit_list, read_notes, remove_note

S = 1_000_000


def test_notes_stay_in_their_order_through_changes(tmp_path: Path):
    assert read_notes(tmp_path) == []
    first = add_note(tmp_path, Clip(S, S, "one"), "anna", 1.0)
    second = add_note(tmp_path, Clip(2 * S, 5 * S, "two", "press"), "ben", 2.0)
    changed = change_note(tmp_path, first.id, Clip(S, S, "one more"), "ben", 3.0)
    assert read_notes(tmp_path) == [changed, second]
    remove_note(tmp_path, first.id)
    assert read_notes(tmp_path) == [second]
    assert [file.name for file in tmp_path.iterdir()] == ["notes.json"]
    with pytest.raises(NoNoteError):
        remove_note(tmp_path, first.id)


@pytest.mark.parametrize("values", [(2, 1), (0, 601 * S), (0, 0, "x" * 501), (0, 0, "\x1b[2J"), (0, 0, "", "x" * 81)])
def test_impossible_clips_are_refused(values: tuple[object, ...]):
    with pytest.raises(ValueError, match=r"clip|text"):
        Clip(*values)


@pytest.mark.parametrize("content", ["", "{}", '[{"id": "a"}]', '[{"id":"a","clip":{},"author":"","changed_s":0}]'])
def test_a_damaged_file_is_named_and_stays(tmp_path: Path, content: str):
    (tmp_path / "notes.json").write_text(content)
    with pytest.raises(NotesError, match=r"notes.json"):
        add_note(tmp_path, Clip(0, 0), "anna", 0.0)
    assert (tmp_path / "notes.json").read_text() == content


def test_the_number_of_notes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("replay.notes.NOTES_MAX", 1)
    add_note(tmp_path, Clip(0, 0), "anna", 0.0)
    with pytest.raises(NotesError, match="1 notes already"):
        add_note(tmp_path, Clip(0, 0), "anna", 0.0)


def test_an_edit_list_has_clips_one_after_the_other(tmp_path: Path):
    add_note(tmp_path, Clip(61 * S, 63 * S + 200_000, "goal"), "", 0.0)
    add_note(tmp_path, Clip(3_600 * S, 3_600 * S), "", 0.0)
    lines = edit_list(read_notes(tmp_path), "derby", HouseTime()).splitlines()
    assert lines[:3] == [
        "TITLE: derby", "FCM: NON-DROP FRAME",
        "001  AX       V     C        00:01:01:00 00:01:03:05 00:00:00:00 00:00:02:05",
    ]  # fmt: skip
    assert lines[3] == "* FROM CLIP NAME: goal"
    assert lines[4].endswith("01:00:00:00 01:00:01:00 00:00:02:05 00:00:03:05")


def test_an_edit_list_has_the_timecodes_of_the_house(tmp_path: Path):
    add_note(tmp_path, Clip(61 * S, 63 * S + 200_000, "goal"), "", 0.0)
    house = HouseTime(rate="29.97df", anchor_us=61 * S, anchor_code="20:59:59;29")
    lines = edit_list(read_notes(tmp_path), "derby", house).splitlines()
    assert lines[1:3] == [
        "FCM: DROP FRAME",
        "001  AX       V     C        20:59:59;29 21:00:02;04 00:00:00;00 00:00:02;05",
    ]

"""The framing table and the table of chances: what they say, and the errors of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from camera.chances import Chances, ChancesError, load_chances
from camera.framing import FramingError, load_framing
from football.errors import UserError
from football.update_stream import EventRecord

SITUATION = """
[[situation]]
name = "x"
kinds = ["out"]
subject = "place"
weight = 1.0
width_m = 30.0
hold_s = 1.0
decay_s = 1.0
"""


def test_the_table_has_the_situations_that_a_match_asks_for() -> None:
    names = {one.name for one in load_framing().situation}
    wanted = "corner,free kick,penalty,shot,counter,goal,celebration,restart,dead ball,substitution,duel"
    assert set(wanted.split(",")) <= names


def test_the_first_situation_that_names_kind_and_variant_applies() -> None:
    table = load_framing()
    assert [one.name for one in table.of("restart.corner")] == ["corner"]
    assert [one.name for one in table.of("restart.throw_in")] == ["restart"]
    assert [one.name for one in table.of("spot.ball", "corner")] == ["corner to come"]
    assert [one.name for one in table.of("spot.ball", "centre")] == ["restart to come"]
    assert table.of("shot.off") == ()


def test_a_pull_begins_holds_and_fades() -> None:
    celebration = next(one for one in load_framing().situation if one.name == "celebration")
    assert celebration.strength(celebration.after_s - 0.1) == 0.0
    assert celebration.strength(celebration.after_s + celebration.hold_s) == celebration.weight
    assert 0 < celebration.strength(celebration.lasts_s - 0.1) < celebration.weight
    assert celebration.strength(celebration.lasts_s) == 0.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[play]\nwidth_m = 1.0\n", r"play.width_m"),
        ("[play]\nwidth = 30.0\n", "play.width: there is no such field; width_m is one"),
        ("[play]\nwidth_m = 40.0\nwidest_m = 30.0\n", "play: widest_m: 30.0 is less than width_m"),
        (SITUATION.replace('"place"', '"nowhere"'), r"situation\[0\].subject|situation\[...\].subject"),
        (SITUATION.replace("weight = 1.0\n", ""), "`weight`"),
        (SITUATION.replace('["out"]', "[]"), "situation 'x': kinds: is empty"),
        (SITUATION.replace('["out"]', '["Out!"]'), "situation 'x': kinds: 'Out!' is no kind"),
        (SITUATION * 2, "situation 'x': name: stands twice"),
        ("[[play", "framing.toml"),
    ],
)
def test_a_wrong_table_is_refused_with_file_key_and_reason(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "framing.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FramingError, match=says) as caught:
        load_framing(file)
    assert str(file) in str(caught.value)
    assert isinstance(caught.value, UserError)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FramingError, match="cannot be read"):
        load_framing(tmp_path / "none.toml")
    with pytest.raises(ChancesError, match="cannot be read"):
        load_chances(tmp_path / "none.toml")


def _event(kind: str, confidence: float) -> EventRecord:
    return EventRecord("e", kind, "", 6, 0, "", "", None, None, None, confidence)


def test_the_chance_of_an_event_is_its_confidence_and_grows_while_it_survives() -> None:
    chances = Chances({"out": 200.0})
    grown = [chances.of(_event("out", 0.4), ms * 1000) for ms in (0, 100, 200, 400, 2000)]
    assert grown[0] == pytest.approx(0.4)
    assert grown == sorted(grown)
    assert grown[-1] > 0.99
    assert chances.of(_event("out", 1.0), 0) == 1.0
    assert chances.of(_event("out", 0.0), 10**9) == 0.0


def test_chances_grow_as_fast_as_their_kind_settles_else_their_word_else_any_other(tmp_path: Path) -> None:
    file = tmp_path / "chances.toml"
    file.write_text('other_ms = 1000\n[settles_ms]\n"pass.attempt" = 10\nrestart = 100\n')
    chances = load_chances(file)
    grown = [chances.of(_event(kind, 0.5), 50_000) for kind in ("pass.attempt", "restart.corner", "out")]
    assert grown == pytest.approx([0.993, 0.622, 0.512], abs=0.001)
    file.write_text("other_ms = -2.0\n")
    with pytest.raises(ChancesError, match=r"other_ms"):
        load_chances(file)

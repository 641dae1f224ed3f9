"""Tracking profiles: what ships is sound, every strength has a source, mistakes are reported with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.tracking.profile import read_profile, shipped_profiles, strengths_of
from simulator.yaml_document import DocumentError

GOOD = """\
name: Mine
sources: {me: my own study}
frames: {rate_hz: 10}
bodies:
  error_m: {range: [0.1, 0.2], source: me}
"""


@pytest.mark.parametrize("name", shipped_profiles())
def test_every_strength_of_a_shipped_profile_has_a_source(name: str) -> None:
    profile = read_profile(name)
    given = {path: s for path, s in strengths_of(profile).items() if s.range[0] != s.range[1] or s.source}
    assert len(given) >= 8
    assert not [path for path, strength in given.items() if not profile.sources[strength.source]]


def test_the_kinds_of_raggedness_are_all_there() -> None:
    assert shipped_profiles() == (
        "broadcast", "broadcast_guessed", "broadcast_replays", "optical", "optical_10hz", "optical_50hz", "optical_cut",
        "optical_flat", "optical_frozen", "optical_gaps", "optical_heights", "optical_held", "optical_hidden",
        "optical_in_play", "optical_keyed", "optical_keyed_holds", "optical_smoothed", "optical_swaps", "ragged",
    )  # fmt: skip
    profiles = {name: read_profile(name) for name in shipped_profiles()}
    assert {p.frames.rate_hz for p in profiles.values()} >= {10, 25, 50}
    assert {p.ball.height for p in profiles.values()} >= {"measured", "empty"}
    assert {p.ball.lost_as for p in profiles.values() if p.ball.lost} >= {"absent", "held"}
    assert {p.alive_flag is None for p in profiles.values()} == {True, False}
    assert {p.view.unseen for p in profiles.values() if p.view} == {"absent", "guessed"}
    for part in ("keys", "frozen", "teleports"):
        assert any(getattr(p.ball, part) for p in profiles.values()), part
    assert any(p.bodies.swaps for p in profiles.values())
    assert any(p.frames.gaps for p in profiles.values())
    assert {p.frames.dead for p in profiles.values()} == {"kept", "cut"}
    assert {p.frames.periods for p in profiles.values()} == {False, True}
    assert {p.ball.dead for p in profiles.values()} >= {"tracked", "absent"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (GOOD.replace("10}", "12}"), "line 3: frames.rate_hz: 12 is not"),
        (GOOD.replace("[0.1, 0.2]", "[0.2, 0.1]"), "line 5: .* from the least to the greatest"),
        (GOOD.replace("source: me", "source: you"), "line 1: sources lacks you"),
        (GOOD.replace("{me:", "{you: a, me:"), "line 1: sources has you, which no strength names"),
        (GOOD.replace("error_m", "errors"), "line 5: bodies.errors: no such field"),
        ("- 1\n", "line 1: a tracking profile is a mapping"),
    ],
)
def test_a_mistake_names_line_and_reason(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    assert read_profile(str(path)).name == "Mine"
    path.write_text(text)
    with pytest.raises(DocumentError, match=rf"mine\.yaml: {reason}"):
        read_profile(str(path))


def test_an_unknown_name_lists_the_profiles() -> None:
    with pytest.raises(DocumentError, match=r"none of the tracking profiles .* broadcast, "):
        read_profile("perfect")

"""The code speaks the words of docs/glossary.md: identifiers of a private dialect are refused."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("football", "middleware", "detectors", "simulator", "camera", "replay", "dashboard", "app", "bench", "tests")

#: Parameters of detectors: users write these names into settings files.
SETTINGS = {"came_m_s"}

# fmt: off
BANNED = frozenset((
    "told", "said", "came", "gone", "beside", "wish", "wishes", "wished", "letters", "newcomers", "rehearsal",
    "folding", "gathering", "astray", "lane", "roster", "fact", "facts", "crowd", "crowds", "reacher",
    "reachers", "kink", "kinks", "whose", "desk", "happening", "hearing", "speaks",
))
# fmt: on


#: A banned word in any place, in which most modules have none.
SUSPECT = re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(BANNED))})(?![^\W_])")


def dialect(text: str) -> Counter[str]:
    """Identifiers of a module that have a banned word among their parts; names of tests are sentences."""
    found: Counter[str] = Counter()
    if not SUSPECT.search(text.lower()):
        return found
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        parts = token.string.lower().replace("dead_letters", "").strip("_").split("_")
        if token.type != tokenize.NAME or token.string in SETTINGS:
            continue
        if parts[0] != "test" and BANNED.intersection(parts):
            found[token.string] += 1
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_identifiers_are_words_of_the_field(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): dict(words)
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (words := dialect(path.read_text(encoding="utf-8")))
    }
    assert not found, f"see docs/glossary.md: {found}"


def test_a_banned_word_is_found_in_any_part_of_an_identifier() -> None:
    assert dialect("now_told = len(roster)\nprint(told_us)") == {"now_told": 1, "roster": 1, "told_us": 1}
    assert not dialect("total = 1\nfactor = 2  # told")

"""Names of kinds and variants: every one that a detector emits has words, and they are words of the documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from detectors.catalogue import DETECTORS
from detectors.parameters import Parameters
from football.kind_names import KIND_NAMES, kind_name, variant_name
from football.match_sheet import MatchSheet, Quality
from middleware.detector import Spec

ROOT = Path(__file__).parents[2]
LIMBS = ("left_foot", "right_foot", "left_hand", "right_hand", "head", "chest", "hip")
QUALITIES = (Quality(framed=True), Quality(kind="rtls", limbs=LIMBS))
#: Words of names that no document needs.
FURTHER = {"accelerated", "compact", "lengthwise", "outplayed", "parries", "smothers", "spent", "sprinting", "sweeps"}


def specs() -> Iterator[Spec]:
    """The spec of each detector, with the kinds of either sort of input."""
    for entry in DETECTORS:
        for quality in QUALITIES:
            if entry.opt_in_name or entry.enabled_for(quality):
                yield entry.build(MatchSheet("m", quality=quality), Parameters()).spec


def prose() -> set[str]:
    """The words of the documents, without what stands in code."""
    words: set[str] = set()
    for page in ROOT.glob("docs/**/*.md"):
        text = re.sub(r"```.*?```|`[^`]*`", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        words.update(re.findall(r"[a-z']+", text.lower()))
    return words


def test_every_kind_that_a_detector_emits_has_a_name_of_its_own():
    emitted = {kind for spec in specs() for kind in spec.outputs}
    assert emitted - set(KIND_NAMES) == set()
    assert set(KIND_NAMES) - emitted == set(), "no detector emits it"
    assert len(set(KIND_NAMES.values())) == len(KIND_NAMES)


def test_names_are_made_of_words():
    known = prose() | FURTHER
    for kind, name in KIND_NAMES.items():
        assert re.fullmatch(r"[A-Z][A-Za-z' :,-]+", name), kind
        assert not [word for word in re.findall(r"[a-z']+", name.lower()) if word not in known], (kind, name)


def test_variants_have_no_code_in_them():
    for spec in specs():
        for named in (spec.variants, spec.team_variants):
            for kind, variants in named.items():
                for variant in variants:
                    words = variant_name(kind, variant)
                    assert not re.search(r"[_<>+]|(^|\s)-|[a-z]\d|\d[a-z]|[a-z]\.[a-z]", words), (kind, variant, words)
                    assert not re.fullmatch(r"\d+", words), (kind, variant)


def test_a_kind_of_the_users_own_is_named_by_its_words():
    assert kind_name("pattern.quick_corner") == "Pattern quick corner"

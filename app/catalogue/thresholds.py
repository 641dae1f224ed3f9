"""The page of thresholds: every parameter of the detectors, what it is, its range, and why it is that number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from app.base.program import with_version
from detectors.catalogue import DetectorInfo
from detectors.parameters import Parameters, parameters_of
from detectors.reasons import meanings_of, prose_of, reasons_of

_PREFACE = """# Thresholds

Made by `touchline detectors --thresholds --out docs/thresholds.md` from the parameter classes of `detectors/`; do not
edit. A group is a section of a settings file (`touchline detectors --toml` writes one), and each name ends in its unit.

With *limbs*, each foot and hand of a player has its own radio tag. A *centroid* is the one position a player that other
tracking has. The reasons use these short forms:

| a reason says | the number |
|---|---|
| ours | is a design number of this project |
| hierarchy 4.7 | was set in the first plan of row 4.7 of the [hierarchy](hierarchy.md), from the row's sources |
| as `x.y_us`, or as 5.3 | is that of another parameter or detector |
| generated matches, seeds 11 to 30 | was chosen on matches of the [simulator](simulator.md) |
| Portugal-Switzerland 2019, Opta/TRACAB clip | was chosen on a [real match](benchmarks.md#real-matches) |
| 000 to 004 | is from a paper of the [glossary](glossary.md) |
| DEBS 2013 Q1 to Q4 | is from the four queries of the DEBS 2013 Grand Challenge, on tags in a real football match |
| StreamTeam, databallpy, SPADL, kloppy | is from an open library or definition for football data |
"""

_HEAD = ("| parameter | value | unit | range | what it is | why it is this number |", "|---|---|---|---|---|---|")


def thresholds(entries: Sequence[DetectorInfo], parameters: Parameters) -> str:
    """Write the page as Markdown: a section a group of parameters that a detector uses."""
    used: dict[str, list[str]] = {}
    for entry in entries:
        for group in groups_of(entry):
            used.setdefault(group, []).append(entry.kind)
    parts = [_PREFACE]
    for name in Parameters.__struct_fields__:
        if name in used:
            group = getattr(parameters, name)
            prose = _inline(prose_of(type(group)))
            users = f"Used by {', '.join(used[name])}.\n"
            parts += [f"## {name}\n", users, f"{prose}\n", *_HEAD, *_rows(group, name), ""]
    return with_version("\n".join(parts))


def groups_of(entry: DetectorInfo) -> list[str]:
    """Names of the groups of a detector's parameters."""
    return list(dict.fromkeys(p.path.partition(".")[0] for p in entry.parameters))


def _rows(group: msgspec.Struct, path: str) -> Iterator[str]:
    """A row a parameter of a group; those of the groups within it under their own path."""
    meanings, reasons = meanings_of(type(group)), reasons_of(type(group))
    for field in group.__struct_fields__:
        value = getattr(group, field)
        if isinstance(value, msgspec.Struct):
            yield from _rows(value, f"{path}.{field}")
            continue
        (p,) = (p for p in parameters_of(group, path) if p.path == f"{path}.{field}")
        texts = (_inline(texts.get(field, "")).replace("|", "\\|") for texts in (meanings, reasons))
        yield f"| `{p.path}` | {p.value} | {p.unit.text} | {p.unit.span} | {' | '.join(texts)} |"


def _inline(text: str) -> str:
    return " ".join(text.replace("``", "`").split()) if "\n\n" not in text else text.replace("``", "`")

"""Patterns of a run: read from files when it begins, and kept as texts in the store for a run that resumes it.

The file format is that of docs/patterns.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from app.base.program import PROGRAM
from app.settings.model import PATTERN_SUFFIX
from detectors.patterns.detector import PatternDetector
from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.returns import Returns
from detectors.patterns.syntax import PatternError, Query, steps_of
from football.errors import UserError
from football.kind_names import KIND_NAMES
from football.untrusted import UntrustedError, is_name, read_text

#: The folder of the shipped patterns; ``football`` names it where there is no such file, and ``football/NAME`` one.
SHIPPED = PROGRAM / "patterns"
SHIPPED_NAME = "football"

#: The folder of the shipped alerts, which each match has unless its settings say otherwise.
ALERTS = SHIPPED / "alerts"

#: Largest number of patterns of a match.
PATTERNS_MAX = 200


class PatternFileError(UserError, ValueError):
    """A pattern that cannot be used; the message names the file, and line and column if it has them."""


def read_pattern(file: Path) -> Query:
    """Read and compile the pattern of a file.

    Raises:
        PatternFileError: it cannot be read, or means nothing.
    """
    file = _placed(file)
    return _compiled(_text(file), str(file))


def load_patterns(files: Iterable[Path]) -> dict[str, str]:
    """The texts of patterns for a match, by name.

    A folder stands for its ``*.touchline``, the name ``football`` for the shipped ones. A pattern without a name has
    that of its file.

    Raises:
        PatternFileError: a pattern cannot be a detector, two have one name, or a folder has none.
    """
    texts: dict[str, str] = {}
    origin: dict[str, Path] = {}
    for file in (one for given in files for one in _files(given)):
        text = _text(file)
        name = _compiled(text, str(file)).name or file.stem
        if name in texts:
            raise PatternFileError(f"{file}: {origin[name]} has a pattern {name}, too")
        _check_detector(name, text, str(file))
        texts[name], origin[name] = text, file
    _check_number(len(texts), ", ".join(map(str, files)))
    return texts


def check_patterns(texts: Any, where: str) -> dict[str, str]:
    """The patterns that a store has, checked as if they were files.

    Raises:
        PatternFileError: they are no texts by name, or one cannot be a detector of this program.
    """
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise PatternFileError(f"{where}: damaged: patterns are texts by name")
    _check_number(len(texts), where)
    for name, text in texts.items():
        _check_detector(name, text, f"{where}: pattern {name}")
    return texts


def _placed(given: Path) -> Path:
    """The path of a file or folder; of shipped patterns where they lie."""
    if given.exists():
        return given
    if given.name == SHIPPED_NAME:
        return SHIPPED
    return (SHIPPED / given.name).with_suffix(PATTERN_SUFFIX) if given.parent.name == SHIPPED_NAME else given


def _files(given: Path) -> list[Path]:
    given = _placed(given)
    if not given.is_dir():
        return [given]
    if not (found := sorted(given.glob(f"*{PATTERN_SUFFIX}"))):
        raise PatternFileError(f"{given}: the folder has no file *{PATTERN_SUFFIX}")
    return found


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except FileNotFoundError:
        raise PatternFileError(f"{file}: no such file") from None
    except (OSError, UntrustedError) as error:
        raise PatternFileError(f"{file}: {error}") from error


def _compiled(text: str, where: str) -> Query:
    try:
        query = parse(text)
        Matcher([query])
        Returns(query)
    except PatternError as error:
        raise PatternFileError(f"{where}: {error}") from error
    return query


def _check_detector(name: str, text: str, where: str) -> None:
    """Refuse what no match can play: a bad name, a form that is no detector's, kinds that nobody emits."""
    if not is_name(name):
        raise PatternFileError(f"{where}: {name[:40]!r} is no name; write PATTERN name = SEQ(...)")
    try:
        detector = PatternDetector.of_text(name, text)
    except PatternError as error:
        raise PatternFileError(f"{where}: {error}") from error
    for step in steps_of(detector.query.structure):
        if not any(step.takes(kind) for kind in KIND_NAMES):
            near = get_close_matches(step.kind, sorted(KIND_NAMES), 1)
            mend = f"did you mean {near[0]}?" if near else "`touchline detectors` lists all kinds"
            raise PatternFileError(f"{where}: no detector emits {step.kind}; {mend}")


def _check_number(number: int, where: str) -> None:
    if number > PATTERNS_MAX:
        raise PatternFileError(f"{where}: {number} patterns; a match takes up to {PATTERNS_MAX}")

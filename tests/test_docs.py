"""The pages name what exists: links, paths, modules, anchors; decisions are numbered; generated pages are current."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from app.cli.docs import generated
from football.match_sheet import MatchSheet
from football.tables import POSITIONS
from football.update_stream import EventRecord, UpdateRecord
from replay.match_store import MatchStore, updates_table

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
#: The record of past measurements has the words and file names of its time.
CURRENT = [page for page in PAGES if page != ROOT / "docs" / "benchmarks" / "history.md"]

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
TICKS = re.compile(r"`([^`\n]+)`")
PACKAGES = (
    "app",
    "bench",
    "camera",
    "dashboard",
    "detectors",
    "football",
    "middleware",
    "replay",
    "simulator",
    "tests",
)
FILE = re.compile(rf"(?:{'|'.join((*PACKAGES, 'docs'))})/[\w./-]*")
MODULE = re.compile(rf"(?:python -m )?((?:{'|'.join(PACKAGES)})(?:\.\w+)+)(?:\(.*\))?(?: .*)?")
#: Names of Spark, and a pattern of environment variables.
FOREIGN = {"BatchIterator", "TOUCHLINE_NAME"}
#: A class, an attribute of one, a constant, or a name of several words; not a metric, which has a prefix.
MEMBER = re.compile(
    r"(?:[a-z]+(?:_[a-z]+)+(?<!_total)(?<!_seconds)(?<!_bytes)|[A-Z][a-z]+[A-Z]\w*|[A-Z][a-z]+\.[a-z]\w+|[A-Z]+_[A-Z_]+)(?:\.\w+)*(?=\(|$)"
)

#: Words of a private dialect.
DIALECT = re.compile(
    r"\b(?:told|(?<!--)newcomers?|rehears\w+|gathering|astray|rosters?|gone on with|whoever|fast lane|kinks?|crowds?"
    r"|desk)\b",
    flags=re.I,
)


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes from the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}


def is_importable(dotted: str) -> bool:
    """True if ``dotted`` is a module, or an attribute (of an attribute) of one."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        try:
            if find_spec(name) is None:
                continue
        except ModuleNotFoundError:
            continue
        target: object = __import__(name, fromlist=["_"])
        for attribute in parts[length:]:
            if not hasattr(target, attribute):
                return False
            target = getattr(target, attribute)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = [text for text in TICKS.findall(prose(page)) if FILE.fullmatch(text)]
    assert not [name for name in named if not (ROOT / name.removesuffix(":")).exists()]


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_that_a_page_names_can_be_imported(page: Path) -> None:
    named = {match[1] for text in TICKS.findall(prose(page)) if (match := MODULE.fullmatch(text))}
    suffixes = (".py", ".md", ".toml", ".json", ".sql", ".parquet")
    assert not [name for name in sorted(named) if not name.endswith(suffixes) and not is_importable(name)]


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_use_the_words_of_the_glossary(page: Path) -> None:
    assert not sorted(set(DIALECT.findall(prose(page))))


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_page_says_for_which_version_it_is(page: Path) -> None:
    """Decisions are dated by their number, and hold until another one replaces them."""
    if page.parent.name != "decisions":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        release = ".".join(project["version"].split(".")[:2])
        assert f"\nFor Touchline {release}." in "\n".join(page.read_text(encoding="utf-8").splitlines()[:4])


def sources() -> list[str]:
    """Every module and data file of the product and its benches."""
    suffixes = ("*.py", "*.toml", "*.yaml", "*.sql")
    files = [file for package in PACKAGES for suffix in suffixes for file in (ROOT / package).rglob(suffix)]
    return [file.read_text(encoding="utf-8") for file in files]


def test_every_identifier_that_a_page_names_exists() -> None:
    texts = sources()
    known = set(re.findall(r"\w+", " ".join(texts)))
    members: dict[str, set[str]] = {}
    for text in texts:
        for name in re.findall(r"^class (\w+)", text, flags=re.M):
            members.setdefault(name, set()).update(re.findall(r"\w+", text))
    missing = {}
    for page in CURRENT:
        named = {match[0] for text in TICKS.findall(prose(page)) if (match := MEMBER.match(text))} - FOREIGN
        parts = {name: name.split(".") for name in named}
        if unknown := {
            name for name, (first, *rest) in parts.items() if not members.get(first, known).issuperset(rest)
        }:
            missing[page.name] = unknown
        if unknown := {name for name, (first, *_) in parts.items() if first not in known}:
            missing[page.name] = unknown
    assert not missing


def test_decisions_are_numbered_without_gaps_and_listed_by_their_titles() -> None:
    numbers = [page.name[:3] for page in DECISIONS]
    assert numbers == [f"{number:03d}" for number in range(1, len(DECISIONS) + 1)]
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for page in DECISIONS:
        title = page.read_text(encoding="utf-8").partition("\n")[0]
        assert title.startswith(f"# {page.name[:3]} "), page.name
        assert f"[{title[6:]}]({page.name})" in index


def test_what_is_made_from_the_code_is_current() -> None:
    stale = [name for name, text in generated().items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != text]
    assert not stale, "make them again: python -m app.cli.docs"


def section_of(page: Path, anchor: str) -> str:
    """The text of a page from the heading of an anchor to the next heading."""
    parts = re.split(r"^(?=#+ )", page.read_text(encoding="utf-8"), flags=re.M)
    return next(
        part for part in parts if part and re.sub(r"[^a-z]+", "-", part.splitlines()[0].lower()).strip("-") == anchor
    )


def test_the_figures_of_the_readme_stand_where_it_links() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## How good it is")[2].partition("\n## ")[0]
    figures = re.findall(r"\[([^\]]+)\]\(docs/benchmarks\.md#([a-z-]+)\)", table)
    assert len(figures) >= 6
    for text, anchor in figures:
        measured = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", section_of(
            ROOT / "docs" / "benchmarks.md", anchor))]  # fmt: skip
        for number in re.findall(r"(?<![a-z])\d[\d,]*(?:\.\d+)?", text):
            plain = number.rstrip(",").replace(",", "")
            decimals = len(plain.partition(".")[2])
            assert any(round(m, decimals) == float(plain) for m in measured), f"{number} is not in #{anchor}"


def small_store(folder: Path) -> None:
    """A match store of one pass and one position."""
    updates = []
    for seq, kind in enumerate(("pass.attempt", "pass.complete")):
        event = EventRecord(f"{kind}#1", kind, "", 7, 1_000, "home", "home_7", 1.5, -2.0, None, 0.9, ("hit#1",), {})
        updates.append(UpdateRecord(seq, 1, 2_000, event))
    position = dict.fromkeys(POSITIONS.names, 0) | {"object_id": "home_7", "team": "home"}
    tables = {"updates": updates_table(updates, 0), "positions": pa.Table.from_pylist([position], POSITIONS)}
    MatchStore.create(folder, MatchSheet("m1", "Reds", "Blues"), {}).commit(0, tables, {"frontier_us": 2_000})


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    small_store(tmp_path / "matches" / "demo")
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.S)
    exec(compile(example, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "home" in shown
    assert "pass.complete" in shown

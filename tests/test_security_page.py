"""The security page against the tests: each test that it names exists, and each promise of the threat model has one."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_house import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def names_of_tests() -> set[str]:
    """Names of all test functions."""
    files = (ROOT / "tests").rglob("test_*.py")
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_the_page_names_exists():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 50
    assert not named - names_of_tests()
    files = re.findall(r"`(tests/[\w/]+\.py)`", PAGE)
    assert not [file for file in files if not (ROOT / file).is_file()]


def test_every_promise_of_the_threat_model_has_a_test_and_every_sentence_its_promises():
    model = PAGE.partition("### Threat model")[2].partition("### ")[0]
    promises = dict(re.findall(r"^\| ([A-Z]\d) \| (.*) \|$", model, flags=re.MULTILINE))
    assert all(re.search(r"`test_\w+`", text) for text in promises.values())
    used: set[str] = set()
    for row in re.findall(r"^\| (?![A-Z]\d \|)([^|]*\|[^|]*\|[^|]*\|.*) \|$", model, flags=re.MULTILINE):
        for first, last in re.findall(r"\b([A-Z]\d)\b(?: to ([A-Z]\d)\b)?", row):
            numbers = range(int(first[1]), int((last or first)[1]) + 1)
            used |= {f"{first[0]}{number}" for number in numbers}
    assert used == set(promises)


@pytest.mark.parametrize("heading", ["What a run creates", "Page and hub", "Untrusted input"])
def test_every_row_of_a_table_of_promises_names_its_test(heading: str):
    section = re.search(rf"^###? {heading}$(.*?)^##", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    rows = [line for line in section[1].splitlines() if line.startswith("| ")][1:]
    assert rows
    assert not [row for row in rows if not re.search(r"`test_\w+`|`tests/[\w/]+\.py`|\| the same", row)]

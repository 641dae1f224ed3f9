"""The analyst's questions of docs/history.md: five lines each, in pandas and SQL, with the same answer."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import touchline
from app.history.engines import ask_duckdb
from app.history.layout import open_archive
from tests.app.recordings import optical_table, record
from tests.app.tables.small_match import small_store

PAGE = Path(__file__).resolve().parents[3] / "docs" / "history.md"
BLOCK = re.compile(r"\*\*([\w ]+)\*\*[^\n]*\n(?:[^`\n][^\n]*\n)?\n```python\n(.*?)```\n\n```sql\n(.*?)```", flags=re.S)
SECTION = PAGE.read_text(encoding="utf-8").partition("### Five lines each")[2].partition("### Examples")[0]
QUESTIONS = {name: (python, sql) for name, python, sql in BLOCK.findall(SECTION)}


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> list[Path]:
    """A match by hand, which has everything, and a played one."""
    folder = tmp_path_factory.mktemp("five")
    played = record(optical_table(folder / "track.parquet", 3, 60.0), folder / "played")
    return [small_store(folder / "small"), played]


def test_all_six_questions_are_there():
    assert list(QUESTIONS) == ["Possession", "Pass network", "PPDA", "xG race", "Sprints", "Heat map"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_pandas_and_sql_answer_a_question_alike(name: str, stores: list[Path]):
    python, sql = QUESTIONS[name]
    assert len(python.splitlines()) <= 5
    assert len(sql.splitlines()) <= 5
    rows = 0
    for store in stores:
        names = {"match": touchline.Match(store)}
        exec(python, names)  # the page is ours
        one, other = names["answer"], ask_duckdb(open_archive([store]))(sql).to_pandas()
        assert list(one.columns) == list(other.columns)
        ordered = ("period", "ts_us", "column_m", "row_m")
        keys = [column for column in one.columns if one[column].dtype == object or column in ordered]
        one, other = (table.sort_values(keys).reset_index(drop=True) for table in (one, other))
        assert len(one) == len(other)
        for column in one.columns:
            if one[column].dtype == object:
                assert list(one[column]) == list(other[column])
            else:
                np.testing.assert_allclose(one[column].astype(float), other[column].astype(float), rtol=1e-6)
        rows += len(one)
    assert rows, "a question without an answer compares nothing"
    assert isinstance(one, pd.DataFrame)

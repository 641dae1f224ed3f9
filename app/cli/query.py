"""``touchline query``: SQL over many match stores, through DuckDB or Spark."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import typer

from app.base.program import PROGRAM
from app.cli.options import Format, Given, Out
from app.cli.output import check_format, write_table
from app.history.engines import ask_duckdb, ask_spark
from app.history.layout import Archive, HistoryError, open_archive

app = typer.Typer(add_completion=False)

#: Queries of the package, a file each; the comment at its head says what it answers.
QUERIES = PROGRAM / "app" / "history" / "queries"

ENGINES = ("duckdb", "spark")


@app.command()
def query(
    folders: Annotated[
        list[str], typer.Argument(metavar="FOLDER...", help="Match stores, or folders of match stores.")
    ],
    sql: Annotated[
        str | None,
        Given(
            "--sql",
            help="A query over matches, players, events, updates, positions, attacks, changes, analyst's tables.",
        ),
    ] = None,
    example: Annotated[
        str | None, Given(help="Name of a query of the package; `list` shows all names and what they answer.")
    ] = None,
    engine: Annotated[str, Given(help="duckdb or spark; they answer the same.")] = "duckdb",
    form: Format = "csv",
    out: Out = None,
) -> None:
    """Asks many matches at once, in SQL; docs/history.md describes the tables.

    Examples:
        touchline query matches/ --example list
        touchline query matches/ --example ppda --format parquet --out ppda.parquet
        touchline query matches/ --sql "SELECT match, count(*) FROM events WHERE kind = 'goal.scored' GROUP BY match"
    """
    if example == "list":
        for name, text in examples().items():
            print(f"{name:12s} {_first_line(text)}")
        return
    text = _chosen(sql, example)
    if engine not in ENGINES:
        raise HistoryError(f"--engine {engine}: must be one of {', '.join(ENGINES)}")
    check_format(form, out)
    archive = open_archive(folders)
    answer = ask_duckdb(archive)(text) if engine == "duckdb" else _by_spark(archive, text)
    write_table(answer, form, out, _write)


def examples() -> dict[str, str]:
    """The queries of the package, by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(QUERIES.glob("*.sql"))}


def _chosen(sql: str | None, example: str | None) -> str:
    if (sql is None) == (example is None):
        raise HistoryError("give a query with --sql, or the name of one with --example")
    if sql is not None:
        return sql
    known = examples()
    if example not in known:
        raise HistoryError(f"--example {example}: there are {', '.join(known)}")
    return known[example]


def _first_line(text: str) -> str:
    lines = (line.removeprefix("--").strip() for line in text.splitlines() if line.startswith("--"))
    return next(lines, "")


def _by_spark(archive: Archive, text: str) -> pa.Table:
    from app.base.java import find_java
    from app.spark.session import start_session, stop_session

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(find_java(os.environ), Path(folder) / "spark.log", os.cpu_count() or 1)
        try:
            return ask_spark(archive, session)(text)
        finally:
            stop_session(session)


def _write(answer: pa.Table, form: str, out: BinaryIO) -> None:
    if form == "parquet":
        pq.write_table(answer, out)
    elif form == "json":
        for batch in answer.to_batches(max_chunksize=10_000):
            for row in batch.to_pylist():
                out.write(msgspec.json.encode(row) + b"\n")
    else:
        pc.write_csv(_flat(answer), out, pc.WriteOptions(quoting_style="needed"))


def _flat(answer: pa.Table) -> pa.Table:
    """Lists as text, with blanks between: CSV has none."""
    for i, field in enumerate(answer.schema):
        if pa.types.is_list(field.type):
            texts = [None if row is None else " ".join(map(str, row)) for row in answer[i].to_pylist()]
            answer = answer.set_column(i, field.name, pa.array(texts, pa.string()))
    return answer

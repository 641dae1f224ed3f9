"""The two engines that answer questions to an archive: DuckDB in this process, and Spark SQL.

Both get the same tables and views (``app.history.views``), and the functions ``get_json_object`` (Spark's own; DuckDB's
is a macro), so that one query runs on both. The analyst's tables (``app.tables``) are built when a query first names
them. An archive that grows is asked anew by opening it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from app.history.layout import Archive, HistoryError, analyst_tables
from app.history.views import VIEWS
from football.tables import POSITIONS, UPDATES
from replay.scoring.changes import CHANGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Answers a query with a table.
Ask = Callable[[str], pa.Table]

_SCHEMAS = {"updates": UPDATES, "positions": POSITIONS, "changes": CHANGES}


def ask_duckdb(archive: Archive) -> Ask:
    """DuckDB over an archive.

    Raises:
        HistoryError: by the answer: the query is wrong.
    """
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    connection.execute("CREATE MACRO get_json_object(text, path) AS json_extract_string(text, path)")
    for name in ("matches", "players", "files"):
        connection.register(name, getattr(archive, name))
    for name, parts in archive.parts.items():
        if parts:
            listed = ", ".join("'" + part.replace("'", "''") + "'" for part in parts)
            read = f"read_parquet([{listed}], filename = true, union_by_name = true)"
            known = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {read}").fetchall()]
            chosen = [column for column in _SCHEMAS[name].names if column != "match"]
            columns = ", ".join(f"p.{one}" if one in known else f"NULL::BIGINT AS {one}" for one in chosen)
            rows = f"SELECT f.match, {columns} FROM {read} p "
            connection.execute(f"CREATE VIEW {name} AS {rows} JOIN files f ON f.path = p.filename")
        else:
            connection.register(name, _empty(name))
    for name, text in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {text}")

    built: set[str] = set()

    def ask(query: str) -> pa.Table:
        for name, table in analyst_tables(archive, query, built).items():
            connection.register(name, table)
        try:
            answer = connection.sql(query)
            return answer.to_arrow_table() if answer is not None else pa.table({})
        except duckdb.Error as error:
            raise HistoryError(f"DuckDB: {str(error).strip().splitlines()[0]}") from error

    return ask


def ask_spark(archive: Archive, session: SparkSession) -> Ask:
    """Spark SQL over an archive; the views are computed once in the session and cached.

    Raises:
        HistoryError: by the answer: the query is wrong.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import functions

    session.conf.set("spark.sql.shuffle.partitions", str(2 * session.sparkContext.defaultParallelism))
    for name in ("matches", "players", "files"):
        session.createDataFrame(getattr(archive, name)).createOrReplaceTempView(name)
    for name, parts in archive.parts.items():
        if not parts:
            session.createDataFrame(_empty(name)).createOrReplaceTempView(name)
            continue
        # The path is a URI in which a plus sign stands for itself.
        uri = functions.expr("url_decode(replace(_metadata.file_path, '+', '%2B'))")
        path = functions.regexp_replace(uri, _SCHEME, "")
        rows = session.read.option("mergeSchema", "true").parquet(*map(_escaped, parts)).withColumn("path", path)
        for column in set(_SCHEMAS[name].names).difference(rows.columns, ("match",)):  # older stores lack it
            rows = rows.withColumn(column, functions.lit(None).cast("long"))
        _joined(rows, session, name).createOrReplaceTempView(name)
    for name, text in VIEWS.items():
        session.sql(text).cache().createOrReplaceTempView(name)

    built: set[str] = set()

    def ask(query: str) -> pa.Table:
        for name, table in analyst_tables(archive, query, built).items():
            session.createDataFrame(table).createOrReplaceTempView(name)
        try:
            return session.sql(query).toArrow()
        except PySparkException as error:
            raise HistoryError(f"Spark: {str(error).strip().splitlines()[0]}") from error

    return ask


#: Prefix of the path of a local file.
_SCHEME = "^file:(//)?(?=/)"


def _joined(rows: DataFrame, session: SparkSession, name: str) -> DataFrame:
    columns = [column for column in _SCHEMAS[name].names if column != "match"]
    files = session.table("files")
    return rows.drop("match").join(files, "path").select("match", *columns)


def _escaped(part: str) -> str:
    """A path as Hadoop takes it: braces, brackets, stars are patterns otherwise."""
    return "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in part)


def _empty(name: str) -> pa.Table:
    schema = _SCHEMAS[name]
    if "match" not in schema.names:
        schema = schema.insert(0, pa.field("match", pa.string()))
    return schema.empty_table()


def same_answer(one: pa.Table, other: pa.Table, digits: int = 9) -> bool:
    """True if two tables are the same, column by column and row by row, with numbers rounded."""
    if one.column_names != other.column_names or len(one) != len(other):
        return False
    return _plain(one, digits) == _plain(other, digits)


def _plain(table: pa.Table, digits: int) -> Sequence[tuple[object, ...]]:
    def number(value: object) -> object:
        with suppress(TypeError, ValueError):
            return round(float(value), digits)  # type: ignore[arg-type]
        return value

    return [tuple(number(value) for value in row.values()) for row in table.to_pylist()]

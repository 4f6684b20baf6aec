"""The result of a query as a source: ``duckdb:SELECT ...``, ``sqlite:FILE SELECT ...``,
``postgresql://USER@HOST/NAME SELECT ...``.

The text between the scheme and the first blank is the database, the rest is the query. DuckDB needs no
database: its queries read files (``SELECT * FROM 'rows.parquet'``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from typing import Any

_BATCH = 1 << 14  # rows that DuckDB returns at a time


def query_frames(name: str) -> Iterator[Any]:
    """The result of a query, as Arrow tables of some thousand rows."""
    scheme, _, rest = name.partition(":")
    database, _, query = rest.strip().partition(" ")
    if scheme == "duckdb" and not database.endswith((".db", ".duckdb", ":memory:")):
        database, query = ":memory:", rest
    if scheme == "postgresql":
        database = f"{scheme}:{database}"
    pyarrow = _import("pyarrow", "io")
    for batch in _duckdb(database, query) if scheme == "duckdb" else _adbc(scheme, database, query):
        if len(batch):
            yield pyarrow.Table.from_batches([batch])


def _duckdb(database: str, query: str) -> Iterator[Any]:
    duckdb = _import("duckdb", "sql")
    with closing(duckdb.connect(database, read_only=database != ":memory:")) as connection:
        yield from connection.sql(query).to_arrow_reader(_BATCH)


def _adbc(scheme: str, database: str, query: str) -> Iterator[Any]:
    driver = _import(f"adbc_driver_{scheme}.dbapi", "sql")
    with closing(driver.connect(database)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(query)
        yield from cursor.fetch_record_batch()


def _import(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise ImportError(f"This source needs {package}: pip install 'streamsieve[{extra}]'.") from None

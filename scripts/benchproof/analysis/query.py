"""SQL over a report's tables, and over nothing else.

SQL of a file could read the vault: tables are copied into memory, then access to files, network and
extensions is closed, Python's own variables too, and the configuration is locked. Only one SELECT over
the given tables is ever run, and none that gives another value at another time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from benchproof import tables
from benchproof.errors import TableError

if TYPE_CHECKING:
    import duckdb

Value = bool | int | float | str | None
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "1GB",
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
#: Functions and tables that tell the hour, chance or the machine: a claim holds whenever it is asked.
_RESTLESS = re.compile(
    r"\b(now|today|current_\w+|local_?time\w*|get_current_\w+|transaction_timestamp|random|setseed|uuid\w*|"
    r"gen_random_uuid|getenv|getvariable|duckdb_\w+|pragma_\w+|pg_\w+|information_schema|"
    r"which_secret|query|query_table|txid_current|tablesample|using\s+sample|sqlite_\w+|json_execute\w*)\b"
    r'|\b(?:age|version)\b"?\s*\(',
    re.IGNORECASE,
)
#: A text between quotes: a model may be named `random`. Only where nothing else could hold a quote.
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_OTHER_QUOTES = re.compile(r"""["\\$]|--|/\*""")
#: Seconds that a query may take; those of a million rows take less than one.
_PATIENCE = 60.0
#: Letters of a text that a claim may be about.
_LONGEST = 1_000


class RefusedQueryError(Exception):
    """A query that is not one SELECT of one value over known tables; says why."""


class Tables:
    """Tables of a report in memory; each has a column `name`, its repository's name without the owner.

    `names` are those that are there. A query is understood against all tables that there could be.
    """

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        import pyarrow.parquet as pq

        self._connection = _connect()
        self.names: set[str] = set()
        for name in names:
            path = folder / f"{name}.parquet"
            table = pq.ParquetFile(path).read(use_threads=False)
            if not table.schema.equals(tables.SPECS[name].schema):
                raise TableError(f"{path}: not a `{name}` table of this version; run again.")
            _add(self._connection, name, table)
            self.names.add(name)
        self._connection.execute("SET lock_configuration = true")

    def used(self, query: str) -> set[str]:
        """Return the tables that a query names, whether they are there or not.

        Raises RefusedQueryError when it is not one SELECT, or tells the hour or the machine.
        """
        return tables_named(query)

    def value(self, query: str) -> Value:
        """Return the one value of a query; None without a row; raises RefusedQueryError for more."""
        if missing := self.used(query) - self.names:
            raise RefusedQueryError(f"no such table: {', '.join(sorted(missing))}")
        return self.values([query])[0]

    def values(self, queries: Iterable[str]) -> list[Value]:
        """Return the value of each of this program's own queries, which nobody else has written: they are
        not looked through first, and share their sixty seconds.
        """
        return [_only(rows) for rows in self._run(queries, most=2)]

    def listed(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query of this program's own."""
        (rows,) = self._run([query], most=None)
        return rows

    def _run(self, queries: Iterable[str], most: int | None) -> list[list[tuple[Any, ...]]]:
        import duckdb

        # Nothing may be left behind, neither an unread result nor a thread: the end of the process would
        # meet it inside DuckDB, and abort.
        cursor = self._connection.cursor()
        alarm = Timer(_PATIENCE, cursor.interrupt)
        alarm.start()
        try:
            made = (cursor.execute(query) for query in queries)
            return [one.fetchmany(most) if most else one.fetchall() for one in made]
        except duckdb.InterruptException:
            raise RefusedQueryError(f"takes more than {_PATIENCE:g} s") from None
        except duckdb.Error as error:
            raise RefusedQueryError(_short(error)) from None
        finally:
            alarm.cancel()
            alarm.join()
            cursor.close()

    def rows(self, name: str) -> list[Mapping[str, Any]]:
        """Return repo, handle and status of the rows of a table; none of one without a status."""
        have = set(tables.SPECS[name].schema.names)
        if "status" not in have:
            return []
        wanted = [column for column in ("repo", "handle", "status") if column in have]
        found = self._connection.execute(f'SELECT {", ".join(wanted)} FROM "{name}"').fetchall()
        return [dict(zip(wanted, row, strict=True)) for row in found]


def tables_named(query: str) -> set[str]:
    """Return the tables that a query names.

    Raises RefusedQueryError when it is not one SELECT over tables of a report, or when it tells the hour,
    chance or the machine.
    """
    import duckdb

    connection = _shapes()
    try:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise RefusedQueryError("not one SELECT")
        quoted = _OTHER_QUOTES.search(query) is None
        if _RESTLESS.search(_QUOTED.sub("''", query) if quoted else query):
            raise RefusedQueryError("uses what changes without the tables")
        named = set(connection.get_table_names(query))
    except duckdb.Error as error:
        raise RefusedQueryError(_short(error)) from None
    if unknown := named - set(tables.SPECS):
        raise RefusedQueryError(f"no such table: {', '.join(sorted(unknown))}")
    return named


@cache
def _shapes() -> duckdb.DuckDBPyConnection:
    """All tables of a report, empty: what a query names depends on their columns."""
    connection = _connect()
    for name, spec in tables.SPECS.items():
        _add(connection, name, spec.schema.empty_table())
    connection.execute("SET lock_configuration = true")
    return connection


def _connect() -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:", config=dict(_SETTINGS))
    # Last: without access to files no other setting that names a folder can be made.
    connection.execute("SET enable_external_access = false")
    return connection


def _add(connection: duckdb.DuckDBPyConnection, name: str, table: Any) -> None:
    short = ", split_part(repo, '/', 2) AS name" if "repo" in table.column_names else ""
    connection.register("incoming", table)
    connection.execute(f'CREATE TABLE "{name}" AS SELECT *{short} FROM incoming')
    connection.unregister("incoming")


def _only(rows: list[tuple[Any, ...]]) -> Value:
    if len(rows) > 1 or any(len(row) != 1 for row in rows):
        raise RefusedQueryError("gives more than one value")
    return _plain(rows[0][0]) if rows else None


def _plain(value: Any) -> Value:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, str) and len(value) > _LONGEST:
        raise RefusedQueryError(f"gives a text of more than {_LONGEST} letters")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise RefusedQueryError(f"gives a {type(value).__name__}, not a number, text or truth value")


def _short(error: Exception) -> str:
    """The kind of an error and its first line, without what stands behind a path."""
    line = re.sub(r'"/[^"]*"', "a file", str(error).splitlines()[0])
    return line[:120]

"""SQL sees the tables that it is given and nothing else: no file, no variable, no clock."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis.query import RefusedQueryError, Tables, tables_named
from benchproof.errors import TableError

secret_variable = [{"secret": 1}]


def row(name: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(tables.SPECS[name].schema.names), **values}


@pytest.fixture
def asked(tmp_path: Path) -> Tables:
    runs = [
        row(
            "runs",
            repo=f"demo/{name}",
            run_path=str(n),
            recorded_score=n / 2,
            recorded_passed=n == 1,
        )
        for name in ("one", "two")
        for n in range(3)
    ]
    tables.write(tmp_path / "runs.parquet", "runs", runs, {})
    evals = [row("evals", repo="demo/one", path="p", fields=["b", "a"], status="ok")]
    tables.write(tmp_path / "evals.parquet", "evals", evals, {})
    return Tables(tmp_path, ["runs", "evals"])


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("SELECT count(*) FROM runs", 6),
        ("SELECT count(*) FROM runs WHERE name = 'one'", 3),
        ("SELECT sum(recorded_score) FROM runs", 3.0),
        ("SELECT sum(length(run_path)) FROM runs", 6),
        ("SELECT bool_or(recorded_passed) FROM runs", True),
        ("SELECT max(repo) FROM runs", "demo/two"),
        ("SELECT max(model) FROM runs", None),
        ("SELECT 1 FROM runs WHERE false", None),
        ("WITH w AS (SELECT * FROM runs) SELECT count(*) FROM w", 6),
        ("SELECT count(*) FROM evals WHERE list_contains(fields, 'a')", 1),
        ("SELECT 1.5::DECIMAL(3, 1)", 1.5),
    ],
)  # fmt: skip
def test_one_value_comes_back(asked: Tables, query: str, value: Any) -> None:
    found = asked.value(query)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{0}')",
        "SELECT * FROM read_text('{0}')",
        "SELECT * FROM read_blob('{0}')",
        "SELECT * FROM read_json('{0}')",
        "SELECT * FROM read_parquet('{1}')",
        "SELECT count(*) FROM '{0}'",
        "SELECT count(*) FROM '{1}'",
        "SELECT count(*) FROM glob('{2}/*')",
        "SELECT content FROM read_text('{0}')",
        "COPY runs TO '{2}/out.csv'",
        "COPY runs FROM '{0}'",
        "EXPORT DATABASE '{2}/out'",
        "ATTACH '{2}/x.db' AS x",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET python_enable_replacements = true",
        "RESET lock_configuration",
        "PRAGMA database_list",
        "CREATE TABLE x AS SELECT 1",
        "DROP TABLE runs",
        "INSERT INTO runs SELECT * FROM runs",
        "CALL pragma_version()",
        "SELECT getenv('HOME')",
        "SELECT current_setting('home_directory')",
        "SELECT count(*) FROM duckdb_secrets()",
        "SELECT value FROM duckdb_settings() LIMIT 1",
        "SELECT * FROM query('SELECT 1')",
        "SELECT now()",
        "SELECT current_date",
        "SELECT random()",
        "SELECT uuid()",
        "SELECT count(*) FROM secret_variable",
        "SELECT count(*) FROM incoming",
        "SELECT count(*) FROM pins",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY runs TO '{2}/out.csv'",
        "SELECT age(TIMESTAMP '2020-01-01')::VARCHAR",
        "SELECT version()",
        "SELECT txid_current()",
        "SELECT count(*) FROM runs TABLESAMPLE 50%",
        "SELECT count(*) FROM runs USING SAMPLE 50%",
        "SELECT count(*) FROM sqlite_master",
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT count(*) FROM runs'))",
        "SELECT repeat('x', 2000)",
        "SELECT 1, 2",
        "SELECT run_path FROM runs",
        "SELECT fields FROM evals",
        "SELEC 1",
        "",
    ],
)
def test_everything_else_is_refused(asked: Tables, tmp_path: Path, query: str) -> None:
    """Law 2: SQL could read the vault, a table of another date, or the environment."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nsecret-value\n")
    filled = query.format(secret, tmp_path / "runs.parquet", tmp_path)
    with pytest.raises(RefusedQueryError) as told:
        asked.value(filled)
    assert "secret-value" not in str(told.value)
    assert "\n" not in str(told.value)
    assert not {"out.csv", "out", "x.db"} & {path.name for path in tmp_path.iterdir()}


def test_tables_are_told_whether_they_are_there_or_not(asked: Tables) -> None:
    assert asked.used(
        "SELECT count(*) FROM handles WHERE handle IN (SELECT handle FROM eval_handles)"
    ) == {
        "handles",
        "eval_handles",
    }
    with pytest.raises(RefusedQueryError, match="no such table: handles"):
        asked.value("SELECT count(*) FROM handles")
    with pytest.raises(RefusedQueryError, match="no such table: nonsense"):
        tables_named("SELECT count(*) FROM nonsense")


def test_a_column_that_shares_a_tables_name_needs_no_table() -> None:
    assert tables_named("SELECT files FROM reconciliation") == {"reconciliation"}


def test_another_versions_table_is_refused(tmp_path: Path) -> None:
    tables.write(tmp_path / "models.parquet", "readings", [], {})
    with pytest.raises(TableError, match="models"):
        Tables(tmp_path, ["models"])


def test_statuses_of_rows_are_given(asked: Tables) -> None:
    assert asked.rows("evals") == [{"repo": "demo/one", "status": "ok"}]


def test_a_query_without_end_is_stopped(asked: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchproof.analysis.query._PATIENCE", 0.2)
    endless = "SELECT count(*) FROM range(1000000000000) AS t(i) WHERE hash(i) % 7 = 1"
    with pytest.raises(RefusedQueryError, match="takes more than"):
        asked.value(endless)
    assert asked.value("SELECT count(*) FROM runs") == 6


def test_a_query_leaves_no_thread_behind(asked: Tables) -> None:
    """One that is still there when the process ends aborts it, inside DuckDB."""
    before = threading.active_count()
    for _ in range(20):
        asked.value("SELECT 1")
    assert threading.active_count() == before


def test_a_text_may_be_called_as_what_is_refused(asked: Tables) -> None:
    named = "SELECT count(*) FROM runs WHERE model = 'random()' OR model = 'o''now'"
    assert asked.value(named) == 0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM runs -- '\nWHERE random() > 2 -- '",
        "SELECT count(*) FROM runs /* ' */ WHERE random() > 2 /* ' */",
        "SELECT count(*) AS \"'\" FROM runs WHERE random() > 2 OR model = ''''",
        "SELECT E'\\'' || random() || ' ' FROM runs LIMIT 1",
        "SELECT $$'$$ || random() || $$'$$ FROM runs LIMIT 1",
    ],
)
def test_no_quote_hides_what_is_refused(asked: Tables, query: str) -> None:
    with pytest.raises(RefusedQueryError, match="changes without the tables"):
        asked.value(query)

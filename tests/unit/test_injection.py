"""Names from outside on each surface that obeys something: terminals, logs, metrics, mail, SQL, files.

Markdown is test_maintainers.py's, HTML test_html.py's and the browser's, SARIF and JSON in scripts are the
fuzzed targets `finding_texts` and `shown`.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

from benchproof import job, tables
from benchproof.analysis.query import Tables
from benchproof.outputs import ERROR, folder_label
from benchproof.printable import printable
from benchproof.report.visible import visible
from benchproof.storage.names import folder_name
from benchproof.watch import message, metrics
from benchproof.watch.status import Status

ODD = [
    *("a\n12:00:00 error: forged", "a\r\nBcc: all@evil.test\r\n\r\nbody", "\x1b[2J\x1b]0;title\x07"),
    *("\u2028x\u2029", "\x9b31m", "\u200b\ufeff", '"} 1\nbenchproof_watch_findings 0', "a\u202eb"),
    *("../../x", "a/b", "-rf", "$(touch pwned)", "x" * 5000, "", ".", "..", "é", "'; DROP TABLE x; --"),
    *("=HYPERLINK(1)", "@SUM(1)", "</script><img src=x onerror=y>", "{{ 7 * 7 }}", "{x}", "%s%n"),
]  # fmt: skip


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:20]))
def test_no_surface_obeys_a_name(text: str, tmp_path: Path) -> None:
    assert printable(text).isprintable()
    assert visible(text).replace("\n", "").isprintable()

    record = logging.LogRecord("x", logging.INFO, "", 0, "%s: 3 rows", (text,), None)
    line = job.OneLine("%(asctime)s %(message)s", "%H:%M:%S").format(record)
    assert line.isprintable()
    assert not ERROR.search(line.split(" ", 1)[1])
    assert not ERROR.search(line) or text.startswith("error: ")

    subject = message.subject("2026-01-15", text)
    assert subject.isprintable()
    assert len(subject) <= message.WIDTH
    assert subject.startswith("benchproof 2026-01-15: ")

    sample = re.compile(r'[a-z_]+\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*\} -?[0-9]+')
    told = metrics.text(Status(findings={"critical": 1}), text).splitlines()
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in told)

    for name in (
        folder_name(text),
        folder_label(tmp_path / "x" / re.sub("[/\0]", "_", text or "_")[:200]),
    ):
        assert re.fullmatch(r"[A-Za-z0-9._+@-]+", name)
        assert name not in (".", "..")


def test_values_of_tables_are_no_sql(tmp_path: Path) -> None:
    """Values travel as Arrow columns; names of tables and columns are ours alone."""
    blank: dict[str, Any] = dict.fromkeys(tables.SPECS["runs"].schema.names)
    rows = [
        {**blank, "repo": f"demo/{n}", "run_path": text, "model": text, "status": "graded"}
        for n, text in enumerate(ODD)
    ]
    tables.write(tmp_path / "runs.parquet", "runs", rows, {})
    asked = Tables(tmp_path, ["runs"])
    assert asked.value("SELECT count(*) FROM runs") == len(ODD)
    assert sorted(text for (text,) in asked.listed("SELECT model FROM runs")) == sorted(ODD)

"""Two folders in, three files out: the same bytes anywhere, and pages that hold no markup of others."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis.drift.compare import compare
from benchproof.outputs import DATED
from benchproof.report import drift_page, drift_summary, drifting
from benchproof.report.drifting import compared, earlier, is_complete, judged, place, write
from conftest import ROOT
from unit.analysis.drift.reports import REPO, Rows, edited, published, report, row
from unit.report.test_folders import written

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</details></main><script>alert(2)</script>",
    "\x1b[31mred",
    "NA",
    "null",
]


def changed() -> Rows:
    new = edited(published(), "pins", {}, commit_sha="b" * 40)
    new = edited(new, "runs", {"eval_id": "e1"}, derived_passed=False, passed_agrees=False)
    return edited(new, "claims", {"claim_id": "one.sound"}, status="fails", observed="2")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return (
        written(tmp_path / "results" / "2026-01-01", published()),
        written(tmp_path / "results" / "2026-01-02", changed()),
    )


def test_the_files_are_written_beside_each_other(pair: tuple[Path, Path], tmp_path: Path) -> None:
    folder = place(tmp_path / "results", *pair)
    assert folder == tmp_path / "results" / "drift" / "2026-01-01..2026-01-02"
    write(compared(*pair, None, None), folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(drifting.FILES)
    about = tables.about(folder / "drift.parquet")
    assert (about["from"], about["to"]) == ("2026-01-01", "2026-01-02")
    assert about["pins"] == [{REPO: "a" * 40}, {REPO: "b" * 40}]


def test_the_same_reports_give_the_same_bytes_anywhere(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """BR-48: neither the hash seed nor the place nor a second run shows."""
    digests = set()
    for number, seed in enumerate(("0", "1")):
        out = tmp_path / f"out{number}" / "deep"
        lines = [
            "from pathlib import Path",
            "from benchproof.report.drifting import compared, write",
            f"old, new, out = map(Path, {[*map(str, pair), str(out)]!r})",
            "write(compared(old, new, None, None), out)",
        ]
        environment = {
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(ROOT / "scripts"),
            "TZ": f"X{number}",
        }
        subprocess.run([sys.executable, "-c", "\n".join(lines)], env=environment, check=True)
        digests.add(tuple(sha256((out / name).read_bytes()).hexdigest() for name in drifting.FILES))
    assert len(digests) == 1


def test_what_it_means_is_asked_of_the_written_table(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    write(compared(*pair, None, None), folder)
    accepted = tmp_path / "accepted.yaml"

    def code(fail_on: list[str], expires: str | None = None) -> int:
        entry = {"id": "one.sound", "owner": "me", "reason": "known", "expires": expires}
        accepted.write_text(json.dumps({"accepted": [entry] if expires else []}))
        return judged(folder, pair[1], fail_on, accepted).code

    assert code([]) == 11
    assert code(["critical"], expires="2026-01-02") == 10
    assert code([], expires="2026-01-02") == 0
    assert code([], expires="2026-01-01") == 11


def test_what_the_vault_does_not_tell_is_said(pair: tuple[Path, Path], tmp_path: Path) -> None:
    new = edited(changed(), "evals", {"eval_id": "e1"}, blob_sha="9" * 40)
    drift = compared(pair[0], written(tmp_path / "2026-01-03", new), None, None)
    text = drift_summary.render(drift)
    assert f"not known: commits of {REPO} (no vault or no git here)" in text
    assert "1 evaluations changed whose earlier or later file the vault lacks" in text


@pytest.mark.parametrize(
    ("rows", "complete", "said"),
    [
        (published(), None, True),
        (
            edited(published(), "handles", {"handle": "latch://1.node"}, status="unknown"),
            None,
            False,
        ),
        (
            edited(published(), "handles", {"handle": "latch://1.node"}, status="unknown"),
            True,
            True,
        ),
        (edited(published(), "reconciliation", {}, status="not_read"), None, False),
        (published(), False, False),
    ],
)
def test_a_report_is_complete_by_its_seal_or_else_by_its_rows(
    rows: Rows, complete: bool | None, said: bool
) -> None:
    assert is_complete(report("x", rows, complete=complete)) is said


def test_a_report_with_a_damaged_table_is_not_complete(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """Its seal is older than the damage; what was not compared must not pass for nothing new."""
    new = written(tmp_path / "2026-01-03", published())
    (new / "runs.parquet").write_bytes(b"PAR1")
    folder = tmp_path / "out"
    write(compared(pair[0], new, None, None), folder)
    accepted = tmp_path / "accepted.yaml"
    accepted.write_text("accepted: []")
    assert judged(folder, new, ["critical"], accepted).code == 20


def test_the_earlier_report_is_the_newest_complete_one(tmp_path: Path) -> None:
    for day, complete in (("2026-01-01", True), ("2026-01-05", True), ("2026-01-09", False)):
        written(tmp_path / day, published(evals=1), complete=complete)
    assert earlier(tmp_path / "2026-01-12") == tmp_path / "2026-01-05"
    assert earlier(tmp_path / "2026-01-01") is None
    assert DATED.fullmatch("2026-01-05")


# -- what people read ---------------------------------------------------------------------------------------


class Parsed(HTMLParser):
    """Tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile() -> tuple[Rows, Rows]:
    old, new = published(), edited(published(), "pins", {}, commit_sha="b" * 40)
    for number, text in enumerate(HOSTILE):
        new = edited(new, "evals", {"eval_id": f"e{number % 3}"}, task=text)
        new["tree"].append(
            row("tree", path=f"x/{number}{text}", mode="100644", kind="file", blob_sha="7" * 40)
        )
    return old, new


def test_text_from_upstream_is_text() -> None:
    """BR-55: shown as it is, without a tag, an event or a control character of its own."""
    old, new = hostile()
    page = drift_page.render(compare(report("2026-01-01", old), report("2026-01-02", new)))
    parsed = Parsed(page)
    assert not {"img", "script"} & set(parsed.tags)
    assert not [name for name in parsed.attributes if name.startswith("on")]
    for text in (HOSTILE[0], HOSTILE[1], "\\x1b[31mred", "null"):
        assert text in parsed.text
    assert "\x1b" not in page
    assert "default-src 'none'" in page


def test_no_change_is_said_in_words() -> None:
    drift = compare(report("2026-01-01", published()), report("2026-01-02", published()))
    assert drift_summary.render(drift) == "drift 2026-01-01..2026-01-02: 0 changes\n"
    assert "Nothing changed." in drift_page.render(drift)


def test_the_summary_is_short_whatever_upstream_calls_its_files() -> None:
    """At most 4096 bytes, lines that a terminal can print, the worst first."""
    old, new = two_hundred_changes()
    text = drift_summary.render(compare(report("2026-01-01", old), report("2026-01-02", new)))
    assert len(text.encode()) <= 4096
    assert all(line.isprintable() for line in text.splitlines())
    ranks = [
        ["critical", "major", "minor", "info"].index(line.split(":")[0][2:])
        for line in text.splitlines()
        if line.startswith("- ") and not line.startswith("- and")
    ]
    assert ranks == sorted(ranks)
    assert "more changes, see drift.html" in text


def two_hundred_changes() -> tuple[Rows, Rows]:
    old, new = published(), published()
    for number in range(200):
        name = f"demo/{'é' * 60}{number}\n"
        pin = {**old["pins"][0], "repo": name}
        old["pins"].append(pin)
        new["pins"].append({**pin, "commit_sha": "b" * 40})
    return old, new


def test_a_group_of_many_rows_is_cut_and_counted() -> None:
    old, new = published(evals=0), published(evals=0)
    new["tree"] += [
        row("tree", path=f"x/{n}", mode="100644", kind="file", blob_sha=f"{n:040}")
        for n in range(90)
    ]
    page = drift_page.render(compare(report("2026-01-01", old), report("2026-01-02", new)))
    assert "And 30 more rows" in Parsed(page).text
    assert Parsed(page).tags.count("tr") == 60 + 1 + 2


def test_withheld_places_stay_counts() -> None:
    """A finding that is counted holds no place, so that none can come from it."""

    def finding(message: str) -> dict[str, Any]:
        return row(
            "findings",
            finding_id="passes_on_zeros-0",
            rule="passes_on_zeros",
            severity="critical",
            message=message,
        )

    old, new = published(), edited(published(), "pins", {}, commit_sha="b" * 40)
    old["findings"], new["findings"] = (
        [finding("Met (2 places in 2 files; the list says where.)")],
        [finding("Met (3 places in 2 files; the list says where.)")],
    )
    drift = compare(report("2026-01-01", old), report("2026-01-02", new))
    (found,) = [r for r in drift.rows if r["table"] == "findings"]
    assert (found["column"], found["old"], found["new"], found["severity"]) == (
        "message",
        "Met (2 places in 2 files; the list says where.)",
        "Met (3 places in 2 files; the list says where.)",
        "critical",
    )

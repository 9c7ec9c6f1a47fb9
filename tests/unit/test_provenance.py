"""An edit changes the digest of exactly the rules that reach the edited file."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchproof import provenance

LIBRARY = provenance.SCRIPTS / "benchproof"
RULES = sorted(path.stem for path in provenance.SCRIPTS.glob("*.py"))

FILES = {
    "first.py": "from benchproof import job\n",
    "second.py": "import benchproof.report.page\n",
    "third.py": "def main():\n    from benchproof.lazy import thing\n",
    "benchproof/__init__.py": "",
    "benchproof/job.py": "import json\nfrom benchproof.errors import Error, Other\n",
    "benchproof/errors.py": "",
    "benchproof/lazy.py": "from benchproof.deep import inner as renamed\n",
    "benchproof/deep/__init__.py": "",
    "benchproof/deep/inner.py": "if True:\n    import benchproof.errors\n",
    "benchproof/report/__init__.py": "",
    "benchproof/report/page.py": "",
    "benchproof/report/templates/page.html.j2": "<p>",
    "benchproof/report/templates/part/page.css": "p {}",
    "benchproof/unused.py": "",
}
REACHED = {
    "first.py": "first",
    "second.py": "second",
    "third.py": "third",
    "benchproof/__init__.py": "first second third",
    "benchproof/job.py": "first",
    "benchproof/errors.py": "first third",
    "benchproof/lazy.py": "third",
    "benchproof/deep/__init__.py": "third",
    "benchproof/deep/inner.py": "third",
    "benchproof/report/__init__.py": "second",
    "benchproof/report/page.py": "second",
    "benchproof/report/templates/page.html.j2": "second",
    "benchproof/report/templates/part/page.css": "second",
    "benchproof/unused.py": "",
}


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(provenance, "SCRIPTS", tmp_path)
    provenance._imports.cache_clear()
    yield tmp_path
    provenance._imports.cache_clear()


def digests() -> dict[str, str]:
    provenance._imports.cache_clear()
    return {rule: provenance.code_digest(rule) for rule in ("first", "second", "third")}


@pytest.mark.parametrize("name", FILES)
def test_an_edit_reaches_the_rules_that_use_it(scripts: Path, name: str) -> None:
    before, everything = digests(), provenance.library_digest()
    with (scripts / name).open("a") as handle:
        handle.write("\n")
    after = digests()
    assert {rule for rule in before if before[rule] != after[rule]} == set(REACHED[name].split())
    assert provenance.library_digest() != everything


def test_renaming_or_moving_content_changes_the_digest(scripts: Path) -> None:
    before = digests()["first"]
    (scripts / "benchproof/errors.py").rename(scripts / "benchproof/other.py")
    (scripts / "benchproof/job.py").write_text(
        "import json\nfrom benchproof.other import Error, Other\n"
    )
    assert digests()["first"] != before


def test_the_folder_and_caches_change_nothing(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 6: no path in a digest."""
    before, everything = digests(), provenance.library_digest()
    elsewhere = tmp_path / "elsewhere" / "x"
    shutil.copytree(scripts, elsewhere)
    (elsewhere / "benchproof" / "__pycache__").mkdir()
    (elsewhere / "benchproof" / "__pycache__" / "job.cpython-311.pyc").write_bytes(b"x")
    monkeypatch.setattr(provenance, "SCRIPTS", elsewhere)
    assert (digests(), provenance.library_digest()) == (before, everything)


# --- the real tree -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        (
            "report/templates/report.html.j2",
            {
                *("write_report", "seal_report", "gate"),
                *("draw_history", "history"),
                *("diff_reports", "drift"),
            },
        ),
        ("report/html.py", {"write_report"}),
        ("analysis/models.py", {"summarise_models", "check_published"}),
        ("analysis/runs.py", {"grade_share", "regrade_runs"}),
    ],
)
def test_real_files_reach_the_rules_that_use_them(module: str, rules: set[str]) -> None:
    reached = {
        rule
        for rule in RULES
        if LIBRARY / module in provenance._reached(provenance.SCRIPTS / f"{rule}.py")
    }
    assert reached == rules


def test_every_import_of_the_library_is_one_that_the_digest_sees() -> None:
    """Relative and computed imports would escape it."""
    # The child of the sandbox looks its function up by name; who calls it imports that module too.
    for path in set(provenance.SCRIPTS.rglob("*.py")) - {LIBRARY / "storage" / "sandboxed.py"}:
        for node in ast.walk(ast.parse(path.read_bytes())):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path
            assert not (isinstance(node, ast.Name) and node.id == "__import__"), path
            assert not (isinstance(node, ast.alias) and node.name.startswith("importlib")), path


def test_every_file_of_the_library_counts_in_the_whole() -> None:
    kinds = {
        path.suffix
        for path in LIBRARY.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert kinds <= {".py", ".j2", ".css", ".js", ".txt"}


def test_metadata_says_what_made_a_table_and_nothing_else() -> None:
    pins: list[dict[str, Any]] = [
        {"repo": "b/x", "commit_sha": "2"},
        {"repo": "a/y", "commit_sha": None},
    ]
    made_by = {"config": "c", "code": "d", "notice": None, "results": "/home/somebody"}
    found = provenance.metadata("tree", pins, made_by)
    assert set(found) == {"table", "pins", "config", "code", "notice", "versions"}
    assert found["pins"] == {"b/x": "2", "a/y": None}
    assert set(found["versions"]) == {"benchproof", "python", "pyarrow"}
    assert "/home" not in json.dumps(found)


def test_other_claims_are_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 9: a finished date is not checked again against claims of another day."""
    before = provenance.library_digest()
    other = tmp_path / "claims.yaml"
    other.write_text("claims: []\n")
    monkeypatch.setattr(provenance, "CLAIMS", other)
    assert provenance.library_digest() != before
    other.unlink()
    assert provenance.library_digest() != before

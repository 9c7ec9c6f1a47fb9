"""A commit's folder is finished when every table is there and made by what would make it now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.errors import TableError
from benchproof.history import folders
from benchproof.history.derive import PINS, RULE_OF, STEPS, Terms
from benchproof.sources.base import RepoSpec

SPEC = RepoSpec("demo/one", "a" * 40, "evals", "runs")
CODES = dict.fromkeys((PINS, *(step.rule for step in STEPS)), "c")
TERMS = Terms(CODES, None, "counts", "accepted", "2026-01-15")


def write(folder: Path, terms: Terms = TERMS) -> None:
    for name in RULE_OF:
        tables.write(folder / f"{name}.parquet", name, [], terms.about(name, SPEC))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "staged")
    folders.publish(tmp_path / "staged", tmp_path / "one" / "a")
    return tmp_path / "one" / "a"


def test_what_was_published_is_finished(folder: Path) -> None:
    assert folders.is_finished(folder, SPEC, TERMS)
    assert {path.stem for path in folder.iterdir()} == set(RULE_OF)
    assert [path.name for path in folder.parent.iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["pins", "runs", "findings"])
@pytest.mark.parametrize("harm", ["missing", "cut", "other"])
def test_one_table_that_is_not_right_is_enough(folder: Path, name: str, harm: str) -> None:
    path = folder / f"{name}.parquet"
    if harm == "missing":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(path.read_bytes()[:40])
    else:
        tables.write(path, name, [], {"table": name})
    assert not folders.is_finished(folder, SPEC, TERMS)


@pytest.mark.parametrize(
    "terms",
    [
        replace(TERMS, codes={**TERMS.codes, "regrade_runs": "other"}),
        replace(TERMS, notice="invented"),
        replace(TERMS, disclose="places"),
    ],
    ids=["code", "notice", "disclose"],
)
def test_other_code_or_configuration_is_not_finished(folder: Path, terms: Terms) -> None:
    assert not folders.is_finished(folder, SPEC, terms)
    assert not folders.is_finished(folder, replace(SPEC, ref="b" * 40), TERMS)
    assert not folders.is_finished(folder, replace(SPEC, evals="elsewhere"), TERMS)
    assert folders.is_finished(folder, SPEC, replace(TERMS, day="2027-01-01", accepted="moved"))


def test_publishing_again_replaces_the_whole_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "stray.parquet").touch()
    folders.publish(tmp_path / "staged", folder)
    assert {path.stem for path in folder.iterdir()} == set(RULE_OF)
    assert [path.name for path in folder.parent.iterdir()] == ["a"]


def test_what_cannot_be_written_leaves_the_old_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(TableError, match="no space left"):
        folders.publish(tmp_path / "staged", folder)
    assert folders.is_finished(folder, SPEC, TERMS)
    assert [path.name for path in folder.parent.iterdir()] == ["a"]


def test_what_a_killed_run_left_is_swept(folder: Path) -> None:
    part = folder.with_name(f"a.{'0' * 32}{folders.PART}")
    part.mkdir()
    (part / "pins.parquet").touch()
    folders.sweep(folder.parent)
    assert [path.name for path in folder.parent.iterdir()] == ["a"]

"""Everything that leaves is read, and what can't be read is said."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchproof.leaks import surfaces
from benchproof.leaks.needles import Needles
from benchproof.leaks.scan import Scanned, mark, scan
from benchproof.leaks.secrets import Secret


def scanned(folder: Path, *wanted: Secret, origin: surfaces.Origin = "report") -> Scanned:
    return scan(Needles(wanted), surfaces.sources([(folder, origin)]))


@pytest.mark.parametrize(
    ("column", "needle"),
    [
        (pa.array([8461937], pa.int64()), "8461937"),
        (pa.array([73519.2468], pa.float64()), "73519.2468"),
        (pa.array([None, 8461937.0], pa.float64()), "8461937"),
        (pa.array([[8461937, 1], None]), "8461937"),
        (pa.array([{"a": 8461937}]), "8461937"),
        (pa.array(["8461937"]).dictionary_encode(), "8461937"),
        (pa.array([b"\xff 8461937 \xff"]), "8461937"),
        (pa.array([[["8461937"]]]), "8461937"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_numbers_are_found_in_columns_of_any_type(tmp_path: Path, column: Any, needle: str) -> None:
    pq.write_table(pa.table({"a": column}), tmp_path / "x.parquet")
    assert scanned(tmp_path, Secret("number", needle)).hits


def test_a_value_over_the_cells_of_two_batches_is_found(tmp_path: Path) -> None:
    value = "zq planted over the end of a batch"
    rows = ["x"] * 16383 + [value[:12], value[12:]]
    pq.write_table(pa.table({"a": rows}), tmp_path / "x.parquet")
    kinds = {kind for _, kind, _ in scanned(tmp_path, Secret("text", value)).hits}
    assert "table columns" in kinds


BROKEN: dict[str, tuple[str, bytes]] = {
    "table": ("x.parquet", b"PAR1 no table PAR1"),
    "empty table": ("x.parquet", b""),
    "page": ("x.html", b"\xff\xfeno text"),
    "data of a page": ("x.html", b'<script type="application/json">{</script>'),
    "JSON": ("x.json", b"{"),
    "deep JSON": ("x.json", b"[" * 100_000),
    "markdown": ("x.md", b"\xe9"),
    "log": ("x.log", "Zq".encode("utf-16")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_decoded_is_a_failure_with_its_name(tmp_path: Path, name: str) -> None:
    file, data = BROKEN[name]
    (tmp_path / file).write_bytes(data)
    found = scanned(tmp_path, Secret("text", "zq planted"))
    assert [source.path.name for source, _ in found.unsearchable] == [file]


def test_a_damaged_page_of_a_table_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [f"text {n}" for n in range(1000)]}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[40:60] = bytes(20)
    path.write_bytes(data)
    assert [kind for _, kind in scanned(tmp_path).unsearchable] == ["table bytes"]


@pytest.mark.parametrize("data", [b"{", b"", b"\xff\xfe", b"x" * 100])
def test_the_engine_may_have_torn_records(tmp_path: Path, data: bytes) -> None:
    """A kill leaves half a record; its bytes are searched, and no report is held up for good."""
    (tmp_path / "x").write_bytes(data)
    assert scanned(tmp_path, origin="engine").unsearchable == []


def test_bombs_in_other_files_are_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchproof.leaks.views.MAX_UNPACKED", 1000)
    (tmp_path / "x.bin").write_bytes(zlib.compress(bytes(100_000)))
    assert [kind for _, kind in scanned(tmp_path).unsearchable] == ["other file"]


def test_links_are_read_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "secret.txt").write_text("zq planted")
    os.symlink("../secret.txt", tmp_path / "out" / "link")
    os.symlink("/nowhere/zq planted", tmp_path / "out" / "other")
    hits = scanned(tmp_path / "out", Secret("text", "zq planted")).hits
    assert [(source.path.name, kind) for source, kind, _ in hits] == [("other", "link target")]


def test_counts_are_those_of_what_is_sealed(tmp_path: Path) -> None:
    """Logs and an earlier seal differ from run to run; a page that is replaced counts once."""
    report, staged = tmp_path / "report", tmp_path / "staged"
    for folder in (report / "logs", staged):
        folder.mkdir(parents=True)
    for name in ("seal.json", "report.html", "a.json", "logs/x.log", f"a.json.{'0' * 32}.part"):
        (report / name).write_text("{}")
    (staged / "report.html").write_text("<p>x</p>")
    tops: list[tuple[Path, surfaces.Origin]] = [(staged, "report"), (report, "report")]
    once = scan(Needles([]), surfaces.sources(tops)).kinds
    (report / "report.html").unlink()
    assert scan(Needles([]), surfaces.sources(tops)).kinds == once
    assert once["page source"] == once["JSON"] == 1
    assert once["log"] == once["other file"] == 0


@pytest.mark.parametrize("gone", [Path.read_bytes, Path.is_file])
def test_a_file_that_goes_meanwhile_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: Callable[[Path], object]
) -> None:
    (tmp_path / "x.log").write_text("zq planted")
    sources = surfaces.sources([(tmp_path, "report")])
    (tmp_path / "x.log").unlink()
    assert scan(Needles([]), sources).unsearchable == []


def test_a_folder_that_cannot_be_listed_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in it was not searched. Root may list any folder, so that the system call is told to refuse."""
    closed = tmp_path / "a" / "closed"
    closed.mkdir(parents=True)
    (closed / "x.md").write_text("zq planted")
    (tmp_path / "z.md").write_text("zq planted")
    listed = os.scandir

    def refusing(path: Any = ".") -> Any:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = scanned(tmp_path, Secret("text", "zq planted"))
    assert [(source.path, kind) for source, kind in found.unsearchable] == [(closed, "folder name")]
    assert {source.path.name for source, _, _ in found.hits} == {"z.md"}
    assert [source.path for source, _ in scanned(closed).unsearchable] == [closed]
    assert surfaces.closed(closed)
    assert not surfaces.closed(tmp_path)
    assert not surfaces.closed(tmp_path / "none")


def test_each_sealed_file_is_marked_as_it_was_read(tmp_path: Path) -> None:
    """Logs aren't sealed; a table is read once, and marked by the bytes that were searched."""
    (tmp_path / "logs").mkdir()
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "x.parquet")
    for name in ("a.md", "b.bin", "logs/x.log", "c.part"):
        (tmp_path / name).write_text(name)
    kept = ("a.md", "b.bin", "x.parquet")
    marks = {mark(name, sha256((tmp_path / name).read_bytes()).hexdigest()) for name in kept}
    assert scanned(tmp_path).read == marks

"""Tables of any length: bytes depend on the rows alone, order is checked, a failure leaves nothing."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchproof import streams, tables
from benchproof.errors import TableError

ABOUT = {"table": "tree"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BATCH", 8)
    monkeypatch.setattr(streams, "GROUP", 50)


def row(number: int) -> dict[str, Any]:
    size = None if number % 3 else number
    return {
        "repo": "a/b" if number < 70 else "a/c",
        "path": f"p{number:04d}",
        "mode": "100644",
        "kind": "file",
        "blob_sha": f"{number % 7}" * 40,
        "size": size,
        "lfs_size": None,
        "status": "ok",
        "reason": None,
    }


def streamed(numbers: Iterable[int]) -> bytes:
    file = io.BytesIO()
    with streams.writing(file, "tree", ABOUT) as sink:
        for number in numbers:
            sink.append(row(number))
    return file.getvalue()


@pytest.mark.parametrize("number", [0, 1, 7, 8, 49, 50, 51, 163])
def test_what_is_streamed_is_the_table(tmp_path: Path, number: int) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(streamed(range(number)))
    assert tables.read(path, "tree") == [row(n) for n in range(number)]
    assert tables.about(path) == ABOUT
    groups = pq.ParquetFile(path).metadata
    sizes = [groups.row_group(n).num_rows for n in range(groups.num_row_groups)]
    assert [size for size in sizes if size] == [50] * (number // 50) + [number % 50] * bool(
        number % 50
    )


@pytest.mark.parametrize("cuts", [(), (1,), (50, 100), (3, 3, 90, 162), tuple(range(163))], ids=len)
def test_parts_give_the_bytes_of_the_whole(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    """However many parts, empty ones among them, wherever they begin."""
    file = io.BytesIO()
    with streams.writing(file, "tree", ABOUT) as sink:
        for part, (start, stop) in enumerate(zip((0, *cuts), (*cuts, 163), strict=True)):
            path = tmp_path / f"{part}.parquet"
            path.write_bytes(streamed(range(start, stop)))
            sink.extend(path)
    assert file.getvalue() == streamed(range(163))


@pytest.mark.parametrize("numbers", [(*range(20), 3), (*range(8), 7), (1, 1)], ids=len)
def test_rows_out_of_order_are_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(TableError, match=r"out of order|share one key"):
        streamed(numbers)


def test_a_row_of_another_table_is_refused() -> None:
    with (
        pytest.raises(TableError, match="columns differ"),
        streams.writing(io.BytesIO(), "tree", {}) as sink,
    ):
        sink.append({**row(1), "answer": 1})


class Full(io.BytesIO):
    """A disk with room for so many bytes."""

    room = 600

    def write(self, data: Any, /) -> int:
        if self.tell() + len(data) > self.room:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return super().write(data)


def test_a_full_disk_is_an_error_that_names_itself() -> None:
    with pytest.raises(OSError, match="quota"):
        fill(Full(), 400)


def fill(file: io.BytesIO, number: int) -> None:
    with streams.writing(file, "tree", {}) as sink:
        for count in range(number):
            sink.append(row(count))

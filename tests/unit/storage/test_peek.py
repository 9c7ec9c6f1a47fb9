"""A peek says what describe says of the whole file, within its requests, and a bad file is a reason."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from benchproof.errors import ObjectFailed
from benchproof.http import Http
from benchproof.journal import Journal
from benchproof.storage.blocks import SMALL
from benchproof.storage.describe import describe
from benchproof.storage.identity import Identity
from benchproof.storage.links import Links
from benchproof.storage.peek import Contents, peek
from benchproof.storage.ranged import RangedObject
from benchproof.storage.sandbox import ChildFailed, Sandbox
from benchproof.storage.signer import Signer
from h5ad import GENERATIONS, Matrix, Spec, build, huge, many, wide
from h5ad.faulty import HOSTILE, READABLE
from upstream import Upstream

HANDLE = "latch://1.node"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One child for all tests: whatever one of them does, the next gets its answer."""
    with Sandbox() as made:
        yield made


class Counted:
    """Reads a file, and counts as a server would."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, path.stat().st_size
        self.rounds: list[int] = []
        self.bytes = 0

    @property
    def requests(self) -> int:
        """How many ranges were asked for."""
        return sum(self.rounds)

    def __call__(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.rounds.append(len(ranges))
        with self.path.open("rb") as file:
            parts = [os.pread(file.fileno(), length, offset) for offset, length in ranges]
        assert [len(part) for part in parts] == [length for _, length in ranges]
        self.bytes += sum(map(len, parts))
        return parts


def same_as_local(found: Contents, path: Path) -> bool:
    with h5py.File(path, "r") as file:
        return all(getattr(found, name) == value for name, value in describe(file).items())


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_peek_equals_the_local_description(
    tmp_path: Path, sandbox: Sandbox, generation: str
) -> None:
    """In every layout, with all kinds of elements; requests are as counted outside."""
    spec = Spec(
        generation=generation,
        n_obs=3000,
        obs=wide(20, nullable=generation in ("0.12", "0.13")),
        raw=Matrix(),
        raw_vars=150,
        layers={"counts": Matrix("csc"), "full": Matrix("dense")},
    )
    build(tmp_path / "a.h5ad", spec)
    read = Counted(tmp_path / "a.h5ad")
    found = peek(sandbox, read, read.size)
    assert same_as_local(found, read.path)
    assert (found.requests, found.bytes_read) == (read.requests, read.bytes)
    assert (found.rounds, found.late) == (len(read.rounds), 0)


@pytest.mark.parametrize("name", [*READABLE, *HOSTILE])
def test_peculiar_files_are_told_or_named(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    """As on the spot; only what is no AnnData is refused."""
    (READABLE | HOSTILE)[name](tmp_path / "a.h5ad")
    read = Counted(tmp_path / "a.h5ad")
    if name == "other_hdf5":
        assert failed(sandbox, read) == ("unsupported", "not_anndata")
    else:
        assert same_as_local(peek(sandbox, read, read.size), read.path)
    assert read.requests <= 60


@pytest.mark.parametrize("generation", ["0.7", "0.12", "0.13"])
@pytest.mark.parametrize(
    ("size", "columns", "options"),
    [
        (2_080_000_000, 40, {}),
        (5_960_000_000, 30, {"raw": Matrix(), "raw_vars": 3000}),
        (5_960_000_000, 20, {"form": "dense"}),
    ],
    ids=["2GB", "6GB-raw", "6GB-dense"],
)
def test_a_large_file_costs_little(
    tmp_path: Path,
    sandbox: Sandbox,
    generation: str,
    size: int,
    columns: int,
    options: dict[str, Any],
) -> None:
    """Whatever its size: at most 60 requests, 640 KiB and 10 rounds.

    Columns of 0.13 that are groups put more of their names into HDF5's heaps, which are read whole.
    """
    huge(tmp_path / "a.h5ad", size=size, columns=columns, generation=generation, **options)
    read = Counted(tmp_path / "a.h5ad")
    assert read.size == size
    found = peek(sandbox, read, size)
    assert same_as_local(found, read.path)
    assert found.late == 0
    assert read.requests <= 60
    assert read.bytes <= (704 if generation == "0.13" else 640) * 1024
    assert len(read.rounds) <= 10


def test_columns_cost_requests_and_no_rounds(tmp_path: Path, sandbox: Sandbox) -> None:
    """60 columns need as many rounds as 5, give or take one."""
    rounds = {}
    for columns in (5, 60):
        path = tmp_path / f"{columns}.h5ad"
        huge(path, size=1_000_000_000, columns=columns)
        read = Counted(path)
        peek(sandbox, read, read.size)
        rounds[columns] = len(read.rounds)
        assert read.requests <= 80
        assert read.bytes <= 1.7 * 1024 * 1024
    assert abs(rounds[60] - rounds[5]) <= 1


def test_thousands_of_keys_cost_a_bounded_number_of_requests(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    """The first hundred are told."""
    build(tmp_path / "a.h5ad", Spec(uns=many(5000)))
    read = Counted(tmp_path / "a.h5ad")
    found = peek(sandbox, read, read.size)
    assert len(found.uns) == 101
    assert read.requests <= 60
    assert read.bytes <= 1024 * 1024


@pytest.mark.parametrize("form", ["v0", "latest", "user_block"])
@pytest.mark.parametrize("length", ["0", "7", "8", "100", "half", "last"])
def test_a_truncated_object_is_named_at_once(
    tmp_path: Path, sandbox: Sandbox, length: str, form: str
) -> None:
    """In two requests at most, whatever the superblock's version; half a signature says nothing."""
    options: dict[str, Any] = {
        "latest": {"libver": "latest"},
        "user_block": {"userblock_size": 512},
    }
    build(tmp_path / "good.h5ad")
    copied(tmp_path / "good.h5ad", tmp_path / "a.h5ad", **options.get(form, {}))
    data = (tmp_path / "a.h5ad").read_bytes()
    start = 512 if form == "user_block" else 0
    cut = {"half": len(data) // 2, "last": len(data) - 1}
    kept = cut[length] if length in cut else (start + int(length) if length != "0" else 0)
    (tmp_path / "a.h5ad").write_bytes(data[:kept])
    read = Counted(tmp_path / "a.h5ad")
    known = (form, length) != ("user_block", "7")
    assert failed(sandbox, read)[0] == ("truncated" if known else "unsupported")
    assert read.requests <= 2


def test_bytes_behind_the_end_do_no_harm(tmp_path: Path, sandbox: Sandbox) -> None:
    """HDF5 reads such files; the checks after a fetch tell."""
    build(tmp_path / "a.h5ad")
    with (tmp_path / "a.h5ad").open("ab") as file:
        file.write(b"x" * 1000)
    read = Counted(tmp_path / "a.h5ad")
    assert peek(sandbox, read, read.size).n_obs == 200


def _random(data: bytes) -> bytes:
    return data[:96] + random.Random(1).randbytes(len(data) - 96)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_random, ("unsupported", "damaged")),
        (lambda data: data[:96] + bytes(len(data) - 96), ("unsupported", "damaged")),
        (lambda data: data[:8] + b"\x09" + data[9:], ("unsupported", "damaged")),
        (lambda data: b"\x1f\x8b" + data[2:], ("unsupported", "not_hdf5")),
        (lambda data: b"<?xml", ("unsupported", "not_hdf5")),
    ],
    ids=["random", "zeros", "version", "gzip", "text"],
)
def test_other_bytes_are_a_reason(
    tmp_path: Path,
    sandbox: Sandbox,
    change: Callable[[bytes], bytes],
    expected: tuple[str, str],
) -> None:
    """After few requests."""
    build(tmp_path / "a.h5ad")
    (tmp_path / "b.h5ad").write_bytes(change((tmp_path / "a.h5ad").read_bytes()))
    read = Counted(tmp_path / "b.h5ad")
    assert failed(sandbox, read) == expected
    assert read.requests <= 10


def test_hdf5_of_another_kind_is_not_anndata(tmp_path: Path, sandbox: Sandbox) -> None:
    """It has no obs and var."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["matrix"] = np.zeros(100)
    assert failed(sandbox, Counted(tmp_path / "a.h5")) == ("unsupported", "not_anndata")


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_a_reason_or_does_not_matter(tmp_path: Path, sandbox: Sandbox, seed: int) -> None:
    """Whatever byte is wrong, within the budget, and no child dies of it."""
    dice = random.Random(seed)
    build(tmp_path / "a.h5ad", Spec(n_obs=3000, generation=dice.choice(GENERATIONS)))
    data = bytearray((tmp_path / "a.h5ad").read_bytes())
    marks = [found.start() for found in re.finditer(rb"HDF\r|TREE|SNOD|HEAP|GCOL|encoding", data)]
    for _ in range(dice.choice((1, 3, 20))):
        at = max(dice.choice(marks) + dice.randrange(-60, 120), 9)
        data[at : at + 8] = dice.choice([bytes(8), b"\xff" * 8, dice.randbytes(8)])
    (tmp_path / "a.h5ad").write_bytes(data)
    read = Counted(tmp_path / "a.h5ad")
    reason = None
    try:
        peek(sandbox, read, read.size)
    except ObjectFailed as failure:
        reason = failure.reason
    assert reason in (None, "damaged", "not_anndata", "shorter_than_superblock")
    assert read.requests < 100


def test_layouts_that_cannot_be_foreseen_still_work(tmp_path: Path, sandbox: Sandbox) -> None:
    """HDF5's newest structures are read one request after the other."""
    build(tmp_path / "good.h5ad", Spec(obs=wide(40), n_obs=3000))
    copied(tmp_path / "good.h5ad", tmp_path / "a.h5ad", libver="latest")
    read = Counted(tmp_path / "a.h5ad")
    found = peek(sandbox, read, read.size)
    assert same_as_local(found, read.path)
    assert 0 < found.late <= read.requests < 100


def test_links_of_a_remote_file_open_nothing(tmp_path: Path, sandbox: Sandbox) -> None:
    """Neither a file that lies here nor data that lies elsewhere."""
    build(tmp_path / "canary.h5ad", Spec(n_obs=77))
    build(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "r+") as file:
        file["layers/link"] = h5py.ExternalLink(str(tmp_path / "canary.h5ad"), "/X")
        file["layers"].create_dataset("stored", (2, 3), "f4", external=[("/etc/passwd", 0, 24)])
        del file["uns"]
        file["uns"] = h5py.ExternalLink(str(tmp_path / "canary.h5ad"), "/uns")
    read = Counted(tmp_path / "a.h5ad")
    found = peek(sandbox, read, read.size)
    assert found.layers == ["link: external link", "stored: array float32 (2, 3)"]
    assert found.uns == ["external link"]


@pytest.mark.parametrize("limits", [{"max_bytes": 150_000}, {"max_requests": 3}], ids=str)
def test_a_budget_is_kept(tmp_path: Path, sandbox: Sandbox, limits: dict[str, int]) -> None:
    """What would need more is not read."""
    build(tmp_path / "a.h5ad", Spec(n_obs=20_000, obs=wide(40)))
    read = Counted(tmp_path / "a.h5ad")
    assert failed(sandbox, read, **limits) == ("unsupported", "budget")
    assert read.bytes <= limits.get("max_bytes", 1 << 20)
    assert read.requests <= limits.get("max_requests", 100)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_what_the_object_says_is_raised_unchanged(
    tmp_path: Path, sandbox: Sandbox, after: int
) -> None:
    """Replaced or refused midway; the next peek works."""
    build(tmp_path / "a.h5ad", Spec(n_obs=5000))
    good = Counted(tmp_path / "a.h5ad")
    problem = ObjectFailed("changed", "replaced")

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        if len(good.rounds) >= after:
            raise problem
        return good(ranges)

    with pytest.raises(ObjectFailed) as failure:
        peek(sandbox, read, good.size)
    assert failure.value is problem
    assert len(good.rounds) == after
    good.rounds.clear()
    assert peek(sandbox, good, good.size).n_obs == 5000


def test_memory_and_time_of_the_parser_are_bounded(tmp_path: Path, sandbox: Sandbox) -> None:
    """A parser that cannot finish is a reason, too."""
    build(tmp_path / "a.h5ad")
    read = Counted(tmp_path / "a.h5ad")
    with Sandbox(memory=96 << 20) as narrow:
        assert failed(narrow, read)[1] in ("parser_memory", "parser_crashed")
    with Sandbox() as fresh:
        assert failed(fresh, read, seconds=0.001) == ("unsupported", "parser_timeout")


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    """Storage with one file that needs several rounds."""
    build(tmp_path / "a.h5ad", Spec(n_obs=5000, obs=wide(20)))
    with Upstream(tmp_path) as served:
        served.storage.share(HANDLE, path=tmp_path / "a.h5ad")
        yield served


def remote(upstream: Upstream, folder: Path, stack: ExitStack) -> RangedObject:
    """Open the file as a job does."""
    endpoints = upstream.endpoints()
    asking = stack.enter_context(Http([endpoints["signer"]], environ={}))
    http = stack.enter_context(Http(endpoints["storage"], environ={}, tries=1))
    links = Links(Signer(asking, endpoints["signer"], endpoints["storage"]), Journal(folder / "b"))
    url = links.url(HANDLE)
    answer = http.request("GET", url, what=HANDLE, headers={"Range": "bytes=0-0"})
    upstream.log.reset()
    return RangedObject(http, links, HANDLE, Identity.of(answer.status, answer.headers))


def test_a_peek_over_http_is_as_many_requests_as_it_says(
    tmp_path: Path, sandbox: Sandbox, upstream: Upstream
) -> None:
    """GET with a range and one identity, nothing else; each byte once."""
    with ExitStack() as stack:
        opened = remote(upstream, tmp_path, stack)
        found = peek(sandbox, opened.read, opened.identity.size or 0)
    log = upstream.requests("storage")
    assert same_as_local(found, tmp_path / "a.h5ad")
    assert {(r.method, r.status) for r in log} == {("GET", 206)}
    assert all(r.if_match and r.range for r in log)
    assert (len(log), sum(r.bytes_out for r in log)) == (found.requests, found.bytes_read)


@pytest.mark.parametrize("after", [0, 1, 4])
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("replaced", "changed"),
        ("denied", "denied"),
        ("missing", "missing"),
        ("ignore_range", "unsupported"),
        ("wrong_total", "changed"),
    ],
)
def test_faults_of_the_storage_come_through(
    tmp_path: Path,
    sandbox: Sandbox,
    upstream: Upstream,
    fault: str,
    expected: str,
    after: int,
) -> None:
    """At any time of the peek; never a description of two versions."""
    with ExitStack() as stack:
        opened = remote(upstream, tmp_path, stack)
        if fault == "replaced":
            build(tmp_path / "b.h5ad", Spec(n_obs=5000, n_vars=101, obs=wide(20)))
            other = partial(upstream.storage.replace_object, HANDLE, path=str(tmp_path / "b.h5ad"))
            upstream.add("call", "GET /storage/", after=after, action=lambda request: other())
        else:
            upstream.add(fault, "GET /storage/", after=after)
        with pytest.raises(ObjectFailed) as failure:
            peek(sandbox, opened.read, opened.identity.size or 0)
    assert failure.value.status == expected


def test_a_url_that_expires_midway_is_renewed(
    tmp_path: Path, sandbox: Sandbox, upstream: Upstream
) -> None:
    """Signed once more for all connections, and the peek is whole."""
    with ExitStack() as stack:
        opened = remote(upstream, tmp_path, stack)
        calls: list[int] = []

        def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
            calls.append(len(ranges))
            if len(calls) == 2:
                upstream.storage.expire_urls()
            return opened.read(ranges)

        found = peek(sandbox, read, opened.identity.size or 0)
    assert same_as_local(found, tmp_path / "a.h5ad")
    assert len(upstream.requests("sign")) == 1


class Fake:
    """A sandbox whose child answers what it is told."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def call(self, *given: Any, **options: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return json.loads(json.dumps(self._answer))


GOOD: dict[str, Any] = {
    **dict.fromkeys(("n_obs", "n_vars", "x_dtype", "nnz", "raw", "encoding_version")),
    **{
        name: [] for name in ("obs_columns", "var_columns", "layers", "obsm", "obsp", "varm", "uns")
    },
    "x_encoding": "absent",
}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ChildFailed("memory"), "parser_memory"),
        (ChildFailed("malformed"), "parser_crashed"),
        ({}, "parser_crashed"),
        ({"contents": {}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"n_obs": "5"}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"n_obs": -1}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"n_obs": True}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"uns": [1]}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"uns": ["x"] * 5000}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"raw": "x" * 5000}, "late": 0}, "parser_crashed"),
        ({"contents": GOOD | {"more": 1}, "late": 0}, "parser_crashed"),
    ],
)
def test_a_childs_answer_is_not_trusted(answer: Any, reason: str) -> None:
    """It may have been taken over by what it reads."""
    fake: Any = Fake(answer)
    with pytest.raises(ObjectFailed) as failure:
        peek(fake, lambda ranges: [], 10)
    assert (failure.value.status, failure.value.reason) == ("unsupported", reason)


def test_the_answer_that_those_are_made_of_is_good() -> None:
    """Otherwise the test above would prove nothing."""
    fake: Any = Fake({"contents": GOOD, "late": 0})
    assert peek(fake, lambda ranges: [], 10).x_encoding == "absent"


def test_the_head_is_one_request(tmp_path: Path, sandbox: Sandbox) -> None:
    """A small file is read whole."""
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file.create_group("obs"), file.create_group("var")
    read = Counted(tmp_path / "a.h5ad")
    assert read.size < SMALL
    assert peek(sandbox, read, read.size).n_obs is None
    assert read.rounds == [1]


def failed(sandbox: Sandbox, read: Counted, **options: Any) -> tuple[str, str]:
    """Return status and reason of a peek that fails."""
    with pytest.raises(ObjectFailed) as failure:
        peek(sandbox, read, read.size, **options)
    return failure.value.status, failure.value.reason


def copied(source: Path, target: Path, **options: Any) -> None:
    """Copy all objects of a file into one that is made with other options."""
    with h5py.File(source) as old, h5py.File(target, "w", **options) as new:
        for name, value in old.attrs.items():
            new.attrs[name] = value
        for name in old:
            old.copy(name, new)

"""The walk brings what HDF5 will read, in few rounds, and ends by itself whatever it meets."""

from __future__ import annotations

import os
import random
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from benchproof.storage.blocks import HEAD, BlockFile, Blocks
from benchproof.storage.describe import Limits, describe
from benchproof.storage.walker import Superblock, Unparsable, prefetch, superblock
from benchproof.storage.walker.parse import Entry, collection, link, tree_node
from benchproof.storage.walker.scheduler import MAX_ROUNDS, Scheduler, Walk
from h5ad import GENERATIONS, Matrix, Spec, build, many, wide

LIMITS = Limits()


class File:
    """Blocks over bytes, with the rounds that were asked for."""

    def __init__(self, data: bytes) -> None:
        self.data, self.rounds = data, 0
        self.blocks = Blocks(self.read, len(data), max_bytes=1 << 23, max_requests=1000)

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.rounds += 1
        return [self.data[o : o + n] for o, n in ranges]

    def walk(self) -> int:
        """Walk an AnnData file; returns how many requests HDF5 needs after it."""
        self.blocks.fetch([(0, HEAD)])
        block = superblock(self.data[:HEAD])
        assert block is not None
        prefetch(self.blocks, block, typed=LIMITS.typed, members=LIMITS.members, links=LIMITS.links)
        before = self.blocks.requests
        with h5py.File(BlockFile(self.blocks), "r") as file:
            describe(file, LIMITS)
        return self.blocks.requests - before


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("columns", [0, 9, 60])
def test_hdf5_finds_all_it_wants(tmp_path: Path, generation: str, columns: int) -> None:
    """After the walk HDF5 asks for nothing more, in every layout; rounds do not grow with columns."""
    nullable = generation in ("0.12", "0.13")
    spec = Spec(
        generation=generation,
        n_obs=3000,
        obs=wide(columns, nullable=nullable),
        raw=Matrix(),
        raw_vars=300,
        layers={"counts": Matrix("csc"), "full": Matrix("dense")},
        obsp=("connectivities", "distances"),
    )
    build(tmp_path / "a.h5ad", spec)
    file = File((tmp_path / "a.h5ad").read_bytes())
    assert file.walk() == 0
    assert file.rounds <= 9


def test_many_names_are_bounded(tmp_path: Path) -> None:
    """Of 5,000 keys the walk looks up those that are told."""
    build(tmp_path / "a.h5ad", Spec(uns=many(5000)))
    file = File((tmp_path / "a.h5ad").read_bytes())
    assert file.walk() == 0
    assert file.blocks.requests <= 60
    assert file.blocks.bytes_read <= 1 << 20


def test_a_new_layout_of_hdf5_is_read_one_by_one(tmp_path: Path) -> None:
    """What the walk cannot read (dense links) costs requests, and nothing else."""
    build(tmp_path / "a.h5ad")
    copied(tmp_path / "a.h5ad", tmp_path / "b.h5ad", libver="latest")
    file = File((tmp_path / "b.h5ad").read_bytes())
    assert file.walk() > 0
    assert file.rounds < 100


def test_compact_links_and_attributes_are_walked(tmp_path: Path) -> None:
    """Version 2 headers with few members need no lookup."""
    with h5py.File(tmp_path / "a.h5ad", "w", libver="latest") as file:
        file.attrs["encoding-type"] = "anndata"
        file["pad"] = np.zeros(100_000)
        for name in ("obs", "var"):
            group = file.create_group(name)
            group.attrs["_index"] = "cells"
            group["cells"] = np.arange(50_000)
    found = File((tmp_path / "a.h5ad").read_bytes())
    assert found.walk() == 0


def test_a_user_block_moves_everything(tmp_path: Path) -> None:
    """Addresses count from the superblock, the file's end does not."""
    build(tmp_path / "a.h5ad")
    copied(tmp_path / "a.h5ad", tmp_path / "b.h5ad", userblock_size=1024)
    data = (tmp_path / "b.h5ad").read_bytes()
    block = superblock(data)
    assert block is not None
    assert (block.base, block.end) == (1024, len(data))
    assert File(data).walk() == 0


def test_a_user_block_added_later_moves_the_end(tmp_path: Path) -> None:
    """HDF5 reads such files; the end they state is that before the move."""
    build(tmp_path / "a.h5ad")
    data = bytes(512) + (tmp_path / "a.h5ad").read_bytes()
    block = superblock(data)
    assert block is not None
    assert block.end == len(data)
    assert File(data).walk() == 0


@pytest.mark.parametrize("seed", range(40))
def test_no_bytes_stop_the_walk(tmp_path: Path, seed: int) -> None:
    """Random damage to what the walk reads never raises and never goes on for long."""
    dice = random.Random(seed)
    build(tmp_path / "a.h5ad", Spec(layers={"c": Matrix("csc")}))
    data = bytearray((tmp_path / "a.h5ad").read_bytes())
    marks = [found.start() for found in re.finditer(rb"TREE|SNOD|HEAP|GCOL", data)]
    for mark in dice.sample(marks, 8):
        at = mark + dice.randrange(-40, 120)
        data[at : at + 8] = dice.choice(
            [bytes(8), b"\xff" * 8, dice.randbytes(8), struct.pack("<Q", dice.choice(marks))]
        )
    file = File(bytes(data))
    block = superblock(file.data)
    assert block is not None
    prefetch(file.blocks, block, typed=200, members=100, links=1000)
    assert file.rounds <= MAX_ROUNDS


def test_a_tree_that_is_its_own_child_ends(tmp_path: Path) -> None:
    """Depth and leaves are bounded."""
    build(tmp_path / "a.h5ad")
    data = bytearray((tmp_path / "a.h5ad").read_bytes())
    start = superblock(bytes(data))
    assert start is not None
    assert start.tree is not None
    data[start.tree + 5] = 5
    struct.pack_into("<H", data, start.tree + 6, 32)
    for i in range(32):
        struct.pack_into("<Q", data, start.tree + 32 + 16 * i, start.tree)
    file = File(bytes(data))
    prefetch(file.blocks, start, typed=200, members=100, links=1000)
    assert file.rounds <= MAX_ROUNDS


def test_a_walk_that_never_ends_is_ended() -> None:
    """Neither waiting nor spawning can go on for ever."""
    file = File(bytes(1 << 22))

    def wanders(at: int = 0) -> Walk:
        while True:
            at = (at + 100_000) % (1 << 22)
            yield (at, 16)

    def multiplies() -> Walk:
        while True:
            yield [multiplies(), multiplies()]

    Scheduler(file.blocks).run(wanders())
    assert file.rounds <= MAX_ROUNDS
    Scheduler(file.blocks).run(multiplies())


def test_results_come_back_in_order() -> None:
    """A walk gets what its parts return, None for one that could not go on."""
    file = File(bytes(range(256)) * 100)
    seen: list[Any] = []

    def part(at: int) -> Walk:
        data = yield (at, 1)
        return data

    def breaks() -> Walk:
        yield (3, 1)
        raise Unparsable

    def outside() -> Walk:
        data = yield (10**9, 1)
        return data

    def whole() -> Walk:
        seen.append((yield [part(9000), breaks(), outside(), part(1)]))
        seen.append((yield []))

    Scheduler(file.blocks).run(whole())
    assert seen == [[bytes([9000 % 256]), None, None, b"\x01"], []]


@pytest.mark.parametrize(
    ("head", "expected"),
    [(b"", None), (b"\x1f\x8b" + bytes(5000), None), (bytes(64 * 1024), None)],
    ids=["nothing", "gzip", "zeros"],
)
def test_other_files_have_no_superblock(head: bytes, expected: Superblock | None) -> None:
    """Only a signature at 0 or a power of two from 512 counts."""
    assert superblock(head) is expected


@pytest.mark.parametrize("length", [8, 9, 20, 60])
def test_a_cut_superblock_is_unparsable(tmp_path: Path, length: int) -> None:
    """There is a signature, and not enough after it."""
    build(tmp_path / "a.h5ad")
    with pytest.raises(Unparsable):
        superblock((tmp_path / "a.h5ad").read_bytes()[:length])


def test_structures_with_wrong_signatures_are_refused() -> None:
    """Nothing is guessed."""
    with pytest.raises(Unparsable):
        tree_node(b"TREF" + bytes(600))
    with pytest.raises(Unparsable):
        link(b"\x02" + bytes(20))
    assert collection(b"GCOL" + bytes(60)) == {}


def test_a_link_names_its_object() -> None:
    """Creation order and character set are skipped; soft links are none."""
    plain = b"\x01\x00\x03obs" + struct.pack("<Q", 77)
    marked = b"\x01\x14" + bytes(8) + b"\x01\x03obs" + struct.pack("<Q", 77)
    soft = b"\x01\x08\x01\x03obs\x01\x00x"
    assert link(plain) == link(marked) == ("obs", Entry(77))
    assert link(soft) is None


def copied(source: Path, target: Path, **options: Any) -> None:
    """Copy all objects of a file into one that is made with other options."""
    with h5py.File(source) as old, h5py.File(target, "w", **options) as new:
        for name, value in old.attrs.items():
            new.attrs[name] = value
        for name in old:
            old.copy(name, new)
    assert os.path.getsize(target)

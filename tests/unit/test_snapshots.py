"""The snapshots of the synthetic family are .h5ad files of exactly the sizes that their handles state."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import h5py
import pytest

from family import Family, build_family, draft_family, write_family
from family.shape import SIZES_MB
from family.snapshots import SNAPSHOTS


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    """The repositories that have snapshots."""
    return build_family(tmp_path_factory.mktemp("family"), small=True, repos=list(SIZES_MB))


def files(family: Family) -> dict[str, Path]:
    """Return the snapshots by handle."""
    return {entry.handle: Path(entry.path) for entry in family.handles.values() if entry.path}


def test_sizes(family: Family) -> None:
    """All 16 have their handle's size, 23.5 GB in all, and occupy little of the disk."""
    found = files(family)
    assert len(found) == 16
    sizes = {handle: path.stat().st_size for handle, path in found.items()}
    assert sizes == {handle: family.handles[handle].size for handle in found}
    assert round(sum(sizes.values()) / 1e9, 1) == 23.5
    assert sum(path.stat().st_blocks for path in found.values()) * 512 < 120_000_000
    assert {path.parent for path in found.values()} == {family.root / "snapshots"}


def test_shapes(family: Family) -> None:
    """What a file holds is what SNAPSHOTS says, in the order of the sizes."""
    draft = draft_family(small=True, repos=list(SIZES_MB))
    shapes = set()
    for handle, (name, place) in draft.snapshots.items():
        spec = SNAPSHOTS[name][place]
        with h5py.File(files(family)[handle], "r") as file:
            obs = file["obs"] if spec.generation == "0.6" else file["obs"][spec.obs[0].name]
            rows = obs.shape if isinstance(obs, h5py.Dataset) else obs["codes"].shape
        assert rows == (spec.n_obs,)
        shapes.add((spec.n_obs, spec.n_vars))
    assert len(shapes) == 16


def test_every_snapshot_and_nothing_else_is_hdf5(family: Family) -> None:
    """The handles with a file are exactly those that storage serves as HDF5."""
    whole = draft_family()
    known = {handle for handle, entry in whole.handles.items() if entry.container == "hdf5"}
    assert known == set(whole.snapshots) == set(files(family))


def test_written_again_or_copied(family: Family, tmp_path: Path) -> None:
    """A second family has the same bytes and times, though it copies what the first one made."""
    again = write_family(draft_family(small=True, repos=["scbench"]), tmp_path)
    first = files(family)
    for handle, path in files(again).items():
        assert path.stat().st_mtime_ns == first[handle].stat().st_mtime_ns
        if path.stat().st_size < 50_000_000:
            assert path.read_bytes() == first[handle].read_bytes()
    smallest = min(files(again).values(), key=lambda path: path.stat().st_size)
    good = smallest.read_bytes()
    # A file that a test has damaged is not copied.
    smallest.write_bytes(good[:-1] + b"x")
    os.utime(smallest, (1, 1))
    third = write_family(draft_family(small=True, repos=["scbench"]), tmp_path / "third")
    assert (third.root / "snapshots" / smallest.name).read_bytes() == good


def test_description_keeps_paths(family: Family, tmp_path: Path) -> None:
    """A family that is served by another process finds its files."""
    family.save(tmp_path / "family.json")
    loaded = Family.load(tmp_path / "family.json")
    assert dataclasses.asdict(loaded)["handles"] == dataclasses.asdict(family)["handles"]
    assert files(loaded) == files(family)

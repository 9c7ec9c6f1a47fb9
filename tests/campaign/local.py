"""Damage to what lies in the vault between two runs, as power losses, tools and people do it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from campaign.site import Site


def _data(site: Site) -> list[Path]:
    return [path / "data" for path in site.parts() if (path / "data").exists()]


def _journals(site: Site) -> list[Path]:
    return [path / "journal" for path in site.parts() if (path / "journal").exists()]


def _plant(site: Site, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    site.planted.add(sha256(data).hexdigest())


def flip_data(site: Site, rng: random.Random) -> None:
    """Change a byte of each unfinished file."""
    for path in _data(site):
        with path.open("r+b") as file:
            size = os.fstat(file.fileno()).st_size
            if size:
                at = rng.randrange(size)
                file.seek(at)
                old = file.read(1)
                file.seek(at)
                file.write(bytes([old[0] ^ 0x10]))


def zero_data(site: Site, _: random.Random) -> None:
    """Lose the second half of each unfinished file's pages."""
    for path in _data(site):
        size = path.stat().st_size
        os.truncate(path, size // 2)
        os.truncate(path, size)


def cut_data(site: Site, rng: random.Random) -> None:
    """Shorten each unfinished file."""
    for path in _data(site):
        os.truncate(path, rng.randrange(path.stat().st_size + 1))


def lengthen_data(site: Site, _: random.Random) -> None:
    """Append to each unfinished file."""
    for path in _data(site):
        with path.open("ab") as file:
            file.write(b"0123456789")


def tear_journal(site: Site, rng: random.Random) -> None:
    """Tear the last line of each journal, or more."""
    for path in _journals(site):
        os.truncate(path, max(path.stat().st_size - rng.randrange(1, 40), 0))


def drop_journal(site: Site, _: random.Random) -> None:
    """Delete each journal."""
    for path in _journals(site):
        path.unlink()


def spoil_journal(site: Site, rng: random.Random) -> None:
    """Put bytes into each journal."""
    for path in _journals(site):
        held = path.read_bytes()
        at = rng.randrange(len(held) + 1)
        path.write_bytes(held[:at] + rng.randbytes(20) + held[at:])


def from_elsewhere(site: Site, _: random.Random) -> None:
    """Let each unfinished file be of another machine."""
    for path in site.parts():
        head, owner, tail = path.name.rsplit(".", 2)
        path.rename(path.with_name(f"{head}.{'0' * 12}-{owner.partition('-')[2]}.{tail}"))


def wrong_final(site: Site, rng: random.Random) -> None:
    """Put other bytes where the object would be."""
    path = site.store.path(site.handle, site.identity, "h5ad")
    path.parent.mkdir(parents=True, exist_ok=True)
    _plant(site, path, rng.randbytes(max(site.object.size, 1)))


def flip_final(site: Site, rng: random.Random) -> None:
    """Change a byte of the object, or of one that is no longer the newest."""
    for path in site.finals():
        held = bytearray(path.read_bytes())
        if held:
            held[rng.randrange(len(held))] ^= 1
            _plant(site, path, bytes(held))


def drop_record(site: Site, _: random.Random) -> None:
    """Delete each record."""
    for path in site.store.root.glob("*/*.json"):
        path.unlink()


DAMAGES: dict[str, Callable[[Site, random.Random], None]] = {
    damage.__name__: damage
    for damage in (
        flip_data,
        zero_data,
        cut_data,
        lengthen_data,
        tear_journal,
        drop_journal,
        spoil_journal,
        from_elsewhere,
        wrong_final,
        flip_final,
        drop_record,
    )
}

"""The vault: the one folder that may hold answers, and the only code that lays it out.

```
<resources>/
  mirrors/<owner>+<name>.git     blob-less git mirrors, each pin held by a ref
  history/<owner>+<name>.git     all commits and trees, no blobs: past dates, short ids, ranges
  objects/<aa>/<id>              proven blobs that came one by one over REST
  content/<owner>+<name>/<commit>.zip   listing and needed blobs of one commit
  pins/<label>/<owner>+<name>.<ref digest>.json   what was pinned on that date, once
  observed/<label>/<stage>.jsonl what signer and storage said on that date, as it came
  peeks/<handle>/<version>.json  what is inside an object, by its ETag
  snapshots/<handle>/<version>.<suffix>  fetched objects with their records, by ETag; unfinished
                                 ones in <version>.<owner>.part/
  handover/<results>/<label>/    hand-overs between the jobs of one report; what a job printed (said/)
                                 and its temporary files (tmp/)
  reproduce/<label>.<digest>/    a report derived again: a vault and results of its own
  determinism/<label>/           a date derived under several conditions: rooms, what they made, logs;
                                 beside them `other`, a vault filled through the other source, and `locales`
  home/                          an empty HOME, so that git reads nobody's settings
  cache/                         Snakemake's cache, for a watched run whose user has no home
  logs/<start>.log               what a watched run and its snakemake said
  lease.json                     the run that holds the vault
  bait                           what each confined job tries to read, and can't
```
Folders are created 0700 and files 0600, whatever the umask: answers are not the group's business.
"""

from __future__ import annotations

import json
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final

from benchproof.errors import VaultError, unwritten, why
from benchproof.jsontext import canonical

#: The umask of child processes that write into the vault.
PRIVATE: Final = 0o077
_PARTIAL = re.compile(r"\.[0-9a-f]{32}\.part$")


#: One folder or file below a folder of ours, whoever named it; a name that leads elsewhere is none.
_COMPONENT: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._+@-]{1,220}\Z")


def slug(repo: str) -> str:
    """Return a repository's folder name: owner+name; the schema admits no other separators."""
    return component(repo.replace("/", "+"))


def component(name: str) -> str:
    """Return a name that is one component of a path; raises VaultError for any other."""
    if not _COMPONENT.match(name):
        raise VaultError(
            "a name that is to be a folder's or a file's leads elsewhere; it is refused."
        )
    return name


class Vault:
    """Paths of a vault, and private atomic writes into it."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def create(self) -> None:
        """Make the vault's folder, private even when somebody else made it with other rights."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            if stat.S_IMODE(self.root.stat().st_mode) != 0o700:
                self.root.chmod(0o700)
        except OSError as error:
            raise VaultError(
                f"{self.root}: the vault cannot be made here ({why(error)}); "
                "set `resources` to a folder of yours."
            ) from None

    def mirror(self, repo: str) -> Path:
        """Return the bare git mirror of a repository."""
        return self.root / "mirrors" / f"{slug(repo)}.git"

    def history(self, repo: str) -> Path:
        """Return the bare git mirror of all of a repository's commits and trees."""
        return self.root / "history" / f"{slug(repo)}.git"

    def content(self, repo: str, commit: str) -> Path:
        """Return the archive that holds what an audit needs of one commit."""
        return self.root / "content" / slug(repo) / component(f"{commit}.zip")

    def pin_record(self, label: str, repo: str, ref: str) -> Path:
        """Return the file that says what a ref of a repository was pinned to under a label."""
        named = sha256(ref.encode()).hexdigest()[:8]
        return self.root / "pins" / component(label) / f"{slug(repo)}.{named}.json"

    def observed(self, label: str, stage: str, protocol: str) -> Path:
        """Return the journal of what a stage learnt of the world under a label, by its protocol."""
        return self.root / "observed" / component(label) / f"{stage}.{protocol}.jsonl"

    def records(self, label: str) -> tuple[Path, Path]:
        """Return the folders of what was pinned and observed under a label: the only record of it."""
        return self.root / "pins" / label, self.root / "observed" / label

    @property
    def peeks(self) -> Path:
        """The folder of what was found inside objects."""
        return self.root / "peeks"

    @property
    def snapshots(self) -> Path:
        """The folder of fetched objects."""
        return self.root / "snapshots"

    def work(self, results: str, label: str) -> Path:
        """Return the folder through which the jobs of one report hand over what must not leave."""
        name = "+".join(part for part in results.split("/") if part)
        return self.root / "handover" / (f"{name}+" if name in (".", "..") else name or "+") / label

    def home(self) -> Path:
        """Return an empty private folder that serves as HOME for child processes."""
        return private_folder(self.root / "home")


class BlobStore:
    """Proven blobs, one file each, for sources that bring them one by one."""

    def __init__(self, vault: Vault) -> None:
        self._root = vault.root / "objects"

    def _path(self, sha: str) -> Path:
        return self._root / sha[:2] / sha[2:]

    def get(self, sha: str) -> bytes | None:
        """Return a blob that arrived earlier, or None; the caller proves it again."""
        try:
            return self._path(sha).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, sha: str, data: bytes) -> None:
        """Keep a proven blob."""
        with private_file(self._path(sha)) as handle:
            handle.write(data)


def private_folder(path: Path) -> Path:
    """Create a folder and its missing parents with mode 0700 and return it."""
    if path.is_dir():
        return path
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise VaultError(
            f"{path}: cannot create this folder ({why(error)}); check its parent."
        ) from None
    return path


def clock(folder: Path) -> float:
    """Return the time by the clock that files of a folder get theirs from: hosts disagree about it.

    Raises VaultError when no file can be made there.
    """
    probe = partial(folder / "clock")
    try:
        probe.touch(mode=0o600)
        return probe.stat().st_mtime
    except OSError as error:
        raise VaultError(
            f"{folder}: nothing can be written here ({why(error)}); free room or permissions there and "
            "run again."
        ) from None
    finally:
        discard(probe)


def partial(path: Path) -> Path:
    """Return a name beside `path` to write under first; no other thread, process or run uses it."""
    return path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")


def discard(part: Path) -> None:
    """Delete what is left under a temporary name, if anything; that it can't be hides no other error."""
    with suppress(OSError):
        part.unlink()


def sweep(folder: Path) -> int:
    """Delete what killed writers left below a folder; only the holder of the lease may."""
    left = [path for path in folder.rglob("*.part") if _PARTIAL.search(path.name)]
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file with mode 0600 that appears under its name only when it is whole.

    Raises VaultError naming the folder when there is no room or no permission; the old file stays.
    """
    part = partial(path)
    private_folder(path.parent)
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            yield handle
        os.replace(part, path)
    except OSError as error:
        raise VaultError(unwritten(error, path)) from None
    finally:
        discard(part)


def write_json(path: Path, value: object) -> None:
    """Write canonical JSON privately and atomically."""
    with private_file(path) as handle:
        handle.write(canonical(value).encode())


def read_json(path: Path) -> Any:
    """Return the value of one of our own JSON files.

    Raises VaultError when it is missing or damaged.
    """
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise VaultError(f"{path}: missing; run the stage that makes it again.") from None
    except ValueError:
        raise VaultError(f"{path}: damaged; delete it and run again.") from None

"""Reading bare repositories on disk for REST and raw, through one lasting git process per
repository.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import IO

HEX = re.compile(r"[0-9a-f]{40}")
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def git_environment() -> dict[str, str]:
    """Return an environment for git without user settings, prompts, or ways to fetch anything."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    fixed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    return kept | fixed | {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none"}


def git_command(path: Path) -> list[str]:
    """Return the head of a git command for a repository, whoever owns its folder."""
    return ["git", "-c", "safe.directory=*", "--git-dir", str(path)]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a listing: raw path, octal mode, blob, tree or commit, object id, size of
    blobs.
    """

    path: bytes
    mode: str
    kind: str
    sha: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit's fields; names and dates as git keeps them."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, int]
    committer: tuple[str, str, int]
    message: str


class Repository:
    """A repository to read from; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._listings: OrderedDict[tuple[str, bool], list[TreeEntry]] = OrderedDict()
        self._paths: OrderedDict[str, dict[bytes, TreeEntry]] = OrderedDict()

    def close(self) -> None:
        """End the git process."""
        with self._lock:
            self._end()

    def object(self, name: str) -> tuple[str, str, bytes] | None:
        """Return (id, type, content) of an object named by id or revision; None when there is
        none.
        """
        if "\n" in name or not name:
            return None
        with self._lock:
            try:
                return self._ask(name)
            except (BrokenPipeError, ValueError):
                self._end()
                return self._ask(name)

    def blob(self, sha: str) -> bytes:
        """Return a blob's content; raises KeyError without one."""
        found = self.object(sha)
        if found is None:
            raise KeyError(sha)
        return found[2]

    def resolve(self, ref: str) -> str | None:
        """Return the commit id that a branch, tag or (short) commit id names, None without one."""
        if ref.startswith("-") or re.search(r"[\x00-\x20~^:?*\[\\]|\.\.|@\{", ref):
            return None
        names = [f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/{ref}"]
        names += [ref] if re.fullmatch(r"[0-9a-f]{7,40}|HEAD", ref) else []
        names += [ref] if ref.startswith("refs/") else []
        for name in names:
            found = self.object(f"{name}^{{commit}}")
            if found is not None and found[1] == "commit":
                return found[0]
        return None

    def commit(self, sha: str) -> Commit | None:
        """Return a commit by its id."""
        found = self.object(sha)
        if found is None or found[1] != "commit":
            return None
        return _parse_commit(found[0], found[2])

    def is_empty(self) -> bool:
        """True for a repository without any ref."""
        return (
            self.resolve("HEAD") is None
            and not self._run("for-each-ref", "--count=1", "--format=%(refname)").strip()
        )

    def default_branch(self) -> str:
        """Return the branch that HEAD names."""
        text = (self.path / "HEAD").read_text().strip()
        return text.removeprefix("ref: refs/heads/") if text.startswith("ref:") else "main"

    def history(self, start: str, *options: str) -> list[str]:
        """Return commit ids as rev-list gives them."""
        return self._run("rev-list", *options, start, "--").decode().split()

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits, None without one."""
        return self._run("merge-base", one, other).decode().strip() or None

    def differing(self, one: str, other: str) -> list[str]:
        """Return the paths that differ between two commits."""
        names = self._run("diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other)
        return [name.decode("utf-8", "replace") for name in names.split(b"\0")[:-1]]

    def listing(self, tree: str, *, recursive: bool) -> list[TreeEntry]:
        """Return the entries of a tree, with the sub-trees themselves when recursive."""
        key = (tree, recursive)
        with self._lock:
            if key in self._listings:
                self._listings.move_to_end(key)
                return self._listings[key]
        options = ["-z", "-l", *(["-r", "-t"] if recursive else [])]
        entries = [
            _parse_entry(row) for row in self._run("ls-tree", *options, tree).split(b"\0") if row
        ]
        with self._lock:
            self._listings[key] = entries
            if len(self._listings) > 64:
                self._listings.popitem(last=False)
        return entries

    def find(self, commit: str, path: bytes) -> TreeEntry | None:
        """Return the entry at a path of a commit."""
        known = self.commit(commit)
        if known is None:
            return None
        with self._lock:
            places = self._paths.get(known.tree)
        if places is None:
            places = {entry.path: entry for entry in self.listing(known.tree, recursive=True)}
            with self._lock:
                self._paths[known.tree] = places
                if len(self._paths) > 8:
                    self._paths.popitem(last=False)
        return places.get(path)

    def _run(self, *arguments: str) -> bytes:
        """Run git and return what it prints."""
        command = [*git_command(self.path), *arguments]
        done = subprocess.run(command, capture_output=True, env=git_environment(), check=False)
        return done.stdout

    def _ask(self, name: str) -> tuple[str, str, bytes] | None:
        """Ask the lasting process for an object."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [*git_command(self.path), "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=git_environment(),
            )
        sent, got = _pipes(self._process)
        sent.write(name.encode() + b"\n")
        sent.flush()
        head = got.readline().decode().rstrip("\n")
        words = head.rsplit(" ", 2)
        if len(words) != 3 or not words[2].isdigit():
            if not head:
                raise ValueError("git ended")
            return None
        content = got.read(int(words[2]))
        got.read(1)
        return words[0], words[1], content

    def _end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            sent, got = _pipes(self._process)
            with contextlib.suppress(BrokenPipeError):
                sent.close()
            got.close()
            self._process.wait()
            self._process = None


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Return the two ends of a process's pipes."""
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _parse_entry(row: bytes) -> TreeEntry:
    """Read a line of ls-tree -l -z."""
    head, path = row.split(b"\t", 1)
    mode, kind, sha, size = head.decode().split()
    return TreeEntry(path, mode, kind, sha, None if size == "-" else int(size))


def _parse_commit(sha: str, content: bytes) -> Commit:
    """Read a commit object."""
    head, _, message = content.decode(errors="replace").partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.splitlines():
        name, _, value = line.partition(" ")
        fields.setdefault(name, []).append(value)
    return Commit(
        sha=sha,
        tree=fields["tree"][0],
        parents=tuple(fields.get("parent", [])),
        author=_person(fields["author"][0]),
        committer=_person(fields["committer"][0]),
        message=message.rstrip("\n"),
    )


def _person(text: str) -> tuple[str, str, int]:
    """Return (name, address, seconds) of an author or committer line."""
    found = re.fullmatch(r"(.*?) ?<(.*?)> (\d+) [+-]\d+", text)
    return (found[1], found[2], int(found[3])) if found else (text, "", 0)


class Repositories:
    """The repositories below a root folder: root/<owner>/<name>.git, a bare folder, or a work
    tree.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ids: dict[str, int] = {}
        self._lock = threading.Lock()
        self._open: dict[Path, tuple[int, Repository]] = {}

    def path(self, full_name: str) -> Path | None:
        """Return the git directory of owner/name, None when there is no such repository."""
        parts = full_name.split("/")
        if len(parts) != 2 or not all(SAFE_NAME.fullmatch(part) for part in parts):
            return None
        owner, name = parts
        folder = self.root / owner
        for place in (folder / f"{name}.git", folder / name / ".git", folder / name):
            if (place / "HEAD").is_file() and (place / "objects").is_dir():
                return place
        return None

    def get(self, full_name: str) -> Repository | None:
        """Return the repository owner/name; a folder that was made anew is opened anew."""
        place = self.path(full_name)
        if place is None:
            return None
        made = (place / "objects").stat().st_ino
        with self._lock:
            known = self._open.get(place)
            if known is not None and known[0] == made:
                return known[1]
            if known is not None:
                known[1].close()
            self._open[place] = (made, Repository(place))
            return self._open[place][1]

    def repo_id(self, full_name: str) -> int:
        """Return the numeric id of a repository: `ids` if set, else made from the name."""
        digest = hashlib.sha256(full_name.encode()).digest()
        return self.ids.get(full_name, 100_000_000 + int.from_bytes(digest[:4]) % 800_000_000)

    def names(self) -> list[str]:
        """Return owner/name of every repository below the root."""
        found = {
            f"{place.parent.name}/{place.name.removesuffix('.git')}"
            for place in self.root.glob("*/*")
            if place.is_dir()
        }
        return sorted(name for name in found if self.path(name) is not None)

    def by_id(self, number: int) -> str | None:
        """Return owner/name of a numeric id."""
        return next((name for name in self.names() if self.repo_id(name) == number), None)

    def close(self) -> None:
        """Close every repository."""
        with self._lock:
            for _, repository in self._open.values():
                repository.close()
            self._open.clear()

"""Trees in memory and a fast way to turn them into bare git repositories with fixed commit ids."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

FILE, EXECUTABLE, SYMLINK, SUBMODULE = "100644", "100755", "120000", "160000"
FIRST_COMMIT_AT = 1_785_542_400  # 2026-08-01T00:00:00Z
COMMIT_STEP = 10 * 86_400
PERSON = "Synthetic Family <family@example.invalid>"

_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
"""


def as_path(path: str | bytes) -> bytes:
    """Return a path of a tree as raw bytes."""
    return path.encode() if isinstance(path, str) else path


class RepoTree(dict[bytes, tuple[str, bytes]]):
    """The leaves of one commit: raw path -> (octal mode, content).

    The content of a symlink is its target, that of a submodule the commit id in hex.
    """

    def put(self, path: str | bytes, content: str | bytes, mode: str = FILE) -> None:
        """Add or replace a file."""
        self[as_path(path)] = (mode, content.encode() if isinstance(content, str) else content)

    def put_json(self, path: str | bytes, value: Any, indent: int | None = 2) -> None:
        """Add or replace a file holding `value` as JSON text with a final newline."""
        self.put(path, json.dumps(value, indent=indent) + "\n")

    def link(self, path: str | bytes, target: str) -> None:
        """Add a symbolic link."""
        self.put(path, target, SYMLINK)

    def submodule(self, path: str | bytes, commit: str) -> None:
        """Add a submodule entry (a gitlink) that points to `commit`."""
        self.put(path, commit, SUBMODULE)

    def text(self, path: str | bytes) -> bytes:
        """Return the content of a leaf."""
        return self[as_path(path)][1]

    def json(self, path: str | bytes) -> Any:
        """Return the content of a leaf, read as JSON."""
        return json.loads(self.text(path))

    def below(self, folder: str | bytes) -> list[bytes]:
        """Return the sorted paths below a folder."""
        head = as_path(folder).rstrip(b"/") + b"/"
        return sorted(path for path in self if path.startswith(head))

    def clone(self) -> RepoTree:
        """Return a copy that can be changed on its own."""
        return RepoTree(self)


def quote(path: bytes) -> bytes:
    """Return a path in git's C style, which survives every byte but NUL."""
    special = {ord('"'): b'\\"', ord("\\"): b"\\\\", ord("\n"): b"\\n"}
    plain = range(0x20, 0x7F)
    body = b"".join(
        special.get(byte) or (bytes([byte]) if byte in plain else b"\\%03o" % byte) for byte in path
    )
    return b'"' + body + b'"'


def git_environment() -> dict[str, str]:
    """Return an environment for git that depends on no user, system or outer repository."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    fixed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    return kept | fixed | {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:http:https"}


def init_repo(path: Path, branch: str = "main") -> None:
    """Create an empty bare repository whose HEAD names an unborn branch."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (path / folder).mkdir(parents=True, exist_ok=True)
    (path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (path / "config").write_text(_CONFIG)


def write_repo(
    path: Path,
    commits: Sequence[RepoTree],
    *,
    branch: str = "main",
    dates: Sequence[int] | None = None,
    parents: Sequence[Sequence[int]] | None = None,
) -> list[str]:
    """Write a history of whole trees to a bare repository; return the commit ids, oldest first.

    The history is linear, or as `parents` says: for each commit the positions of earlier ones, two for
    a merge, none for a root. The branch is the last commit.
    `dates` are seconds since 1970; by default commits lie ten days apart. The same trees give the
    same ids everywhere. A repository that exists gets the commits on top of nothing: its branch is
    replaced.
    """
    init_repo(path, branch)
    if not commits:
        return []
    when = dates or [FIRST_COMMIT_AT + COMMIT_STEP * step for step in range(len(commits))]
    before = parents or [[], *([number] for number in range(len(commits) - 1))]
    marks = path / "import-marks"
    command = ["git", "-c", "fastimport.unpackLimit=0", "-c", "pack.compression=1"]
    command += ["--git-dir", str(path), "fast-import", "--quiet", "--force"]
    subprocess.run(
        [*command, f"--export-marks={marks}"],
        input=b"".join(_stream(commits, branch, when, before)),
        env=git_environment(),
        check=True,
    )
    known = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return [known[f":{number}"] for number in range(1, len(commits) + 1)]


def _stream(
    commits: Sequence[RepoTree],
    branch: str,
    dates: Sequence[int],
    parents: Sequence[Sequence[int]],
) -> Iterable[bytes]:
    """Yield a fast-import stream; commits carry the marks 1 to n, blobs those above."""
    known: dict[bytes, int] = {}
    for number, (tree, date, above) in enumerate(
        zip(commits, dates, parents, strict=True), start=1
    ):
        lines: list[bytes] = []
        for path in sorted(tree):
            mode, content = tree[path]
            if mode == SUBMODULE:
                reference = content
            else:
                key = hashlib.sha1(content, usedforsecurity=False).digest()
                if key not in known:
                    known[key] = len(commits) + len(known) + 1
                    yield b"blob\nmark :%d\ndata %d\n" % (known[key], len(content))
                    yield content
                    yield b"\n"
                reference = b":%d" % known[key]
            lines.append(b"M %s %s %s\n" % (mode.encode(), reference, quote(path)))
        message = f"Synthetic state {number}\n".encode()
        if not above:
            yield b"reset refs/heads/%s\n" % branch.encode()
        yield b"commit refs/heads/%s\nmark :%d\n" % (branch.encode(), number)
        for role in (b"author", b"committer"):
            yield b"%s %s %d +0000\n" % (role, PERSON.encode(), date)
        yield b"data %d\n%s" % (len(message), message)
        for word, position in zip((b"from", *(b"merge" for _ in above)), above, strict=False):
            yield b"%s :%d\n" % (word, position + 1)
        yield b"deleteall\n"
        yield from lines
        yield b"\n"

"""git's objects, its words, the listings and archives that a source hands on."""

from __future__ import annotations

import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from benchproof.errors import BenchproofError, ProofError, VaultError
from benchproof.sources import archive, content, gitcmd, objects, ranges
from benchproof.sources.base import Entry
from fuzz.registry import target

_TREE = (
    b"100644 a.json\0" + bytes(20) + b"40000 evals\0" + b"\x11" * 20 + b"120000 l\0" + b"\2" * 20
)
_COMMIT = (
    b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent "
    + b"a" * 40
    + b"\nauthor A <a@b> 1 +0000\n"
    b"committer A <a@b> 1785542400 +0000\ngpgsig x\n y\n\ntext\n"
)
_ENTRIES = [
    Entry(b"evals/a.json", "100644", "a" * 40, 12),
    Entry(b"evals/deep/er/b.json", "100755", "b" * 40),
    Entry(b"link", "120000", "c" * 40, 3),
    Entry(b"sub", "160000", "d" * 40),
]


@target("tree_object", lambda: [_TREE, _TREE[:33], b""], allowed=[objects.MalformedObjectError])
def _tree(data: bytes) -> None:
    rows = objects.parse_tree(data)
    flat = [row for row in rows if not objects.is_folder(row[0])]
    objects.size_of({"r": flat}, "r")
    objects.tree_id(Entry(name, mode, sha) for mode, name, sha in flat)


@target("commit_object", lambda: [_COMMIT], allowed=[objects.MalformedObjectError], kind="lines")
def _commit(data: bytes) -> None:
    found = objects.parse_commit(data)
    ranges.newest_first({"x" * 40: found})


@target("path", lambda: [b"evals/a.json", 'é\u202e\x7f"\\\n'.encode(), b"\xff\xfe"])
def _path(data: bytes) -> None:
    shown = objects.quote_path(data)
    assert objects.unquote_path(shown) == data
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)
    shown.encode()


@target("quoted_path", lambda: [b'"a\\303\\251\\"\\n"', b"plain"], allowed=[ValueError])
def _quoted(data: bytes) -> None:
    objects.unquote_path(data.decode("utf-8"))


@target(
    "listing",
    lambda: [content.listing(_ENTRIES)],
    allowed=[ValueError, objects.MalformedObjectError],
)
def _listing(data: bytes) -> None:
    objects.tree_id(list(content.parse_listing(data)))


@cache
def _packed() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("tree", content.listing(_ENTRIES))
        for text in (b"{}", b"x" * 4000):
            file.writestr(f"blobs/{objects.blob_id(text)}", text)
    return made.getvalue()


@target("archive", lambda: [_packed()], allowed=[archive.DamagedError])
def _archive(data: bytes) -> None:
    held = archive.Archive(io.BytesIO(data))
    for name in list(archive.names(io.BytesIO(data)))[:50]:
        if name in held:
            held.read(name)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


@target("content", lambda: [_packed()], allowed=[VaultError, ProofError])
def _content(data: bytes) -> None:
    path = _folder() / "a.zip"
    path.write_bytes(data)
    ids = content.blob_ids(path)
    with content.opened(path) as held:
        for sha in sorted(ids)[:5]:
            if held.has(sha):
                held.read(sha)


@target(
    "git_words",
    lambda: [
        b"fatal: unable to access 'https://h/x.git/': The requested URL returned error: 404\n",
        b"fatal: remote error: upload-pack: not our ref aaaa\n",
        b"error: RPC failed; curl 56 reset by peer\n",
    ],
    kind="lines",
)
def _words(data: bytes) -> None:
    found = gitcmd._classified(data.decode("utf-8", "replace"), "o/n")
    assert isinstance(found, BenchproofError)
    assert str(found).isprintable()

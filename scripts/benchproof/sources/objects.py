"""Git objects as values: ids, trees, commits and paths, without git and without input or output.

The formats are git's own (gitformat-tree, git-commit, quote.c, fsck.c). What a source hands on is
proven here: bytes hash to the id they were asked for by, a listing is rebuilt to its root tree.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchproof.errors import BenchproofError, ProofError
from benchproof.sources.base import Entry

#: Id of the tree without entries: it needs no request to be known.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
TREE_MODE = "40000"

_HEX_ID = re.compile(r"[0-9a-f]{40}\Z")
_MODE = re.compile(rb"[0-7]{5,6}\Z")
_COMMITTER_TIME = re.compile(rb"> *(-?[0-9]+) [+-][0-9]+\Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MalformedObjectError(BenchproofError):
    """Bytes, or a listing, that no git object can have."""


def object_id(kind: str, data: bytes) -> str:
    """Return git's SHA-1 id, in hex, of an object of `kind` (blob, tree, commit, tag)."""
    # git's ids are SHA-1 by definition; this is no use of it for security.
    digest = hashlib.sha1(f"{kind} {len(data)}\0".encode(), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def blob_id(data: bytes) -> str:
    """Return the id of a file's content."""
    return object_id("blob", data)


def prove(kind: str, expected: str, data: bytes, where: str) -> None:
    """Raise ProofError, naming `where`, unless `data` is the object `expected` of that kind."""
    actual = object_id(kind, data)
    if actual != expected:
        raise ProofError(kind, expected, actual, where)


def is_id(text: object) -> bool:
    """True for a full object id: 40 lower-case hex digits."""
    return isinstance(text, str) and _HEX_ID.match(text) is not None


def parse_tree(data: bytes) -> list[tuple[str, bytes, str]]:
    """Return (mode, name, id) of each entry of a tree object, in the object's own order.

    Modes are as written ("40000" for a directory). Raises MalformedObjectError for what is no tree.
    """
    entries: list[tuple[str, bytes, str]] = []
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 7)
        end = data.find(b"\0", space + 1)
        if space < 0 or end < 0 or end + 21 > len(data):
            raise MalformedObjectError(f"a tree object is cut or malformed at byte {at}.")
        mode, name = data[at:space], data[space + 1 : end]
        if not _MODE.match(mode) or not name or b"/" in name:
            raise MalformedObjectError(f"a tree object holds a bad mode or name at byte {at}.")
        entries.append((mode.decode("ascii"), name, data[end + 1 : end + 21].hex()))
        at = end + 21
    return entries


def is_folder(mode: str) -> bool:
    """True for the mode of a directory."""
    return mode.lstrip("0") == TREE_MODE


def size_of(
    trees: Mapping[str, list[tuple[str, bytes, str]]],
    root: str,
    sizes: dict[str, tuple[int, int]] | None = None,
) -> int:
    """Return how many bytes the paths of all leaves have, from each distinct tree once.

    `sizes` keeps leaves and bytes by tree, for roots that share trees. Raises MalformedObjectError for a
    name that git refuses or that a tree holds twice.
    """
    sizes = {} if sizes is None else sizes
    waiting = [] if root in sizes else [root]
    while waiting:
        sha = waiting[-1]
        if sha in sizes:  # a tree that stands in many places
            waiting.pop()
            continue
        below = [child for mode, _, child in trees[sha] if is_folder(mode) and child not in sizes]
        if below:
            waiting += dict.fromkeys(below)
            continue
        waiting.pop()
        names: set[bytes] = set()
        leaves = length = 0
        for mode, name, child in trees[sha]:
            _check_component(name, name)
            if name in names:
                raise MalformedObjectError(
                    f"{quote_path(name)}: a tree object holds this name twice."
                )
            names.add(name)
            inner, bytes_below = sizes[child] if is_folder(mode) else (1, 0)
            leaves, length = leaves + inner, length + bytes_below + inner * (len(name) + 1)
        sizes[sha] = leaves, length
    return sizes[root][1]


@dataclass(frozen=True, slots=True)
class Commit:
    """What the audit needs of a commit; `committed_at` is the committer's time in UTC."""

    tree_sha: str
    parents: tuple[str, ...]
    committed_at: datetime


def parse_commit(data: bytes) -> Commit:
    """Read a commit object. Raises MalformedObjectError when it lacks a tree or a commit time."""
    headers = data.split(b"\n\n", 1)[0].split(b"\n")
    tree = _hex_header(headers[0], b"tree ")
    parents: list[str] = []
    for line in headers[1:]:
        if not line.startswith(b"parent "):
            break
        parents.append(_hex_header(line, b"parent "))
    committers = [line for line in headers if line.startswith(b"committer ")]
    if len(committers) != 1:
        raise MalformedObjectError("a commit object does not hold exactly one committer.")
    return Commit(tree, tuple(parents), _committer_time(committers[0]))


def _hex_header(line: bytes, key: bytes) -> str:
    value = line.removeprefix(key).decode("ascii", "replace")
    if not line.startswith(key) or not is_id(value):
        raise MalformedObjectError(f"a commit object has no valid {key.decode().strip()} line.")
    return value


def _committer_time(line: bytes) -> datetime:
    """Return the instant in UTC; the zone that follows it only says how to show it."""
    found = _COMMITTER_TIME.search(line)
    # More digits than any date has; int() of a hostile length would be slow, or refused.
    if found is None or len(found[1]) > 15:
        raise MalformedObjectError("a commit object has no readable committer time.")
    try:
        return _EPOCH + timedelta(seconds=int(found[1]))
    except OverflowError:
        raise MalformedObjectError(
            "a commit object's committer time is outside the calendar."
        ) from None


# --- from a flat listing back to the root tree ---------------------------------------------------


class _Directory:
    """A directory under construction; `children` maps a name to a leaf or a directory."""

    __slots__ = ("children", "sha")

    def __init__(self) -> None:
        self.children: dict[bytes, Entry | _Directory] = {}
        self.sha: str | None = None


def tree_id(entries: Iterable[Entry], directories: Iterable[bytes] = ()) -> str:
    """Return the id of the root tree that has exactly these leaves.

    `directories` names directories that exist even without a leaf: git can store an empty tree,
    though it never writes one itself. Raises MalformedObjectError for duplicate or conflicting
    paths, a component that is empty, ".", ".." or ".git" (git fsck's rule), a bad mode or id.
    """
    root = _Directory()
    for entry in entries:
        _place(root, entry)
    for path in directories:
        _descend(root, path.split(b"/"), path)
    return _hash(root)


def _place(root: _Directory, entry: Entry) -> None:
    *parents, name = entry.path.split(b"/")
    directory = _descend(root, parents, entry.path)
    _check_component(name, entry.path)
    if name in directory.children:
        raise MalformedObjectError(f"{quote_path(entry.path)}: the listing holds this path twice.")
    mode = entry.mode.encode("ascii", "replace")
    if not _MODE.match(mode) or entry.mode.lstrip("0") == TREE_MODE or not is_id(entry.sha):
        raise MalformedObjectError(f"{quote_path(entry.path)}: the listing gives a bad mode or id.")
    directory.children[name] = entry


def _descend(root: _Directory, parts: list[bytes], path: bytes) -> _Directory:
    """Walk down from the root, making directories on the way."""
    directory = root
    for part in parts:
        child = directory.children.get(part)
        if child is None:
            _check_component(part, path)
            child = directory.children[part] = _Directory()
        if isinstance(child, Entry):
            raise MalformedObjectError(
                f"{quote_path(path)}: the listing has both file and folder here."
            )
        directory = child
    return directory


def _hash(root: _Directory) -> str:
    """Hash children before parents with a stack of our own: depth is the upstream's to choose."""
    stack = [root]
    while stack:
        directory = stack[-1]
        waiting = [
            child
            for child in directory.children.values()
            if isinstance(child, _Directory) and child.sha is None
        ]
        if waiting:
            stack.extend(waiting)
        else:
            directory.sha = object_id("tree", _serialise(directory))
            stack.pop()
    assert root.sha is not None
    return root.sha


def _serialise(directory: _Directory) -> bytes:
    """Return the tree object; git sorts a directory as if its name ended in "/"."""
    rows: list[tuple[bytes, bytes]] = []
    for name, child in directory.children.items():
        if isinstance(child, Entry):
            rows.append((name, _row(child.mode, name, child.sha)))
        else:
            assert child.sha is not None
            rows.append((name + b"/", _row(TREE_MODE, name, child.sha)))
    return b"".join(row for _, row in sorted(rows))


def _row(mode: str, name: bytes, sha: str) -> bytes:
    return b"%s %s\0%s" % (mode.encode("ascii"), name, bytes.fromhex(sha))


# fsck.c: ".git" however a case-folding, NTFS or HFS+ file system may spell it.
_DOT_GIT = re.compile(rb"(?:\.git|git~1)[. ]*(?:[\\:].*)?\Z", re.IGNORECASE | re.DOTALL)
_HFS_IGNORED = re.compile(
    rb"\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf",
)


def _check_component(name: bytes, path: bytes) -> None:
    """Raise for a component that git fsck refuses."""
    if name in (b"", b".", b"..") or b"\0" in name or _DOT_GIT.match(_HFS_IGNORED.sub(b"", name)):
        raise MalformedObjectError(
            f"{quote_path(path)}: the listing holds a path that git refuses."
        )


# --- paths as text -------------------------------------------------------------------------------

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_UNESCAPES = {text: byte for byte, text in _ESCAPES.items()}
_ESCAPED = re.compile(r'\\(?:([0-7]{3})|([abtnvfr"\\]))|([^\\"]+)')
# Characters that reorder what is read; git prints them, a report should not.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def quote_path(path: bytes) -> str:
    """Return a path as text for tables and messages, unambiguous for any bytes.

    A valid UTF-8 path of printable characters is unchanged; others are C-quoted as git does with
    core.quotePath=false. Where git would print bytes that are no text, or characters that steer a
    terminal (C1 controls, line separators, direction marks), they are octal escapes too.
    """
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        escaped = (_escape(byte) if byte < 128 else f"\\{byte:03o}" for byte in path)
        return '"' + "".join(escaped) + '"'
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    quoted = "".join(map(_quote_char, text))
    return f'"{quoted}"' if quoted != text else text


def _quote_char(char: str) -> str:
    if ord(char) < 128:
        return _escape(ord(char))
    if char in _BIDI or unicodedata.category(char) in ("Cc", "Zl", "Zp"):
        return "".join(f"\\{byte:03o}" for byte in char.encode())
    return char


def _escape(byte: int) -> str:
    """Return an ASCII byte as quote.c writes it between quotes."""
    if byte in _ESCAPES:
        return "\\" + _ESCAPES[byte]
    return f"\\{byte:03o}" if byte < 32 or byte == 127 else chr(byte)


def unquote_path(text: str) -> bytes:
    """Return the bytes that `quote_path` quoted. Raises ValueError for text it never makes."""
    if not text.startswith('"'):
        return text.encode()
    if len(text) < 2 or not text.endswith('"'):
        raise ValueError("a quoted path has no closing quote")
    out = bytearray()
    at, end = 1, len(text) - 1
    while at < end:
        found = _ESCAPED.match(text, at, end)
        if found is None:
            raise ValueError("a quoted path holds an unknown escape")
        octal, letter, plain = found.groups()
        if octal:
            out.append(int(octal, 8))  # above \377 is a ValueError as well
        elif letter:
            out.append(_UNESCAPES[letter])
        else:
            out += plain.encode()
        at = found.end()
    return bytes(out)

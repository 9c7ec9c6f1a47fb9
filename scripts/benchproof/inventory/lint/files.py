"""Files of a repository: junk, modes and names that travel badly, texts that strict readers refuse."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from benchproof.inventory import layout
from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Subject

_JUNK = re.compile(
    r"(?:^|/)(?:\.[^/]*\.sw[a-p]|[^/]+~|#[^/]+#|\.#[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini|[^/]+\.(?:orig|rej|bak|tmp)"
    r"|\.ipynb_checkpoints/[^/]+|__pycache__/[^/]+|\.idea/[^/]+|\.vscode/[^/]+|\._[^/]+)$"
)
#: Endings of data and documents, which nobody executes.
_DATA: Final = (
    *(".json", ".md", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".toml", ".h5ad", ".pdf", ".png"),
    *(".svg", ".jpg", ".tex", ".bib", ".lock", ".jsonl", ".parquet"),
)
_DOCUMENTS: Final = {"license", "licence", "notice", "copying", "readme", "changelog", "citation"}
_REFUSED = re.compile(
    r"[\x00-\x1f\x7f<>:\"|?*\\]|[. ]$|^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.|$)", re.IGNORECASE
)
#: The same inside a path that is quoted as git does.
_ESCAPED = re.compile(r'\\(?:[abfnrtv"\\]|0[0-3][0-7]|177)')
_SECRET = re.compile(
    r"(?:^|/)(?:\.env(?:\.(?!example|sample|template)[\w-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|[^/]+\.(?:pem|p12|pfx|keystore)|\.aws/credentials|credentials\.json)$"
)
_NONFINITE = re.compile(rb"(?<![\w\"'.])-?(?:NaN|Infinity)(?![\w\"'])")


@LINT.repository(
    "editor_junk",
    "minor",
    "A file that an editor or a file manager left lies in the repository; it may hold what was deleted.",
    "Delete it, and ignore its kind.",
)
def editor_junk(subject: Subject) -> Places:
    """Swap files, backups, .DS_Store, caches."""
    yield from (Place(path) for path, _ in subject.leaves if _JUNK.search(path))


@LINT.repository(
    "executable_file",
    "minor",
    "A data file or document is marked executable.",
    "Take the mark off: git update-index --chmod=-x.",
)
def executable_file(subject: Subject) -> Places:
    """Mode 100755 on what nobody executes."""
    for path, mode in subject.leaves:
        named = path.rpartition("/")[2].lower() in _DOCUMENTS
        if mode == "100755" and (named or path.lower().endswith(_DATA)):
            yield Place(path)


@LINT.repository(
    "path_case_collision",
    "minor",
    "Two paths differ only by case, or in how an accent is written; on common systems one overwrites the "
    "other.",
    "Rename one.",
)
def path_case_collision(subject: Subject) -> Places:
    """Every path of which a file or folder is equal to another one without case and composition."""
    seen: dict[str, str] = {}
    for path in sorted(path for path, _ in subject.leaves):
        parts = path.split("/")
        heads = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        if any(seen.setdefault(_folded(head), head) != head for head in heads):
            yield Place(path)


def _folded(path: str) -> str:
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).lower()


@LINT.repository(
    "path_unportable",
    "minor",
    "A path cannot be checked out on every common system: a name holds a control character, a character or "
    "word that Windows refuses, ends in a dot or a space, or has more than 255 bytes.",
    "Rename the file.",
)
def path_unportable(subject: Subject) -> Places:
    """Names that NTFS, exFAT or ext4 refuse; bytes that are no UTF-8 have a rule of their own."""
    for path, _ in subject.leaves:
        quoted = path.startswith('"')
        if _ESCAPED.search(path) if quoted else any(map(_is_unportable, path.split("/"))):
            yield Place(path)


def _is_unportable(name: str) -> bool:
    return bool(_REFUSED.search(name)) or (len(name) > 60 and len(name.encode()) > 255)


@LINT.repository(
    "secret_file",
    "major",
    "A file whose name is that of keys or passwords lies in the repository.",
    "Delete it, change what it held, and ignore its kind.",
)
def secret_file(subject: Subject) -> Places:
    """Names alone: nothing of such a file is read."""
    yield from (Place(path) for path, _ in subject.leaves if _SECRET.search(path))


@LINT.repository(
    "symlink_in_tree",
    "info",
    "A symbolic link is part of the tree; some systems check it out as a text file.",
    "Replace it by what it leads to.",
)
def symlink_in_tree(subject: Subject) -> Places:
    """A link outside the evaluations' folder; inside it, a rule of the listing says so."""
    for path, mode in subject.leaves:
        if mode == layout.SYMLINK and not path.startswith(f"{subject.folder}/"):
            yield Place(path)


@LINT.repository(
    "json_nan_token",
    "minor",
    "A published JSON file holds a bare NaN or Infinity; strict readers refuse it.",
    "Write null instead.",
)
def json_nan_token(subject: Subject) -> Places:
    """Documents that are neither evaluations nor records, which have a rule of their own."""
    for item in subject.documents:
        if "nonfinite_literal" in item.flags and not _is_manifest(subject, item.path):
            number = len(_NONFINITE.findall(item.data))
            yield Place(item.path, detail=f"Tokens: {number}.")


@LINT.repository(
    "json_unreadable",
    "major",
    "A published JSON file cannot be read as JSON.",
    "Repair the file.",
)
def json_unreadable(subject: Subject) -> Places:
    """Documents that are neither evaluations, records nor the manifest."""
    for item in subject.documents:
        if item.path.endswith(".json") and item.reason and not _is_manifest(subject, item.path):
            yield Place(item.path, detail=f"Reason: {item.reason}.")


@LINT.repository(
    "text_line_ends",
    "info",
    "A published table has line ends of Windows; comparisons by line see every row as changed.",
    "Write line feeds alone.",
)
def text_line_ends(subject: Subject) -> Places:
    """CRLF in a .csv or .tsv."""
    for item in subject.documents:
        if item.path.endswith((".csv", ".tsv")) and b"\r\n" in item.data:
            yield Place(item.path)


@LINT.repository(
    "text_not_utf8",
    "minor",
    "A published text is not UTF-8.",
    "Save it as UTF-8.",
)
def text_not_utf8(subject: Subject) -> Places:
    """Tables and documents; JSON has a rule of its own."""
    for item in subject.documents:
        replaced = "\ufffd" in item.text and "\ufffd".encode() not in item.data
        if replaced and item.path.endswith((".csv", ".tsv", ".md", ".txt")):
            yield Place(item.path)


def _is_manifest(subject: Subject, path: str) -> bool:
    return path == f"{subject.folder}/{layout.MANIFEST}"

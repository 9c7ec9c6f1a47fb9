"""What a report folder holds, and how a file gets there: whole or not at all.

Kept apart from the tables' schemas, since the Snakefile needs names only and pyarrow takes 0.3 s to import.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from benchproof.errors import TableError, unwritten
from benchproof.vault import discard, partial

#: Names of the tables, in the order of `tables.SPECS`, which a test holds to this list.
TABLES: Final = (
    "pins",
    "tree",
    "manifest",
    "reconciliation",
    "evals",
    "eval_handles",
    "graders",
    "tolerances",
    "licences",
    "handles",
    "runnable",
    "objects",
    "contents",
    "files",
    "runs",
    "run_fields",
    "readings",
    "models",
    "estimates",
    "strata",
    "comparisons",
    "record_checks",
    "published",
    "published_checks",
    "claims",
    "findings",
    "data_findings",
    "traffic",
)
#: What signer and storage said: of its time, and asked for only where it is wanted.
DATA: Final = ("handles", "runnable", "objects", "contents", "files")
#: Those that commits alone decide: the same commits give the same bytes (law 6).
CONTENT: Final = tuple(
    name for name in TABLES if name not in (*DATA, "claims", "data_findings", "traffic")
)
#: Snakemake's own folders that keep what rules were told and said, where it runs.
ENGINE: Final = tuple(
    f".snakemake/{name}" for name in ("log", "metadata", "incomplete", "slurm_logs")
)
#: Statuses of rows that were not learnt: a second run on the same date asks for these again.
OPEN: Final = ("unknown", "throttled", "stalled")
#: The line of a log that is repeated as the last word of a failed run, and how it begins.
ERROR_MARK: Final = "error: "
ERROR: Final = re.compile(rf"^\d\d:\d\d:\d\d {ERROR_MARK}(.*)$", re.MULTILINE)


#: The folder of one date, or of an audit of the past.
DATED: Final = re.compile(r"(asof-)?\d{4}-\d{2}-\d{2}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._+@-]+")
_PRIVATE: Final = ("sign",)
#: Two labels in one name stay well below what file systems take.
_LONGEST: Final = 80


def folder_label(folder: Path) -> str:
    """Return a report's name: that of its folder; of one commit, with its repository before it."""
    whole = folder.resolve() if folder.name in ("", "..") or folder.is_symlink() else folder
    name = whole.name
    if _COMMIT.fullmatch(name):
        name = f"{whole.absolute().parent.name}@{name[:12]}"
    return _UNSAFE.sub("_", name)[:_LONGEST]


def comparison_label(results: Path, *folders: Path | None) -> str:
    """Return the name of a comparison's folder: the names of its reports. One that lies elsewhere and shares
    its name with the other one or with a report in `results` has a word for its place before it.
    """
    labels = [folder_label(folder) if folder else "none" for folder in folders]
    twice = len(set(labels)) < len(labels)
    return "..".join(
        _placed(results, folder, label, twice) if folder else label
        for folder, label in zip(folders, labels, strict=True)
    )


def _placed(results: Path, folder: Path, label: str, twice: bool) -> str:
    whole = folder.resolve()
    ours = results.resolve() in (
        whole.parent,
        *whole.parents[2:3],
    )  # a date's folder, or a commit's
    if ours or not (twice or (results / label).exists()):
        return label
    place = sha256(os.fsencode(whole)).hexdigest()[:8]
    above = _UNSAFE.sub("_", whole.parent.name)[: _LONGEST // 2]
    return f"{above}-{place}+{label}"


def config_text(merged: Mapping[str, Any]) -> str:
    """Return a merged configuration as it may leave: without the place of a key."""
    kept = {key: value for key, value in merged.items() if key not in _PRIVATE}
    return json.dumps(kept, indent=2, sort_keys=True) + "\n"


def write_config(folder: Path, merged: Mapping[str, Any]) -> None:
    """Write the merged configuration beside the tables of a report."""
    with replacing(folder / "config.json") as part:
        part.write_text(config_text(merged), encoding="utf-8")


def files_below(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted, without those that a file server keeps of deleted ones: on
    NFS an open file that is deleted or replaced goes on as .nfs… until it is closed.
    """
    return sorted(
        path for path in folder.rglob("*") if not path.name.startswith(".nfs") and path.is_file()
    )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path` that takes its name when the block ends well.

    Modes follow the umask, so that a group can read results. Raises TableError naming the folder when
    there is no room; the previous file stays as it was.
    """
    part = partial(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    except OSError as error:
        raise TableError(unwritten(error, path)) from None
    finally:
        discard(part)

"""Sealed report folders without an audit: two invented repositories, their trees, and what encloses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchproof import config, tables
from benchproof.leaks import surfaces
from benchproof.leaks.needles import Needles
from benchproof.leaks.scan import scan
from benchproof.outputs import TABLES, config_text
from benchproof.sealing import enclosed, finish, seal
from benchproof.sources import objects
from benchproof.sources.base import Entry
from conftest import ROOT

DAY = "2026-01-15"
REPOS = ("demo/one", "demo/two")
FAMILY = [{"repo": repo, "ref": "main", "evals": "evals", "runs": "runs"} for repo in REPOS]
ENTRIES = (
    Entry("evals/ä b.json".encode(), "100644", "1" * 40),
    Entry(b"evals/list.json", "100644", "2" * 40),
    Entry(b"evals-old", "120000", "3" * 40),
    Entry(b"runs/a/result.json", "100755", "4" * 40),
    Entry(b"\xff;%", "100644", "5" * 40),
)
TREE = objects.tree_id(ENTRIES)
COMMIT = f"tree {TREE}\nauthor A <a@b> 1767200000 +0000\ncommitter A <a@b> 1767200000 +0000\n\nx\n"
SHA = objects.object_id("commit", COMMIT.encode())


def settings(**changes: Any) -> config.Config:
    """Return a whole configuration of the invented family."""
    defaults = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    return config.load({**defaults, "family": FAMILY, **changes}, DAY)


def row(table: str, **values: Any) -> dict[str, Any]:
    """Return a row of a table that is null apart from some columns."""
    return {**dict.fromkeys(tables.SPECS[table].schema.names), **values}


def rows(day: str, repo_of: tuple[str, ...] = REPOS) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that the checks read; the other tables are empty."""
    at = datetime.fromisoformat(f"{day}T10:00:00").replace(tzinfo=UTC)
    ids = {"commit_sha": SHA, "tree_sha": TREE, "committed_at": datetime(2025, 12, 31, tzinfo=UTC)}
    return {
        "pins": [row("pins", repo=repo, status="ok", source="git", **ids) for repo in repo_of],
        "tree": [
            row(
                "tree",
                repo=repo,
                path=objects.quote_path(e.path),
                mode=e.mode,
                blob_sha=e.sha,
                size=None if e.path == b"evals-old" else 10,
                kind="file",
                status="ok",
            )
            for repo in repo_of
            for e in ENTRIES
        ],
        "reconciliation": [row("reconciliation", repo=repo, status="ok") for repo in repo_of],
        "handles": [row("handles", handle="latch://1.node", status="reachable", checked_at=at)],
    }


def written(
    results: Path,
    day: str = DAY,
    *,
    complete: bool = True,
    key: Path | None = None,
    meanwhile: Callable[[Path, Path], object] = lambda folder, staged: None,
) -> Path:
    """Return a sealed folder of a date; `meanwhile` is called between the search and the seal."""
    folder, staged = results / day, results.parent / f"staged-{day}"
    staged.mkdir(parents=True)
    audit = settings()
    made_by = {"config": audit.content_digest(), "notice": None}
    about = {"pins": dict.fromkeys(REPOS, SHA), **made_by}
    for name in TABLES:
        tables.write(folder / f"{name}.parquet", name, rows(day).get(name, []), about)
    (folder / "findings").mkdir()
    (folder / "findings" / "demo+one.md").write_text("# Findings\n" * 90)
    (folder / "logs").mkdir()
    (folder / "logs" / "pin.log").write_text("said\n")
    (staged / "report.html").write_text("<p>said</p>\n" * 9000)
    (staged / "summary.md").write_text(f"benchproof {day}: 2 of 2 repositories\n")
    (staged / "settings.json").write_text(config_text(audit.merged))
    enclosed.write(staged, folder, day, made_by, complete)
    told = {"label": day, "as_of": None, "made_by": made_by}
    read = scan(Needles(()), surfaces.sources([(staged, "report"), (folder, "report")])).read
    meanwhile(folder, staged)
    finish.finish(
        staged,
        folder,
        told,
        complete=complete,
        scan={"hits": 0},
        read=read,
        key=None if key is None else str(key),
    )
    return folder


def reseal(folder: Path, **changes: Any) -> None:
    """Seal a folder again, as a forger would, who can change all of it."""
    said = json.loads((folder / seal.SEAL).read_bytes())
    kept = {name: value for name, value in said.items() if name not in ("files", "this_file")}
    seal.write_seal(folder, seal.seal_text(folder, {**kept, **changes}))

"""What a report encloses about itself, beside page and summary: its configuration, the workflow's table of
contents, its SWHIDs and its crate.
"""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchproof import provenance, tables
from benchproof.config import AS_OF
from benchproof.outputs import DATA
from benchproof.sealing import commits, crate, seal, swhid
from benchproof.vault import private_file

#: All that is rendered in the vault and published by the seal, the crate last: it lists the others.
PUBLISHED: Final = (
    *("report.html", "summary.md", crate.CONFIG, crate.WORKFLOW, commits.SWHIDS),
    crate.CRATE,
)
#: The configuration as it goes out, where the code that renders can read it.
SETTINGS: Final = "settings.json"


def write(staged: Path, folder: Path, label: str, made_by: dict[str, Any], complete: bool) -> None:
    """Write what a report encloses into the staging folder, where page and summary are already."""
    merged = json.loads((staged / SETTINGS).read_bytes())
    pins = tables.read(folder / "pins.parquet", "pins")
    _copy(staged / SETTINGS, staged / crate.CONFIG)
    _copy(provenance.SCRIPTS.parent / "Snakefile", staged / crate.WORKFLOW)
    _put(staged / commits.SWHIDS, commits.listing(folder, pins, merged))
    files = {name: folder / name for name in seal.names(folder) if name != crate.CRATE}
    files |= {name: staged / name for name in PUBLISHED if name != crate.CRATE}
    facts = crate.Facts(
        label=label,
        day=label.removeprefix(AS_OF),
        notice=made_by["notice"],
        complete=complete,
        pins=list(pins),
        origins=swhid.origins(merged),
        files={name: (path.stat().st_size, seal.digest(path)) for name, path in files.items()},
        versions={**provenance.versions(), "snakemake": version("snakemake")},
        code=provenance.library_digest(),
        config=made_by["config"],
        ended=_ended(folder),
    )
    _put(staged / crate.CRATE, crate.text(facts))


def _ended(folder: Path) -> str | None:
    """Return when the last thing was observed: of what came after there is no time in a report."""
    times: list[datetime] = []
    for name in DATA:
        rows = tables.read(folder / f"{name}.parquet", name, ["checked_at"])
        times += [row["checked_at"] for row in rows if row["checked_at"]]
    return max(times).isoformat(timespec="seconds") if times else None


def _put(path: Path, text: str) -> None:
    with private_file(path) as handle:
        handle.write(text.encode())


def _copy(source: Path, to: Path) -> None:
    with private_file(to) as handle, source.open("rb") as data:
        shutil.copyfileobj(data, handle)

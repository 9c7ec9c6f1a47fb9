"""A finished report as the beginning of its own reproduction: what made it, and a room to make it again.

The room is `<vault>/reproduce/<label>.<digest>`: a vault that holds the report's pins and those archives of
its commits that are still there, and results beside it. It is emptied before each reproduction.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from benchproof import config as configuration
from benchproof import foreign, jsontext
from benchproof.config import Config
from benchproof.errors import BenchproofError, ConfigError, Unreadable
from benchproof.printable import printable
from benchproof.rooms import furnish
from benchproof.sealing import seal
from benchproof.sources.base import Pin
from benchproof.vault import Vault, private_folder

#: Keys of the configuration that the content tables depend on; the others say how to ask and where.
CONTENT_KEYS: Final = ("family", "only", "as_of", "notice", "disclose")
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """A report, the room of its reproduction, and the configuration of that."""

    folder: Path
    room: Path
    vault: Vault
    config: Config

    @classmethod
    def of(cls, audit: Config, day: str) -> Recorded:
        """Return the report that `report` names: a folder, or a date in the results folder.

        Raises ConfigError when there is none, or it says too little of its making.
        """
        named = str(audit.merged["report"])
        places = (Path(named), Path(audit.results, named))
        folder = next((path for path in places if (path / "pins.parquet").is_file()), None)
        if folder is None:
            raise ConfigError(
                f"config: `report` is {named!r}, where no report is; name its folder."
            )
        sealed = _read(folder / seal.SEAL, "is not sealed; run snakemake to finish it")
        label = str(sealed.get("label"))
        made = _read(folder / "config.json", "says not how it was made: config.json lacks")
        digest = sha256(str(folder.resolve()).encode()).hexdigest()[:8]
        room = Path(audit.resources, "reproduce", f"{label}.{digest}")
        keys = {key: made[key] for key in CONTENT_KEYS if key in made}
        here = {"results": str(room / "results"), "resources": str(room / "vault")}
        date = {"date": None if made.get("as_of") else made.get("date") or label}
        config = configuration.load({**audit.merged, **keys, **here, **date}, day)
        if config.label != label:
            raise ConfigError(
                f"config: `report`: {folder} is sealed as {label}, and its config.json makes {config.label}."
            )
        return cls(folder, room, Vault(audit.resources), config)

    def verify(self) -> None:
        """Raise BenchproofError, naming files, unless the folder holds the files that were sealed."""
        _read(self.folder / seal.SEAL, "is not sealed")
        sealed = seal.sealed(self.folder)
        now = seal.digests(self.folder)
        altered = sorted(name for name, digest in sealed.items() if now.get(name) != digest)
        if altered:
            more = f" and {len(altered) - _NAMED} more" if len(altered) > _NAMED else ""
            named = ", ".join(map(printable, altered[:_NAMED]))
            raise BenchproofError(
                f"{self.folder}: {named}{more} differ from what seal.json says; "
                "nothing was derived. Copy the report again from where it was made."
            )

    def prepare(self) -> None:
        """Empty the room, and put into its vault what the report recorded.

        Raises BenchproofError when this is offline and the content of a commit is not at hand.
        """
        if self.room.exists():
            shutil.rmtree(self.room)
        private_folder(self.room)
        pins = {pin.repo: pin for pin in self._pins()}
        if lacking := [spec.repo for spec in self.config.family if spec.repo not in pins]:
            raise BenchproofError(f"{self.folder}: its pins lack {lacking[0]}; copy it again.")
        missing = furnish(
            Vault(self.config.resources),
            self.config.label,
            self.config.family,
            pins,
            self._unread(),
            lambda spec, commit: self.vault.content(spec.repo, commit),
        )
        if missing and self.config.offline:
            spec, archive = missing[0]
            raise BenchproofError(
                f"offline, and {archive} is not there: the vault lacks the content of {spec.repo} at "
                f"{archive.stem[:12]}. Run without offline=true to fetch it."
            )

    def _pins(self) -> list[Pin]:
        """The report's pins; columns that an older version lacks are null."""
        nothing = dict.fromkeys(field.name for field in fields(Pin))
        listed: list[dict[str, Any]] = [
            {name: row.get(name) for name in nothing} for row in rows(self.folder, "pins")
        ]
        return [Pin(**values) for values in foreign.refuse_odd_pins(listed, self.folder)]

    def _unread(self) -> dict[str, str]:
        """Why the report could not read a repository that it had pinned, by repository."""
        if not (self.folder / "reconciliation.parquet").is_file():
            return {}
        listed = rows(self.folder, "reconciliation")
        return {row["repo"]: row["reason"] for row in listed if row["status"] == "not_read"}


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of any version; raises BenchproofError for a file that is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    try:
        table = pq.ParquetFile(path).read(use_threads=False)
        table.validate(full=True)  # texts that are no UTF-8 are met here, and nowhere later
        found: list[dict[str, Any]] = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise BenchproofError(
            f"{path}: not a readable Parquet file; copy the report again."
        ) from None
    return found


def _read(path: Path, lacking: str) -> Mapping[str, Any]:
    try:
        return jsontext.read_object(path)
    except (OSError, Unreadable):
        raise ConfigError(f"config: `report`: {path.parent} {lacking}.") from None

"""A report folder as `explain` reads it: rows by key, what made them, and where its repositories lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof import foreign, jsontext, tables
from benchproof.config import Config
from benchproof.errors import BenchproofError, TableError, Unreadable
from benchproof.sealing.seal import SEAL

if TYPE_CHECKING:
    from benchproof.analysis.query import Tables
    from benchproof.report.figures import Figure

Row = dict[str, Any]


@dataclass
class Report:
    """A report, sealed or not. `audit` is the configuration of whoever asks, for remotes and the vault."""

    folder: Path
    audit: Config
    _read: dict[str, Any] = field(default_factory=dict, repr=False)
    _asked: dict[frozenset[str], Tables] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """The report's date, as its folder is named; `latest` is followed."""
        return self.folder.resolve().name

    @cached_property
    def seal(self) -> Mapping[str, Any]:
        """What seal.json says; empty without a readable one."""
        try:
            return jsontext.read_object(self.folder / SEAL)
        except (OSError, Unreadable):
            return {}

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The merged configuration of the audit; empty when it is not there."""
        try:
            return jsontext.read_object(self.folder / "config.json")
        except (OSError, Unreadable):
            return {}

    def has(self, name: str) -> bool:
        """True when the report holds this table."""
        return self._path(name).is_file()

    def rows(self, name: str, **equal: str) -> list[Row]:
        """Return the rows of a table in which these columns have these values; none without the table.

        Columns that the table of an older report lacks are None. Raises TableError for a file that is no
        table.
        """
        import pyarrow as pa

        table = self._table(name)
        if table is None:
            return []
        for column, value in equal.items():
            if column not in table.column_names:
                return []
            cells = table.column(column).to_pylist()
            places = [place for place, cell in enumerate(cells) if cell == value]
            table = table.take(pa.array(places, pa.int64()))
        missing = dict.fromkeys(tables.SPECS[name].schema.names)
        return [missing | row for row in table.to_pylist()]

    def column(self, name: str, column: str) -> list[Any]:
        """Return one column of a table; empty without it."""
        table = self._table(name)
        known = table is not None and column in table.column_names
        return list(table.column(column).to_pylist()) if table is not None and known else []

    def count(self, name: str, repo: str | None = None) -> int:
        """Return how many rows a table has, of one repository or of all."""
        if repo is None:
            table = self._table(name)
            return 0 if table is None else int(table.num_rows)
        return self.column(name, "repo").count(repo)

    def made(self, name: str) -> Mapping[str, Any]:
        """Return what a table's metadata says of its making; empty when it says nothing."""
        try:
            return tables.about(self._path(name))
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def altered(self, names: tuple[str, ...]) -> list[str]:
        """Return those of these tables whose bytes are not what the seal says."""
        stated = self.seal.get("files")
        digests = stated if isinstance(stated, dict) else {}
        paths = [self._path(name) for name in names if self.has(name)]
        return [
            path.name
            for path in paths
            if path.name in digests and sha256(path.read_bytes()).hexdigest() != digests[path.name]
        ]

    @cached_property
    def pins(self) -> dict[str, Row]:
        """Rows of the pins table by repository. Raises BenchproofError for rows that no audit writes: commits
        and names stand in paths, and in the scripts that a reader runs.
        """
        rows = foreign.refuse_odd_pins(self.rows("pins"), self.folder)
        return {row["repo"]: row for row in rows}

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The numbers of the report by id; none when its tables are not of this version."""
        from benchproof.report.figures import figures

        try:
            return figures(self.folder)
        except TableError:
            return {}

    def asked(self, names: Iterable[str]) -> Tables:
        """Return those of these tables that are there, to be asked by queries; loaded once."""
        from benchproof.analysis.query import Tables

        wanted = frozenset(name for name in names if self.has(name))
        if wanted not in self._asked:
            self._asked[wanted] = Tables(self.folder, sorted(wanted))
        return self._asked[wanted]

    def member(self, repo: str) -> Mapping[str, str]:
        """Return the folders of a repository, as the audit's configuration had them."""
        family = self.settings.get("family") or self.audit.merged["family"]
        return next(
            (item for item in family if item["repo"] == repo), {"evals": "evals", "runs": "runs"}
        )

    def remote(self, repo: str) -> str:
        """Return where git finds a repository: a configured mirror, or the configured endpoint."""
        mirror = self.audit.merged["git_mirrors"].get(repo)
        if mirror:
            return str(mirror) if "://" in mirror else str(Path(mirror).absolute())
        pin = self.pins.get(repo, {})
        endpoint = str(self.audit.merged["endpoints"]["git"]).rstrip("/")
        return f"{endpoint}/{pin.get('resolved_repo') or repo}.git"

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def _table(self, name: str) -> Any:
        if name not in self._read:
            import pyarrow as pa
            import pyarrow.parquet as pq

            path = self._path(name)
            try:
                table = pq.ParquetFile(path).read(use_threads=False)
                table.validate(full=True)
                self._read[name] = table
            except FileNotFoundError:
                self._read[name] = None
            except (pa.ArrowException, OSError, ValueError):
                raise TableError(
                    f"{path}: not a readable Parquet file; copy the report again."
                ) from None
        return self._read[name]


def find_report(audit: Config, named: str | None) -> Report:
    """Return the report that a date or a folder names; without one the latest, or the configured date's.

    Raises BenchproofError when there is none, with those that are.
    """
    results = Path(audit.results)
    tried = (
        [results / "latest", results / audit.label]
        if named is None
        else [results / named, Path(named)]
    )
    for folder in tried:
        if (folder / "pins.parquet").is_file():
            return Report(folder, audit)
    known = sorted(
        p.parent.name for p in results.glob("*/pins.parquet") if p.parent.name != "latest"
    )
    there = (
        f"Reports here: {', '.join(known)}." if known else "There is none here yet; run snakemake."
    )
    raise BenchproofError(f"{tried[0]}: no such report. {there}")

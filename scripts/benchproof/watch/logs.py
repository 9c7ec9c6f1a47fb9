"""One log a watched run: what snakemake said, and what was done around it.

Logs lie in the vault: Snakemake and what it starts write there whatever they like, and no scan has read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from benchproof.errors import VaultError, tells_no_space, why
from benchproof.vault import private_folder

#: So many logs are kept, of our runs and of Snakemake's own, which it never deletes.
KEPT: Final = 60


class RunLog:
    """The log of one run, named by the UTC time of its start; two within a second share one."""

    def __init__(self, vault: Path, started: datetime) -> None:
        self.path = vault / "logs" / f"{started:%Y-%m-%dT%H%M%SZ}.log"
        private_folder(self.path.parent)
        try:
            self.path.touch(mode=0o600)
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def say(self, lines: Iterable[str]) -> None:
        """Add lines; raises VaultError when there is no room."""
        try:
            with self.path.open("a", encoding="utf-8") as handle:
                handle.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def last_words(self, most: int) -> list[str]:
        """Return what our own code said at the end of the nested run: lines that begin with our name.

        Snakemake's words stay in the log: they may hold a path or a traceback.
        """
        lines = self._text().splitlines()
        found = [line for line in lines if line.startswith("benchproof: ")]
        return list(dict.fromkeys(found[-most:]))

    def lacks_room(self) -> bool:
        """True when somebody met a full disk: Snakemake can, before a job of ours can say so."""
        return tells_no_space(self._text())

    def _text(self) -> str:
        return self.path.read_text(encoding="utf-8", errors="replace")


def prune(vault: Path, kept: int = KEPT) -> None:
    """Delete all but the newest logs of runs, and of Snakemake's in the working directory."""
    for folder in (vault / "logs", Path(".snakemake", "log")):
        for path in sorted(folder.glob("*.log"))[:-kept]:
            path.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> VaultError:
    return VaultError(f"{path}: cannot be written ({why(error)}); free room there and run again.")

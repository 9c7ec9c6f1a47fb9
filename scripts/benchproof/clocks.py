"""Files from the future: a machine whose clock is ahead wrote them, or a server's date was copied onto them.

Snakemake takes what is older than its input for out of date, and deletes what a job has just made when it
is older than an input. So such files are given the present as their time before it looks; that they are
then newer than what was made of them is settled by their content, which Snakemake compares.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from benchproof.vault import clock

#: More than servers of signed URLs allow; below it a difference is nobody's concern.
NOTABLE_S = 900.0


def to_present(folder: Path, files: Iterable[Path]) -> float:
    """Give files from the future the present, by a folder's clock, as their time; return how far the
    furthest was ahead, in seconds. One that belongs to somebody else stays as it is.
    """
    furthest, now = 0.0, clock(folder)
    for path in files:
        with suppress(OSError):
            ahead = path.stat().st_mtime - now
            if ahead > 0:
                os.utime(path, (now, now))
                furthest = max(furthest, ahead)
    return furthest


def warning(ahead: float) -> str | None:
    """Return what is worth saying of files that were so far ahead; None when it is little."""
    if ahead <= NOTABLE_S:
        return None
    return (
        f"benchproof: files here were up to {ahead / 3600:.1f} hours ahead of the clock and have the present "
        "as their time now; compare the clocks of the machines that write here."
    )

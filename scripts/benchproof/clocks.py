"""Files from the future: a machine whose clock is ahead wrote them, or a server's date was copied onto them.

Snakemake takes what is older than its input for out of date, and deletes what a job has just made when it
is older than an input. So such files are given the present as their time before it looks; that they are
then newer than what was made of them is settled by their content, which Snakemake compares.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from benchproof.vault import clock

#: More than servers of signed URLs allow; below it a difference is nobody's concern.
NOTABLE_S = 900.0


def to_present(folder: Path, files: Iterable[Path]) -> tuple[float, list[Path]]:
    """Give files from the future the present, by a folder's clock, as their time; return how far the
    furthest was ahead, in seconds, and those whose time cannot be set: on a disk that is read only, or
    somebody else's.
    """
    furthest, stuck, now = 0.0, [], clock(folder)
    for path in files:
        with suppress(FileNotFoundError):
            ahead = path.stat().st_mtime - now
            if ahead <= 0:
                continue
            try:
                os.utime(path, (now, now))
            except OSError:
                stuck.append(path)
            furthest = max(furthest, ahead)
    return furthest, stuck


def warning(ahead: float, stuck: Sequence[Path] = ()) -> str | None:
    """Return what is worth saying of files that were so far ahead; None when it is little and is over."""
    if stuck:
        return (
            f"benchproof: {stuck[0]} is from the future, by up to {ahead / 3600:.1f} hours, and its time "
            f"cannot be set ({len(stuck)} such files): jobs that read it fail until then. Give it the "
            "present (touch) as its owner, or read a copy of it."
        )
    if ahead <= NOTABLE_S:
        return None
    return (
        f"benchproof: files here were up to {ahead / 3600:.1f} hours ahead of the clock and have the present "
        "as their time now; compare the clocks of the machines that write here."
    )

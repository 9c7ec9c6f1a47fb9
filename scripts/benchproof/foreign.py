"""Reports that somebody else made: what of their rows goes into paths, refs, URLs and scripts is checked.

A pin of ours is a repository that the configuration admits and object ids; anything else in a pins table was
written by hand, to make who reads it write elsewhere or run something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from benchproof.errors import BenchproofError
from benchproof.sources.objects import is_id

#: owner/name as GitHub and config/schema.yaml admit it.
_REPOSITORY: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*/(?!\.{1,2}\Z)[A-Za-z0-9._][A-Za-z0-9._-]*\Z"
)


def is_repository(name: object) -> bool:
    """True for owner/name."""
    return isinstance(name, str) and _REPOSITORY.match(name) is not None


def is_pin(row: Mapping[str, Any]) -> bool:
    """True when what a row of a pins table names is safe in a path, a ref, a URL and a shell."""
    ref, resolved = row.get("ref"), row.get("resolved_repo")
    ids = (row.get("commit_sha"), row.get("tree_sha"))
    return (
        is_repository(row.get("repo"))
        and (resolved is None or is_repository(resolved))
        and all(sha is None or is_id(sha) for sha in ids)
        and (ref is None or (isinstance(ref, str) and ref.isprintable() and ref[:1] != "-"))
    )


def refuse_odd_pins(rows: list[dict[str, Any]], where: object) -> list[dict[str, Any]]:
    """Return rows of a pins table; raises BenchproofError when one is none that benchproof writes."""
    if not all(map(is_pin, rows)):
        raise BenchproofError(
            f"{where}: its pins name something other than repositories and commits; this is no report of "
            "benchproof's, and nothing was done with it."
        )
    return rows

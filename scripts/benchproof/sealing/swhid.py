"""Software Hash Identifiers of what was audited (SWHID 1.2, ISO/IEC 18670:2025).

Those of commits (rev), folders (dir) and files (cnt) hold git's own object ids, so they follow from pins and
tree; `origin`, `anchor` and `path` say where an object stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

from benchproof.sources.objects import unquote_path

#: What may stand in a qualifier as it is; `;` ends one and `%` begins an escape.
_SAFE: Final = "/:@!$&'()*+,=~"
_GITHUB: Final = "https://github.com"


def core(kind: Literal["rev", "dir", "cnt"], sha: str) -> str:
    """Return the core identifier of a git object."""
    return f"swh:1:{kind}:{sha}"


def qualified(identifier: str, origin: str | None, anchor: str | None, path: bytes | None) -> str:
    """Return an identifier with those qualifiers that are known, in the standard's order."""
    given = (
        ("origin", origin and quote(origin, safe=_SAFE)),
        ("anchor", anchor),
        ("path", None if path is None else quote(path, safe=_SAFE)),
    )
    return ";".join([identifier, *(f"{name}={value}" for name, value in given if value)])


def origins(merged: Mapping[str, Any]) -> dict[str, str | None]:
    """Return where each repository of a configuration is found by anybody; None where that isn't known.

    Invented data have no origin, and of a mirror it isn't known that they came from where their name says.
    """
    public = merged["endpoints"]["git"].rstrip("/") == _GITHUB and not merged["notice"]
    return {
        member["repo"]: f"{_GITHUB}/{member['repo']}"
        if public and member["repo"] not in merged["git_mirrors"]
        else None
        for member in merged["family"]
    }


def listing(
    pins: Iterable[Mapping[str, Any]],
    tree: Iterable[Mapping[str, Any]],
    places: Mapping[str, str | None],
    runs: Mapping[str, str],
) -> str:
    """Return a line for each commit, root folder, and file that was read, apart from recorded runs.

    `places` are origins, `runs` the folders of recorded runs, both by repository. Of a run the runs table has
    the id (`blob_sha`), of any other file the tree table.
    """
    commits = {pin["repo"]: pin for pin in pins if pin["commit_sha"]}
    lines = []
    for repo, pin in sorted(commits.items()):
        revision = core("rev", pin["commit_sha"])
        lines.append(qualified(revision, places.get(repo), None, None))
        lines.append(qualified(core("dir", pin["tree_sha"]), places.get(repo), revision, b"/"))
    for row in tree:
        repo = row["repo"]
        below = f"{runs.get(repo, '')}/"
        if row["size"] is not None and repo in commits and not row["path"].startswith(below):
            anchor = core("rev", commits[repo]["commit_sha"])
            path = b"/" + unquote_path(row["path"])
            lines.append(qualified(core("cnt", row["blob_sha"]), places.get(repo), anchor, path))
    return "".join(f"{line}\n" for line in lines)

"""The searching process: reads the vault and what leaves, and says one message of places and counts.

usage: python -m benchproof.leaks.searching SOCKET_FD
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from socket import socket
from typing import Any

from benchproof.config import known_keys
from benchproof.job import place_of
from benchproof.leaks import proof, surfaces
from benchproof.leaks.harvest import Gathered, of_links
from benchproof.leaks.needles import Needles
from benchproof.leaks.outcome import MOST
from benchproof.leaks.scan import Scanned, scan
from benchproof.leaks.secrets import Secret, tokens
from benchproof.leaks.surfaces import Source
from benchproof.sources.base import RepoSpec
from benchproof.storage.frames import receive, send
from benchproof.storage.sandboxed import die_with_parent
from benchproof.vault import Vault


def main() -> None:
    """Answer the one request that comes over the socket."""
    sock = socket(fileno=int(sys.argv[1]))
    limit()
    request, _ = receive(sock)
    threading.Thread(target=die_with_parent, args=(sock.fileno(),), daemon=True).start()
    try:
        answer = searched(request)
    except Exception as error:  # its text could quote a secret
        answer = {"failed": f"{type(error).__name__} at {place_of(error)}"}
    send(sock, answer)
    os._exit(0)


def limit() -> None:
    """Give up writing files and leaving a core, for good."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def searched(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request of `search.Asked`."""
    proven = proof.prove(proof.planted(Path(request["planted"])))
    gathered = _gathered(request)
    others = of_links(map(Path, request["links"])) | _token()
    needles = gathered.needles(others)
    tops = [(Path(path), origin) for path, origin in request["tops"]]
    made = scan(needles, surfaces.sources(tops))
    return {
        "needles": len(needles) - len(others),
        "n_hits": len(made.hits),
        "n_unsearchable": len(made.unsearchable),
        **_named(needles, made),
        "surfaces": dict(made.kinds),
        "met": sorted(made.met),
        "read": sorted(made.read),
        "planted": sorted(proven.planted),
        "missed": sorted(proven.missed),
    }


def _named(needles: Needles, made: Scanned) -> dict[str, Any]:
    """Return places as a message names them: one whose name holds a secret not at all."""
    return {
        "hits": [[_place(needles, source), kind, form] for source, kind, form in made.hits[:MOST]],
        "unsearchable": [
            [_place(needles, source), kind, ""] for source, kind in made.unsearchable[:MOST]
        ],
    }


def _place(needles: Needles, source: Source) -> str | None:
    return None if needles.found(os.fsencode(source.path)) else surfaces.shown(source)


def _gathered(request: Mapping[str, Any]) -> Gathered:
    from benchproof.inventory.repository import Repository
    from benchproof.sources import content

    vault = Vault(request["vault"])
    found = Gathered(public=_told(Path(request["folder"]), request["said"]))
    for named, commit in request["repositories"]:
        spec = RepoSpec(**named)
        with content.opened(vault.content(spec.repo, commit)) as archive:
            found.add(Repository(spec, commit, archive))
    return found


def _token() -> set[Secret]:
    if "GITHUB_TOKEN" not in os.environ:
        return set()
    from benchproof.http.client import read_token

    return tokens([read_token(os.environ) or ""])


def _told(folder: Path, said: list[str]) -> list[str]:
    """Return what a run says whatever the answers are: its configuration, places, pins, and what anybody
    can read of the data: names and counts inside the objects.
    """
    from benchproof.recorded import rows

    cells: set[str] = set()
    for name in ("pins", "objects", "contents", "files"):
        if (folder / f"{name}.parquet").is_file():
            listed = rows(folder, name)
            cells.update(text for row in listed for cell in row.values() for text in _texts(cell))
    return [_settings(folder / "config.json"), str(folder), *said, *sorted(cells)]


def _settings(path: Path) -> str:
    """Return a report's configuration, without keys that none has: whoever adds one makes nothing public."""
    merged, known = json.loads(path.read_text(encoding="utf-8")), known_keys()
    return json.dumps({k: v for k, v in merged.items() if k in known}, ensure_ascii=False)


def _texts(cell: object) -> list[str]:
    """Return a cell as plain texts: JSON would write a quote inside a name otherwise than tables do."""
    return [str(item) for item in cell] if isinstance(cell, list) else [str(cell)]


if __name__ == "__main__":
    main()

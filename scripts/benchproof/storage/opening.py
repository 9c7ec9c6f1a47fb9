"""Signer and storage as configured: `open_world` returns their clients and the book of signed URLs.

Two clients, so that the signer is asked under the signer's endpoint alone, and storage under its hosts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchproof.http import Http, Traffic
from benchproof.journal import Journal
from benchproof.storage.links import Links
from benchproof.storage.signer import Signer


@dataclass(frozen=True, slots=True)
class World:
    """What a stage asks: the signer, the storage, and the signed URLs between them."""

    signer: Signer
    storage: Http
    links: Links
    traffics: tuple[Traffic, Traffic]


@contextmanager
def open_world(settings: Mapping[str, Any], book: Path) -> Iterator[World | None]:
    """Give the clients that the merged configuration describes; None when it says offline."""
    if settings["offline"]:
        yield None
        return
    endpoints, limits = settings["endpoints"], settings["http"]
    with ExitStack() as stack:
        asking = stack.enter_context(Http([endpoints["signer"]], **limits))
        storage = stack.enter_context(Http(endpoints["storage"], **limits))
        signer = Signer(asking, endpoints["signer"], endpoints["storage"])
        links = Links(signer, Journal(book))
        yield World(signer, storage, links, (asking.traffic, storage.traffic))

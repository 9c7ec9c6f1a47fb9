"""Signer and storage for tests: the embedded upstream, or a scripted server behind a scripted signer."""

from __future__ import annotations

import logging
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchproof.http import Traffic
from benchproof.journal import Journal
from benchproof.storage.links import Links
from benchproof.storage.opening import World
from benchproof.storage.signer import Signed, Signer
from unit.http.conftest import Client, Server
from upstream import Upstream
from upstream.objects import SECURITY_TOKEN, Storage

HANDLE = "latch://100.node"
SECRET = "SECRET1"
NOW = datetime(2026, 8, 28, 12, 0, tzinfo=UTC)
NO_SECRET = re.compile(rf"{SECRET}|{SECURITY_TOKEN}|X-Amz-(?!Date)|[?&][A-Za-z-]+=")


#: Given a book of signed URLs, and limits of the client if others than usual, opens a world.
Opener = Callable[..., World]


def now() -> datetime:
    return NOW


def told(error: BaseException) -> str:
    """Return everything an exception says, its chain included; fails when that holds a secret."""
    said = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    while (error.__cause__ or error.__context__) is not None:
        inner = error.__cause__ or error.__context__
        assert inner is not None
        error = inner
        said += repr(error) + str(error)
    assert not NO_SECRET.search(said)
    return said


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test does, no log line holds a secret, with everything at its most verbose."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    caplog.set_level(logging.DEBUG)
    for name in ("urllib3", "urllib3.connectionpool", "urllib3.connection", "requests"):
        caplog.set_level(logging.DEBUG, name)
    yield
    assert not NO_SECRET.search(caplog.text)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    with Upstream(tmp_path_factory.mktemp("cloud")) as upstream:
        yield upstream


@pytest.fixture
def cloud(running: Upstream, quiet: None) -> Iterator[Upstream]:
    """The embedded upstream without objects, faults or records of other tests."""
    running.reset()
    running.storage = Storage()
    yield running
    running.reset()
    assert running.errors == []


@pytest.fixture
def open_cloud(cloud: Upstream) -> Iterator[Opener]:
    """Opens worlds on the embedded upstream, with waits that take no time."""
    with ExitStack() as stack:

        def opened(book: Path, **options: float) -> World:
            limits = {"tries": 3, "max_wait_s": 60, **options}
            asking = stack.enter_context(Client(cloud.url, **limits))
            storage = stack.enter_context(Client(cloud.url, **limits))
            signer = Signer(asking, f"{cloud.url}/sign", [cloud.url])
            traffics = asking.traffic, storage.traffic
            return World(signer, storage, Links(signer, Journal(book)), traffics)

        yield opened


@pytest.fixture
def world(open_cloud: Opener, tmp_path: Path) -> World:
    return open_cloud(tmp_path / "vault" / "links.jsonl")


class Scripted(Signer):
    """A signer that answers with the next of its script, the last one again and again."""

    def __init__(self, *script: Signed | Callable[[str], Signed]) -> None:
        self.script, self.asked = list(script), list[str]()
        self.met, self.hold = threading.Event(), threading.Event()
        self.hold.set()
        self._lock = threading.Lock()

    def sign(self, handle: str) -> Signed:
        with self._lock:
            self.asked.append(handle)
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        self.met.set()
        self.hold.wait(5)
        return step(handle) if callable(step) else step


def good(url: str) -> Signed:
    return Signed("reachable", None, 200, url)


@dataclass
class Desk:
    """A scripted storage behind a scripted signer; each signing gives another URL."""

    server: Server
    client: Client
    book: Path
    signer: Scripted = field(init=False)
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.signer = Scripted(lambda _: good(self.link(len(self.signer.asked))))
        self.links = Links(self.signer, Journal(self.book))

    def link(self, number: int) -> str:
        query = f"X-Amz-Signature={SECRET}{number}&X-Amz-Security-Token={SECRET}"
        return f"{self.server.url}/object?{query}"

    @property
    def world(self) -> World:
        return World(self.signer, self.client, self.links, (Traffic(), self.client.traffic))

    def sent(self, name: str) -> list[str | None]:
        """Return a header of each request that reached the storage."""
        return [headers.get(name) for _, _, headers, _ in self.server.log]


@pytest.fixture
def desk(quiet: None, tmp_path: Path) -> Iterator[Desk]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        with Client(server.url, tries=3, max_wait_s=60) as client:
            yield Desk(server, client, tmp_path / "vault" / "links.jsonl")
        server.shutdown()
        thread.join()

"""Signed URLs: asked for once while they live, renewed once for all, told to nobody."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from benchproof.errors import ObjectFailed, VaultError
from benchproof.journal import Journal
from benchproof.storage.links import Links
from benchproof.storage.signer import Signed
from unit.storage.conftest import HANDLE, SECRET, Scripted, good, told

URL = f"https://storage.example.test/x?X-Amz-Signature={SECRET}"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "vault" / "links.jsonl"


def together(work: list[threading.Thread], signer: Scripted) -> None:
    """Start all while the signer is held back, so that they meet, and let it answer."""
    signer.met.clear()
    signer.hold.clear()
    for thread in work:
        thread.start()
    assert signer.met.wait(5)
    for _ in range(100):  # the others reach the lock
        threading.Event().wait(0.001)
    signer.hold.set()
    for thread in work:
        thread.join(5)


def test_signed_once(book: Path) -> None:
    """A URL is signed when there is none, and kept for later jobs in a private file."""
    signer = Scripted(good(URL))
    links = Links(signer, Journal(book))
    assert [links.url(HANDLE) for _ in range(3)] == [URL] * 3
    assert Links(signer, Journal(book)).url(HANDLE) == URL
    assert (signer.asked, links.signings) == ([HANDLE], 1)
    assert stat.S_IMODE(book.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.parent.stat().st_mode) == 0o700


def test_kept_urls_need_no_signing(book: Path) -> None:
    """What resolve was told is what probe asks with."""
    links = Links(Scripted(good("none")), Journal(book))
    links.keep(HANDLE, URL)
    assert links.url(HANDLE) == Links(Scripted(good("none")), Journal(book)).url(HANDLE) == URL
    assert links.signings == 0


@pytest.mark.parametrize("threads", [2, 16])
def test_br05_one_signing_for_all_threads(book: Path, threads: int) -> None:
    """Threads that meet one dead URL share one new one."""
    signer = Scripted(good(f"{URL}1"), good(f"{URL}2"), good(f"{URL}3"))
    links = Links(signer, Journal(book))
    dead = links.url(HANDLE)
    signer.asked.clear()
    found: list[str] = []
    work = [
        threading.Thread(target=lambda: found.append(links.renew(HANDLE, dead)))
        for _ in range(threads)
    ]
    together(work, signer)
    assert found == [f"{URL}2"] * threads
    assert (len(signer.asked), links.signings) == (1, 2)
    assert links.renew(HANDLE, dead) == f"{URL}2"
    assert links.renew(HANDLE, f"{URL}2") == f"{URL}3"


@pytest.mark.parametrize("threads", [2, 16])
def test_br05_one_refusal_for_all_threads(book: Path, threads: int) -> None:
    """Threads that meet one dead URL share one refusal, too; who comes later asks again."""
    refused = Signed("refused", "not_shared_or_unknown", 400)
    signer = Scripted(good(f"{URL}1"), refused, refused, good(f"{URL}2"))
    links = Links(signer, Journal(book))
    dead = links.url(HANDLE)
    signer.asked.clear()
    found: list[tuple[str, str]] = []

    def renew() -> None:
        with pytest.raises(ObjectFailed) as caught:
            links.renew(HANDLE, dead)
        found.append((caught.value.status, caught.value.reason))

    together([threading.Thread(target=renew) for _ in range(threads)], signer)
    assert found == [("denied", "signing_not_shared_or_unknown")] * threads
    assert len(signer.asked) == 2
    assert links.renew(HANDLE, dead) == f"{URL}2"


@pytest.mark.parametrize("status", ["refused", "unauthorized", "malformed"])
def test_a_refusal_that_is_said_once_is_not_believed(book: Path, status: str) -> None:
    """Services flap: one bad answer in the middle of an audit takes nothing from a handle."""
    signer = Scripted(good(f"{URL}1"), Signed(status, "flap", 400), good(f"{URL}2"))
    links = Links(signer, Journal(book))
    assert links.renew(HANDLE, links.url(HANDLE)) == f"{URL}2"
    assert links.signings == len(signer.asked) == 3


def test_two_handles_do_not_wait_for_each_other(book: Path) -> None:
    """A signing that hangs keeps no other handle from its URL."""
    other = Scripted(good(URL))
    links = Links(other, Journal(book))
    other.hold.clear()
    thread = threading.Thread(target=links.url, args=(HANDLE,))
    thread.start()
    assert other.met.wait(5)
    links.keep("latch://2.node", URL)
    assert links.url("latch://2.node") == URL
    other.hold.set()
    thread.join(5)


def test_another_process_renewed(book: Path) -> None:
    """A URL that another job signed meanwhile is taken from the book."""
    mine, theirs = Scripted(good(f"{URL}1"), good(f"{URL}3")), Scripted(good(f"{URL}2"))
    links, others = Links(mine, Journal(book)), Links(theirs, Journal(book))
    dead = links.url(HANDLE)
    assert others.renew(HANDLE, dead) == f"{URL}2"
    assert links.renew(HANDLE, dead) == f"{URL}2"
    assert (len(mine.asked), len(theirs.asked)) == (1, 1)
    assert links.renew(HANDLE, f"{URL}2") == f"{URL}3"


@pytest.mark.parametrize(
    ("signed", "status", "reason"),
    [
        (
            Signed("refused", "not_shared_or_unknown", 400),
            "denied",
            "signing_not_shared_or_unknown",
        ),
        (Signed("unauthorized", "http_403", 403), "denied", "signing_http_403"),
        (Signed("unknown", "throttled", None), "unknown", "signing_throttled"),
        (Signed("malformed", "no_url", 200), "unknown", "signing_no_url"),
        (Signed("unknown", None, 200), "unknown", "signing_unknown"),
    ],
)
def test_refusals(book: Path, signed: Signed, status: str, reason: str) -> None:
    """Without a URL there is a status: a refusal is denied, silence is unknown."""
    links = Links(Scripted(signed), Journal(book))
    with pytest.raises(ObjectFailed) as caught:
        links.url(HANDLE)
    assert (caught.value.status, caught.value.reason) == (status, reason)
    assert not book.exists()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"key": "latch://100.node", "ur', id="torn"),
        pytest.param(b'{"key": "latch://100.node"}\n', id="without-url"),
        pytest.param(b'{"url": "x"}\n', id="without-key"),
        pytest.param(b"\0\0\0\n", id="zeros"),
    ],
)
def test_a_damaged_book(book: Path, line: bytes) -> None:
    """A book that a kill tore costs a signing."""
    book.parent.mkdir()
    book.write_bytes(line)
    assert Links(Scripted(good(URL)), Journal(book)).url(HANDLE) == URL
    last = book.read_bytes().splitlines()[-1]
    assert json.loads(last) == {"key": HANDLE, "url": URL}


def test_br13_nothing_shows_a_url(book: Path) -> None:
    """Neither repr nor an error of the disk tells a signature."""
    links = Links(Scripted(good(URL)), Journal(book))
    links.url(HANDLE)
    assert SECRET not in repr(links) + repr(vars(links)["_signer"]) + repr(good(URL))
    book.unlink()
    book.mkdir()
    with pytest.raises(VaultError) as caught:
        links.keep(HANDLE, URL)
    told(caught.value)

"""A site with one object, for tests of the engine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign.site import Site

MIB = 1 << 20
SIZE = 3 * MIB + 12_345


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """An object of a good 3 MiB whose ETag is one of parts; nothing wrong may remain, nothing leak."""
    with Site(tmp_path, size=SIZE, silence_s=0.4) as made:
        yield made
        assert made.upstream.errors == []
        assert made.unsound() == []


@pytest.fixture(autouse=True)
def no_secret(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does, no log line holds a signature."""
    caplog.set_level(logging.DEBUG)
    yield
    assert "X-Amz" not in caplog.text

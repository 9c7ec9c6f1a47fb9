"""The configured source is opened, or the error says what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof.cli import DEFAULTS
from benchproof.errors import ConfigError
from benchproof.sources.git import GitSource
from benchproof.sources.github import GitHubSource
from benchproof.sources.opening import open_http, open_source
from benchproof.vault import Vault


@pytest.fixture
def settings() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("source", "kind"), [("git", GitSource), ("github", GitHubSource)])
def test_the_source_is_the_configured_one(
    tmp_path: Path, settings: dict[str, Any], source: str, kind: type
) -> None:
    settings["source"] = source
    with open_http(settings) as http:
        opened = open_source(settings, Vault(tmp_path), http)
    assert isinstance(opened, kind)
    assert opened.name == source


def test_without_git_the_error_names_both_ways_out(
    tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """REST needs no git; the git source says what to install or to set."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_http(settings) as http:
        with pytest.raises(ConfigError, match=r"apt-get install git.*source=github"):
            open_source(settings, Vault(tmp_path), http)
        open_source({**settings, "source": "github"}, Vault(tmp_path), http)

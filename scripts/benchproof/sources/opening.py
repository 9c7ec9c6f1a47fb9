"""The configured source: `open_source` returns system git or GitHub's REST, `open_http` their client."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from benchproof.errors import ConfigError
from benchproof.http import Http
from benchproof.sources.base import History
from benchproof.vault import BlobStore, Vault


def open_http(settings: Mapping[str, Any]) -> Http:
    """Return the HTTP client for GitHub's endpoints; `settings` is the merged configuration."""
    endpoints, limits = settings["endpoints"], settings["http"]
    return Http(
        [endpoints["git"]],
        authorized=[endpoints["github_api"], endpoints["github_raw"]],
        timeout_s=limits["timeout_s"],
        tries=limits["tries"],
        max_wait_s=limits["max_wait_s"],
        connections=limits["connections"],
    )


def open_source(settings: Mapping[str, Any], vault: Vault, http: Http) -> History:
    """Return the source that the configuration names; each is imported only where it is used.

    An offline one answers from the vault, and is Unreachable (offline) for what the vault lacks.
    """
    endpoints, limits = settings["endpoints"], settings["http"]
    if settings["source"] == "github":
        from benchproof.sources.github import GitHubSource

        return GitHubSource(
            http,
            endpoints["github_api"],
            endpoints["github_raw"],
            BlobStore(vault),
            offline=settings["offline"],
        )
    if shutil.which("git") is None:
        raise ConfigError("there is no git in PATH: `apt-get install git`, or set source=github.")
    from benchproof.sources.git import GitSource

    return GitSource(
        vault,
        http,
        endpoints["git"].rstrip("/"),
        settings["git_mirrors"],
        timeout_s=limits["timeout_s"],
        tries=limits["tries"],
        offline=settings["offline"],
    )

"""What the Snakefile knows of a backfill: which tables it makes, of which repositories, by which code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchproof.config import HISTORY, Config
from benchproof.vault import slug


class Plan:
    """The past as rule files see it: a series up to each pin, or the commits that `as_of` lists."""

    def __init__(self, config: Config, pins: str, code: Callable[[str], str]) -> None:
        self._config, self._code = config, code
        #: Files that the list of commits is made from: the pins, unless the commits are listed already.
        self.pins = [] if config.commits else [pins]
        self._folder = f"{config.results}/{HISTORY}"
        self._kind = "chosen" if config.commits else "timeline"

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The commits that `as_of` lists."""
        return [
            {"text": item.text, "digits": item.digits, "repos": list(item.repos)}
            for item in self._config.commits
        ]

    @property
    def repos(self) -> dict[str, str]:
        """Repositories whose past is derived, by the names of their folders."""
        listed = [repo for item in self._config.commits for repo in item.repos]
        audited = [spec.repo for spec in self._config.family]
        return {slug(repo): repo for repo in (dict.fromkeys(listed) or audited)}

    @property
    def pattern(self) -> str:
        """Return what a wildcard over folders of repositories may be."""
        return "|".join(name.replace(".", r"\.").replace("+", r"\+") for name in self.repos)

    def table(self, name: str) -> str:
        """Return the timeline of the repository whose folder has this name."""
        return f"{self._folder}/{name}/{self._kind}.parquet"

    @property
    def tables(self) -> list[str]:
        """The timelines of all repositories of this run."""
        return [self.table(name) for name in self.repos]

    @property
    def page(self) -> str:
        """The page that draws them."""
        return f"{self._folder}/{self._kind}.html"

    @property
    def terms(self) -> dict[str, Any]:
        """What every commit's tables are made from, beside the commit; an edit derives them again."""
        from benchproof.history.derive import PINS, STEPS

        rules = (PINS, *(step.rule for step in STEPS))
        return {
            "codes": {rule: self._code(rule) for rule in rules},
            "notice": self._config.notice,
            "disclose": self._config.disclose,
            "day": self._config.date,
        }

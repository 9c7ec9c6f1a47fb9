"""Every test of the sources goes through a git that knows nothing newer than 2.25, the oldest we promise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

#: What git learnt after 2.25, by its release notes: commands, options, and settings of the environment.
COMMANDS = "maintenance for-each-repo bugreport diagnose merge-tree refs replay backfill"
OPTIONS = """
    --config-env --attr-source --no-lazy-fetch --no-advice --stdin=fetch --write-fetch-head
    --no-write-fetch-head --auto-maintenance --no-auto-maintenance --negotiate-only --refetch --atomic
    --porcelain --prefetch --initial-branch --object-format --ref-format --batch-command --use-mailmap
    -Z --disk-usage --maximal-only --exclude-hidden --diff-merges --remerge-diff --since-as-filter
    --format=ls-tree --object-only --merge-base=diff-tree --omit-empty --branches --path-format
    --missing=print-info
"""
VARIABLES = "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_NO_LAZY_FETCH"


@pytest.fixture(scope="session")
def old_git(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a git that refuses what 2.25 does not know, as 2.25 would, and ignores its settings."""
    real = shutil.which("git")
    assert real is not None
    tests = []
    for option in OPTIONS.split():
        name, _, command = option.partition("=")
        if command == "print-info":
            tests.append(f'"{option}") refuse "$part";;')
        elif command:
            tests.append(f'{name}|{name}=*) [ "$command" != {command} ] || refuse "$part";;')
        else:
            tests.append(f'{name}|{name}=*) refuse "$part";;')
    path = tmp_path_factory.mktemp("git-2.25") / "git"
    path.write_text(
        f"""#!/bin/sh
refuse() {{ echo "error: unknown option \\`$1' (git 2.25)" >&2; exit 129; }}
command= skip=
for part; do
    if [ -n "$skip" ]; then skip=; continue; fi
    case $part in -C|-c) [ -n "$command" ] || skip=1; continue;; esac
    case $part in -*) ;; *) [ -n "$command" ] || command=$part;; esac
    case $part in
        {chr(10).join(tests)}
    esac
done
case " {COMMANDS} " in *" $command "*) refuse "$command";; esac
unset {VARIABLES}
exec {real} "$@"
"""
    )
    path.chmod(0o755)
    return path.parent


@pytest.fixture(autouse=True)
def _through_old_git(old_git: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{old_git}{os.pathsep}{os.environ['PATH']}")

"""A confined process opens nothing of the vault but what it was given, by any way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchproof import provenance

SECRET = "an invented secret"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "resources"
    for name in ("secret", "staging/page", "findings/other"):
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(SECRET)
    (tmp_path / "results").mkdir()
    return vault


def confined(vault: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that is confined to staging, and to writing into findings."""
    start = (
        "import os, sys\nfrom pathlib import Path\n"
        f"vault = Path({str(vault)!r})\n"
        "from benchproof.confinement import confine\n"
        "layers = confine(vault, [vault / 'staging'], [vault / 'findings'])\n"
    )
    return subprocess.run(
        [sys.executable, "-c", start + code],
        env={"PYTHONPATH": str(provenance.SCRIPTS), "PATH": "/usr/bin:/bin"},
        cwd=vault.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_allowed_works(vault: Path) -> None:
    done = confined(
        vault,
        "print((vault / 'staging' / 'page').read_text())\n"
        "(vault / 'findings' / 'mine').write_text('x')\n"
        "Path('results/table').write_text('x')\n",
    )
    assert done.stdout == SECRET + "\n", done.stderr


def test_what_is_not_is_refused(vault: Path) -> None:
    done = confined(vault, "print((vault / 'secret').read_text())")
    assert done.returncode == 1
    assert "ConfinementError: a confined job tried to open the vault (open) at" in done.stderr
    assert SECRET not in done.stdout + done.stderr

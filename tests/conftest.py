"""Fixtures shared by all tests: invented families, the embedded upstream, and a bench that runs audits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from benchproof import tables
from family import Family, build_family
from upstream import Upstream

ROOT = Path(__file__).resolve().parents[1]
SNAKEMAKE = Path(sys.executable).parent / "snakemake"
DAY = "2026-01-15"

# How long an example takes says something of the machine, not of the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@dataclass
class Bench:
    """A folder that audits run in, as a user's would: own results, own vault, own configuration."""

    folder: Path
    settings: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None

    def command(self, *arguments: str, cores: int = 2) -> list[str]:
        """Return the snakemake command line that a run uses."""
        path = self.folder / "settings.json"
        path.write_text(json.dumps(self.settings))
        base = [str(SNAKEMAKE), "-s", str(ROOT / "Snakefile"), "--directory", str(self.folder)]
        chosen = () if "--configfile" in arguments else ("--configfile", str(path))
        return [*base, *arguments, "--cores", str(cores), *chosen]

    def environ(self) -> dict[str, str]:
        """Return the environment of a run: nothing of the test's own leaks in."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        return {**kept, **self.environment}

    def run(
        self, *arguments: str, cores: int = 2, timeout: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """Run snakemake to its end and return what came of it, output and errors together."""
        return subprocess.run(
            self.command(*arguments, cores=cores),
            env=self.environ(),
            cwd=self.cwd or self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )

    def audit(self, *arguments: str, cores: int = 2) -> str:
        """Run snakemake, require success, and return its output."""
        done = self.run(*arguments, cores=cores)
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start snakemake in a process group of its own."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self.environ(),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the benchproof command with this bench's configuration."""
        command = [sys.executable, "-m", "benchproof", *arguments]
        return subprocess.run(
            [*command, "--configfile", str(self.folder / "settings.json")],
            env={**self.environ(), "PYTHONPATH": str(ROOT / "scripts")},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def go_on_from(self, folder: Path) -> None:
        """Begin where an audit of the same family ended: with a copy of its folder, times and modes too."""
        shutil.copytree(folder, self.folder, symlinks=True, dirs_exist_ok=True)

    @property
    def out(self) -> Path:
        """The folder of the report."""
        return self.folder / str(self.settings["results"]) / str(self.settings["date"])

    @property
    def vault(self) -> Path:
        """The vault."""
        return self.folder / str(self.settings["resources"])

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table of the report."""
        return tables.read(self.out / f"{name}.parquet", name)


def kill_group(process: subprocess.Popen[str]) -> None:
    """SIGKILL the main process alone, as an out-of-memory killer would; its children become orphans."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def settings(invented: Family, upstream: Upstream, **changes: Any) -> dict[str, Any]:
    """Return the configuration of an audit of `invented` through `upstream`."""
    quick = {"connections": 8, "timeout_s": 10, "tries": 2, "max_wait_s": 5}
    base = {
        "date": DAY,
        "family": invented.config,
        "endpoints": upstream.endpoints(),
        "http": quick,
        # What is fetched is opened by anndata, two seconds a run; tests of the fetch choose themselves.
        "fetch": {"select": "none"},
    }
    return {**base, "results": "results", "resources": "resources", **changes}


@pytest.fixture(scope="session")
def small_family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    """A family with few runs, for tests of the workflow's behaviour."""
    return build_family(tmp_path_factory.mktemp("small"), small=True)


@pytest.fixture
def upstream(small_family: Family) -> Iterator[Upstream]:
    """The small family, served."""
    with Upstream(small_family.root, family=small_family) as served:
        yield served
        assert not served.errors, served.errors


@pytest.fixture
def bench(tmp_path: Path, small_family: Family, upstream: Upstream) -> Bench:
    """A bench for the small family."""
    return Bench(tmp_path, settings(small_family, upstream))


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory, small_family: Family) -> Callable[..., Path]:
    """Return the folder of an audit of the small family; each is made once, and copied by who changes it."""
    made: dict[tuple[str, ...], Path] = {}

    def folder(*targets: str) -> Path:
        if targets not in made:
            with Upstream(small_family.root, family=small_family) as served:
                bench = Bench(tmp_path_factory.mktemp("audited"), settings(small_family, served))
                bench.audit(*targets)
            made[targets] = bench.folder
        return made[targets]

    return folder


def content(folder: Path) -> Mapping[str, bytes]:
    """Return the bytes of the content tables of a report folder, by name (law 6)."""
    observed = {"handles", "runnable", "objects", "contents", "files", "data_findings", "traffic"}
    time_bound = {f"{name}.parquet" for name in observed}
    return {
        p.name: p.read_bytes() for p in sorted(folder.glob("*.parquet")) if p.name not in time_bound
    }

"""Mutate the graders and list the edits that the unit tests do not notice.

usage: python -m mutation [MODULE ...] [--sample N] [--seed S] [--jobs N] [--json FILE]

Each mutant is a forked child with one edited module, tried on that module's own tests first and,
if it lives, on all tests of the graders. Nothing is written into the source tree. Run with `tests`
on the path: `PYTHONPATH=tests .venv/bin/python -m mutation choice ranges`.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, ModuleType

import hypothesis
import numpy  # noqa: F401  loaded once, for all children
import pytest

from mutation.edits import Edit, edits

ROOT = Path(__file__).resolve().parents[2]
GRADING = ROOT / "scripts" / "benchproof" / "grading"
TESTS = ROOT / "tests" / "unit" / "grading"
#: Where a module's tests are, if not in the file of its name.
OWN_TESTS = {
    "adjacency": "separation",
    "children": "composites",
    "counts": "label_sets markers",
    "markers_by_type": "markers",
    "numeric": "numeric_rules",
    "numeric_config": "numeric_rules",
    "numeric_fast": "numeric_rules grading_properties",
    "outcomes": "composites ranges distribution",
    "thresholds": "label_sets markers separation",
    "verdict": "numeric_rules composites",
}
SECONDS = 120


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from an edited tree; everything else is left to the usual finders."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self.name, self.path, self.code = name, path, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of the edited module."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the edited code."""
        exec(self.code, module.__dict__)


def _lives(path: Path, edit: Edit, tests: Sequence[Path]) -> bool:
    """Return whether the tests pass with an edit, in a child process."""
    child = os.fork()
    if child == 0:
        _child(path, edit, tests)
    _, status = os.waitpid(child, 0)
    return status == 0


def _child(path: Path, edit: Edit, tests: Sequence[Path]) -> None:
    """Run the tests on an edited module and leave; never returns."""
    try:
        signal.alarm(SECONDS)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        code = compile(edit.tree, str(path), "exec")
        sys.meta_path.insert(0, _Finder(f"benchproof.grading.{path.stem}", path, code))
        early = "ignore::pytest.PytestAssertRewriteWarning"
        options = ["-x", "-q", "-p", "no:cacheprovider", "-W", early, f"--rootdir={ROOT}"]
        result = pytest.main([*options, *map(str, tests)])
        os._exit(0 if result == 0 else 1)
    except BaseException:
        os._exit(1)


def _survives(path: Path, edit: Edit) -> bool:
    """Return whether no test notices an edit, and say so at once."""
    names = OWN_TESTS.get(path.stem, path.stem).split()
    own = [TESTS / f"test_{name}.py" for name in names]
    known = [test for test in own if test.exists()]
    lives = (not known or _lives(path, edit, known)) and _lives(path, edit, [TESTS])
    if lives:
        print(_shown(path, edit), flush=True)
    return lives


def _shown(path: Path, edit: Edit) -> str:
    line = path.read_text("utf-8").splitlines()[edit.line - 1].strip()
    return f"{path.name}:{edit.line}: {edit.what}: {line}"


def main() -> int:
    """Try the mutants and report; the exit code says nothing about how many live."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants drawn by the seed")
    parser.add_argument("--seed", default="mutation")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp(prefix="mutation-")
    hypothesis.settings.register_profile("mutation", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutation")
    chosen = given.modules or sorted(path.stem for path in GRADING.glob("[a-z]*.py"))
    paths = [GRADING / f"{name}.py" for name in chosen]
    mutants = [(path, edit) for path in paths for edit in edits(path.read_text("utf-8"))]
    if given.sample is not None and given.sample < len(mutants):
        mutants = random.Random(given.seed).sample(mutants, given.sample)
    unedited = Edit(1, "nothing", ast.parse(paths[0].read_text("utf-8")))
    if not _lives(paths[0], unedited, [TESTS]):
        raise SystemExit("the tests fail without any edit: mend them first")
    start = time.monotonic()
    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = list(pool.map(lambda item: _survives(*item), mutants))
    living = [_shown(*item) for item, lives in zip(mutants, outcomes, strict=True) if lives]
    killed = len(mutants) - len(living)
    share = killed / max(len(mutants), 1)
    print(f"{killed} of {len(mutants)} killed ({share:.1%}) in {time.monotonic() - start:.0f} s")
    if given.json:
        given.json.write_text(
            json.dumps({"mutants": len(mutants), "living": sorted(living)}) + "\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

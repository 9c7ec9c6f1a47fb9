"""Which code, configuration and commits a table was made from.

A rule's code digest covers its script and every module of the library that the script reaches, so that
an edit reaches results and nothing else is made again.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchproof import __version__

SCRIPTS = Path(__file__).resolve().parents[1]
PACKAGE = "benchproof"
#: What a report is checked against: other claims on a finished date are as other code.
CLAIMS = SCRIPTS.parent / "config" / "claims.yaml"
#: Imports of the library in any form, also inside a function; text that only looks like one adds a file to
#: a digest and takes none away. Parsing every module instead costs each start of Snakemake 0.3 s.
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(benchproof[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
_NAME = re.compile(rb"[\w.]+")


def code_digest(rule: str) -> str:
    """Return the sha256 hex of a rule's script and the library files it reaches."""
    return _digest(_reached(SCRIPTS / f"{rule}.py"))


def library_digest() -> str:
    """Return the sha256 hex over all scripts, library files and templates, and the claims."""
    code = _digest(
        path for path in SCRIPTS.rglob("*") if path.suffix in (".py", ".j2", ".css", ".js", ".txt")
    )
    return sha256(f"{code}\0{claims_digest()}".encode()).hexdigest()


def claims_digest() -> str:
    """Return the sha256 hex of the claims: a file's time does not tell whether it is another one."""
    return sha256(CLAIMS.read_bytes() if CLAIMS.exists() else b"").hexdigest()


def versions() -> dict[str, str]:
    """Return the versions that bytes of tables depend on: benchproof, Python (minor) and pyarrow."""
    import pyarrow

    minor = ".".join(platform.python_version_tuple()[:2])
    return {PACKAGE: __version__, "python": minor, "pyarrow": pyarrow.__version__}


def metadata(
    table: str, pins: Iterable[Mapping[str, Any]], made_by: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a table's Parquet metadata says (law 6): no clock, host or path.

    `made_by` holds config (content digest), code (digest of the rule) and notice.
    """
    commits = {pin["repo"]: pin["commit_sha"] for pin in pins}
    return {
        "table": table,
        "pins": commits,
        "config": made_by["config"],
        "code": made_by["code"],
        "notice": made_by["notice"],
        "versions": versions(),
    }


def _digest(paths: Iterable[Path]) -> str:
    digest = sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SCRIPTS).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _reached(script: Path) -> set[Path]:
    seen: set[Path] = set()
    waiting = [script]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(_imports(path))
    return seen | set(_assets(seen))


def _assets(modules: Iterable[Path]) -> Iterable[Path]:
    """Templates lie beside the modules that render them."""
    for folder in {path.parent for path in modules}:
        templates = folder / "templates"
        if templates.is_dir():
            yield from (item for item in templates.rglob("*") if item.is_file())


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Return the library files a module imports, at its top or inside a function."""
    names: set[str] = set()
    for source, imported, plain in _IMPORT.findall(path.read_bytes()):
        names.add(source.decode())
        names.update(f"{source.decode()}.{name.decode()}" for name in _NAME.findall(imported))
        names.update(name.decode() for name in _NAME.findall(plain))
    return tuple(found for name in sorted(names) for found in _files(name))


def _files(name: str) -> list[Path]:
    """Return the files that importing a dotted name of the library runs, packages included."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return []
    found: list[Path] = []
    for length in range(1, len(parts) + 1):
        base = SCRIPTS.joinpath(*parts[:length])
        found.extend(
            path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()
        )
    return found

"""`benchproof verify`: its arguments, its screen and its exit code."""

from __future__ import annotations

import argparse
import json
import re
import resource
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchproof.config import Config
from benchproof.errors import BenchproofError, ConfigError
from benchproof.outputs import ENGINE
from benchproof.printable import printable
from benchproof.sealing.outcome import Check
from benchproof.sealing.verify import Means, verify

OK, FAILED, INCOMPLETE = 0, 1, 20
_WIDTH: Final = 11
#: Address space while a folder is read: a table that unpacks to more is refused, not unpacked.
_MEMORY: Final = 6 << 30


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "folder",
        nargs="?",
        default="latest",
        help="a report's folder, or a date; the latest report",
    )
    command.add_argument(
        "--digest", metavar="SHA256", help="what seal.json must hash to, as it was published"
    )
    command.add_argument(
        "--signers", metavar="FILE", help="allowed signers, as ssh-keygen has them"
    )
    command.add_argument("--signer", metavar="NAME", help="who of them must have signed; any")
    command.add_argument("--require-signature", action="store_true", help="fail when not signed")
    command.add_argument(
        "--git", action="append", default=[], metavar="DIR", help="a clone that has the commits"
    )
    command.add_argument("--vault", metavar="DIR", help="a vault, to search for its answers")
    command.add_argument("--json", action="store_true", help="one JSON object a check, one a line")


def run(options: argparse.Namespace, audit: Config) -> int:
    """Verify a folder, print a line for each check, and return the exit code.

    Raises BenchproofError when there is no such folder, ConfigError when an argument can't be meant.
    """
    folder = _folder(options.folder, Path(audit.results))
    if options.digest and not re.fullmatch(r"[0-9a-f]{64}", options.digest):
        raise ConfigError("--digest takes the 64 hexadecimal digits of a sha256.")
    if options.signer and not options.signers:
        raise ConfigError("--signer takes --signers FILE beside it.")
    vault = Path(options.vault or audit.resources)
    means = Means(
        defaults=audit.merged,
        vault=vault if vault.is_dir() else None,
        clones=tuple(map(Path, options.git)),
        signers=Path(options.signers) if options.signers else None,
        signer=options.signer,
        must_be_signed=options.require_signature,
        digest=options.digest,
        vault_asked=options.vault is not None,
        metadata=_metadata(folder, Path(audit.results)),
    )
    if options.alone:  # called from Python, the process is somebody else's
        _limit_memory()
    if not options.json:
        print(printable(f"benchproof verify {folder}"), flush=True)
    checks = []
    for check in verify(folder, means):
        checks.append(check)
        print(json.dumps(asdict(check)) if options.json else _told(check), flush=True)
    code = exit_code(checks)
    if not options.json:
        print(_verdict(checks, code))
    return code


def exit_code(checks: Iterable[Check]) -> int:
    """Return 1 when a check failed, 20 when one that was asked for could not be made, 0 otherwise."""
    listed = list(checks)
    if any(check.status == "failed" for check in listed):
        return FAILED
    asked = any(check.status == "not checked" and check.asked for check in listed)
    return INCOMPLETE if asked else OK


def _folder(named: str, results: Path) -> Path:
    for path in (Path(named), results / named):
        if path.is_dir():
            return path.resolve() if path.is_symlink() or path.name in ("", "..") else path
    known = sorted(path.parent.name for path in results.glob("*/seal.json"))
    there = ", ".join(printable(name) for name in known if name != "latest")
    raise BenchproofError(
        f"{printable(named)}: no folder of a report, here or in {results}. "
        + (f"Sealed reports there: {there}; name one." if there else "Name one, or run snakemake.")
    )


def _metadata(folder: Path, results: Path) -> tuple[Path, ...]:
    """Return Snakemake's folders here, when a report lies in the results that are made here."""
    if not folder.resolve().is_relative_to(results.resolve()):
        return ()
    return tuple(path for path in map(Path, ENGINE) if path.is_dir())


def _told(check: Check) -> str:
    first, *more = check.lines or ("",)
    lines = [f"{check.status:<{_WIDTH}}  {check.name:<10}  {first}"]
    return "\n".join([*lines, *(" " * (_WIDTH + 14) + line for line in more)])


def _verdict(checks: list[Check], code: int) -> str:
    failed = sum(check.status == "failed" for check in checks)
    left = sum(check.status == "not checked" for check in checks)
    if code == FAILED:
        return f"FAILED: {failed} of {len(checks)} checks. Exit code {code}."
    held = f"{len(checks) - left} checks hold, {left} not made."
    asked = " Something that was asked for could not be checked." if code else ""
    return f"{held}{asked} Exit code {code}."


def _limit_memory() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MEMORY if soft == resource.RLIM_INFINITY else min(_MEMORY, soft)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))

"""What a check of `benchproof verify` came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from benchproof.printable import printable

Status = Literal["ok", "failed", "not checked"]
#: Faults that are told; the others are counted.
_TOLD: Final = 20
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what came of it, and in words what was found, one fault a line.

    `asked` is True when the user asked for it, so that not having checked it is no success.
    """

    name: str
    status: Status
    lines: tuple[str, ...]
    asked: bool = False


def ok(name: str, *lines: str) -> Check:
    """Return a check that holds."""
    return _check(name, "ok", lines)


def failed(name: str, faults: Iterable[str]) -> Check:
    """Return a check that does not hold."""
    return _check(name, "failed", faults)


def unchecked(name: str, why: str, *, asked: bool = False) -> Check:
    """Return a check that could not be made, and why."""
    return _check(name, "not checked", [why], asked=asked)


def _check(name: str, status: Status, lines: Iterable[str], *, asked: bool = False) -> Check:
    listed = list(lines)
    more = len(listed) - _TOLD
    listed = listed[:_TOLD] + ([f"and {more} more"] if more > 0 else [])
    return Check(name, status, tuple(printable(line)[:_LONGEST] for line in listed), asked)

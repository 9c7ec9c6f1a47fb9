"""The registry of targets: a name, what is done with the bytes, where mutation starts, what may be raised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal["bytes", "json", "lines"]
Run = Callable[[bytes], Any]


@dataclass
class Target:
    """One parser. `run` returns what it makes of bytes; any exception but `allowed` is a failure.

    `seeds` gives what mutation starts from; `kind` says how: bytes alone, JSON values, or lines too.
    """

    name: str
    run: Run
    seeds: Callable[[], Sequence[bytes]]
    allowed: tuple[type[BaseException], ...] = ()
    kind: Kind = "bytes"

    @cached_property
    def corpus(self) -> list[bytes]:
        """The seeds, made once."""
        return list(self.seeds()) or [b""]

    def try_one(self, data: bytes) -> str:
        """Return `ok` or the name of a declared error; what isn't declared is raised."""
        try:
            self.run(data)
        except self.allowed as error:
            return type(error).__name__
        return "ok"


TARGETS: dict[str, Target] = {}


def target(
    name: str,
    seeds: Callable[[], Sequence[bytes]],
    *,
    allowed: Iterable[type[BaseException]] = (),
    kind: Kind = "bytes",
) -> Callable[[Run], Run]:
    """Register a function of bytes as a target."""

    def register(run: Run) -> Run:
        if name in TARGETS:
            raise ValueError(f"two targets are called {name}")
        TARGETS[name] = Target(name, run, seeds, tuple(allowed), kind)
        return run

    return register


def chosen(names: Iterable[str] = ()) -> list[Target]:
    """Return the targets of these names, all without any; raises KeyError for an unknown one."""
    import fuzz.targets  # noqa: F401

    return [TARGETS[name] for name in names] or list(TARGETS.values())

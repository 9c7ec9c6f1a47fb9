"""The loop: mutants of one target until a number or a time is reached, each under a guard."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from fuzz.mutate import mutated
from fuzz.registry import Target

#: Seconds of CPU: no mutant of a small seed may take longer.
SECONDS = 5.0


class TooSlow(Exception):
    """An execution took longer than it may."""


@dataclass
class Outcome:
    """What came of a target: executions, how they ended, and the undeclared ones by place."""

    name: str
    executions: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    failures: dict[str, bytes] = field(default_factory=dict)


@contextmanager
def guarded(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the main thread when the block takes more seconds of CPU, on whatever busy machine."""

    def expired(_: int, __: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds} s of CPU")

    before = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fuzz(target: Target, *, seed: int, seconds: float, most: int | None = None) -> Outcome:
    """Run mutants of a target for some time, or `most` of them; the same seed gives the same mutants."""
    rng = random.Random(f"{target.name} {seed}")
    found, _ = Outcome(target.name), target.corpus  # seeds are made before the clock runs
    began = last = time.monotonic()
    while (most is None or found.executions < most) and last - began < seconds:
        data = target.corpus[found.executions] if found.executions < len(target.corpus) else None
        data = mutated(rng, target.corpus, target.kind) if data is None else data
        try:
            with guarded(SECONDS):
                found.ends[target.try_one(data)] += 1
        except Exception as error:  # every undeclared exception is what this looks for
            found.ends["undeclared"] += 1
            found.failures.setdefault(place(error), data)
        now = time.monotonic()
        found.executions += 1
        found.slowest, last = max(found.slowest, now - last), now
    found.seconds = last - began
    return found


def place(error: BaseException) -> str:
    """Return type and place of an exception, by which failures are told apart."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = next((f for f in reversed(frames) if "benchproof" in f.filename), frames[-1])
    return f"{type(error).__name__} at {Path(inner.filename).name}:{inner.lineno} in {inner.name}"


def keep(found: Outcome, folder: Path) -> list[Path]:
    """Write failing inputs into a private folder: they may be made of real answers, so nobody else reads."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = []
    for where, data in found.failures.items():
        path = folder / f"{found.name}-{hashlib.sha256(where.encode()).hexdigest()[:10]}"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        kept.append(path)
    return kept

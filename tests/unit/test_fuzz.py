"""Every parser of bytes from outside, for a moment: nothing but declared errors. `python -m fuzz` goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import Target, chosen
from fuzz.engine import fuzz, guarded, keep
from fuzz.hostile import HOSTILE
from fuzz.mutate import mutated

#: Executions of each parser; those of whole repositories take milliseconds.
EXAMPLES = 25
ALL = chosen()


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_nothing_but_declared_errors(target: Target) -> None:
    """Hypothesis draws a mutator's seed, or bytes of its own; the same ones in each run."""

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(st.integers(0, 2**32), st.binary(max_size=64)))
    def examples(drawn: int | bytes) -> None:
        data = (
            drawn
            if isinstance(drawn, bytes)
            else mutated(random.Random(drawn), target.corpus, target.kind)
        )
        with guarded(20):
            target.try_one(data)

    examples()


def test_seeds_are_what_a_parser_takes() -> None:
    """A corpus that is refused as a whole would mutate nothing but errors."""
    for target in ALL:
        if target.name not in ("quoted_path", "http_endless"):
            assert "ok" in {target.try_one(data) for data in target.corpus[:4]}, target.name


def test_the_same_seed_gives_the_same_mutants_and_failures_are_kept(tmp_path: Path) -> None:
    """An undeclared exception is found, told apart by its place, and its input kept for its owner alone."""

    def fails(data: bytes) -> None:
        if b"x" not in data:
            raise KeyError(data)

    target = Target("planted", fails, lambda: [b"axxb"], allowed=(ValueError,))
    one, two = (fuzz(target, seed=3, seconds=20, most=300) for _ in range(2))
    assert one.ends == two.ends
    assert one.ends["undeclared"] > 0
    (kept,) = keep(one, tmp_path / "kept")
    assert kept.stat().st_mode & 0o777 == 0o600
    with pytest.raises(KeyError):
        target.try_one(kept.read_bytes())


def test_every_hostile_file_has_a_parser() -> None:
    names = [item.name for item in HOSTILE]
    assert len(set(names)) == len(names)
    assert {item.target for item in HOSTILE} <= {target.name for target in ALL}

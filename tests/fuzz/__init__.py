"""Fuzzing of every parser of bytes that strangers wrote: nothing may happen but what a parser declares.

`PYTHONPATH=scripts:tests .venv/bin/python -m fuzz --seconds 60` runs all targets, `--only NAME` some of them;
`python -m fuzz.limits` measures time and memory of hostile files. The short part is tests/unit/test_fuzz.py.
"""

from fuzz.registry import TARGETS, Target, chosen

__all__ = ["TARGETS", "Target", "chosen"]

"""What evaluations declare about a run against what runs record."""

from __future__ import annotations

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation


@LINT.evaluation(
    "timeout_not_honoured",
    "minor",
    "The timeout that an evaluation declares is not the one that its recorded runs had.",
    "Declare the timeout that is used, or use the one that is declared.",
)
def timeout_not_honoured(evaluation: Evaluation) -> Places:
    """`timeout_s` against `eval_timeout_seconds` of the runs; both are public."""
    declared, recorded = evaluation.metadata.get("timeout_s"), evaluation.recorded.timeouts
    if declared is not None and any(declared != one for one in recorded):
        seconds = ", ".join(map(str, sorted(recorded)))
        yield Place(pointer="/metadata/timeout_s", detail=f"Recorded: {seconds} s.")


@LINT.evaluation(
    "timeout_not_a_number",
    "minor",
    "A declared timeout is no positive number of seconds.",
    "State seconds.",
)
def timeout_not_a_number(evaluation: Evaluation) -> Places:
    """Text, zero or less as `timeout_s`."""
    declared = evaluation.metadata.get("timeout_s", 1)
    if isinstance(declared, bool) or not isinstance(declared, int | float) or not declared > 0:
        yield Place(pointer="/metadata/timeout_s")

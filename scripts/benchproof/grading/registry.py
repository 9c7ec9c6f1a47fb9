"""Which grader types are known, and which of them can be graded.

`FAMILIES` is the registry that everything else asks; a family is one module with a
`compile_config`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from benchproof.grading import numeric
from benchproof.grading.verdict import RuleStatus, Verdict, no_submission

#: Types with a published rule, whole or in part (GRADERS, section 3).
PUBLISHED: Final = (
    "numeric_tolerance",
    "numeric_range",
    "multiple_choice",
    "label_set_jaccard",
    "jaccard_label_set",
    "distribution_comparison",
    "marker_gene_precision_recall",
    "marker_gene_separation",
    "spatial_adjacency",
    "all_of",
    "composite",
    "average_of",
    "longest_subsequence",
    "finished_file",
)
#: Types that public sources name without a rule, so that nobody outside can grade them.
NAMED_ONLY: Final = (
    "list_match",
    "dict_match",
    "predicate_leaf",
    "refusal_vocab",
    "cosine",
    "multi_criteria",
)


class Compiled(Protocol):
    """A grader type and configuration, ready to grade any number of answers."""

    @property
    def rule_status(self) -> RuleStatus:
        """What can be said of the grader object itself."""

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON value, `NO_ANSWER` or None. Never raises."""


@dataclass(frozen=True, slots=True)
class Ungradable:
    """A type without a grader here: every submitted answer gets the same verdict."""

    rule_status: RuleStatus
    verdict: Verdict

    def grade(self, answer: object) -> Verdict:
        """Return the one verdict, or no_submission."""
        return no_submission(answer) or self.verdict


class Registry:
    """Grader types by name. Registering a name twice is an error, never a replacement."""

    def __init__(self) -> None:
        self._families: dict[str, Callable[[object], Compiled]] = {}

    def register(self, name: str, compile_config: Callable[[object], Compiled]) -> None:
        """Add a type or an alias. Raises ValueError if the name is taken."""
        if name in self._families:
            raise ValueError(f"grader type {name!r} is already registered: choose another name")
        self._families[name] = compile_config

    def compile(self, kind: object, config: object) -> Compiled:
        """Return the compiled rule; for a type without a grader one that says why."""
        family = self._families.get(kind) if isinstance(kind, str) else None
        return self._ungradable(kind) if family is None else family(config)

    def _ungradable(self, kind: object) -> Ungradable:
        if kind in PUBLISHED:
            return Ungradable("not_supported", Verdict("not_supported", reason="not_implemented"))
        if kind in NAMED_ONLY:
            verdict = Verdict("rule_undetermined", reason="named_without_rule")
            return Ungradable("undetermined", verdict)
        reason = ":".join(filter(None, ("unknown_type", ",".join(self._close(kind)))))
        return Ungradable("unknown_type", Verdict("not_supported", reason=reason))

    def _close(self, kind: object) -> list[str]:
        """Return known names that resemble an unknown one, best first."""
        known = sorted({*PUBLISHED, *NAMED_ONLY, *self._families})
        name = kind.strip().lower()[:64] if isinstance(kind, str) else ""
        return difflib.get_close_matches(name, known, n=3)


FAMILIES: Final = Registry()
FAMILIES.register("numeric_tolerance", numeric.compile_config)

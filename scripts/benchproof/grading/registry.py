"""Which grader types are known, and which of them can be graded.

`FAMILIES` is the registry that everything else asks; a family is one module with a
`compile_config`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from benchproof.grading import (
    adjacency,
    choice,
    composites,
    distribution,
    finished,
    label_sets,
    length_penalty,
    markers,
    numeric,
    ranges,
    separation,
    subsequence,
)
from benchproof.grading.verdict import RuleStatus, Verdict, no_submission

#: Types that public sources name without a rule, so that nobody outside can grade them.
NAMED_ONLY: Final = (
    "list_match",
    "dict_match",
    "predicate_leaf",
    "refusal_vocab",
    "cosine",
    "multi_criteria",
)
#: Composites deeper than this are left alone; published ones nest once.
MAX_NESTING: Final = 32


class Compiled(Protocol):
    """A grader type and configuration, ready to grade any number of answers."""

    @property
    def rule_status(self) -> RuleStatus:
        """What can be said of the grader object itself."""

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON value, `NO_ANSWER` or None. Never raises."""


CompileConfig = Callable[[object], Compiled]
CompileNested = Callable[[object, Callable[[object, object], Compiled]], Compiled]


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
        self._families: dict[str, CompileConfig] = {}
        self._nested: dict[str, CompileNested] = {}

    def register(self, name: str, compile_config: CompileConfig) -> None:
        """Add a type or an alias. Raises ValueError if the name is taken."""
        self._refuse_taken(name)
        self._families[name] = compile_config

    def register_nested(self, name: str, compile_nested: CompileNested) -> None:
        """Add a type whose configuration holds graders. Raises ValueError if the name is taken."""
        self._refuse_taken(name)
        self._nested[name] = compile_nested

    def names(self) -> tuple[str, ...]:
        """Return every type that can be graded, sorted."""
        return tuple(sorted({*self._families, *self._nested}))

    def compile(self, kind: object, config: object, depth: int = 0) -> Compiled:
        """Return the compiled rule; for a type without a grader one that says why."""
        name = kind if isinstance(kind, str) else None
        if name in self._families:
            return self._families[name](config)
        if name not in self._nested:
            return self._ungradable(kind)
        if depth >= MAX_NESTING:
            verdict = Verdict("not_supported", reason="nested_too_deep")
            return Ungradable("not_supported", verdict)
        return self._nested[name](config, lambda one, two: self.compile(one, two, depth + 1))

    def _refuse_taken(self, name: str) -> None:
        if name in self._families or name in self._nested:
            raise ValueError(f"grader type {name!r} is already registered: choose another name")

    def _ungradable(self, kind: object) -> Ungradable:
        if kind in NAMED_ONLY:
            verdict = Verdict("rule_undetermined", reason="named_without_rule")
            return Ungradable("undetermined", verdict)
        reason = ":".join(filter(None, ("unknown_type", ",".join(self._close(kind)))))
        return Ungradable("unknown_type", Verdict("rule_undetermined", reason=reason))

    def _close(self, kind: object) -> list[str]:
        """Return known names that resemble an unknown one, best first."""
        known = sorted({*NAMED_ONLY, *self.names()} - {composites.LIST, length_penalty.NAME})
        name = kind.strip().lower()[:64] if isinstance(kind, str) else ""
        return difflib.get_close_matches(name, known, n=3)


FAMILIES: Final = Registry()
FAMILIES.register("numeric_tolerance", numeric.compile_config)
FAMILIES.register("numeric_range", ranges.compile_config)
FAMILIES.register("multiple_choice", choice.compile_config)
FAMILIES.register("label_set_jaccard", label_sets.compile_config)
FAMILIES.register("jaccard_label_set", label_sets.compile_config)
FAMILIES.register("distribution_comparison", distribution.compile_config)
FAMILIES.register("marker_gene_precision_recall", markers.compile_config)
FAMILIES.register("marker_gene_separation", separation.compile_config)
FAMILIES.register("spatial_adjacency", adjacency.compile_config)
FAMILIES.register("longest_subsequence", subsequence.compile_config)
FAMILIES.register("finished_file", finished.compile_config)
FAMILIES.register(length_penalty.NAME, length_penalty.compile_config)
FAMILIES.register_nested("all_of", composites.compile_all_of)
FAMILIES.register_nested("composite", composites.compile_all_of)
FAMILIES.register_nested("average_of", composites.compile_average_of)
FAMILIES.register_nested(composites.LIST, composites.compile_list)
#: Types with a published rule, whole or in part.
PUBLISHED: Final = FAMILIES.names()

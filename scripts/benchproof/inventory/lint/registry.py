"""Where a rule's function, its wording and its severity are joined, and what a rule yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from benchproof.inventory.lint.subject import Evaluation, Subject
from benchproof.severity import SEVERITIES, Rule


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule was met. Without a path: in the evaluation's own file, or in the whole repository.

    `pointer` is a JSON pointer; members of what is graded are named by their number.
    """

    path: str | None = None
    pointer: str | None = None
    detail: str = ""


Places = Iterable[Place]
OfEvaluation = Callable[[Evaluation], Places]
OfRepository = Callable[[Subject], Places]


@dataclass(frozen=True, slots=True)
class Check:
    """A rule with its function; exactly one of the two functions is there."""

    rule: Rule
    of_evaluation: OfEvaluation | None = None
    of_repository: OfRepository | None = None


class Registry:
    """Checks by the stable id of their rule. Registering an id twice is an error."""

    def __init__(self) -> None:
        self.checks: dict[str, Check] = {}

    def evaluation(
        self, name: str, severity: str, message: str, remedy: str, *, withheld: bool = False
    ) -> Callable[[OfEvaluation], OfEvaluation]:
        """Register a function of one evaluation."""

        def add(function: OfEvaluation) -> OfEvaluation:
            rule = Rule(severity, message, remedy, withheld)
            self._add(name, Check(rule, of_evaluation=function))
            return function

        return add

    def repository(
        self, name: str, severity: str, message: str, remedy: str, *, withheld: bool = False
    ) -> Callable[[OfRepository], OfRepository]:
        """Register a function of one repository."""

        def add(function: OfRepository) -> OfRepository:
            rule = Rule(severity, message, remedy, withheld)
            self._add(name, Check(rule, of_repository=function))
            return function

        return add

    def _add(self, name: str, check: Check) -> None:
        if name in self.checks:
            raise ValueError(f"rule {name!r} is registered twice: choose another id")
        if check.rule.severity not in SEVERITIES:
            raise ValueError(f"rule {name!r} has no such severity: {check.rule.severity!r}")
        self.checks[name] = check


LINT: Final = Registry()

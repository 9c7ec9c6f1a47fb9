"""All rules: importing this module registers them; `lint` applies them to a repository."""

from __future__ import annotations

from collections.abc import Iterator

from benchproof.findings import Finding
from benchproof.inventory.lint import (
    answers,
    canary,
    configs,
    files,
    giveaway,
    identity,
    kept,
    metadata,
    prompts,
    runtime,
    tolerances,
    unusable,
    vocabulary,
)
from benchproof.inventory.lint.registry import LINT, Place
from benchproof.inventory.lint.subject import Subject
from benchproof.severity import Rule

THEMES = (
    identity,
    metadata,
    canary,
    prompts,
    tolerances,
    configs,
    unusable,
    answers,
    vocabulary,
    giveaway,
    runtime,
    kept,
    files,
)


#: The linter's rules by id.
RULES: dict[str, Rule] = {name: check.rule for name, check in LINT.checks.items()}


def lint(subject: Subject) -> list[Finding]:
    """Return every place that a rule meets in a repository, withheld ones included."""
    return [
        Finding(
            name,
            subject.repo,
            place.path,
            place.pointer,
            None,
            _sha(subject, place),
            detail=place.detail,
        )
        for name in LINT.checks
        for place in _places(name, subject)
    ]


def _places(name: str, subject: Subject) -> Iterator[Place]:
    check = LINT.checks[name]
    if check.of_repository is not None:
        yield from check.of_repository(subject)
    if check.of_evaluation is not None:
        for evaluation in subject.evaluations:
            for place in check.of_evaluation(evaluation):
                path = place.path or evaluation.path
                yield Place(path, place.pointer, place.detail)


def _sha(subject: Subject, place: Place) -> str | None:
    return subject.shas.get(place.path) if place.path else None

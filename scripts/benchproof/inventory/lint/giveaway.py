"""Texts that give an answer away. Where they stand is withheld: results hold numbers alone."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from benchproof.grading import compile_rule
from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, Subject
from benchproof.inventory.lint.trial import (
    CHOICE,
    filled,
    leaves,
    numeric_fields,
    passes,
    truths,
)
from benchproof.inventory.lint.words import is_rare, named_in, objects, stands_in


def _rare_truths(evaluation: Evaluation) -> list[Any]:
    """Return the graded values that hardly stand anywhere by chance.

    Where no rule is published these are the texts and numbers of recorded answers that passed.
    """
    published = [value for grader in evaluation.graders for value in truths(grader)]
    recorded = leaves(list(evaluation.recorded.passing))
    return [value for value in (published or recorded) if is_rare(value)]


def _told(evaluation: Evaluation, text: str, values: Iterable[Any] | None = None) -> bool:
    wanted = _rare_truths(evaluation) if values is None else values
    return any(stands_in(value, text) for value in wanted)


@LINT.repository(
    "readme_gives_answer",
    "critical",
    "A README shows an answer that passes a published evaluation.",
    "Show an invented answer instead.",
    withheld=True,
)
def readme_gives_answer(subject: Subject) -> Places:
    """An object in a README passes an evaluation that doesn't pass on zeros as well."""
    judged = [item for item in subject.evaluations if item.graders and _is_telling(item)]
    for document in subject.documents:
        if document.is_readme:
            shown = list(_shown_objects(document.text))
            if any(_gives(document.text, item, shown) for item in judged):
                yield Place(document.path)


#: Graded values of an evaluation: what a README shows of one (`objects`) has no room for more.
_MOST_TRUTHS = 1_000


def _is_telling(evaluation: Evaluation) -> bool:
    if sum(len(truths(grader)) for grader in evaluation.graders) > _MOST_TRUTHS:
        return False
    return passes(evaluation, filled(0)) is not True


def _gives(text: str, evaluation: Evaluation, shown: list[dict[str, Any]]) -> bool:
    """A choice may pass by chance: there the README must name the evaluation too."""
    by_chance = {grader.type for grader in evaluation.tops} == {CHOICE}
    if by_chance and str(evaluation.value.get("id")) not in text:
        return False
    rules = [compile_rule(top.type, top.config) for top in evaluation.tops]
    return any(all(rule.grade(answer).passed is True for rule in rules) for answer in shown)


def _shown_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects and Python dictionaries that a document shows."""
    for part in objects(text):
        for read in (json.loads, _literal):
            try:
                value = read(part)
            except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
                continue
            if isinstance(value, dict) and all(isinstance(key, str) for key in value):
                yield value
            break


def _literal(text: str) -> Any:
    """Read a Python literal as the JSON it would be, the only thing that graders take: a set is none.

    What Python warns about in it is nobody's business here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps(ast.literal_eval(text)))


@LINT.evaluation(
    "prompt_gives_answer",
    "critical",
    "A prompt holds a graded number.",
    "Take it out of the prompt.",
    withheld=True,
)
def prompt_gives_answer(evaluation: Evaluation) -> Places:
    """A truth of four significant digits or more; labels may stand there as options."""
    numbers = [field.truth for grader in evaluation.graders for field in numeric_fields(grader)]
    rare = [n for n in numbers if isinstance(n, int | float) and is_rare(n)]
    if _told(evaluation, evaluation.prompt, rare):
        yield Place(pointer="/task")


@LINT.evaluation(
    "notes_give_answer",
    "major",
    "The notes of an evaluation hold a graded value.",
    "Keep such notes in a repository that is not public.",
    withheld=True,
)
def notes_give_answer(evaluation: Evaluation) -> Places:
    """A truth that hardly stands there by chance."""
    if _told(evaluation, evaluation.text("notes")):
        yield Place(pointer="/notes")


@LINT.evaluation(
    "metadata_gives_answer",
    "critical",
    "An evaluation's id or metadata hold a graded value, which anybody who lists evaluations sees.",
    "Rename it, or take it out.",
    withheld=True,
)
def metadata_gives_answer(evaluation: Evaluation) -> Places:
    """A truth that hardly stands there by chance, or a label spelled out in the id."""
    texts = [text for text in leaves(evaluation.metadata) if isinstance(text, str)]
    if any(_told(evaluation, text) for text in texts):
        yield Place(pointer="/metadata")
    names = (evaluation.stem, evaluation.text("id"))
    labels = [value for value in _rare_truths(evaluation) if isinstance(value, str)]
    if any(named_in(label, name) for label in labels for name in names):
        yield Place(pointer="/id")


@LINT.evaluation(
    "field_name_gives_answer",
    "critical",
    "The name of an answer field spells a graded label.",
    "Name fields by what is asked, not by what is found.",
    withheld=True,
)
def field_name_gives_answer(evaluation: Evaluation) -> Places:
    """Names in the template; where no rule is published also those that records grade."""
    labels = [value for value in _rare_truths(evaluation) if isinstance(value, str)]
    asked = set(evaluation.template.fields) if evaluation.template else set()
    for names, pointer in ((asked, "/task"), (evaluation.recorded.fields - asked, None)):
        if any(named_in(label, name) for label in labels for name in names):
            yield Place(pointer=pointer)

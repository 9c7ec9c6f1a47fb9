"""Vocabularies beside evaluations: lists of the words that an answer may hold."""

from __future__ import annotations

from typing import Any

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation
from benchproof.inventory.lint.trial import LABELS, labels


def _lists(value: Any) -> list[list[str]]:
    """Return every list of texts inside a vocabulary; names of objects that hold objects count as one."""
    waiting, found = [value], []
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            texts = [text for text in item if isinstance(text, str)]
            found += [texts] if texts else []
            waiting.extend(inner for inner in item if not isinstance(inner, str))
    return found


def _beside(evaluation: Evaluation) -> str:
    return evaluation.path.rpartition("/")[0] + "/vocabulary.json"


@LINT.evaluation(
    "vocabulary_malformed",
    "minor",
    "A vocabulary holds no list of words.",
    "List the words that an answer may hold.",
)
def vocabulary_malformed(evaluation: Evaluation) -> Places:
    """A vocabulary without one list of texts, and not made of texts by name either."""
    found = evaluation.vocabulary
    named = isinstance(found, dict) and any(isinstance(value, str) for value in found.values())
    if found is not None and not _lists(found) and not named:
        yield Place(_beside(evaluation))


@LINT.evaluation(
    "vocabulary_repeats",
    "minor",
    "A vocabulary lists a word twice.",
    "Delete the repetition.",
)
def vocabulary_repeats(evaluation: Evaluation) -> Places:
    """Equal words in one list, without regard to case."""
    if any(len({w.lower() for w in words}) < len(words) for words in _lists(evaluation.vocabulary)):
        yield Place(_beside(evaluation))


@LINT.evaluation(
    "vocabulary_lacks_label",
    "critical",
    "A graded label is not in the vocabulary; who keeps to the vocabulary fails.",
    "Add it, or correct the label.",
)
def vocabulary_lacks_label(evaluation: Evaluation) -> Places:
    """A truth label that no list holds."""
    words = {word for listed in _lists(evaluation.vocabulary) for word in listed}
    graded = {
        label for grader in evaluation.graders if grader.type in LABELS for label in labels(grader)
    }
    if words and graded - words:
        yield Place(_beside(evaluation))


@LINT.evaluation(
    "vocabulary_equals_labels",
    "critical",
    "A vocabulary lists the graded labels and no others.",
    "Add words that are wrong.",
    withheld=True,
)
def vocabulary_equals_labels(evaluation: Evaluation) -> Places:
    """The whole list passes as it stands."""
    for grader in evaluation.graders:
        graded = set(labels(grader)) if grader.type in LABELS else set()
        if graded and any(set(words) == graded for words in _lists(evaluation.vocabulary)):
            yield Place(_beside(evaluation))

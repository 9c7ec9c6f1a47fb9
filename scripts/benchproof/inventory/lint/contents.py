"""Names inside peeked files against graded labels: a column or a key that spells an answer.

What is inside a file can change from one day to the next, so that these findings have a table of their
own with the time of the observation (law 6) and never stand among those of the pinned content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchproof.findings import Finding
from benchproof.inventory.lint.subject import Evaluation, Subject
from benchproof.inventory.lint.trial import leaves, truths
from benchproof.inventory.lint.words import is_rare, stands_in, tokens

_NAMES = ("obs_columns", "var_columns", "layers", "obsm", "obsp", "varm", "uns")


def names_equal_labels(subject: Subject, contents: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Return one finding for each evaluation and file whose names spell a graded label of it.

    `contents` are rows of the contents table; labels that the prompt names anyway don't count.
    """
    by_handle = {row["handle"]: row for row in contents}
    found = []
    for evaluation in subject.evaluations:
        # Texts without one letter from a to z or digit have no words to compare.
        spelled = {tokens(label) for label in _labels(evaluation)} - {tokens("")}
        for number, handle in enumerate(_handles(evaluation)):
            if spelled & {tokens(name) for name in _names(by_handle.get(handle, {}))}:
                pointer = f"/data_node/{number}"
                sha = subject.shas.get(evaluation.path)
                found.append(
                    Finding(
                        "names_equal_labels", subject.repo, evaluation.path, pointer, blob_sha=sha
                    )
                )
    return found


def _labels(evaluation: Evaluation) -> list[str]:
    published = [value for grader in evaluation.graders for value in truths(grader)]
    values = published or leaves(list(evaluation.recorded.passing))
    texts = [value for value in values if isinstance(value, str) and is_rare(value)]
    return [text for text in texts if not stands_in(text, evaluation.prompt)]


def _handles(evaluation: Evaluation) -> list[Any]:
    node = evaluation.value.get("data_node")
    return [item for item in (node if isinstance(node, list) else [node]) if isinstance(item, str)]


def _names(row: Mapping[str, Any]) -> list[str]:
    return [name for column in _NAMES for name in row.get(column) or ()]

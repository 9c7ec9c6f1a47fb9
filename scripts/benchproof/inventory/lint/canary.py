"""Canaries: texts that show later whether an evaluation has been trained on."""

from __future__ import annotations

import re
from collections import Counter

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, Subject

_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@LINT.evaluation(
    "canary_missing",
    "minor",
    "An evaluation carries no canary; nobody can tell later whether a model was trained on it.",
    "Add a canary with a GUID of its own.",
)
def canary_missing(evaluation: Evaluation) -> Places:
    """No `canary`, or an empty one."""
    if not evaluation.value.get("canary"):
        yield Place()


@LINT.evaluation(
    "canary_without_guid",
    "minor",
    "A canary holds no GUID; a search for it finds other texts as well.",
    "Put a GUID into it.",
)
def canary_without_guid(evaluation: Evaluation) -> Places:
    """A canary that has no 32 hexadecimal digits in the form of a GUID."""
    text = evaluation.text("canary")
    if text and not _GUID.search(text):
        yield Place(pointer="/canary")


@LINT.repository(
    "canary_shared",
    "info",
    "Evaluations share one canary; it tells that one of them leaked, not which.",
    "Give each evaluation a canary of its own, beside the shared one if that is meant.",
)
def canary_shared(subject: Subject) -> Places:
    """Equal texts; one finding for each evaluation that has none of its own."""
    texts = Counter(item.text("canary") for item in subject.evaluations)
    for item in subject.evaluations:
        if item.text("canary") and texts[item.text("canary")] > 1:
            yield Place(item.path, "/canary")

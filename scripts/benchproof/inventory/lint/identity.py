"""Names and required fields: the file against its manifest row, its folder, and the format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, Subject

_FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "task": (str,),
    "metadata": (dict,),
    "data_node": (str, list),
    "grader": (dict,),
    "graders": (list,),
    "canary": (str,),
    "notes": (str,),
}
_METADATA = frozenset(
    (
        "assay eval_type failure_mode_taxonomy_version failure_modes graded_biological_result kit modules "
        "task time_horizon timeout_s version"
    ).split()
)


@LINT.evaluation(
    "field_unknown",
    "minor",
    "An evaluation has a field that no published format knows.",
    "Delete it, or correct its name.",
)
def field_unknown(evaluation: Evaluation) -> Places:
    """A key of the first level outside the eight; it is named by its number."""
    for number, key in enumerate(evaluation.value):
        if key not in _FIELDS:
            yield Place(pointer=f"/{number}")


@LINT.evaluation(
    "field_type_wrong",
    "major",
    "A field of an evaluation holds another type than the format says.",
    "Write texts as texts, and objects as objects.",
)
def field_type_wrong(evaluation: Evaluation) -> Places:
    """A known field with a value of another type."""
    for key, types in _FIELDS.items():
        if key in evaluation.value and not isinstance(evaluation.value[key], types):
            yield Place(pointer=f"/{key}")


@LINT.evaluation(
    "prompt_empty",
    "critical",
    "An evaluation asks for nothing: its prompt is empty.",
    "Write the prompt.",
)
def prompt_empty(evaluation: Evaluation) -> Places:
    """`task` without a word."""
    if isinstance(evaluation.value.get("task"), str) and not evaluation.prompt.strip():
        yield Place(pointer="/task")


@LINT.evaluation(
    "data_node_empty",
    "major",
    "An evaluation names no data.",
    "Name the data, or leave the field out.",
)
def data_node_empty(evaluation: Evaluation) -> Places:
    """An empty text or list as `data_node`."""
    node = evaluation.value.get("data_node")
    if isinstance(node, str | list) and not node:
        yield Place(pointer="/data_node")


@LINT.evaluation(
    "handle_repeated",
    "minor",
    "An evaluation names one data handle twice.",
    "Delete the repetition.",
)
def handle_repeated(evaluation: Evaluation) -> Places:
    """Equal texts in `data_node`."""
    node = evaluation.value.get("data_node")
    texts = [item for item in node if isinstance(item, str)] if isinstance(node, list) else []
    if len(set(texts)) < len(texts):
        yield Place(pointer="/data_node")


@LINT.evaluation(
    "id_differs_from_manifest",
    "minor",
    "The manifest names an evaluation by something else than its id.",
    "List the id that the file states.",
)
def id_differs_from_manifest(evaluation: Evaluation) -> Places:
    """The row that leads to the file states another id."""
    stated = evaluation.row["eval_id"] if evaluation.row else None
    own = evaluation.value.get("id")
    if stated is not None and isinstance(own, str) and stated != own:
        yield Place(pointer="/id")


@LINT.evaluation(
    "task_differs_from_manifest",
    "minor",
    "The manifest states another task or kit than the evaluation's metadata.",
    "Make the two equal.",
)
def task_differs_from_manifest(evaluation: Evaluation) -> Places:
    """Neither of two names is the beginning of the other, case and punctuation left aside."""
    for key in ("task", "kit"):
        if _differs(evaluation.row, evaluation.metadata, key):
            yield Place(pointer=f"/metadata/{key}")


def _differs(row: Mapping[str, Any] | None, metadata: Mapping[str, Any], key: str) -> bool:
    listed, own = (row or {}).get(key), metadata.get(key)
    return isinstance(listed, str) and isinstance(own, str) and not _alike(listed, own)


def _alike(one: str, other: str) -> bool:
    """True for names that are equal but for case and punctuation, or of which one is the other's beginning:
    a manifest says illumina where the metadata say illumina-snrna.
    """
    short, long = sorted((_folded(one), _folded(other)), key=len)
    return bool(short) and long.startswith(short)


def _folded(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@LINT.repository(
    "task_differs_from_folder",
    "minor",
    "An evaluation lies in the folder of another task or kit than its metadata states, unlike most others.",
    "Move it, or correct its metadata.",
)
def task_differs_from_folder(subject: Subject) -> Places:
    """Where most folders are named like the task or the kit of what lies in them, one that isn't."""
    nested = [item for item in subject.evaluations if _parent(item) is not None]
    odd = [item for item in nested if not _at_home(item)]
    if 2 * len(odd) < len(nested):
        yield from (Place(item.path, "/metadata/task") for item in odd)


def _parent(evaluation: Evaluation) -> str | None:
    """The only folder between the evaluations' folder and a file; None for <id>/eval.json."""
    inner = evaluation.path.removeprefix(f"{evaluation.folder}/").split("/")
    named = isinstance(evaluation.metadata.get("task"), str)
    return inner[0] if len(inner) == 2 and inner[1] != "eval.json" and named else None


def _at_home(evaluation: Evaluation) -> bool:
    names = (evaluation.metadata.get("task"), evaluation.metadata.get("kit"))
    folder = _parent(evaluation) or ""
    return any(isinstance(name, str) and _alike(name, folder) for name in names)


@LINT.evaluation(
    "metadata_key_unknown",
    "info",
    "An evaluation's metadata has a key that no published format knows.",
    "Delete it, or correct its name.",
)
def metadata_key_unknown(evaluation: Evaluation) -> Places:
    """A metadata key outside the published ones; it is named by its number."""
    for number, key in enumerate(evaluation.metadata):
        if key not in _METADATA:
            yield Place(pointer=f"/metadata/{number}")

"""Prompts: the answer template against what is graded, and texts that don't belong there."""

from __future__ import annotations

import re

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, GraderAt
from benchproof.inventory.lint.trial import CHOICE, DISTRIBUTION, LABELS, MARKERS, NUMERIC, field_of

_ACCESSION = re.compile(
    r"\b(?:GS[EM]\d{3,8}|[SED]R[RXPSZ]\d{5,9}|PRJ(?:E|D|N)[A-Z]\d{3,8}|SAM(?:N|E|D)[A-Z]?\d{5,10}|E-[A-Z]{4}-\d{1,6}"
    r"|EGA[SDC]\d{11}|phs\d{6}|PXD\d{6}|SCP\d{2,5}|HRA\d{6}|OEP\d{6})\b|\b10\.\d{4,9}/\S{4,}"
)
_MACHINE = re.compile(
    r"(?<![\w/.])/(?:Users|home)/(?!(?:agent|user|ubuntu|jovyan|sandbox|workspace|runner|work)\b)[\w.-]+/"
    r"|\b[A-Z]:\\+Users\\+[\w.-]+"
)


#: A letter that a conversion lost, and beginnings of letters that were converted twice.
_DAMAGED = re.compile(
    r"\ufffd|\u00e2\u20ac[\u0080-\u2122]|\u00c3[\u0080-\u00bf]|\u00c2[\u00a0-\u00bf]"
)


def _graded(evaluation: Evaluation) -> set[str] | None:
    """Return the fields that an evaluation's graders read; None when that isn't known of one of them."""
    found: set[str] = set()
    for grader in evaluation.graders:
        fields = _fields(grader)
        if fields is None:
            return None
        found |= fields
    return found


def _fields(grader: GraderAt) -> set[str] | None:
    if isinstance(grader.config.get("children"), list):
        return set()
    if grader.type in NUMERIC:
        return set(grader.section("ground_truth"))
    if grader.type in (*LABELS, MARKERS):
        # Without `answer_field` a fallback exists that isn't published; a rule of its own says so.
        return {field_of(grader)} if "answer_field" in grader.config else None
    return {CHOICE: {"answer"}, DISTRIBUTION: {"cell_type_distribution"}}.get(grader.type or "")


@LINT.evaluation(
    "template_missing",
    "minor",
    "The prompt of a graded evaluation shows no answer template.",
    "Add one with every graded field.",
)
def template_missing(evaluation: Evaluation) -> Places:
    """Neither an <EVAL_ANSWER> block nor an object that names a field."""
    if evaluation.graders and evaluation.prompt.strip() and evaluation.template is None:
        yield Place(pointer="/task")


@LINT.evaluation(
    "template_differs_from_rule",
    "critical",
    "The answer template does not ask for a field that is graded; who follows it fails.",
    "Ask for every graded field by its exact name.",
)
def template_differs_from_rule(evaluation: Evaluation) -> Places:
    """A graded field that the template lacks."""
    graded, template = _graded(evaluation), evaluation.template
    missing = len(graded - set(template.fields)) if graded and template else 0
    if missing:
        yield Place(pointer="/task", detail=f"Graded and not asked for: {missing}.")


@LINT.evaluation(
    "template_field_ungraded",
    "info",
    "The answer template asks for a field that no grader reads.",
    "Say that the field is not graded, or leave it out.",
)
def template_field_ungraded(evaluation: Evaluation) -> Places:
    """A field of the template that isn't graded."""
    graded, template = _graded(evaluation), evaluation.template
    extra = len(set(template.fields) - graded) if graded and template else 0
    if extra:
        yield Place(pointer="/task", detail=f"Asked for and not graded: {extra}.")


@LINT.evaluation(
    "accession_in_text",
    "info",
    "A text holds something like an accession or a DOI; who looks it up finds the published analysis.",
    "Leave it out of what an agent or a web search can see.",
)
def accession_in_text(evaluation: Evaluation) -> Places:
    """Accessions of the large archives, and DOIs, in prompt, notes or metadata."""
    about = [(f"/metadata/{n}", v) for n, v in enumerate(evaluation.metadata.values())]
    texts = [("/task", evaluation.prompt), ("/notes", evaluation.text("notes")), *about]
    for pointer, text in texts:
        if isinstance(text, str) and _ACCESSION.search(text):
            yield Place(pointer=pointer)


@LINT.evaluation(
    "local_path_in_text",
    "minor",
    "A text holds a path of somebody's machine.",
    "Name files relative to the data that an agent is given.",
)
def local_path_in_text(evaluation: Evaluation) -> Places:
    """Home folders in any field, but for the users that sandboxes are known for."""
    for number, value in enumerate(evaluation.value.values()):
        if any(_MACHINE.search(text) for text in _texts(value)):
            yield Place(pointer=f"/{number}")


def _texts(value: object) -> list[str]:
    waiting, found = [value], []
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            found.append(item)
    return found


@LINT.evaluation(
    "text_damaged",
    "minor",
    "A text holds letters that a conversion lost or doubled.",
    "Restore the text from where it was written.",
)
def text_damaged(evaluation: Evaluation) -> Places:
    """U+FFFD, or UTF-8 that was read as Latin-1, in prompt or notes."""
    for key in ("task", "notes"):
        if _DAMAGED.search(evaluation.text(key)):
            yield Place(pointer=f"/{key}")

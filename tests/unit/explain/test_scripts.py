"""The Python in the scripts derives what the public sources determine: tried on the hand-made cases."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchproof.explain import refute
from benchproof.explain.rules import GRADERS
from benchproof.grading import rule_status
from benchproof.grading.registry import PUBLISHED
from benchproof.sources.objects import quote_path

DATA = Path(__file__).parents[1] / "grading" / "data"
VECTORS: list[dict[str, Any]] = [
    case
    for name in ("numeric_tolerance.jsonl", "families.jsonl")
    for case in map(json.loads, (DATA / name).read_text("utf-8").splitlines())
    if refute.family(case["type"]) and rule_status(case["type"], case["config"]) == "published"
]
MODES = {"offsets", "min", "max", "relative"}
IDS = ["e" * 40, "r" * 40]


def plain(value: Any) -> Any:
    """Undo the encodings of what JSON cannot hold; nothing that was submitted is None."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    match value:
        case {"__float__": text}:
            return float(text)
        case {"__repeat__": [text, times]}:
            return text * times
        case {"__absent__": True}:
            return None
        case {"__raw__": text}:
            try:
                return json.loads(text)
            except ValueError:
                return None
        case dict():
            return {key: plain(item) for key, item in value.items()}
    return value


def derived(kind: str, config: Any, answer: Any) -> Any:
    """Return what a script's own code says of an answer, as its last line would."""
    lines = refute.graders(refute.family(kind) or "", MODES, "", IDS)
    (end,) = [place for place, line in enumerate(lines) if line.startswith("found = ")]
    (begin,) = [place for place, line in enumerate(lines) if line.startswith("r = ")]
    room: dict[str, Any] = {"a": answer}
    with contextlib.redirect_stdout(io.StringIO()):
        exec("\n".join(lines[begin + 1 : end]), room)
        return None if answer is None else room["grade"](config)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["id"])
def test_scripts_follow_the_public_rules(case: dict[str, Any]) -> None:
    said = derived(case["type"], plain(case["config"]), plain(case["answer"]))
    expected = {"graded": case["passed"], "no_answer": None}
    assert said == expected.get(case["status"], "undetermined")


def test_every_grader_type_has_its_rule_in_words() -> None:
    assert set(GRADERS) == set(PUBLISHED)


@pytest.mark.parametrize(
    "path",
    [b"a/b.json", b"it's $HOME `x`.json", b"caf\xe9 %d\\n.json", b'two\nlines"', "é".encode()],
)
def test_any_path_is_one_word_of_a_shell(path: bytes) -> None:
    word = refute.shell_word(quote_path(path))
    done = subprocess.run(["sh", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert done.stdout == path


@pytest.mark.parametrize("modes", [set(), {"offsets"}, MODES])
@pytest.mark.parametrize(
    "kind", ["numeric_tolerance", "label_set_jaccard", "marker_gene_precision_recall"]
)
def test_scripts_are_short_whatever_the_modes(kind: str, modes: set[str]) -> None:
    body = refute.python(refute.graders(kind, modes, "[]", IDS), "a", "b")
    assert len(refute.fetched("x", "c" * 40, body)) <= refute.LINES

"""The rules that derive a commit are those of the workflow, with the same inputs and outputs."""

from __future__ import annotations

import re

import pytest

from benchproof.history.derive import COLLECT, PINS, RULE_OF, STEPS, Named, Step, Terms
from benchproof.outputs import TABLES
from benchproof.sources.base import RepoSpec
from conftest import ROOT

#: What depends on the day or on the data behind the handles (law 6), and what is a function of both.
NOT_OF_A_COMMIT = {
    *("handles", "runnable", "objects", "contents", "files", "data_findings", "traffic"),
    "claims",
}


def blocks() -> dict[str, str]:
    text = "\n".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    parts = re.split(r"^(?:rule|checkpoint) ", text, flags=re.MULTILINE)[1:]
    return {part.split(":")[0]: part for part in parts}


def section(block: str, name: str) -> str:
    found = re.search(rf"^    {name}:\n(.*?)^    \w+:\n", block, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def test_every_content_table_is_made() -> None:
    assert set(RULE_OF) == set(TABLES) - NOT_OF_A_COMMIT


@pytest.mark.parametrize("step", [Step(PINS, ("pins",), notes=False), *STEPS], ids=lambda s: s.rule)
def test_a_step_is_its_rule(step: Step) -> None:
    block = blocks()[step.rule]
    made = re.findall(r'(\w+)=AUDIT\.result\("(\w+)"\)', section(block, "output"))
    assert made == [(name, name) for name in step.tables]
    read = re.findall(r'(\w+)=AUDIT\.result\("(\w+)"\)', section(block, "input"))
    assert read == [(name, name) for name in ("pins", *step.reads) if step.rule != PINS]
    joined = re.findall(r"(\w+)=AUDIT\.shares\(", section(block, "input"))
    assert joined == list(step.joins)
    assert (f'AUDIT.findings("{step.rule}")' in section(block, "output")) == step.notes
    parts = re.findall(r'AUDIT\.findings\("(\w+)"\)', section(block, "input"))
    if step.rule == COLLECT:
        assert sorted(parts) == sorted(other.rule for other in STEPS if other.notes)


def test_what_a_table_says_of_itself_depends_on_its_commit_and_rule() -> None:
    terms = Terms(dict.fromkeys(RULE_OF.values(), "c") | {PINS: "1"}, None, "counts", "x", "d")
    spec = RepoSpec("demo/one", "a" * 40, "evals", "runs")
    other = RepoSpec("demo/one", "b" * 40, "evals", "runs")
    assert terms.about("pins", spec)["code"] == "1"
    assert terms.about("tree", spec)["pins"] == {"demo/one": "a" * 40}
    assert terms.about("tree", spec) != terms.about("tree", other)


def test_names_are_keys_and_attributes() -> None:
    assert Named(a=1).a == Named(a=1)["a"] == 1
    with pytest.raises(AttributeError):
        Named().b  # noqa: B018

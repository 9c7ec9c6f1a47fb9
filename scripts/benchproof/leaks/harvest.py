"""The secrets of a run: what its repositories grade by and recorded, and what opens its objects.

A value is none when it is public anyway: it stands in a prompt, an id, a path, in what the run says
whatever the answers are, or among the words of this program and of its engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from benchproof import jsontext
from benchproof.errors import Unreadable
from benchproof.grading.registry import NAMED_ONLY, PUBLISHED
from benchproof.inventory import layout
from benchproof.inventory.repository import Repository
from benchproof.leaks.needles import Needles, View
from benchproof.leaks.secrets import MIN_TEXT, Secret, secrets, tokens

_GRADED: Final = ("grader", "graders", "canary", "notes")
#: This program's own text: a value that stands in it proves nothing where it is found.
_OWN: Final = Path(__file__).resolve().parents[2]
_TEXTS: Final = (".py", ".j2", ".js", ".css")
#: Parts of a signed URL's query that open the object.
_SECRET: Final = re.compile(r"signature|token|credential|key|policy", re.IGNORECASE)
_URL: Final = re.compile(r"https?://[^\s\"'<>\\]+")


@dataclass(slots=True)
class Gathered:
    """What grades and what was answered, and what anybody can read: a value that is both is no secret."""

    secrets: set[Secret] = field(default_factory=set)
    public: list[str] = field(default_factory=list)

    def add(self, repository: Repository) -> None:
        """Gather from a repository: graders, canaries, notes, answers, metrics, reasoning."""
        common = own_words()
        self.public.append("\n".join(map(layout.text_path, repository.content.listing())))
        for item in repository.evaluations:
            if isinstance(item.value, dict):
                for key in _GRADED:
                    self.secrets.update(secrets(key, item.value.get(key), common))
                rest = {k: v for k, v in item.value.items() if k not in _GRADED}
                self.public += [json.dumps(rest, ensure_ascii=False), *_strings(rest)]
        self.secrets.update(_of_runs(repository, common))

    def needles(self, others: Iterable[Secret] = ()) -> Needles:
        """Return what is searched for: the secrets that are not public, and others whatever they are."""
        made = Needles({*self.secrets, *others})
        kept = frozenset(others)
        for text in dict.fromkeys(self.public):
            made.drop(View(text), kept)
        made.drop(_own_view(), kept)
        return made


def harvest(repository: Repository, told: Iterable[str] = ()) -> set[Secret]:
    """Return the secrets of one repository.

    `told` is text of the run itself that no answer can reach: an answer that stands in it proves nothing.
    """
    found = Gathered(public=[*told])
    found.add(repository)
    return set(found.needles().left())


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            waiting.extend(item.values() if isinstance(item, dict) else item)


def _of_runs(repository: Repository, common: frozenset[str]) -> Iterator[Secret]:
    published = {
        eval_id
        for eval_id, item in repository.by_id.items()
        if "grader" in item.value or item.value.get("graders")
    }
    for path, entry in repository.runs():
        place = layout.run_place(path, repository.folders)
        data = repository.content.read(entry.sha)
        yield from _of_run(data, place.eval_id in published, common)


def _of_run(data: bytes, published: bool, common: frozenset[str]) -> Iterator[Secret]:
    """Yield a run's secrets; its field names are some where its rule is withheld."""
    try:
        record = jsontext.loads(data).value
    except Unreadable:
        return
    result = record.get("result") if isinstance(record, dict) else None
    graded = result.get("grader_result") if isinstance(result, dict) else None
    answers: list[Any] = []
    for held in (result, graded):
        if isinstance(held, dict):
            answer = held.get("agent_answer")
            if answer not in answers:  # a record holds its answer twice
                answers.append(answer)
                yield from secrets("agent_answer", answer, common)
            if not published:
                yield from _names(answer, common)
                yield from _names(held.get("field_scores"), common)
    if isinstance(graded, dict):
        for key in ("metrics", "reasoning"):
            yield from secrets(key, graded.get(key), common)


def _names(value: Any, common: frozenset[str]) -> Iterator[Secret]:
    """Yield the field names of an answer or of its scores."""
    for name in value if isinstance(value, dict) else ():
        if len(name.strip()) >= MIN_TEXT and name.casefold() not in common:
            yield Secret("text", name)


def of_links(paths: Iterable[Path]) -> set[Secret]:
    """Return what makes the signed URLs secret that stand in files: signatures, tokens, credentials."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in paths if path.is_file())
    urls = {url for text in texts for url in _URL.findall(text) if "?" in url}
    pairs = (pair for url in urls for pair in parse_qsl(_query(url)))
    return tokens(unquote(value) for name, value in pairs if _SECRET.search(name))


def _query(url: str) -> str:
    try:
        return urlsplit(url).query
    except ValueError:
        return ""


@cache
def _own_view() -> View:
    return View(own_text())


@cache
def own_text() -> str:
    """Return the text of this program."""
    paths = sorted(path for path in _OWN.rglob("*") if path.suffix in _TEXTS)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def own_words() -> frozenset[str]:
    """Words of this program and of Snakemake, whose log says "Select jobs" and "Finished job"."""
    spec = find_spec("snakemake")
    engines = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    paths = [path for engine in engines for path in engine.rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    words = {word for text in (own_text(), *texts) for word in re.findall(r"\w+", text)}
    return frozenset(word.casefold() for word in (*words, *PUBLISHED, *NAMED_ONLY))

"""The secrets of a run: what its repositories grade by and recorded, and what opens its objects.

A value is none when it is public anyway: tables project it, it stands in what the run says whatever the
answers are, or among the words of this program and of its engine. Prompts make public what their own
repository grades by, and nothing of another one: tables hold no prompt.
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
from benchproof.inventory.evaluations import graders
from benchproof.inventory.lint.template import template_of
from benchproof.inventory.repository import Repository
from benchproof.leaks.needles import Needles, View
from benchproof.leaks.secrets import MIN_TEXT, Secret, secrets, tokens

#: What of an evaluation is projected or says how it is run; everything else in it is secret. `task` is the
#: prompt, and public in its own repository.
_PROJECTED: Final = ("id", "data_node", "schema_version", "version")
_PROMPT: Final = "task"
#: Below these, texts are values; everywhere else they may be prose.
_ANSWERS: Final = ("grader", "graders", "canary")
_ABOUT: Final = ("task", "kit", "time_horizon", "eval_type", "timeout_s", "version")
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
        """Gather from a repository: all that isn't projected of its evaluations, and what was recorded."""
        common = own_words()
        found, prompts = set(_of_runs(repository, common)), list[str]()
        self.public.append("\n".join(map(layout.text_path, repository.content.listing())))
        for item in repository.evaluations:
            parts = split(item.value)
            prompts.append(parts.prompt)
            self.public += [json.dumps(parts.public, ensure_ascii=False), *_strings(parts.public)]
            self.public.append("\n".join(_projected_names(item.value, parts.prompt)))
            for key, value in parts.secret:
                found.update(secrets(key, value, common))
                if key not in _ANSWERS:  # a solution is told in sentences, whatever it is called
                    found.update(secrets("notes", value, common))
        made = Needles(found)
        for prompt in dict.fromkeys(prompts):
            made.drop(View(prompt))
        self.secrets.update(made.left())

    def needles(self, others: Iterable[Secret] = ()) -> Needles:
        """Return what is searched for: the secrets that are not public, and others whatever they are."""
        made = Needles({*self.secrets, *others})
        kept = frozenset(others)
        for text in dict.fromkeys(self.public):
            made.drop(View(text), kept)
        made.drop(_own_view(), kept)
        return made


@dataclass(frozen=True, slots=True)
class Parts:
    """An evaluation by who may read it: what is projected, the prompt, and the rest by its keys."""

    public: dict[str, Any]
    prompt: str
    secret: list[tuple[str, Any]]


def split(value: Any) -> Parts:
    """Return an evaluation in parts. What is of another shape than tables project is secret."""
    if not isinstance(value, dict):
        return Parts({}, "", [("evaluation", value)])
    prompt = value.get(_PROMPT)
    about = value.get("metadata")
    shaped = about if isinstance(about, dict) else {}
    public = {key: value[key] for key in _PROJECTED if key in value and _flat(value[key])}
    known = {key: shaped[key] for key in _ABOUT if key in shaped and _flat(shaped[key])}
    rest = {key: held for key, held in value.items() if key not in (*public, "metadata")}
    if isinstance(prompt, str):
        del rest[_PROMPT]
    hidden = {k: v for k, v in shaped.items() if k not in known} if about is shaped else about
    return Parts(
        {**public, "metadata": known},
        prompt if isinstance(prompt, str) else "",
        [*rest.items(), ("metadata", hidden)],
    )


def _flat(value: Any) -> bool:
    """True for a text, a whole number, or a list of texts, as handles are."""
    listed = value if isinstance(value, list) else [value]
    return all(isinstance(item, str) for item in listed) or type(value) is int


def _projected_names(value: Any, prompt: str) -> Iterator[str]:
    """Yield the names of fields that tables and findings say: those graded by and those asked for."""
    template = template_of(prompt)
    yield from template.fields if template else ()
    for item in graders(value) if isinstance(value, dict) else ():
        config = item.config if isinstance(item.config, dict) else {}
        for key in ("tolerances", "ground_truth"):
            yield from config[key] if isinstance(config.get(key), dict) else ()


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

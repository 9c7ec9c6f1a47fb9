"""Search for graded values in everything that leaves the vault; says where they are, never what.

Needles are taken from the vault's own copies of what carries answers. A value is no needle when it is
public anyway (it stands in a prompt, an id, a path), when it is a word of the graders' own vocabulary, or
when it is so short or common that counts would raise alarms: ints below 7 digits, floats below 5
significant digits or equal to a simple fraction, text below 6 characters.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from benchproof import jsontext
from benchproof.errors import LeakError, Unreadable
from benchproof.grading.registry import NAMED_ONLY, PUBLISHED
from benchproof.inventory import layout
from benchproof.inventory.repository import Repository
from benchproof.journal import Journal
from benchproof.outputs import files_below
from benchproof.report.visible import embedded, visible

_GRADED_KEYS = ("grader", "graders", "canary", "notes")
_PROSE_KEYS = frozenset({"notes", "reasoning", "description", "rationale"})
#: A value that stands in this program's own text proves nothing where it is found.
_OWN_TEXT = Path(__file__).resolve().parents[2]
_TEXTS = (".py", ".j2", ".js", ".css")
_OWN_WORDS = frozenset(
    {
        *PUBLISHED,
        *NAMED_ONLY,
        "absolute",
        "relative",
        "min",
        "max",
        "lower",
        "upper",
        "minimum",
        "maximum",
    }
)
_MIN_TEXT, _MIN_DIGITS, _MIN_SIGNIFICANT, _MIN_SENTENCE = 6, 7, 5, 25
#: Names of the parts of a signed URL's query that open the object.
_SECRET = re.compile(r"signature|token|credential|key|policy", re.IGNORECASE)
_GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_BLOCK = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)
_WORD = re.compile(rb"[0-9A-Za-z_]")
_DIGIT = re.compile(rb"[0-9]")
_GOES_ON = re.compile(rb"\.(?!0+(?![0-9A-Za-z_]))[0-9]")


@dataclass(frozen=True, slots=True)
class Hit:
    """A graded value at a place that leaves: the surface, and the form it was found in."""

    surface: str
    form: str


class Needles:
    """Graded values in every form that is searched for. Values never leave this object."""

    def __init__(self, values: Iterable[str]) -> None:
        from ahocorasick_rs import BytesAhoCorasick

        self._forms: list[tuple[bytes, str]] = sorted(
            {pair for value in values for pair in _forms(value)}
        )
        self._search = BytesAhoCorasick([needle for needle, _ in self._forms])

    def __len__(self) -> int:
        return len(self._forms)

    def hits(self, surface: str, data: bytes) -> list[Hit]:
        """Return the forms in which any needle stands in `data`, each once; a surface whose own name
        holds a needle is not named.
        """
        found = self._forms_in(data)
        if found and self._forms_in(surface.encode("utf-8", "surrogateescape")):
            surface = "a place whose name holds one too"
        return [Hit(surface, form) for form in sorted(found)]

    def _forms_in(self, data: bytes) -> set[str]:
        found = set()
        for index, start, end in self._search.find_matches_as_indexes(data, overlapping=True):
            form = self._forms[index][1]
            if form == "base64" or not (
                _inside_word(data, start - 1, start) or _inside_word(data, end, end - 1)
            ):
                found.add(form)
        return found


def _inside_word(data: bytes, outside: int, inside: int) -> bool:
    """True when a match's end continues a word or number, so that it is only part of another value."""
    if not 0 <= outside < len(data):
        return False
    if data[outside : outside + 1] == b"." and _DIGIT.match(data, inside):
        # 12 is no part of 0.12 and 12.5, and is 12.0.
        if outside < inside:
            return outside > 0 and bool(_DIGIT.match(data, outside - 1))
        return bool(_GOES_ON.match(data, outside))
    return bool(_WORD.match(data, outside) and _WORD.match(data, inside))


def _forms(value: str) -> Iterator[tuple[bytes, str]]:
    """Yield the byte forms of a value: plain, JSON-escaped also as in a page, HTML-escaped as Python and as
    Jinja do it, all of these with what can't be seen spelt out, and each as base64 at three alignments, in
    both alphabets.
    """
    from markupsafe import escape

    plain = value.encode("utf-8", "surrogatepass")
    texts = [("shown", visible(value))]
    for text in {value: None, visible(value): None}:
        texts += [
            ("json", json.dumps(text)[1:-1]),
            ("json", json.dumps(text, ensure_ascii=False)[1:-1]),
            ("json", embedded(text)[1:-1]),
            ("html", html.escape(text)),
            ("html", str(escape(text))),
        ]
    escaped = [(text.encode("utf-8", "surrogatepass"), form) for form, text in texts]
    for data, form in ((plain, "plain"), *escaped):
        if data != plain or form == "plain":
            yield data, form
        if len(data) >= _MIN_TEXT:
            for shift in range(3):
                core = _base64_core(data, shift)
                yield core, "base64"
                yield core.translate(bytes.maketrans(b"+/", b"-_")), "base64"


def _base64_core(plain: bytes, shift: int) -> bytes:
    """Return those base64 characters that are the same whatever stands before and after the value."""
    encoded = base64.b64encode(b"\0" * shift + plain)
    first = (0, 2, 3)[shift]
    whole = (shift + len(plain)) * 8 // 6
    return encoded[first:whole]


def harvest(repository: Repository, told: Iterable[str] = ()) -> set[str]:
    """Return the graded values of one repository: graders, canaries, notes, answers, metrics, reasoning.

    `told` is text of the run itself that no answer can reach: an answer that stands in it proves nothing.
    """
    values: set[str] = set()
    public = [*told, *(layout.text_path(entry) for entry in repository.entries)]
    for item in repository.evaluations:
        if isinstance(item.value, dict):
            for key in _GRADED_KEYS:
                values.update(_values(key, item.value.get(key)))
            public.append(
                json.dumps(
                    {k: v for k, v in item.value.items() if k not in _GRADED_KEYS},
                    ensure_ascii=False,
                )
            )
    published = {
        eval_id
        for eval_id, item in repository.by_id.items()
        if "grader" in item.value or item.value.get("graders")
    }
    for path, entry in repository.runs():
        place = layout.run_place(path, repository.folders)
        values.update(_of_run(repository.content.read(entry.sha), place.eval_id in published))
    known = "\n".join([*public, _own_text()])
    public_too = {v for v in _within(known, values) if _stands_in(v, known)}
    return values - _own_words() - public_too


def link_secrets(book: Path) -> set[str]:
    """Return what makes the signed URLs of a run's book secret: signatures, tokens, credentials."""
    urls = [record["url"] for record in Journal(book).read().values()]
    pairs = (pair for url in urls for pair in parse_qsl(urlsplit(url).query))
    return {value for name, value in pairs if _SECRET.search(name) and len(value) >= _MIN_TEXT}


@cache
def _own_text() -> str:
    paths = sorted(path for path in _OWN_TEXT.rglob("*") if path.suffix in _TEXTS)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def _own_words() -> frozenset[str]:
    """Words of this program and of Snakemake, whose log says "Select jobs" and "Finished job"."""
    spec = find_spec("snakemake")
    engines = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    paths = [path for engine in engines for path in engine.rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return frozenset(word for text in (_own_text(), *texts) for word in re.findall(r"\w+", text))


def _within(text: str, values: set[str]) -> set[str]:
    """Return the values that stand anywhere in a text, in one pass: there are thousands of both."""
    from ahocorasick_rs import AhoCorasick

    listed = sorted(values)
    found = AhoCorasick(listed).find_matches_as_indexes(text, overlapping=True)
    return {listed[index] for index, _, _ in found}


def _stands_in(value: str, known: str) -> bool:
    """True when a value stands in a text by itself, not as part of a longer word or number."""
    if value not in known:
        return False
    before = r"(?<![0-9A-Za-z_])" if value[:1].isalnum() else ""
    after = r"(?![0-9A-Za-z_])" if value[-1:].isalnum() else ""
    return re.search(before + re.escape(value) + after, known) is not None


def _names(value: Any) -> Iterator[str]:
    """Yield the field names of an answer or of its scores."""
    if isinstance(value, dict):
        yield from (name for name in value if len(name.strip()) >= _MIN_TEXT)


def _of_run(data: bytes, published: bool) -> Iterator[str]:
    """Yield a run's graded values; its field names are some where its rule is withheld."""
    try:
        record = jsontext.loads(data).value
    except Unreadable:
        return
    result = record.get("result") if isinstance(record, dict) else None
    graded = result.get("grader_result") if isinstance(result, dict) else None
    if isinstance(result, dict):
        yield from _values("answer", result.get("agent_answer"))
        yield from () if published else _names(result.get("agent_answer"))
    if isinstance(graded, dict):
        yield from () if published else _names(graded.get("field_scores"))
        for key in ("agent_answer", "metrics", "reasoning"):
            yield from _values(key, graded.get(key))


def _values(key: str, value: Any) -> Iterator[str]:
    """Yield the leaves of a graded value that are long and rare enough to search for."""
    waiting: list[tuple[str, Any]] = [(key, value)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((name if name in _PROSE_KEYS else str(k), v) for k, v in item.items())
        elif isinstance(item, list):
            waiting.extend((name, v) for v in item)
        elif isinstance(item, str):
            yield from _texts(name, item)
        elif isinstance(item, int | float) and not isinstance(item, bool) and _rare(item):
            yield repr(item)


def _texts(name: str, text: str) -> Iterator[str]:
    yield from _GUID.findall(text)
    if name in _PROSE_KEYS:
        yield from (
            part for part in map(str.strip, _SENTENCES.split(text)) if len(part) >= _MIN_SENTENCE
        )
    elif len(text.strip()) >= _MIN_TEXT and text not in _OWN_WORDS:
        yield text


@lru_cache(maxsize=1 << 16, typed=True)  # a record holds its answer twice
def _rare(number: int | float) -> bool:
    if isinstance(number, int):
        return len(str(abs(number))) >= _MIN_DIGITS if abs(number) < 10**300 else True
    if number != number or number in (float("inf"), float("-inf")):
        return False
    digits = repr(abs(number)).split("e")[0].replace(".", "").strip("0")
    return len(digits) >= _MIN_SIGNIFICANT and not _simple_fraction(number)


def _simple_fraction(number: float) -> bool:
    """Scores and accuracies are fractions of small counts; a value that equals one proves nothing."""
    near = 1e-12 * max(1.0, abs(number))
    return any(abs(round(number * n) / n - number) <= near for n in range(1, 101))


def surfaces(folders: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield (place, bytes) of everything below the folders: file names, raw bytes, decoded tables."""
    for folder in folders:
        for path in files_below(folder):
            yield f"{folder} (a file's name)", str(path).encode("utf-8", "surrogateescape")
            yield str(path), path.read_bytes()
            if path.suffix == ".parquet":
                yield from decoded(path)
            if path.suffix == ".html":
                yield from decoded_page(path)


def decoded_page(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the text of a page and what its blocks of JSON say, as a reader gets them."""
    page = path.read_text(encoding="utf-8", errors="replace")
    yield f"{path} text", html.unescape(page).encode("utf-8", "surrogatepass")
    for number, block in enumerate(_BLOCK.findall(page), 1):
        try:
            said = "\0".join(_strings(json.loads(block)))
        except ValueError:
            continue  # what a browser cannot read either was searched as it is
        yield f"{path} data block {number}", said.encode("utf-8", "surrogatepass")


def _strings(value: Any) -> Iterator[str]:
    """Yield every text and number in a JSON value, keys included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif not isinstance(item, bool) and item is not None:
            yield str(item)


def decoded(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each column of a table, and its metadata, as text a value cannot hide in."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read(use_threads=False)
    for name in table.column_names:
        cells = table.column(name).to_pylist()
        yield (
            f"{path} column {name}",
            "\0".join(_cell(cell) for cell in cells).encode("utf-8", "surrogatepass"),
        )
    yield (
        f"{path} metadata",
        b"\0".join(v for pair in (table.schema.metadata or {}).items() for v in pair),
    )


def _cell(cell: Any) -> str:
    return "\0".join(map(str, cell)) if isinstance(cell, list) else str(cell)


def self_test(write_table: Callable[[str], Path], folder: Path) -> None:
    """Plant an invented value on each kind of surface, in each form, and raise LeakError when one is missed.

    `write_table` writes a table that holds the given text in a cell and returns its path.
    """
    planted = 'benchproof planted "value" <73519.2468>'
    needles = Needles([planted])
    for needle, form in _forms(planted):
        if not any(hit.form == form for hit in needles.hits("memory", b"x " + needle + b" y")):
            raise LeakError(
                f"the leak scan missed a planted value in form {form}; nothing was published."
            )
    table = write_table(planted)
    if not any(hit for place, data in decoded(table) for hit in needles.hits(place, data)):
        raise LeakError("the leak scan missed a value planted in a table; nothing was published.")
    page = folder / "planted.html"
    block = embedded([f"{planted}\nx"])
    data = f'<script type="application/json">{block}</script>'
    for text in (html.escape(planted), data):
        page.write_text(text, encoding="utf-8")
        if not scan(needles, [folder])[0]:
            raise LeakError(
                "the leak scan missed a value planted in a page; nothing was published."
            )
    page.unlink()
    table.unlink()


def scan(needles: Needles, folders: Iterable[Path]) -> tuple[list[Hit], int]:
    """Return the hits in everything below the folders, and how many surfaces were searched."""
    found: list[Hit] = []
    searched = 0
    for place, data in surfaces(folders):
        searched += 1
        found += needles.hits(place, data)
    return found, searched

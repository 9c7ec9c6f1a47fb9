"""The texts of tables, columns, statuses and reasons: none lacks, none is of what isn't there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from benchproof import tables
from benchproof.errors import AbsentStatus, Cause
from benchproof.grading.record import RunStatus
from benchproof.grading.verdict import RuleStatus
from benchproof.report import dictionary
from benchproof.report.dictionary import COLUMNS, REASONS, STATUSES, STORAGE_CODES, TABLES
from benchproof.storage.inspect import Status as InspectedStatus
from benchproof.storage.sandbox import Reason as ChildReason
from conftest import ROOT

LIBRARY = ROOT / "scripts" / "benchproof"
#: Calls with a reason among their positional arguments, and its place.
REASON_AT = {
    "Absent": 0,
    "ConfigFaultError": 0,
    "Failure": 0,
    "FieldRule": 5,
    "Inspected": 1,
    "Listed": 1,
    "Misfit": 0,
    "ObjectFailed": 1,
    "Part": 3,
    "Peeked": 2,
    "Pin": 3,
    "Resolved": 2,
    "RunResult": 1,
    "Setback": 0,
    "Signed": 1,
    "Thresholds": 2,
    "Unreachable": 0,
    "Unreadable": 0,
    "_UnsettledError": 0,
    "_eval_row": 5,
    "_failed": 2,
    "_ungraded": 2,
    "_without": 2,
    "not_read": 1,
    "undetermined": 0,
    "unreadable": 3,
}
#: Variables, parameters, columns and constants that hold nothing but reasons.
REASON_NAME = re.compile(r"reason|cause|fault|unsettled|unknown|why|_OPEN_[A-Z]+|_ERRORS")
#: Functions whose texts are reasons.
REASON_OF = re.compile(r"_(children|count_reason|difference|open|reason)")
#: Dicts of reasons, or of pairs of status and reason.
TABLES_OF_CODES = ("_FAILURES", "codes")
#: Calls with a status among their positional arguments, and its place.
STATUS_AT = {
    "Inspected": 0,
    "Listed": 0,
    "ObjectFailed": 0,
    "Peeked": 1,
    "Pin": 2,
    "Resolved": 1,
    "RunResult": 0,
    "Signed": 0,
    "_eval_row": 4,
    "_failed": 1,
    "_ungraded": 1,
    "_without": 1,
}
STATUS_OF = re.compile(r"_(derived|judge|status)")
OBJECT = ("objects", "contents", "files")
#: The tables whose statuses a module writes. In some it writes those of several, each to one of them.
WRITES = {
    "analysis/breakdown.py": ("estimates", "strata", "comparisons"),
    "analysis/claims.py": ("claims",),
    "analysis/consistency.py": ("record_checks",),
    "analysis/published/checks.py": ("published_checks",),
    "analysis/published/repository.py": ("published",),
    "analysis/runs.py": ("runs",),
    "explain/runs.py": ("runs",),
    "grading/record.py": ("runs",),
    "history/backfill.py": ("timeline",),
    "history/derive.py": ("timeline",),
    "history/listing.py": ("timeline",),
    "history/rows.py": ("timeline",),
    "inventory/evaluations.py": ("evals", "eval_handles", "graders", "tolerances"),
    "inventory/licences.py": ("licences",),
    "inventory/reconcile.py": ("manifest", "reconciliation"),
    "inventory/repository.py": ("tree", "reconciliation"),
    "pinning.py": ("pins",),
    "sources/git.py": ("pins",),
    "sources/github.py": ("pins",),
    "storage/answers.py": OBJECT,
    "storage/bring.py": ("files",),
    "storage/choose.py": ("files",),
    "storage/contents.py": ("contents",),
    "storage/fetch/engine.py": ("files",),
    "storage/fetch/lane.py": ("files",),
    "storage/fetch/means.py": ("files",),
    "storage/fetch/patience.py": ("files",),
    "storage/fetch/transfer.py": ("files",),
    "storage/files.py": ("files",),
    "storage/inspect.py": ("files",),
    "storage/links.py": OBJECT,
    "storage/peek.py": ("contents",),
    "storage/probe.py": ("objects",),
    "storage/ranged.py": OBJECT,
    "storage/resolve.py": ("handles",),
    "storage/signer.py": ("handles",),
}
SEVERAL = (
    "analysis/breakdown.py",
    "inventory/evaluations.py",
    "inventory/reconcile.py",
    "inventory/repository.py",
)
CODE = re.compile(r"[a-z][a-z0-9_<>]*")


def texts(node: ast.AST | None) -> Iterator[str]:
    """Yield the texts that an expression can give; what varies in one is <>."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "<>" for p in parts)
        case ast.IfExp(body=one, orelse=other):
            yield from (*texts(one), *texts(other))
        case ast.BoolOp(values=items) | ast.Tuple(elts=items):
            for item in items:
                yield from texts(item)


def called(node: ast.Call) -> str:
    function = node.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def bound(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what is bound to names: assignments (side by side, too), keywords, keys of dicts."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = zip(target.elts, value.elts, strict=False)
                    yield from ((ast.unparse(one).split("[")[0], two) for one, two in pairs)
                else:
                    yield ast.unparse(target).split("[")[0], value
        case ast.AnnAssign(target=target, value=ast.AST() as value):
            yield ast.unparse(target), value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value


def literals(
    source: str, at: dict[str, int], name: re.Pattern[str], function: re.Pattern[str], place: int
) -> set[str]:
    """Return the codes that a source holds at the given places."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and len(node.args) > at.get(called(node), 99):
            found.update(texts(node.args[at[called(node)]]))
        if isinstance(node, ast.FunctionDef) and function.fullmatch(node.name):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return):
                    given = inner.value
                    first = given.elts[0] if isinstance(given, ast.Tuple) else given
                    found.update(texts(first))
        for bound_name, value in bound(node):
            if name.fullmatch(bound_name):
                found.update(texts(value))
            if isinstance(value, ast.Dict) and bound_name in TABLES_OF_CODES:
                for item in value.values:
                    pair = item.elts if isinstance(item, ast.Tuple) else [None, item]
                    found.update(texts(pair[place]))
    return {text for text in found if CODE.fullmatch(text)}


def reasons(source: str) -> set[str]:
    return literals(source, REASON_AT, REASON_NAME, REASON_OF, 1)


def statuses(source: str) -> set[str]:
    return literals(source, STATUS_AT, re.compile("status"), STATUS_OF, 0)


@cache
def sources() -> dict[str, str]:
    """Return the library's sources by path, without the dictionary itself."""
    paths = sorted(LIBRARY.rglob("*.py"))
    found = {path.relative_to(LIBRARY).as_posix(): path.read_text() for path in paths}
    del found["report/dictionary.py"]
    return found


def explained(code: str) -> bool:
    """True when a code, or every form of one that varies, has a text."""
    if "<>" not in code:
        return dictionary.reason(code) is not None
    form = re.compile(re.escape(code).replace("<>", r"[\w<>]+"))
    return any(form.fullmatch(name) for name in REASONS)


def test_every_table_and_column_has_a_text_and_no_other() -> None:
    columns = {name: set(spec.schema.names) for name, spec in (tables.SPECS | tables.OTHER).items()}
    assert set(TABLES) == set(columns)
    assert {name: set(known) for name, known in COLUMNS.items()} == columns
    with_status = {name for name, names in columns.items() if "status" in names}
    assert set(STATUSES) == with_status


def test_texts_fit_into_a_cell() -> None:
    """One line each, without a bar or a full stop: pages and the report put them into tables."""
    groups = [TABLES, REASONS, STORAGE_CODES, *COLUMNS.values(), *STATUSES.values()]
    for group in groups:
        for name, text in group.items():
            assert text, name
            assert not re.search(r"[|\n]|\.$|  ", text), name
            assert len(text) <= 120, name


@pytest.mark.parametrize("path", sorted(WRITES))
def test_every_status_that_a_module_writes_has_a_meaning(path: str) -> None:
    found = statuses(sources()[path]) - set(get_args(RuleStatus))
    known = [STATUSES[table].keys() for table in WRITES[path]]
    if path in SEVERAL:
        assert found <= set().union(*known)
    else:
        for table in known:
            assert found <= table


def test_every_module_with_a_status_is_looked_at() -> None:
    """A new one must say whose statuses it writes; grading's own stand in types."""
    own = {path for path in sources() if path.startswith(("grading/", "report/", "http/", "sarif"))}
    found = {path for path, source in sources().items() if statuses(source)}
    assert found - own <= set(WRITES)


def test_statuses_that_types_name_have_a_meaning() -> None:
    assert STATUSES["runs"].keys() == {
        word for part in get_args(RunStatus) for word in (get_args(part) or (part,))
    }
    assert set(get_args(InspectedStatus)) <= STATUSES["files"].keys()
    assert set(get_args(AbsentStatus)) <= STATUSES["pins"].keys()


def test_what_is_taken_over_from_another_table_means_something_there() -> None:
    """A row of contents repeats what the probe said, a row of files what made a choice impossible."""
    failed = STATUSES["objects"].keys() - {"ok"}
    assert failed <= STATUSES["contents"].keys()
    assert failed <= STATUSES["files"].keys()


#: The child's own words: its parent puts `parser_` before them.
@pytest.mark.parametrize("path", sorted(sources().keys() - {"storage/sandboxed.py"}))
def test_every_reason_of_a_module_is_explained(path: str) -> None:
    assert [code for code in sorted(reasons(sources()[path])) if not explained(code)] == []


def test_reasons_that_types_name_are_explained() -> None:
    codes = {*get_args(Cause), *get_args(AbsentStatus), *(STATUSES["manifest"].keys() - {"ok"})}
    codes |= {f"parser_{why}" for why in get_args(ChildReason)} | {"parser_crowded"}
    assert [code for code in sorted(codes) if not explained(code)] == []


def test_no_text_is_of_a_word_that_no_source_holds() -> None:
    """What was renamed or has gone leaves the dictionary, too."""
    held: set[str] = set()
    for source in sources().values():
        held |= {text for node in ast.walk(ast.parse(source)) for text in texts(node)}
    forms = [
        re.compile(re.escape(text).replace("<>", r"[\w<>]+"))
        for text in held
        if "<>" in text and re.search("[a-z]{4}", text) and CODE.fullmatch(text.strip("<>_"))
    ]
    words = {*REASONS, *(word for known in STATUSES.values() for word in known)}
    gone = words - held - {"<storage code>"}
    assert [word for word in sorted(gone) if not any(f.fullmatch(word) for f in forms)] == []


@pytest.mark.parametrize(
    "source",
    [
        "raise ObjectFailed('denied', 'new_code', handle)",
        "raise Misfit('wrong_range') if total else Misfit('new_code')",
        "return Verdict('invalid_config', reason='a' if x else 'new_code')",
        "row = {'reason': None if good else 'new_code'}",
        "passed, reason = None, 'new_code'",
        "unknown[name] = 'new_code'",
        "class Rule:\n    reason: str = 'new_code'",
        "def _open(rule):\n    return 'new_code' if rule else None",
        "found.append(Failure('new_code', f'HTTP {status}'))",
        "_FAILURES: Mapping[str, Any] = {'short': ('truncated', 'new_code')}",
        "codes = {Moved: 'new_code'}",
    ],
)
def test_a_new_reason_would_be_seen(source: str) -> None:
    assert "new_code" in reasons(source)
    assert not explained("new_code")


@pytest.mark.parametrize(
    "source",
    [
        "raise ObjectFailed('new_word', 'budget')",
        "status = 'new_word' if x else 'ok'",
        "def _judge(row):\n    return 'new_word', None",
        "Pin(repo, ref, 'new_word', 'offline')",
        "replace(shape, status='new_word')",
        "_FAILURES: Mapping[str, Any] = {'short': ('new_word', 'empty')}",
    ],
)
def test_a_new_status_would_be_seen(source: str) -> None:
    assert "new_word" in statuses(source)


def test_codes_that_vary_are_explained() -> None:
    assert dictionary.reason("http_418") == REASONS["http_<status>"]
    assert dictionary.reason("unreadable_by_anndata_0.12.1") is not None
    assert (dictionary.reason("signing_timeout") or "").endswith(REASONS["timeout"])
    assert dictionary.reason("no_such_key") == STORAGE_CODES["no_such_key"]
    assert dictionary.reason("signing_") is None
    assert dictionary.reason("slow_down") is None


def test_a_meaning_that_differs_names_its_tables() -> None:
    met = {"pins": {"unknown", "missing"}, "objects": {"unknown", "missing"}, "traffic": {"odd"}}
    assert dictionary.meanings(met) == {
        "missing": {
            STATUSES["pins"]["missing"]: ("pins",),
            STATUSES["objects"]["missing"]: ("objects",),
        },
        "unknown": {STATUSES["pins"]["unknown"]: ()},
    }


def test_the_dictionary_can_be_read_without_the_audit() -> None:
    """Pages are built from it, and the report's job should not pay for more."""
    tree = ast.parse((LIBRARY / "report" / "dictionary.py").read_text())
    imported = {
        ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)
    }
    assert not any("benchproof" in line for line in imported)
    assert Path(dictionary.__file__).name == "dictionary.py"

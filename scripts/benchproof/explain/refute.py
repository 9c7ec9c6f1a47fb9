"""Scripts by which a reader refutes an explanation with git and Python's standard library alone.

Each is at most `LINES` lines for any POSIX shell. It fetches one commit into a folder that it deletes,
reads blobs by their ids, and prints verdicts, kinds and counts: answers stay where they are. The Python
in them stands in templates/, one file for each thing that a script does.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchproof.sources.objects import is_id, unquote_path

LINES: Final = 20
#: Bytes below which blobs come with the commit: evaluations and records are smaller, trajectories are not.
SMALL: Final = "blob:limit=64k"
_TEMPLATES: Final = Path(__file__).with_name("templates")
#: What a mode of the tolerances table asks, and of which entries; offsets in both forms of rounding.
_MODES: Final[Mapping[str, str]] = {
    "offsets": '{t - k["lower"] <= x <= t + k["upper"], t - x <= k["lower"] and x - t <= k["upper"]} '
    'if "lower" in k',
    "min": '{x >= k.get("value", t)} if k.get("type") == "min"',
    "max": '{x <= k.get("value", t)} if k.get("type") == "max"',
    "relative": '{t != 0 and abs(x - t) / abs(t) <= k.get("value", 0)} if k.get("type") == "relative"',
}
#: Grader types that a script can derive, each with the name of its template.
_FAMILY: Final[Mapping[str, str]] = {
    "numeric_tolerance": "numeric_tolerance",
    "label_set_jaccard": "label_set_jaccard",
    "jaccard_label_set": "label_set_jaccard",
    "marker_gene_precision_recall": "marker_gene_precision_recall",
    "multiple_choice": "multiple_choice",
}


def family(kind: str | None) -> str | None:
    """Return the one name of a grader type and its aliases; None for a type that no script derives."""
    return _FAMILY.get(kind or "")


def fetched(remote: str, commit: str, then: Sequence[str], blobs: str = "blob:none") -> list[str]:
    """Return a script that fetches one commit into a folder of its own and goes on with `then`."""
    if not is_id(commit):
        raise ValueError("a script names a commit by its id")
    return [
        "( export GIT_DIR=$(mktemp -d); trap 'rm -rf \"$GIT_DIR\"' EXIT; git init -q --bare; "
        f"git remote add origin {shlex.quote(remote)}",
        f"C={commit}; git fetch -q --depth=1 --filter={blobs} origin $C",
        *then,
        ")",
    ]


def python(body: Sequence[str], *paths: str) -> list[str]:
    """Return shell lines that run Python: its arguments are the blobs at these paths of the commit $C, or
    without a path $C itself.
    """
    blobs = " ".join(f"$C:{shell_word(path)}" for path in paths)
    given = f"$(git rev-parse {blobs})" if paths else "$C"
    return [f"python3 -I -S - {given} <<'EOF'", *body, "EOF"]


def shell_word(path: str) -> str:
    """Return a path of a table as one word of a POSIX shell, whatever bytes it holds."""
    raw = unquote_path(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\n"
    if text.isprintable():
        return shlex.quote(text)
    octal = "".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\{b:03o}" for b in raw)
    return f"\"$(printf '{octal}')\""


class Code(str):
    """A text that is code already."""

    __slots__ = ()


def _template(template: str, /, **values: Any) -> list[str]:
    """Return the lines of a template; values stand in it as Python literals, code as it is."""
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value) if isinstance(value, Code) else ascii(value))
    return text.splitlines()


def graders(kind: str, modes: set[str], where: str, ids: list[str]) -> list[str]:
    """Return Python that derives the verdict of all graders of one family beside the recorded one.

    `where` is the expression for the list of graders in the evaluation `e`, `ids` are the blobs of the
    evaluation and of the record, `modes` those of its tolerances.
    """
    types = tuple(name for name, template in _FAMILY.items() if template == kind)
    return [
        *_template("answer", ids=ids),
        *_template(kind, others=_others(modes)),
        *_template("verdict", graders=Code(where), types=types),
    ]


def record(ids: list[str]) -> list[str]:
    """Return Python that says what grader there is and whether the record agrees with itself."""
    return [*_template("answer", ids=ids), *_template("record")]


def unreadable(sha: str) -> list[str]:
    """Return Python that says why a record cannot be read."""
    return _template("unreadable", ids=[sha])


def stating(folder: str, eval_id: str) -> list[str]:
    """Return Python that counts the evaluation files of a folder that state an id."""
    return [*_template("folder", folder=f"{folder}/"), *_template("stating", eval_id=eval_id)]


def place(sha: str, pointer: str | None, *, shown: bool) -> list[str]:
    """Return Python that says what stands at a JSON pointer of a blob, its value only if `shown`; without a
    pointer, what is at the top of a JSON file.
    """
    lines = _template("file", ids=[sha])
    if not (pointer or "").startswith("/"):
        return lines + _template("keys")
    lines += _template("pointer", names=_names(pointer or ""))
    return [*lines, *_template("value")] if shown else lines


def named(sha: str, place: str | None) -> list[str]:
    """Return Python that counts the lines of a blob in which the last name of a place stands."""
    name = (_names(place or "") or [place or ""])[-1]
    return [*_template("file", ids=[sha]), *_template("name", name=name)]


def places(folder: str, pointer: str) -> list[str]:
    """Return Python that counts what stands at one pointer of all JSON files below a folder."""
    return [
        *_template("folder", folder=f"{folder}/"),
        *_template("places", names=_names(pointer)),
    ]


def listed(path: str | None) -> list[str]:
    """Return a shell line that lists a path of the commit, all of its top for None, and counts files."""
    if path is None:
        return ["git ls-tree $C"]
    word = shell_word(path)
    return [f'echo "files: $(git ls-tree -r $C -- {word} | wc -l)"; git ls-tree $C -- {word}']


def recount(remote: str, commit: str, evals: str, runs: str) -> list[str]:
    """Return a script that counts the rows of the content tables in the commit itself.

    Its second line alone names commit and folders, its first the repository.
    """
    return _whole(remote, commit, evals, runs, _template("recount"))


def regraded(remote: str, commit: str, evals: str, runs: str, modes: set[str]) -> list[str]:
    """Return a script that derives every recorded verdict of the commit whose rule is numeric_tolerance."""
    return _whole(remote, commit, evals, runs, _template("regraded", others=_others(modes)))


def _whole(remote: str, commit: str, evals: str, runs: str, body: Sequence[str]) -> list[str]:
    """Return a script over all evaluations and runs: blobs come at once, and folders stand in line two."""
    first, second, *_ = fetched(remote, commit, [], SMALL)
    folders = f"; E={shlex.quote(f'{evals}/')} R={shlex.quote(f'{runs}/')};"
    call, *rest = python(body)
    call = call.replace("- $C", '- $C "$E" "$R"')
    return [first, second.replace(";", folders, 1), call, *rest, ")"]


def _others(modes: set[str]) -> Code:
    """What tolerances of these modes are asked for before the plain distance."""
    return Code("".join(f"{_MODES[mode]} else " for mode in sorted(modes & _MODES.keys())))


def _names(pointer: str) -> list[str]:
    """Return the names of a JSON pointer (RFC 6901)."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]

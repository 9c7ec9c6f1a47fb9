"""Read upstream JSON the way the graders' Python does, and say what was odd about it.

The published runner reads with `json.loads`: NaN and Infinity literals are accepted, the last of two
equal keys wins. What a strict parser would refuse is reported as flags, never guessed around.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchproof.errors import Unreadable

BOM = b"\xef\xbb\xbf"
#: Larger texts are refused: the largest evaluation or result seen is 8 kB, so this only meets hostile input.
MAX_BYTES = 64 * 1024 * 1024
#: A value of a few letters takes a hundred bytes and more in memory, so that a bound on bytes alone is none.
MAX_VALUES = 2_000_000
#: A file of a report that somebody hands over: a seal with a line for each of a few hundred files.
MAX_RECORD_BYTES = 4 * 1024 * 1024
#: Fixed, and far below Python's own limit, which depends on how deep the caller stands.
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value and what was odd: sorted flags from bom, duplicate_key, nonfinite_literal.

    `repeated` names the keys that an object holds twice, sorted; a name may be graded.
    """

    value: Any
    flags: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


def loads(data: bytes) -> Parsed:
    """Parse bytes as JSON.

    Raises Unreadable with a reason of: empty, too_large, not_utf8, not_json, too_deep, huge_integer,
    lone_surrogate.
    """
    if not data.removeprefix(BOM).strip():
        raise Unreadable("empty")
    if len(data) > MAX_BYTES or sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Unreadable("too_large")
    flags: set[str] = set()
    repeated: set[str] = set()
    if data.startswith(BOM):
        flags.add("bom")
        data = data[len(BOM) :]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("not_utf8") from None

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            flags.add("duplicate_key")
            counts = Counter(name for name, _ in items)
            repeated.update(name for name, count in counts.items() if count > 1)
        return found

    def constant(name: str) -> float:
        flags.add("nonfinite_literal")
        return float(name)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except RecursionError:
        raise Unreadable("too_deep") from None
    except json.JSONDecodeError:
        raise Unreadable("not_json") from None
    except ValueError:
        # Python refuses to convert more than 4300 digits; the only ValueError left after decoding.
        raise Unreadable("huge_integer") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise Unreadable("too_deep")
    if "\\u" in text and _has_surrogate(value):
        raise Unreadable("lone_surrogate")
    return Parsed(value, tuple(sorted(flags)), tuple(sorted(repeated)))


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a small file that may come from anybody: a seal, a status, a configuration.

    Raises OSError when it cannot be read, Unreadable when it is something else.
    """
    if path.exists() and not path.is_file():  # a pipe in its place would be waited for
        raise Unreadable("not_an_object")
    with path.open("rb") as file:
        data = file.read(MAX_RECORD_BYTES + 1)
    if len(data) > MAX_RECORD_BYTES:
        raise Unreadable("too_large")
    value = loads(data).value
    if not isinstance(value, dict):
        raise Unreadable("not_an_object")
    return value


def _depth(value: Any) -> int:
    """How many lists and objects stand inside each other."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [
            child for item in level for child in (item.values() if isinstance(item, dict) else item)
        ]
    return depth


def _has_surrogate(value: Any) -> bool:
    """True when any text in the value cannot be encoded, so that no table could hold it."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if any("\ud800" <= char <= "\udfff" for char in item):
                return True
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False


def _unserialisable(value: object) -> NoReturn:
    raise TypeError(f"{type(value).__name__} has no place in canonical JSON")


def canonical(value: object) -> str:
    """Return the one text of a value: sorted keys, no spaces, ASCII. Raises TypeError for non-JSON types."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_unserialisable)

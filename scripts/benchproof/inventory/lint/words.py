"""Whether a value stands in a text by itself, and which values are rare enough for that to mean something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

_MIN_SIGNIFICANT, _MIN_LABEL = 4, 5
_OPEN = re.compile(r"\{")


def stands_in(value: Any, text: str) -> bool:
    """True when a number or a text stands in `text`, not as part of a longer word or number."""
    return any(_whole(form, text) for form in _forms(value))


def is_rare(value: Any) -> bool:
    """True for a value that hardly stands anywhere by chance: four significant digits, or five letters."""
    if isinstance(value, str):
        return len(value.strip()) >= _MIN_LABEL
    digits = repr(abs(value)).split("e")[0].replace(".", "").strip("0")
    return len(digits) >= _MIN_SIGNIFICANT and digits.isdigit()


def tokens(text: str) -> str:
    """Return a text as lower-case words between single bars, to look for words inside names."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return "|".join(["", *re.findall(r"[a-z0-9+]+", split.lower()), ""])


def named_in(label: str, name: str) -> bool:
    """True when a label of some length is spelled out inside a name, whatever stands between its words."""
    return len(tokens(label)) > _MIN_LABEL and tokens(label) in tokens(name)


def objects(text: str) -> Iterator[str]:
    """Yield the texts between braces that a document holds: of its first 1,000 braces, 4,000 letters each."""
    for start in islice(_OPEN.finditer(text), 1_000):
        depth = 0
        for place in range(start.start(), min(len(text), start.start() + 4_000)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                yield text[start.start() : place + 1]
                break


def _forms(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value.strip()} - {""}
    plain = {repr(value), f"{value:g}" if isinstance(value, float) else repr(value)}
    if isinstance(value, int):
        return {*plain, f"{value:,}"}
    return plain | ({f"{100 * value:g}%"} if abs(value) <= 1 else set())


def _whole(form: str, text: str) -> bool:
    if form not in text:
        return False
    before = r"(?<![\w.])" if form[:1].isdigit() else r"(?<!\w)"
    after = r"(?!\w)(?!\.\d)"
    return re.search(before + re.escape(form) + after, text) is not None

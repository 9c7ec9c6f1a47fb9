"""Mutation from a seeded generator: bytes, lines, and the values of a JSON text."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from fuzz.registry import Kind

#: What parsers trip over, whatever they parse.
TOKENS = (
    *(
        b"",
        b"\0",
        b"\n",
        b"\r\n",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"-",
        b"..",
        b"/",
        b"%",
        b"@",
        b":",
    ),
    *(b"NaN", b"Infinity", b"-0", b"1e400", b"0x10", b"9" * 30, b"18446744073709551616", b"true"),
    *(b"null", b'"\\ud800"', b"\\", b'"', b"'", b"`", b"|", b",", b";", b"[" * 40, b"{" * 40, b"<"),
    *("\u202e\u200b\u2028".encode(), "\u0663\u2460\u00b2".encode(), b"\x1b[31m", b"\x1b]0;t\x07"),
    *(b"=cmd()", b"<script>", b"${}", b"\xc3\x28", b"9999-12-31", b"0001-01-01T00:00:00+14:00"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.0, -0.0, 0.5),
    *(1e308, 5e-324, float("nan"), float("inf"), "", " ", "a", "A" * 300, "1", "nan", "1_000"),
    *("٣", "\u202e", "a\nb", "=1+1", "../../x", "https://u:p@h/?s=1", "latch://1.node", "\0"),
    *([], {}, [[]], {"": None}, ["a", "a"], [1, "a", None], {"type": "numeric_tolerance"}),
)


def mutated(rng: random.Random, corpus: Sequence[bytes], kind: Kind) -> bytes:
    """Return one mutant of a seed."""
    data = rng.choice(corpus)
    if kind == "json" and rng.random() < 0.75:
        data = _json(rng, data, corpus)
        if rng.random() < 0.8:
            return data
    for _ in range(1 << rng.randrange(5)):
        data = (
            _lines(rng, data)
            if kind == "lines" and rng.random() < 0.4
            else _bytes(rng, data, corpus)
        )
    return data


def _bytes(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((0, 1, 1, 2, 4, 8, 32)))
    what = rng.randrange(8)
    if what == 0:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if what == 1:
        return data[:at] + data[end:]
    if what == 2:
        return data[:at] + rng.choice(TOKENS) + data[end:]
    if what == 3:
        return data[:at] + data[at:end] * rng.choice((2, 3, 50)) + data[end:]
    if what == 4:
        return data[:at]
    if what == 5:
        other = rng.choice(corpus)
        cut = rng.randrange(len(other) + 1)
        return data[:at] + other[cut : cut + 200] + data[end:]
    if what == 6 and data:
        width = rng.choice((1, 2, 4, 8))
        number = rng.choice((0, 1, 0x7F, 0xFF, (1 << 8 * width) - 1, 1 << (8 * width - 1), 8, 64))
        number &= (1 << 8 * width) - 1
        return (
            data[:at] + number.to_bytes(width, rng.choice(("little", "big"))) + data[at + width :]
        )
    flip = rng.randrange(len(data)) if data else 0
    return (
        data[:flip] + bytes([data[flip] ^ 1 << rng.randrange(8)]) + data[flip + 1 :]
        if data
        else b"x"
    )


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines[one], lines[two] = lines[two], lines[one]
    elif what == 1:
        lines.insert(one, lines[two])
    elif what == 2:
        del lines[one]
    else:
        lines[one] = lines[one].replace(
            rng.choice((b"|", b",", b":", b" ", b"-")), rng.choice(TOKENS)
        )
    return b"\n".join(lines)


def _json(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    try:
        value = json.loads(data)
        other = json.loads(rng.choice(corpus))
    except (ValueError, RecursionError):
        return data
    for _ in range(1 << rng.randrange(3)):
        value = _value(rng, value, other)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    return text.encode("utf-8", "surrogatepass")


def _value(rng: random.Random, value: Any, other: Any) -> Any:
    """Replace, drop, double or exchange one place of a value, anywhere in it."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return _fresh(rng, other)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = rng.choice(keys)
    child = value[key]
    if isinstance(child, dict | list) and child and rng.random() < 0.7:
        value[key] = _value(rng, child, other)
    elif rng.random() < 0.6:
        value[key] = _fresh(rng, other)
    elif rng.random() < 0.5:
        del value[key]
    elif isinstance(value, dict):
        value[rng.choice((*keys, *_NAMES))] = child
    else:
        value.extend([child] * rng.choice((1, 3, 40)))
    return value


_NAMES = (
    "",
    "type",
    "config",
    "children",
    "id",
    "lower",
    "value",
    "a\nb",
    "\u202e",
    "evals",
    "scoring",
)


def _fresh(rng: random.Random, other: Any) -> Any:
    """Return an odd value, some part of another seed, or something deep."""
    what = rng.random()
    if what < 0.7:
        return json.loads(json.dumps(rng.choice(VALUES)))
    if what < 0.95:
        while isinstance(other, dict | list) and other and rng.random() < 0.8:
            other = rng.choice(list(other.values()) if isinstance(other, dict) else other)
        return json.loads(json.dumps(other))
    deep: Any = rng.choice(VALUES)
    for _ in range(rng.choice((3, 33, 150, 198))):
        deep = [deep] if rng.random() < 0.5 else {"config": {"children": [deep]}, "type": "all_of"}
    return deep

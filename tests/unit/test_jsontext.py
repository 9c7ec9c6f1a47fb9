"""Upstream JSON is read as the graders' Python reads it, and what is odd about it is said."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof import jsontext
from benchproof.errors import Unreadable

SCRIPTS = Path(jsontext.__file__).resolve().parents[1]
DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"{", "not_json"),
        (b"{} x", "not_json"),
        (b"{'a': 1}", "not_json"),
        (b'"a\nb"', "not_json"),
        (b"\0", "not_json"),
        ('{"a": 1}'.encode("utf-16"), "not_utf8"),
        (b'"caf\xe9"', "not_utf8"),
        (b'"\xed\xa0\x80"', "not_utf8"),
        (DEEP, "too_deep"),
        (DEEP + b"]" * 100_000, "too_deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too_deep"),
        (b"1" * 4400, "huge_integer"),
        (b'{"a": [-' + b"9" * 4400 + b"]}", "huge_integer"),
        (rb'"\ud800"', "lone_surrogate"),
        (rb'{"\udfff": 1}', "lone_surrogate"),
        (rb'[{"a": ["\ude00\ud83d"]}]', "lone_surrogate"),
        (b" " * (jsontext.MAX_BYTES + 1) + b"1", "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:12]),
)
def test_what_cannot_be_read_has_a_reason(data: bytes, reason: str) -> None:
    """BR-28"""
    with pytest.raises(Unreadable) as caught:
        jsontext.loads(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("data", "value", "flags"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, ("bom",)),
        (b'{"a": "B", "a": "A"}', {"a": "A"}, ("duplicate_key",)),
        (b'[{"x": {"a": 1, "b": 2, "a": 3}}]', [{"x": {"a": 3, "b": 2}}], ("duplicate_key",)),
        (rb'{"a": 1, "\u0061": 2}', {"a": 2}, ("duplicate_key",)),
        (
            b'\xef\xbb\xbf[NaN, {"a": 1, "a": Infinity}]',
            None,
            ("bom", "duplicate_key", "nonfinite_literal"),
        ),
        (b"-Infinity", -math.inf, ("nonfinite_literal",)),
        (b"1e999", math.inf, ()),
        (str(10**400).encode(), 10**400, ()),
        (b"9007199254740993", 9007199254740993, ()),
        (rb'"\ud83d\ude00"', "\U0001f600", ()),
        (rb'"\\ud800"', r"\ud800", ()),
        (b'"NA"', "NA", ()),
        (b"-0.0", -0.0, ()),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else None,
)
def test_what_is_odd_is_flagged_and_read_anyway(
    data: bytes, value: Any, flags: tuple[str, ...]
) -> None:
    """BR-27: the last of two equal keys counts."""
    parsed = jsontext.loads(data)
    assert parsed.flags == flags
    assert value is None or (parsed.value == value and str(parsed.value) == str(value))


def test_repeated_keys_are_named_in_order() -> None:
    parsed = jsontext.loads(
        b'[{"b": 1, "a": 1, "b": {"c": 1, "c": 2, "d": 0}}, {"a": 1, "a": 1}, {"d": 0}]'
    )
    assert parsed.repeated == ("a", "b", "c")
    assert jsontext.loads(b'{"a": {"a": 1}}').repeated == ()


def at_depth(levels: int, data: bytes) -> str:
    """Read from further down the stack."""
    if levels:
        return at_depth(levels - 1, data)
    try:
        return jsontext.canonical(jsontext.loads(data).value)[:1]
    except Unreadable as error:
        return error.reason


@pytest.mark.parametrize("depth", [50, 150, 500, 900, 980])
def test_whether_text_is_too_deep_depends_on_the_text_alone(depth: int) -> None:
    """Law 6: stages read one file at other depths of the stack and must agree about it."""
    data = b"[" * depth + b"]" * depth
    assert len({at_depth(levels, data) for levels in (0, 30, 120)}) == 1


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(values)
@settings(max_examples=40)
def test_it_agrees_with_pythons_own_reader(value: Any) -> None:
    text = json.dumps(value)
    assert repr(jsontext.loads(text.encode()).value) == repr(json.loads(text))


@given(st.binary(max_size=60))
@settings(max_examples=80)
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(Unreadable):
        jsontext.loads(data)


def test_the_locale_changes_nothing() -> None:
    """BR-28: cron runs under an ASCII locale."""
    code = (
        "import sys; from benchproof import jsontext;"
        r"print(ascii(jsontext.loads(b'\xef\xbb\xbf{\"caf\xc3\xa9\": NaN}')))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SCRIPTS), **locale},
            capture_output=True,
            check=True,
        ).stdout
        for locale in (
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"LC_ALL": "C.UTF-8"},
        )
    }
    assert len(said) == 1


def test_canonical_text_has_one_form() -> None:
    assert jsontext.canonical({"b": [1, {}], "a": "é"}) == r'{"a":"\u00e9","b":[1,{}]}'
    with pytest.raises(TypeError, match="no place in canonical JSON"):
        jsontext.canonical({"a": b"bytes"})


def test_a_bound_on_values_holds_where_one_on_bytes_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """60 MB of `[],` took 1.8 GB; a file of a report is read up to 4 MB, and is an object."""
    monkeypatch.setattr(jsontext, "MAX_VALUES", 10)
    assert jsontext.loads(b"[1, 2, 3]").value == [1, 2, 3]
    with pytest.raises(Unreadable, match="too_large"):
        jsontext.loads(b"[" + b"[]," * 10 + b"1]")
    monkeypatch.setattr(jsontext, "MAX_RECORD_BYTES", 20)
    path = tmp_path / "seal.json"
    for text, reason in ((b'{"a": 1}', ""), (b"[1]", "not_an_object"), (b" " * 30, "too_large")):
        path.write_bytes(text)
        if not reason:
            assert jsontext.read_object(path) == {"a": 1}
            continue
        with pytest.raises(Unreadable, match=reason):
            jsontext.read_object(path)

"""seal.json proves its own bytes, and nothing hostile in it is believed."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from benchproof.errors import SealError
from benchproof.sealing import form

ENTRY = {"sha256": "a" * 64, "size": 3, "checks": "A" * 22 + "=="}
VALUES: dict[str, Any] = {
    "kind": "report",
    "label": "2026-01-15",
    "complete": True,
    "files": {f"table{n}.parquet": ENTRY for n in range(40)},
    "previous": {"label": "2026-01-08", "seal_sha256": "b" * 64},
}


def test_a_seal_is_json_that_says_what_it_was_given() -> None:
    data = form.text(VALUES)
    said = json.loads(data)
    assert {name: said[name] for name in VALUES} == VALUES
    assert list(said) == sorted(said)
    assert form.own_fault(data) is None
    read = form.parse(data)
    assert (read.format, read.kind, read.label) == (2, "report", "2026-01-15")
    assert read.complete
    assert not form.parse(form.text({**VALUES, "complete": False})).complete
    assert read.links == (form.Link("2026-01-08", "b" * 64),)
    assert read.files["table0.parquet"].size == 3


@pytest.mark.parametrize("files", [0, 1, 2, 3, 5, 8, 13, 40])
def test_any_changed_byte_of_the_seal_itself_is_named(files: int) -> None:
    """In what it says, and in the member that proves it, whatever is left of the JSON."""
    names = list(VALUES["files"])[:files]
    data = form.text(VALUES | {"files": dict.fromkeys(names, ENTRY)})
    chance = random.Random(files)
    places = {0, len(data) - 1, *range(len(data) - 90, len(data))}
    places |= {chance.randrange(len(data)) for _ in range(60)}
    for at in sorted(places):
        other = bytearray(data)
        other[at] ^= chance.randint(1, 255)
        fault = form.own_fault(bytes(other))
        assert fault == f"byte {at:,} is 0x{other[at]:02x} and was 0x{data[at]:02x}", at


@pytest.mark.parametrize(
    "edit", [lambda d: d[:-1], lambda d: d + b"\n", lambda d: d[:50], lambda d: b""]
)
def test_a_longer_or_shorter_seal_is_said(edit: Any) -> None:
    fault = form.own_fault(edit(form.text(VALUES)))
    assert fault is not None
    assert re.search("more or fewer|differ|byte", fault)


def test_a_seal_of_before_lists_digests_alone() -> None:
    read = form.parse(b'{"complete": true, "files": {"a": "' + b"c" * 64 + b'"}, "label": "x"}')
    assert (read.format, read.links, read.values["complete"]) == (1, (), True)
    assert read.files == {"a": form.Sealed("c" * 64)}


def changed(**values: Any) -> bytes:
    return json.dumps({"format": 2, **VALUES, **values}).encode()


_NO_FLAGS: tuple[Any, ...] = ("x", "", [], ["x"], {}, 1, 0, None)
HOSTILE = {
    "no json": b"{",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "huge number": b'{"format": ' + b"9" * 5000 + b"}",
    "later format": changed(format=3),
    "true is no format": changed(format=True),
    "files are no mapping": changed(files=["a"]),
    "path up": changed(files={"../../etc/passwd": ENTRY}),
    "path inside up": changed(files={"a/../../b": ENTRY}),
    "absolute": changed(files={"/etc/passwd": ENTRY}),
    "backslash": changed(files={"..\\x": ENTRY}),
    "escape": changed(files={"a\x1b[31m": ENTRY}),
    "NUL": changed(files={"a\0": ENTRY}),
    "empty name": changed(files={"": ENTRY}),
    "negative size": changed(files={"a": ENTRY | {"size": -1}}),
    "huge size": changed(files={"a": ENTRY | {"size": 1 << 200}}),
    "size is no number": changed(files={"a": ENTRY | {"size": "3"}}),
    "true is no size": changed(files={"a": ENTRY | {"size": True}}),
    "digest": changed(files={"a": ENTRY | {"sha256": "A" * 64}}),
    "no base64": changed(files={"a": ENTRY | {"checks": "é"}}),
    "fewer check bytes": changed(files={"a": ENTRY | {"checks": ""}}),
    "entry is no mapping": changed(files={"a": "c" * 64}),
    "label": changed(label=["x"]),
    "long label": changed(label="x" * 201),
    "escape in a label": changed(label="\x1b[2J"),
    "previous": changed(previous="2026-01-08"),
    "previous without digest": changed(previous={"label": "2026-01-08"}),
    **{f"complete is {value!r}": changed(complete=value) for value in _NO_FLAGS},
    "three compared": changed(compared=[None, None, None]),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_no_seal_can_say_is_refused(data: bytes) -> None:
    with pytest.raises(SealError, match=r"seal\.json"):
        form.parse(data)
    assert form.own_fault(data) is not None

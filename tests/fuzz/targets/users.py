"""Files that a user hands us, or that come with somebody's report."""

from __future__ import annotations

import argparse
import json
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benchproof import accepted, cli
from benchproof.analysis import claims
from benchproof.errors import BenchproofError, ConfigError
from benchproof.explain.reports import Report
from benchproof.grading import asked
from benchproof.recorded import _read as read_recorded
from benchproof.sealing import seal
from benchproof.watch import metrics, status
from fuzz.registry import target

_ROOT = Path(__file__).resolve().parents[3]


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


def _written(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    return path


_ODD_YAML = [
    b"a: &a [1, 2]\nfamily: [*a, *a]\n",
    b"results: !!timestamp x\ndate: !!int ''\nonly: !!float ''\n",
    b"only: !!bool maybe\nfamily: !!set {a, b}\nhttp: !!binary '='\n",
    b"x: &x {<<: *x}\n",
    b"date: 2026-13-45\nn: 1:2:3\nm: 0o17\nk: .inf\n? [a, b]\n: c\n",
]


@target(
    "config",
    lambda: [
        (_ROOT / "config" / "config.yaml").read_bytes(),
        b"source: github\nhttp: {tries: 3}\nas_of: [abcdef1, scbench@1234567]\n",
        *_ODD_YAML,
    ],
    allowed=[ConfigError],
    kind="lines",
)
def _config(data: bytes) -> None:
    path = _written("mine.yaml", data)
    audit = cli._configured(argparse.Namespace(configfile=[str(path)], config=[]))
    assert audit.label
    audit.content_digest()


@target(
    "config_pair",
    lambda: [b"date=2026-01-01", b"only=[a,b]", b"shards=3", b"as_of=abcdef1", b"http=x"],
    allowed=[ConfigError],
)
def _pair(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape").replace("\0", "")
    cli._configured(argparse.Namespace(configfile=[], config=[text]))


@target(
    "accepted",
    lambda: [
        b"accepted:\n- {id: a, owner: b, reason: c, expires: 2026-01-01}\n",
        *_ODD_YAML,
        b"accepted: []\n",
    ],
    allowed=[ConfigError],
    kind="lines",
)
def _accepted(data: bytes) -> None:
    found = accepted.load(_written("accepted.yaml", data), "2026-01-01")
    found.expired(["a"])


@cache
def _claims() -> list[bytes]:
    whole = (_ROOT / "config" / "claims.yaml").read_bytes()
    parts = whole.split(b"\n\n")
    return [b"\n\n".join(parts[:4]), *_ODD_YAML]


@target("claims", _claims, allowed=[ConfigError], kind="lines")
def _claimed(data: bytes) -> None:
    claims.load(_written("claims.yaml", data))


@target("answer", lambda: [b'{"answer": "A"}', b"[1, 2]", b"3"], allowed=[ConfigError], kind="json")
def _answer(data: bytes) -> None:
    asked._answer(str(_written("answer.json", data)))


@target(
    "status",
    lambda: [
        json.dumps(vars(status.Status())).encode(),
        json.dumps(
            {
                **vars(status.Status()),
                "started_at": "2026-01-01T00:00:00Z",
                "findings": {"critical": 1},
                "told": ["a"],
                "date": "2026-01-01",
            }
        ).encode(),
    ],
    kind="json",
)
def _status(data: bytes) -> None:
    _written(status.NAME, data)
    found = status.read(_folder())
    metrics.text(found, "results")
    json.dumps(vars(found.begun("2026-01-01", datetime.now(UTC), "x")))


@target(
    "seal",
    lambda: [
        json.dumps({"complete": True, "files": {"a.parquet": "0" * 64}, "made_by": {}}).encode()
    ],
    allowed=[BenchproofError],
    kind="json",
)
def _seal(data: bytes) -> None:
    folder = _folder()
    _written(seal.SEAL, data)
    seal.is_complete(folder)
    found = Report(folder, None)  # type: ignore[arg-type]
    assert found.seal is not None
    found.altered(("pins",))
    read_recorded(folder / seal.SEAL, "is odd")

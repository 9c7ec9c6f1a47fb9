"""YAML within bounds: what PyYAML makes of a text is kept, what would cost or crash is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from benchproof import yamltext
from benchproof.config import load as load_config
from benchproof.errors import ConfigError
from benchproof.yamltext import NotYaml, load, loads


def test_what_a_configuration_holds_is_read() -> None:
    """Anchors and merges too: claims.yaml has some."""
    text = b"\xef\xbb\xbfa: &a {x: 1}\nb: {<<: *a, y: 2026-01-01}\nc: [*a, *a]\n"
    assert loads(text) == {"a": {"x": 1}, "b": {"x": 1, "y": date(2026, 1, 1)}, "c": [{"x": 1}] * 2}
    assert loads(b"") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(b"a: &a [*a]", "too_deep", id="leads-into-itself"),
        pytest.param(b"[" * 2000, "too_deep", id="deep"),
        pytest.param(b"a: " + b"[" * 60 + b"]" * 60, "too_deep", id="deeper-than-needed"),
        pytest.param(b"n: 1" + b":59" * 300, "huge_number", id="sixtieths"),
        pytest.param(b"n: " + b"9" * 5000, "huge_number", id="digits"),
        pytest.param(b"a: \xff", "not_yaml", id="not-utf8"),
        *(
            pytest.param(f"a: {text}".encode(), "not_yaml", id=text)
            for text in ("!!int ''", "!!bool maybe", "!!timestamp x", "2026-13-45", "!!python/none")
        ),
    ],
)
def test_what_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(NotYaml) as caught:
        loads(text)
    assert caught.value.reason == reason


def test_aliases_count_each_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(yamltext, "MAX_VALUES", 50)
    monkeypatch.setattr(yamltext, "MAX_BYTES", 100)
    assert loads(b"a: &a [1, 2, 3]\nb: [*a, *a]")
    with pytest.raises(NotYaml, match="too_large"):
        loads(b"a: &a [1, 2, 3, 4, 5, 6, 7]\nb: &b [*a, *a, *a]\nc: [*b, *b]")
    (tmp_path / "a.yaml").write_bytes(b"a: " + b"x" * 200)
    with pytest.raises(NotYaml, match="too_large"):
        load(tmp_path / "a.yaml")


def test_a_configuration_that_snakemake_has_read_is_bounded_too() -> None:
    """Snakemake's own reader gives objects that hold themselves."""
    loop: dict[str, object] = {}
    loop["family"] = [loop]
    wide: object = "x"
    for _ in range(40):
        wide = [wide] * 40
    for raw in (loop, {"only": wide}):
        with pytest.raises(ConfigError, match="too many values"):
            load_config(raw, "2026-01-01")

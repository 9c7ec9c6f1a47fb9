"""What a terminal obeys and what an eye can't see is spelt out; plain text stays as it is."""

from __future__ import annotations

import json

import pytest

from benchproof.report.visible import embedded, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢字 \\n", "plain é 漢字 \\n"),
        ("two\nlines", "two\nlines"),
        ("tab\there", "tab\\x09here"),
        ("\x1b[31m\x00\x7f\x9b", "\\x1b[31m\\x00\\x7f\\x9b"),
        ("a\u202eb\u2066c\u200bd\ufeff", "a\\u202eb\\u2066c\\u200bd\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_embedded_json_ends_no_element_and_is_the_same_value() -> None:
    """BR-55"""
    value = {"a": ["</script>", "<!--", "\u2028\u2029", "&amp;", None, 1.5]}
    text = embedded(value)
    assert not {"<", "\u2028", "\u2029"} & set(text)
    assert json.loads(text) == value

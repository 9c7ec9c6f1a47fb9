"""Hostile files against the documented limits; the heavy ones by command: `python -m fuzz.limits`."""

from __future__ import annotations

import pytest

from fuzz.engine import guarded
from fuzz.hostile import BY_NAME
from fuzz.limits import Measured
from fuzz.registry import chosen

#: Those that once cost minutes, gigabytes or an undeclared exception, and now end at once.
ONCE = (
    *(
        "handle_of_slashes",
        "handle_of_schemes",
        "gzip_million_members",
        "subsequence_distinct_100k",
    ),
    *("http_100_for_ever", "http_chunk_size_without_end", "http_trailers_for_ever", "backticks_1m"),
    *("yaml_billion_laughs", "yaml_merge_laughs", "yaml_self", "yaml_nested_50k", "seal_nested"),
    *("json_nested_100k", "json_lone_surrogate", "markdown_million_columns", "tree_dot_git"),
    *("http_headers_for_ever", "http_header_without_end", "http_chunks_for_ever", "status_nested"),
)


@pytest.mark.parametrize("name", ONCE)
def test_a_hostile_file_ends_as_declared(name: str) -> None:
    """Within seconds, as a value or a declared error."""
    item = BY_NAME[name]
    (target,) = chosen([item.target])
    with guarded(item.seconds * 3):
        target.try_one(item.make())


def test_what_is_beyond_a_limit_is_not_kept() -> None:
    assert Measured("json_1e400", 1, 1, "ok").kept()
    assert not Measured("json_1e400", 99, 1, "ok").kept()
    assert not Measured("json_1e400", 1, 999, "declared Unreadable").kept()
    assert not Measured("json_1e400", 1, 1, "undeclared KeyError at x").kept()
    assert not Measured("json_1e400", 1, 1, "never ended").kept()

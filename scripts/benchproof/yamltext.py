"""YAML that a user hands us, read within bounds: what aliases stand for counts each time it is named.

PyYAML builds `&a [*a]` as it is written and copies what `<<` merges: a kilobyte can stand for gigabytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchproof.errors import Unreadable

#: Bytes of a file, and values of it with those behind aliases and merges: twenty times our largest one.
MAX_BYTES, MAX_VALUES = 2 * 1024 * 1024, 200_000
#: Levels of values: PyYAML and all that walks them call themselves.
MAX_DEPTH = 50
#: Letters of a plain number; sums of sixtieths (1:59:59…) are of quadratic cost.
_NUMBER = 400


class NotYaml(Unreadable):
    """Text that is not YAML, or more of it than a configuration has; `line` counts from 1."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def load(path: Path) -> Any:
    """Return the value of a file. Raises OSError, and NotYaml for anything but bounded YAML in UTF-8."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise NotYaml("too_large")
    return loads(data)


def loads(data: bytes) -> Any:
    """Return the value of a text; raises NotYaml."""
    import yaml

    try:
        loader = yaml.SafeLoader(data.decode("utf-8-sig"))
        try:
            node = loader.get_single_node()
            _measure(node)
            return None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except NotYaml:
        raise
    except RecursionError:
        raise NotYaml("too_deep") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise NotYaml("not_yaml", mark.line + 1 if mark else None) from None
    # What PyYAML's constructors raise for `!!int ''`, `!!bool x`, `!!timestamp x`, and days that are none.
    except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError):
        raise NotYaml("not_yaml") from None


def _measure(root: Any) -> None:
    """Refuse a graph of nodes that is deep, leads into itself, or stands for too many values."""
    sizes: dict[int, int] = {}

    def size(node: Any, depth: int) -> int:
        if depth > MAX_DEPTH:  # one that leads into itself, too
            raise NotYaml("too_deep")
        known = sizes.get(id(node))
        if known is None:
            known = 1 + sum(size(child, depth + 1) for child in _children(node))
            sizes[id(node)] = known
        if known > MAX_VALUES:
            raise NotYaml("too_large")
        return known

    if root is not None:
        size(root, 0)


def _children(node: Any) -> list[Any]:
    if node.id == "scalar":
        if node.tag.endswith((":int", ":float")) and len(node.value) > _NUMBER:
            raise NotYaml("huge_number")
        return []
    if node.id == "sequence":
        return list(node.value)
    return [part for pair in node.value for part in pair]

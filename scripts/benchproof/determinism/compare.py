"""What several derivations of one file say: whether they agree, and which condition their bytes follow.

Values in, values out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Product:
    """One file as each derivation made it: its digest by derivation, None where it was not made."""

    name: str
    digests: Mapping[str, str | None]

    @property
    def groups(self) -> list[str]:
        """The derivations that agree, as words of their letters, in order; one word when all agree."""
        return list(grouped(self.digests).values())

    @property
    def agrees(self) -> bool:
        """True when every derivation made it, and all alike."""
        return len(self.groups) == 1 and None not in self.digests.values()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A file that differs: the groups that agree, where two of them first differ, and what is suspected."""

    name: str
    groups: tuple[str, ...]
    place: str
    suspects: tuple[str, ...]


def grouped(values: Mapping[str, object]) -> dict[object, str]:
    """Return the letters of the derivations that have one value, by that value."""
    found: dict[object, str] = {}
    for name, value in values.items():
        found[value] = found.get(value, "") + name
    return found


def suspects(
    digests: Mapping[str, str | None], given: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """Return the conditions that the bytes follow: wherever one has the same value, the bytes are the same.

    `given` has the value of each condition by derivation. Those with the fewest values come first: they
    explain the most. Nothing when no single condition explains it.
    """
    explaining = [
        (len(set(values.values())), name)
        for name, values in given.items()
        if _is_function(values, digests) and len(set(values.values())) > 1
    ]
    return tuple(name for _, name in sorted(explaining))


def _is_function(values: Mapping[str, str], digests: Mapping[str, str | None]) -> bool:
    seen: dict[str, str | None] = {}
    return all(seen.setdefault(values[name], digest) == digest for name, digest in digests.items())


def without_effect(
    given: Mapping[str, Mapping[str, str]], observed: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return a sentence for each condition of which two derivations were given different values and
    observed the same: what was to be varied was not.
    """
    found = []
    for name, values in given.items():
        pair = _unmoved(values, observed[name])
        if pair is not None:
            one, other = pair
            found.append(
                f"{name}: {one} and {other} were given {values[one]} and {values[other]}, and both observed "
                f"{observed[name][one]}: the condition did not take effect"
            )
    return found


def _unmoved(values: Mapping[str, str], observed: Mapping[str, str]) -> tuple[str, str] | None:
    names: Sequence[str] = list(values)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            if values[one] != values[other] and observed[one] == observed[other]:
                return one, other
    return None

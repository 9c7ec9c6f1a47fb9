"""Check bytes of a file: where it was changed, and not only that it was.

A digest says that a file differs. For each block of a file the seal also keeps sixteen check bytes, the eight
syndromes of a Reed-Solomon code over GF(2^16) whose symbols are the bytes of the block. Those of the file as
it was and as it is differ by the syndromes of the change alone, and these give the place and the old value of
up to four changed bytes of a block (Berlekamp-Massey and Forney; Blahut, "Algebraic Codes for Data
Transmission", chapter 7). A larger change is narrowed to its block; of some billion larger ones at most one
passes for a small one, since nearly all of them would need differences that no byte can have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, Final

#: Bytes of a block: as few as give at most `_BLOCKS` blocks.
_SMALLEST, _LARGEST = 512, 1 << 15
_BLOCKS: Final = 512
_SYNDROMES: Final = 8
#: Check bytes of one block.
CHECK_BYTES: Final = 2 * _SYNDROMES
#: x^16 + x^12 + x^3 + x + 1 is primitive.
_POLYNOMIAL: Final = 0x1100B
_ORDER: Final = (1 << 16) - 1
#: Bytes that are worked on at once.
_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Change:
    """The first place where a file differs: offsets of its first and last candidate, counted from 0.

    `was` is the byte that stood there, and `more` how many other bytes of its block differ; both are None
    where the change is known by its block alone.
    """

    first: int
    last: int
    was: int | None = None
    more: int | None = None


def block_size(size: int) -> int:
    """Return how many bytes of a file of `size` bytes share their check bytes."""
    block = _SMALLEST
    while block < _LARGEST and size > block * _BLOCKS:
        block *= 2
    return block


def checks_length(size: int) -> int:
    """Return how many check bytes a file of `size` bytes has."""
    return -(-size // block_size(size)) * CHECK_BYTES


def check_bytes(file: BinaryIO, size: int) -> bytes:
    """Return the check bytes of the next `size` bytes of a file; of fewer where it ends before."""
    return b"".join(_of_blocks(file, size))


def first_change(file: BinaryIO, size: int, sealed: bytes) -> Change | None:
    """Return where the next `size` bytes of a file first differ from those with the check bytes `sealed`.

    None when no block differs. `sealed` may be of a longer file: `size` then ends a block of it.
    """
    block = block_size(size)
    return _first(file, size, block, sealed)


def first_change_of_part(file: BinaryIO, size: int, whole: int, sealed: bytes) -> Change | None:
    """Return where the first `size` bytes of what was `whole` bytes long first differ, by whole blocks."""
    block = block_size(whole)
    return _first(file, size // block * block, block, sealed)


def _first(file: BinaryIO, size: int, block: int, sealed: bytes) -> Change | None:
    at = 0
    for found in _of_blocks(file, size, block):
        known = sealed[at // block * CHECK_BYTES :][: len(found)]
        if found != known:
            place = next(n for n in range(0, len(found), CHECK_BYTES) if _differ(found, known, n))
            start = at + place // CHECK_BYTES * block
            length = min(block, size - start)
            difference = _symbols(found[place:][:CHECK_BYTES], known[place:][:CHECK_BYTES])
            file.seek(start)
            return _change(start, file.read(length), _errors(difference, length))
        at += len(found) // CHECK_BYTES * block
    return None


def _change(start: int, data: bytes, errors: dict[int, int]) -> Change:
    if not errors or max(errors) >= len(data):
        return Change(start, start + max(len(data), 1) - 1)
    place = min(errors)
    return Change(
        start + place, start + place, was=data[place] ^ errors[place], more=len(errors) - 1
    )


def _differ(one: bytes, other: bytes, at: int) -> bool:
    return one[at : at + CHECK_BYTES] != other[at : at + CHECK_BYTES]


def _symbols(one: bytes, other: bytes) -> list[int]:
    mixed = bytes(a ^ b for a, b in zip(one, other.ljust(CHECK_BYTES, b"\0"), strict=True))
    return [int.from_bytes(mixed[n : n + 2], "big") for n in range(0, CHECK_BYTES, 2)]


@cache
def _tables() -> tuple[Any, Any]:
    """Return the powers of the field's generator, twice over and then zeros, and logarithms by value.

    The logarithm of 0 leads to the zeros.
    """
    import numpy as np

    powers = np.zeros(3 * _ORDER + 1, np.uint16)
    logarithms = np.zeros(_ORDER + 1, np.int32)
    value = 1
    for exponent in range(_ORDER):
        powers[exponent] = powers[exponent + _ORDER] = value
        logarithms[value] = exponent
        value = value << 1 ^ (_POLYNOMIAL if value & 0x8000 else 0)
    logarithms[0] = 2 * _ORDER
    return powers, logarithms


def _of_blocks(file: BinaryIO, size: int, block: int | None = None) -> Iterator[bytes]:
    """Yield check bytes of groups of blocks; the last block counts as if zeros followed."""
    import numpy as np

    powers, logarithms = _tables()
    block = block or block_size(size)
    shifts = [np.arange(block, dtype=np.int32) * n % _ORDER for n in range(_SYNDROMES)]
    while size > 0 and (data := file.read(min(size, _AT_ONCE))):
        size -= len(data)
        padded = data.ljust(-(-len(data) // block) * block, b"\0")
        logs = logarithms[np.frombuffer(padded, np.uint8).reshape(-1, block)]
        found = [np.bitwise_xor.reduce(powers[logs + shift], axis=1) for shift in shifts]
        yield np.stack(found, axis=1).astype(">u2").tobytes()


def _errors(syndromes: list[int], length: int) -> dict[int, int]:
    """Return the differences by place that have these syndromes; empty when no four bytes do."""
    locator = _locator(syndromes)
    degree = len(locator) - 1
    if not 0 < degree <= _SYNDROMES // 2:
        return {}
    places = [place for place in range(length) if _value(locator, -place) == 0]
    if len(places) != degree:
        return {}
    errors = {place: _difference(syndromes, locator, place) for place in places}
    return errors if all(0 < error < 256 for error in errors.values()) else {}


def _times(one: int, other: int) -> int:
    powers, logarithms = _tables()
    return int(powers[int(logarithms[one]) + int(logarithms[other])]) if one and other else 0


def _over(one: int, other: int) -> int:
    powers, logarithms = _tables()
    return int(powers[(int(logarithms[one]) - int(logarithms[other])) % _ORDER]) if one else 0


def _value(polynomial: list[int], exponent: int) -> int:
    """Return a polynomial's value at a power of the generator."""
    powers, logarithms = _tables()
    total = 0
    for degree, factor in enumerate(polynomial):
        if factor:
            total ^= int(powers[(int(logarithms[factor]) + degree * exponent) % _ORDER])
    return total


def _locator(syndromes: list[int]) -> list[int]:
    """Return the shortest recurrence of the syndromes, lowest degree first (Berlekamp-Massey)."""
    current, last = [1], [1]
    length, since, previous = 0, 1, 1
    for number, syndrome in enumerate(syndromes):
        wrong = syndrome
        for degree in range(1, min(len(current), number + 1)):
            wrong ^= _times(current[degree], syndromes[number - degree])
        if wrong == 0:
            since += 1
            continue
        before, factor = current, _over(wrong, previous)
        shifted = [0] * since + [_times(factor, item) for item in last]
        longest = max(len(current), len(shifted))
        current = [
            a ^ b
            for a, b in zip(
                current + [0] * (longest - len(current)),
                shifted + [0] * (longest - len(shifted)),
                strict=True,
            )
        ]
        if 2 * length <= number:
            length, last, previous, since = number + 1 - length, before, wrong, 1
        else:
            since += 1
    while current[-1] == 0:
        current.pop()
    return current if len(current) - 1 == length else []


def _difference(syndromes: list[int], locator: list[int], place: int) -> int:
    """Return the difference at one place (Forney)."""
    evaluator = [0] * _SYNDROMES
    for degree, factor in enumerate(locator):
        for number in range(_SYNDROMES - degree):
            evaluator[number + degree] ^= _times(factor, syndromes[number])
    # In a field of characteristic 2 even powers vanish from a derivative.
    derivative = [item if n % 2 == 0 else 0 for n, item in enumerate(locator[1:])]
    slope = _value(derivative, -place)
    powers, _ = _tables()
    return _over(_times(int(powers[place]), _value(evaluator, -place)), slope) if slope else 0

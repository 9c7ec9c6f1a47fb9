"""Which derivations agree, what their bytes follow, and whether a condition was in force."""

from __future__ import annotations

import pytest

from benchproof.determinism.compare import Product, grouped, suspects, without_effect

GIVEN = {
    "seed": {"A": "0", "B": "1", "C": "0", "D": "1"},
    "zone": {"A": "x", "B": "x", "C": "y", "D": "y"},
    "still": dict.fromkeys("ABCD", "one"),
}


@pytest.mark.parametrize(
    ("digests", "named"),
    [
        pytest.param({"A": "1", "B": "2", "C": "1", "D": "2"}, ("seed",), id="one"),
        pytest.param({"A": "1", "B": "1", "C": "2", "D": None}, (), id="not made once"),
        pytest.param({"A": "1", "B": "2", "C": "3", "D": "4"}, (), id="chance or two together"),
    ],
)
def test_what_explains_the_bytes_is_named(
    digests: dict[str, str | None], named: tuple[str, ...]
) -> None:
    assert suspects(digests, GIVEN) == named


def test_what_has_fewer_values_explains_more() -> None:
    given = GIVEN | {"folder": {"A": "a", "B": "b", "C": "c", "D": "d"}}
    digests: dict[str, str | None] = {"A": "1", "B": "2", "C": "1", "D": "2"}
    assert suspects(digests, given) == ("seed", "folder")


def test_a_file_that_one_did_not_make_does_not_agree() -> None:
    assert not Product("x", {"A": "1", "B": None}).agrees
    assert not Product("x", {"A": None, "B": None}).agrees
    assert Product("x", {"A": "1", "B": "1"}).agrees
    assert Product("x", {"A": "1", "B": "2", "C": "1"}).groups == ["AC", "B"]
    assert grouped({"A": "1", "B": None}) == {"1": "A", None: "B"}


def test_a_condition_without_effect_is_named_with_what_both_saw() -> None:
    seen = GIVEN | {"zone": dict.fromkeys("ABCD", "+0000 UTC")}
    (said,) = without_effect(GIVEN, seen)
    assert said.startswith("zone: A and C were given x and y, and both observed +0000 UTC")
    assert not without_effect(GIVEN, GIVEN)

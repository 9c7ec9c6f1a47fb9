"""The design: six derivations that tell each condition from all others."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from benchproof.determinism.compare import grouped, suspects
from benchproof.determinism.conditions import DESIGN, FEW, RUNS, VALUES, plan

AVAILABLE = {"source": ("git", "github"), "locale": ("C", "tr_TR.UTF-8", "de_DE.UTF-8")}
PLAN = plan(AVAILABLE, {})
GIVEN = {name: PLAN.given(name) for name in DESIGN}


def test_every_condition_has_a_value_for_each_level() -> None:
    assert set(DESIGN) == set(VALUES) | set(AVAILABLE)
    for name, levels in DESIGN.items():
        assert len(levels) == len(RUNS)
        assert len(set(levels)) == len({**VALUES, **AVAILABLE}[name])


@pytest.mark.parametrize("planted", DESIGN)
def test_bytes_that_follow_one_condition_name_it_alone(planted: str) -> None:
    """Whatever the bytes are: one for each value of the condition."""
    assert suspects(GIVEN[planted], GIVEN) == (planted,)


@pytest.mark.parametrize("planted", [name for name, levels in DESIGN.items() if "2" in levels])
def test_so_do_bytes_that_only_one_of_three_values_moves(planted: str) -> None:
    """As a decimal comma: two of three locales agree, and only conditions of two values could be meant."""
    odd = sorted(set(GIVEN[planted].values()))[0]
    digests = {name: str(value == odd) for name, value in GIVEN[planted].items()}
    assert suspects(digests, GIVEN) == (planted,)


def test_two_derivations_agree_in_one_condition_of_three_values_and_never_in_all() -> None:
    three = [name for name, levels in DESIGN.items() if "2" in levels]
    for one, other in combinations(RUNS, 2):
        assert sum(GIVEN[name][one] == GIVEN[name][other] for name in three) == 1


def test_what_comes_on_top_finds_its_own_room_and_number_of_shares() -> None:
    """A date that is graded keeps its number of shares, and archives are those of the room."""
    for before, one in pairwise(PLAN.derivations):
        if one.is_on_top:
            for name in ("working folder", "shares of runs", "source"):
                assert one.given[name] == before.given[name]


def test_three_derivations_vary_every_condition_too() -> None:
    few = plan(AVAILABLE, {}, FEW)
    assert [one.name for one in few.derivations] == list(FEW)
    for name in DESIGN:
        assert len(set(few.given(name).values())) > 1, name


def test_what_is_not_there_is_taken_from_what_is() -> None:
    found = plan({"source": ("git",), "locale": ("C", "C.UTF-8")}, {"source": "offline"})
    assert set(found.given("source").values()) == {"git"}
    assert grouped(found.given("locale")) == {"C": "ACDE", "C.UTF-8": "BF"}
    assert found.unvaried == {"source": "offline"}

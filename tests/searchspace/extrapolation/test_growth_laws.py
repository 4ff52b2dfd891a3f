"""How sizes grow with the ranks, from what a few runs show."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from searchspace.extrapolation import NoPattern
from searchspace.extrapolation.growth_laws import Sizes, fit, fit_trips

KNOWN = ((2, 2), (4, 2), (4, 4))


def size(dims: tuple[int, int]) -> float:
    """What a rank of a grid holds of a problem whose sides shrink by a border of 10."""
    return (100 / dims[0] - 10) * (100 / dims[1] - 10)


def test_a_product_of_factors_is_found_where_all_of_them_stay_above_0() -> None:
    assert fit([size(dims) for dims in KNOWN], Sizes(KNOWN, (8, 8))) == pytest.approx(size((8, 8)))


@pytest.mark.parametrize("target", [(16, 16), (32, 32), (64, 64)])
def test_factors_below_0_do_not_make_a_size_together(target: tuple[int, int]) -> None:
    with pytest.raises(NoPattern):
        fit([size(dims) for dims in KNOWN], Sizes(KNOWN, target))


def line(*ranks: int, target: int = 4096) -> Sizes:
    """Runs whose ranks stand in a row."""
    return Sizes(tuple((each,) for each in ranks), (target,))


def log2(ranks: int) -> int:
    """Of a power of two."""
    return ranks.bit_length() - 1


COUNTS: dict[str, Callable[[int], int]] = {
    "all others": lambda p: p - 1,
    "rounds of a tree": log2,
    "ranks on the way to the root": lambda p: log2(p) + 1,
    "ten rounds of a tree": lambda p: 10 * log2(p),
    "a sixteenth and some": lambda p: 4 + p // 16,
    "all and many": lambda p: 100 + p,
}


@pytest.mark.parametrize("ranks", [(16, 32, 64), (16, 64, 256), (64, 128, 256)])
@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_small_counts_grow_by_the_law_that_gives_them_exactly(
    count: Callable[[int], int], ranks: tuple[int, ...]
) -> None:
    values = [float(count(each)) for each in ranks]
    assert fit(values, line(*ranks), whole=True) == count(4096)


@pytest.mark.parametrize("ranks", [(16, 32, 64), (64, 128, 256)])
def test_counts_that_were_rounded_up_are_near_a_power(ranks: tuple[int, ...]) -> None:
    values = [float(math.ceil(1e6 / each)) for each in ranks]
    assert fit(values, line(*ranks), whole=True) == pytest.approx(1e6 / 4096, rel=0.03)


def test_two_counts_that_grow_by_no_exact_law_tell_nothing() -> None:
    with pytest.raises(NoPattern, match="add a capture"):
        fit([7.0, 8.0], line(64, 128), whole=True)


LOOPS: dict[str, Callable[[int], int]] = {
    "a ring": lambda p: p - 1,
    "half of them": lambda p: p // 2,
    "a tree": log2,
    "a tree below the top": lambda p: log2(p) - 1,
    "two trees and back": lambda p: 4 * log2(p),
    "some, then all": lambda p: 20 + p,
    "always": lambda p: 30,
}


@pytest.mark.parametrize("ranks", [(16, 32), (16, 64), (16, 32, 64)])
@pytest.mark.parametrize("rounds", LOOPS.values(), ids=LOOPS)
def test_loops_go_round_by_the_simplest_law(
    rounds: Callable[[int], int], ranks: tuple[int, ...]
) -> None:
    assert fit_trips([rounds(each) for each in ranks], line(*ranks)) == rounds(4096)


def test_loops_along_the_side_of_a_grid() -> None:
    assert fit_trips([3, 7], Sizes(((4, 4), (8, 8)), (32, 32))) == 31


@pytest.mark.parametrize("rounds", [(8, 12), (24, 25)])
def test_two_numbers_of_rounds_that_two_laws_give_tell_nothing(rounds: tuple[int, int]) -> None:
    with pytest.raises(NoPattern, match="more than one law gives; add a capture"):
        fit_trips(rounds, line(16, 32))

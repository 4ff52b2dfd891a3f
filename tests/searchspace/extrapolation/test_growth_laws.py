"""How sizes grow with the ranks, from what a few runs show."""

from __future__ import annotations

import pytest

from searchspace.extrapolation import NoPattern
from searchspace.extrapolation.growth_laws import Sizes, fit

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

"""What the programs declare is what their loops do, and close to NPB's operation counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.applications.conftest import Traffic

Capture = Callable[..., "Traffic"]


def flops(traffic: Capture, program: str, size: str, ranks: int = 1) -> float:
    return traffic(program, size, ranks).summary["flops"]


@pytest.mark.parametrize(("class_", "order", "entries"), [("S", 1400, 7), ("A", 14000, 11)])
def test_cg_is_near_the_official_count(
    traffic: Capture, class_: str, order: int, entries: int
) -> None:
    row = entries * (entries + 1)
    official = 2 * order * (3 + row + 25 * (5 + row) + 3)
    # The untimed step is a sixteenth step; making the matrix comes on top.
    assert flops(traffic, "cg", class_) / (16 * official) == pytest.approx(1.01, abs=0.02)


def test_cg_on_a_grid_repeats_vector_operations_only(traffic: Capture) -> None:
    assert 1.0 < flops(traffic, "cg", "S", 64) / flops(traffic, "cg", "S") < 2.0


@pytest.mark.parametrize(("class_", "points"), [("S", 64**3), ("A", 256 * 256 * 128)])
def test_ft_is_near_the_official_count(traffic: Capture, class_: str, points: int) -> None:
    transform = 7.21113 * math.log(points)
    official = points * (14.8157 + 7.19641 * math.log(points) + (5.23518 + transform) * 6)
    # The untimed first transform is one of eight.
    assert flops(traffic, "ft", class_) / official == pytest.approx(8 / 7 * 0.97, abs=0.02)


@pytest.mark.parametrize("ranks", [4, 64])
def test_ft_splits_its_work_without_overhead(traffic: Capture, ranks: int) -> None:
    assert flops(traffic, "ft", "S", ranks) == pytest.approx(flops(traffic, "ft", "S"), rel=2e-3)


def test_mg_is_near_the_official_count(traffic: Capture) -> None:
    # Four cycles are counted, five are run, and both right-hand sides are made.
    assert 5 / 4 < flops(traffic, "mg", "A") / (58 * 4 * 256**3) < 1.5


def test_is_passes_five_times_over_its_keys(traffic: Capture) -> None:
    keys = 2**16
    ranking = 11 * 5 * keys
    making_and_checking = (16 + 2) * keys
    assert flops(traffic, "is", "S") == pytest.approx(ranking + making_and_checking, rel=0.02)


def iteration(program: str, n: int) -> float:
    """Operations of an iteration by the rule of the program, NPB 3.3.1."""
    if program == "lu":
        return 1984.77 * n**3 - 10923.3 * n**2 + 27770.9 * n - 144010
    if program == "bt":
        return 3478.8 * n**3 - 17655.7 * n**2 + 28023.7 * n
    return 881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4


@pytest.mark.parametrize(
    ("program", "iterations"), [("bt", 60), ("lu", 50), ("sp", 100)], ids=["bt", "lu", "sp"]
)
def test_flow_solvers_declare_the_official_count(
    traffic: Capture, program: str, iterations: int
) -> None:
    official = iteration(program, 12)
    short = traffic(program, "S", 4, 2).summary["flops"]
    whole = flops(traffic, program, "S", 4)
    assert whole - short == pytest.approx((iterations - 2) * official, rel=1e-9)
    # One untimed iteration, making the forcing term and the initial state twice come on top.
    assert 1.0 < whole / (iterations * official) < 1.10


def test_ep_declares_the_official_count(traffic: Capture) -> None:
    assert flops(traffic, "ep", "S", 3) == pytest.approx(26.68e9 * 2 ** (24 - 28))


@pytest.mark.parametrize("ranks", [1, 4, 9, 64])
def test_mm_multiplies_2n_cubed(traffic: Capture, ranks: int) -> None:
    assert flops(traffic, "mm", "1000", ranks) == 2e9 + 9e6

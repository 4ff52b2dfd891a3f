"""The programs send what the NAS Parallel Benchmarks 3.3.1 send, to the message and the byte.

The numbers at 64 ranks were measured on the original programs (NPB 3.3.1, MPI).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.applications.conftest import Traffic

Capture = Callable[[str, str, int], "Traffic"]


def test_cg_at_64_ranks(traffic: Capture) -> None:
    found = traffic("cg", "S", 64)
    assert found.summary["messages"] == 269_312
    assert found.summary["bytes"] == 150_421_504
    assert found.partners == (4, 4)
    assert found.summary["pairs"] == 132
    assert found.collectives == {"bcast": 64, "barrier": 64, "reduce": 64}


@pytest.mark.parametrize(
    ("ranks", "width", "vector"),
    [(1, 1, 1400), (2, 2, 700), (4, 2, 700), (8, 4, 350), (16, 4, 350)],
)
def test_cg_sends_a_fixed_number_of_messages_an_outer_step(
    traffic: Capture, ranks: int, width: int, vector: int
) -> None:
    exchanges = width.bit_length() - 1
    vectors = 26 * (exchanges + 1) if exchanges else 0
    found = traffic("cg", "S", ranks)
    assert found.summary["messages"] == 16 * ranks * (vectors + 53 * exchanges)
    scalars = 52 * exchanges + 2 * exchanges
    assert found.summary["bytes"] == 16 * ranks * 8 * (vectors * vector + scalars)


@pytest.mark.parametrize(
    ("class_", "messages", "payload"), [("S", 26_016, 6_664_704), ("A", 43_296, 315_818_496)]
)
def test_mg_at_64_ranks(traffic: Capture, class_: str, messages: int, payload: int) -> None:
    found = traffic("mg", class_, 64)
    assert found.summary["messages"] == messages
    assert found.summary["bytes"] == payload
    assert found.partners == (6, 9)
    assert found.summary["pairs"] == 204
    assert found.collectives == {"barrier": 384, "bcast": 448, "allreduce": 5632, "reduce": 64}


def layer_bytes(points: int) -> int:
    """What a rank with a cube of `points` a side sends to update the layers around it."""
    whole = points + 2
    return 2 * 8 * (points * points + whole * points + whole * whole)


def test_mg_on_8_ranks_exchanges_each_level_as_often_as_its_cycles_need(traffic: Capture) -> None:
    # Bricks of 16, 8, 4, 2 and 1 points a side; 5 cycles and 9 exchanges of the finest level.
    cycle = (
        2 * layer_bytes(16) + sum(3 * layer_bytes(side) for side in (8, 4, 2)) + 2 * layer_bytes(1)
    )
    found = traffic("mg", "S", 8)
    assert found.summary["messages"] == 8 * 6 * (5 * (2 + 3 + 3 + 3 + 2) + 9)
    assert found.summary["bytes"] == 8 * (5 * cycle + 9 * layer_bytes(16))


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (4, 1_776), (16, 6_704)])
def test_mg_at_other_ranks(traffic: Capture, ranks: int, messages: int) -> None:
    found = traffic("mg", "S", ranks)
    assert found.summary["messages"] == messages
    assert found.collectives == {
        "barrier": 6 * ranks,
        "bcast": 7 * ranks,
        "allreduce": 88 * ranks,
        "reduce": ranks,
    }


@pytest.mark.parametrize("ranks", [4, 8, 16, 64])
def test_is(traffic: Capture, ranks: int) -> None:
    found = traffic("is", "S", ranks)
    assert found.summary["messages"] == ranks - 1
    assert found.summary["bytes"] == 4 * (ranks - 1)
    assert found.partners == (0, 1)
    assert found.summary["pairs"] == ranks - 1
    assert found.collectives == {
        "bcast": ranks,
        "allreduce": 11 * ranks,
        "alltoall": 11 * ranks,
        "alltoallv": 11 * ranks,
        "reduce": 2 * ranks,
    }


@pytest.mark.parametrize(("class_", "ranks"), [("S", 4), ("S", 8), ("S", 16), ("S", 64), ("A", 64)])
def test_ft_needs_one_alltoall_a_transform(traffic: Capture, class_: str, ranks: int) -> None:
    found = traffic("ft", class_, ranks)
    assert found.summary["messages"] == 0
    assert found.collectives == {
        "bcast": 5 * ranks,
        "alltoall": 8 * ranks,
        "barrier": ranks,
        "reduce": 6 * ranks,
    }


def test_ft_needs_two_when_there_are_more_ranks_than_planes(traffic: Capture) -> None:
    assert traffic("ft", "W", 64).collectives["alltoall"] == 2 * 8 * 64


def test_ft_on_one_rank_transposes_alone(traffic: Capture) -> None:
    assert "alltoall" not in traffic("ft", "S", 1).collectives


@pytest.mark.parametrize(("ranks", "steps"), [(1, 16), (4, 16), (9, 18), (64, 16)])
def test_mm_broadcasts_two_panels_a_step(traffic: Capture, ranks: int, steps: int) -> None:
    found = traffic("mm", "1000", ranks)
    assert found.summary["messages"] == 0
    assert found.collectives == {"bcast": 2 * steps * ranks, "barrier": ranks, "reduce": 2 * ranks}

"""The programs send what the NAS Parallel Benchmarks 3.3.1 send, to the message and the byte.

The numbers at 64 ranks were measured on the original programs (NPB 3.3.1, MPI).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from searchspace.formats.operations import decode
from searchspace.formats.trace import read_operations

if TYPE_CHECKING:
    from tests.applications.conftest import Traffic

Capture = Callable[..., "Traffic"]


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


def lu_bytes(n: int, width: int, height: int, iterations: int) -> int:
    """What LU sends on a grid of `width` x `height` ranks, on a cube of n points a side.

    Every cut between two rows of ranks is crossed by all of a plane (faces, two layers deep), by
    its inner points (sweeps), and by what the integral over the surface of an inner box needs.
    """
    cuts = (width - 1) + (height - 1)
    # A forcing term, two first rates of change, one after each of the iterations and the untimed.
    faces = (1 + 2 + iterations + 1) * 2 * cuts * 2 * n * n
    sweeps = (iterations + 1) * 2 * (n - 2) * cuts * (n - 2)
    # Two faces in one message, with a margin of a point along one cut; then single lines.
    integral = (height - 1) * 2 * n + (width - 1) * 2 * (n + 2 * height) + 2 * cuts * n
    return 8 * (5 * (faces + sweeps) + integral)


def test_lu_at_64_ranks(traffic: Capture) -> None:
    found = traffic("lu", "A", 64, 8)
    assert found.summary["messages"] == 127_820
    assert found.summary["bytes"] == lu_bytes(64, 8, 8, 8)
    assert found.partners == (2, 4)
    assert found.summary["pairs"] == 112
    assert found.collectives == {"bcast": 640, "barrier": 128, "allreduce": 640}


@pytest.mark.parametrize(("ranks", "width", "height"), [(2, 2, 1), (4, 2, 2), (16, 4, 4)])
def test_lu_at_other_ranks(traffic: Capture, ranks: int, width: int, height: int) -> None:
    found = traffic("lu", "S", ranks, 2)
    edges = (width - 1) * height + width * (height - 1)
    lines = 2 * (width - 1 + height - 1)
    assert found.summary["messages"] == edges * (2 * 2 * 3 + 3 * 2 * 10 + 1) + lines
    assert found.summary["bytes"] == lu_bytes(12, width, height, 2)
    assert found.collectives == {"bcast": 10 * ranks, "barrier": 2 * ranks, "allreduce": 10 * ranks}


def multi_partition_messages(ranks: int, side: int, iterations: int) -> int:
    """Six faces for each rates of change, a message forth and back between the cells of a line."""
    return ranks * ((iterations + 1) * (6 + 3 * 2 * (side - 1)) + 6)


def multi_partition_faces(n: int, side: int, iterations: int) -> int:
    """Bytes of faces: each cut of the cube is crossed both ways, two layers deep."""
    return (iterations + 2) * 3 * (side - 1) * 2 * 2 * n * n * 5 * 8


def test_sp_at_64_ranks(traffic: Capture) -> None:
    found = traffic("sp", "A", 64, 8)
    assert found.summary["messages"] == multi_partition_messages(64, 8, 8) == 28_032
    # A line takes 22 numbers forth and 10 back; only inner lines are solved.
    sweeps = 9 * 3 * 7 * 62 * 62 * (22 + 10) * 8
    assert found.summary["bytes"] == multi_partition_faces(64, 8, 8) + sweeps
    assert found.partners == (6, 6)
    assert found.summary["pairs"] == 192
    assert found.collectives == {"bcast": 256, "barrier": 128, "allreduce": 128, "reduce": 64}


def test_bt_at_64_ranks(traffic: Capture) -> None:
    # NPB was measured with 200 iterations, which all are alike; a trace of them takes a minute.
    assert multi_partition_messages(64, 8, 200) == 617_856
    found = traffic("bt", "W", 64, 8)
    assert found.summary["messages"] == multi_partition_messages(64, 8, 8)
    # Messages have room for (24 / 8 + 1)^2 lines of 30 numbers forth and 5 back.
    sweeps = 9 * 3 * 7 * 64 * 4 * 4 * (30 + 5) * 8
    assert found.summary["bytes"] == multi_partition_faces(24, 8, 8) + sweeps
    assert found.partners == (6, 6)
    assert found.summary["pairs"] == 192
    assert found.collectives == {"bcast": 384, "barrier": 128, "allreduce": 128, "reduce": 64}


@pytest.mark.parametrize(
    ("program", "ranks", "side"),
    [("bt", 1, 1), ("bt", 4, 2), ("bt", 9, 3), ("sp", 4, 2), ("sp", 16, 4)],
)
def test_multi_partitions_at_other_ranks(
    traffic: Capture, program: str, ranks: int, side: int
) -> None:
    found = traffic(program, "S", ranks, 2)
    messages = multi_partition_messages(ranks, side, 2) if ranks > 1 else 0
    assert found.summary["messages"] == messages
    if program == "bt":
        sweeps = 3 * 3 * (side - 1) * ranks * (12 // side + 1) ** 2 * 35 * 8
    else:
        sweeps = 3 * 3 * (side - 1) * 100 * 32 * 8
    assert found.summary["bytes"] == multi_partition_faces(12, side, 2) + sweeps


@pytest.mark.parametrize("program", ["bt", "lu", "sp"])
def test_timed_iterations_are_marked(traffic: Capture, program: str) -> None:
    trace = traffic(program, "S", 4, 2).trace
    for rank in range(4):
        operations = list(decode(read_operations(trace, rank)))
        levels = [op.fields["level"] for op in operations if op.name == "pcontrol"]
        assert levels == [1, 1, 0]  # the start of each, and the end of the last


@pytest.mark.parametrize("ranks", [3, 64])
def test_ep_meets_at_the_end(traffic: Capture, ranks: int) -> None:
    found = traffic("ep", "S", ranks)
    assert found.summary["messages"] == 0
    assert found.collectives == {"bcast": ranks, "barrier": ranks, "allreduce": 4 * ranks}

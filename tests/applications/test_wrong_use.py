"""Wrong arguments and rank counts end with one plain line and a non-zero status."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("program", ["cg", "ft", "is", "mg"])
@pytest.mark.parametrize("arguments", [(), ("X",), ("s",), ("SS",), ("S", "W")])
def test_kernels_name_the_classes(run_program: Run, program: str, arguments: tuple[str]) -> None:
    result = run_program("mpich", program, 1, *arguments)
    assert result.returncode != 0
    assert result.stderr.startswith(f"{program}: needs one class of S, W, A, B")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("program", ["cg", "ft", "is", "mg"])
def test_kernels_refuse_three_ranks(run_program: Run, program: str) -> None:
    result = run_program("mpich", program, 3, "S")
    assert result.returncode != 0
    assert "class S needs a power of two of ranks" in result.stderr
    assert result.stderr.strip().endswith("not 3")


def test_matrix_product_refuses_ranks_that_are_no_square(run_program: Run) -> None:
    result = run_program("mpich", "mm", 2)
    assert result.returncode != 0
    assert "mm: needs a square number of ranks up to 1000 x 1000, not 2\n" in result.stderr


def test_matrix_product_refuses_a_grid_wider_than_the_matrix(run_program: Run) -> None:
    assert run_program("mpich", "mm", 4, "1").returncode != 0


@pytest.mark.parametrize("order", ["0", "-5", "100001", "ten", "10x", ""])
def test_matrix_product_refuses_other_orders(run_program: Run, order: str) -> None:
    result = run_program("mpich", "mm", 1, order)
    assert result.returncode != 0
    assert "mm: needs an order from 1 to 100000 (usage: mm [N], default 1000)" in result.stderr


@pytest.mark.parametrize("program", ["bt", "ep", "lu", "sp"])
@pytest.mark.parametrize("arguments", [(), ("D",), ("S", "0"), ("S", "2x"), ("S", "2", "3")])
def test_programs_with_class_c_name_it(
    run_program: Run, program: str, arguments: tuple[str, ...]
) -> None:
    result = run_program("mpich", program, 1, *arguments)
    assert result.returncode != 0
    assert result.stderr.startswith(f"{program}: needs one class of S, W, A, B, C")


def test_lu_refuses_pencils_too_thin_for_their_neighbours(run_program: Run) -> None:
    result = run_program("mpich", "lu", 32, "S")
    assert result.returncode != 0
    assert "lu: class S needs a power of two of ranks up to 16, not 32\n" in result.stderr


@pytest.mark.parametrize("program", ["bt", "sp"])
@pytest.mark.parametrize("ranks", [2, 25])
def test_multi_partitions_need_a_square_and_cells_of_three(
    run_program: Run, program: str, ranks: int
) -> None:
    result = run_program("mpich", program, ranks, "S")
    assert result.returncode != 0
    assert f"class S needs a square number of ranks up to 16, not {ranks}\n" in result.stderr

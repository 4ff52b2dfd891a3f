"""The programs compute the right results on real MPI libraries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

KERNELS = ("cg", "ft", "is", "mg")


def assert_verified(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("Verification: successful\n") == 1


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("program", KERNELS)
def test_class_s_verifies_on_open_mpi(run_program: Run, program: str, ranks: int) -> None:
    assert_verified(run_program("openmpi", program, ranks, "S"))


# MPICH's ranks never yield the processor while they wait: more of them than cores take for ever.
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("program", KERNELS)
def test_class_s_verifies_on_mpich(run_program: Run, program: str, ranks: int) -> None:
    assert_verified(run_program("mpich", program, ranks, "S"))


@pytest.mark.parametrize("program", KERNELS)
def test_class_w_verifies(run_program: Run, program: str) -> None:
    assert_verified(run_program("openmpi", program, 4, "W"))


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
@pytest.mark.parametrize("ranks", [1, 4, 9])
def test_matrix_product_has_the_entries_of_its_closed_form(
    run_program: Run, mpi: str, ranks: int
) -> None:
    # 250 is not divisible by 3, and blocks of 125 are more than one panel.
    assert_verified(run_program(mpi, "mm", ranks, "250"))


def test_matrix_product_is_of_order_1000_by_default(run_program: Run) -> None:
    result = run_program("openmpi", "mm", 4)
    assert_verified(result)
    assert result.stdout.startswith("mm 1000 x 1000: 4 ranks\n")


def test_the_report_gives_time_and_rate_of_the_timed_part(run_program: Run) -> None:
    result = run_program("openmpi", "ft", 2, "S")
    assert re.search(r"^Time: \d+\.\d{6} s$", result.stdout, re.MULTILINE)
    assert re.search(r"^Rate: \d+\.\d\d million operations/s$", result.stdout, re.MULTILINE)

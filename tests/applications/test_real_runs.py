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


# On 4 ranks class W runs, and MPICH what needs as many: its ranks spin while they wait, and more of
# them than cores take seconds for what Open MPI does at once.
@pytest.mark.parametrize("ranks", [1, 2, 8])
@pytest.mark.parametrize("program", KERNELS)
def test_class_s_verifies_on_open_mpi(run_program: Run, program: str, ranks: int) -> None:
    assert_verified(run_program("openmpi", program, ranks, "S"))


@pytest.mark.parametrize(
    ("program", "ranks"),
    [*((program, 2) for program in (*KERNELS, "ep", "lu")), ("bt", 4), ("sp", 4)],
)
def test_class_s_verifies_on_mpich(run_program: Run, program: str, ranks: int) -> None:
    assert_verified(run_program("mpich", program, ranks, "S"))


@pytest.mark.parametrize("program", [*KERNELS, "ep"])
def test_class_w_verifies(run_program: Run, program: str) -> None:
    assert_verified(run_program("openmpi", program, 4, "W"))


# LU on 8 ranks has pencils of unequal sides, on 16 pencils of three points; BT and SP on 9 and 16
# have neighbours that differ from each other, on 4 (with MPICH) one that is both before and after.
@pytest.mark.parametrize(
    ("program", "ranks"),
    [
        *(("lu", ranks) for ranks in (1, 8, 16)),
        *((program, ranks) for program in ("bt", "sp") for ranks in (1, 9)),
        ("ep", 3),
    ],
)
def test_class_s_of_the_flow_solvers_and_ep_verifies_on_open_mpi(
    run_program: Run, program: str, ranks: int
) -> None:
    assert_verified(run_program("openmpi", program, ranks, "S"))


@pytest.mark.parametrize("program", ["bt", "lu", "sp"])
def test_another_number_of_iterations_has_no_verification(run_program: Run, program: str) -> None:
    result = run_program("openmpi", program, 1, "S", "3")
    assert result.returncode == 0
    assert "Verification: none (not the iterations of the class)\n" in result.stdout


@pytest.mark.parametrize(("mpi", "ranks"), [("openmpi", 1), ("openmpi", 9), ("mpich", 4)])
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

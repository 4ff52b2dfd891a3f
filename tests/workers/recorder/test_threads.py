"""Programs with threads under SMPI: one of a rank may call MPI."""

from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from workers.capture import CaptureFailed, capture

PROGRAMS = Path(__file__).parent / "programs"
SINGLE, FUNNELED, SERIALIZED, MULTIPLE = "0", "1", "2", "3"


def run(output: Path, *arguments: str, program: str = "threads.c") -> None:
    capture([str(PROGRAMS / program), *arguments], 2, output, compiler_flags=("-pthread",))


@pytest.mark.parametrize("level", [SINGLE, FUNNELED, SERIALIZED])
def test_levels_with_one_thread_at_a_time_are_granted(level: str, tmp_path: Path) -> None:
    run(tmp_path / "t.ht", level)


def test_levels_are_granted_in_fortran(tmp_path: Path) -> None:
    run(tmp_path / "t.ht", program="threads.f90")


def test_several_threads_at_once_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"MPI_THREAD_MULTIPLE is not supported .* recorder"):
        run(tmp_path / "t.ht", MULTIPLE)


def test_the_call_of_a_second_thread_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"another thread than .* calls MPI_Bcast"):
        run(tmp_path / "t.ht", SERIALIZED, "MPI_Bcast")
    with pytest.raises(CaptureFailed, match=r"MPI_Comm_rank is called .* by another thread"):
        run(tmp_path / "t.ht", SERIALIZED, "MPI_Comm_rank")

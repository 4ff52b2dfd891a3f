"""The clock of whole programs tells the time of those in C and in Fortran, once."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from measuring.building import build_preload
from measuring.clusters import Launch, Library
from measuring.mpirun_cluster import MpirunCluster

TEMPLATES: dict[Library, list[str]] = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpiexec.mpich"],
}
IN_C = """
#include <mpi.h>
int main(int argc, char **argv)
{{
  int provided;
  (void)provided;
  {begin};
  return MPI_Finalize();
}}
"""
IN_FORTRAN = """
program timed
  use {module}
  implicit none
  integer :: provided, ierr
  call {begin}
  call {end}
end program
"""
PROGRAMS = {
    "c": IN_C.format(begin="MPI_Init(&argc, &argv)"),
    "c-threads": IN_C.format(begin="MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided)"),
    "mpi": IN_FORTRAN.format(module="mpi", begin="MPI_Init(ierr)", end="MPI_Finalize(ierr)"),
    "mpi-threads": IN_FORTRAN.format(
        module="mpi",
        begin="MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)",
        end="MPI_Finalize(ierr)",
    ),
    "f08": IN_FORTRAN.format(module="mpi_f08", begin="MPI_Init()", end="MPI_Finalize()"),
    "f08-threads": IN_FORTRAN.format(
        module="mpi_f08",
        begin="MPI_Init_thread(MPI_THREAD_FUNNELED, provided)",
        end="MPI_Finalize(ierr)",
    ),
}


@cache
def clock(library: Library, folder: Path) -> Path:
    return build_preload("whole", library, folder / library / "whole.so")


@pytest.mark.parametrize("library", sorted(TEMPLATES))
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_its_time_once(
    library: Library, name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    compiler, ending = ("mpicc", "c") if name.startswith("c") else ("mpifort", "f90")
    source, program = tmp_path / f"program.{ending}", tmp_path / "program"
    source.write_text(PROGRAMS[name])
    subprocess.run([f"{compiler}.{library}", str(source), "-o", str(program)], check=True)

    ran = MpirunCluster(TEMPLATES[library], ["localhost"], 2).run(
        Launch(
            command=[str(program)],
            ranks=2,
            library=library,
            preloaded=[clock(library, tmp_path_factory.getbasetemp())],
            seconds=60,
        )
    )

    (seconds,) = re.findall(r"^whole ([0-9.]+)$", ran.output, re.MULTILINE)
    assert float(seconds) > 0

"""Codes that nobody here wrote, from Debian's source packages, built by their own makefiles."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.programs.comparing import Outcome, compare
from benchmarks.programs.packages import source_package
from workers.capture_build import WRAPPERS
from workers.capture_limits import Limits

__all__ = ["CODES", "Run", "outcome_of"]

_LIMITS = Limits(wall_seconds=300, idle_seconds=60, stall_seconds=120)


@dataclass(frozen=True)
class Run:
    """A code, how it is built, and what is run.

    Attributes:
        package: Of Debian.
        build: Shell command at the root of the source; `$CC` and `$CXX` are MPI's compilers.
        program: What it leaves, from the root.
        arguments: Of the run.
        ranks: On how many.
        inputs: Files of the source that it reads, from the root, by the names it knows them by.
    """

    package: str
    build: str
    program: str
    ranks: int
    arguments: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Package, program and arguments."""
        return " ".join([f"{self.package}/{Path(self.program).name}", *self.arguments])


def _hpcc() -> Run:
    """All of HPC Challenge; it wants a library of BLAS (Debian's libblas-dev)."""
    places = 'TOPdir="$PWD/hpl" MPdir= MPinc= MPlib= LAdir= LAinc= LAlib=-lblas'
    build = (
        "cp hpl/setup/Make.Linux_PII_FBLAS hpl/Make.debian && "
        f'make arch=debian {places} CC="$CC" LINKER="$CC -Wl,-u,main"'
    )
    return Run("hpcc", build, "hpcc", 4, inputs={"hpccinf.txt": "_hpccinf.txt"})


def _hypre(program: str, *arguments: str) -> Run:
    configure = 'SMPI_PRETEND_CC=1 ./configure CC="$CC" CXX="$CXX" --disable-fortran'
    build = f"cd src && {configure} && make && make -C test ij struct"
    return Run("hypre", build, f"src/test/{program}", 8, arguments)


CODES: dict[str, list[Run]] = {
    "hpcc": [_hpcc()],
    "netpipe": [
        Run("netpipe", 'make mpi MPICC="$CC"', "NPmpi", 2, ("-u", "65536", "-n", "5")),
    ],
    "hypre": [
        _hypre("ij", "-n", "10", "10", "10", "-P", "2", "2", "2", "-solver", "1"),
        _hypre("struct", "-n", "8", "8", "8", "-P", "2", "2", "2", "-solver", "10"),
    ],
}
"""Runs by package."""


def outcome_of(run: Run, place: Path) -> Outcome:
    """What becomes of a run of a code."""
    programs = []
    for kind in ("recorded", "plain"):
        root = _built(run, kind == "recorded", place / kind)
        if isinstance(root, str):
            return Outcome("failed", root)
        programs.append([str(root / run.program), *run.arguments])
    for name, source in run.inputs.items():
        shutil.copy(place / "plain" / source, place / name)
    return compare(programs[0], programs[1], run.ranks, place, limits=_LIMITS)


def _built(run: Run, recorded: bool, root: Path) -> Path | str:
    """The root of a source tree that was built, or the end of what the build printed."""
    shutil.copytree(source_package(run.package), root, symlinks=True)
    prefix = f"{WRAPPERS}/hamtune-mpi" if recorded else "smpi"
    # SMPI's macros break programs that declare getopt, which plain smpirun would run otherwise.
    names = "" if recorded else f" -include {WRAPPERS}/helpers.h"
    environment = {"CC": f"{prefix}cc{names}", "CXX": f"{prefix}cxx{names}"}
    done = subprocess.run(
        ["sh", "-c", run.build],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode or not (root / run.program).is_file():
        return (done.stderr.strip() or done.stdout.strip()).splitlines()[-1]
    return root

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
from workers.capture_build import RECORDER, WRAPPERS
from workers.capture_limits import Limits

__all__ = ["CLOCKED", "CODES", "Run", "build", "outcome_of"]

_OURS = {"CC": f"{WRAPPERS}/hamtune-mpicc", "CXX": f"{WRAPPERS}/hamtune-mpicxx"}
_REAL = {"CC": "mpicc.openmpi", "CXX": "mpicxx.openmpi"}
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


def _hypre(program: str, *arguments: str, ranks: int = 8) -> Run:
    configure = './configure CC="$CC" CXX="$CXX" --disable-fortran'
    build = f"cd src && {configure} && make -j2 && make -C test ij struct"
    return Run("hypre", build, f"src/test/{program}", ranks, arguments)


def _fftw(*arguments: str, ranks: int) -> Run:
    """FFTW's own benchmark, which repeats a transform until the clock has told enough."""
    configure = './configure --enable-mpi --disable-fortran --disable-doc CC="$CC" MPICC="$CC"'
    build = f"{configure} && make -j2"
    return Run("fftw3", build, "mpi/mpi-bench", ranks, arguments)


def _lammps(steps: int, ranks: int) -> Run:
    """A liquid of 32,000 atoms, by LAMMPS's own makefile."""
    options = 'CC="$CXX" LINK="$CXX" CCFLAGS="-O2 -std=c++11" LINKFLAGS=-O2'
    build = f"sed -i 's/^run.*/run {steps}/' bench/in.lj && make -j2 -C src mpi {options}"
    inputs = {"in.lj": "bench/in.lj"}
    return Run("lammps", build, "src/lmp_mpi", ranks, ("-in", "in.lj"), inputs)


def _nas(program: str, ranks: int, size: str) -> Run:
    """Programs of the NAS Parallel Benchmarks, less what SimGrid's source put into them."""
    files = f"{program}.c nas_common.c"
    changes = (
        r"/instr\.h/d",
        "/TRACE_smpi/d",
        r"s,smpi/mpi\.h,mpi.h,",
        "s/SMPI_SHARED_MALLOC/malloc/; s/SMPI_SHARED_FREE/free/",
        r"s/SMPI_SAMPLE_GLOBAL(\([^,]*\),\([^,]*\),\([^,]*\),.*{/for(\1;\2;\3){/",
    )
    build = (
        f"cd examples/smpi/NAS && sed -i '{'; '.join(changes)}' {files} && "
        f"$CC -O2 {files} -lm -o {program}"
    )
    return Run("simgrid", build, f"examples/smpi/NAS/{program}", ranks, (str(ranks), size))


CODES: dict[str, list[Run]] = {
    "hpcc": [_hpcc()],
    "netpipe": [
        Run("netpipe", 'make mpi MPICC="$CC"', "NPmpi", 2, ("-u", "65536", "-n", "5")),
    ],
    "hypre": [
        _hypre("ij", "-n", "10", "10", "10", "-P", "2", "2", "2", "-solver", "1"),
        _hypre("struct", "-n", "8", "8", "8", "-P", "2", "2", "2", "-solver", "10"),
    ],
    "fftw3": [_fftw("-oestimate", "-y", "16x16x16", ranks=4)],
    "lammps": [_lammps(10, ranks=4)],
    "simgrid": [_nas("is", 4, "S"), _nas("ep", 4, "S")],
}
"""Runs by package."""

CLOCKED: list[tuple[Run, str, float]] = [
    (
        _hypre("ij", "-n", "60", "60", "60", "-P", "2", "1", "1", "-solver", "1", ranks=2),
        r"wall clock time = ([0-9.]+) seconds",
        1.0,
    ),
    (
        _hypre("struct", "-n", "60", "60", "60", "-P", "2", "1", "1", "-solver", "10", ranks=2),
        r"wall clock time = ([0-9.]+) seconds",
        1.0,
    ),
    (_fftw("-oestimate", "-s", "128x128x128", ranks=2), r" time: ([0-9.]+) ms", 1e-3),
    (_lammps(100, ranks=2), r"Loop time of ([0-9.]+) on 2 procs", 1.0),
    (_nas("is", 2, "B"), r"Time in seconds = +([0-9.]+)", 1.0),
    (_nas("ep", 2, "W"), r"Time in seconds = +([0-9.]+)", 1.0),
]
"""Runs that tell how long they took, what of their output does, and its unit; times add up."""


def outcome_of(run: Run, place: Path) -> Outcome:
    """What becomes of a run of a code."""
    programs = []
    for kind in ("recorded", "plain"):
        root = build(run, kind, place / kind)
        if isinstance(root, str):
            return Outcome("failed", root)
        programs.append([str(root / run.program), *run.arguments])
    for name, source in run.inputs.items():
        shutil.copy(place / "plain" / source, place / name)
    inputs = [place / name for name in run.inputs]
    return compare(programs[0], programs[1], run.ranks, place, inputs=inputs, limits=_LIMITS)


def build(run: Run, kind: str, root: Path) -> Path | str:
    """Build a copy of a source tree.

    Args:
        run: What for.
        kind: `recorded`, for captures; `plain`, for smpirun; `openmpi`, for mpirun.
        root: Of the copy.

    Returns:
        The root, or the end of what the build printed where that failed.
    """
    shutil.copytree(source_package(run.package), root, symlinks=True)
    environment = {**os.environ, **(_REAL if kind == "openmpi" else _OURS)}
    if kind == "plain":  # the same compilers, with nothing for a recorder but its random numbers
        nothing = root.parent / "nothing.o"
        subprocess.run(["cc", "-xc", "-c", "/dev/null", "-o", str(nothing)], check=True)
        shutil.copy(RECORDER / "libhamtune_random.a", nothing.parent)
        environment["HAMTUNE_RECORDER"] = str(nothing)
    done = subprocess.run(
        ["sh", "-c", run.build],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode or not (root / run.program).is_file():
        return (done.stderr.strip() or done.stdout.strip()).splitlines()[-1]
    return root

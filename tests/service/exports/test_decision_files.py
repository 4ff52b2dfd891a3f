"""Decision files as real MPI libraries follow them: Debian's Open MPI and MPICH."""

from __future__ import annotations

import ctypes.util
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from searchspace.collectives.decision_table import Line, Row
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from tests.service.exports.conftest import Ran, run
from tests.service.exports.traffic import Bytes, equal, monitored, simulated

RANKS = 6
SMALL, LARGE = 384, 76_800
"""Bytes of the two calls that `collectives.c` makes; of a scattered vector, that of one rank."""

BY_SIZE = {
    "allgather": ("ompi_neighborexchange", "bruck"),
    "allreduce": ("lr", "rdb"),
    "alltoall": ("bruck", "ring"),
    "bcast": ("ompi_chain_whole", "flattree"),
    "gather": ("ompi_binomial", "ompi_basic_linear"),
    "reduce": ("flat_tree", "ompi_chain_whole"),
    "reduce_scatter": ("ompi_ring", "ompi_basic_recursivehalving"),
    "scatter": ("ompi_binomial", "ompi_basic_linear"),
}
"""For each collective an algorithm for small calls, and one for large calls."""


def open_mpi(lines: Mapping[str, tuple[Line, ...]], program: Path, folder: Path) -> Bytes:
    """What Open MPI moves when it reads the file of a table."""
    table = {name: (Row(RANKS, of),) for name, of in lines.items()}
    folder.mkdir(parents=True)
    file = folder / "dynamic-rules.conf"
    written = DECISION_FILES["openmpi"].write(table, TARGETS["openmpi-4.1"], ["Whence"], None)
    file.write_text(written)
    ran, found = monitored(
        ["mpirun.openmpi", "--oversubscribe", "-np", str(RANKS), program, *lines],
        RANKS,
        folder,
        OMPI_MCA_coll_tuned_use_dynamic_rules="1",
        OMPI_MCA_coll_tuned_dynamic_rules_filename=str(file),
    )
    assert ran.right, ran.errors
    return found


def test_open_mpi_runs_at_each_size_what_the_file_says(
    compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    program = compiled("mpicc.openmpi")
    for name, (small, large) in BY_SIZE.items():
        factor = RANKS if name == "reduce_scatter" else 1
        between = (SMALL + LARGE) // 2 * factor
        folder = tmp_path / name
        found = open_mpi({name: (Line(0, small), Line(between, large))}, program, folder / "both")

        # Of each algorithm alone there are both calls; the small one is 1/200 of the large one.
        alone = {one: simulated({name: one}, RANKS, folder / one) for one in (small, large)}
        unlike = np.abs(alone[small] - alone[large]).sum()
        assert np.abs(found - alone[large]).sum() < 0.05 * unlike, name
        assert not equal(found, alone[large]), f"{name}: small calls run by {large}"


def test_a_line_begins_at_its_bytes(compiled: Callable[[str], Path], tmp_path: Path) -> None:
    program = compiled("mpicc.openmpi")
    for name, (small, large) in BY_SIZE.items():
        size = LARGE * (RANKS if name == "reduce_scatter" else 1)
        alone = {
            one: simulated({name: one}, RANKS, tmp_path / name / one) for one in (small, large)
        }
        unlike = np.abs(alone[small] - alone[large]).sum()
        for begin, one in ((size, large), (size + 1, small)):
            lines = (Line(0, small), Line(begin, large))
            found = open_mpi({name: lines}, program, tmp_path / name / str(begin))
            assert np.abs(found - alone[one]).sum() < 0.05 * unlike, (name, begin)


def mpich(lines: tuple[Line, ...], ranks: int, program: Path, folder: Path) -> Ran:
    """A program of all collectives, with MPICH's file for allgather."""
    named = ctypes.util.find_library("mpich")
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    library = next(line.split()[-1] for line in listed.splitlines() if str(named) in line)
    file = folder / "selection.json"
    table = {"allgather": (Row(2, lines),), "allreduce": (Row(2, (Line(0, "rab_rdb"),)),)}
    write = DECISION_FILES["mpich"].write
    file.write_text(write(table, TARGETS["mpich-4.0"], [], Path(library)))
    called = ["allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce_scatter"]
    return run(
        ["mpiexec.mpich", "-n", str(ranks), program, *called],
        HYDRA_LAUNCHER="fork",
        MPIR_CVAR_DEVICE_COLLECTIVES="none",
        MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=str(file),
    )


@pytest.mark.parametrize(
    ("begin", "ranks", "stops"),
    [(LARGE * 3 // 2 + 1, 3, False), (LARGE * 3 // 2, 3, True), (LARGE * 3 // 2, 4, False)],
)
def test_mpich_runs_at_each_size_what_the_file_says(
    begin: int, ranks: int, stops: bool, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    # Recursive doubling stops a program of 3 ranks: so it can be seen whether it runs. The library
    # counts the bytes of all ranks, and the row is for 2.
    lines = (Line(0, "bruck"), Line(begin, "rdb"))
    ran = mpich(lines, ranks, compiled("mpicc.mpich"), tmp_path)
    if stops:
        assert ran.status != 0
        assert "allgather_intra_recursive_doubling" in ran.errors + ran.output
    else:
        assert ran.right, ran.errors

"""Decision files as real MPI libraries follow them: Debian's Open MPI and MPICH."""

from __future__ import annotations

import ctypes.util
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from searchspace.collectives.decision_table import SIZED, DecisionTable, Line, Row
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from tests.service.exports.conftest import Ran, run
from tests.service.exports.traffic import Bytes, equal, monitored, simulated
from workers.decision_tables import decide_collectives

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


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("allreduce", "ompi_ring_segmented"),
        ("bcast", "ompi_binary_tree_segmented"),
        ("bcast", "ompi_four_chains"),
        ("bcast", "NTSL"),
        ("reduce", "ompi_binary"),
        ("reduce", "ompi_chain_segmented"),
        ("reduce", "ompi_four_chains"),
    ],
)
def test_a_line_says_all_that_the_algorithm_takes(
    collective: str, algorithm: str, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    program = compiled("mpicc.openmpi")
    found = open_mpi({collective: (Line(0, algorithm),)}, program, tmp_path / "ruled")
    assert equal(found, simulated({collective: algorithm}, RANKS, tmp_path / "alone"))


def in_order(ranks: int, collective: str, algorithm: str, compiled: Callable[..., Path]) -> bool:
    """Whether Open MPI reduces rightly by an operation that does not commute."""
    target = TARGETS["openmpi-4.1"]
    forced = target.equivalent(collective, algorithm, (ranks,)).settings or {}
    settings = {
        f"OMPI_MCA_{name}": value for name, value in {**dict(target.always), **forced}.items()
    }
    program = compiled("mpicc.openmpi", "ordered.c")
    start = ("mpirun.openmpi", "--oversubscribe", "-np", str(ranks))
    command: list[str | Path] = [*start, program, collective]
    return run(command, **settings).right


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        (name, one)
        for said in (TARGETS["openmpi-4.1"].in_order, TARGETS["openmpi-4.1"].falls_back)
        for name, of in said.items()
        for one in sorted(of)
    ],
)
def test_what_is_said_to_keep_the_order_of_ranks_does(
    collective: str, algorithm: str, compiled: Callable[..., Path]
) -> None:
    assert in_order(5, collective, algorithm, compiled)


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("allreduce", "lr"), ("reduce", "binomial"), ("reduce_scatter", "ompi_ring")],
)
def test_others_do_not(collective: str, algorithm: str, compiled: Callable[..., Path]) -> None:
    assert not in_order(5, collective, algorithm, compiled)


@pytest.fixture(scope="module")
def of_a_cluster() -> DecisionTable:
    """The table of a small ring, for communicators of 2, 4 and 8 ranks."""
    described = {"nodes": 8, "degree": 2, "host_speed": "10Gf", "link_bandwidth": "10Gbps"}
    machine = parse_machine(described).simulated_by("packets")
    resolved = resolve(Configuration({"topology": "ring"}), machine, 8)
    sizes = {name: dict.fromkeys((2, 4, 8), (64, 4096, 65_536)) for name in SIZED}
    return decide_collectives(resolved, TARGETS["openmpi-4.1"], sizes).table


@pytest.mark.parametrize("ranks", [3, 4, 5, 8])
@pytest.mark.parametrize(
    ("source", "called"),
    [
        ("in_place.c", ()),
        ("ordered.c", ("allreduce", "reduce", "reduce_scatter")),
        ("collectives.c", SIZED),
    ],
)
def test_programs_of_any_number_of_ranks_are_right_under_a_clusters_file(
    source: str,
    called: tuple[str, ...],
    ranks: int,
    of_a_cluster: DecisionTable,
    compiled: Callable[..., Path],
    tmp_path: Path,
) -> None:
    file = tmp_path / "dynamic-rules.conf"
    write = DECISION_FILES["openmpi"].write
    file.write_text(write(of_a_cluster, TARGETS["openmpi-4.1"], ["Whence"], None))
    program = compiled("mpicc.openmpi", source)
    ran = run(
        ["mpirun.openmpi", "--oversubscribe", "-np", str(ranks), program, *called],
        OMPI_MCA_coll_tuned_use_dynamic_rules="1",
        OMPI_MCA_coll_tuned_dynamic_rules_filename=str(file),
    )
    assert ran.right, ran.errors


def mpich(lines: tuple[Line, ...], ranks: int, program: Path, folder: Path) -> Ran:
    """A program of all collectives, with MPICH's file for allgather.

    In the place of a ring the file names what stops a program where ranks are no power of two, so
    that it can be seen whether that line was taken.
    """
    named = ctypes.util.find_library("mpich")
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    library = next(line.split()[-1] for line in listed.splitlines() if str(named) in line)
    file = folder / "selection.json"
    table = {"allgather": (Row(3, lines),), "allreduce": (Row(2, (Line(0, "rab_rdb"),)),)}
    text = DECISION_FILES["mpich"].write(table, TARGETS["mpich-4.0"], [], Path(library))
    file.write_text(text.replace("Allgather_intra_ring", "Allgather_intra_recursive_doubling"))
    called = ["allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce_scatter"]
    return run(
        ["mpiexec.mpich", "-n", str(ranks), program, *called],
        HYDRA_LAUNCHER="fork",
        MPIR_CVAR_DEVICE_COLLECTIVES="none",
        MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=str(file),
    )


@pytest.mark.parametrize(
    ("begin", "ranks", "stops"), [(LARGE + 1, 3, False), (LARGE, 3, True), (LARGE, 4, False)]
)
def test_mpich_runs_at_each_size_what_the_file_says(
    begin: int, ranks: int, stops: bool, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    lines = (Line(0, "bruck"), Line(begin, "NTSLR"))
    ran = mpich(lines, ranks, compiled("mpicc.mpich"), tmp_path)
    if stops:
        assert ran.status != 0
        assert "allgather_intra_recursive_doubling" in ran.errors + ran.output
    else:
        assert ran.right, ran.errors

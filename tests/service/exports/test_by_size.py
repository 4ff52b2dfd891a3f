"""Algorithms by message size, exported, and followed by real MPI libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from measuring.plans import check_plan, write_export
from searchspace.collectives.equivalents import TARGETS
from searchspace.configuration import Configuration
from service.agents.plans import plan_of
from storage.errors import Conflict
from storage.storage import Storage
from tests.service.exports.conftest import Exported, Solve, write_calls
from tests.service.exports.traffic import equal, monitored, replayed

RANKS = 4
BETWEEN = 10_000
"""Bytes between those of the two calls that `collectives.c` makes of each collective."""

FOUND: Mapping[str, str] = {
    "collectives.allgather": "NTSLR",
    f"collectives.allgather@{BETWEEN}": "bruck",
    "collectives.allreduce": "rdb",
    f"collectives.allreduce@{BETWEEN}": "lr",
    "collectives.bcast": "ompi_chain_whole",
    f"collectives.bcast@{BETWEEN}": "flattree",
    "collectives.gather": "ompi_binomial",
}
CALLED = ("allgather", "allreduce", "bcast", "gather")
MACHINE = {
    "nodes": RANKS,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "topology": {"edges": [[0, 1], [1, 2], [2, 3], [0, 3]]},
}


@pytest.fixture
def job(solve: Solve) -> str:
    """A job that has found algorithms by size."""
    chosen = {"topology": "given", "mpi": "openmpi-4.1", **FOUND}
    return solve(chosen, ranks=RANKS, collectives=CALLED, machine=MACHINE)


def test_open_mpi_runs_at_each_size_what_was_found(
    job: str,
    exported: Callable[..., Exported],
    compiled: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    export = exported(job, "openmpi", hosts="n0 n1 n2 n3", target=TARGETS["openmpi-4.1"])
    command: list[str | Path] = [export.folder / "mpirun.sh", compiled("mpicc.openmpi"), *CALLED]

    ran, real = monitored(command, RANKS, tmp_path / "real", HOME=str(tmp_path))

    assert ran.right, ran.errors
    trace = write_calls(tmp_path / "calls.ht", CALLED, RANKS)
    assert equal(real, replayed(trace, RANKS, Configuration(FOUND)))
    for one in FOUND:  # each of them counts
        fewer = Configuration({name: value for name, value in FOUND.items() if name != one})
        assert one.endswith("gather") or not equal(real, replayed(trace, RANKS, fewer)), one


def test_the_parameters_say_where_what_they_cannot_say_is(
    job: str, exported: Callable[..., Exported]
) -> None:
    export = exported(job, "openmpi", target=TARGETS["openmpi-4.1"])

    settings = export.settings("mca-params.conf")
    assert "coll_tuned_gather_algorithm = binomial" in settings
    assert not any("allgather" in line or "bcast" in line for line in settings)
    assert "coll_tuned_dynamic_rules_filename" in export.text("mca-params.conf").splitlines()[-1]
    readme = export.text("README.txt")
    assert "allreduce from 9.766 KiB = lr: same ring" in readme
    assert "Choices by size are in dynamic-rules.conf alone" in readme


def test_intel_mpi_gets_ranges(solve: Solve, exported: Callable[..., Exported]) -> None:
    chosen = {
        "topology": "given",
        "mpi": "impi",
        "collectives.allreduce": "rdb",
        f"collectives.allreduce@{BETWEEN}": "rab_rdb",
    }
    job_id = solve(chosen, ranks=RANKS, collectives=("allreduce",), machine=MACHINE)
    lines = exported(job_id, "intelmpi", target=TARGETS["intelmpi-2021"]).settings("environment.sh")
    (named,) = (line for line in lines if "ALLREDUCE" in line)
    assert named == (
        "export I_MPI_ADJUST_ALLREDUCE="
        f"'1:0-{BETWEEN - 1}@2-2147483647;2:{BETWEEN}-2147483647@2-2147483647'"
    )


def test_a_library_without_ranges_is_refused_and_may_get_the_nearest(
    job: str, exported: Callable[..., Exported]
) -> None:
    with pytest.raises(Conflict, match=r"MVAPICH2 2\.3 has no public form of ranges"):
        exported(job, "mvapich2", target=TARGETS["mvapich2-2.3"])
    nearest = exported(job, "mvapich2", target=TARGETS["mvapich2-2.3"], nearest=True)
    assert "comes nearest" in nearest.text("README.txt")


def test_mpich_is_told_where_its_file_comes_from(
    job: str, exported: Callable[..., Exported]
) -> None:
    export = exported(job, "mpich", target=TARGETS["mpich-4.0"], nearest=True)
    assert "hamtune rules --job" in export.text("README.txt")
    assert "coll-selection.json" in export.text("mpiexec.sh")


def test_plain_smpirun_is_said_not_to_have_them(
    job: str, exported: Callable[..., Exported]
) -> None:
    export = exported(job, "simgrid")
    assert "allgather by size, " in export.text("README.txt")
    assert "smpi/allreduce" not in export.text("run.sh")
    assert "smpi/gather:ompi_binomial" in export.text("run.sh")


def test_an_agent_is_told_of_ranges_and_of_them_alone(
    storage: Storage,
    job: str,
    compiled: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    plan = plan_of(storage, job, 1, "openmpi-4.1")
    assert plan["settings"]["coll_tuned_gather_algorithm"] == "binomial"
    assert plan["rules"]["allreduce"] == {"4": [[0, 3, 0], [BETWEEN, 4, 0]], "5": [[0, 0, 0]]}
    check_plan(plan, "openmpi", RANKS, 1)
    write_export(plan, "openmpi", ["n0", "n1", "n2", "n3"], tmp_path)
    parameters = {"OMPI_MCA_mca_base_param_files": str(tmp_path / "mca-params.conf")}
    command: list[str | Path] = [tmp_path / "mpirun.sh", compiled("mpicc.openmpi"), *CALLED]

    ran, real = monitored(command, RANKS, tmp_path / "real", HOME=str(tmp_path), **parameters)

    assert ran.right, ran.errors
    trace = write_calls(tmp_path / "calls.ht", CALLED, RANKS)
    assert equal(real, replayed(trace, RANKS, Configuration(FOUND)))


def test_an_agent_does_not_measure_ranges_that_it_cannot_say(
    storage: Storage, solve: Solve
) -> None:
    chosen = {"topology": "given", "mpi": "mpich-4.0", "collectives.allreduce@4096": "rdb"}
    job_id = solve(chosen, ranks=RANKS, collectives=("allreduce",), machine=MACHINE)
    with pytest.raises(Conflict, match="an agent does not write"):
        plan_of(storage, job_id, 1, "mpich-4.0")


def test_ranges_that_are_all_left_to_the_library_name_no_file(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    chosen = {"topology": "given", "mpi": "openmpi-4.1", "collectives.gather@4096": "ompi_binomial"}
    job_id = solve(chosen, ranks=RANKS, collectives=("gather",), machine=MACHINE)
    nearest = exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"], nearest=True)
    assert "dynamic_rules_filename" not in nearest.text("mpirun.sh")
    plain = exported(job_id, "openmpi")
    assert "one algorithm for all sizes; left to the library" in plain.text("README.txt")
    assert "dynamic_rules_filename" not in plain.text("mpirun.sh") + plain.text("mca-params.conf")

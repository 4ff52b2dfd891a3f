"""The format `mpich`, used as its README says and confirmed by Debian's MPICH."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.collectives.equivalents import TARGETS
from tests.service.exports.conftest import Exported, Ran, Solve, run

HOSTS = "n[3,1,0,2]"
PLACES = ["n3", "n1", "n0", "n2"]
ENTRIES = {**TARGETS["mpich-4.0"].entries, **TARGETS["mpich-4.0"].apart}


def mpich(
    solve: Solve, exported: Callable[..., Exported], ranks: int, **collectives: str
) -> Exported:
    job_id = solve(
        {"topology": "random", "collectives": collectives},
        ranks=ranks,
        collectives=tuple(collectives),
        machine={"nodes": 4, "degree": 2, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    )
    return exported(job_id, "mpich", hosts=HOSTS)


def start(export: Exported, program: Path, *arguments: str, **environment: str) -> Ran:
    """Run a program as the export does, with the values of all variables in its errors."""
    script = export.folder / "mpiexec.sh"
    return run([script, program, *arguments], MPIR_CVAR_DEBUG_CVARS="1", **environment)


def test_the_library_takes_every_variable_and_the_ranks_run_where_they_should(
    solve: Solve, exported: Callable[..., Exported], compiled: Callable[[str], Path]
) -> None:
    chosen = {
        "alltoall": "bruck",
        "allreduce": "rab_rdb",
        "allgather": "rdb",
        "gather": "ompi_binomial",
    }
    export = mpich(solve, exported, 4, **chosen)

    ran = start(export, compiled("mpicc.mpich"), *chosen)

    assert ran.right, ran.errors
    assert ran.hosts == PLACES
    taken = dict(re.findall(r"^CVAR: (\w+) = (\S+)$", ran.output, re.MULTILINE))
    for line in export.settings("environment.sh"):
        name, _, value = line.removeprefix("export ").partition("=")
        assert taken[name] == value


@pytest.mark.parametrize(("ranks", "falls_back"), [(4, False), (3, True)])
def test_a_choice_that_does_not_apply_is_told_of(
    solve: Solve,
    exported: Callable[..., Exported],
    compiled: Callable[[str], Path],
    ranks: int,
    falls_back: bool,
) -> None:
    export = mpich(solve, exported, 4, allgather="rdb")
    script = export.folder / "mpiexec.sh"
    script.write_text(script.read_text().replace(" -n 4 ", f" -n {ranks} "))

    ran = start(export, compiled("mpicc.mpich"), "allgather")

    assert ran.right
    assert ("recursive_doubling cannot be applied" in ran.errors) == falls_back


@pytest.mark.parametrize("column", range(max(map(len, ENTRIES.values()))))
def test_every_algorithm_exists_and_gives_right_data(
    column: int, compiled: Callable[[str], Path]
) -> None:
    settings = dict(TARGETS["mpich-4.0"].always)
    for collective, lines in ENTRIES.items():
        name = list(lines)[column % len(lines)]
        settings |= TARGETS["mpich-4.0"].equivalent(collective, name, (4,)).settings or {}

    program = compiled("mpicc.mpich")
    command: list[str | Path] = ["mpiexec.mpich", "-n", "4", program, *ENTRIES]
    ran = run(command, HYDRA_LAUNCHER="fork", **settings)

    assert ran.right, ran.errors
    # Of these ranks on one host, only the algorithms for several hosts have nothing to do.
    refused = set(re.findall(r"^(\w+ \w+) cannot be applied", ran.errors, re.MULTILINE))
    assert all(choice.endswith(" smp") for choice in refused)


def test_a_wrong_name_aborts(
    solve: Solve, exported: Callable[..., Exported], compiled: Callable[[str], Path]
) -> None:
    export = mpich(solve, exported, 4, alltoall="bruck")
    path = export.folder / "environment.sh"
    path.write_text(path.read_text().replace("=brucks", "=bruck"))

    ran = start(export, compiled("mpicc.mpich"), "alltoall")

    assert ran.status != 0
    assert "Invalid MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM value (bruck)" in ran.errors

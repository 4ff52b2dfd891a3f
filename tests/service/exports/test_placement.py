"""Names of hosts that would be read as something else in the files of launchers and schedulers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.exports.formats import FORMATS
from storage.errors import Conflict
from tests.service.exports.conftest import Exported, Solve

PLACED = ("openmpi", "mpich", "mvapich2", "intelmpi", "slurm", "cray")
MACHINE = {
    "nodes": 3,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "cores_per_host": 2,
}


def job(solve: Solve, *names: str, ranks: int = 6) -> str:
    """A job on three hosts in a row that have these names."""
    topology = {"edges": [[0, 1], [1, 2]], "host_names": [*names]}
    return solve({"topology": "given"}, ranks=ranks, machine={**MACHINE, "topology": topology})


@pytest.mark.parametrize("name", ["node 1", "n2 # b", "a,b", "n[1]", "n1\nn9", "-n1", "n1 slots=9"])
def test_a_host_name_that_files_do_not_take_is_refused(
    solve: Solve, exported: Callable[..., Exported], name: str
) -> None:
    job_id = job(solve, "n0", name, "n2")

    for format_name in PLACED:
        with pytest.raises(Conflict) as refused:
            exported(job_id, format_name)
        assert str(refused.value) == (
            f"the host name {name!r} of the machine cannot stand in files of {format_name}; name "
            "the hosts with --hosts, by letters, digits, '.', '-' and '_'"
        )
        assert exported(job_id, format_name, hosts="a b c").files
    everything = exported(job_id, "all")
    folders = {file.partition("/")[0] for file in everything.files}
    assert folders == {"README.txt", *FORMATS} - {*PLACED}
    assert everything.text("README.txt").count(f": the host name {name!r} of the") == len(PLACED)


def test_the_name_of_an_idle_host_counts_where_it_is_written(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    job_id = job(solve, "n0", "n1", "gateway 1", ranks=4)

    assert exported(job_id, "openmpi").text("hostfile") == "n0 slots=2\nn1 slots=2\n"
    with pytest.raises(Conflict, match="the host name 'gateway 1' of the machine"):
        exported(job_id, "slurm")

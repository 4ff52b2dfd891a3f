"""The format `openmpi`, installed as its README says and confirmed by Debian's Open MPI."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.collectives.equivalents import TARGETS
from tests.service.exports.conftest import Exported, Solve, run
from tests.service.exports.traffic import equal, monitored, simulated

HOSTS = "n3 n1\nn0 # the first rack\nn2\n"
CHOSEN = {
    "alltoall": "bruck",
    "allreduce": "rab",
    "bcast": "flattree",
    "allgather": "NTSLR",
}
MACHINE = {
    "nodes": 4,
    "cores_per_host": 2,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "topology": {"edges": [[0, 1], [1, 2], [2, 3], [0, 3]]},
}
PLACES = ["n3", "n1", "n0", "n2", "n3", "n1"]


@pytest.fixture
def openmpi(solve: Solve, exported: Callable[..., Exported]) -> Exported:
    """Six ranks, round robin on four hosts."""
    job_id = solve(
        {"topology": "given", "mapping": "round-robin", "collectives": CHOSEN},
        ranks=6,
        collectives=tuple(CHOSEN),
        machine=MACHINE,
    )
    return exported(job_id, "openmpi", hosts=HOSTS)


def install(export: Exported, home: Path, *, without: str = "\n") -> dict[str, str]:
    """Append the parameters to the user's file; what to set so that it is read."""
    lines = export.text("mca-params.conf").splitlines(keepends=True)
    (home / ".openmpi").mkdir(parents=True)
    kept = "".join(line for line in lines if not line.startswith(without))
    (home / ".openmpi/mca-params.conf").write_text(kept)
    return {"HOME": str(home)}


def shown(home: Path) -> dict[str, tuple[str, str]]:
    """Value and source of each parameter, as `ompi_info` tells."""
    command = ["ompi_info", "--param", "coll", "tuned", "--level", "9", "--parsable"]
    done = subprocess.run(
        command, env={**os.environ, "HOME": str(home)}, capture_output=True, text=True, check=True
    )
    found: dict[str, dict[str, str]] = {}
    for line in done.stdout.splitlines():
        words = line.split(":", 6)
        if len(words) > 6 and words[5] in ("value", "source"):
            found.setdefault(words[4], {})[words[5]] = words[6]
    return {name: (told["value"], told["source"]) for name, told in found.items()}


def test_the_library_reads_every_parameter(openmpi: Exported, tmp_path: Path) -> None:
    install(openmpi, tmp_path / "home")
    told = shown(tmp_path / "home")

    for line in openmpi.settings("mca-params.conf"):
        name, _, value = line.partition(" = ")
        assert told[name][0] in (value, {"1": "true"}.get(value))
        assert told[name][1].startswith("file")
    assert told["coll_tuned_gather_algorithm"] == ("ignore", "default")


def test_the_ranks_run_where_they_should_under_the_algorithms_chosen(
    openmpi: Exported, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    environment = install(openmpi, tmp_path / "home")
    command: list[str | Path] = [openmpi.folder / "mpirun.sh", compiled("mpicc.openmpi"), *CHOSEN]

    ran, real = monitored(command, 6, tmp_path / "real", **environment)

    assert ran.right, ran.errors
    assert ran.hosts == PLACES
    assert equal(real, simulated(CHOSEN, 6, tmp_path / "simulated"))


def test_without_dynamic_rules_the_choices_are_seen_to_be_ignored(
    openmpi: Exported, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    environment = install(openmpi, tmp_path / "home", without="coll_tuned_use_dynamic_rules")
    command: list[str | Path] = [openmpi.folder / "mpirun.sh", compiled("mpicc.openmpi"), *CHOSEN]

    ran, real = monitored(command, 6, tmp_path / "real", **environment)

    assert ran.right
    assert not equal(real, simulated(CHOSEN, 6, tmp_path / "simulated"))


@pytest.mark.parametrize(("ranks", "ruled"), [(6, True), (5, False)])
def test_dynamic_rules_hold_for_the_sizes_that_were_simulated(
    openmpi: Exported,
    compiled: Callable[[str], Path],
    tmp_path: Path,
    ranks: int,
    ruled: bool,
) -> None:
    command = ["mpirun.openmpi", "--oversubscribe", "-np", str(ranks)]
    command += ["--mca", "coll_tuned_use_dynamic_rules", "1"]
    rules = openmpi.folder / "dynamic-rules.conf"
    command += ["--mca", "coll_tuned_dynamic_rules_filename", str(rules)]
    program = [str(compiled("mpicc.openmpi")), *CHOSEN]

    ran, real = monitored([*command, *program], ranks, tmp_path / "real", HOME=str(tmp_path))

    assert ran.right, ran.errors
    assert equal(real, simulated(CHOSEN, ranks, tmp_path / "simulated")) == ruled


def test_a_wrong_host_in_the_rankfile_is_seen(
    openmpi: Exported, compiled: Callable[[str], Path]
) -> None:
    path = openmpi.folder / "rankfile"
    path.write_text(path.read_text().replace("rank 1=n1 slot=0", "rank 1=n2 slot=1"))

    ran = run([openmpi.folder / "mpirun.sh", compiled("mpicc.openmpi"), "barrier"])

    assert len(ran.hosts) in (0, 6)
    assert ran.hosts != PLACES


@pytest.mark.parametrize(("cores", "fits"), [(4, True), (2, False)])
def test_the_slots_exist_on_a_node_that_hwloc_describes(
    solve: Solve, exported: Callable[..., Exported], tmp_path: Path, cores: int, fits: bool
) -> None:
    machine = {**MACHINE, "cores_per_host": 4, "nodes": 2, "topology": {"edges": [[0, 1]]}}
    export = exported(
        solve({"topology": "given"}, ranks=6, machine=machine), "openmpi", hosts="a b"
    )
    node = tmp_path / "node.xml"
    synthetic = f"pack:1 numa:1 l3:1 core:{cores} pu:1"
    command = ["lstopo-no-graphics", "-i", synthetic, "--of", "xml", str(node)]
    subprocess.run(command, check=True)
    listed = subprocess.run(
        ["lstopo-no-graphics", "-i", node, "--only", "core"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(listed.stdout.splitlines()) == cores

    environment = {"HWLOC_XMLFILE": str(node), "HWLOC_COMPONENTS": "xml"}
    ran = run([export.folder / "mpirun.sh", "true"], **environment)

    assert (ran.status == 0) == fits, ran.errors


def test_both_releases_have_their_files_and_only_the_one_that_ran_is_called_checked(
    openmpi: Exported,
) -> None:
    assert "checked on Open MPI 4.1.4" in openmpi.text("mca-params.conf")
    assert "not verified" in openmpi.text("mca-params-5.conf")
    assert "not verified" in openmpi.text("mpirun-5.sh")
    assert "coll_han_priority = 0" in openmpi.settings("mca-params-5.conf")
    for line in ("alltoall = bruck: same modified_bruck", "allreduce = rab: same rabenseifner"):
        assert f"# {line}" in openmpi.text("mca-params.conf")
        assert line in openmpi.text("README.txt")


def test_what_the_library_has_not_is_said(solve: Solve, exported: Callable[..., Exported]) -> None:
    chosen = {"alltoall": "2dmesh", "allgather": "GB", "allreduce": "rdb"}
    job_id = solve(
        {"topology": "random", "mpi": "ompi", "collectives": chosen},
        collectives=("alltoall", "allgather", "allreduce", "bcast"),
    )
    export = exported(job_id, "openmpi")

    text = export.text("mca-params.conf")
    assert "alltoall = 2dmesh: none (the library has nothing like it" in text
    assert "allgather = GB: nearest linear (" in text
    assert "bcast = ompi: left to the library; simulated was what an old release" in text
    assert export.settings("mca-params.conf") == [
        "coll_tuned_use_dynamic_rules = 1",
        "coll_tuned_allreduce_algorithm = recursive_doubling",
        "coll_tuned_allgather_algorithm = linear",
    ]
    assert "node-0 to node-15 are placeholders" in export.text("README.txt")


@pytest.mark.parametrize(
    ("reduce", "is_said"), [("binomial", True), ("flat_tree", False), ("ompi", False)]
)
def test_what_changes_the_order_of_ranks_is_said(
    reduce: str, is_said: bool, solve: Solve, exported: Callable[..., Exported]
) -> None:
    chosen = {"reduce": reduce, "bcast": "ompi_binomial"}
    job_id = solve({"topology": "random", "collectives": chosen}, collectives=tuple(chosen))
    told = "reduce: right for operations that commute alone"
    assert (told in exported(job_id, "openmpi").text("README.txt")) == is_said


@pytest.mark.parametrize(
    ("called", "forced"),
    [
        (("reduce_scatter_block",), ["reduce_scatter_block"]),
        (("reduce_scatter",), ["reduce_scatter"]),
        (("reduce_scatter", "reduce_scatter_block"), ["reduce_scatter", "reduce_scatter_block"]),
    ],
)
def test_what_simulation_decides_by_another_collective_has_a_setting_of_its_own(
    solve: Solve, exported: Callable[..., Exported], called: tuple[str, ...], forced: list[str]
) -> None:
    butterfly = {"reduce_scatter": "ompi_butterfly"}
    chosen = {"topology": "random", "mpi": "ompi", "collectives": butterfly}
    job_id = solve(chosen, ranks=6, collectives=called)

    export = exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"])

    assert export.settings("mca-params.conf")[1:] == [
        f"coll_tuned_{name}_algorithm = butterfly" for name in forced
    ]
    for name in forced:
        assert f"{name} = ompi_butterfly: same butterfly" in export.text("README.txt")
    assert json.loads(export.text("export.json"))["collectives"] == forced

"""What every cluster does: an emulated one, and this host by its own mpirun."""

from __future__ import annotations

import math
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from measuring.clusters import Cluster, Launch, Library, RunFailed, Unwanted
from measuring.mpirun_cluster import MpirunCluster
from measuring.testbed_cluster import TestbedCluster
from searchspace.collectives.equivalents import TARGETS
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.machine import parse_machine
from service.exports.standalone import export_configuration
from testbed import clusters
from testbed.doctor import examine
from tests.processes import are_running

RANKS = 4
LIBRARIES: tuple[Library, ...] = ("openmpi", "mpich")
MACHINE = parse_machine(
    {
        "nodes": 2,
        "cores_per_host": 2,
        "host_speed": "1Gf",
        "link_bandwidth": "1Gbps",
        "topology": {"edges": [[0, 1]], "host_names": ["alpha", "beta"]},
    }
)
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char all[1 << 20];
int main(int argc, char **argv)
{
  int rank, size, length;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &length);
  int last = size - 1, bytes = argc > 1 ? atoi(argv[1]) : 0;
  if (rank == 0)
    MPI_Send(all, bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD);
  if (rank == last)
    MPI_Recv(all, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  const char *told = getenv("TOLD");
  printf("rank %d of %d on %s: %s\n", rank, size, host, told ? told : "-");
  fflush(stdout);
  MPI_Finalize();
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[Library, str]:
    folder = tmp_path_factory.mktemp("programs")
    source = folder / "program.c"
    source.write_text(PROGRAM)
    for library in LIBRARIES:
        subprocess.run(
            [f"mpicc.{library}", "-O1", str(source), "-o", str(folder / library)], check=True
        )
    return {library: str(folder / library) for library in LIBRARIES}


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestbedCluster]:
    failed = [finding.text for finding in examine() if finding.status == "failed"]
    if failed:
        pytest.skip(failed[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HAMTUNE_TESTBEDS", str(tmp_path_factory.mktemp("testbeds")))
        testbed, _ = clusters.bring_up(MACHINE, "small", scale=20)
        yield TestbedCluster(testbed)
        clusters.take_down("small")


@pytest.fixture(params=["testbed", "mpirun"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    if request.param == "testbed":
        found: Cluster = request.getfixturevalue("emulated")
        return found
    template = ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"]
    return MpirunCluster(template, ["localhost"], RANKS)


def libraries_of(cluster: Cluster) -> tuple[Library, ...]:
    return LIBRARIES if isinstance(cluster, TestbedCluster) else ("openmpi",)


def test_all_ranks_run_and_see_their_environment(
    cluster: Cluster, programs: dict[Library, str]
) -> None:
    for library in libraries_of(cluster):
        launch = Launch(
            command=[programs[library], "1000"],
            ranks=RANKS,
            library=library,
            environment={"TOLD": "a b"},
            seconds=60,
        )
        ran = cluster.run(launch)
        assert sorted(re.findall(r"rank (\d) of 4 on \S+: a b", ran.output)) == list("0123")
        assert 0 < ran.seconds < 60
        assert cluster.origin(library)["mpi"].startswith(("Open MPI", "MPICH"))


def test_a_run_that_fails_or_does_not_end_says_so(
    cluster: Cluster, programs: dict[Library, str]
) -> None:
    for library in libraries_of(cluster):
        program = programs[library]
        with pytest.raises(RunFailed, match="status"):
            cluster.run(Launch(command=[program, "0", "3"], ranks=2, library=library))
        with pytest.raises(RunFailed, match="did not end within 1 s"):
            cluster.run(Launch(command=["sleep", "60"], ranks=1, library=library, seconds=1))
        with pytest.raises(RunFailed, match="more than the 4 cores"):
            cluster.run(Launch(command=[program], ranks=5, library=library))


def test_what_a_program_prints_need_not_be_text(cluster: Cluster) -> None:
    for library in libraries_of(cluster):
        command = ["sh", "-c", r"printf 'told \377 and \303\251\n'"]
        ran = cluster.run(Launch(command=command, ranks=1, library=library, seconds=60))
        assert "told \ufffd and \u00e9" in ran.output


def test_a_run_that_nobody_wants_ends_with_all_that_it_has_started(cluster: Cluster) -> None:
    for library in libraries_of(cluster):
        seconds = f"603.{os.getpid()}{len(library)}"  # no other test sleeps for so long
        command = ["sh", "-c", f"setsid sleep {seconds} & exec sleep {seconds}"]
        launch = Launch(command=command, ranks=2, library=library, seconds=600)
        ends = threading.Thread(target=end_once_it_runs, args=(launch, seconds))
        ends.start()
        begun = time.monotonic()
        with pytest.raises(Unwanted, match="sh was ended, for nobody wants the run any more"):
            cluster.run(launch)
        assert time.monotonic() - begun < 300
        ends.join()
        assert not are_running(seconds)


def end_once_it_runs(launch: Launch, seconds: str) -> None:
    until = time.monotonic() + 120
    while not are_running("sleep\0", seconds) and time.monotonic() < until:
        time.sleep(0.05)
    launch.unwanted.set()


@pytest.mark.parametrize("seconds", [math.inf, 1e300])
def test_a_run_may_have_more_seconds_than_a_system_can_wait(
    cluster: Cluster, seconds: float
) -> None:
    for library in libraries_of(cluster):
        launch = Launch(command=["echo", "done"], ranks=1, library=library, seconds=seconds)
        assert "done" in cluster.run(launch).output


def test_an_export_places_the_ranks_and_acts(
    emulated: TestbedCluster, programs: dict[Library, str], tmp_path: Path
) -> None:
    chosen = Configuration(
        {"mapping": "permutation", "permutation": [3, 2, 1, 0], "collectives.barrier": "ompi_tree"}
    )
    for library, target in (("openmpi", "openmpi-4.1"), ("mpich", "mpich-4.0")):
        export = tmp_path / library
        export_configuration(MACHINE, chosen, TARGETS[target], export, ranks=RANKS)
        ran = emulated.run(
            Launch(
                command=[programs[library]],  # type: ignore[index]
                ranks=RANKS,
                library=library,  # type: ignore[arg-type]
                export=export,
                seconds=60,
            )
        )
        placed = dict(re.findall(r"rank (\d) of 4 on (\S+):", ran.output))
        assert placed == {"0": "beta", "1": "beta", "2": "alpha", "3": "alpha"}
    with pytest.raises(RunFailed, match="is an export for"):
        emulated.run(
            Launch(command=["true"], ranks=RANKS, library="openmpi", export=tmp_path / "mpich")
        )


@pytest.mark.parametrize("library", LIBRARIES)
def test_ranks_run_where_they_are_placed_without_an_export(
    emulated: TestbedCluster, programs: dict[Library, str], library: Library
) -> None:
    places = ["beta", "alpha", "beta", "alpha"]
    ran = emulated.run(
        Launch(command=[programs[library]], ranks=RANKS, library=library, rank_hosts=places)
    )
    placed = dict(re.findall(r"rank (\d) of 4 on (\S+):", ran.output))
    assert [placed[str(rank)] for rank in range(RANKS)] == places


@pytest.mark.parametrize("library", LIBRARIES)
def test_messages_of_two_hosts_cross_the_cable(
    emulated: TestbedCluster, programs: dict[Library, str], library: Library
) -> None:
    size = 500_000
    crossing = Launch(
        command=[programs[library], str(size)], ranks=RANKS, library=library, cable_bytes=size
    )
    ran = emulated.run(crossing)
    assert ran.details["cable_bytes"] > size
    assert not [doubt for doubt in ran.doubts if "another way" in doubt]
    inside = Launch(
        command=[programs[library], str(size)], ranks=2, library=library, cable_bytes=size
    )
    assert [doubt for doubt in emulated.run(inside).doubts if "another way" in doubt]


def test_segments_that_are_sent_again_are_a_doubt(emulated: TestbedCluster) -> None:
    connect = "import socket; socket.create_connection(('10.77.0.9', 9), 2.5)"
    script = f'ip route add 10.77.0.9 dev d0; python3 -c "{connect}" 2>/dev/null; true'
    ran = emulated.run(Launch(command=["sh", "-c", script], ranks=1, seconds=60))
    assert [doubt for doubt in ran.doubts if "sent again" in doubt]


def test_what_is_no_launcher_is_refused() -> None:
    with pytest.raises(InvalidInput, match="neither mpirun of Open MPI nor mpiexec of MPICH"):
        MpirunCluster(["true"], ["localhost"], 1)

"""`hamtune rules`: a decision file from a machine alone."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from searchspace.formats.time_independent import NOT_COMMUTATIVE
from searchspace.formats.trace import TraceHeader, write_trace
from tests.cli.conftest import Hamtune

MACHINE = "{nodes: 16, degree: 4, host_speed: 10Gf, link_bandwidth: 10Gbps, network: packets}"
TORUS = ("--configuration", "{topology: torus-2d}")
FEW = ("--collectives", "allreduce,bcast,barrier", "--sizes", "8,4KiB,1MiB", "--ranks", "4,16")


@pytest.fixture(scope="module")
def hamtune(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    return Hamtune(tmp_path_factory.mktemp("rules"))


def test_files_a_summary_and_a_picture_come_of_a_machine(hamtune: Hamtune, tmp_path: Path) -> None:
    made = hamtune(
        "rules", MACHINE, *FEW, *TORUS, "-o", tmp_path / "out", "--picture", tmp_path / "gains.svg"
    )

    names, *lines = made.stdout.splitlines()
    assert names.split()[:3] == ["collective", "mean", "most"]
    assert [line.split()[0] for line in lines[:3]] == ["allreduce", "bcast", "barrier"]
    assert "6 of 6 simulated" in made.stderr
    rules = (tmp_path / "out/dynamic-rules.conf").read_text()
    assert rules.startswith("# Hamtune: algorithms of collectives by size for Open MPI 4.1")
    assert "coll_tuned_use_dynamic_rules = 1" in (tmp_path / "out/README.txt").read_text()
    assert (tmp_path / "gains.svg").read_text().startswith("<?xml")
    rows = list(csv.DictReader((tmp_path / "out/times.csv").open()))
    cells = {(row["collective"], row["ranks"], row["bytes"]) for row in rows}
    assert len(cells) == 2 * 2 * 3 + 2
    assert all(float(row["seconds"]) > 0 for row in rows)


def test_the_answer_is_the_same_again_and_says_what_it_gains(hamtune: Hamtune) -> None:
    first = hamtune.json("rules", MACHINE, *FEW, *TORUS)
    second = hamtune.json("rules", MACHINE, *FEW, *TORUS)

    assert first["collectives"] == second["collectives"]
    assert first["target"] == "openmpi-4.1"
    bcast = first["collectives"]["bcast"]
    assert bcast["mean_gain"] >= 1
    assert bcast["most_gain"]["gain"] >= bcast["mean_gain"]
    assert all(row["lines"][0]["bytes"] == 0 for row in bcast["rows"])
    named = {line["library"] for row in bcast["rows"] for line in row["lines"]}
    assert named - {None}


def test_the_network_of_a_configuration_counts_and_its_algorithms_do_not(hamtune: Hamtune) -> None:
    random = "{topology: random, topology_seed: 3}"
    other = "{topology: torus-2d}"
    same = "{topology: random, topology_seed: 3, mpi: mpich, collectives: {bcast: flattree}}"
    found = [
        hamtune.json("rules", MACHINE, *FEW, "--configuration", one)["collectives"]
        for one in (random, same, other)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_job_gets_rules_for_what_it_has_found(hamtune: Hamtune, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(
        "name: sorted\napplication: {builtin: is, class: S, ranks: 16}\n"
        f"machine: {MACHINE}\nsearch: {{topology: [torus-2d, random], target: openmpi-5}}\n"
        "budget: {trials: 4}\n"
    )
    assert hamtune("run", job).returncode == 0
    best = tmp_path / "best.json"
    best.write_text(hamtune("best", "sorted", "--json").stdout)

    few = ("--evaluations", "30")
    found = hamtune.json("rules", "--job", "sorted", *few, "-o", tmp_path / "out")

    assert found["target"] == "openmpi-5"  # the job's own
    assert (tmp_path / "out/dynamic-rules.conf").exists()
    named = ("--configuration", best, "--application", "is.S.16", "--target", "openmpi-5")
    again = hamtune.json("rules", MACHINE, *named, *few)
    assert found["program"] == again["program"]
    assert found["collectives"] == again["collectives"]


def test_algorithms_of_a_configuration_that_cannot_run_here_do_not_count(
    hamtune: Hamtune,
) -> None:
    """Twelve ranks are no power of two, which `pair` needs."""
    twelve = MACHINE.replace("nodes: 16", "nodes: 12")
    placed = "{topology: random, collectives: {alltoall: pair}}"
    few = ("--collectives", "bcast", "--sizes", "8", "--ranks", "4")
    made = hamtune("rules", twelve, "--configuration", placed, *few)
    assert made.stderr.startswith("hamtune: 1 collective x 1 communicator x 1 size for Open MPI")
    assert made.stdout.splitlines()[1].split()[0] == "bcast"


def test_a_job_for_a_library_without_such_files_needs_another_target(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(
        "name: elsewhere\napplication: {builtin: is, class: S, ranks: 16}\n"
        f"machine: {MACHINE}\nsearch: {{topology: [torus-2d, random], target: mvapich2-2.3}}\n"
        "budget: {trials: 2}\n"
    )
    assert hamtune("run", job).returncode == 0
    assert "mvapich2-2.3, which has no decision file" in hamtune.refused(
        "rules", "--job", "elsewhere"
    )


@pytest.mark.parametrize(("flags", "left_out"), [(0, False), (NOT_COMMUTATIVE, True)])
def test_a_program_tells_which_reductions_do_not_commute(
    flags: int, left_out: bool, hamtune: Hamtune, tmp_path: Path
) -> None:
    """Of Open MPI's algorithms for large vectors, rings and Rabenseifner's do not run for these."""
    trace = tmp_path / "a.ht"
    call = encode("allreduce", count=1 << 17, size=8, flags=flags) + encode("finalize")
    write_trace(trace, TraceHeader(ranks=16, program="reduces"), [call] * 16)
    job = tmp_path / "job.yaml"
    job.write_text(
        f"name: reduces\napplication: {{trace: {trace}}}\nmachine: {MACHINE}\n"
        "search: {topology: torus-2d, target: openmpi-4.1}\nbudget: {trials: 4}\n"
    )

    space = hamtune.json("check", job)["space"]
    found = hamtune.json("rules", MACHINE, *TORUS, "--application", trace, "-o", tmp_path / "out")

    assert any(one["value"] == "lr" for one in space["excluded"]) == left_out
    assert found["commutative"] != left_out
    lines = [line for row in found["collectives"]["allreduce"]["rows"] for line in row["lines"]]
    unfit = {"ring", "segmented_ring", "rabenseifner"}
    assert unfit.isdisjoint(line["library"] for line in lines) == left_out
    rules = (tmp_path / "out/dynamic-rules.conf").read_text()
    assert ("only for operations that commute" in rules) != left_out


def test_intel_mpi_gets_variables(hamtune: Hamtune, tmp_path: Path) -> None:
    hamtune("rules", MACHINE, *FEW, *TORUS, "--target", "intelmpi-2021", "-o", tmp_path)
    text = (tmp_path / "adjust.sh").read_text()
    assert "not run" in text
    assert "export I_MPI_ADJUST_BCAST=" in text


def test_an_application_is_simulated_under_its_rules(hamtune: Hamtune, tmp_path: Path) -> None:
    given = ("--application", "is.S.16", *TORUS, "--evaluations", "60")
    program = hamtune.json("rules", MACHINE, *given, "-o", tmp_path)["program"]
    assert program["seconds"] <= min(program["default_seconds"], program["single_seconds"])
    assert 1 < program["evaluations"] <= 60
    assert (tmp_path / "dynamic-rules.conf").exists()
    assert "as the library chooses" in hamtune("rules", MACHINE, *given).stdout


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (("--collectives", "allreduce,alltoallw"), "there is no 'alltoallw'"),
        (("--collectives", ","), "names nothing"),
        (("--sizes", "8,large"), "--sizes"),
        (("--sizes", "0"), "--sizes"),
        (("--sizes", "8,2GiB"), "less than 2 GiB"),
        (("--worth", "nan"), "--worth"),
        (("--configuration", "{topology: torus-2d, mapping: greedy}"), "looks at what ranks"),
        (("--ranks", "4,17"), "from 2 to 16"),
        (("--ranks", "1"), "from 2 to 16"),
        (("--target", "mpich-4.0", "-o", "out"), "--library"),
        (("--library", "/etc/hostname"), "--library is not for openmpi-4.1"),
        (("--worth", "1"), "--worth"),
        (("--application", "is.S.16", "--sizes", "8"), "the program tells"),
        (("--application", "is.S.16", "--commutative"), "whether its operations commute"),
        (("--job", "sorted"), "either MACHINE or --job"),
        (("--picture", "gains.jpg"), "--picture"),
        (("--testbed", "torus"), "need --application or --job"),
        (("--program", "./is"), "go with --testbed or --mpirun"),
        (("--application", "is.S.16", "--testbed", "torus"), "--program 'PROGRAM ARGUMENTS'"),
        (
            ("--application", "is.S.16", "--mpirun", "mpirun", "--program", "./is"),
            "--mpirun needs --hosts",
        ),
        (
            ("--application", "is.S.16", "--testbed", "nobody", "--program", "./is"),
            "no testbed 'nobody' is up",
        ),
        (
            (
                *("--application", "is.S.16", "--testbed", "torus", "--program", "./is"),
                *("--target", "intelmpi-2021"),
            ),
            "cannot be run here",
        ),
        ((), "topology: is required"),
        (("--configuration", "{topology: torus-9d}"), "torus-9d"),
        (("--target", "mpich-4.0", "--library", "/etc/hostname", "-o", "out"), "/etc/hostname"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    more: tuple[str, ...], complaint: str, hamtune: Hamtune
) -> None:
    network = () if "topology" in complaint or "--configuration" in more else TORUS
    assert complaint in hamtune.refused("rules", MACHINE, *network, *more)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ((), "either MACHINE or --job"),
        (("--job", "nobody", "--application", "is.S.16"), "--job tells"),
        (("--job", "nobody", *TORUS), "--job tells"),
        (("--job", "nobody", "--sizes", "8"), "the program tells"),
    ],
)
def test_a_job_that_is_none_or_half_named_is_refused(
    given: tuple[str, ...], complaint: str, hamtune: Hamtune
) -> None:
    assert complaint in hamtune.refused("rules", *given)
    assert (
        hamtune.refused("rules", "--job", "nobody", status=1) == "hamtune: there is no job nobody"
    )


def test_a_machine_of_one_core_has_no_collectives(hamtune: Hamtune) -> None:
    alone = MACHINE.replace("nodes: 16, degree: 4", "nodes: 1")
    assert "no communicator of two ranks" in hamtune.refused("rules", alone)


def test_a_program_without_collectives_has_no_rules(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = tmp_path / "alone.ht"
    operations = encode("compute", flops=1.0) + encode("barrier") + encode("finalize")
    write_trace(trace, TraceHeader(ranks=4, program="alone"), [operations] * 4)
    refused = hamtune.refused("rules", MACHINE, *TORUS, "--application", trace)
    assert "the program calls none of allgather, allreduce" in refused


def test_places_that_are_written_out_get_rules_for_as_many_ranks(hamtune: Hamtune) -> None:
    places = "[0, 5, 10, 15, 1, 6, 11, 12]"
    chosen = f"{{topology: torus-2d, mapping: permutation, permutation: {places}}}"
    few = ("--collectives", "bcast", "--sizes", "64KiB", "--configuration", chosen)
    found = hamtune.json("rules", MACHINE, *few)
    ranks = [row["ranks"] for row in found["collectives"]["bcast"]["rows"]]
    assert max(ranks) <= 9
    assert "from 2 to 8" in hamtune.refused("rules", MACHINE, *few, "--ranks", "16")


def test_ranks_of_one_host_have_rules_too(hamtune: Hamtune, tmp_path: Path) -> None:
    fat = (
        "{nodes: 1, cores_per_host: 8, host_speed: 10Gf, link_bandwidth: 10Gbps, network: packets}"
    )
    hamtune("rules", fat, "--collectives", "barrier,bcast", "--sizes", "64KiB", "-o", tmp_path)
    assert (tmp_path / "dynamic-rules.conf").exists()


def test_a_pipeline_of_calls_may_get_what_is_slow_alone(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = tmp_path / "pipeline.ht"
    operations = encode("bcast", count=1000, size=8) * 60 + encode("finalize")
    write_trace(trace, TraceHeader(ranks=16, program="pipeline"), [operations] * 16)
    found = hamtune.json("rules", MACHINE, *TORUS, "--application", trace)
    assert found["program"]["seconds"] <= found["program"]["default_seconds"]


NEAR = (
    "{nodes: 4, host_speed: 2Gf, link_bandwidth: 20Mbps, network: packets,"
    " topology: {edges: [[0, 1], [1, 2], [2, 3], [0, 3]]}}"
)
SUMS = r"""
#include <mpi.h>
static double in[20000], out[20000];
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (int step = 0; step < 10; step++) {
    MPI_Allreduce(in, out, step % 2 ? 4 : 20000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(in, 5000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture
def sums(tmp_path: Path, hamtune: Hamtune) -> tuple[Path, Path]:
    """A program that sums, and its trace."""
    source, trace, binary = tmp_path / "sums.c", tmp_path / "sums.ht", tmp_path / "sums"
    source.write_text(SUMS)
    hamtune("capture", "--ranks", "4", "--declared-flops", "-o", trace, "--", source)
    subprocess.run(["mpicc.openmpi", "-O1", str(source), "-o", str(binary)], check=True)
    return trace, binary


@pytest.mark.alone
def test_rules_are_measured_on_a_testbed_and_the_fastest_are_written(
    hamtune: Hamtune,
    sums: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HAMTUNE_TESTBEDS", str(tmp_path / "testbeds"))
    checks = {check["name"]: check for check in hamtune.json("testbed", "doctor")["checks"]}
    if checks["namespaces"]["status"] == "failed":
        pytest.skip(checks["namespaces"]["text"])
    trace, binary = sums
    measuring = ("--testbed", "rules-four", "--program", str(binary), "--precision", "0.5")
    given = ("--application", str(trace), *measuring, "--minutes", "5")
    hamtune("testbed", "up", NEAR, "--scale", "1", "--name", "rules-four")
    try:
        other = "{nodes: 4, degree: 2, host_speed: 2Gf, link_bandwidth: 20Mbps, network: packets}"
        ring = ("--configuration", "{topology: random, topology_seed: 1}")
        assert "another network" in hamtune.refused("rules", other, *ring, *given)
        done = hamtune("rules", NEAR, *given, "--json", "-o", tmp_path / "rules")
    finally:
        hamtune("testbed", "down", "rules-four")
    if done.returncode:  # only where other work left no core to the ranks
        assert "no run counts: the cores of this host were busy" in done.stderr, done.stderr
        assert os.getloadavg()[0] > (os.cpu_count() or 1), done.stderr
        pytest.skip("other work left no core to the ranks, and so no run counts")
    measured = json.loads(done.stdout)["measured"]
    whole = measured["whole"]
    assert set(whole) == {"rules", "single", "library"}
    assert measured["seconds"] > 0
    assert set(measured["kept"].values()) <= set(whole)
    assert measured["runs"] >= 5
    exchanged = {(one["collective"], one["ranks"]) for one in measured["exchanges"]}
    assert exchanged <= {("allreduce", 4), ("reduce", 4)}
    with (tmp_path / "rules/measured.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["rules"] for row in rows} == {*whole, "kept"}
    assert (tmp_path / "rules/dynamic-rules.conf").exists()

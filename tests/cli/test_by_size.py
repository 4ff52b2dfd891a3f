"""A job that gives small and large messages other algorithms, from its file to the library's."""

from __future__ import annotations

import ctypes.util
import json
import subprocess
from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from tests.cli.conftest import Hamtune

RANKS = 16
JOB = """\
name: NAME
application: {trace: mixed.ht}
machine: {nodes: 16, degree: 4, host_speed: 10Gf, link_bandwidth: 10Gbps, network: packets}
search:
  topology: [torus-2d]
  target: TARGET
  collectives: CHOICES
  by_size: WANTED
budget: {trials: 60}
seed: 3
"""


def block(collective: str, size: int) -> bytes:
    """A call with a block of so many bytes for each rank."""
    return encode(collective, send_count=size, send_size=1, recv_count=size, recv_size=1)


@pytest.fixture(scope="module")
def hamtune(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    """With a trace of many small calls and some large ones beside it."""
    directory = tmp_path_factory.mktemp("by-size")
    small = block("alltoall", 8) + block("allgather", 8)
    calls = small * 600 + (block("alltoall", 1 << 16) + block("allgather", 1 << 17)) * 2
    header = TraceHeader(ranks=RANKS, program="mixed")
    write_trace(directory / "mixed.ht", header, [calls + encode("finalize")] * RANKS)
    return Hamtune(directory)


CHOICES = {
    "openmpi-4.1": "{alltoall: [bruck, ring], allgather: [bruck, NTSLR]}",
    "mpich-4.0": "{alltoall: all, allgather: [bruck, NTSLR]}",
}


def job(hamtune: Hamtune, name: str, wanted: str, target: str = "openmpi-4.1") -> Path:
    path = hamtune.directory / f"{name}.yaml"
    text = JOB.replace("NAME", name).replace("WANTED", wanted).replace("TARGET", target)
    path.write_text(text.replace("CHOICES", CHOICES[target]))
    return path


@pytest.fixture(scope="module")
def solved(hamtune: Hamtune) -> Hamtune:
    """With jobs that have ended: `one` without ranges, and `ranges`."""
    for name, wanted in (("one", "false"), ("ranges", "true")):
        assert hamtune("run", job(hamtune, name, wanted)).returncode == 0
    return hamtune


def test_it_finds_what_no_single_algorithm_reaches(solved: Hamtune) -> None:
    one, ranges = (solved.json("best", name) for name in ("one", "ranges"))

    assert ranges["value"] < 0.95 * one["value"]
    assert ranges["configuration"]["collectives"] == {
        "allgather": "bruck",
        "allgather@1024": "NTSLR",
        "alltoall": "bruck",
        "alltoall@1024": "ring",
    }


def test_check_explains_the_ranges(hamtune: Hamtune) -> None:
    told = hamtune("check", job(hamtune, "asked", "true"))
    assert "collectives.allgather@1024: bruck, NTSLR" in told.stdout
    told = hamtune("check", job(hamtune, "given", "{alltoall: [32KiB], allgather: [1KiB, 1GiB]}"))
    assert "collectives.alltoall@32768: bruck, ring" in told.stdout
    assert "left out: collectives.allgather@1073741824: the application calls it" in told.stdout


def test_check_says_that_ranges_are_found_later(hamtune: Hamtune) -> None:
    (hamtune.directory / "src").mkdir()
    text = job(hamtune, "later", "true").read_text()
    program = "{source: src, build: mpicc a.c -o a, run: ./a, ranks: 16}"
    path = hamtune.directory / "later.yaml"
    path.write_text(text.replace("{trace: mixed.ht}", program))
    told = hamtune("check", path)
    assert "ranges of message sizes are found when the job is prepared" in told.stdout


def test_a_configuration_by_size_is_evaluated(hamtune: Hamtune) -> None:
    machine = "{nodes: 16, degree: 4, host_speed: 10Gf, link_bandwidth: 10Gbps}"
    given = ("--application", "mixed.ht", "--machine", machine, "--configuration")
    times = [
        hamtune.json("evaluate", *given, json.dumps({"topology": "torus-2d", "collectives": one}))
        for one in ({"alltoall": "bruck"}, {"alltoall": "bruck", "alltoall@1024": "ring"})
    ]
    assert times[0]["simulated_time"] != times[1]["simulated_time"]


def test_what_was_found_is_written_for_open_mpi(solved: Hamtune, tmp_path: Path) -> None:
    found = solved.json("rules", "--job", "ranges", "--found", "-o", tmp_path)
    (row, after) = found["collectives"]["alltoall"]["rows"]
    assert (row["ranks"], after["ranks"]) == (RANKS, RANKS + 1)
    assert row["lines"] == [
        {"bytes": 0, "algorithm": "bruck", "library": "modified_bruck"},
        {"bytes": 1024, "algorithm": "ring", "library": "pairwise"},
    ]
    assert "3 # alltoall" in (tmp_path / "dynamic-rules.conf").read_text()
    assert "coll_tuned_use_dynamic_rules" in (tmp_path / "README.txt").read_text()


def test_what_was_found_is_written_for_mpich(hamtune: Hamtune, tmp_path: Path) -> None:
    assert hamtune("run", job(hamtune, "mpich", "true", "mpich-4.0")).returncode == 0
    named = ctypes.util.find_library("mpich")
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    library = next(line.split()[-1] for line in listed.splitlines() if str(named) in line)
    found = hamtune("rules", "--job", "mpich", "--found", "--library", library, "-o", tmp_path)
    assert found.returncode == 0, found.stderr
    tree = json.loads((tmp_path / "coll-selection.json").read_text())
    text = json.dumps(tree["collective=allgather"])
    assert f"comm_size<{RANKS}" in text
    assert f"total_msg_size<{1024 * RANKS}" in text


def test_what_the_file_cannot_say_is_named(hamtune: Hamtune, tmp_path: Path) -> None:
    """Open MPI's file says algorithms of alltoallv, MPICH's does not."""
    vectors = {"send_size": 1, "recv_size": 1}
    counts = {"send_counts": [64] * RANKS, "recv_counts": [64] * RANKS}
    calls = encode("alltoallv", **vectors, **counts) * 3 + encode("finalize")
    header = TraceHeader(ranks=RANKS, program="vectors")
    write_trace(hamtune.directory / "vectors.ht", header, [calls] * RANKS)
    path = job(hamtune, "vectors", "false")
    text = path.read_text().replace("mixed.ht", "vectors.ht")
    path.write_text(text.replace(CHOICES["openmpi-4.1"], "{alltoallv: [ring, ompi_basic_linear]}"))
    assert hamtune("run", path).returncode == 0

    found = hamtune.json("rules", "--job", "vectors", "--found", "-o", tmp_path)
    assert (list(found["collectives"]), found["unsaid"]) == (["alltoallv"], [])
    assert "4 # alltoallv" in (tmp_path / "dynamic-rules.conf").read_text()
    told = hamtune("rules", "--job", "vectors", "--found", "--target", "mpich-4.0")
    assert "alltoallv       not in coll-selection.json" in told.stdout


def test_what_the_library_cannot_run_is_left_out_with_its_reason(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    path = job(hamtune, "other", "false")
    text = path.read_text().replace("  target: openmpi-4.1\n", "  mpi: [ompi]\n")
    for name, allgather in (("mixed-up", "bruck"), ("none-left", "default")):
        choices = f"{{alltoall: [2dmesh, 3dmesh], allgather: [{allgather}]}}"
        named = text.replace("name: other", f"name: {name}")
        path.write_text(named.replace(CHOICES["openmpi-4.1"], choices))
        assert hamtune("run", path).returncode == 0

    found_rules = ("rules", "--found", "--target", "openmpi-4.1", "--job")
    done = hamtune(*found_rules, "mixed-up", "-o", tmp_path / "rules")
    assert done.returncode == 0
    left_out = "Open MPI 4.1 cannot run alltoall by "
    assert f"hamtune: warning: left out: {left_out}" in done.stderr
    assert "0 # allgather" in (tmp_path / "rules/dynamic-rules.conf").read_text()
    refused = hamtune.refused(*found_rules, "none-left", "-o", tmp_path / "no-rules")
    assert f"nothing that was found can be written: {left_out}" in refused
    assert not (tmp_path / "no-rules").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--found",), "either MACHINE or --job is wanted"),
        (("--job", "ranges", "--found", "--picture", "a.svg"), "--found is for --job"),
        (("{nodes: 8, degree: 4}", "--found"), "--found is for --job"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    hamtune: Hamtune, arguments: tuple[str, ...], said: str
) -> None:
    assert said in hamtune.refused("rules", *arguments)

"""A job from its file to its exports, by the command line alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from service.exports.formats import FORMATS
from service.exports.registry import EXPORTERS
from tests.cli.conftest import Hamtune, tiny_job


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    """A data directory in which the job `tiny` of `finished` has run."""
    return Hamtune(tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def finished(ran: Hamtune) -> dict[str, Any]:
    """What `hamtune run --json` said of it."""
    return dict(ran.json("run", ran.job_file(tiny_job())))


def test_run_ends_with_the_job_and_its_best_configuration(
    ran: Hamtune, finished: dict[str, Any]
) -> None:
    job, best = finished["job"], finished["best"]

    assert (job["state"], job["ended_because"]) == ("completed", "trials")
    trials = ran.trials(job["id"])
    assert [trial["number"] for trial in trials] == list(range(1, len(trials) + 1))
    assert job["progress"]["finished"] == len(trials)
    baselines = [trial for trial in trials if trial["kind"] == "baseline"]
    assert len(trials) == 12 + len(baselines)
    assert {trial["label"] for trial in baselines} >= {
        "mesh-2d",
        "torus-3d",
        "random original mpich",
        "random original ompi",
    }
    search = [trial for trial in trials if trial["kind"] == "search"]
    assert best["value"] <= min(t["value"] for t in search if t["state"] == "completed")
    assert best["speedup"] == pytest.approx(best["baseline"] / best["value"])
    assert best == ran.json("best", "tiny")


def test_the_same_job_has_the_same_trials_elsewhere(
    ran: Hamtune,
    finished: dict[str, Any],
    another: Callable[[], Hamtune],
    job: dict[str, Any],
) -> None:
    other = another()

    repeated = other.json("run", other.job_file(job))

    assert other.trials(repeated["job"]["id"]) == ran.trials(finished["job"]["id"])


def test_a_repeat_of_the_job_simulates_nothing(
    ran: Hamtune, finished: dict[str, Any], job: dict[str, Any]
) -> None:
    repeated = ran.json("run", ran.job_file({**job, "name": "again"}))["job"]

    assert repeated["progress"]["evaluations"] == 0
    assert ran.trials(repeated["id"]) == ran.trials(finished["job"]["id"])


def test_jobs_and_show_tell_the_state(ran: Hamtune, finished: dict[str, Any]) -> None:
    job_id = finished["job"]["id"]

    assert job_id in [job["id"] for job in ran.json("jobs", "--state", "completed")]
    assert ran.json("show", "tiny") == ran.json("show", job_id)
    shown = ran("show", job_id).stdout
    assert "completed (trials)" in shown
    assert "search space:" in shown
    assert "tiny" in ran("jobs").stdout


def test_a_program_that_takes_no_time_has_results_too(
    another: Callable[[], Hamtune], tmp_path: Path
) -> None:
    header = TraceHeader(ranks=2, program="nothing")
    write_trace(tmp_path / "nothing.ht", header, [encode("finalize")] * 2)
    hamtune = another()
    job = tiny_job() | {"name": "none", "application": {"trace": str(tmp_path / "nothing.ht")}}
    job["search"] = {"topology": ["ring", "mesh-2d"]}
    hamtune("run", hamtune.job_file(job))

    assert "as fast as the best baseline" in hamtune("best", "none").stdout
    assert hamtune.json("best", "none")["speedup"] is None
    for job_names in (["none"], ["none", "none"]):
        assert hamtune("plot", *job_names, "-o", tmp_path / "figures").returncode == 0
    hamtune("export", "none", "--format", "json", "-o", tmp_path / "exports")
    exported = json.loads((tmp_path / "exports/result.json").read_text())
    assert (exported["value"], exported["speedup"]) == (0.0, None)


def test_figures_are_pictures_and_drawings(
    ran: Hamtune, finished: dict[str, Any], tmp_path: Path
) -> None:
    files = ran.json("plot", "tiny", "--output", tmp_path)["files"]

    names = {Path(path).name for path in files}
    assert names == {
        "convergence.png",
        "convergence.svg",
        "proximity.png",
        "proximity.svg",
    }
    assert all(Path(path).stat().st_size > 1000 for path in files)
    for by in ("wall", "cpu"):
        assert ran("plot", "tiny", "-o", tmp_path / f"{by}.svg", "--by", by).returncode == 0
    mapping = tmp_path / "mapping.svg"
    assert ran.json("plot", "tiny", "-o", mapping, "--kind", "mapping")["files"] == [str(mapping)]
    drawn = mapping.read_text()
    assert "ranks in order" in drawn
    assert f"trial {finished['best']['trial']}" in drawn


def test_the_importance_of_parameters_is_told(ran: Hamtune, finished: dict[str, Any]) -> None:
    told = ran.json("importance", "tiny")
    said = ran("importance", "tiny").stdout
    for one in told["parameters"]:
        assert one["name"] in said
    assert (told["note"] or told["method"]) in said


def test_a_trial_is_simulated_again(ran: Hamtune, finished: dict[str, Any]) -> None:
    number = finished["best"]["trial"]

    again = ran.json("replay", "tiny", str(number))
    assert (again["verdict"], again["value"]) == ("same", finished["best"]["value"])
    said = ran("replay", "tiny", str(number)).stdout
    assert said.startswith(f"trial {number} of tiny: the same again\n")
    assert said.count(f"completed, {finished['best']['value']!r} s") == 2


def test_the_formats_offered_are_those_of_the_service() -> None:
    assert list(FORMATS) == list(EXPORTERS)


def test_the_json_export_holds_the_best_configuration(
    ran: Hamtune, finished: dict[str, Any], tmp_path: Path
) -> None:
    (path,) = ran.json("export", "tiny", "--format", "json", "--output", tmp_path)["files"]

    document = json.loads(Path(path).read_text())
    assert document["configuration"] == finished["best"]["configuration"]
    assert document["value"] == finished["best"]["value"]
    assert len(document["rank_hosts"]) == 4
    assert document["network"]["nodes"] == 8
    assert document["machine"]["model"] == "smpi-default"


def test_the_simgrid_export_reruns_to_the_same_time(
    ran: Hamtune, finished: dict[str, Any], tmp_path: Path
) -> None:
    ran.json("export", "tiny", "--format", "simgrid", "--output", tmp_path)

    assert rerun(tmp_path) == pytest.approx(finished["best"]["value"], rel=1e-6)


def test_evaluating_the_best_configuration_gives_its_value(
    ran: Hamtune, finished: dict[str, Any], job: dict[str, Any]
) -> None:
    best = finished["best"]

    found = ran.json(
        "evaluate",
        "--application",
        "mg.S.4",
        "--machine",
        json.dumps(job["machine"]),
        "--configuration",
        json.dumps(best["configuration"]),
    )

    assert found["status"] == "completed"
    assert found["simulated_time"] == best["value"]
    assert found["cpu_seconds"] > 0
    assert found["wall_seconds"] > 0
    assert found["peak_rss_bytes"] > 0
    assert found["reason"] is None


def test_a_captured_program_is_tuned_and_rerun(
    hamtune: Hamtune, job: dict[str, Any], tmp_path: Path
) -> None:
    (hamtune.directory / "ring.c").write_text(RING)
    captured = hamtune.json(
        "capture", "--ranks", "4", "--output", "ring.ht", "--declared-flops", "--", "ring.c", "3"
    )
    assert captured["calls"]["allreduce"] == 12

    hamtune.job_file(job | {"application": {"trace": "ring.ht"}, "budget": {"trials": 8}})
    finished = hamtune.json("run", "job.yaml")
    hamtune.json("export", "tiny", "--format", "simgrid", "--output", tmp_path / "rerun")

    assert rerun(tmp_path / "rerun") == pytest.approx(finished["best"]["value"], rel=1e-6)


def test_collectives_in_place_and_of_a_root_rerun_to_the_same_time(
    hamtune: Hamtune, job: dict[str, Any], tmp_path: Path
) -> None:
    (hamtune.directory / "rooted.c").write_text(ROOTED)
    hamtune.json(
        "capture", "--ranks", "4", "--output", "rooted.ht", "--declared-flops", "--", "rooted.c"
    )
    hamtune.job_file(job | {"application": {"trace": "rooted.ht"}, "budget": {"trials": 8}})
    finished = hamtune.json("run", "job.yaml")
    hamtune.json("export", "tiny", "--format", "simgrid", "--output", tmp_path / "rerun")

    assert (tmp_path / "rerun/trace/rank-3.txt").exists()
    assert rerun(tmp_path / "rerun") == pytest.approx(finished["best"]["value"], rel=1e-6)


def test_a_space_without_a_feasible_point_fails_plainly(
    hamtune: Hamtune, job: dict[str, Any]
) -> None:
    # A memory limit that no evaluation on so many hosts can keep makes every trial fail.
    job["machine"]["nodes"] = 1600
    job["limits"] = {"memory": "4MiB"}

    done = hamtune("run", hamtune.job_file(job))

    assert done.returncode == 1
    assert "hamtune: job" in done.stderr.splitlines()[-1]


RING = """
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  int rank, ranks;
  double sum, buffer[1000] = {0}, other[1000];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < atoi(argv[1]); round++) {
    MPI_Request request;
    MPI_Irecv(other, 1000, MPI_DOUBLE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &request);
    MPI_Send(buffer, 1000, MPI_DOUBLE, (rank + 1) % ranks, round, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(buffer, 10, MPI_DOUBLE, rank ^ 1, 9, other, 10, MPI_DOUBLE, rank ^ 1, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    smpi_execute_flops(1e6 * (rank + 1));
    MPI_Allreduce(buffer, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""

ROOTED = """
#include <mpi.h>
enum { RANKS = 4, PART = 5000, ALL = RANKS * PART };
int main(int argc, char **argv)
{
  static int part[ALL], all[ALL];
  const int counts[] = {PART, PART / 2, 3, PART}, starts[] = {0, PART, 2 * PART, 3 * PART};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Gather(part, PART, MPI_INT, all, PART, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(rank == 2 ? MPI_IN_PLACE : part, PART, MPI_INT, all, PART, MPI_INT, 2, MPI_COMM_WORLD);
  MPI_Scatter(all, PART, MPI_INT, part, PART, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Scatter(all, 7, MPI_INT, rank == 3 ? MPI_IN_PLACE : part, 7, MPI_INT, 3, MPI_COMM_WORLD);
  MPI_Gatherv(part, counts[rank], MPI_INT, all, counts, starts, MPI_INT, 3, MPI_COMM_WORLD);
  MPI_Gatherv(rank == 1 ? MPI_IN_PLACE : part, counts[rank], MPI_INT, all, counts, starts, MPI_INT,
              1, MPI_COMM_WORLD);
  MPI_Scatterv(all, counts, starts, MPI_INT, part, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(all, counts, starts, MPI_INT, rank == 2 ? MPI_IN_PLACE : part, counts[rank], MPI_INT,
               2, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, PART, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, starts, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, PART, MPI_INT, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


def rerun(folder: Path) -> float:
    """The simulated time that the run.sh of an export prints."""
    done = subprocess.run([folder / "run.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    line = done.stdout.splitlines()[0]
    assert line.startswith("simulated time: "), done.stdout
    return float(line.split()[2])

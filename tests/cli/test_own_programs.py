"""A program of one's own, from its source tree to its logs, on the command line."""

import shutil
from pathlib import Path

from tests.cli.conftest import ROOT, Hamtune

SOURCES = ROOT / "tests/workers/sources"
SUITE = ("--source", SOURCES / "suite", "--run", "bin/ring.S.4", "--ranks", "4")
MAKE = "make ring CLASS=S NPROCS=4"


def test_a_program_is_submitted_watched_and_shown(hamtune: Hamtune, tmp_path: Path) -> None:
    with hamtune.service():
        job = hamtune.json("submit", *SUITE, "--build", MAKE, "--trials", "3", "--watch")
        assert job["state"] == "completed"
        assert job["name"] == "ring.S.4"
        shown = hamtune("show", "ring.S.4").stdout
        assert "application: ring.S.4 on 4 ranks" in shown
        assert f"build: {MAKE}" in shown
        assert "computation: measured " in shown
        assert "computation: median of 3 captures, which differ by" in shown

        log = hamtune("logs", "ring.S.4", "--follow").stdout
        assert log.startswith(f"$ {MAKE}\n")
        assert log.count("RING class S on    4 ranks") == 3
        logs = hamtune.json("logs", job["application_id"], "--run")
        assert logs["state"] == "ready"
        assert "build" not in logs

        assert " B  verdict.txt" in hamtune("logs", "ring.S.4", "--files").stdout
        hamtune("logs", "ring.S.4", "--files", "--output", tmp_path / "files")
        assert (tmp_path / "files/verdict.txt").read_text().strip() == "valid"
        assert [path.name for path in (tmp_path / "files").iterdir()] == ["verdict.txt"]

        failed = hamtune("submit", *SUITE, "--build", "make nothing", "--watch", "--json")
        assert failed.returncode == 1
        assert "No rule to make target 'nothing'" in failed.stdout
        assert "failed: the build ended with status 2\n$ make nothing\n" in failed.stderr
        again = hamtune.json("submit", *SUITE, "--build", MAKE, "--trials", "2", "--watch")
        assert (again["state"], again["application_id"]) == ("completed", job["application_id"])


def test_a_job_file_may_name_a_source_tree(hamtune: Hamtune, tmp_path: Path) -> None:
    document = {
        "name": "solve",
        "application": {
            "source": str(SOURCES / "solver"),
            "build": "make",
            "run": "bin/solve solve.dat",
            "ranks": 8,
            "captures": 1,
            "host_speed_of_capture": "2Gf",
        },
        "machine": {"nodes": 8, "degree": 3, "host_speed": "1Gf", "link_bandwidth": "10Gbps"},
        "search": {"topology": ["random", "mesh-2d"], "collectives": {"allreduce": "all"}},
        "budget": {"trials": 3},
    }
    result = hamtune.json("run", hamtune.job_file(document))
    assert result["job"]["state"] == "completed"
    assert result["best"]["value"] > 0


def test_a_source_tree_is_captured_without_a_service(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = tmp_path / "grid.ht"
    summary = hamtune.json(
        "capture", "--source", SOURCES / "grid", "--build", "make", "--captures", "2",
        "--ranks", "6", "--output", trace, "--files", tmp_path / "files", "--", "grid",
    )  # fmt: skip
    assert summary["repeats"]["captures"] == 2
    shown = hamtune("trace", "info", trace).stdout
    assert "median of 2 captures" in shown


def test_a_call_that_no_trace_can_hold_is_told_where_the_program_was_given(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "tests/workers/recorder/programs/window.c", tmp_path)
    build = "mpicc -w window.c -o window"
    captured = hamtune(
        "capture", "--source", tmp_path, "--build", build, "--ranks", "2", "-o", "t.ht", "window"
    )
    assert captured.returncode == 2
    assert "hamtune: command: MPI_Win_create is not supported" in captured.stderr
    document = {
        "name": "window",
        "application": {"source": str(tmp_path), "build": build, "run": "window", "ranks": 2},
        "machine": {"nodes": 4, "degree": 2, "host_speed": "1Gf", "link_bandwidth": "10Gbps"},
        "search": {"topology": ["random", "mesh-2d"]},
        "budget": {"trials": 3},
    }
    job = hamtune("run", hamtune.job_file(document))
    assert job.returncode == 1
    assert "failed: run: MPI_Win_create is not supported" in job.stderr


def test_wrong_use_of_a_source_is_told(hamtune: Hamtune) -> None:
    assert "go together" in hamtune.refused("submit", "--source", ".", status=2)
    assert "give a job file, or --source" in hamtune.refused("submit", status=2)
    refusal = hamtune.refused(
        "capture", "--source", ".", "--ranks", "2", "-o", "t.ht", "--", "x", status=2
    )
    assert "--source and --build go together" in refusal


SUM = """
#include "hamtune_app.h"

int main(int argc, char **argv)
{
  double sum = 0.0, total = 0.0;
  MPI_Init(&argc, &argv);
  for (int step = 0; step < 10; step++) {
    HAMTUNE_ITERATION();
    HAMTUNE_BLOCK(2000.0, for (int i = 0; i < 1000; i++) sum += i);
    hamtune_compute(500.0);
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


def test_a_program_declares_what_it_computes_by_the_header(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "applications/hamtune_app.h", tmp_path)
    source, trace = tmp_path / "sum.c", tmp_path / "sum.ht"
    source.write_text(SUM)
    asked = ("--ranks", "4", "--declared-flops", "--flag=-DHAMTUNE_DECLARE_FLOPS", "-o")
    done = hamtune("capture", *asked, trace, "--", source)

    assert done.returncode == 0, done.stderr
    told = hamtune("trace", "info", trace).stdout
    assert "1e+05 flops" in told  # four ranks, ten times 2,500 each
    assert "loop of 10 iterations (marked by the program)" in told

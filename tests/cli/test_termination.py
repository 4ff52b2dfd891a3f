"""What ends in order, also where the tests do not: no process and no file stays behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, SECONDS, Hamtune
from tests.processes import is_alive

TESTING = """
import sys, time
from pathlib import Path
from tests.cli.conftest import Hamtune
with Hamtune(Path(sys.argv[1])).service() as service:
    print(service.process.pid, flush=True)
    time.sleep(600)
"""
ENDLESS = """#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (;;) MPI_Barrier(MPI_COMM_WORLD);
}
"""


@pytest.mark.parametrize("command", ["run", "capture"])
def test_a_terminated_capture_leaves_nothing(
    command: str, hamtune: Hamtune, tmp_path: Path
) -> None:
    source, scratch = tmp_path / "endless", tmp_path / "scratch"
    source.mkdir()
    scratch.mkdir()
    (source / "endless.c").write_text(ENDLESS)
    hamtune.environment["TMPDIR"] = str(scratch)
    document = {
        "name": "endless",
        "application": {
            "source": str(source),
            "build": "mpicc endless.c -o endless",
            "run": "endless",
            "ranks": 2,
        },
        "machine": {"nodes": 4, "degree": 2, "host_speed": "1Gf", "link_bandwidth": "10Gbps"},
        "search": {"topology": ["mesh-2d", "random"]},
        "budget": {"trials": 1},
    }
    recipe = ("--source", str(source), "--build", "mpicc endless.c -o endless", "--ranks", "2")
    arguments = {
        "run": ("run", hamtune.job_file(document)),
        "capture": ("capture", *recipe, "-o", "t.ht", "--", "endless"),
    }
    process = hamtune.start(*arguments[command])
    while not list(scratch.glob("**/progress")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, said
    assert list(scratch.iterdir()) == []


def test_a_service_ends_with_the_tests_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TESTING, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as tests:
        assert tests.stdout is not None
        service = int(tests.stdout.readline())
        assert is_alive(service)
        tests.kill()
    deadline = time.monotonic() + SECONDS
    while is_alive(service):
        assert time.monotonic() < deadline, "it was left running"
        time.sleep(0.05)

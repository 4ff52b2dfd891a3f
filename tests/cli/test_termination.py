"""SIGTERM during a capture ends it in order: no process and no file stays behind."""

import signal
import time
from pathlib import Path

import pytest

from tests.cli.conftest import SECONDS, Hamtune

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

"""A cluster by its launcher, whose user is killed or interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from measuring.mpirun_cluster import MpirunCluster
from tests.processes import are_running

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpiexec.mpich"],
}
RUN = """
import sys
from measuring.clusters import Launch
from measuring.mpirun_cluster import MpirunCluster
library, script, *template = sys.argv[1:]
cluster = MpirunCluster(template, ["localhost"], 2)
cluster.run(Launch(command=("sh", "-c", script), ranks=2, library=library, seconds=600.0))
"""


def wait_until(running: bool, *parts: str) -> None:
    for _ in range(6000):
        if are_running(*parts) == running:
            return
        time.sleep(0.05)
    raise AssertionError(f"{parts}: {'not started' if running else 'left behind'}")


def started(library: str, script: str, directory: Path) -> subprocess.Popen[bytes]:
    """A process, with a group of its own, that has ranks run a script."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, library, script, *TEMPLATES[library]],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


@pytest.mark.parametrize("library", sorted(TEMPLATES))
def test_launcher_and_ranks_end_with_a_process_that_is_killed(library: str, tmp_path: Path) -> None:
    assert MpirunCluster(TEMPLATES[library], ["localhost"], 2).library == library
    seconds = f"600.{os.getpid()}{len(library)}"  # no other test sleeps for so long
    process = started(library, f"sleep {seconds}", tmp_path)
    try:
        wait_until(True, "sleep\0", seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(False, seconds)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("library", sorted(TEMPLATES))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_what_left_its_group_ends_with_a_group_that_a_terminal_signals(
    library: str, number: signal.Signals, tmp_path: Path
) -> None:
    seconds = f"602.{os.getpid()}{len(library)}{number:d}"
    process = started(library, f"setsid -w sleep {seconds}", tmp_path)
    try:
        wait_until(True, "sleep\0", seconds)
        os.killpg(process.pid, number)
        assert process.wait() != 0
        wait_until(False, seconds)
    finally:
        process.kill()
        process.wait()

"""Clusters that have more files open than a process may have unless it asks for more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from testbed.clusters import find, known_names
from testbed.descriptors import needed_descriptors
from tests.testbed.test_clusters import said

ROOT = Path(__file__).resolve().parents[2]
HOSTS = 16
FEW = 2 * HOSTS  # not enough for a network and a name of each
BRING_UP = f"""
import resource
from testbed.clusters import CannotBringUp, bring_up
from tests.testbed.test_clusters import ring
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, ({FEW}, MOST))
try:
    bring_up(ring({HOSTS}), "many", scale=10)
except CannotBringUp as error:
    print(error)
"""


def brought_up(most: str) -> str:
    """What is said where up to `FEW` files may be open unless a process asks for more."""
    return subprocess.run(
        [sys.executable, "-c", BRING_UP.replace("MOST", most)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_a_cluster_asks_for_as_many_files_as_it_needs(own_testbeds: Path) -> None:
    assert brought_up("most") == ""
    cluster = find("many")
    assert said(cluster, "node-3", "sh", "-c", "ulimit -n") == f"{FEW}\n"


def test_a_cluster_of_more_files_than_there_may_be_is_refused(own_testbeds: Path) -> None:
    most = needed_descriptors(HOSTS) - 1
    answer = brought_up(str(most))
    assert f"{HOSTS} hosts and switches needs {most + 1} open files" in answer
    assert f"may have {most}" in answer
    assert known_names() == []

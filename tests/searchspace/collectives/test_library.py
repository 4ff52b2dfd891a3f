"""The catalogue against the SimGrid that is installed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path

import pytest

from searchspace.collectives import COLLECTIVES

SOURCE = Path(__file__).parent / "check_collective.c"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-7" speed="1Gf" bw="5GBps" lat="1us"
           loopback_bw="10GBps" loopback_lat="100ns"/>
</platform>
"""

Run = Callable[[Sequence[int], Sequence[str]], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def smpirun(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the checking program: takes the host of each rank and SimGrid's options."""
    folder = tmp_path_factory.mktemp("collectives")
    program = folder / "check_collective"
    subprocess.run(
        ["smpicc", "-O2", "-Wall", "-Werror", str(SOURCE), "-o", str(program)], check=True
    )
    platform = folder / "platform.xml"
    platform.write_text(PLATFORM)

    def run(hosts: Sequence[int], options: Sequence[str]) -> subprocess.CompletedProcess[str]:
        hostfile = folder / "hostfile"
        hostfile.write_text("".join(f"h{host}\n" for host in hosts))
        return subprocess.run(
            [
                "smpirun", "-np", str(len(hosts)), "-platform", str(platform),
                "-hostfile", str(hostfile), "--log=root.thres:critical", *options,
                str(program), "1", "30", "1000", "20000",
            ],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=folder,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("name", COLLECTIVES)
def test_the_catalogue_lists_what_the_library_has(name: str, smpirun: Run) -> None:
    result = smpirun([0, 1], [f"--cfg=smpi/{name}:no-such-algorithm"])
    listed = re.search(r"Valid algorithms: (.*)\.", result.stdout + result.stderr)
    assert listed is not None
    # `default` is what a search calls default, and `automatic` measures all the others.
    offered = set(listed[1].split(", ")) - {"default", "automatic"}
    algorithms = COLLECTIVES[name].algorithms
    assert offered == {each for each, algorithm in algorithms.items() if not algorithm.own}


@pytest.mark.parametrize(
    "hosts",
    [
        pytest.param([0, 1, 2, 3, 4, 5, 6, 7], id="one rank a host"),
        pytest.param([0, 0, 1, 1, 2, 2, 3, 3], id="two ranks a host"),
        pytest.param([0, 1, 2, 0, 1, 2], id="round-robin"),
        pytest.param([0, 0, 0, 1, 1, 2], id="irregular"),
    ],
)
def test_every_algorithm_that_may_be_chosen_gives_the_right_data(
    hosts: list[int], smpirun: Run
) -> None:
    """The n-th run takes the n-th usable algorithm of every collective."""
    usable = [
        [
            f"--cfg=smpi/{collective.name}:{algorithm.name}"
            for algorithm in collective.offered
            if not algorithm.own and algorithm.invalid(len(hosts), hosts) is None
        ]
        for collective in COLLECTIVES.values()
    ]
    for choice in zip_longest(*usable):
        options = [option for option in choice if option is not None]
        result = smpirun(hosts, options)
        assert (result.returncode, result.stdout) == (0, "right\n"), (options, result.stderr)
        assert "deadlock" not in result.stderr.lower(), options

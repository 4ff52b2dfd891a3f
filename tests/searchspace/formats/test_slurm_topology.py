"""Lists of a `topology.conf` that hold nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.host_list import MOST_NAMES
from searchspace.formats.slurm_topology import read_slurm_topology

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "line", ['SwitchName=b Nodes=""', 'SwitchName=b Switches=""', 'SwitchName="" Nodes=n2',
             "SwitchName=b Nodes=,"],
)  # fmt: skip
def test_an_empty_list_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(InvalidInput, match=r"^line 2 has an empty list; name what is in it, or"):
        read_slurm_topology(f"SwitchName=a Nodes=n1\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "SwitchName=s0 " + "a" * 4_000_000,
        "SwitchName=s0 " + "a" * 2_000_000 + " Nodes=n1",
        'SwitchName=s0 Nodes="n1" ' + "_" * 2_000_000,
        "SwitchName=s0 " + 'Nodes="a ' * 100_001,
    ],
    ids=["a word", "before a pair", "after a pair", "quotes"],
)
def test_long_words_that_say_nothing_are_refused(line: str) -> None:
    """Looking for a pair from each of their letters took hours."""
    with pytest.raises(InvalidInput, match=r"^line 1 is not known: 'SwitchName=s0 .*; a tree has"):
        read_slurm_topology(f"{line}\n")


def test_a_long_list_over_many_lines_is_read() -> None:
    nodes = ",".join(f"node{number}" for number in range(30_000))
    text = (
        'SwitchName=top   Switches=a LinkSpeed="9 9"\nswitchname=a \\\n\\\n Nodes=' + nodes + " \\"
    )

    fabric = read_slurm_topology(text)
    assert fabric.host_names[-1] == "node29999"
    assert fabric.names[-2:] == ("top", "a")


def test_a_line_that_goes_on_is_called_by_its_first() -> None:
    with pytest.raises(InvalidInput, match=r"^line 2 is not known: 'SwitchName=b  Foo=1'"):
        read_slurm_topology("SwitchName=a Nodes=n1\nSwitchName=b \\\nFoo=1\n")


def test_as_many_nodes_as_a_list_may_name_are_read() -> None:
    fabric = read_slurm_topology(f"SwitchName=a Nodes=n[1-{MOST_NAMES}]")
    assert len(fabric.host_names) == MOST_NAMES


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=a Nodes=n[0-1048573]",
        "\n".join(f"SwitchName=s{k} Nodes=n{k}-[0-65535]" for k in range(16)),
    ],
    ids=["a list", "many lines"],
)
def test_names_that_would_take_half_a_gigabyte_are_refused(text: str) -> None:
    script = f"""
import resource
from searchspace.errors import InvalidInput
from searchspace.formats.slurm_topology import read_slurm_topology
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_slurm_topology({text!r})
except InvalidInput as error:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    mebibytes, _, message = done.stdout.partition(" ")
    assert "more than 65536 n" in message
    assert int(mebibytes) < 100

"""Lists of a `topology.conf` that hold nothing."""

from __future__ import annotations

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.slurm_topology import read_slurm_topology


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

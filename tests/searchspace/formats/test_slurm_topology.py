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

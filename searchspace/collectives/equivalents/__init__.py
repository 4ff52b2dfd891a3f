"""The MPI libraries that configurations are exported to, and what they offer for each choice."""

from __future__ import annotations

from searchspace.collectives.equivalents.equivalent import Equivalent, Kind, Target
from searchspace.collectives.equivalents.intelmpi import INTEL_MPI
from searchspace.collectives.equivalents.mpich import MPICH_4_0, MPICH_4_1
from searchspace.collectives.equivalents.mvapich2 import MVAPICH2
from searchspace.collectives.equivalents.openmpi import OPENMPI_4, OPENMPI_5
from searchspace.errors import InvalidInput

__all__ = ["TARGETS", "Equivalent", "Kind", "Target", "target_named"]

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (OPENMPI_4, OPENMPI_5, MPICH_4_0, MPICH_4_1, MVAPICH2, INTEL_MPI)
}


def target_named(name: str) -> Target:
    """The target of this name.

    Raises:
        InvalidInput: There is none.
    """
    if name not in TARGETS:
        raise InvalidInput(
            f"unknown target '{name}'; allowed: {', '.join(TARGETS)}", field="target"
        )
    return TARGETS[name]

"""The decision tables of MPI implementations, which every collective offers as choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from searchspace.collectives.algorithm import Algorithm
from searchspace.collectives.rules import Rule

__all__ = ["IMPLEMENTATIONS", "LIBRARIES", "OF_SMPI", "SELECTORS", "decision_tables", "release"]

OF_SMPI = ("mpich", "ompi", "mvapich2", "impi")
"""MPI implementations whose choice of algorithms SMPI can imitate (`smpi/coll-selector`)."""

LIBRARIES = {"openmpi-4.1": "ompi", "mpich-4.0": "mpich"}
"""Releases whose own choice is simulated call by call, each with the table in SMPI that imitates an
old release of the same library."""

SELECTORS = (*OF_SMPI, *LIBRARIES)
"""All that may choose where no algorithm is named."""

IMPLEMENTATIONS = {
    "mpich": "MPICH",
    "ompi": "Open MPI",
    "mvapich2": "MVAPICH2",
    "impi": "Intel MPI",
    "openmpi-4.1": "Open MPI 4.1",
    "mpich-4.0": "MPICH 4.0",
}
"""What people call them."""


def decision_tables(rules: Mapping[str, Sequence[Rule]] | None = None) -> list[Algorithm]:
    """Lists the tables of one collective.

    A table may choose an algorithm that stops the program for some message sizes; that is found
    out by running it. `rules` holds where a table leads to wrong data or a hang, by its name.
    """
    return [
        Algorithm(
            name,
            f"what {release(name)} would choose by size and ranks",
            rules=tuple((rules or {}).get(name, ())),
            decision_table=True,
            own=name in LIBRARIES,
        )
        for name in SELECTORS
    ]


def release(name: str) -> str:
    """Whose choice a decision table imitates, for people."""
    title = IMPLEMENTATIONS[name]
    return title if name in LIBRARIES else f"an old release of {title}"

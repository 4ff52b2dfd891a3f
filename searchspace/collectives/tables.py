"""The decision tables of MPI implementations, which every collective offers as choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from searchspace.collectives.algorithm import Algorithm
from searchspace.collectives.rules import Rule

__all__ = [
    "IMPLEMENTATIONS",
    "LIBRARIES",
    "OF_SMPI",
    "SELECTORS",
    "decision_tables",
    "imitated",
    "release",
]

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


def imitated(name: str) -> str:
    """Whose algorithms run where a job file has `mpi: NAME` and names none itself, for people."""
    if name not in IMPLEMENTATIONS:
        return (
            "SMPI's own, which are those of no MPI library: one plain algorithm for most "
            "collectives, whatever the message size; exports leave them to the library"
        )
    newer = next((one for one, older in LIBRARIES.items() if older == name), None)
    advice = f"; {newer} stands for a newer one" if newer else ""
    return f"what {release(name)} chooses for each call, by message size and ranks{advice}"


def release(name: str) -> str:
    """Whose choice a decision table imitates, for people."""
    title = IMPLEMENTATIONS[name]
    return title if name in LIBRARIES else f"an old release of {title}"

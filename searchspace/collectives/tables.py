"""The decision tables of MPI implementations, which every collective offers as choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from searchspace.collectives.algorithm import Algorithm
from searchspace.collectives.rules import Rule

__all__ = ["IMPLEMENTATIONS", "SELECTORS", "decision_tables"]

SELECTORS = ("mpich", "ompi", "mvapich2", "impi")
"""MPI implementations whose choice of algorithms SMPI can imitate (`smpi/coll-selector`)."""

IMPLEMENTATIONS = {
    "mpich": "MPICH",
    "ompi": "Open MPI",
    "mvapich2": "MVAPICH2",
    "impi": "Intel MPI",
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
            f"what an old release of {IMPLEMENTATIONS[name]} would choose by size and ranks",
            rules=tuple((rules or {}).get(name, ())),
            decision_table=True,
        )
        for name in SELECTORS
    ]

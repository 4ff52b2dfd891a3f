"""What libraries have for algorithms of SMPI."""

from __future__ import annotations

import pytest

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.equivalents import TARGETS


@pytest.mark.parametrize(
    ("target", "collective", "algorithm", "kept"),
    [
        ("openmpi-4.1", "allreduce", "rdb", True),
        ("openmpi-4.1", "allreduce", "rab1", True),  # another name of the library's rabenseifner
        ("openmpi-4.1", "allreduce", "lr", False),
        ("openmpi-4.1", "allreduce", "default", True),
        ("openmpi-4.1", "allreduce", "redbcast", False),
        ("openmpi-4.1", "bcast", "ompi_binomial", True),  # reduces nothing
        ("openmpi-4.1", "reduce_scatter_block", "mpich_rdb", True),
        ("intelmpi-2021", "reduce", "binomial", False),  # no manual says so
        ("mpich-4.0", "allreduce", "rab_rdb", True),  # looks at the operation by itself
    ],
)
def test_some_may_be_forced_on_operations_that_do_not_commute(
    target: str, collective: str, algorithm: str, kept: bool
) -> None:
    assert TARGETS[target].keeps_order(collective, algorithm) == kept


def test_what_keeps_the_order_is_what_the_library_has() -> None:
    for target in TARGETS.values():
        for collective, names in target.in_order.items():
            deciding = "reduce_scatter" if collective.endswith("_block") else collective
            assert names <= {a.name for a in COLLECTIVES[deciding].algorithms.values()}
            assert all(target.equivalent(collective, n, (16,)).algorithm for n in names)

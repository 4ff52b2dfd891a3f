"""What libraries have for algorithms of SMPI."""

from __future__ import annotations

import pytest

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.equivalents import TARGETS, Target


@pytest.mark.parametrize(
    ("target", "collective", "algorithm", "kept"),
    [
        ("openmpi-4.1", "allreduce", "rdb", True),
        ("openmpi-4.1", "allreduce", "rab", False),
        ("openmpi-4.1", "allreduce", "lr", False),
        ("openmpi-4.1", "allreduce", "default", True),
        ("openmpi-4.1", "allreduce", "redbcast", False),
        ("openmpi-4.1", "bcast", "ompi_binomial", True),  # reduces nothing
        ("openmpi-4.1", "reduce_scatter_block", "mpich_rdb", True),
        ("intelmpi-2021", "reduce", "binomial", False),  # no manual says so
        ("mpich-4.0", "allreduce", "rab_rdb", True),  # looks at the operation by itself
    ],
)
def test_some_run_for_operations_that_do_not_commute(
    target: str, collective: str, algorithm: str, kept: bool
) -> None:
    assert TARGETS[target].keeps_order(collective, algorithm) == kept


def test_some_are_right_for_all_operations_since_another_runs_in_their_place() -> None:
    target = TARGETS["openmpi-4.1"]
    assert target.is_right("allreduce", "rab")
    assert target.is_right("allreduce", "rdb")
    assert not target.is_right("allreduce", "lr")


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_what_is_said_of_the_order_is_said_of_what_the_library_has(target: Target) -> None:
    for collective, names in [*target.in_order.items(), *target.replaced.items()]:
        deciding = "reduce_scatter" if collective.endswith("_block") else collective
        assert names <= {a.name for a in COLLECTIVES[deciding].algorithms.values()}
        assert all(target.equivalent(collective, n, (16,)).algorithm for n in names)

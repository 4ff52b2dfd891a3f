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
        ("mpich-4.0", "allreduce", "rab_rdb", False),  # falls back
        ("mpich-4.0", "reduce_scatter", "mpich_rdb", True),
        ("mvapich2-2.3", "allreduce", "rdb", False),  # not known
    ],
)
def test_some_run_for_operations_that_do_not_commute(
    target: str, collective: str, algorithm: str, kept: bool
) -> None:
    assert (TARGETS[target].order_obstacle(collective, algorithm) is None) == kept


def test_some_are_right_for_all_operations_since_another_runs_in_their_place() -> None:
    target = TARGETS["openmpi-4.1"]
    for name in ("rab", "rab1", "rdb", "mvapich2_two_level"):
        assert target.is_correct("allreduce", name)
    assert not target.is_correct("allreduce", "lr")


@pytest.mark.parametrize(
    ("target", "algorithm", "reason"),
    [
        ("openmpi-4.1", "lr", "does not keep the order of ranks in Open MPI 4.1"),
        ("openmpi-4.1", "rab", "is for operations that commute alone in Open MPI 4.1"),
        ("intelmpi-2021", "rdb", "is not known to keep the order of ranks in Intel MPI 2021"),
    ],
)
def test_an_obstacle_says_what_is_known(target: str, algorithm: str, reason: str) -> None:
    found = TARGETS[target].order_obstacle("allreduce", algorithm)
    assert found is not None
    assert found.startswith(reason)


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_what_is_said_of_the_order_is_said_of_what_the_library_has(target: Target) -> None:
    for collective, names in [*target.in_order.items(), *target.falls_back.items()]:
        deciding = "reduce_scatter" if collective.endswith("_block") else collective
        assert names <= {a.name for a in COLLECTIVES[deciding].algorithms.values()}
        assert all(target.equivalent(collective, n, (16,)).algorithm for n in names)

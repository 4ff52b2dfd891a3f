"""Where algorithms work, as measured; more in `smpi-collectives.md` of the project's references."""

from __future__ import annotations

import pytest

from searchspace.collectives import COLLECTIVES, SELECTORS
from searchspace.collectives.rules import mesh_2d, mesh_3d, power_of_two

ONE_A_HOST = list(range(16))
FOUR_A_HOST = [rank // 4 for rank in range(16)]
ROUND_ROBIN = [rank % 4 for rank in range(16)]
IRREGULAR = [0] * 6 + [1] * 6 + [2] * 4


def test_power_of_two() -> None:
    fits = [n for n in range(1, 70) if power_of_two(n, None) is None]
    assert fits == [1, 2, 4, 8, 16, 32, 64]


def test_a_2d_mesh_fails_at_one_and_at_primes_from_five_on() -> None:
    fails = [n for n in range(1, 32) if mesh_2d(n, None)]
    assert fails == [1, 5, 7, 11, 13, 17, 19, 23, 29, 31]


def test_a_3d_mesh_needs_a_square_that_divides_the_ranks() -> None:
    for fails in (1, 2, 10, 13, 14, 30):
        assert mesh_3d(fails, None)
    for works in (3, 4, 6, 8, 12, 16, 36, 64):
        assert mesh_3d(works, None) is None


@pytest.mark.parametrize(
    ("collective", "algorithm", "hosts", "reason"),
    [
        ("alltoall", "pair", ONE_A_HOST, None),
        ("alltoall", "pair", ONE_A_HOST[:12], "needs a power of two ranks, not 12"),
        ("alltoall", "pair_rma", ONE_A_HOST, "gives wrong data from about 250 elements on"),
        ("allreduce", "rab1", ONE_A_HOST[:6], "needs a power of two ranks, not 6"),
        ("allreduce", "rab", [0], "needs more than one rank"),
        ("allgather", "mvapich2_smp", FOUR_A_HOST, None),
        ("allgather", "mvapich2_smp", IRREGULAR, "needs as many ranks on every host, not 4 to 6"),
        ("allgather", "mvapich2_smp", ROUND_ROBIN, "needs consecutive ranks on every host"),
        ("scatter", "mvapich2_two_level_direct", FOUR_A_HOST, None),
        ("scatter", "mvapich2_two_level_direct", ROUND_ROBIN, "needs consecutive ranks"),
        ("bcast", "mvapich2_inter_node", ONE_A_HOST, None),
        ("bcast", "mvapich2_inter_node", FOUR_A_HOST, "needs one rank a host, not 4"),
        ("bcast", "SMP_linear", FOUR_A_HOST, None),
        ("bcast", "SMP_linear", ONE_A_HOST, "needs hosts with more than one rank"),
        ("bcast", "impi", ONE_A_HOST, None),
        ("bcast", "impi", ONE_A_HOST[:7], "may choose SMP_linear for 7 ranks"),
        ("barrier", "ompi_two_procs", [0, 1], None),
        ("barrier", "ompi_two_procs", [0, 1, 2], "needs exactly two ranks, not 3"),
    ],
)
def test_where_an_algorithm_works(
    collective: str, algorithm: str, hosts: list[int], reason: str | None
) -> None:
    found = COLLECTIVES[collective].algorithms[algorithm].invalid(len(hosts), hosts)
    assert (found is None) == (reason is None)
    assert (found or "").startswith(reason or "")


def test_without_the_hosts_only_the_ranks_decide() -> None:
    linear = COLLECTIVES["bcast"].algorithms["SMP_linear"]
    assert linear.invalid(16) is None
    assert COLLECTIVES["alltoall"].algorithms["pair"].invalid(12) is not None


def test_all_stands_for_algorithms_and_not_for_the_tables_of_implementations() -> None:
    for collective in COLLECTIVES.values():
        names = {algorithm.name for algorithm in collective.offered}
        assert names
        assert not names & set(SELECTORS)
        assert set(SELECTORS) <= set(collective.algorithms)


def test_every_algorithm_is_described() -> None:
    for collective in COLLECTIVES.values():
        assert collective.description
        assert all(algorithm.description for algorithm in collective.algorithms.values())


def test_another_name_for_an_algorithm_of_smpi_is_one_that_smpi_has() -> None:
    named = [
        (collective, algorithm.same_in_smpi)
        for collective in COLLECTIVES.values()
        for algorithm in collective.algorithms.values()
        if algorithm.same_in_smpi is not None
    ]
    assert named
    assert all(not collective.algorithms[name].own for collective, name in named)

"""The algorithms of collectives that a configuration names, and those that cannot be used."""

from __future__ import annotations

from searchspace.collectives import COLLECTIVES, DEFAULT, WORLD, Groups
from searchspace.collectives.by_size import PARAMETER, algorithms_of_largest
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput

__all__ = ["chosen_algorithms", "collective_obstacle"]


def chosen_algorithms(configuration: Configuration) -> dict[str, str]:
    """The algorithms that a configuration names, by collective: those of its largest messages."""
    return algorithms_of_largest(configuration)


def collective_obstacle(
    collective: str,
    algorithm: str,
    mpi: str,
    ranks: int,
    rank_hosts: tuple[int, ...] | None,
    groups: Groups = WORLD,
) -> str | None:
    """Says why an algorithm, or an MPI implementation's choice, cannot be used, or returns None.

    Args:
        collective: A key of `COLLECTIVES`.
        algorithm: Name of an algorithm, or `default` for the choice of `mpi`.
        mpi: One of `SELECTORS`, or `default` for SMPI's own choice.
        ranks: Of the application.
        rank_hosts: The host of each rank; None when unknown.
        groups: The communicators that the collective is called on.

    Raises:
        InvalidInput: The collective has no such algorithm.
    """
    algorithms = COLLECTIVES[collective].algorithms
    name = mpi if algorithm == DEFAULT else algorithm
    if name == DEFAULT:
        return None
    if name not in algorithms:
        offered = ", ".join((DEFAULT, *(a.name for a in algorithms.values() if a.offered)))
        raise InvalidInput(
            f"unknown algorithm '{name}'; allowed: {offered}", field=PARAMETER + collective
        )
    for group in groups:
        hosts = rank_hosts
        if group and rank_hosts is not None:
            hosts = tuple(rank_hosts[rank] for rank in group)
        reason = algorithms[name].invalid(len(group) or ranks, hosts)
        if reason is not None:
            where = f" (in a communicator of {len(group)} ranks)" if group else ""
            return f"{name} {reason}{where}"
    return None

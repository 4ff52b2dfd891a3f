"""Where a collective algorithm works: predicates that say, in a plain sentence, why it does not.

Measured on SimGrid 3.32 by running every algorithm on many communicator sizes and layouts and
comparing the data with what it must be; the shapes of meshes follow SMPI's sources.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

__all__ = [
    "Rule",
    "consecutive_ranks",
    "exactly_two_ranks",
    "hosts_with_several_ranks",
    "mesh_2d",
    "mesh_3d",
    "more_than_one_rank",
    "one_rank_per_host",
    "power_of_two",
    "regular_hosts",
]


Rule: TypeAlias = Callable[[int, Sequence[int] | None], str | None]
"""Takes ranks and the host of each; returns why an algorithm does not work for them, or None."""


def power_of_two(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Needs 2^k ranks."""
    return f"needs a power of two ranks, not {ranks}" if ranks & (ranks - 1) else None


def more_than_one_rank(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Fails when a rank is alone."""
    return "needs more than one rank" if ranks < 2 else None


def exactly_two_ranks(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Made for two ranks."""
    return f"needs exactly two ranks, not {ranks}" if ranks != 2 else None


def mesh_2d(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Needs ranks = x * y with sqrt(ranks) <= x <= ranks / 2, or x = 1 for 2 and 3 ranks."""
    if any(ranks % x == 0 for x in range(math.isqrt(ranks), ranks // 2 + 1)):
        return None
    return f"needs ranks that form a 2-D mesh, which {ranks} do not"


def mesh_3d(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Needs ranks = x * x * z with floor(cbrt(ranks)) <= x <= ranks / 3."""
    smallest = max(x for x in range(ranks + 1) if x**3 <= ranks)
    if any(ranks % (x * x) == 0 for x in range(smallest, ranks // 3 + 1)):
        return None
    return f"needs ranks that form a 3-D mesh x * x * z, which {ranks} do not"


def _ranks_per_host(rank_hosts: Sequence[int]) -> list[int]:
    return list(Counter(rank_hosts).values())


def regular_hosts(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Needs the same number of ranks on every host that runs any."""
    counts = set(_ranks_per_host(rank_hosts or ()))
    if len(counts) <= 1:
        return None
    return f"needs as many ranks on every host, not {min(counts)} to {max(counts)}"


def consecutive_ranks(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Needs the ranks of every host to follow each other."""
    hosts = rank_hosts or ()
    changes = sum(here != there for here, there in itertools.pairwise(hosts))
    if changes + 1 <= len(set(hosts)) or not hosts:
        return None
    return "needs consecutive ranks on every host"


def one_rank_per_host(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Gives wrong data when ranks share a host."""
    most = max(_ranks_per_host(rank_hosts or (0,)))
    return f"needs one rank a host, not {most}" if most > 1 else None


def hosts_with_several_ranks(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Gives wrong data or stops the program when every rank is alone on its host."""
    if rank_hosts is None or ranks == 1 or max(_ranks_per_host(rank_hosts)) > 1:
        return None
    return "needs hosts with more than one rank"

"""Mappings written out: the core of every rank, as a configuration carries it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from searchspace.errors import InvalidInput

__all__ = ["PERMUTATION", "packed_cores", "read_permutation"]

PERMUTATION = "permutation"
"""The mapping that a configuration writes out under this name: cores, numbered host by host."""


def read_permutation(value: Any, hosts: int, cores_per_host: int) -> tuple[int, ...]:
    """Checks the cores of rank 0, 1, ... and brings them into their one form (`packed_cores`).

    Raises:
        InvalidInput: It is no list of cores of the machine, or names one twice.
    """
    cores = hosts * cores_per_host
    if not isinstance(value, list | tuple) or not value:
        raise InvalidInput(
            f"must list the core of rank 0, 1, ...: numbers from 0 to {cores - 1}, host by host",
            field=PERMUTATION,
        )
    for core in value:
        if not isinstance(core, int) or isinstance(core, bool) or not 0 <= core < cores:
            raise InvalidInput(
                f"{core!r} is not a core; allowed: 0 to {cores - 1}", field=PERMUTATION
            )
    core, times = Counter(value).most_common(1)[0]
    if times > 1:
        raise InvalidInput(f"core {core} is given to {times} ranks", field=PERMUTATION)
    return packed_cores([core // cores_per_host for core in value], cores_per_host)


def packed_cores(hosts: Sequence[int], cores_per_host: int) -> tuple[int, ...]:
    """The cores of ranks on these hosts, in one form for all that mean the same run.

    Which core of a host a rank runs on makes no difference: its ranks take the cores in order.

    Example:
        >>> packed_cores([1, 0, 1], cores_per_host=2)
        (2, 0, 3)
    """
    taken: Counter[int] = Counter()
    cores = []
    for host in hosts:
        cores.append(host * cores_per_host + taken[host])
        taken[host] += 1
    return tuple(cores)

"""The sizes at which a program calls collectives, read from its trace."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from searchspace.collectives.by_size import called_bytes
from searchspace.formats.operations import Operation, decode
from searchspace.formats.trace import read_header, read_operations

__all__ = ["called_sizes"]

_MOST_RANKS = 64
"""Of a trace, whose calls are read: evenly chosen, the first and the last among them."""


def called_sizes(
    traces: Collection[Path], collectives: Collection[str], *, most: int = 12
) -> dict[str, tuple[int, ...]]:
    """Read the sizes of blocking calls; of 64 ranks, where a trace has more.

    Args:
        traces: Of the program, or of several.
        collectives: Which ones: of those of `workers.collective_times`.
        most: Sizes of a collective; of more, those that divide them evenly.

    Returns:
        By collective, bytes as decision tables count them: of the whole vector, but of the block of
        one rank for allgather, alltoall, gather and scatter.

    Raises:
        InvalidInput: A trace cannot be read.
    """
    found: dict[str, set[int]] = {}
    for operation in _operations(traces):
        if operation.name in collectives:
            size = called_bytes(operation.name, operation.fields)
            if size:
                found.setdefault(operation.name, set()).add(size)
    return {name: _evenly(sorted(found[name]), most) for name in collectives if name in found}


def _operations(traces: Collection[Path]) -> Iterator[Operation]:
    """What some ranks of each trace do."""
    for trace in traces:
        for rank in _evenly(range(read_header(trace).ranks), _MOST_RANKS):
            yield from decode(read_operations(trace, rank))


def _evenly(values: Collection[int], most: int) -> tuple[int, ...]:
    listed = list(values)
    if len(listed) <= most:
        return tuple(listed)
    return tuple(listed[round(at * (len(listed) - 1) / (most - 1))] for at in range(most))

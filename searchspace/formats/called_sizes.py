"""The sizes at which a program calls collectives, read from its trace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from searchspace.formats.operations import decode
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
    for trace in traces:
        for rank in _evenly(range(read_header(trace).ranks), _MOST_RANKS):
            for operation in decode(read_operations(trace, rank)):
                if operation.name in collectives:
                    size = _bytes(operation.name, operation.fields)
                    if size > 0:
                        found.setdefault(operation.name, set()).add(size)
    return {name: _evenly(sorted(found[name]), most) for name in collectives if name in found}


def _bytes(name: str, fields: Mapping[str, Any]) -> int:
    if name in ("allreduce", "bcast", "reduce"):
        return int(fields["count"] * fields["size"])
    if name == "reduce_scatter":
        return int(sum(fields["counts"]) * fields["size"])
    sent = fields["send_count"] * fields["send_size"]
    return int(max(sent, fields["recv_count"] * fields["recv_size"]))


def _evenly(values: Collection[int], most: int) -> tuple[int, ...]:
    listed = list(values)
    if len(listed) <= most:
        return tuple(listed)
    return tuple(listed[round(at * (len(listed) - 1) / (most - 1))] for at in range(most))

"""The sizes at which a program calls collectives, read from its trace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from searchspace.formats.operations import decode
from searchspace.formats.time_independent import NOT_COMMUTATIVE
from searchspace.formats.trace import read_header, read_operations

__all__ = ["Called", "called_sizes"]

_MOST_RANKS = 64
"""Of a trace, whose calls are read: evenly chosen, the first and the last among them."""


@dataclass(frozen=True)
class Called:
    """What a program calls.

    Attributes:
        sizes: By collective, bytes of its blocking calls, as decision tables count them: of the
            whole vector, but of the block of one rank for allgather, alltoall, gather and scatter.
        commutative: Whether all operations of its reductions commute.
    """

    sizes: Mapping[str, tuple[int, ...]]
    commutative: bool


def called_sizes(
    traces: Collection[Path], collectives: Collection[str], *, most: int = 12
) -> Called:
    """Read the calls of collectives; of 64 ranks, where a trace has more.

    Args:
        traces: Of the program, or of several.
        collectives: Which ones: of those of `workers.collective_times`.
        most: Sizes of a collective; of more, those that divide them evenly.

    Raises:
        InvalidInput: A trace cannot be read.
    """
    found: dict[str, set[int]] = {}
    commutative = True
    for trace in traces:
        for rank in _evenly(range(read_header(trace).ranks), _MOST_RANKS):
            for operation in decode(read_operations(trace, rank)):
                if operation.name in collectives:
                    size = _bytes(operation.name, operation.fields)
                    if size > 0:
                        found.setdefault(operation.name, set()).add(size)
                if "reduce" in operation.name and _flags(operation.fields) & NOT_COMMUTATIVE:
                    commutative = False
    sizes = {name: _evenly(sorted(found[name]), most) for name in collectives if name in found}
    return Called(sizes, commutative)


def _flags(fields: Mapping[str, Any]) -> int:
    return int(fields.get("flags", 0))


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

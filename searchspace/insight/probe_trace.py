"""Probe traces: of a program, nothing but its first calls of one collective."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from searchspace.collectives import DECIDED_BY_ANOTHER
from searchspace.collectives.by_size import called_bytes
from searchspace.formats.operations import Operation, decode, encode
from searchspace.formats.trace import TraceHeader, read_header, read_operations, write_trace

__all__ = ["MOST_OPERATIONS", "write_probe_trace"]

MOST_OPERATIONS = 400_000
"""Of all ranks together; reading more takes longer than it is worth."""

_MAKES_COMMUNICATORS = frozenset(
    {"comm_dup", "comm_split", "comm_create", "cart_create", "cart_sub", "comm_create_group"}
)
_SIZED = {
    "bcast": ("root", "count", "size"),
    "reduce": ("root", "count", "size"),
    "allreduce": ("count", "size"),
    "gather": ("root", "send_count", "send_size"),
    "scatter": ("root", "recv_count", "recv_size"),
    "allgather": ("send_count", "send_size"),
    "alltoall": ("send_count", "send_size"),
    "reduce_scatter_block": ("count", "size"),
    "barrier": (),
}
"""What tells calls of a collective apart, and is the same on all ranks that call it together."""

_CALLS = 1024
_DISTINCT = 64


def write_probe_trace(
    trace: Path,
    collective: str,
    output: Path,
    *,
    most_flops: float,
    sizes: tuple[int, float] = (0, math.inf),
) -> Literal["all", "some", "none", "unread"]:
    """Write what a program does on its communicators of one collective, and nothing else.

    Communicators are made as in the program; none is freed. All ranks of a communicator call its
    collectives in the same order, so that the first calls of each rank belong together. Of many
    calls the first are kept, and the first of every size. Ranks come to a call at different times,
    as in programs: algorithms that take what arrives first are told from others by that.

    Args:
        trace: Of the program.
        collective: Which calls are kept, with those that run by its algorithm.
        output: The trace to write.
        most_flops: What a rank computes at most before each call, as drawn.
        sizes: Only calls of so many bytes and more (`called_bytes`), and fewer than the second.

    Returns:
        Whether every call of the program that is asked for is like one that was kept (`all`) or not
        (`some`); `none` where there are none; `unread`, and nothing is written, where the trace is
        too long.

    Raises:
        InvalidInput: The file is no trace.
    """
    header = read_header(trace)
    if header.operations > MOST_OPERATIONS:
        return "unread"
    names = {collective} | {
        other for other, decider in DECIDED_BY_ANOTHER.items() if decider == collective
    }
    blocks, kept, lost = [], 0, 0
    for rank in range(header.ranks):
        calls = _Calls(names, sizes, max(2, min(64, _CALLS // header.ranks)))
        blocks.append(_block(trace, rank, calls, most_flops))
        kept += calls.kept
        lost += calls.lost
    probe = TraceHeader(ranks=header.ranks, program=f"{collective}-probe", captured_by="hamtune")
    write_trace(output, probe, blocks)
    if not kept:
        return "none"
    return "some" if lost else "all"


def _block(trace: Path, rank: int, calls: _Calls, most_flops: float) -> bytes:
    """What one rank does in the probe, each call after a computation of its own."""
    draw = random.Random(rank)  # noqa: S311
    written: list[bytes] = []
    for operation in decode(read_operations(trace, rank)):
        is_kept = calls.keep(operation)
        if is_kept:
            written.append(encode("compute", flops=draw.random() * most_flops))
        if is_kept or operation.name in _MAKES_COMMUNICATORS:
            written.append(encode(operation.name, **operation.fields))
    return b"".join([*written, encode("finalize")])


class _Calls:
    """Which calls of one rank are kept, and how many were lost that are like none of these."""

    def __init__(self, names: Collection[str], sizes: tuple[int, float], first: int) -> None:
        self._names = names
        self._within = sizes
        self._first = first
        self._seen: Counter[object] = Counter()
        self._sizes: set[object] = set()
        self.kept = 0
        self.lost = 0

    def keep(self, operation: Operation) -> bool:
        """Whether a call is kept."""
        if operation.name not in self._names or not self._is_within(operation):
            return False
        communicator = operation.fields["comm"]
        self._seen[communicator] += 1
        sized = _SIZED.get(operation.name)
        size = None
        if sized is not None:
            size = (communicator, operation.name, *(operation.fields[name] for name in sized))
        new = size is not None and size not in self._sizes and len(self._sizes) < _DISTINCT
        keep = new or self._seen[communicator] <= self._first
        if keep and size is not None:
            self._sizes.add(size)
        self.kept += keep
        self.lost += not keep and (size is None or size not in self._sizes)
        return keep

    def _is_within(self, operation: Operation) -> bool:
        size = called_bytes(operation.name, operation.fields)
        return size is None or self._within[0] <= size < self._within[1]

"""Probe traces: of a program, nothing but its first calls of one collective."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Literal

from searchspace.collectives import DECIDED_BY_ANOTHER
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
    trace: Path, collective: str, output: Path, *, most_flops: float
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

    Returns:
        Whether every call of the program is like one that was kept (`all`) or not (`some`); `none`
        where there are none; `unread`, and nothing is written, where the trace is too long.

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
        draw = random.Random(rank)  # noqa: S311
        calls = _Calls(max(2, min(64, _CALLS // header.ranks)))
        written: list[bytes] = []
        for operation in decode(read_operations(trace, rank)):
            wanted = operation.name in names and calls.keep(operation)
            kept += wanted
            if wanted:
                written.append(encode("compute", flops=draw.random() * most_flops))
            if wanted or operation.name in _MAKES_COMMUNICATORS:
                written.append(encode(operation.name, **operation.fields))
        lost += calls.lost
        blocks.append(b"".join([*written, encode("finalize")]))
    probe = TraceHeader(ranks=header.ranks, program=f"{collective}-probe", captured_by="hamtune")
    write_trace(output, probe, blocks)
    if not kept:
        return "none"
    return "some" if lost else "all"


class _Calls:
    """Which calls of one rank are kept, and how many were lost that are like none of these."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._seen: Counter[object] = Counter()
        self._sizes: set[object] = set()
        self.lost = 0

    def keep(self, operation: Operation) -> bool:
        """Whether a call is kept."""
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
        self.lost += not keep and (size is None or size not in self._sizes)
        return keep

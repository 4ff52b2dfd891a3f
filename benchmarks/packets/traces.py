"""Traces of any number of ranks, written without running a program.

`stencil` is what a capture of `stencil3d` holds on the same number of ranks, which
`tests/benchmarks/test_packet_traces.py` compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace

__all__ = ["allreduce", "alltoall", "cube", "stencil"]

_AXES = 3
_FLOPS_A_POINT = (6.0, 3.0)  # of stencil3d: the new value, and its change
_DOUBLE = 8  # bytes
_GRID = 2  # the first communicator that a program makes

Operations = list[bytes]


def alltoall(path: Path, ranks: int, size: int) -> Path:
    """One all-to-all of `size` bytes a pair."""
    return _write(path, ranks, lambda _: [_blocks("alltoall", size)])


def allreduce(path: Path, ranks: int, size: int) -> Path:
    """One all-reduce of `size` bytes, in doubles."""
    call = encode("allreduce", count=size // _DOUBLE, size=_DOUBLE)
    return _write(path, ranks, lambda _: [call])


def cube(ranks: int) -> tuple[int, int, int]:
    """The sides of the most cubic grid of so many ranks, the largest first, as MPI_Dims_create.

    Raises:
        ValueError: `ranks` is not a power of two; others are not needed here.
    """
    power = ranks.bit_length() - 1
    if 1 << power != ranks:
        raise ValueError(f"{ranks} ranks are not a power of two")
    return (1 << (power + 2) // 3, 1 << (power + 1) // 3, 1 << power // 3)


def stencil(path: Path, ranks: int, points: int = 64, iterations: int = 10) -> Path:
    """The seven-point stencil on a cube of `points` points a side; an all-reduce an iteration."""
    return _write(path, ranks, lambda rank: _stencil(rank, cube(ranks), points, iterations))


def _stencil(rank: int, sides: Sequence[int], points: int, iterations: int) -> Operations:
    strides = (sides[1] * sides[2], sides[2], 1)
    own = [points // side for side in sides]
    faces = []  # towards each neighbour: number of the face, rank, points
    for face in range(2 * _AXES):
        axis, step = face // 2, 2 * (face % 2) - 1
        if 0 <= rank // strides[axis] % sides[axis] + step < sides[axis]:
            faces.append((face, rank + step * strides[axis], math.prod(own) // own[axis]))
    exchange: list[bytes] = []
    for name, flip in (("irecv", 1), ("isend", 0)):
        for face, peer, count in faces:
            message = {"peer": peer, "tag": face ^ flip, "count": count, "size": _DOUBLE}
            exchange.append(encode(name, slot=len(exchange), comm=_GRID, **message))
    iteration = [
        encode("pcontrol", level=1),
        *exchange,
        encode("waitall", slots=list(range(len(exchange)))),
        *(encode("compute", flops=flops * math.prod(own)) for flops in _FLOPS_A_POINT),
        encode("allreduce", comm=_GRID, count=1, size=_DOUBLE),
    ]
    return [
        encode("cart_create", dims=[extent for side in sides for extent in (side, 0)]),
        encode("barrier"),
        encode("wtime"),
        *(iteration * iterations),
        encode("pcontrol", level=0),
        encode("wtime"),
        encode("reduce", count=1, size=_DOUBLE),
        encode("comm_free", comm=_GRID),
    ]


def _blocks(name: str, size: int) -> bytes:
    return encode(name, send_count=size, send_size=1, recv_count=size, recv_size=1)


def _write(path: Path, ranks: int, operations: Callable[[int], Operations]) -> Path:
    header = TraceHeader(ranks=ranks, program=path.stem)
    finalize = encode("finalize")
    write_trace(path, header, [b"".join(operations(rank)) + finalize for rank in range(ranks)])
    return path

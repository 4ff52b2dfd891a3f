"""Which algorithm MPICH 4.0 chooses when nobody says, one rank on each host.

Facts from the descriptions of its parameters (`mpivars`, `MPIR_CVAR_*_MSG_SIZE` and
`MPIR_CVAR_BCAST_MIN_PROCS`), for vectors of at least as many elements as ranks; those of operations
that do not commute are from the selection tree inside the library. Names are the simulator's. Bytes
are those that a rank has for another in an all-to-all, those of all ranks together in an allgather,
and those of the whole vector otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["NON_COMMUTATIVE", "ROWS"]

_SHORT_BCAST = 12_288
_LONG_BCAST = 524_288
_BCAST_RANKS = 8
_SHORT_ALLGATHER = 81_920
_LONG_ALLGATHER = 524_288
_SHORT_ALLREDUCE = 2_048
_SHORT_ALLTOALL = 256
_MEDIUM_ALLTOALL = 32_768
_SHORT_REDUCE = 2_048
_LONG_REDUCE_SCATTER = 524_288
_POWERS = [1 << exponent for exponent in range(1, 21)]

_Rows = Sequence[tuple[int, Sequence[tuple[int, str]]]]


def _by_power(
    power: Sequence[tuple[int, str]], other: Sequence[tuple[int, str]], least: int
) -> _Rows:
    """Rows of powers of two and of other ranks, from so many ranks on."""
    return [row for at in _POWERS if at >= least for row in ((at, power), (at + 1, other))]


def _allgather(doubling: str, bruck: str, ring: str) -> _Rows:
    return _by_power(
        [(0, doubling), (_LONG_ALLGATHER, ring)], [(0, bruck), (_SHORT_ALLGATHER, ring)], 2
    )


ROWS: Mapping[str, _Rows] = {
    "allgather": _allgather("rdb", "bruck", "NTSLR"),
    "allgatherv": _allgather("mpich_rdb", "ompi_bruck", "mpich_ring"),
    "allreduce": ((2, ((0, "rdb"), (_SHORT_ALLREDUCE + 1, "rab_rdb"))),),
    "alltoall": (
        (2, ((0, "mvapich2_scatter_dest"), (_MEDIUM_ALLTOALL + 1, "ring"))),
        *_by_power(
            [
                (0, "bruck"),
                (_SHORT_ALLTOALL + 1, "mvapich2_scatter_dest"),
                (_MEDIUM_ALLTOALL + 1, "pair"),
            ],
            [
                (0, "bruck"),
                (_SHORT_ALLTOALL + 1, "mvapich2_scatter_dest"),
                (_MEDIUM_ALLTOALL + 1, "ring"),
            ],
            8,
        ),
    ),
    "alltoallv": ((2, ((0, "bruck"),)),),
    "barrier": ((2, ((0, "ompi_bruck"),)),),
    "bcast": (
        (2, ((0, "binomial_tree"),)),
        *_by_power(
            [
                (0, "binomial_tree"),
                (_SHORT_BCAST, "scatter_rdb_allgather"),
                (_LONG_BCAST, "scatter_LR_allgather"),
            ],
            [(0, "binomial_tree"), (_SHORT_BCAST, "scatter_LR_allgather")],
            _BCAST_RANKS,
        ),
    ),
    "gather": ((2, ((0, "ompi_binomial"),)),),
    "reduce": _by_power(
        [(0, "binomial"), (_SHORT_REDUCE + 1, "scatter_gather")],
        [(0, "binomial"), (_SHORT_REDUCE + 1, "rab")],  # the nearest for these
        2,
    ),
    "reduce_scatter": (
        (2, ((0, "ompi_basic_recursivehalving"), (_LONG_REDUCE_SCATTER, "mpich_pair"))),
    ),
    "scatter": ((2, ((0, "ompi_binomial"),)),),
}
"""From so many ranks on, from so many bytes on; of reductions by operations that commute."""

NON_COMMUTATIVE: Mapping[str, _Rows] = {
    "allreduce": ((2, ((0, "rdb"),)),),
    "reduce": ((2, ((0, "binomial"),)),),
    # Where ranks are a power of two and parts equal the library has an algorithm of its own, which
    # the simulator has for nothing else.
    "reduce_scatter": ((2, ((0, "mpich_rdb"),)),),
}
"""The same of reductions by operations that do not commute."""

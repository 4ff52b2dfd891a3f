"""What a library chooses when nobody says, as rules that the simulator follows call by call."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.decision_table import Row
from searchspace.collectives.equivalents.mpich_choices import (
    NON_COMMUTATIVE as MPICH_NON_COMMUTATIVE,
)
from searchspace.collectives.equivalents.mpich_choices import ROWS as MPICH_ROWS
from searchspace.collectives.equivalents.openmpi import ALGORITHM_IDS
from searchspace.collectives.equivalents.openmpi_choices import (
    NON_COMMUTATIVE as OPENMPI_NON_COMMUTATIVE,
)
from searchspace.collectives.equivalents.openmpi_choices import TABLE as OPENMPI_TABLE
from searchspace.collectives.tables import LIBRARIES

__all__ = ["decided", "option", "rules", "selected"]

_MOST_RANKS = 1 << 20
_OF_ALL = ("allgather", "allgatherv")
"""Where MPICH looks at what all ranks have together."""
_POWER_OF_TWO_ONLY = {"rdb": "bruck"}
"""Of Open MPI's allgather: what it takes where ranks are no power of two."""

_OPENMPI: Mapping[str, Mapping[str, str]] = {
    "allgather": {
        "bruck": "bruck",
        "recursive_doubling": "rdb",
        "ring": "NTSLR",
        "neighbor": "ompi_neighborexchange/NTSLR",
        "two_proc": "NTSLR",
    },
    "allgatherv": {
        "default": "GB",
        "bruck": "ompi_bruck",
        "ring": "mpich_ring",
        "neighbor": "ompi_neighborexchange/mpich_ring",
        "two_proc": "mpich_ring",
    },
    "allreduce": {
        "basic_linear": "ompi_basic_linear",
        "nonoverlapping": "redbcast",
        "recursive_doubling": "rdb",
        "ring": "lr",
        "segmented_ring": "lr",
        "rabenseifner": "rab",
    },
    "alltoall": {
        "linear": "basic_linear",
        "pairwise": "ring",
        "modified_bruck": "bruck",
        "linear_sync": "ompi_linear_sync",
        "two_proc": "ring",
    },
    "alltoallv": {"basic_linear": "ompi_basic_linear", "pairwise": "ring"},
    "barrier": {
        "linear": "ompi_basic_linear",
        "double_ring": "ompi_doublering",
        "recursive_doubling": "ompi_recursivedoubling",
        "bruck": "ompi_bruck",
        "two_proc": "ompi_two_procs",
        "tree": "ompi_tree",
    },
    "bcast": {
        "basic_linear": "flattree",
        "chain": "ompi_chain_whole",
        "pipeline": "ompi_chain_whole",
        "split_binary_tree": "ompi_binary_tree",
        "binary_tree": "ompi_binary_tree",
        "binomial": "ompi_binomial",
        "knomial": "ompi_knomial",
        "scatter_allgather": "scatter_rdb_allgather",
        "scatter_allgather_ring": "scatter_LR_allgather",
    },
    "gather": {
        "basic_linear": "ompi_basic_linear",
        "binomial": "ompi_binomial",
        "linear_sync": "ompi_linear_sync",
    },
    "reduce": {
        "linear": "ompi_basic_linear",
        "chain": "ompi_chain_whole",
        "pipeline": "ompi_chain_whole",
        "binary": "ompi_binary_whole",
        "binomial": "binomial",
        "in-order_binary": "ompi_in_order_binary",
        "rabenseifner": "scatter_gather",
    },
    "reduce_scatter": {
        "non-overlapping": "default",
        "recursive_halving": "ompi_basic_recursivehalving",
        "ring": "ompi_ring",
        "butterfly": "ompi_butterfly",
    },
    "scatter": {
        "basic_linear": "ompi_basic_linear",
        "binomial": "ompi_binomial",
        "linear_nb": "ompi_linear_nb",
    },
}
"""The simulator's name of what `tuned` runs, without segments as its own table has it.

Not the same: the split binary tree is an unsplit one.
"""

_Lines = Sequence[tuple[int, str]]


def option(collective: str, algorithm: str) -> str:
    """The value of SMPI's option that names an algorithm, or a library's own choice."""
    return rules(algorithm, collective) if algorithm in LIBRARIES else algorithm


def selected(selector: str) -> dict[str, str]:
    """SMPI's options under which one of `SELECTORS` chooses all algorithms."""
    if selector not in LIBRARIES:
        return {"smpi/coll-selector": selector}
    return {f"smpi/{collective}": rules(selector, collective) for collective in COLLECTIVES}


@functools.cache
def rules(library: str, collective: str) -> str:
    """What a library does for each size of communicator and call, as the simulator reads it.

    Args:
        library: Of `LIBRARIES`.
        collective: A key of `COLLECTIVES`.
    """
    tables = (_rows(library, collective), _other_rows(library, collective))
    return _written(*tables, of_all=_is_of_all(library, collective))


def decided(rows: Sequence[Row], collective: str, library: str) -> str:
    """What the simulator follows where a table decides, and elsewhere the library.

    Args:
        rows: The table of the collective.
        collective: A key of `COLLECTIVES`.
        library: Whose choice `default` is, of `SELECTORS`.
    """
    of_all = _is_of_all(library, collective)
    if library not in LIBRARIES:
        return _written(_spliced([(2, [(0, library)])], rows, of_all=of_all), of_all=of_all)
    spliced = _spliced(_rows(library, collective), rows, of_all=of_all)
    other = _other_rows(library, collective)
    if other and LIBRARIES[library] != "mpich":  # whose file is for operations that commute
        other = _spliced(other, rows, of_all=of_all)
    return _written(spliced, other, of_all=of_all)


def _spliced(
    own: Sequence[tuple[int, _Lines]], rows: Sequence[Row], *, of_all: bool
) -> list[tuple[int, _Lines]]:
    """What a library does by itself, with a table in its place where that says something."""
    begins = sorted({ranks for ranks, _ in own} | {row.ranks for row in rows})
    spliced: list[tuple[int, _Lines]] = []
    for ranks in begins:
        factor = ranks if of_all else 1
        lines = next((lines for begin, lines in reversed(own) if begin <= ranks), [])
        row = next((row for row in reversed(rows) if row.ranks <= ranks), None)
        ours = row.lines if row is not None else ()
        sizes = sorted({least for least, _ in lines} | {line.bytes * factor for line in ours})
        found = []
        for size in sizes:
            name = next((x.algorithm for x in reversed(ours) if x.bytes * factor <= size), DEFAULT)
            if name == DEFAULT:
                name = next(choice for least, choice in reversed(lines) if least <= size)
            found.append((size, name))
        spliced.append((ranks, found))
    return spliced


def _is_of_all(library: str, collective: str) -> bool:
    return LIBRARIES.get(library) == "mpich" and collective in _OF_ALL


def _rows(library: str, collective: str) -> Sequence[tuple[int, _Lines]]:
    if LIBRARIES[library] == "mpich":
        return MPICH_ROWS[collective]
    rows = _named(collective, OPENMPI_TABLE[collective])
    return [*_by_powers_of_two(rows)] if collective == "allgather" else rows


def _other_rows(library: str, collective: str) -> Sequence[tuple[int, _Lines]]:
    """The rows for operations that do not commute; empty where no operation is given."""
    if LIBRARIES[library] == "mpich":
        return MPICH_NON_COMMUTATIVE.get(collective, ())
    return _named(collective, OPENMPI_NON_COMMUTATIVE.get(collective, ()))


def _written(*tables: Sequence[tuple[int, _Lines]], of_all: bool) -> str:
    texts = [
        ";".join(
            f"{ranks}:{','.join(f'{least}={name}' for least, name in lines)}"
            for ranks, lines in rows
        )
        for rows in tables
        if rows
    ]
    return f"{'rules-of-all' if of_all else 'rules'}:{'|'.join(texts)}"


def _named(
    collective: str, rows: Sequence[tuple[int, Sequence[tuple[int, int]]]]
) -> list[tuple[int, _Lines]]:
    names, ids = _OPENMPI[collective], ALGORITHM_IDS[collective]
    return [
        (ranks, [(least, names[ids[number]]) for least, number in lines]) for ranks, lines in rows
    ]


def _by_powers_of_two(rows: Sequence[tuple[int, _Lines]]) -> Iterator[tuple[int, _Lines]]:
    """The rows, with those for powers of two apart from those for other ranks."""
    powers = [1 << exponent for exponent in range(1, _MOST_RANKS.bit_length())]
    begins = sorted({ranks for ranks, _ in rows} | {*powers, *(power + 1 for power in powers)})
    for begin in begins:
        if begin < rows[0][0]:
            continue
        lines = next(lines for ranks, lines in reversed(rows) if ranks <= begin)
        if begin & (begin - 1):
            lines = [(least, _POWER_OF_TWO_ONLY.get(name, name)) for least, name in lines]
        yield begin, lines

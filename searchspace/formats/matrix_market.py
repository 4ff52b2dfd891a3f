"""Traffic matrices: MatrixMarket files (`coordinate integer symmetric`, bytes both ways), or rows
of numbers as plain text.
"""  # noqa: D205

from __future__ import annotations

import io
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.traffic import Traffic

__all__ = ["read_traffic", "write_traffic"]

HEADER = "%%MatrixMarket matrix coordinate integer symmetric"
MAX_RANKS = 65_536

# A single percent sign is what careless printf makes of two; such files are about.
_HEADER = re.compile(
    r"%+MatrixMarket\s+matrix\s+coordinate\s+(?:integer|real)\s+(symmetric|general)\s*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.0*)?")
_DIRECTED = (
    "the traffic matrix is not symmetric: entry (i, j) is taken as what rank i sends to rank j, "
    "and a pair exchanges the sum of both"
)


def read_traffic(text: str, *, notice: Callable[[str], None] | None = None) -> Traffic:
    """Read a traffic matrix.

    An entry of a symmetric matrix is what a pair exchanges both ways. One that is not symmetric
    holds what the rank of the row sends to that of the column. The diagonal does not count.

    Args:
        text: A MatrixMarket file of whole numbers, or one row of numbers a line.
        notice: Told in a sentence how a matrix that is not symmetric is taken.

    Raises:
        InvalidInput: It is no such file; the message names the line.
    """
    text = text.lstrip("\ufeff")  # the mark of UTF-8, as editors on Windows write it
    first, _, rest = text.partition("\n")
    if first.strip() and not first.startswith("%"):
        ranks, rows, columns, sizes = _dense(text)
        symmetric = False
    else:
        header = _HEADER.fullmatch(first)
        if header is None:
            raise InvalidInput(
                f"the traffic matrix does not begin with '{HEADER}' (real and general are read "
                "too), nor is it rows of numbers"
            )
        ranks, rows, columns, sizes = _coordinates(rest)
        symmetric = header[1].lower() == "symmetric"
    keys = np.sort(rows * ranks + columns) if not symmetric else _unordered(ranks, rows, columns)
    if len(keys) and (keys[1:] == keys[:-1]).any():
        row, column = divmod(int(keys[1:][keys[1:] == keys[:-1]][0]), ranks)
        raise InvalidInput(f"the traffic matrix has two entries for {row + 1} and {column + 1}")
    if not symmetric:
        if _mirrored(ranks, rows, columns, sizes):
            once = rows > columns
            rows, columns, sizes = rows[once], columns[once], sizes[once]
        elif notice is not None:
            notice(_DIRECTED)
    return Traffic.from_pairs(ranks, rows, columns, sizes)


def write_traffic(traffic: Traffic) -> str:
    """The text of a traffic matrix, lower triangle row by row."""
    low, high, sizes = traffic.pairs
    order = np.lexsort((low, high))
    lines = [HEADER, f"{traffic.ranks} {traffic.ranks} {len(sizes)}"]
    lines += [
        f"{row + 1} {column + 1} {size}"
        for row, column, size in zip(
            high[order].tolist(), low[order].tolist(), sizes[order].tolist(), strict=True
        )
    ]
    return "\n".join(lines) + "\n"


Entries = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def _coordinates(body: str) -> Entries:
    """Ranks, and the entries below the header: rows and columns from 0 on, and sizes."""
    kept = re.sub(r"^%.*$", "", body, flags=re.MULTILINE)
    table = _numbers(kept, 3, first_line=2)
    if len(table) == 0:
        raise InvalidInput("line 2 of the traffic matrix is not 3 whole numbers")
    rows, columns, entries = (int(word) for word in table[0])
    if rows != columns or not 1 <= rows <= MAX_RANKS:
        raise InvalidInput(f"the traffic matrix must be square, of 1 to {MAX_RANKS} ranks")
    if len(table) - 1 != entries:
        raise InvalidInput(
            f"the traffic matrix has {len(table) - 1} entries where it says {entries}"
        )
    places = table[1:, :2]
    if len(places) and not 1 <= places.min() <= places.max() <= rows:
        wrong = int(np.flatnonzero((places < 1).any(axis=1) | (places > rows).any(axis=1))[0])
        raise InvalidInput(f"entry {wrong + 1} of the traffic matrix is outside 1 to {rows}")
    return rows, places[:, 0] - 1, places[:, 1] - 1, table[1:, 2]


def _dense(text: str) -> Entries:
    plain = text.replace(",", " ").replace(";", " ")
    ranks = len(plain.partition("\n")[0].split())
    if not 1 <= ranks <= MAX_RANKS:
        raise InvalidInput(f"the traffic matrix must be of 1 to {MAX_RANKS} ranks")
    table = _numbers(plain, ranks, first_line=1)
    if len(table) != ranks:
        raise InvalidInput(
            f"the traffic matrix has {len(table)} rows of {ranks} numbers; it must be square"
        )
    rows, columns = np.nonzero(table)
    return ranks, rows.astype(np.int64), columns.astype(np.int64), table[rows, columns]


def _numbers(text: str, count: int, *, first_line: int) -> NDArray[np.int64]:
    """Lines of `count` whole numbers each; empty lines count nothing."""
    try:
        # Most files are digits and spaces, which NumPy reads hundreds of times faster.
        if re.fullmatch(r"[0-9\s]*", text) and text.strip():
            table = np.loadtxt(io.StringIO(text), dtype=np.int64, ndmin=2)
            if table.shape[1] == count:
                return table
    except ValueError:
        pass  # the line that is wrong is found below
    lines: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), start=first_line):
        words = line.split()
        if not words:
            continue
        if len(words) != count or not all(map(_NUMBER.fullmatch, words)):
            raise InvalidInput(
                f"line {number} of the traffic matrix is not {count} whole numbers of at most 18 "
                "digits"
            )
        lines.append([int(word.partition(".")[0]) for word in words])
        if min(lines[-1]) < 0:
            raise InvalidInput(f"line {number} of the traffic matrix has a negative number")
    return np.asarray(lines, dtype=np.int64).reshape(-1, count)


def _unordered(
    ranks: int, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    return np.sort(np.maximum(rows, columns) * ranks + np.minimum(rows, columns))


def _mirrored(
    ranks: int, rows: NDArray[np.int64], columns: NDArray[np.int64], sizes: NDArray[np.int64]
) -> bool:
    """Whether each entry stands on the other side of the diagonal as well."""
    one = np.lexsort((columns, rows))
    other = np.lexsort((rows, columns))
    return all(
        np.array_equal(a[one], b[other])
        for a, b in ((rows, columns), (columns, rows), (sizes, sizes))
    )

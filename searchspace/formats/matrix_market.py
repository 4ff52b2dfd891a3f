"""Traffic matrices as MatrixMarket files: `coordinate integer symmetric`, bytes both ways."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput

__all__ = ["read_traffic", "write_traffic"]

HEADER = "%%MatrixMarket matrix coordinate integer symmetric"
MAX_RANKS = 65_536


def read_traffic(text: str) -> NDArray[np.int64]:
    """Read a traffic matrix.

    Returns:
        Bytes that each pair exchanges both ways, symmetric, shape (ranks, ranks), zero diagonal.

    Raises:
        InvalidInput: It is not such a file; the message names the line.
    """
    lines = text.splitlines()
    # A single percent sign is what careless printf makes of two; such files are about.
    if not lines or lines[0].lower().lstrip("%").split() != HEADER.lower().lstrip("%").split():
        raise InvalidInput(f"the traffic matrix does not begin with '{HEADER}'")
    numbered = (
        (number, line.split())
        for number, line in enumerate(lines[1:], start=2)
        if line.strip() and not line.startswith("%")
    )
    ranks, entries = _size(*next(numbered, (2, [])))
    traffic = np.zeros((ranks, ranks), dtype=np.int64)
    found = 0
    for number, words in numbered:
        row, column, size = _whole(number, words, 3)
        if not (1 <= column <= ranks and 1 <= row <= ranks):
            raise InvalidInput(f"line {number} of the traffic matrix is outside 1 to {ranks}")
        if row == column or traffic[row - 1, column - 1]:
            raise InvalidInput(f"line {number} of the traffic matrix is no new pair of two ranks")
        traffic[row - 1, column - 1] = traffic[column - 1, row - 1] = size
        found += 1
    if found != entries:
        raise InvalidInput(f"the traffic matrix has {found} entries where it says {entries}")
    return traffic


def write_traffic(directed: NDArray[np.int64]) -> str:
    """The text of a traffic matrix, lower triangle row by row.

    Args:
        directed: Bytes from rank (row) to rank (column); what a rank sends itself is left out.
    """
    both = np.tril(directed + directed.T, k=-1)
    rows, columns = np.nonzero(both)
    lines = [HEADER, f"{len(both)} {len(both)} {len(rows)}"]
    lines += [
        f"{row + 1} {column + 1} {size}"
        for row, column, size in zip(
            rows.tolist(), columns.tolist(), both[rows, columns].tolist(), strict=True
        )
    ]
    return "\n".join(lines) + "\n"


def _size(number: int, words: list[str]) -> tuple[int, int]:
    rows, columns, entries = _whole(number, words, 3)
    if rows != columns or not 1 <= rows <= MAX_RANKS:
        raise InvalidInput(
            f"line {number} of the traffic matrix: it must be square, of 1 to {MAX_RANKS} ranks"
        )
    return rows, entries


def _whole(number: int, words: list[str], count: int) -> list[int]:
    if len(words) != count or not all(
        word.isascii() and word.isdigit() and len(word) < 19 for word in words
    ):
        raise InvalidInput(f"line {number} of the traffic matrix is not {count} whole numbers")
    return [int(word) for word in words]

"""Traffic: the bytes that every pair of ranks exchanges, sparse and symmetric."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from searchspace.errors import InvalidInput

__all__ = ["Traffic"]

_MOST_BYTES = 2**61  # each pair stands in two rows, which together have to stay below 2^63


@dataclass(frozen=True, eq=False)
class Traffic:
    """Bytes both ways between ranks, as compressed sparse rows; each pair stands in both rows.

    Attributes:
        first: Where the partners of each rank begin, shape (ranks + 1).
        partner: Partners of rank 0 in increasing order, then those of rank 1, ...
        size: Bytes that the rank and this partner exchange both ways, positive.

    Example:
        >>> Traffic.from_pairs(3, [0, 2], [1, 1], [10, 4]).to_dense().tolist()
        [[0, 10, 0], [10, 0, 4], [0, 4, 0]]
    """

    first: NDArray[np.int64]
    partner: NDArray[np.uint32]
    size: NDArray[np.int64]

    @classmethod
    def from_pairs(cls, ranks: int, one: ArrayLike, other: ArrayLike, size: ArrayLike) -> Traffic:
        """Adds up what pairs exchange, listed in any order and direction.

        What a rank sends to itself, and empty messages, count nothing.

        Raises:
            InvalidInput: A size is negative, or all of them add up to more than 2^61 bytes.
        """
        rows = np.asarray(one, dtype=np.int64).ravel()
        columns = np.asarray(other, dtype=np.int64).ravel()
        sizes = np.asarray(size, dtype=np.int64).ravel()
        if sizes.min(initial=0) < 0:
            raise InvalidInput(f"a pair exchanges {sizes.min()} bytes; bytes cannot be negative")
        if float(sizes.sum(dtype=np.float64)) > _MOST_BYTES:
            raise InvalidInput("the traffic adds up to more than 2.3e18 bytes; scale it down")
        told = (rows != columns) & (sizes > 0)
        rows, columns, sizes = rows[told], columns[told], sizes[told]
        keys = np.concatenate((rows * ranks + columns, columns * ranks + rows))
        distinct, place = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(sums, place, np.concatenate((sizes, sizes)))
        first = np.searchsorted(distinct, np.arange(ranks + 1, dtype=np.int64) * ranks)
        return cls(first.astype(np.int64), (distinct % ranks).astype(np.uint32), sums)

    @classmethod
    def from_dense(cls, both_ways: ArrayLike) -> Traffic:
        """Takes a symmetric matrix of bytes both ways; the diagonal does not count.

        Raises:
            InvalidInput: As `from_pairs`.
        """
        matrix = np.triu(np.asarray(both_ways, dtype=np.int64), k=1)
        rows, columns = np.nonzero(matrix)
        return cls.from_pairs(len(matrix), rows, columns, matrix[rows, columns])

    @classmethod
    def from_directed(cls, sent: ArrayLike) -> Traffic:
        """Takes the bytes that rank (row) sends to rank (column); the diagonal does not count.

        Raises:
            InvalidInput: As `from_pairs`.
        """
        matrix = np.asarray(sent, dtype=np.int64)
        rows, columns = np.nonzero(matrix)
        return cls.from_pairs(len(matrix), rows, columns, matrix[rows, columns])

    @classmethod
    def silent(cls, ranks: int) -> Traffic:
        """Ranks that exchange nothing."""
        return cls.from_pairs(ranks, [], [], [])

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.first) - 1

    @functools.cached_property
    def total(self) -> int:
        """Bytes of all pairs together."""
        return int(self.size.sum()) // 2

    @functools.cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Each pair once: the lower rank, the higher rank, and their bytes."""
        rows = np.repeat(np.arange(self.ranks), np.diff(self.first))
        columns = self.partner.astype(np.int64)
        once = rows < columns
        return rows[once], columns[once], self.size[once]

    def to_dense(self) -> NDArray[np.int64]:
        """The symmetric matrix, shape (ranks, ranks)."""
        matrix = np.zeros((self.ranks, self.ranks), dtype=np.int64)
        rows = np.repeat(np.arange(self.ranks), np.diff(self.first))
        matrix[rows, self.partner] = self.size
        return matrix

    def renumbered(self, order: ArrayLike) -> Traffic:
        """The same traffic where rank `order[i]` has become rank i."""
        number = np.empty(self.ranks, dtype=np.int64)
        number[np.asarray(order, dtype=np.int64)] = np.arange(self.ranks)
        one, other, size = self.pairs
        return Traffic.from_pairs(self.ranks, number[one], number[other], size)

    def on_hosts(self, hosts: int) -> Traffic:
        """What hosts exchange that ranks in order are on, in equal blocks where there are more.

        Hosts without ranks exchange nothing; what ranks of a host exchange does not count.
        """
        block = -(-self.ranks // hosts)
        one, other, size = self.pairs
        return Traffic.from_pairs(hosts, one // block, other // block, size)

    @functools.cached_property
    def sha256(self) -> str:
        """The identity of what it says."""
        parts = (self.first, self.partner.astype(np.int64), self.size)
        return hashlib.sha256(b"".join(part.astype("<i8").tobytes() for part in parts)).hexdigest()

    def within(self, limit: int) -> Traffic:
        """Itself, or scaled down so that it adds up to at most `limit` bytes; no pair is lost."""
        divisor = -(-self.total // max(1, limit - len(self.partner) // 2))
        if divisor <= 1:
            return self
        return Traffic(self.first, self.partner, np.maximum(self.size // divisor, 1))

"""Traffic: the bytes that every pair of ranks exchanges, sparse and symmetric."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from searchspace.errors import InvalidInput
from searchspace.kernels._native import traffic_of_pairs, traffic_of_sent

__all__ = ["Traffic"]

_MOST_BYTES = 2**61  # each pair stands in two rows, which together have to stay below 2^63
_TOO_MUCH = "the traffic adds up to more than 2.3e18 bytes; scale it down"
_HASHED_AT_ONCE = 1 << 16


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
            IndexError: Ranks that there are not exchange something.
        """
        rows = np.asarray(one, dtype=np.int64).ravel()
        columns = np.asarray(other, dtype=np.int64).ravel()
        sizes = np.asarray(size, dtype=np.int64).ravel()
        _check_sizes(sizes)
        return cls(*traffic_of_pairs(int(ranks), rows, columns, sizes))

    @classmethod
    def from_sent(
        cls, first: NDArray[np.int64], receiver: NDArray[np.uint32], size: NDArray[np.int64]
    ) -> Traffic:
        """Takes what each rank sends: `from_directed` of a sparse matrix.

        Args:
            first: Where the receivers of each rank begin, shape (ranks + 1).
            receiver: Receivers of rank 0, then those of rank 1, ...
            size: Bytes that the rank sends to this receiver.

        Raises:
            InvalidInput: As `from_pairs`.
        """
        _check_sizes(size)
        return cls(*traffic_of_sent(first, receiver, size))

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

    @classmethod
    def together(cls, parts: Sequence[Traffic]) -> Traffic:
        """That of several applications, whose ranks follow each other.

        Raises:
            InvalidInput: All of it adds up to more than 2^61 bytes.
        """
        if float(sum(part.total for part in parts)) > _MOST_BYTES:
            raise InvalidInput(_TOO_MUCH)
        if len(parts) == 1:
            return parts[0]
        first, partner = [np.zeros(1, dtype=np.int64)], []
        ranks, entries = 0, 0
        for part in parts:
            first.append(part.first[1:] + entries)
            partner.append(part.partner + np.uint32(ranks))
            ranks += part.ranks
            entries += len(part.partner)
        return cls(
            np.concatenate(first),
            np.concatenate(partner),
            np.concatenate([part.size for part in parts]),
        )

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
        rows = np.repeat(np.arange(self.ranks, dtype=np.uint32), np.diff(self.first))
        once = rows < self.partner
        low, high = rows[once].astype(np.int64), self.partner[once].astype(np.int64)
        return low, high, self.size[once]

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
        digest = hashlib.sha256()
        for part in (self.first, self.partner, self.size):
            for begin in range(0, len(part), _HASHED_AT_ONCE):  # no copy of all of it
                digest.update(part[begin : begin + _HASHED_AT_ONCE].astype("<i8").tobytes())
        return digest.hexdigest()

    def within(self, limit: int) -> Traffic:
        """Itself, or scaled down so that it adds up to at most `limit` bytes; no pair is lost."""
        divisor = -(-self.total // max(1, limit - len(self.partner) // 2))
        if divisor <= 1:
            return self
        return Traffic(self.first, self.partner, np.maximum(self.size // divisor, 1))


def _check_sizes(sizes: NDArray[np.int64]) -> None:
    if sizes.min(initial=0) < 0:
        raise InvalidInput(f"a pair exchanges {sizes.min()} bytes; bytes cannot be negative")
    if float(sizes.sum(dtype=np.float64)) > _MOST_BYTES:
        raise InvalidInput(_TOO_MUCH)

"""Rounds: what ranks send each other, and which of it is on its way at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.traffic import Traffic

__all__ = ["Rounds"]


@dataclass(frozen=True, eq=False)
class Rounds:
    """Messages by the round in which they are sent.

    Attributes:
        ranks: How many ranks there are.
        number: The round of each message, counted from 0.
        sender: Who sends it.
        receiver: Who gets it.
        size: Bytes, positive.
        count: How often each round comes.
    """

    ranks: int
    number: NDArray[np.uint32]
    sender: NDArray[np.uint32]
    receiver: NDArray[np.uint32]
    size: NDArray[np.int64]
    count: NDArray[np.float64]

    @classmethod
    def at_once(cls, traffic: Traffic) -> Rounds:
        """All of some traffic in one round, half of it each way."""
        low, high, size = traffic.pairs
        one, other = low.astype(np.uint32), high.astype(np.uint32)
        sizes = np.concatenate((size - size // 2, size // 2))
        sent = sizes > 0
        return cls(
            traffic.ranks,
            np.zeros(int(sent.sum()), dtype=np.uint32),
            np.concatenate((one, other))[sent],
            np.concatenate((other, one))[sent],
            sizes[sent],
            np.ones(1),
        )

    def joined(self) -> Rounds:
        """All of it in one round."""
        size = self.size * self.count[self.number].astype(np.int64)
        number = np.zeros(len(size), dtype=np.uint32)
        return Rounds(self.ranks, number, self.sender, self.receiver, size, np.ones(1))

    @classmethod
    def together(cls, parts: Sequence[Rounds]) -> Rounds:
        """Those of several applications, whose ranks follow each other; each has its own rounds."""
        ranks, rounds = 0, 0
        number, sender, receiver = [], [], []
        for part in parts:
            number.append(part.number + np.uint32(rounds))
            sender.append(part.sender + np.uint32(ranks))
            receiver.append(part.receiver + np.uint32(ranks))
            ranks += part.ranks
            rounds += len(part.count)
        return cls(
            ranks,
            np.concatenate(number),
            np.concatenate(sender),
            np.concatenate(receiver),
            np.concatenate([part.size for part in parts]),
            np.concatenate([part.count for part in parts]),
        )

"""What a search expects of the points that were not tried yet."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NOTABLE", "SURE", "Expectation", "Outlook"]

NOTABLE = 0.01
"""The part of the best value that people are told the probability of."""

SURE = 20
"""Trials with a result without which a model is not asked what more would bring."""


@dataclass(frozen=True)
class Expectation:
    """What a model that was just made holds possible.

    Attributes:
        probability: That some point not tried yet is better than the best by more than `NOTABLE`.
        gain: By how much the best of those points is expected to be better than the best so far, as
            a part of that; one that is worse counts as 0.
    """

    probability: float
    gain: float


@dataclass
class Outlook:
    """Written by a technique that has a model, and read with each proposal.

    Attributes:
        gain: A part of the best value; None where nobody asks.
        probability: Of improvement: that some point not tried yet is better than the best by more
            than that; None where it is not known.
        news: What the last model holds possible, until it is taken.
        weights: How much each job counts that is learned from, from 0 to 1; None where nothing is
            known of that.
    """

    gain: float | None = None
    probability: float | None = None
    news: Expectation | None = None
    weights: tuple[float, ...] | None = None

    def take(self) -> Expectation | None:
        """What a model made since the last call holds possible; None where there was none."""
        news, self.news = self.news, None
        return news

"""What a search expects of the points that were not tried yet."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outlook"]


@dataclass
class Outlook:
    """Written by a technique that has a model, and read with each proposal.

    Attributes:
        gain: A part of the best value; None where nobody asks.
        probability: Of improvement: that some point not tried yet is better than the best by more
            than that; None where it is not known.
    """

    gain: float | None = None
    probability: float | None = None

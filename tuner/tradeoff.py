"""What a job knows of time against price while it runs: its front, and what a trial has to beat.

A price is what `Terms` weigh: cost, watts or joules.
"""

from __future__ import annotations

import math

from searchspace.bills import Bills
from searchspace.configuration import Configuration
from searchspace.front import StaircaseFront
from searchspace.terms import Terms, Weight

__all__ = ["Tradeoff"]


class Tradeoff:
    """The front of price and time over the trials that were told, in their order.

    Args:
        terms: What is weighed against time.
        bills: Of the networks of the job.
    """

    def __init__(self, terms: Terms, bills: Bills) -> None:
        self._terms = terms
        self._bills = bills
        self._front = StaircaseFront()

    def weight(self, configuration: Configuration) -> Weight | None:
        """What is weighed against the time of a configuration; None where it is not known."""
        bill = self._bills.of(configuration)
        return None if bill is None else self._terms.weight(bill)

    def tell(self, configuration: Configuration, seconds: float) -> bool:
        """Take a completed trial; tells whether it is on the front."""
        weight = self.weight(configuration)
        return weight is not None and self._front.add((weight.at(seconds), seconds))

    def rival(self, configuration: Configuration) -> float | None:
        """The time that a configuration has to beat; None where any puts it on the front.

        Of a price that is the least time of what costs no more. Of energy, which grows with time,
        it is the time from which on something is as fast and as frugal.
        """
        weight = self.weight(configuration)
        if weight is None:
            return None
        beaten = [max(seconds, weight.seconds_to(price)) for price, seconds in self._front.points]
        return min((one for one in beaten if math.isfinite(one)), default=None)

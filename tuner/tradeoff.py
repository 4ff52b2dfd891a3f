"""What a job knows of time against price while it runs: its front, and what a trial has to beat."""

from __future__ import annotations

from searchspace.bills import Bills
from searchspace.configuration import Configuration
from searchspace.front import StaircaseFront
from searchspace.terms import Terms

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

    def price(self, configuration: Configuration) -> float | None:
        """What is weighed against the time of a configuration; None where it is not known."""
        bill = self._bills.of(configuration)
        return None if bill is None else self._terms.weighed(bill)

    def tell(self, configuration: Configuration, seconds: float) -> bool:
        """Take a completed trial; tells whether it is on the front."""
        price = self.price(configuration)
        return price is not None and self._front.add((price, seconds))

    def rival(self, configuration: Configuration) -> float | None:
        """The least time of what costs no more than a configuration; None where nothing does."""
        price = self.price(configuration)
        return None if price is None else self._front.least_second(price)

"""`cutoff: adaptive`: search trials without a cutoff, so that a stated share runs to its end.

Trials that are cut off tell bounds alone, and those that are not are the fastest there were: charts
and importance would rest on a sample of the best. What a trial without a cutoff comes to was not
known when it was chosen, so that these are a fair sample of what the search asks.
"""

from __future__ import annotations

from collections import deque

from tuner.opentuner_session import Status

__all__ = ["CompletedShare"]


class CompletedShare:
    """Says of each search trial whether it is asked without a cutoff.

    It is, where fewer than the share would have run to their end. What is in flight with a cutoff
    counts as cut off. A trial that failed without a cutoff has had its turn; all others that failed
    or were infeasible are left out, since no cutoff would have changed that.

    Args:
        share: Of the search trials, above 0 and below 1.
        in_flight: Trials in flight at most. Results of trials asked fewer trials ago are not used,
            so that the answers do not depend on how fast workers are.
    """

    def __init__(self, share: float, in_flight: int) -> None:
        self._share = share
        self._in_flight = in_flight
        self._asked: deque[tuple[int, bool]] = deque()  # those whose results are not used yet
        self._whole_in_flight = 0
        self._results: dict[int, Status] = {}
        self._ended = 0
        self._counted = 0

    def whole(self, number: int) -> bool:
        """Whether a trial is asked without a cutoff; numbers go up from call to call."""
        self._use_results(number - self._in_flight)
        have = self._ended + self._whole_in_flight
        whole = have < self._share * (self._counted + len(self._asked) + 1)
        self._asked.append((number, whole))
        self._whole_in_flight += whole
        return whole

    def tell(self, number: int, status: Status) -> None:
        """What a trial came to."""
        self._results[number] = status

    def _use_results(self, newest: int) -> None:
        while self._asked and self._asked[0][0] <= newest:
            number, whole = self._asked.popleft()
            self._whole_in_flight -= whole
            status = self._results.pop(number)
            if status in ("completed", "censored") or (status == "failed" and whole):
                self._counted += 1
                self._ended += status != "censored"

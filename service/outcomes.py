"""What rests on all outcomes of a job: which may be compared, and answers that are dear."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from storage.records import Trial, TrialPoint
from storage.view import StorageView

__all__ = ["Remembered", "comparable"]

Answer = TypeVar("Answer")
Ended = TypeVar("Ended", Trial, TrialPoint)

_MOST_KNOWN = 64


def comparable(trials: Sequence[Ended]) -> list[Ended]:
    """Completed trials of the search space whose times are of one trace, truncated or whole.

    Baselines outside the space take values that the search cannot: their parameters would seem to
    matter most.
    """
    completed = [trial for trial in trials if trial.state == "completed"]
    truncated = [
        trial
        for trial in completed
        if trial.kind in ("search", "refinement") and trial.fidelity == "low"
    ]
    return truncated or [trial for trial in completed if trial.inside]


class Remembered(Generic[Answer]):
    """Answers by job, each with the number of outcomes that it rests on."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[int, Answer]] = OrderedDict()
        self._making: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def answer(self, storage: StorageView, job_id: str, make: Callable[[], Answer]) -> Answer:
        """What is remembered, or made anew where trials have ended since.

        Several that ask at once wait for one that makes it.

        Raises:
            NotFound: There is no such job.
        """
        storage.jobs.check(job_id)
        with self._lock:
            making = self._making.setdefault(job_id, threading.Lock())
        with making:
            finished = sum(storage.trials.counts_of(job_id).finished.values())
            with self._lock:
                known = self._known.get(job_id)
            if known is None or known[0] != finished:
                known = (finished, make())
        with self._lock:
            self._known[job_id] = known
            self._known.move_to_end(job_id)
            while len(self._known) > _MOST_KNOWN:
                oldest, _ = self._known.popitem(last=False)
                self._making.pop(oldest, None)
        return known[1]

"""Pages of trials, each trial written once: what has its outcome never changes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import islice

from service.trials.schemas import TrialView
from storage.records import FINAL_TRIAL_STATES, Trial

__all__ = ["PAGES", "Pages"]

_KEPT = 20_000  # trials, of less than a kilobyte each


class Pages:
    """Trials with an outcome as JSON, those last written. For any number of threads.

    Who is handed one must have been found to be allowed to see its job.

    Args:
        kept: How many trials.
    """

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._written: dict[tuple[str, int], bytes] = {}
        self._lock = threading.Lock()

    def known(self, job_id: str, numbers: Iterable[int]) -> list[bytes | None]:
        """Trials of a job by number; None for each that is not at hand."""
        return [self._written.get((job_id, number)) for number in numbers]

    def write(self, trials: Sequence[Trial]) -> list[bytes]:
        """Trials as JSON; those with an outcome are kept."""
        lines = [TrialView.of(trial).model_dump_json().encode() for trial in trials]
        with self._lock:
            for trial, line in zip(trials, lines, strict=True):
                if trial.state in FINAL_TRIAL_STATES:
                    self._written[trial.job_id, trial.number] = line
            if len(self._written) > self._kept:
                oldest = list(islice(self._written, len(self._written) - self._kept // 2))
                for key in oldest:
                    del self._written[key]
        return lines


PAGES = Pages()

"""The loop of a job: ask, have evaluated, tell in ask order.

The loop is also the replay: it begins with trial 1 whenever a coordinator takes a job, and trials
that are stored with an outcome are told without being evaluated. Trial k + batch is asked after
trial k was told, and its cutoff comes from what was told before, so that asks, tells and trials are
the same for any number of workers and after any crash.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from searchspace.configuration import Configuration
from searchspace.job import BuiltSpace, JobSpec
from storage.errors import ReplayDiverged
from storage.records import FINAL_TRIAL_STATES, Job, Outcome, Trial
from storage.storage import Storage
from tuner.budget import Budget, EndReason, Ledger
from tuner.evaluations import Evaluations
from tuner.lease import LOOK_SECONDS, Lease
from tuner.objective import cutoff, told
from tuner.search import Search

__all__ = ["PAUSED", "TrialLoop"]

PAUSED: Literal["paused"] = "paused"
"""Returned by `TrialLoop.run` where the job is to pause and nothing is in flight."""

_TEND_SECONDS = 2.0
_PAGE = 1000

Kind: TypeAlias = Literal["baseline", "search"]


@dataclass(frozen=True)
class _Asked:
    """A trial in flight, and whether its result matters to the search."""

    trial: Trial
    inside: bool


class TrialLoop:
    """The trials of one job, under a lease.

    Args:
        storage: Where they are kept.
        lease: Under which the job is driven.
        evaluations: Has them evaluated.
        spec: The job.
        built: Its space and baselines.
        search: The search over that space, fresh.
        look: Returns the job as it was at most so many seconds ago; raises where the loop is to
            stop at once.
        pause: Waits until there may be news of the job, or until it is time to look again.
    """

    def __init__(
        self,
        storage: Storage,
        lease: Lease,
        evaluations: Evaluations,
        spec: JobSpec,
        built: BuiltSpace,
        search: Search,
        *,
        look: Callable[[float], Job],
        pause: Callable[[], object],
    ) -> None:
        self._storage = storage
        self._lease = lease
        self._evaluations = evaluations
        self._spec = spec
        self._space = built.space
        self._baselines = built.baselines
        self._search = search
        self._look = look
        self._pause = pause
        self._stored = _stored_trials(storage, lease.job.id)
        self._window: deque[_Asked] = deque()
        self._number = 0  # of the last trial asked
        self._exhausted = False
        self._tended = time.monotonic()
        self.ledger = Ledger(Budget(**spec.budget.model_dump()))

    def run(self) -> EndReason | Literal["hopeless", "paused"]:
        """Go on until the job ends or is to pause, with nothing in flight.

        May be called again after a pause that was taken back.

        Raises:
            ReplayDiverged: A trial is stored with another configuration than the search asks.
            LeaseLost: Another coordinator holds the job.
        """
        while True:
            while len(self._window) < self._spec.batch and self._end() is None:
                asked = self._ask()
                if asked is None:
                    self._exhausted = True
                else:
                    self._window.append(asked)
            if not self._window:
                end = self._end()
                if end is not None:
                    return end
                continue
            oldest = self._window.popleft()
            self._tell(oldest.inside, self._finished(oldest.trial))

    def _end(self) -> EndReason | Literal["hopeless", "paused"] | None:
        """Why no trial may be asked now."""
        job = self._look(LOOK_SECONDS)
        if self._exhausted:
            return "exhausted"
        if self.ledger.hopeless:
            return "hopeless"
        end = self.ledger.end()
        if end is not None:
            return end
        if self._number + 1 in self._stored:
            return None  # wall time and pauses do not undo what was asked before them
        if self.ledger.out_of_time(self._lease.active_seconds):
            return "wall_seconds"
        return PAUSED if job.state == "pausing" else None

    def _ask(self) -> _Asked | None:
        """Ask the next trial and have it evaluated; None where the space is exhausted."""
        number = self._number + 1
        kind: Kind = "baseline" if number <= len(self._baselines) else "search"
        if kind == "baseline":
            label, configuration = self._baselines[number - 1]
            inside = self._search.add(configuration)
            trial = self._proposed(number, kind, configuration, inside=inside, label=label)
        else:
            point = self._search.ask()
            if point is None:
                return None
            inside = True
            trial = self._proposed(
                number,
                kind,
                point.configuration,
                technique=point.technique,
                bound=cutoff(self.ledger.best, self._spec.cutoff_factor),
            )
        self._number = number
        self.ledger.ask(kind)
        return _Asked(trial, inside)

    def _proposed(
        self,
        number: int,
        kind: Kind,
        configuration: Configuration,
        *,
        inside: bool = True,
        label: str | None = None,
        technique: str | None = None,
        bound: float | None = None,
    ) -> Trial:
        """The stored trial of this number, or a new one; it is evaluated unless it is settled."""
        stored = self._stored.pop(number, None)
        if stored is not None and stored.configuration_sha256 != configuration.sha256:
            raise ReplayDiverged(
                f"trial {number} was stored with another configuration than the search now"
                " asks; the job cannot go on with this version, clone it to start anew"
            )
        if stored is not None and stored.state in FINAL_TRIAL_STATES:
            return stored
        broken = self._space.infeasible(configuration) if kind == "search" else None
        trial = stored or self._storage.propose_trial(
            self._lease.job.id,
            self._lease.token,
            number=number,
            kind=kind,
            label=label,
            inside=inside,
            configuration=configuration.to_dict(),
            configuration_sha256=configuration.sha256,
            technique=technique,
            cutoff=bound,
            attempt=broken is None,
        )
        if broken is not None:
            outcome = Outcome(status="infeasible", reason={"kind": "constraint", "message": broken})
            return self._storage.settle_trial(trial.id, self._lease.token, outcome)
        if stored is None:
            self._evaluations.send(trial)
        else:
            self._evaluations.begin(trial)
        return trial

    def _finished(self, trial: Trial) -> Trial:
        """Wait for the outcome of a trial."""
        if trial.state in FINAL_TRIAL_STATES:
            return trial
        while True:
            trial = self._storage.get_trial(trial.job_id, trial.number, with_result=False)
            if trial.state in FINAL_TRIAL_STATES:
                return trial
            self._look(0.0)
            if time.monotonic() - self._tended >= _TEND_SECONDS:
                self._evaluations.tend()
                self._tended = time.monotonic()
            self._pause()

    def _tell(self, inside: bool, trial: Trial) -> None:
        result = told(trial)
        self.ledger.tell(trial, result, inside=inside)
        if inside:
            self._search.tell(Configuration.from_json(trial.configuration), result)


def _stored_trials(storage: Storage, job_id: str) -> dict[int, Trial]:
    trials: dict[int, Trial] = {}
    while True:
        page = storage.list_trials(job_id, after=max(trials, default=0), limit=_PAGE)
        trials.update((trial.number, trial) for trial in page)
        if len(page) < _PAGE:
            return trials

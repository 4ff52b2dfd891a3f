"""The trials of a job from being asked to having their outcome."""

from __future__ import annotations

import time

from searchspace.configuration import Configuration
from searchspace.job import BuiltSpace, JobSpec
from storage.errors import ReplayDiverged
from storage.proposal import Proposal
from storage.records import (
    FINAL_TRIAL_STATES,
    Outcome,
    OutlookPoint,
    Trial,
    TrialKind,
)
from storage.storage import Storage
from tuner.evaluations import Evaluator
from tuner.lease import Lease

__all__ = ["Trials"]

_TOGETHER = 64  # trials in a transaction, or outcomes read at once
_TOGETHER_SECONDS = 0.01  # for which a trial waits for others to be stored with
_PAGE = 1000


class Trials:
    """Those that were stored before, those to be stored, and those with an outcome to be told.

    Args:
        storage: Where they are kept.
        lease: Under which the job is driven.
        evaluations: Has them evaluated.
        spec: The job.
        built: Its space, which says what is not feasible.
    """

    def __init__(
        self,
        storage: Storage,
        lease: Lease,
        evaluations: Evaluator,
        spec: JobSpec,
        built: BuiltSpace,
    ) -> None:
        self._storage = storage
        self._lease = lease
        self._evaluations = evaluations
        self._space = built.space
        self._terms, self._bills = spec.terms, built.bills
        self._stored = _stored_trials(storage, lease.job.id)
        self._unstored: list[Proposal] = []
        self._unstored_since = 0.0
        self._outlooks: list[OutlookPoint] = []  # of the model, to be stored with the next trials
        self._settled: dict[int, Trial] = {}  # with their outcome, to be told
        self._run = 1  # how many outcomes to ask for at once

    def is_stored(self, number: int) -> bool:
        """Whether a trial that is not asked yet was stored before."""
        return number in self._stored

    def propose(
        self,
        number: int,
        kind: TrialKind,
        configuration: Configuration,
        *,
        inside: bool = True,
        label: str | None = None,
        technique: str | None = None,
        bound: float | None = None,
    ) -> None:
        """Have a trial evaluated, unless it is settled: stored before, or not feasible.

        Raises:
            ReplayDiverged: It is stored with another configuration.
            LeaseLost: Another coordinator holds the job.
        """
        stored = self._stored.pop(number, None)
        if stored is not None:
            _check_same(stored, configuration)
            if stored.state in FINAL_TRIAL_STATES:
                self._settled[number] = stored
                return
        broken = self._broken(kind, configuration)
        proposal = Proposal.of(
            configuration,
            number=number,
            kind=kind,
            label=label,
            inside=inside,
            technique=technique,
            cutoff=bound,
        )
        if broken is not None:
            self._settled[number] = self._infeasible(stored, proposal, broken)
        elif stored is not None:
            self._evaluations.begin(stored)
        else:
            self._store_soon(proposal)

    def _broken(self, kind: TrialKind, configuration: Configuration) -> str | None:
        """Why a trial is not to be evaluated, or None."""
        if kind == "search":
            return self._space.infeasible(configuration)
        if kind not in ("baseline", "estimate") or self._terms is None or self._bills is None:
            return None
        # Where that takes long, nobody has looked yet whether its network can be had.
        bill = self._bills.of(configuration)
        return None if bill is None else self._terms.broken(bill)

    def _infeasible(self, stored: Trial | None, proposal: Proposal, broken: str) -> Trial:
        """A trial that breaks a constraint, with that for its outcome."""
        self._store()
        job, token = self._lease.job.id, self._lease.token
        trial = stored or self._storage.trials.propose(job, token, proposal)
        outcome = Outcome(status="infeasible", reason={"kind": "constraint", "message": broken})
        return self._storage.trials.settle(trial.id, token, outcome)

    def _store_soon(self, proposal: Proposal) -> None:
        """Store a trial with those that are asked in the same moment, and have them evaluated.

        Whatever was not stored when this process dies is asked again just so.
        """
        if not self._unstored:
            self._unstored_since = time.monotonic()
        self._unstored.append(proposal)
        waited = time.monotonic() - self._unstored_since
        if len(self._unstored) >= _TOGETHER or waited >= _TOGETHER_SECONDS:
            self._store()

    def _store(self) -> None:
        if not self._unstored:
            return
        proposals, self._unstored = self._unstored, []
        outlooks, self._outlooks = self._outlooks, []
        self._evaluations.add(proposals, outlooks)

    def note_outlook(self, outlook: OutlookPoint) -> None:
        """Have what the search's model expects stored with the next trials."""
        self._outlooks.append(outlook)

    def store_outlooks(self) -> None:
        """Store what no trial was stored with: the last ones were not feasible."""
        if self._outlooks:
            outlooks, self._outlooks = self._outlooks, []
            self._storage.outlooks.store(self._lease.job.id, self._lease.token, outlooks)

    def has_ended(self, number: int, most: int) -> bool:
        """Whether a trial has its outcome.

        Args:
            number: Of a trial that was proposed.
            most: How many outcomes there may be from that one on.
        """
        if number not in self._settled:
            self._store()
            self._evaluations.see_to_held()
            self._read_on(number, most)
        return number in self._settled

    def _read_on(self, first: int, most: int) -> None:
        """Read the outcome of a trial, and of as many after it as were there the last time."""
        most = min(self._run, most)
        found = self._storage.trials.finished_from(self._lease.job.id, first, most)
        self._settled.update((trial.number, trial) for trial in found)
        self._run = min(2 * most if len(found) == most else len(found) + 1, _TOGETHER)

    def take(self, number: int) -> Trial:
        """Hand over a trial that has ended, once."""
        return self._settled.pop(number)


def _check_same(stored: Trial, configuration: Configuration) -> None:
    if stored.configuration_sha256 != configuration.sha256:
        raise ReplayDiverged(
            f"trial {stored.number} was stored with another configuration than the search now"
            " asks; the job cannot go on with this version, clone it to start anew"
        )


def _stored_trials(storage: Storage, job_id: str) -> dict[int, Trial]:
    trials: dict[int, Trial] = {}
    while True:
        page = storage.trials.of_job(job_id, after=max(trials, default=0), limit=_PAGE)
        trials.update((trial.number, trial) for trial in page)
        if len(page) < _PAGE:
            return trials

"""The loop of a job: ask, have evaluated, tell in ask order.

The loop is also the replay: it begins with trial 1 whenever a coordinator takes a job, and trials
that are stored with an outcome are told without being evaluated. Trial k + batch is asked after
trial k was told, and its cutoff comes from what was told before, so that asks, tells and trials are
the same for any number of workers and after any crash.

The work has stages, each of which begins when nothing is in flight: the baselines, where trials
have a cutoff, which these are the first to give; the search; and, where the job wants it, the
refinement of the best configuration's mapping. Where the search is on a truncated trace the
baselines are estimated before it, the best of them evaluated on the whole trace, and in the end the
best points are verified on the whole trace. Where the machine's network is `auto`, the best points
are evaluated with the fluid model after all that, which changes nothing of the result.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError
from searchspace.job import BuiltSpace, JobSpec
from storage.errors import ReplayDiverged
from storage.records import FINAL_TRIAL_STATES, Job, Outcome, Proposal, Trial, TrialKind
from storage.storage import Storage
from tuner import comparing
from tuner.budget import Budget, EndReason, Ledger
from tuner.errors import ArtifactFailed
from tuner.evaluations import Evaluations
from tuner.lease import LOOK_SECONDS, Lease
from tuner.objective import cutoff, told
from tuner.parameters import point_of
from tuner.refining import MappingRefiner
from tuner.search import Search
from tuner.verification import IN_FLIGHT, MOST, Drift, Entrant, Race

__all__ = ["PAUSED", "TrialLoop"]

PAUSED: Literal["paused"] = "paused"
"""Returned by `TrialLoop.run` where the job is to pause and nothing is in flight."""

MOST_REFINED = 2
"""Refined mappings that may be verified: they differ little."""

_TEND_SECONDS = 2.0
_TOGETHER = 64  # trials in a transaction, or outcomes read at once
_TOGETHER_SECONDS = 0.01  # for which a trial waits for others to be stored with
_PAGE = 1000

_End: TypeAlias = EndReason | Literal["hopeless"]
_Stop: TypeAlias = _End | Literal["paused", "done"]

log = logging.getLogger("hamtune.tuner")


@dataclass(frozen=True)
class _Asked:
    """A trial in flight.

    Attributes:
        number: Of the trial.
        configuration: What is evaluated.
        inside: Whether its result matters to the search.
        entrant: What it is in a race of verifications.
        refined: Whether it is a refinement.
        compared: Whether it is evaluated with the other network model.
    """

    number: int
    configuration: Configuration
    inside: bool
    entrant: Entrant | None = None
    refined: bool = False
    compared: bool = False


@dataclass(frozen=True)
class _Stage:
    """A part of the work on a job.

    Attributes:
        begin: What is done before its first trial.
        end: Why no trial may be asked now; None while one may.
        ask: Asks the next trial; None where there is none.
        in_flight: How many trials at once.
    """

    begin: Callable[[], None]
    end: Callable[[], _Stop | None]
    ask: Callable[[], _Asked | None]
    in_flight: int


class TrialLoop:
    """The trials of one job, under a lease.

    Args:
        storage: Where they are kept.
        lease: Under which the job is driven.
        evaluations: Has them evaluated.
        spec: The job.
        built: Its space and baselines.
        search: The search over that space, fresh.
        truncated: Whether its trials are estimates from a truncated trace, the best of which are
            to be verified in the end.
        compares: Whether the best are evaluated by the fluid model too, in the very end.
        refiner: Makes what refines a trial's mapping; None where the job wants no refinement.
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
        truncated: bool = False,
        compares: bool = False,
        refiner: Callable[[Trial], MappingRefiner] | None = None,
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
        self._unstored: list[Proposal] = []
        self._unstored_since = 0.0
        self._settled: dict[int, Trial] = {}  # with their outcome, to be told
        self._run = 1  # how many outcomes to ask for at once
        self._number = 0  # of the last trial asked
        self._exhausted = False
        self._begun = False  # the stage at hand
        self._truncated = truncated
        self._compares = compares
        self._drift = Drift()
        self._race = Race(self._drift, ())
        self._estimates: list[Entrant] = []  # of points of the space
        self._baseline_estimates: list[Entrant] = []
        self._verified: set[str] = set()  # digests of points evaluated on the whole trace
        self._best_verified: float | None = None  # of points of the space
        self._leader: tuple[float, int] | None = None  # value and number of the search's best
        self._refiner_of = refiner
        self._refiner: MappingRefiner | None = None
        self._refinements = 0  # asked
        self._refined: list[Entrant] = []
        self._comparison = comparing.Comparison()
        self._search_end: _End | None = None
        self._stages = deque(self._planned())
        self._tended = time.monotonic()
        budget = Budget(**spec.budget.model_dump())
        if truncated:
            # An estimate is not good enough to stop for.
            budget = replace(budget, target=None)
        self.ledger = Ledger(budget, reserved=MOST if truncated else 0)

    def _planned(self) -> list[_Stage]:
        several = self._spec.batch
        refinement: list[_Stage] = []
        if self._refiner_of is not None:
            refinement.append(
                _Stage(self._begin_refinement, self._refinement_end, self._ask_refinement, several)
            )
        comparison: list[_Stage] = []
        if self._compares:
            comparison.append(
                _Stage(self._begin_comparison, self._comparison_end, self._ask_comparison, 1)
            )
        if not self._truncated:
            first: list[_Stage] = []
            if self._spec.cutoff_factor is not None:
                first.append(_Stage(_at_once, self._baselines_asked_end, self._ask, several))
            search = _Stage(_at_once, self._end, self._ask, several)
            return [*first, search, *refinement, *comparison]
        few = min(several, IN_FLIGHT)
        return [
            _Stage(_at_once, self._baselines_asked_end, self._ask_estimate, several),
            _Stage(
                self._begin_baselines, self._baselines_end, partial(self._race_on, "baseline"), few
            ),
            _Stage(_at_once, self._end, self._ask, several),
            *refinement,
            _Stage(
                self._begin_finalists,
                self._finalists_end,
                partial(self._race_on, "verification"),
                few,
            ),
            *comparison,
        ]

    def run(self) -> _Stop:
        """Go on until the job ends or is to pause, with nothing in flight.

        May be called again after a pause that was taken back.

        Raises:
            ReplayDiverged: A trial is stored with another configuration than the search asks.
            LeaseLost: Another coordinator holds the job.
            ArtifactFailed: What a trial needed is missing or altered, and the job is to stop then.
        """
        while self._stages:
            stage = self._stages[0]
            if not self._begun:
                stage.begin()
                self._begun = True
            end = self._trials(stage)
            if end == PAUSED:
                return PAUSED
            if end != "done" and self._search_end is None:
                self._search_end = end
            self._stages.popleft()
            self._begun = False
        assert self._search_end is not None, "the stage of the search has an end of its own"
        return self._search_end

    def failure(self) -> str | None:
        """Why the job has no result, where it has none."""
        failure = self.ledger.failure()
        if not self._truncated or self.ledger.hopeless:
            return failure
        if self._best_verified is not None:
            return None
        return failure or "none of the best trials could be verified on the whole trace"

    def _trials(self, stage: _Stage) -> _Stop:
        """Ask, have evaluated and tell until there is an end and nothing is in flight."""
        while True:
            end: _Stop | None = None
            while len(self._window) < stage.in_flight and (end := stage.end()) is None:
                asked = stage.ask()
                if asked is None:
                    self._exhausted = True
                else:
                    self._window.append(asked)
            if not self._window:
                if end is not None:
                    return end
            elif end == PAUSED:
                # Nothing is told that the trial which cannot be asked now would not have known.
                if all(self._has_ended(asked.number) for asked in self._window):
                    return PAUSED
                self._wait()
            else:
                oldest = self._window.popleft()
                self._tell(oldest, self._finished(oldest.number))

    def _baselines_asked_end(self) -> _Stop | None:
        """Why no baseline may be asked now.

        A search trial asked before any value is known has no cutoff, and takes hours where
        thousands of ranks have an algorithm that does not suit so many.
        """
        return "done" if self._number == len(self._baselines) else self._end()

    def _ask_estimate(self) -> _Asked:
        """Have the next baseline estimated; the search learns of it where it is a point of it."""
        label, configuration = self._baselines[self._number]
        inside = self._search.add(configuration)
        self._number += 1
        self._propose(self._number, "estimate", configuration, inside=False, label=label)
        self.ledger.ask("estimate")
        return _Asked(self._number, configuration, inside)

    def _begin_baselines(self) -> None:
        self._race = Race(self._drift, self._baseline_estimates)

    def _baselines_end(self) -> _Stop | None:
        return "done" if self._race.over else self._end()

    def _begin_refinement(self) -> None:
        """Find out what to refine; nothing where the search has found nothing."""
        self._exhausted = False
        if self._leader is None or self._refiner_of is None:
            return
        best = self._storage.get_trial(self._lease.job.id, self._leader[1])
        try:
            self._refiner = self._refiner_of(best)
        except HamtuneError as error:
            log.warning("the mapping of trial %d is not refined: %s", best.number, error)

    def _refinement_end(self) -> _Stop | None:
        """Why no mapping may be tried now."""
        job = self._look(LOOK_SECONDS)
        done = self._refinements >= self._spec.refinement or self._exhausted
        if self._refiner is None or done or self.ledger.spent() is not None:
            return "done"
        if self._number + 1 in self._stored:
            return None
        if self.ledger.out_of_time(self._lease.active_seconds):
            return "done"
        return PAUSED if job.state == "pausing" else None

    def _ask_refinement(self) -> _Asked | None:
        """Have the next mapping evaluated; None where no new one was found."""
        assert self._refiner is not None, "only what has begun is asked"
        configuration = self._refiner.ask()
        if configuration is None:
            return None
        self._number += 1
        self._refinements += 1
        self._propose(
            self._number,
            "refinement",
            configuration,
            inside=not self._truncated,
            bound=self._refinement_cutoff(self._refiner.best),
        )
        self.ledger.ask("refinement")
        return _Asked(self._number, configuration, inside=False, refined=True)

    def _refinement_cutoff(self, best: float) -> float | None:
        """A refinement keeps what is better alone, so it needs no time of what is worse."""
        factor = self._spec.cutoff_factor
        return cutoff(best, None if factor is None else min(factor, 1.0))

    def _begin_finalists(self) -> None:
        refined = sorted(self._refined, key=lambda entrant: (entrant.estimate, entrant.number))
        self._estimates += refined[:MOST_REFINED]
        unverified = [e for e in self._estimates if e.configuration.sha256 not in self._verified]
        self._race = Race(self._drift, unverified, best=self._best_verified)

    def _finalists_end(self) -> _Stop | None:
        """Why no finalist may be verified now; budgets have kept back what it takes."""
        job = self._look(LOOK_SECONDS)
        if self._race.over:
            return "done"
        if self._number + 1 in self._stored:
            return None
        return PAUSED if job.state == "pausing" else None

    def _race_on(self, kind: TrialKind) -> _Asked:
        """Have the next of the race evaluated on the whole trace."""
        entrant = self._race.start()
        self._number += 1
        self._propose(
            self._number,
            kind,
            entrant.configuration,
            inside=entrant.inside,
            label=entrant.label,
            bound=cutoff(self._race.best, self._spec.cutoff_factor),
        )
        self.ledger.ask(kind)
        return _Asked(self._number, entrant.configuration, inside=False, entrant=entrant)

    def _begin_comparison(self) -> None:
        took = self._storage.search_seconds(self._lease.job.id)
        self._comparison.begin(self._spec.comparison_limits(took).wall_seconds)

    def _comparison_end(self) -> _Stop | None:
        """Why no finalist may be evaluated with the other model now; budgets do not count it."""
        job = self._look(LOOK_SECONDS)
        if self._comparison.over:
            return "done"
        if self._number + 1 in self._stored:
            return None
        return PAUSED if job.state == "pausing" else None

    def _ask_comparison(self) -> _Asked:
        """Have the next finalist evaluated with the other model."""
        configuration = self._comparison.start()
        self._number += 1
        self._propose(self._number, "comparison", configuration, inside=False)
        self.ledger.ask("comparison")
        return _Asked(self._number, configuration, inside=False, compared=True)

    def _end(self) -> _Stop | None:
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
        if number <= len(self._baselines) and not self._truncated:
            label, configuration = self._baselines[number - 1]
            kind: TrialKind = "baseline"
            inside = self._search.add(configuration)
            self._propose(number, kind, configuration, inside=inside, label=label)
        else:
            point = self._search.ask()
            if point is None:
                return None
            self.ledger.expect(self._search.probability)
            kind = "search"
            inside = True
            configuration = point.configuration
            self._propose(
                number,
                kind,
                configuration,
                inside=not self._truncated,
                technique=point.technique,
                bound=cutoff(self.ledger.best, self._spec.cutoff_factor),
            )
        self._number = number
        self.ledger.ask(kind)
        return _Asked(number, configuration, inside)

    def _propose(
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
        """Have a trial evaluated, unless it is settled: stored before, or not feasible."""
        stored = self._stored.pop(number, None)
        if stored is not None:
            if stored.configuration_sha256 != configuration.sha256:
                raise ReplayDiverged(
                    f"trial {number} was stored with another configuration than the search now"
                    " asks; the job cannot go on with this version, clone it to start anew"
                )
            if stored.state in FINAL_TRIAL_STATES:
                self._settled[number] = stored
                return
        broken = self._space.infeasible(configuration) if kind == "search" else None
        proposal = Proposal(
            number=number,
            kind=kind,
            label=label,
            inside=inside,
            configuration=configuration.to_dict(),
            configuration_sha256=configuration.sha256,
            technique=technique,
            cutoff=bound,
        )
        if broken is not None:
            self._settled[number] = self._infeasible(stored, proposal, broken)
        elif stored is not None:
            self._evaluations.begin(stored)
        else:
            self._store_soon(proposal)

    def _infeasible(self, stored: Trial | None, proposal: Proposal, broken: str) -> Trial:
        """A trial that breaks a constraint, with that for its outcome."""
        self._store()
        job, token = self._lease.job.id, self._lease.token
        trial = stored or self._storage.propose_trial(job, token, **asdict(proposal))
        outcome = Outcome(status="infeasible", reason={"kind": "constraint", "message": broken})
        return self._storage.settle_trial(trial.id, token, outcome)

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
        for trial in self._storage.propose_trials(self._lease.job.id, self._lease.token, proposals):
            self._evaluations.send(trial)

    def _finished(self, number: int) -> Trial:
        """Wait for the outcome of the oldest trial in flight."""
        while not self._has_ended(number):
            self._wait()
        return self._settled.pop(number)

    def _has_ended(self, number: int) -> bool:
        """Whether a trial in flight has its outcome."""
        if number not in self._settled:
            self._store()
            self._evaluations.see_to_held()
            self._read_on(number)
        return number in self._settled

    def _wait(self) -> None:
        """Wait for news, and see to it that none has to be waited for in vain."""
        self._look(0.0)
        if time.monotonic() - self._tended >= _TEND_SECONDS:
            self._evaluations.tend()
            self._tended = time.monotonic()
        self._pause()

    def _read_on(self, first: int) -> None:
        """Read the outcome of a trial, and of as many after it as were there the last time."""
        most = min(self._run, len(self._window) + 1)
        found = self._storage.finished_from(self._lease.job.id, first, most)
        self._settled.update((trial.number, trial) for trial in found)
        self._run = min(2 * most if len(found) == most else len(found) + 1, _TOGETHER)

    def _tell(self, asked: _Asked, trial: Trial) -> None:
        if self._spec.on_artifact_failure == "stop" and trial.state == "failed":
            reason = trial.reason or {}
            if reason.get("kind") == "artifact":
                raise ArtifactFailed(
                    f"trial {trial.number} could not be evaluated: {reason['message']}"
                )
        result = told(trial)
        self.ledger.tell(trial, result, inside=asked.inside or asked.refined)
        if asked.compared:
            self._comparison.finish(trial)
            return
        if trial.inside and result.value is not None:
            self._comparison.enter(result.value, trial.number, asked.configuration)
        if asked.refined:
            self._tell_refiner(asked.configuration, trial)
            return
        if asked.inside and result.value is not None:
            self._leader = min(
                self._leader or (result.value, trial.number), (result.value, trial.number)
            )
        configuration = asked.configuration
        if asked.inside:
            self._search.tell(configuration, result)
        if asked.entrant is not None:
            self._race.finish(asked.entrant, trial)
        if self._truncated and result.value is not None:
            self._enter(trial, configuration, result.value)

    def _tell_refiner(self, configuration: Configuration, trial: Trial) -> None:
        assert self._refiner is not None, "only what was asked is told"
        if trial.state == "completed":
            trial = self._storage.get_trial(trial.job_id, trial.number)
            if self._truncated and trial.value is not None:
                self._refined.append(Entrant(trial.value, trial.number, configuration))
        self._refiner.tell(configuration, trial)

    def _enter(self, trial: Trial, configuration: Configuration, value: float) -> None:
        """Remember what decides on who is verified, and the best that was."""
        point = point_of(self._space, configuration)
        if any(entrant.configuration == configuration for entrant in self._refined):
            point = configuration
        if trial.fidelity == "full":
            if point is not None:
                self._verified.add(point.sha256)
                if self._best_verified is None or value < self._best_verified:
                    self._best_verified = value
            return
        if trial.kind == "estimate":
            entrant = Entrant(
                value, trial.number, configuration, trial.label, inside=point is not None
            )
            self._baseline_estimates.append(entrant)
        if point is not None:
            self._estimates.append(Entrant(value, trial.number, point))


def _at_once() -> None:
    """Some stages begin without ado."""


def _stored_trials(storage: Storage, job_id: str) -> dict[int, Trial]:
    trials: dict[int, Trial] = {}
    while True:
        page = storage.list_trials(job_id, after=max(trials, default=0), limit=_PAGE)
        trials.update((trial.number, trial) for trial in page)
        if len(page) < _PAGE:
            return trials

"""From the id of an attempt to the outcome of its trial."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from searchspace.configuration import Configuration, sha256_of
from searchspace.errors import HamtuneError
from searchspace.jobspec import Limits
from searchspace.machine import Machine
from searchspace.platform import Infeasible, Resolved, evaluation_key, resolve
from storage.attempts import Finished, Taken
from storage.errors import ArtifactDamaged, ArtifactMissing, Unavailable
from storage.evaluations import key_within
from storage.identifiers import split_attempt_id, trial_id
from storage.log_context import about
from storage.metrics import METRICS
from storage.networks import ProjectNetworks
from storage.records import Outcome, Trial
from storage.spans import span
from storage.storage import Storage
from workers.back_end import Start
from workers.heartbeats import Heartbeats
from workers.held_outcomes import HeldOutcomes
from workers.host_errors import host_error
from workers.runs import Abandoned, Run
from workers.simulator_client import Simulator, SimulatorError
from workers.tuning_problem import Replayed, TuningProblem, TuningProblems, Workload
from workers.warm_simulators import WarmSimulators

__all__ = ["HEARTBEAT_SECONDS", "Evaluator", "Stopped", "outcome_of"]

HEARTBEAT_SECONDS = 3.0
_WARM_SIMULATORS = 4
_MOST_AT_ONCE = 32
_AT_ONCE_SECONDS = 0.05  # what the trials that are taken at once should take together
_TURN_SECONDS = 1.0  # for which a worker goes on without a message, if trials are quick
_TRIES = 3
_MOST_ATTEMPTS = 10  # at a trial, before it fails of what its workers lack
_LEAST_REST_SECONDS, _MOST_REST_SECONDS = 0.5, 8.0  # of a worker whose host has errors

log = logging.getLogger("hamtune.workers")


class Stopped(Exception):
    """The worker takes no more attempts."""


class _HostError(Exception):
    """This worker's host lacks what it takes to evaluate; another one may have it."""


class Evaluator:
    """Evaluates attempts, in any number of threads at once.

    Args:
        storage: Where attempts are read and outcomes written.
        worker: The worker's name in attempts and trials.
        heartbeat_seconds: Time between two heartbeats of a running attempt.
        warm_simulators: How many idle simulators are kept, each with its trace in memory.
        only_named: Take only trials of the jobs that messages name.
        start: Starts what evaluates; outcomes are cached as those of its version.

    Raises:
        SimulatorError: What evaluates is not built; a worker without it takes no work.
    """

    def __init__(
        self,
        storage: Storage,
        worker: str,
        *,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        warm_simulators: int = _WARM_SIMULATORS,
        only_named: bool = False,
        start: Start = Simulator,
    ) -> None:
        self._storage = storage
        self._take = partial(storage.attempts.take_several, worker=worker, only_named=only_named)
        self._version, self._engine = start.version(), start.engine()
        self._problems = TuningProblems(storage)
        self._simulators = WarmSimulators(warm_simulators, start)
        self._heartbeats = Heartbeats(storage, heartbeat_seconds)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._runs: set[Run] = set()

    def evaluate(self, message: str) -> None:
        """Evaluate the trial whose turn it is and store the outcome; nothing where none waits.

        Trials that take milliseconds are not worth a message and two transactions each: after such
        a one, several are taken at once, and no further message is waited for.

        Args:
            message: The id of an attempt, not always that at this trial: see
                `Attempts.take_several`.

        Raises:
            Stopped: The worker is coming to its end; no attempt was begun.
            Unavailable: The database is away; the attempts will be given up and made again.
        """
        if self._stopping.is_set():
            raise Stopped
        most, until = 1, time.monotonic() + _TURN_SECONDS
        while taken := self._take(message, most=most):
            seconds = self._evaluate(taken) / len(taken)
            most = min(_MOST_AT_ONCE, int(_AT_ONCE_SECONDS / max(seconds, 1e-6)))
            if most < 2 or time.monotonic() >= until or self._stopping.is_set():
                return
        log.debug("nothing waits that message %s could begin", message)

    def _evaluate(self, taken: Sequence[Taken]) -> float:
        """Evaluate attempts that were taken, one after the other, and store their outcomes.

        Returns:
            The seconds that the evaluations took. What the database took, which may be busy, tells
            nothing of the trials; that they share its transactions is the better then.
        """
        turn = _Turn([Run() for _ in taken], HeldOutcomes(self._store, _AT_ONCE_SECONDS))
        seconds = 0.0
        with ExitStack() as stack:
            for run, (attempt_id, _) in zip(turn.runs, taken, strict=True):
                stack.enter_context(self._under_way(run))
                stack.enter_context(self._heartbeats.beating(attempt_id, run.abandon, run.headway))
            asked = [self._asked(trial, last=_is_last(attempt)) for attempt, trial in taken]
            known = self._known(asked)
            for run, (attempt_id, trial), answer in zip(turn.runs, taken, known, strict=True):
                with (
                    about(job=trial.job_id, trial=trial.id),
                    span("evaluate", job=trial.job_id, **{"hamtune.trial": trial.id}),
                ):
                    seconds += self._answer(turn, run, attempt_id, trial, answer)
            turn.held.store()
        self._stopping.wait(turn.rest)  # others take what was handed back, or it is better by then
        return seconds + turn.rest

    def _answer(
        self, turn: _Turn, run: Run, attempt_id: str, trial: Trial, answer: _Asked
    ) -> float:
        """Evaluate an attempt, or hand it back, and return the seconds that this took."""
        now = time.monotonic()
        if run is not turn.runs[0] and now - turn.began > _TURN_SECONDS:
            run.abandon()  # others may be free for what was thought to be quick
        if isinstance(answer, _Question) and answer.key in turn.simulated:
            turn.held.store()
            (answer,) = self._known([answer])  # which the cache has since then
            now = time.monotonic()
        try:
            outcome, key = self._outcome(run, trial, answer, last=_is_last(attempt_id))
        except (Abandoned, _HostError) as error:
            if isinstance(error, _HostError):
                log.warning("an error of this host: %s", error)
                turn.give_up(_rest(attempt_id))
            # Nothing happens where it was given up: it is not this worker's any more.
            self._storage.attempts.release(attempt_id)
            log.info("attempt %s is handed back", attempt_id)
        else:
            turn.enter(Finished(attempt_id, outcome, key))
        return time.monotonic() - now

    def _store(self, finished: Sequence[Finished]) -> None:
        settled = self._storage.attempts.finish_several(finished)
        for (attempt_id, outcome, _), done in zip(finished, settled, strict=True):
            job_id, number, _ = split_attempt_id(attempt_id) or ("", 0, 0)
            with about(job=job_id, trial=trial_id(job_id, number)):
                _tell(attempt_id, outcome, settled=done)

    def stop(self, *, abandon: bool) -> None:
        """Begin no more attempts; with `abandon`, end those under way and hand them back."""
        self._stopping.set()
        if abandon:
            with self._lock:
                runs = list(self._runs)
            for run in runs:
                run.abandon()

    def close(self) -> None:
        """Free all resources once no thread evaluates any more."""
        self._heartbeats.close()
        self._simulators.close()

    @contextmanager
    def _under_way(self, run: Run) -> Iterator[None]:
        with self._lock:
            self._runs.add(run)
        try:
            yield
        finally:
            with self._lock:
                self._runs.remove(run)

    def _asked(self, trial: Trial, *, last: bool) -> _Asked:
        """What to ask the cache, and then the simulator; the outcome where that cannot be told.

        Raises:
            Unavailable: The database is away.
        """
        try:
            tuning = self._problems.of(trial.job_id)
            configuration = Configuration.from_json(trial.configuration)
            replayed, machine = tuning.replayed(trial), tuning.machine_of(trial)
            whole = tuning.whole.sha256
            key = evaluation_key(replayed.sha256, machine, configuration, self._version, whole)
            key = key_within(tuning.project, key)
            messages = tuning.messages_of(trial)
            if messages is not None:  # so that no answer depends on what happens to be known
                key = sha256_of({"evaluation": key, "messages": messages})
            return _Question(
                tuning=tuning,
                machine=machine,
                configuration=configuration,
                replayed=replayed,
                key=key,
                cutoff=trial.cutoff,
                messages=messages,
                memory=tuning.limits.memory,
            )
        except Exception as error:
            try:
                return _failure(trial, error, last=last)
            except _HostError as problem:
                return problem  # told when it is this trial's turn

    def _known(self, asked: Sequence[_Asked]) -> list[_Asked]:
        """The same with what the cache answers in place of the questions."""
        questions = [one for one in asked if isinstance(one, _Question)]
        if not questions:
            return list(asked)
        found = self._storage.evaluations.find_several([(one.key, one.cutoff) for one in questions])
        answers = iter(found)
        return [one.or_else(next(answers)) if isinstance(one, _Question) else one for one in asked]

    def _outcome(
        self, run: Run, trial: Trial, known: _Asked, *, last: bool
    ) -> tuple[Outcome, str | None]:
        """What a trial comes to, and the key under which other trials may find it.

        Args:
            run: The evaluation.
            trial: The trial.
            known: What to ask the simulator, or what need not be asked.
            last: whether the trial fails by an error of this host.

        Raises:
            Abandoned: The evaluation was ended before.
            _HostError: It cannot be made here and now.
            Unavailable: The database is away.
        """
        run.check()
        if isinstance(known, _HostError):
            raise known
        if isinstance(known, Outcome):
            return known, None
        try:
            tuning = known.tuning
            resolved = resolve(
                known.configuration,
                known.machine,
                tuning.ranks,
                collectives=tuning.calls,
                traffic=tuning.traffic,
                cache=ProjectNetworks(self._storage.networks, tuning.project),
            )
            answer = self._simulate(run, known, resolved, tuning.limits_of(trial))
            return outcome_of(answer, trial.cutoff, tuning.workload, engine=self._engine), known.key
        except Exception as error:
            return _failure(trial, error, last=last), None

    def _simulate(
        self,
        run: Run,
        asked: _Question,
        resolved: Resolved,
        limits: Limits,
    ) -> dict[str, Any]:
        request = asked.tuning.request(resolved)
        for left in range(_TRIES - 1, -1, -1):
            try:
                with self._simulators.lend(asked.replayed.paths) as simulator, run.using(simulator):
                    answer = simulator.evaluate(
                        request,
                        cutoff=asked.cutoff,
                        memory_bytes=limits.memory,
                        wall_seconds=limits.wall_seconds,
                        messages=asked.messages,
                    )
            except SimulatorError as error:
                if run.abandoned:
                    raise Abandoned from None
                if not left:
                    raise
                # Whatever a configuration does ends its child, not the server.
                log.warning("%s; trying again", error)
                continue
            reason = answer["reason"]
            if not left or reason is None or reason["kind"] != "killed":
                return answer
            # What killed it came from outside, so the configuration may be as good as any.
            log.warning("%s; trying again", reason["message"])
        raise AssertionError("unreachable")


@dataclass
class _Turn:
    """Attempts that were taken at once.

    Attributes:
        runs: Their evaluations.
        held: Outcomes to be stored together.
        began: When, by the monotonic clock.
        simulated: Keys of evaluations that the cache has once they are stored.
        rest: Seconds for which this worker is better left alone.
    """

    runs: Sequence[Run]
    held: HeldOutcomes
    began: float = field(default_factory=time.monotonic)
    simulated: set[str] = field(default_factory=set)
    rest: float = 0.0

    def enter(self, finished: Finished) -> None:
        """Take in an outcome."""
        self.held.add(finished)
        if finished.evaluation_key is not None:
            self.simulated.add(finished.evaluation_key)

    def give_up(self, rest: float) -> None:
        """End all evaluations, for this host cannot make them, and rest for so many seconds."""
        self.rest = max(self.rest, rest)
        for run in self.runs:
            run.abandon()


@dataclass(frozen=True)
class _Question:
    """What decides the outcome of a trial."""

    tuning: TuningProblem
    machine: Machine  # as its network model evaluates it
    configuration: Configuration
    replayed: Replayed
    key: str  # of the evaluation cache
    cutoff: float | None
    messages: int | None  # the most that may be simulated
    memory: int  # bytes that the evaluation may take

    def or_else(self, known: Outcome | None) -> _Question | Outcome:
        """What the cache answers; the question, where it has nothing or that took too much memory.

        Another job may have allowed more: within this one's limit that run may fail, which only
        another run can tell.
        """
        if known is None or (known.peak_rss_bytes or 0) > self.memory:
            return self
        return known


_Asked: TypeAlias = _Question | Outcome | _HostError
"""What a trial is to be answered from: the simulator, or what is known of it without."""


def _tell(attempt_id: str, outcome: Outcome, *, settled: bool) -> None:
    """Log and count what became of an attempt."""
    if not settled:
        log.info("attempt %s was given up before it ended; its outcome is dropped", attempt_id)
        return
    METRICS.count("hamtune_evaluations", outcome=outcome.status, cached=str(outcome.cached).lower())
    if not outcome.cached:
        METRICS.observe("hamtune_evaluation_seconds", outcome.wall_seconds)
        METRICS.count("hamtune_simulator_cpu_seconds", outcome.cpu_seconds)
    known = " (known)" if outcome.cached else ""
    cpu = outcome.cpu_seconds
    log.info("%s%s: value %s, %.3g CPU seconds", outcome.status, known, outcome.value, cpu)


def outcome_of(
    answer: Mapping[str, Any],
    cutoff: float | None,
    workload: Workload | None = None,
    *,
    engine: str,
) -> Outcome:
    """The outcome that a simulator's answer stands for.

    Args:
        answer: What `Simulator.evaluate` returned.
        cutoff: In simulated seconds; a run that took longer is censored at it.
        workload: The applications, where there are several.
        engine: What has evaluated.
    """
    outcome = Outcome(
        status=answer["status"],
        cpu_seconds=answer["cpu_seconds"],
        wall_seconds=answer["wall_seconds"],
        peak_rss_bytes=answer["peak_rss_bytes"],
    )
    if outcome.status == "failed":
        return replace(outcome, reason=answer["reason"])
    if outcome.status == "censored" or (cutoff is not None and answer["simulated_time"] > cutoff):
        return replace(outcome, status="censored", value=cutoff)
    result = {name: answer[name] for name in ("rank_finish_times", "link_loads", "messages")}
    result["engine"] = engine
    if answer.get("estimate") is not None:
        result["estimate"] = answer["estimate"]
    if workload is not None:
        names = [part["name"] for part in workload.parts]
        result["finish_times"] = dict(zip(names, answer["application_times"], strict=True))
    return replace(outcome, value=answer["simulated_time"], result=result)


def _is_last(attempt: str) -> bool:
    """Whether a trial fails if it meets an error of its host at this attempt as well."""
    return _number(attempt) >= _MOST_ATTEMPTS


def _rest(attempt: str) -> float:
    """For how many seconds a worker rests that cannot make an attempt."""
    return min(_LEAST_REST_SECONDS * 2.0 ** (_number(attempt) - 1), _MOST_REST_SECONDS)


def _number(attempt: str) -> int:
    _, _, number = split_attempt_id(attempt) or ("", 0, 1)
    return number


def _failure(trial: Trial, error: Exception, *, last: bool) -> Outcome:
    """The outcome of a trial whose evaluation raised.

    Raises:
        Abandoned, Unavailable: They are not about the trial.
        _HostError: The error is this host's, and the attempt is not the last one.
    """
    if isinstance(error, Unavailable | Abandoned):
        raise error
    if isinstance(error, Infeasible):
        return _without_simulation("infeasible", "infeasible", str(error))
    problem = host_error(error)
    if problem is not None:
        if not last:
            raise _HostError(problem) from error
        message = f"none of {_MOST_ATTEMPTS} attempts found a worker that was able: {problem}"
        return _without_simulation("failed", "worker", message)
    if isinstance(error, HamtuneError):
        return _without_simulation("failed", _kind_of(error), str(error))
    # A mistake of ours would meet every worker that tried again.
    with about(job=trial.job_id, trial=trial.id):
        log.exception("the trial cannot be evaluated", exc_info=error)
    return _without_simulation("failed", "internal", repr(error))


def _kind_of(error: HamtuneError) -> str:
    """What the reason of a failed trial calls an error."""
    if isinstance(error, ArtifactDamaged | ArtifactMissing):
        return "artifact"
    return "simulator" if isinstance(error, SimulatorError) else "input"


def _without_simulation(
    status: Literal["infeasible", "failed"], kind: str, message: str
) -> Outcome:
    return Outcome(status=status, reason={"kind": kind, "message": message})

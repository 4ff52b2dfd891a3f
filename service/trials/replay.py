"""A trial evaluated once more, past the cache and without its cutoff, beside what was stored."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from searchspace.configuration import Configuration
from searchspace.platform import Infeasible, resolve
from service.problems import ProblemError
from service.trials.summary import EXAMPLE as SUMMARY_EXAMPLE
from service.trials.summary import MOST_LISTED, Summary, listed, summarize
from storage.errors import Conflict
from storage.networks import ProjectNetworks
from storage.records import FINAL_TRIAL_STATES, Outcome, Trial
from storage.view import StorageView
from workers.evaluator import outcome_of
from workers.simulator_client import Simulator, engine_in_use, simulator_version
from workers.tuning_problem import TuningProblem, TuningProblems

__all__ = ["EXAMPLE", "WALL_SECONDS", "Replay", "replay"]

WALL_SECONDS = 120.0
"""Somebody waits for the answer: a replay that takes longer is one for `hamtune evaluate`."""
_RETRY_SECONDS = 5

EXAMPLE: dict[str, Any] = {
    "trial": 17,
    "state": "completed",
    "value": 0.0712,
    "stored_state": "completed",
    "stored_value": 0.0712,
    "verdict": "same",
    "difference": 0.0,
    "ranks_that_differ": 0,
    "cables_that_differ": 0,
    "reason": None,
    "cpu_seconds": 1.2,
    "wall_seconds": 1.3,
    "peak_rss_bytes": 19_300_352,
    "simulator": "1+simgrid-3.32",
    "rank_finish_times": [[0.0711, 0.0712]],
    "link_loads": [[1048576, 1048576]],
    "summary": SUMMARY_EXAMPLE,
}

Verdict = Literal["same", "consistent", "differs"]

_one_at_a_time = threading.Lock()


class Replay(BaseModel):
    """What a trial comes to when it is evaluated anew."""

    trial: int
    state: str = Field(description="What became of it now: completed, infeasible or failed.")
    value: float | None = Field(description="Simulated seconds now.")
    stored_state: str
    stored_value: float | None = Field(
        description="Simulated seconds of the trial; a lower bound where it was censored."
    )
    verdict: Verdict = Field(
        description="`same`: the same time to the last digit, or again no outcome for the same "
        "kind of reason. `consistent`: the trial was censored, and takes at least its bound. "
        "`differs`: anything else, such as after an update of the simulator."
    )
    difference: float | None = Field(
        description="Relative to the stored time; null where one of the two has none."
    )
    ranks_that_differ: int | None = Field(
        description="Ranks whose finish time is another; null where they were not stored."
    )
    cables_that_differ: int | None = Field(
        description="Cables whose load is another; null where the loads were not stored."
    )
    reason: dict[str, Any] | None = Field(description="Why there is no time now.")
    cpu_seconds: float | None
    wall_seconds: float | None
    peak_rss_bytes: int | None
    simulator: str = Field(description="The simulator that evaluated it now, with its SimGrid.")
    rank_finish_times: list[list[float | None]] | None = Field(
        description="By application and rank, seconds; null for more than "
        f"{MOST_LISTED} unless `whole` asks for them."
    )
    link_loads: list[list[int]] | None = Field(
        description="Bytes each way, by cable; null as above."
    )
    summary: Summary | None = Field(description="Both in a few numbers, however many.")


def replay(storage: StorageView, job_id: str, number: int, *, whole: bool = False) -> Replay:
    """Evaluate a trial again; nothing of it is stored.

    Args:
        storage: Where the trial is.
        job_id: Its job.
        number: Its number.
        whole: Whether the answer lists more ranks and cables than `MOST_LISTED`.

    Raises:
        NotFound: There is no such job or trial.
        Conflict: The trial has no outcome yet.
        ProblemError: 429, another replay is under way in this process.
        SimulatorError: The simulator does not start.
    """
    job, trial = storage.jobs.get(job_id), storage.trials.get(job_id, number)
    if trial.state not in FINAL_TRIAL_STATES or trial.state == "cancelled":
        raise Conflict(f"trial {number} is {trial.state}; only one with an outcome is replayed")
    if job.spec.get("external") == "measurements":
        raise Conflict(f"trial {number} was measured by a script; there is nothing to repeat")
    if job.application_id is None:
        raise Conflict(f"job {job_id} has no application to replay")
    if not _one_at_a_time.acquire(blocking=False):
        raise ProblemError(
            429,
            "another trial is being replayed; try again when it has ended",
            headers={"Retry-After": str(_RETRY_SECONDS)},
        )
    try:
        return _compared(trial, _evaluated(storage, trial), whole=whole)
    finally:
        _one_at_a_time.release()


def _evaluated(storage: StorageView, trial: Trial) -> Outcome:
    tuning = TuningProblems(storage).of(trial.job_id)
    try:
        return _simulated(storage, tuning, trial)
    except Infeasible as error:
        return Outcome(status="infeasible", reason={"kind": "infeasible", "message": str(error)})


def _simulated(storage: StorageView, tuning: TuningProblem, trial: Trial) -> Outcome:
    resolved = resolve(
        Configuration.from_json(trial.configuration),
        tuning.machine_of(trial),
        tuning.ranks,
        collectives=tuning.calls,
        traffic=tuning.traffic,
        cache=ProjectNetworks(storage.networks, tuning.project),
    )
    limits = tuning.limits_of(trial)
    with Simulator(tuning.replayed(trial).paths) as simulator:
        answer = simulator.evaluate(
            tuning.request(resolved),
            memory_bytes=limits.memory,
            wall_seconds=min(WALL_SECONDS, limits.wall_seconds),
        )
    return outcome_of(answer, None, tuning.workload, engine=engine_in_use())


def _compared(trial: Trial, now: Outcome, *, whole: bool) -> Replay:
    stored, fresh = trial.result or {}, now.result or {}
    told = listed(now.result, whole=whole) or {}
    both = trial.state == "completed" and now.status == "completed"
    difference = None
    if now.value is not None and trial.value:
        difference = (now.value - trial.value) / trial.value
    return Replay(
        trial=trial.number,
        state=now.status,
        value=now.value,
        stored_state=trial.state,
        stored_value=trial.value,
        verdict=_verdict(trial, now),
        difference=difference,
        ranks_that_differ=_unlike(
            _flat(stored.get("rank_finish_times")), _flat(fresh.get("rank_finish_times"))
        )
        if both
        else None,
        cables_that_differ=_unlike(stored.get("link_loads"), fresh.get("link_loads"))
        if both
        else None,
        reason=now.reason,
        cpu_seconds=now.cpu_seconds,
        wall_seconds=now.wall_seconds,
        peak_rss_bytes=now.peak_rss_bytes,
        simulator=simulator_version(),
        rank_finish_times=told.get("rank_finish_times"),
        link_loads=told.get("link_loads"),
        summary=summarize(now.result),
    )


def _verdict(trial: Trial, now: Outcome) -> Verdict:
    if trial.state == "censored" and now.status == "completed":
        bound = trial.value or 0.0
        return "consistent" if now.value is not None and now.value >= bound else "differs"
    if trial.state != now.status:
        return "differs"
    if now.status == "completed":
        return "same" if now.value == trial.value else "differs"
    kinds = [(reason or {}).get("kind") for reason in (trial.reason, now.reason)]
    return "same" if kinds[0] == kinds[1] else "differs"


def _flat(times: Sequence[Sequence[Any]] | None) -> list[Any] | None:
    return None if times is None else [time for application in times for time in application]


def _unlike(stored: Sequence[Any] | None, fresh: Sequence[Any] | None) -> int | None:
    """How many differ; None where one of the two is not there."""
    if stored is None or fresh is None:
        return None
    if len(stored) != len(fresh):
        return max(len(stored), len(fresh))
    return sum(1 for a, b in zip(stored, fresh, strict=True) if a != b)

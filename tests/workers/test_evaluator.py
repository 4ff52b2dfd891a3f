from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from searchspace.graph import Graph
from searchspace.topology import FAMILIES, network_cache
from searchspace.topology.family import NetworkSpec
from storage.records import Outcome
from storage.storage import Storage
from tests.workers.conftest import RANKS, RunJob
from workers import tuning_problem
from workers.back_ends import BACK_ENDS
from workers.evaluator import Evaluator, outcome_of
from workers.tuning_problem import TuningProblems


def test_a_trial_is_simulated_and_its_outcome_stored(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "completed"
    assert trial.value is not None
    assert trial.value > 3 * 1e6 / 1e9  # three times a million flops at 1 Gf
    assert (trial.worker, trial.cached) == ("worker", False)
    assert trial.cpu_seconds is not None
    assert trial.cpu_seconds > 0
    assert trial.result is not None
    assert len(trial.result["rank_finish_times"][0]) == RANKS
    assert max(trial.result["rank_finish_times"][0]) == pytest.approx(trial.value, rel=1e-9)


def test_configurations_differ(evaluator: Evaluator, run_job: RunJob, trace: Path) -> None:
    job = run_job(trace)

    evaluator.evaluate(job.open(1, collectives={"alltoall": "bruck"}))
    evaluator.evaluate(job.open(2, collectives={"alltoall": "pair"}))
    evaluator.evaluate(job.open(3, topology="torus-3d"))

    assert len({job.trial(number).value for number in (1, 2, 3)}) == 3


def test_a_comparison_of_network_models_may_take_a_share_of_what_the_search_took(
    storage: Storage, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)
    problems = TuningProblems(storage)

    def limits() -> tuple[float, float]:
        trial, tuning = job.trial(), problems.of(job.id)
        comparison = dataclasses.replace(trial, kind="comparison")
        return tuning.limits_of(trial).wall_seconds, tuning.limits_of(comparison).wall_seconds

    attempt = job.open()
    assert limits() == (600.0, 10.0)
    storage.attempts.finish(attempt, Outcome(status="completed", value=1.0, cpu_seconds=500.0))
    assert limits() == (600.0, 50.0)


def test_the_same_configuration_is_simulated_once_for_all_jobs(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    first, second = run_job(trace), run_job(trace)

    evaluator.evaluate(first.open())
    evaluator.evaluate(second.open())

    fresh, cached = first.trial(), second.trial()
    assert (fresh.cached, cached.cached) == (False, True)
    assert (cached.state, cached.value, cached.result) == (fresh.state, fresh.value, fresh.result)
    assert cached.cpu_seconds == 0.0
    assert first.storage.jobs.get(second.id).evaluations == 0


def test_a_job_with_less_memory_is_not_answered_with_what_took_more(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    first = run_job(trace)
    evaluator.evaluate(first.open())
    peak = first.trial().peak_rss_bytes
    assert peak is not None
    assert peak > 1 << 20

    small, large = run_job(trace, limits={"memory": 1 << 20}), run_job(trace)
    for job in (small, large):
        evaluator.evaluate(job.open())

    assert (small.trial().state, small.trial().cached) == ("failed", False)
    assert (small.trial().reason or {})["kind"] == "memory"
    assert (large.trial().state, large.trial().cached) == ("completed", True)


def test_times_of_one_back_end_are_no_answers_of_another(
    evaluator: Evaluator, storage: Storage, run_job: RunJob, trace: Path
) -> None:
    rough = Evaluator(storage, "rough", heartbeat_seconds=0.05, start=BACK_ENDS["loggp"])
    first, second, third = run_job(trace), run_job(trace), run_job(trace)

    rough.evaluate(first.open())
    evaluator.evaluate(second.open())
    rough.evaluate(third.open())
    rough.close()

    assert [job.trial().cached for job in (first, second, third)] == [False, False, True]
    assert first.trial().value == third.trial().value != second.trial().value
    assert (first.trial().result or {})["engine"] == "LogGP"
    assert (second.trial().result or {})["engine"] != "LogGP"


def test_equal_trials_that_are_taken_together_are_simulated_once(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)
    evaluator.evaluate(job.open(1))  # starts the simulator
    messages = [job.open(2, ordering="hamorder")]  # a quick one: those behind it are taken together
    messages += [job.open(number, topology="torus-3d") for number in (3, 4, 5)]

    for message in messages:
        evaluator.evaluate(message)

    assert [job.trial(number).cached for number in range(1, 6)] == [False, False, False, True, True]
    assert job.storage.jobs.get(job.id).evaluations == 3


def test_a_network_is_optimised_once_for_all_trials_and_jobs(
    evaluator: Evaluator, run_job: RunJob, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[NetworkSpec] = []

    def optimise(spec: NetworkSpec) -> Graph:
        asked.append(spec)
        return family.generate(spec)

    family = FAMILIES["optimised"]
    counted = dataclasses.replace(family, generate=optimise)
    monkeypatch.setitem(FAMILIES, "optimised", counted)
    network = {"topology": "optimised", "optimised.iterations": 60}
    first, second = run_job(trace), run_job(trace)

    evaluator.evaluate(first.open(1, **network))
    network_cache._generate.cache_clear()  # as in another worker, or this one started anew
    evaluator.evaluate(first.open(2, **network, ordering="bfs"))
    evaluator.evaluate(second.open(1, **network, ordering="rcm"))

    assert {first.trial(1).state, first.trial(2).state, second.trial(1).state} == {"completed"}
    assert len(asked) == 1


def test_a_value_at_the_cutoff_completes_and_one_above_is_censored(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)
    evaluator.evaluate(job.open())
    value = job.trial().value
    assert value is not None
    other = run_job(trace, machine=_with_other_limits())
    evaluator.evaluate(other.open(1))  # a machine of its own, so nothing of it is cached
    value = other.trial(1).value
    assert value is not None

    fresh = run_job(trace, machine=_with_other_limits(cores_per_host=2))
    evaluator.evaluate(fresh.open(1, cutoff=value))
    evaluator.evaluate(fresh.open(2, topology="torus-3d", cutoff=value / 2))

    assert (fresh.trial(1).state, fresh.trial(1).value) == ("completed", value)
    assert (fresh.trial(2).state, fresh.trial(2).value) == ("censored", value / 2)
    assert fresh.trial(2).result is None


def test_fresh_and_cached_trials_agree_under_every_cutoff(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)
    evaluator.evaluate(job.open())
    value = job.trial().value
    assert value is not None

    for factor in (0.5, 1.0, 2.0):
        fresh = run_job(trace, machine=_with_other_limits(cores_per_host=int(factor * 4)))
        evaluator.evaluate(fresh.open(cutoff=factor * value))
        cached = run_job(trace)
        evaluator.evaluate(cached.open(cutoff=factor * value))

        assert (fresh.trial().cached, cached.trial().cached) == (False, True)
        assert (cached.trial().state, cached.trial().value) == (
            fresh.trial().state,
            fresh.trial().value,
        )


def test_an_infeasible_configuration_says_why_and_costs_nothing(
    evaluator: Evaluator, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)

    evaluator.evaluate(job.open(collectives={"alltoall": "pair_rma"}))

    trial = job.trial()
    assert trial.state == "infeasible"
    assert trial.reason is not None
    assert trial.reason["message"].startswith("collectives.alltoall: ")
    assert job.storage.jobs.get(job.id).evaluations == 0


def test_limits_of_the_job_end_a_simulation(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path
) -> None:
    job = run_job(long_trace, limits={"wall_seconds": 0.2})

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "wall"


def test_a_search_gives_up_what_sends_many_times_the_messages_of_its_baselines(
    evaluator: Evaluator, run_job: RunJob, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning_problem, "_MANY_RANKS", RANKS)
    monkeypatch.setattr(tuning_problem, "LEAST_MESSAGES", 0)
    monkeypatch.setattr(tuning_problem, "MESSAGES_FACTOR", 2)
    job = run_job(trace)
    evaluator.evaluate(job.open(1, kind="baseline"))  # three rounds of each, as `bruck` has it
    evaluator.evaluate(job.open(2, ordering="hamorder"))
    evaluator.evaluate(job.open(3, collectives={"alltoall": "pair"}))  # seven rounds
    evaluator.evaluate(job.open(4, kind="refinement", collectives={"alltoall": "pair"}))

    sent = 3 * 3 * RANKS
    assert [(job.trial(n).result or {}).get("messages") for n in (1, 2)] == [sent, sent]
    for number in (3, 4):
        assert job.trial(number).state == "failed"
        assert (job.trial(number).reason or {})["kind"] == "messages"
    assert [job.trial(n).cached for n in (3, 4)] == [False, True]


@pytest.mark.parametrize(
    ("time", "cutoff", "state", "value"),
    [
        (2.0, None, "completed", 2.0),
        (2.0, 2.0, "completed", 2.0),
        (2.0, 3.0, "completed", 2.0),
        (2.0, 1.5, "censored", 1.5),
    ],
)
def test_an_answer_is_read_the_same_however_far_the_simulator_went(
    time: float, cutoff: float | None, state: str, value: float
) -> None:
    answer: dict[str, Any] = {
        "status": "completed",
        "simulated_time": time,
        "reason": None,
        "rank_finish_times": [[time]],
        "link_loads": [],
        "messages": 12,
        "cpu_seconds": 0.1,
        "wall_seconds": 0.1,
        "peak_rss_bytes": 1,
    }

    outcome = outcome_of(answer, cutoff, engine="by hand")

    assert (outcome.status, outcome.value) == (state, value)
    assert (outcome.result is not None) == (state == "completed")


def _with_other_limits(**changes: Any) -> dict[str, Any]:
    machine = {
        "nodes": 8,
        "degree": 3,
        "host_speed": "1Gf",
        "link_bandwidth": "10Gbps",
        "link_latency": "1us",
        "loopback_latency": "1us",
    }
    return machine | changes

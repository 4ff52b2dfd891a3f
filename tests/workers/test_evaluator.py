from __future__ import annotations

import dataclasses
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from searchspace.graph import Graph
from searchspace.topology import FAMILIES, kept
from searchspace.topology.family import Wanted
from storage.records import Outcome
from storage.storage import Storage
from tests.processes import children
from tests.workers.conftest import RANKS, RunningJob, write_program
from workers import subject
from workers.evaluator import Evaluator, Stopped, outcome_of
from workers.simulator_client import Simulator
from workers.subject import Subjects

RunJob = Callable[..., RunningJob]


@pytest.fixture
def evaluator(storage: Storage) -> Iterator[Evaluator]:
    """An evaluator that beats often."""
    opened = Evaluator(storage, "worker", heartbeat_seconds=0.05)
    yield opened
    opened.close()


def in_background(evaluator: Evaluator, attempt_id: str) -> threading.Thread:
    """Evaluate in another thread; returns once the attempt has been begun."""
    thread = threading.Thread(target=evaluator.evaluate, args=(attempt_id,))
    thread.start()
    return thread


def wait_until_running(job: RunningJob, number: int = 1) -> None:
    while job.trial(number).state != "running":
        threading.Event().wait(0.01)


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
    subjects = Subjects(storage)

    def limits() -> tuple[float, float]:
        trial, subject = job.trial(), subjects.of(job.id)
        comparison = dataclasses.replace(trial, kind="comparison")
        return subject.limits_of(trial).wall_seconds, subject.limits_of(comparison).wall_seconds

    attempt = job.open()
    assert limits() == (600.0, 10.0)
    storage.finish_attempt(attempt, Outcome(status="completed", value=1.0, cpu_seconds=500.0))
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
    assert first.storage.evaluations_spent(second.id) == 0


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
    assert job.storage.evaluations_spent(job.id) == 3


def test_a_network_is_optimised_once_for_all_trials_and_jobs(
    evaluator: Evaluator, run_job: RunJob, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Wanted] = []

    def optimise(wanted: Wanted) -> Graph:
        asked.append(wanted)
        return family.generate(wanted)

    family = FAMILIES["optimised"]
    counted = dataclasses.replace(family, generate=optimise)
    monkeypatch.setitem(FAMILIES, "optimised", counted)
    network = {"topology": "optimised", "optimised.iterations": 60}
    first, second = run_job(trace), run_job(trace)

    evaluator.evaluate(first.open(1, **network))
    kept._generate.cache_clear()  # as in another worker, or this one started anew
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
    assert job.storage.evaluations_spent(job.id) == 0


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
    monkeypatch.setattr(subject, "_MANY_RANKS", RANKS)
    monkeypatch.setattr(subject, "LEAST_MESSAGES", 0)
    monkeypatch.setattr(subject, "MESSAGES_FACTOR", 2)
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


def test_a_trace_that_was_altered_fails_the_trial_with_that_reason(
    evaluator: Evaluator, run_job: RunJob, trace: Path, storage: Storage
) -> None:
    job = run_job(trace)
    application_id = storage.get_job(job.id).application_id
    assert application_id is not None
    stored = storage.artifact_path(storage.get_application(application_id).trace_sha256)
    stored.chmod(0o644)
    stored.write_bytes(b"something else")

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert "was altered" in trial.reason["message"]


def test_a_worker_that_is_slow_to_begin_still_evaluates_what_it_took_first(
    evaluator: Evaluator, run_job: RunJob, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.evaluator._TURN_SECONDS", -1.0)  # it is always late
    job = run_job(trace)

    for number in (1, 2):
        evaluator.evaluate(job.open(number))
        assert job.trial(number).state == "completed"


def test_a_worker_without_room_for_temporary_files_hands_its_attempts_back(
    evaluator: Evaluator,
    run_job: RunJob,
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = run_job(trace)
    job.open(1)
    first = job.open(2, collectives={"alltoall": "bruck"})
    with monkeypatch.context() as host_error:
        host_error.setattr(tempfile, "tempdir", str(tmp_path / "swept"))
        evaluator.evaluate(first)
    assert {job.trial(number).state for number in (1, 2)} == {"pending"}

    for number in (1, 2):
        evaluator.evaluate(job.open_again(number))
    assert {job.trial(number).state for number in (1, 2)} == {"completed"}


def test_a_trial_fails_that_no_worker_is_able_to_evaluate(
    evaluator: Evaluator,
    run_job: RunJob,
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workers.evaluator._MOST_ATTEMPTS", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "swept"))
    job = run_job(trace)

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "worker"
    assert "No such file or directory" in trial.reason["message"]


def test_a_stale_message_does_nothing(evaluator: Evaluator, run_job: RunJob, trace: Path) -> None:
    job = run_job(trace)
    attempt_id = job.open()

    evaluator.evaluate(attempt_id)
    done = job.trial()
    evaluator.evaluate(attempt_id)
    evaluator.evaluate("nosuchjob-1-1")

    assert job.trial() == done


def test_a_running_attempt_has_heartbeats(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path, storage: Storage
) -> None:
    job = run_job(long_trace)
    thread = in_background(evaluator, job.open())
    wait_until_running(job)
    (first,) = storage.open_attempts(job.id)
    while storage.open_attempts(job.id)[0].heartbeat_at == first.heartbeat_at:
        threading.Event().wait(0.01)
    while not (under_way := storage.running_attempts(job.id)[0]).share:
        threading.Event().wait(0.01)
    assert under_way.share < 1.0
    assert under_way.simulated_time is not None
    assert under_way.simulated_time > 0.0

    evaluator.stop(abandon=True)
    thread.join()


def test_an_attempt_given_up_as_lost_is_dropped_and_its_simulation_ended(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path, storage: Storage
) -> None:
    job = run_job(long_trace)
    thread = in_background(evaluator, job.open())
    wait_until_running(job)

    storage.expire_attempts(job.id, job.token, 0.0)
    thread.join()  # ends long before the simulation would

    assert job.trial().state == "pending"
    assert storage.open_attempt(job.trial().id, job.token).number == 2


def test_a_trace_that_is_missing_is_the_reason_of_a_failure(
    evaluator: Evaluator, run_job: RunJob, trace: Path, storage: Storage
) -> None:
    job = run_job(trace)
    application = storage.get_job(job.id).application_id
    assert application is not None
    storage.artifact_path(storage.get_application(application).trace_sha256).unlink()

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "artifact"
    assert trial.reason["message"].startswith("there is no artifact")


def test_a_stopped_worker_hands_its_attempts_back_and_takes_no_more(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path
) -> None:
    job = run_job(long_trace)
    thread = in_background(evaluator, job.open(1))
    wait_until_running(job)

    evaluator.stop(abandon=True)
    thread.join()

    assert job.trial(1).state == "pending"
    attempt_id = job.open(2, topology="torus-3d")
    with pytest.raises(Stopped):
        evaluator.evaluate(attempt_id)
    assert job.trial(2).state == "pending"


def test_simulators_outlive_failures_and_cancellations(
    evaluator: Evaluator, run_job: RunJob, trace: Path, long_trace: Path, storage: Storage
) -> None:
    short, long = run_job(trace), run_job(long_trace)
    thread = in_background(evaluator, long.open())
    wait_until_running(long)
    storage.expire_attempts(long.id, long.token, 0.0)
    thread.join()

    evaluator.evaluate(short.open())

    assert short.trial().state == "completed"


def test_what_is_stored_already_does_not_end_the_simulation_of_another(
    evaluator: Evaluator, run_job: RunJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Simulator] = []

    def start(traces: tuple[Path, ...], **options: bool) -> Simulator:
        started.append(Simulator(traces, **options))
        return started[-1]

    monkeypatch.setattr("workers.warm_simulators.Simulator", start)
    job = run_job(write_program(tmp_path / "medium.ht", iterations=300))
    evaluator.evaluate(job.open(1, cutoff=1e-6))
    # Quick ones are taken together with those behind, and are stored before the last of these.
    messages = [job.open(number, cutoff=1e-6, ordering="hamorder") for number in (2, 3, 4)]
    messages += [job.open(n, topology="random", topology_seed=n) for n in range(5, 9)]

    for message in messages:
        evaluator.evaluate(message)

    assert [job.trial(number).state for number in (1, 5)] == ["censored", "completed"]
    assert len(started) == 1


def test_a_simulation_killed_from_outside_is_made_again_a_few_times(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path
) -> None:
    job = run_job(long_trace)
    servers_before = set(children(os.getpid()))
    thread = in_background(evaluator, job.open())
    killed: list[int] = []
    while thread.is_alive():
        for server in set(children(os.getpid())) - servers_before:
            for simulation in children(server):
                if simulation not in killed:
                    os.kill(simulation, signal.SIGKILL)
                    killed.append(simulation)
        threading.Event().wait(0.01)

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "killed"
    # Three simulations, and the processes in which ranks stood ready for the first and the third.
    assert len(killed) == 5


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

    outcome = outcome_of(answer, cutoff)

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
